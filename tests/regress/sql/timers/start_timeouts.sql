-- startTimeout bounds how long a task waits for its first claim. When it is over the activity faults, as after timeout.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SELECT wf_define('{"definitionId": "ask", "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Answer", "startTimeout": "10 minutes"},
    {"id": "thank", "type": "WriteLine", "text": "thanks"}]}');
SELECT wf_start('ask') AS instance \gset
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY waits_for;
SELECT substr(line, 22) AS line FROM wf_explain(:'instance') AS line WHERE line ~ '^2026.*claimed';
SELECT line FROM wf_explain(:'instance') AS line WHERE line ~ '^ask must';
SELECT problem FROM wf_check();

-- The first claim ends that time, however the attempt ends: the task may then wait as long as it takes.
SELECT task_id AS task, token FROM wf_claim_tasks('{Answer}') \gset
SELECT waits_for FROM workflow.waiting;
SELECT wf_release_task(:'task', :'token');
SET workflow.now = '2026-03-01 10:00:00+00';
SELECT wf_run_due();
SELECT attempt, token IS NOT NULL AS held FROM wf_claim_tasks('{Answer}');
SELECT problem FROM wf_check();
SELECT wf_cancel(:'instance');

-- When no worker claims it, its task is cancelled, and the activity faults with the code of a timeout.
SELECT wf_start('ask') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks \gset
SET workflow.now = '2026-03-01 10:10:00+00';
SELECT wf_run_due();
SELECT activity_id, sqlstate, code, message FROM workflow.open_incidents;
SELECT status FROM workflow.tasks WHERE id = :'task';
SELECT task_id FROM wf_claim_tasks('{Answer}');
SELECT wf_complete_task(:'task');
\echo :SQLSTATE
SELECT sub_status FROM wf_retry(:'instance');
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY waits_for;

-- An answer without a claim ends it, too.
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT count(*) FROM workflow.waiting;

-- A claim that is the first and the last one.
SELECT wf_define('{"definitionId": "once", "root": {"id": "ask", "type": "RunTask", "taskName": "Once", "startTimeout": "1 minute", "retry": {"maxAttempts": 1}}}');
SELECT wf_start('once') AS instance \gset
SELECT attempt, max_attempts FROM wf_claim_tasks('{Once}');
SELECT waits_for FROM workflow.waiting ORDER BY waits_for;
SELECT problem FROM wf_check();
SELECT wf_cancel(:'instance');

-- A policy, a connection "Timeout" and a catch take it as they take a timeout. It is a property of all activities whose work is a task.
SELECT wf_define('{"definitionId": "send", "root": {"type": "Try",
    "body": {"id": "send", "type": "SendEmail", "to": ["ann@example.com"], "subject": "Hello", "startTimeout": "1 minute",
        "retry": {"maxAttempts": 2, "delay": "0 s", "on": ["timeout"]}},
    "catch": [{"on": ["timeout"], "body": {"type": "WriteLine", "text": "no mail today"}}]}}');
SELECT wf_start('send') AS instance \gset
SET workflow.now = '2026-03-01 10:11:00+00';
SELECT wf_run_due();
SELECT attempt FROM workflow.open_tasks;
SET workflow.now = '2026-03-01 10:12:00+00';
SELECT wf_run_due();
SELECT event, data ->> 'message' AS message FROM workflow.journal WHERE instance_id = :'instance' AND event IN ('Retrying', 'Caught') ORDER BY seq, number;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';

-- Attempts of workers count when the time of the activity is over: three of five, and the next task begins with the fourth.
SELECT wf_define('{"definitionId": "both", "root": {"id": "ask", "type": "RunTask", "taskName": "Both", "timeout": "1 hour", "retry": {"maxAttempts": 5, "delay": "0 s"}}}');
SELECT wf_start('both') AS instance \gset
CREATE FUNCTION fail() RETURNS text LANGUAGE sql AS $$
    SELECT wf_fail_task(c.task_id, c.token, 'not yet', retry_in => '0 s') FROM wf_claim_tasks('{Both}') AS c $$;
SELECT fail(), fail();
SELECT attempt FROM wf_claim_tasks('{Both}');
SET workflow.now = '2026-03-01 11:12:00+00';
SELECT wf_run_due();
SELECT attempt FROM workflow.open_tasks;
SELECT attempt, max_attempts FROM wf_claim_tasks('{Both}');
SELECT wf_cancel(:'instance');
DROP FUNCTION fail;

-- within bounds the claims as well: no attempt follows a lease that ends after that time, so its end is the fault.
SELECT wf_define('{"definitionId": "soon", "root": {"id": "ask", "type": "RunTask", "taskName": "Soon", "retry": {"maxAttempts": 9, "within": "10 minutes"}}}');
SELECT wf_start('soon') AS instance \gset
SELECT attempt FROM wf_claim_tasks('{Soon}', lease => '4 minutes');
SELECT count(*) AS ends FROM workflow.waiting WHERE waits_for = 'Workflow.Lease';
SET workflow.now = '2026-03-01 11:17:00+00';
SELECT attempt FROM wf_claim_tasks('{Soon}', lease => '6 minutes');
SELECT waits_for, due FROM workflow.waiting WHERE waits_for = 'Workflow.Lease';
SET workflow.now = '2026-03-01 11:23:00+00';
SELECT wf_run_due();
SELECT activity_id, code FROM workflow.open_incidents WHERE instance_id = :'instance';

-- What it cannot be, where it cannot stand, and Elsa's form.
SELECT path, message FROM jsonb_array_elements('["0 s", "1 month", "soon", 5]') AS t,
    wf_validate(jsonb_build_object('definitionId', 'd', 'root', jsonb_build_object('type', 'RunTask', 'taskName', 'T', 'startTimeout', t)));
SELECT path, message FROM wf_validate('{"definitionId": "d", "root": {"type": "Event", "eventName": "Go", "startTimeout": "1 hour"}}');
SELECT wf_export('ask') #> '{root,activities,0,customProperties,startTimeout}' AS exported, wf_export('ask') #> '{root,activities,0,startTimeout}' AS beside;
SELECT path, message FROM wf_validate(jsonb_set(wf_export('ask'), '{root,activities,0,customProperties,startTimeout}', '"never"'));
