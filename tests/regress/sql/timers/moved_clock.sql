-- workflow.now moves the clock of a session. In a database where real work waits, what such a session fires, claims and removes would be
-- used up, so it is refused there.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
ALTER DATABASE workflow RESET workflow.testing;
\connect
SELECT wf_schedule('live', '1 day', 'SELECT 1') IS NOT NULL AS scheduled;
SELECT wf_define('{"definitionId": "work", "root": {"id": "Task", "type": "RunTask", "taskName": "work"}}');
SELECT wf_start('work') \g /dev/null
SELECT next_run AS before FROM workflow.schedules WHERE name = 'live' \gset

-- A session that sets the mark for itself is refused as well: the workers would go on.
SET workflow.now = '2031-01-01 00:00:00+00';
SET workflow.testing = on;
SELECT wf_run_due();
SELECT * FROM wf_claim_tasks('{work}');
SELECT wf_claim_task(task_id) FROM workflow.open_tasks;
CALL wf_wait_tasks('{work}', '1 s', NULL);
SELECT next_run = :'before' AS unchanged FROM workflow.schedules WHERE name = 'live';
SELECT count(*) AS runs FROM workflow.schedule_runs;

-- With the clock of the server all of it works.
RESET workflow.now;
SELECT wf_run_due();
SELECT count(*) AS claimed FROM wf_claim_tasks('{work}');

-- And with a moved clock in a database that is marked for tests.
ALTER DATABASE workflow SET workflow.testing = on;
\connect
SET workflow.now = '2031-01-01 00:00:00+00';
SELECT wf_run_due() > 0 AS fired;
RESET workflow.now;
SELECT wf_unschedule('live');
