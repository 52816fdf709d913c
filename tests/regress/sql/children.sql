-- Child workflows: instances of their own, started by a parent, that report to it when they end.
CREATE FUNCTION pg_temp.lines() RETURNS TABLE (definition text, line text) LANGUAGE sql
BEGIN ATOMIC
    SELECT i.definition_id, j.data #>> '{}' FROM workflow.journal AS j JOIN workflow.instance_list AS i USING (instance_id)
    WHERE event = 'Line' ORDER BY i.instance_id, j.seq, j.number;
END;
CREATE FUNCTION pg_temp.instances() RETURNS TABLE (definition text, sub_status text, correlation_id text, output jsonb, child_of text) LANGUAGE sql
BEGIN ATOMIC
    SELECT i.definition_id, i.sub_status, i.correlation_id, i.output, p.definition_id
    FROM workflow.instance_list AS i LEFT JOIN workflow.instance_list AS p ON p.instance_id = i.parent_instance_id ORDER BY i.instance_id;
END;
CREATE FUNCTION pg_temp.forget() RETURNS bigint LANGUAGE sql
BEGIN ATOMIC
    SELECT count(*) FILTER (WHERE wf_delete_instance(instance_id)) FROM workflow.instance_list;
END;

-- A workflow with an input and an output, and one that asks a person.
SELECT wf_define('{"definitionId": "double", "inputs": [{"name": "n", "type": "Int32"}], "root": [
    {"type": "WriteLine", "text": {"js": "`doubling ${getN()}`"}},
    {"type": "SetOutput", "outputName": "Twice", "outputValue": {"js": "getN() * 2"}}]}');
SELECT wf_define('{"definitionId": "ask", "root": [
    {"type": "RunTask", "taskName": "answer"},
    {"type": "SetOutput", "outputName": "Answer", "outputValue": {"js": "getLastResult()"}}]}');

-- ExecuteWorkflow runs the child in this transaction. Its result is how the child stands.
SELECT wf_define('{"definitionId": "sum", "variables": {"R": null}, "root": [
    {"type": "WriteLine", "text": "before"},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "double", "input": {"object": {"n": {"input": "n"}}}, "correlationId": "order-1",
     "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "`${getR().subStatus}: ${getR().output.Twice}`"}}]}');
SELECT sub_status FROM wf_run('sum', '{"n": 21}');
SELECT * FROM pg_temp.lines();
SELECT * FROM pg_temp.instances();
SELECT pg_temp.forget();

-- With waitForCompletion the parent waits until a child that waits has ended, and goes on in the transaction that ends it.
SELECT wf_define('{"definitionId": "poll", "variables": {"R": null}, "root": [
    {"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "getR().output.Answer"}}]}');
SELECT sub_status, bookmarks #>> '{0,activity_id}' AS waits_at FROM wf_run('poll');
BEGIN;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"no"');
SELECT * FROM pg_temp.instances();
ROLLBACK;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"yes"');
SELECT * FROM pg_temp.instances();
SELECT * FROM pg_temp.lines();
SELECT pg_temp.forget();

-- Without it the parent goes on when the child first waits.
SELECT wf_define('{"definitionId": "start-only", "variables": {"R": null}, "root": [
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "`${getR().status}, ${getR().subStatus}`"}}]}');
SELECT sub_status FROM wf_run('start-only');
SELECT * FROM pg_temp.lines();
SELECT * FROM pg_temp.instances();
SELECT pg_temp.forget();

