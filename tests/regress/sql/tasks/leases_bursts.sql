-- Claims beside bursts, and what answers set off.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
CREATE TABLE paid (receipt text);

-- SQL of a workflow claims no task of its own instance: the state of the instance is in the burst.
SELECT wf_define('{"definitionId": "self", "root": {"type": "Parallel", "activities": [
    {"id": "work", "type": "RunTask", "taskName": "Work", "retry": {"maxAttempts": 1}},
    [{"type": "Event", "eventName": "Go"}, {"type": "Sql", "statement": "SELECT count(*) FROM wf_claim_tasks()"}]]}}') \g /dev/null
SELECT wf_define('{"definitionId": "other", "root": {"id": "work", "type": "RunTask", "taskName": "Work", "retry": {"maxAttempts": 1}}}') \g /dev/null
SELECT wf_start('self') AS self \gset
SELECT count(*) FROM workflow.identity;
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go');
SELECT count(*) AS leases FROM workflow.waiting WHERE waits_for = 'Workflow.Lease';
SELECT * FROM wf_claim_tasks() \gset held_
SELECT r.sub_status FROM wf_complete_task(:'held_task_id', token => :'held_token') AS r;
SELECT * FROM wf_check();

-- The first task says which database this is, as the first timer does. A copy gives out nothing.
BEGIN;
UPDATE workflow.identity SET database = 0;
SELECT * FROM wf_claim_tasks();
\echo :SQLSTATE
ROLLBACK;

-- After an adoption leases have ended, and no token counts. A task in its last attempt faults then.
SELECT wf_define('{"definitionId": "three", "root": {"id": "work", "type": "RunTask", "taskName": "Three", "retry": {"maxAttempts": 3}}}') \g /dev/null
SELECT wf_start('three') AS three, wf_start('other') AS last \gset
SELECT * FROM wf_claim_tasks('{Three}') \gset three_
SELECT * FROM wf_claim_tasks('{Work}') \gset last_
SELECT count(*) FROM wf_adopt_database();
SELECT name, attempt, available_at, lease_until, worker FROM workflow.open_tasks ORDER BY name;
SELECT wf_complete_task(:'three_task_id', token => :'three_token');
\echo :SQLSTATE
SELECT attempt FROM wf_claim_tasks(max => 10);
SELECT wf_run_due();
SELECT activity_id, code FROM workflow.open_incidents;
SELECT * FROM wf_check();

-- SQL that an answer sets off finds the tables of the caller, in a call of its own and in one with many.
SELECT wf_define('{"definitionId": "pay", "options": {"searchPath": "caller"}, "root": [
    {"id": "pay", "type": "RunTask", "taskName": "Pay"}, {"type": "Sql", "statement": "INSERT INTO paid VALUES (''R'')"}]}') \g /dev/null
SELECT count(wf_start('pay')) FROM generate_series(1, 2);
SELECT * FROM wf_claim_tasks('{Pay}') \gset one_
SELECT * FROM wf_claim_tasks('{Pay}') \gset two_
SELECT r.sub_status FROM wf_complete_task(:'one_task_id', token => :'one_token') AS r;
SELECT outcome, sub_status, message FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'two_task_id', 'token', :'two_token',
    'result', NULL, 'error', NULL)));
SELECT count(*) FROM paid;
DROP TABLE paid;

-- An answer that its activity cannot store leaves the task in its last attempt, with the bookmark of the lease.
SELECT wf_define('{"definitionId": "count", "outputs": [{"name": "n", "type": "Int32"}],
    "root": {"id": "count", "type": "RunTask", "taskName": "Count", "result": {"output": "n"}, "retry": {"maxAttempts": 1, "on": ["busy"]}}}') \g /dev/null
SELECT wf_start('count') AS count \gset
SELECT * FROM wf_claim_tasks('{Count}', lease => '1 s') \gset count_
SET workflow.now = '2026-03-01 09:00:02+00';
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_complete_task(:'count_task_id', '"many"');
SELECT name, attempt, available_at, worker FROM workflow.open_tasks WHERE name = 'Count';
SELECT waits_for FROM workflow.waiting WHERE instance = :'count' ORDER BY 1;
SELECT * FROM wf_check();

-- A stimulus for a task that a worker holds waits for the end of the lease. It is for this task alone: when the worker answers first, it
-- becomes a dead letter, and when the lease ends, it answers the task.
SELECT wf_define('{"definitionId": "held", "root": {"id": "held", "type": "RunTask", "taskName": "Held"}}') \g /dev/null
SELECT count(wf_start('held', correlation_id => c)) FROM unnest('{answered,forgotten}'::text[]) AS c;
SELECT task_id AS held_task, token AS held_token FROM wf_claim_tasks('{Held}', max => 2, lease => '1 s') WHERE correlation_id = 'answered' \gset
SELECT cardinality(resumed) AS resumed, queued_id IS NOT NULL AS queued
FROM unnest('{answered,forgotten}'::text[]) AS c, wf_enqueue_bookmark(activity_id => 'held', correlation_id => c);
SELECT sub_status FROM wf_complete_task(:'held_task', token => :'held_token');
SET workflow.now = '2026-03-01 09:00:04+00';
SELECT wf_run_due();
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'held' ORDER BY instance_id;
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT count(*) AS dead FROM workflow.dead_letters;
