-- Whose SQL a child may run, and what a role that may not read an instance is told of it.
\set VERBOSITY terse
CREATE ROLE regress_child_alice;
CREATE ROLE regress_child_mallory;
SELECT wf_grant_usage('regress_child_alice'), wf_grant_usage('regress_child_mallory');
CREATE TABLE loot (how text, who name DEFAULT current_user);
GRANT INSERT, SELECT ON loot TO PUBLIC;

-- security.md#child-workflows: a child gets the rights of its parent's owner only from a definition of that owner, or of a role that has them
-- An id that was free when the parent was stored is not any role's to run SQL with the rights of who starts the parent.
SELECT * FROM wf_define('{"definitionId": "late parent", "root": [{"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "late"}]}');
SELECT * FROM wf_define('{"definitionId": "later parent", "root": [{"id": "call", "type": "DispatchWorkflow", "workflowDefinitionId": "late"}]}');
SELECT * FROM wf_define('{"definitionId": "many parent", "root": [{"id": "call", "type": "BulkDispatchWorkflows", "items": [1], "workflowDefinitionId": "late"}]}');
SELECT * FROM wf_define('{"definitionId": "far parent", "root": [{"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "between"}]}');
SET ROLE regress_child_alice;
SELECT * FROM wf_define('{"definitionId": "alice parent", "root": [{"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "late"}]}');
SET ROLE regress_child_mallory;
SELECT * FROM wf_define('{"definitionId": "late", "root": [{"type": "Sql", "statement": "INSERT INTO public.loot VALUES (''late'')"}]}');
SELECT * FROM wf_define('{"definitionId": "between", "root": [{"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "late"}]}');
SELECT wf_grant('late', 'regress_child_alice', '{start}');
RESET ROLE;
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('late parent');
SET ROLE regress_child_alice;
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('alice parent');
-- Nor is one that the parent names, defined again with the same content.
SELECT wf_define(document) FROM workflow.definition_list WHERE definition_id = 'alice parent' \g /dev/null
RESET ROLE;
SELECT wf_define(document) FROM workflow.definition_list WHERE definition_id IN ('late parent', 'later parent', 'many parent', 'far parent') \g /dev/null
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('late parent');
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('later parent');
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('many parent');
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('far parent');
SET ROLE regress_child_alice;
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('alice parent');
RESET ROLE;
SELECT wf_run_due();
SELECT * FROM loot;

-- security.md#child-workflows: a definer parent lends nothing of who started it
-- A workflow with the rights of its owner does not lend those of who starts it to a child, either.
SET ROLE regress_child_mallory;
SELECT * FROM wf_define('{"definitionId": "interface", "options": {"security": "definer"}, "root": [{"type": "Sql", "statement": "INSERT INTO public.loot VALUES (''interface'')"}, {"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "late"}]}');
SELECT wf_grant('interface', 'regress_child_alice', '{start}');
RESET ROLE;
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('interface');
SET ROLE regress_child_alice;
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('interface');
-- Its owner's own start does.
SET ROLE regress_child_mallory;
SELECT sub_status FROM wf_run('interface');
RESET ROLE;
SELECT * FROM loot;
TRUNCATE loot;

-- security.md#child-workflows: any other child may not publish events
-- Nor may a child publish in the name of its parent's owner, with or without SQL.
SET ROLE regress_child_mallory;
SELECT * FROM wf_define('{"definitionId": "speaks", "options": {"security": "definer"}, "root": [{"type": "PublishEvent", "eventName": "approved"}]}');
RESET ROLE;
SELECT * FROM wf_define('{"definitionId": "approval", "root": [{"type": "Event", "eventName": "approved"}]}');
SELECT * FROM wf_define('{"definitionId": "speaking parent", "root": [{"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "speaks"}]}');
SELECT sub_status FROM wf_run('approval');
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('speaking parent');
SELECT sub_status FROM workflow.instance_list WHERE definition_id = 'approval';

