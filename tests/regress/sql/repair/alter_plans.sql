-- wf_alter: Elsa's plans of alterations, for the instances that a filter selects.
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
\set SHOW_CONTEXT never
SELECT * FROM wf_define('{"definitionId": "order", "variables": [{"name": "amount", "typeName": "Int32", "value": 1}], "root": [
    {"id": "ask", "type": "RunTask", "taskName": "ask"}, {"id": "pack", "type": "RunTask", "taskName": "pack"}]}');
SELECT * FROM wf_define('{"definitionId": "other", "variables": {"amount": 1}, "root": {"id": "ask", "type": "RunTask", "taskName": "ask"}}');
SELECT wf_start('order', correlation_id => 'c' || n, name => 'order ' || n, instance_id => ('01900000-0000-7000-8000-00000000000' || n)::uuid) FROM generate_series(1, 4) AS n;
SELECT wf_start('other', instance_id => '01900000-0000-7000-8000-00000000000a');
-- Number 2 is already packed, number 4 has ended.
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.instance_id IN ('01900000-0000-7000-8000-000000000002', '01900000-0000-7000-8000-000000000004');
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.instance_id = '01900000-0000-7000-8000-000000000004';
CREATE VIEW state AS
    SELECT right(i.instance_id::text, 2) AS n, i.sub_status, i.variables ->> 'amount' AS amount,
           (SELECT string_agg(b.activity_id, ',') FROM workflow.open_bookmarks AS b WHERE b.instance_id = i.instance_id) AS waits,
           (SELECT count(*) FROM workflow.journal AS j WHERE j.instance_id = i.instance_id AND j.event = 'Altered') AS altered
    FROM workflow.instance_list AS i ORDER BY 1;

-- A dry run changes nothing, and says what would be.
\set plan '[{"type": "ModifyVariable", "variableId": "amount", "value": 5}, {"type": "CancelActivity", "activityId": "ask"}]'
SELECT * FROM wf_alter(:'plan', '{"definitionIds": ["order"]}', dry_run => true);
SELECT * FROM state;
-- All alterations of an instance, or none: one instance's problem does not stop the others.
SELECT * FROM wf_alter(:'plan', '{"definitionIds": ["order"]}', reason => 'everything was asked');
SELECT * FROM state;
SELECT activity, data FROM workflow.journal WHERE event = 'Altered' AND instance_id = '01900000-0000-7000-8000-000000000001';
-- Every problem is told.
SELECT * FROM wf_alter('[{"type": "ModifyVariable", "variableId": "amount", "value": "x"}, {"type": "ScheduleActivity", "activityId": "nothing"}]', '{"workflowInstanceIds": ["01900000-0000-7000-8000-000000000001"]}');

-- PascalCase, as Elsa's server may write it.
SELECT * FROM wf_alter('[{"Type": "ScheduleActivity", "ActivityId": "ask"}]', '{"CorrelationIds": ["c1", "c9"], "Statuses": ["Running"]}');
SELECT * FROM state;

-- The members of a filter: those selected satisfy all of them.
SELECT right(instance_id::text, 2) AS n FROM wf_alter('[{"type": "Cancel"}]', '{"names": ["order 1", "order 2"]}', true);
SELECT right(instance_id::text, 2) AS n FROM wf_alter('[{"type": "Cancel"}]', '{"searchTerm": "DER", "subStatuses": ["Suspended"]}', true);
SELECT right(instance_id::text, 2) AS n FROM wf_alter('[{"type": "Cancel"}]', '{"searchTerm": "01900000-0000-7000-8000-00000000000A"}', true);
SELECT right(instance_id::text, 2) AS n, outcome FROM wf_alter('[{"type": "Cancel"}]', '{"subStatuses": ["Finished"]}', true);
SELECT right(instance_id::text, 2) AS n FROM wf_alter('[{"type": "Cancel"}]', '{"hasIncidents": true}', true);
SELECT count(*) FROM wf_alter('[{"type": "Cancel"}]', '{"hasIncidents": false, "isSystem": false}', true);
SELECT count(*) FROM wf_alter('[{"type": "Cancel"}]', '{"isSystem": true}', true);
SELECT right(a.instance_id::text, 2) AS n FROM workflow.definition_list AS d, wf_alter('[{"type": "Cancel"}]', jsonb_build_object('definitionVersionIds', jsonb_build_array((SELECT v.id FROM workflow.definitions AS v WHERE v.definition_id = d.definition_id))), true) AS a WHERE d.definition_id = 'other';
SELECT count(*) FROM wf_alter('[{"type": "Cancel"}]', '{"timestampFilters": [{"column": "CreatedAt", "operator": "LessThanOrEqual", "timestamp": "2026-03-02T09:00:00Z"}, {"column": "FinishedAt", "operator": "IsNot", "timestamp": "2026-03-01T09:00:00Z"}]}', true);
SELECT count(*) FROM wf_alter('[{"type": "Cancel"}]', '{"timestampFilters": [{"column": "CreatedAt", "operator": "GreaterThan", "timestamp": "2026-03-02T09:00:00Z"}]}', true);
SELECT count(*) FROM wf_alter('[{"type": "Cancel"}]', '{"emptyFilterSelectsAll": true}', true);
-- An id that there is not.
SELECT * FROM wf_alter('[{"type": "Cancel"}]', '{"workflowInstanceIds": ["01900000-0000-7000-8000-0000000000ff", "01900000-0000-7000-8000-00000000000a"]}', true);

