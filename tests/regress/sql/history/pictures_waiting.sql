-- What workflow.waiting and the tooltips of wf_svg say of attempts, leases and timeouts.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 09:00:00+00';
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "all", "options": {"timeout": "1 day"}, "root": {"id": "both", "type": "Parallel", "timeout": "2 hours", "activities": [
    {"id": "pay", "type": "Sql", "statement": "SELECT 1/0", "retry": {"maxAttempts": 3, "delay": "1 minute"}},
    {"id": "pack", "type": "RunTask", "taskName": "Pack", "startTimeout": "1 hour", "retry": {"maxAttempts": 2, "delay": "1 minute"}},
    {"id": "nap", "type": "Delay", "timeSpan": "1 hour"}]}}');
SELECT wf_start('all') AS instance \gset
CREATE FUNCTION seen(instance uuid) RETURNS SETOF text LANGUAGE sql AS
    $$SELECT m[1] FROM regexp_matches(wf_svg(instance), '<title>([^<]* – [^<]*)</title>', 'g') AS m WHERE m[1] !~ 'not reached'$$;
CREATE VIEW waits AS SELECT activity, waits_for, attempt, due, lease_until, worker FROM workflow.waiting ORDER BY activity, waits_for;

-- The first attempt of pay has failed. No worker has claimed the task yet.
TABLE waits;
SELECT seen(:'instance');
-- A worker holds the task, and the second attempt has failed, too.
SET workflow.now = '2030-01-01 09:01:00+00';
SELECT wf_run_due();
SELECT task_id, token FROM wf_claim_tasks('{Pack}', 'ann & bob', 1, '10 minutes') \gset
TABLE waits;
SELECT seen(:'instance');
-- While the instance is paused.
SELECT wf_pause(:'instance') \g /dev/null
SELECT seen(:'instance');
SELECT wf_unpause(:'instance') \g /dev/null
-- The worker fails; then it has the last attempt.
SELECT wf_fail_task(:'task_id', :'token', 'no paper');
SELECT seen(:'instance');
SET workflow.now = '2030-01-01 09:02:30+00';
SELECT attempt FROM wf_claim_tasks('{Pack}', NULL, 1, '10 minutes');
SELECT seen(:'instance');
-- In the words of the story.
SELECT line FROM wf_explain(:'instance') AS line WHERE line ~ 'until|attempt';
-- No number of attempts that an imported bundle could have brought.
UPDATE workflow.bookmarks SET metadata = '{"Attempt": "99999999999"}' WHERE name = 'Workflow.Retry';
SELECT activity, attempt FROM workflow.waiting WHERE waits_for = 'Workflow.Retry';
SELECT count(*) FROM seen(:'instance') AS seen WHERE seen ~ 'pay';