-- security.md#child-workflows: any other child may have SQL with the rights of its own definition's owner
-- A child with the rights of its own owner, one without SQL, and those of the same owner or of a superuser are let in.
SET ROLE regress_child_mallory;
SELECT * FROM wf_define('{"definitionId": "late", "options": {"security": "definer"}, "root": [{"type": "Sql", "statement": "INSERT INTO public.loot VALUES (''late'')"}]}');
RESET ROLE;
SELECT * FROM wf_define('{"definitionId": "house", "root": [{"type": "Sql", "statement": "INSERT INTO public.loot VALUES (''house'')"}]}');
SELECT wf_grant('house', 'regress_child_alice', '{start}');
SET ROLE regress_child_mallory;
SELECT * FROM wf_define('{"definitionId": "writes", "root": [{"type": "WriteLine", "text": "harmless"}]}');
SELECT wf_grant('writes', 'regress_child_alice', '{start}');
SET ROLE regress_child_alice;
SELECT sub_status FROM wf_run('alice parent');
SELECT * FROM wf_define('{"definitionId": "alice parent", "root": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "house"}, {"type": "ExecuteWorkflow", "workflowDefinitionId": "writes"}, {"type": "ExecuteWorkflow", "workflowDefinitionId": "alice child"}]}');
SELECT * FROM wf_define('{"definitionId": "alice child", "root": [{"type": "Sql", "statement": "INSERT INTO public.loot VALUES (''own'')"}]}');
SELECT sub_status FROM wf_run('alice parent');
RESET ROLE;
SELECT sub_status FROM wf_run('alice parent');
SELECT * FROM loot;

-- Who may not read an instance is told neither its lines nor its errors.
RESET client_min_messages;
\set VERBOSITY default
SET ROLE regress_child_alice;
SELECT * FROM wf_define('{"definitionId": "tells", "variables": [{"name": "secret", "value": "4711a"}], "root": [{"id": "in", "type": "HttpEndpoint", "path": "tells", "canStartWorkflow": true},
    {"type": "WriteLine", "text": {"var": "secret"}}, {"id": "breaks", "type": "WriteLine", "text": {"js": "throw new Error(getVariable(''secret''))"}}]}');
SET workflow.write_line_notice = on;
SET ROLE regress_child_mallory;
SELECT convert_from(body, 'UTF8') AS body FROM wf_http_request('GET', '/tells', '{}', '{}') \gset
\echo :body
SET ROLE regress_child_alice;
\set VERBOSITY terse
SELECT convert_from(body, 'UTF8')::jsonb ->> 'error' AS error FROM wf_http_request('GET', '/tells');
SELECT wf_grant('tells', 'regress_child_mallory', '{read}');
SET ROLE regress_child_mallory;
SELECT convert_from(body, 'UTF8')::jsonb ->> 'error' AS error FROM wf_http_request('GET', '/tells');
RESET workflow.write_line_notice;

-- A workflow that another role gives the name of one's own is not in the way of it.
SET ROLE regress_child_alice;
SELECT * FROM wf_define('{"definitionId": "alice calc", "name": "Calc", "options": {"usableAsActivity": true}, "root": [{"type": "WriteLine", "text": "1"}]}');
SET ROLE regress_child_mallory;
SELECT * FROM wf_define('{"definitionId": "mallory calc", "name": "Calc", "options": {"usableAsActivity": true}, "root": [{"type": "WriteLine", "text": "2"}]}');
SELECT wf_grant('mallory calc', 'regress_child_alice', '{start}');
SET ROLE regress_child_alice;
SELECT * FROM wf_define('{"definitionId": "calculates", "root": [{"type": "Calc"}]}');
SELECT uses FROM workflow.definition_links WHERE definition_id = 'calculates';
RESET ROLE;
SELECT * FROM wf_define('{"definitionId": "either", "root": [{"type": "Calc"}]}');