-- In pieces: the next call goes on behind the last id.
SELECT right(instance_id::text, 2) AS n FROM wf_alter('[{"type": "Cancel"}]', '{"emptyFilterSelectsAll": true}', true, max => 2);
SELECT right(instance_id::text, 2) AS n FROM wf_alter('[{"type": "Cancel"}]', '{"emptyFilterSelectsAll": true}', true, 2, '01900000-0000-7000-8000-000000000002');

-- What is refused as a whole, before anything is done.
\set VERBOSITY verbose
SELECT wf_alter('[{"type": "Cancel"}]', '{}');
SELECT wf_alter('[{"type": "Cancel"}]', '{"definitionIds": null}');
SELECT wf_alter('[{"type": "Cancel"}]', '{"definitionIds": []}');
SELECT wf_alter('[{"type": "Cancel"}]', '{"definitionIDs": ["order"]}');
SELECT wf_alter('[{"type": "Cancel"}]', '{"name": "order"}');
SELECT wf_alter('[{"type": "Cancel"}]', '{"statuses": ["Suspended"]}');
SELECT wf_alter('[{"type": "Cancel"}]', '{"timestampFilters": [{"column": "CreatedAt", "operator": "Is", "timestamp": "today"}]}');
SELECT wf_alter('[]', '{"definitionIds": ["order"]}');
SELECT wf_alter('{"type": "Cancel"}', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "Destroy"}]', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "ModifyVariable", "variable": "amount", "value": 1}]', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "CancelActivity"}]', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "CancelActivity", "activityId": "ask", "activitiId": "x"}]', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "Cancel"}, {"type": "CancelActivity", "activityId": "ask"}]', '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "Migrate", "targetVersion": 2}, {"type": "Cancel"}]', '{"definitionIds": ["order"]}');
SELECT wf_alter((SELECT jsonb_agg('{"type": "Cancel"}'::jsonb) FROM generate_series(1, 100000)), '{"definitionIds": ["order"]}');
SELECT count(*), min(outcome) FROM (SELECT jsonb_agg(gen_random_uuid()) AS ids FROM generate_series(1, 100)) AS n, wf_alter('[{"type": "Cancel"}]', jsonb_build_object('workflowInstanceIds', ids), max => 7);
SELECT wf_alter('[{"type": "Cancel"}]', '{"definitionIds": ["order"]}', max => 0);
SELECT wf_alter('[{"type": "Cancel"}]', '{"definitionIds": ["order"]}', max => 1000000);
SELECT wf_alter(NULL, '{"definitionIds": ["order"]}');
SELECT wf_alter('[{"type": "Cancel"}]', NULL);
\set VERBOSITY default
SELECT * FROM state;

-- A fault that the alterations set off is an incident of the instance, as always; SQL of it is undone, and the others go on.
CREATE TABLE done (n integer CHECK (n < 2));
SELECT * FROM wf_define('{"definitionId": "sql", "variables": {"n": 1}, "root": {"id": "seq", "type": "Sequence", "activities": [
    {"id": "wait", "type": "RunTask", "taskName": "wait"},
    {"id": "write", "type": "Sql", "statement": {"js": "`INSERT INTO done VALUES (${getN()})`"}}]}}');