-- DispatchWorkflow leaves the child to a worker; here wf_run_due() is one.
SELECT wf_define('{"definitionId": "later", "variables": {"R": null}, "root": [
    {"type": "DispatchWorkflow", "workflowDefinitionId": "double", "input": {"n": 1}},
    {"type": "DispatchWorkflow", "workflowDefinitionId": "double", "input": {"n": 2}, "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "`the second said ${getR().Twice}`"}}]}');
SELECT sub_status FROM wf_run('later');
SELECT * FROM pg_temp.instances();
SELECT wf_run_due() > 0 AS ran;
SELECT * FROM pg_temp.instances();
SELECT * FROM pg_temp.lines();
SELECT pg_temp.forget();

-- BulkDispatchWorkflows leaves a child for each item and ends with the last of them; how each ended is a port.
SELECT wf_define('{"definitionId": "picky", "root": [
    {"type": "If", "condition": {"js": "getInput(''Fruit'') === ''durian''"}, "then": {"type": "Fault", "message": "no durian here"}},
    {"type": "WriteLine", "text": {"js": "`mixing ${getInput(''Fruit'')}`"}}]}');
SELECT wf_define('{"definitionId": "smoothie", "variables": {"Ok": 0, "Bad": 0}, "root": {"type": "Flowchart", "activities": [
        {"id": "mix", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "picky", "items": ["apple", {"Fruit": "banana", "Ripe": true}, "durian"],
         "defaultItemInputKey": "Fruit", "correlationIdFunction": {"js": "`mix-${getItem().Fruit ?? getItem()}`"},
         "childCompleted": {"type": "SetVariable", "variable": "Ok", "value": {"js": "getOk() + 1"}},
         "childFaulted": {"type": "SetVariable", "variable": "Bad", "value": {"js": "getBad() + 1"}}},
        {"id": "serve", "type": "WriteLine", "text": {"js": "`${getOk()} good, ${getBad()} bad`"}}],
    "connections": [["mix", "Completed", "serve"]]}}');
SELECT sub_status FROM wf_run('smoothie');
SELECT sub_status, correlation_id, input - 'ParentInstanceId' AS input FROM workflow.instance_list WHERE definition_id = 'picky' ORDER BY instance_id;
SET client_min_messages = error;
SELECT wf_run_due() > 0 AS ran;
RESET client_min_messages;
SELECT * FROM pg_temp.lines();
SELECT * FROM pg_temp.instances();
-- The parent has heard of the fault; a retry of the child is the child's own affair.
SELECT count(*) FROM workflow.instances WHERE parent_bookmark_id IS NOT NULL AND sub_status = 'Faulted';
SELECT pg_temp.forget();
-- It does not report again when it ends well: the parent would count it twice, and not wait for the other one.
CREATE TABLE divisor (n int);
INSERT INTO divisor VALUES (0);
SELECT wf_define('{"definitionId": "fragile", "root": [{"type": "If", "condition": {"js": "getInput(''Item'') === ''fragile''"},
    "then": {"type": "Sql", "statement": "SELECT 1 / n FROM divisor"}, "else": {"type": "RunTask", "taskName": "answer"}}]}');
SELECT wf_define('{"definitionId": "patient", "variables": {"Ok": 0, "Bad": 0}, "root": [
    {"id": "both", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "fragile", "items": ["fragile", "solid"],
     "childCompleted": [{"type": "WriteLine", "text": "well"}, {"type": "SetVariable", "variable": "Ok", "value": {"js": "getOk() + 1"}}],
     "childFaulted": [{"type": "WriteLine", "text": "not well"}, {"type": "SetVariable", "variable": "Bad", "value": {"js": "getBad() + 1"}}]},
    {"type": "SetOutput", "outputName": "Ends", "outputValue": {"js": "`${getOk()} good, ${getBad()} bad`"}}]}');
SELECT wf_start('patient') AS patient \gset
SET client_min_messages = error;
SELECT wf_run_due() > 0 AS ran;
RESET client_min_messages;
SELECT instance_id AS child FROM workflow.instance_list WHERE sub_status = 'Faulted' \gset
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = :'patient' AND event = 'Line';
UPDATE divisor SET n = 1;
SELECT sub_status FROM wf_retry(:'child');
SELECT wf_run_due();
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT * FROM pg_temp.instances();
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT wf_run_due();
SELECT sub_status, output FROM workflow.instance_list WHERE instance_id = :'patient';
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = :'patient' AND event = 'Line' ORDER BY seq, number;
SELECT event, count(*) FROM workflow.journal WHERE instance_id = :'patient' AND activity = 'both' GROUP BY event ORDER BY event;
SELECT substr(line, 22) AS line FROM wf_explain(:'patient') AS line WHERE line ~ 'both';
SELECT pg_temp.forget();

