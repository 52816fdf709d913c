-- SQL with the rights of another owner runs in that owner's sessions only. Calls that leave it to them say so.
SET workflow.now = '2026-03-01 09:00:00+00';
CREATE ROLE regress_left_owner;
CREATE ROLE regress_left_sender;
SELECT wf_grant_usage(r) FROM unnest(ARRAY['regress_left_owner', 'regress_left_sender']) AS r \g /dev/null
GRANT CREATE ON SCHEMA public TO regress_left_owner;
SET ROLE regress_left_owner;
SELECT wf_define('{"definitionId": "timed", "root": [{"type": "Delay", "timeSpan": "1 hour"}, {"type": "Sql", "statement": "SELECT 1"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "paid", "root": [{"id": "wait", "type": "Event", "eventName": "Paid"}, {"id": "note", "type": "Sql", "statement": "SELECT 1"}]}') \g /dev/null
SELECT count(wf_start('timed')) FROM generate_series(1, 2);
SELECT count(wf_start('paid', correlation_id => 'p')) FROM generate_series(1, 2);
RESET ROLE;

-- A pass over due work, by a superuser.
SET workflow.now = '2026-03-01 11:00:00+00';
SELECT wf_run_due();
-- A role without the owner's rights learns nothing.
SET ROLE regress_left_sender;
SELECT wf_run_due();
RESET ROLE;

-- An event: the NOTICE names the first instance that stored it. It is not in "resumed", because it has not run.
SELECT wf_grant_events('regress_left_owner') \g /dev/null
SELECT resumed, queued_id IS NOT NULL AS queued FROM wf_publish_event('Paid', correlation_id => 'p');
-- A sender that may not see the instances learns neither their ids nor their owner.
SET ROLE regress_left_owner;
SELECT count(wf_start('paid', correlation_id => 'q'));
SELECT wf_grant('paid', 'regress_left_sender', '{resume}');
RESET ROLE;
SELECT wf_grant_events('regress_left_owner', 'regress_left_sender') \g /dev/null
SET ROLE regress_left_sender;
SELECT resumed, queued_id IS NOT NULL AS queued FROM wf_publish_event('Paid', correlation_id => 'q');
RESET ROLE;
SET ROLE regress_left_owner;
SELECT wf_run_due();
RESET ROLE;
SELECT definition_id, sub_status FROM workflow.instance_list WHERE definition_id IN ('timed', 'paid') ORDER BY instance_id;

-- A grant that a superuser repeats replaces the grantor, and counts.
SELECT wf_grant('paid', 'regress_left_sender', '{resume}');
SELECT wf_grant('paid', 'regress_left_sender', '{resume}');

-- A right that SQL of an invoker lacks: the hint says whose rights the SQL had.
CREATE TABLE regress_left_secret (n integer);
SELECT wf_define('{"definitionId": "secret", "root": {"id": "read", "type": "Sql", "statement": "SELECT n FROM public.regress_left_secret"}}') \g /dev/null
SELECT wf_grant('secret', 'regress_left_sender', '{start}') \g /dev/null
SET ROLE regress_left_sender;
SELECT wf_start('secret');
RESET ROLE;
SELECT sqlstate, message, hint FROM workflow.open_incidents WHERE definition_id = 'secret';

-- Who may not answer a task gets the same hint whether it names people or not.
SELECT wf_define('{"definitionId": "tasks", "root": {"type": "Parallel", "activities": [
    {"id": "anyone", "type": "RunTask", "taskName": "Any"},
    {"id": "people", "type": "RunTask", "taskName": "Ask", "candidates": ["role:regress_left_owner"]}]}}') \g /dev/null
SELECT wf_start('tasks') \g /dev/null
SELECT task_id AS anyone FROM workflow.open_tasks WHERE activity_id = 'anyone' \gset
SELECT task_id AS people FROM workflow.open_tasks WHERE activity_id = 'people' \gset
SET ROLE regress_left_sender;
SELECT wf_complete_task(:'anyone');
SELECT wf_complete_task(:'people');
SELECT wf_resume(:'anyone');
SELECT wf_resume(:'people');
RESET ROLE;
-- A role that may read the instance gets the reason.
SELECT wf_grant('tasks', 'regress_left_sender', '{read}') \g /dev/null
SET ROLE regress_left_sender;
SELECT wf_complete_task(:'anyone');
SELECT wf_complete_task(:'people');
RESET ROLE;
