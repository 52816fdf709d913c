-- Variables set by hand: the former value, the declared type, the scope, and what is refused.
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
SELECT * FROM wf_define('{"definitionId": "order", "variables": [
        {"name": "amount", "typeName": "Int32", "value": "10"}, {"name": "note", "typeName": "String"}],
    "root": [
        {"id": "check", "type": "If", "condition": {"js": "getAmount() > 100"}, "then": {"type": "Fault", "message": "too much"}},
        {"id": "inner", "type": "Sequence", "variables": {"step": 1, "note": "inner"}, "activities": [
            {"id": "ask", "type": "RunTask", "taskName": "ask"}]},
        {"id": "tell", "type": "WriteLine", "text": {"js": "`${getAmount()} ${getNote()}`"}}]}');
SELECT wf_start('order') AS o \gset

-- The former value comes back; the new one is converted to the declared type.
SELECT wf_set_variable(:'o', 'amount', '"20"', reason => 'the customer called');
SELECT wf_set_variable(:'o', 'amount', '30');
SELECT variables FROM workflow.instance_list;
-- NULL, and JSON null, are no value.
SELECT wf_set_variable(:'o', 'note', NULL), wf_set_variable(:'o', 'note', '"hello"');

-- A value that does not convert, with the names of variable and type.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SELECT wf_set_variable(:'o', 'amount', '"much"');
SELECT wf_set_variable(:'o', 'amount', '{"a": 1}');
-- A variable that there is not, or that is misspelt.
SELECT wf_set_variable(:'o', 'amout', '1');
SELECT wf_set_variable(:'o', 'other', '1');
SELECT wf_set_variable(:'o', NULL, '1');
SELECT wf_set_variable(NULL, 'amount', '1');
SELECT wf_set_variable('00000000-0000-0000-0000-000000000001', 'amount', '1');
\set VERBOSITY default

-- A variable of an open container is found without its scope if no other has the name; the workflow's comes first.
SELECT wf_set_variable(:'o', 'step', '2');
SELECT activity_instance_id AS inner FROM workflow.journal WHERE instance_id = :'o' AND activity = 'inner' AND event = 'Started' \gset
SELECT activity_instance_id AS ask FROM workflow.open_bookmarks WHERE instance_id = :'o' \gset
-- With the scope it is the one that this activity sees.
SELECT wf_set_variable(:'o', 'note', '"seen"', :'inner');
SELECT wf_set_variable(:'o', 'note', '"seen again"', activity_instance_id => :'ask');
SELECT wf_set_variable(:'o', 'amount', '40', :'ask');
SELECT jsonb_path_query_array(workflow.instance_state(:'o'), '$.open[*].variables') AS inside, variables FROM workflow.instance_list;
-- A scope that is not open, or of another instance.
SELECT wf_start('order') AS other \gset
SELECT activity_instance_id AS elsewhere FROM workflow.open_bookmarks WHERE instance_id = :'other' \gset
SELECT wf_set_variable(:'o', 'note', '1', :'elsewhere');
\echo :SQLSTATE

-- Who did what, and why, stands in the journal and in the story.
SELECT activity, data FROM workflow.journal WHERE instance_id = :'o' AND event = 'Altered';
SELECT line FROM wf_explain(:'o') AS line;

-- Set, and then run on: the value counts.
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.instance_id = :'o';
SELECT data FROM workflow.journal WHERE instance_id = :'o' AND event = 'Line';
-- An instance that has ended.
SELECT wf_set_variable(:'o', 'amount', '1');
\echo :SQLSTATE
SELECT wf_cancel(:'other');
SELECT wf_set_variable(:'other', 'amount', '1');

-- The repair of a faulted instance: set the value, then retry.
SELECT * FROM wf_define('{"definitionId": "pay", "variables": [{"name": "amount", "typeName": "Int32", "value": 0}],
    "root": [{"id": "divide", "type": "Sql", "statement": {"js": "`SELECT 100 / ${getAmount()}`"}}]}');
SET client_min_messages = error;
SELECT wf_start('pay') AS p \gset
SELECT wf_set_variable(:'p', 'amount', '5');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'p';
SELECT r.sub_status FROM wf_retry(:'p') AS r;
RESET client_min_messages;
-- Nothing of a call that is rolled back stays.
SELECT wf_start('order') AS back \gset
BEGIN;
SELECT wf_set_variable(:'back', 'amount', '99');
ROLLBACK;
SELECT variables ->> 'amount' AS amount FROM workflow.instance_list WHERE instance_id = :'back';
SELECT count(*) FROM workflow.journal WHERE instance_id = :'back' AND event = 'Altered';

-- A loop has a variable for each body: without the scope the name is ambiguous.
SELECT * FROM wf_define('{"definitionId": "each", "root": {"id": "each", "type": "ParallelForEach", "items": [1, 2],
    "body": {"id": "ask", "type": "RunTask", "taskName": "ask", "payload": {"var": "CurrentValue"}}}}');
SELECT wf_start('each') AS e \gset
SELECT wf_set_variable(:'e', 'CurrentValue', '3');
\echo :SQLSTATE
SELECT activity_instance_id AS first FROM workflow.open_bookmarks WHERE instance_id = :'e' ORDER BY bookmark_id LIMIT 1 \gset
SELECT wf_set_variable(:'e', 'CurrentValue', '3', :'first');

-- From SQL of its own burst: refused, as any call that names the instance.
SELECT * FROM wf_define('{"definitionId": "self", "variables": {"x": 1}, "root": {"type": "Sql", "id": "self", "statement": {"js": "`SELECT wf_set_variable(''${getWorkflowInstanceId()}'', ''x'', ''2'')`"}}}');
SELECT wf_start('self') AS s \gset
SELECT sqlstate, message FROM workflow.open_incidents WHERE instance_id = :'s';

-- Rights: resume is not enough, alter is, and read alone tells the former value.
CREATE ROLE regress_alter_clerk; CREATE ROLE regress_alter_boss; CREATE ROLE regress_alter_nobody;
SELECT wf_grant_usage('regress_alter_clerk'), wf_grant_usage('regress_alter_boss'), wf_grant_usage('regress_alter_nobody');
SELECT wf_grant('order', 'regress_alter_clerk', '{start,resume,read}'), wf_grant('order', 'regress_alter_boss', '{alter}');
SET ROLE regress_alter_clerk;
SELECT wf_set_variable(:'back', 'amount', '7');
\echo :SQLSTATE
SET ROLE regress_alter_nobody;
SELECT wf_set_variable(:'back', 'amount', '7');
SET ROLE regress_alter_boss;
SELECT wf_set_variable(:'back', 'amount', '8') IS NULL AS is_not_told;
RESET ROLE;
SELECT wf_grant('order', 'regress_alter_boss', '{read}');
SET ROLE regress_alter_boss;
SELECT wf_set_variable(:'back', 'amount', '9');
SELECT data FROM workflow.journal WHERE instance_id = :'back' AND event = 'Altered';
RESET ROLE;
SELECT * FROM wf_check();
DROP OWNED BY regress_alter_clerk, regress_alter_boss, regress_alter_nobody;
DROP ROLE regress_alter_clerk; DROP ROLE regress_alter_boss; DROP ROLE regress_alter_nobody;