-- Cancelling a parent reaches all below it; cancelling a child is an end that its parent hears of.
SELECT wf_define('{"definitionId": "middle", "root": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "waitForCompletion": true}]}');
SELECT wf_define('{"definitionId": "top", "variables": {"R": null}, "root": [
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "middle", "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "getR().subStatus"}}]}');
SELECT wf_start('top') AS top \gset
SELECT wf_cancel(:'top', 'enough');
SELECT * FROM pg_temp.instances();
SELECT pg_temp.forget();
SELECT wf_start('top') AS top \gset
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE definition_id = 'middle';
SELECT * FROM pg_temp.instances();
SELECT * FROM pg_temp.lines();
SELECT pg_temp.forget();

-- A child that faults is an end, too, as in Elsa.
SELECT wf_define('{"definitionId": "broken", "root": {"type": "Fault", "message": "broken"}}');
SELECT wf_define('{"definitionId": "careful", "variables": {"R": null}, "root": [
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "broken", "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "`${getR().status}, ${getR().subStatus}`"}}]}');
\set VERBOSITY terse
SET client_min_messages = error;
SELECT sub_status FROM wf_run('careful');
SELECT * FROM pg_temp.lines();
SELECT pg_temp.forget();

-- What cannot be started is a fault of the activity: unknown, not published, an input that does not fit, a strategy that says no.
SELECT wf_define('{"definitionId": "draft", "root": []}', publish => false);
SELECT wf_define('{"definitionId": "one-at-a-time", "options": {"activationStrategy": "Singleton"}, "root": {"type": "RunTask", "taskName": "t"}}');
SELECT wf_define(format('{"definitionId": "calls", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": {"input": "which"},
    "input": {"input": "with"}, "waitForCompletion": true}}')::jsonb);
SELECT w.which, r.sub_status, r.incidents #>> '{0,sqlstate}' AS sqlstate, r.incidents #>> '{0,message}' AS message
FROM (VALUES ('nothing', '{}'), ('draft', '{}'), ('double', '{"n": "many"}'), ('double', '[1]'), ('one-at-a-time', '{}'), ('one-at-a-time', '{}')) AS w (which, input),
     LATERAL wf_run('calls', jsonb_build_object('which', w.which, 'with', w.input::jsonb)) AS r;
SELECT pg_temp.forget();
RESET client_min_messages;

-- A child belongs to its parent's owner, who must be allowed to start it.
CREATE ROLE child_maker LOGIN;
SELECT wf_grant_usage('child_maker');
SET ROLE child_maker;
SELECT wf_define('{"definitionId": "borrower", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "double", "input": {"n": 1}}}');
SET client_min_messages = error;
SELECT sub_status, incidents #>> '{0,sqlstate}' AS sqlstate, incidents #>> '{0,message}' AS message FROM wf_run('borrower');
RESET ROLE;
SELECT wf_grant('double', 'child_maker', '{start}');
SET ROLE child_maker;
SELECT sub_status FROM wf_run('borrower');
RESET ROLE;
RESET client_min_messages;
SELECT definition_id, sub_status, owner FROM workflow.instance_list WHERE owner = 'child_maker' ORDER BY instance_id;
SELECT pg_temp.forget();

-- A role that makes a parent go on does not lend a child its rights: one that runs SQL is left for a session of its owner.
CREATE ROLE child_minder LOGIN;
SELECT wf_grant_usage('child_minder');
CREATE TABLE who_ran (what text, who text DEFAULT current_user);
GRANT INSERT ON who_ran TO child_maker, child_minder;
SET ROLE child_maker;
SELECT wf_define('{"definitionId": "noted", "root": {"type": "Sql", "statement": "INSERT INTO public.who_ran VALUES (''child'')"}}');
SELECT wf_define('{"definitionId": "bell", "root": [{"type": "Event", "eventName": "Ring"},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "noted", "waitForCompletion": true}, {"type": "WriteLine", "text": "the child has ended"}]}');
SELECT wf_grant('bell', 'child_minder', '{resume}');
SELECT wf_start('bell') IS NOT NULL AS started;
SET client_min_messages = error;
SET ROLE child_minder;
SELECT wf_grant_events('child_maker');
SELECT cardinality(resumed) FROM wf_publish_event('Ring');
SELECT wf_run_due();
RESET ROLE;
SELECT wf_run_due();
SELECT * FROM pg_temp.instances();
SELECT * FROM who_ran;
SET ROLE child_maker;
SELECT wf_run_due();
RESET ROLE;
SELECT * FROM pg_temp.instances();
SELECT * FROM who_ran;
SELECT pg_temp.forget();
-- The other way round: what a child reports to a parent that runs SQL stays in the queue for a session of the parent's owner.
SET ROLE child_maker;
SELECT wf_define('{"definitionId": "asked", "root": {"type": "RunTask", "taskName": "answer"}}');
SELECT wf_define('{"definitionId": "writes", "root": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "asked", "waitForCompletion": true},
    {"type": "Sql", "statement": "INSERT INTO public.who_ran VALUES (''parent'')"}]}');
SELECT wf_grant('asked', 'child_minder', '{resume,read}');
SELECT wf_start('writes') IS NOT NULL AS started;
SET ROLE child_minder;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT wf_run_due();
RESET ROLE;
SELECT wf_run_due();
SELECT * FROM pg_temp.instances();
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SET ROLE child_maker;
SELECT wf_run_due();
RESET ROLE;
SELECT * FROM pg_temp.instances();
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT * FROM who_ran;
SELECT pg_temp.forget();
RESET client_min_messages;

-- The bookmark of a bulk dispatch counts children only.
SELECT wf_define('{"definitionId": "many", "root": {"id": "all", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "double", "items": [{"n": 1}]}}');
SELECT wf_start('many') AS many \gset
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{}') AS r WHERE w.instance = :'many';
SELECT data FROM workflow.journal WHERE instance_id = :'many' AND event = 'Note';
SELECT wf_run_due() > 0 AS ran;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'many';

-- What runs when a child has ended may end the parent, or give it another correlation id: the bookmark that all children
-- report to goes, or follows.
SELECT wf_define('{"definitionId": "asks", "root": {"type": "RunTask", "taskName": "Ask"}}') \g /dev/null
SELECT wf_define('{"definitionId": "first of two", "root": {"type": "BulkDispatchWorkflows", "workflowDefinitionId": "asks", "items": [1, 2],
    "childCompleted": {"type": "Finish"}}}') \g /dev/null