SELECT wf_start('sql', correlation_id => 's1'), wf_start('sql', correlation_id => 's2');
SELECT outcome FROM wf_alter('[{"type": "ModifyVariable", "variableId": "n", "value": 2}]', '{"correlationIds": ["s2"]}');
SET client_min_messages = error;
SELECT outcome, problems FROM wf_alter('[{"type": "CancelActivity", "activityId": "wait"}]', '{"definitionIds": ["sql"]}');
RESET client_min_messages;
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'sql' ORDER BY 1;
SELECT * FROM done;
-- A run that exceeds its steps is refused, and its SQL is undone.
SELECT * FROM wf_define('{"definitionId": "circle", "root": {"id": "seq", "type": "Sequence", "activities": [
    {"id": "wait", "type": "RunTask", "taskName": "wait"}, {"type": "Sql", "id": "first", "statement": "INSERT INTO done VALUES (0)"},
    {"id": "loop", "type": "While", "condition": true, "body": {"type": "WriteLine", "text": "x"}}]}}');
SELECT wf_start('circle') AS circle \gset
SET workflow.max_steps = 100;
SELECT outcome, problems FROM wf_alter('[{"type": "CancelActivity", "activityId": "wait"}]', '{"definitionIds": ["circle"]}');
RESET workflow.max_steps;
SELECT * FROM done;
SELECT sub_status FROM workflow.instance_list WHERE definition_id = 'circle';

-- Cancel takes children along.
SELECT * FROM wf_define('{"definitionId": "parent", "root": {"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "other", "waitForCompletion": true}}');
SELECT wf_start('parent') AS parent \gset
SELECT outcome FROM wf_alter('[{"type": "Cancel"}]', '{"definitionIds": ["parent"]}', reason => 'a mistake');
SELECT definition_id, sub_status FROM workflow.instance_list WHERE parent_instance_id = :'parent' OR instance_id = :'parent' ORDER BY 1;
SELECT line FROM wf_explain(:'parent') AS line;

-- Rights: the instances that the caller may neither read nor alter are not looked at, those that it may only read are refused.
CREATE ROLE regress_alter_one; CREATE ROLE regress_alter_two;
SELECT wf_grant_usage('regress_alter_one'), wf_grant_usage('regress_alter_two');
SET ROLE regress_alter_one;
SELECT * FROM wf_alter('[{"type": "Cancel"}]', '{"emptyFilterSelectsAll": true}');
SELECT * FROM wf_alter('[{"type": "Cancel"}]', '{"workflowInstanceIds": ["01900000-0000-7000-8000-000000000001"]}');
RESET ROLE;
SELECT wf_grant('order', 'regress_alter_one', '{read,resume}'), wf_grant('other', 'regress_alter_one', '{alter,read}');
SET ROLE regress_alter_one;
SELECT right(instance_id::text, 2) AS n, outcome, problems FROM wf_alter('[{"type": "ModifyVariable", "variableId": "amount", "value": 9}]', '{"subStatuses": ["Suspended"]}');
-- security.md#invoker-the-default: SQL of an instance of another owner runs only in a session of that owner, whether the plan names it or not
SET ROLE regress_alter_two;
SELECT * FROM wf_define('{"definitionId": "trap", "root": {"id": "seq", "type": "Sequence", "activities": [
    {"id": "wait", "type": "RunTask", "taskName": "wait"}, {"id": "who", "type": "Sql", "statement": "SELECT current_user"}]}}');
SELECT wf_start('trap', correlation_id => 'c1') AS trap \gset
RESET ROLE;
SELECT outcome, problems FROM wf_alter('[{"type": "CancelActivity", "activityId": "wait"}]', '{"correlationIds": ["c1"]}');
SELECT outcome FROM wf_alter('[{"type": "CancelActivity", "activityId": "wait"}]', jsonb_build_object('workflowInstanceIds', jsonb_build_array(:'trap')));
SELECT * FROM wf_check();
DROP VIEW state;
DROP OWNED BY regress_alter_one, regress_alter_two;
DROP ROLE regress_alter_one; DROP ROLE regress_alter_two;