SELECT wf_define('{"definitionId": "correlated by two", "root": {"type": "BulkDispatchWorkflows", "workflowDefinitionId": "asks", "items": [1, 2],
    "childCompleted": {"type": "Correlate", "correlationId": "known"}}}') \g /dev/null
SELECT wf_start(d) FROM unnest('{first of two,correlated by two}'::text[]) AS d \g /dev/null
SELECT wf_run_due();
SELECT (SELECT (wf_complete_task(t.id)).sub_status FROM workflow.tasks AS t WHERE t.instance_id = c.id)
FROM (SELECT parent_instance_id, min(id::text)::uuid AS id FROM workflow.instances WHERE definition_id = 'asks' GROUP BY 1) AS c;
SELECT * FROM wf_check();
SELECT i.definition_id, i.sub_status, i.correlation_id, b.correlation_id AS of_bookmark
FROM workflow.instances AS i LEFT JOIN workflow.bookmarks AS b ON b.instance_id = i.id WHERE i.definition_id ~ ' two$' ORDER BY 1;
SELECT (wf_complete_task(task_id)).sub_status FROM workflow.open_tasks WHERE name = 'Ask';
SELECT definition_id, sub_status FROM workflow.instances WHERE definition_id ~ ' two$' ORDER BY 1;
SELECT * FROM wf_check();
