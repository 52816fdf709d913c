-- While an instance is paused the clocks of timeouts, retries and leases stand still: they go on with the time that was left.
-- The due times of Delay and other timers stay.
\pset null '(null)'
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'Europe/Berlin';
SELECT * FROM wf_define('{"definitionId": "clocks", "options": {"timeout": "10 days"}, "root": {"type": "Parallel", "activities": [
    {"id": "timeout", "type": "Event", "eventName": "Never", "timeout": "5 days"},
    {"id": "retry", "type": "Sql", "statement": "SELECT 1 / 0", "retry": {"maxAttempts": 3, "delay": "1 day", "within": "3 days"}},
    {"id": "start", "type": "RunTask", "taskName": "Start", "startTimeout": "2 days"},
    {"id": "lease", "type": "RunTask", "taskName": "Lease", "retry": {"maxAttempts": 5, "delay": "0 s", "within": "4 days"}},
    {"id": "last", "type": "RunTask", "taskName": "Last", "retry": {"maxAttempts": 1}},
    {"id": "delay", "type": "Delay", "timeSpan": "6 hours"}]}}');
SELECT wf_start('clocks') AS clocks \gset
SELECT name, attempt, max_attempts FROM wf_claim_tasks('{Lease,Last}', 'w1', 2, '1 hour') ORDER BY name;
CREATE VIEW clocks AS SELECT activity, waits_for, due FROM workflow.waiting ORDER BY activity, waits_for;
CREATE VIEW tasks AS SELECT name, attempt, available_at, lease_until FROM workflow.open_tasks ORDER BY name;
TABLE clocks;
TABLE tasks;

-- Half an hour later it is paused, for 30 days, in which summer time begins.
SET workflow.now = '2026-03-02 09:30:00+00';
SELECT wf_pause(:'clocks');
TABLE clocks;
TABLE tasks;
SELECT count(*) FILTER (WHERE due_at IS NOT NULL) AS due, count(*) FILTER (WHERE name = 'Elsa.RunTask' AND available_at IS DISTINCT FROM 'infinity') AS open FROM workflow.bookmarks;
SET workflow.now = '2026-04-01 09:30:00+00';
SELECT wf_run_due();
SELECT count(*) FROM wf_claim_tasks();
SELECT problem FROM wf_check();
SELECT r.sub_status FROM wf_unpause(:'clocks') AS r;
-- Each clock has gone on by 30 days, that of Delay has not.
TABLE clocks;
TABLE tasks;
-- No attempt was counted. The second one may still begin within the time for all of them.
SELECT wf_run_due();
TABLE clocks;
SET workflow.now = '2026-04-01 10:00:00+00';
SELECT name, attempt, max_attempts FROM wf_claim_tasks('{Lease}', 'w2', 1, '1 hour');
SELECT available_at FROM workflow.open_tasks WHERE name = 'Lease';
SELECT wf_run_due();
SELECT activity_id, code, message FROM workflow.open_incidents ORDER BY incident_id;
SELECT problem FROM wf_check();
SELECT wf_cancel(:'clocks');

-- The time for all attempts stands still as well: the third one begins 32 days after the first.
SET workflow.now = '2026-03-02 09:00:00+00';
SELECT * FROM wf_define('{"definitionId": "again", "root": {"id": "again", "type": "Sql", "statement": "SELECT 1 / 0", "retry": {"maxAttempts": 3, "delay": "1 day", "within": "3 days"}}}');
SELECT wf_start('again') AS again \gset
SELECT wf_pause(:'again');
SET workflow.now = '2026-04-01 09:00:00+00';
SELECT r.sub_status FROM wf_unpause(:'again') AS r;
SET workflow.now = '2026-04-02 09:00:00+00';
SELECT wf_run_due();
TABLE clocks;
SELECT wf_cancel(:'again');

-- A worker that goes on with its work prolongs the lease: from then on the clock stands.
SET workflow.now = '2026-03-02 09:00:00+00';
SELECT * FROM wf_define('{"definitionId": "work", "root": {"type": "Parallel", "activities": [
    {"id": "more", "type": "RunTask", "taskName": "More", "retry": {"maxAttempts": 5, "delay": "1 hour"}},
    {"id": "one", "type": "RunTask", "taskName": "One", "retry": {"maxAttempts": 1}}]}}');
SELECT wf_start('work') AS work \gset
SELECT task_id AS more, token AS more_token FROM wf_claim_tasks('{More}', 'w1', 1, '10 min') \gset
SELECT task_id AS one, token AS one_token FROM wf_claim_tasks('{One}', 'w1', 1, '10 min') \gset
SET workflow.now = '2026-03-02 09:05:00+00';
SELECT wf_pause(:'work');
SET workflow.now = '2026-03-02 12:00:00+00';
SELECT wf_extend_task(:'more', :'more_token', '10 min', '{"done": 1}'), wf_extend_task(:'one', :'one_token', '10 min');
SELECT wf_extend_task(:'more', :'one_token');
SET workflow.now = '2026-03-02 13:00:00+00';
SELECT count(*) FROM wf_claim_tasks();
SELECT r.sub_status FROM wf_unpause(:'work') AS r;
TABLE tasks;
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY activity, waits_for;

-- It gives a task back, or reports a failure, while the instance is paused: no worker claims it before the pause ends.
SELECT wf_pause(:'work');
SELECT wf_release_task(:'one', :'one_token');
SELECT wf_fail_task(:'more', :'more_token', 'no paper');
SELECT wf_extend_task(:'more', :'more_token');
SELECT count(*) FROM wf_claim_tasks();
-- Who waits for tasks is told the same.
CALL wf_wait_tasks(timeout => '0 s');
TABLE tasks;
SELECT problem FROM wf_check();
SET workflow.now = '2026-03-03 13:00:00+00';
SELECT r.sub_status FROM wf_unpause(:'work') AS r;
TABLE tasks;
CALL wf_wait_tasks(timeout => '0 s');
SELECT name, attempt FROM wf_claim_tasks(max => 5) ORDER BY name;
-- The last failure of a task waits as an answer does.
SELECT task_id AS one, token AS one_token FROM workflow.bookmarks AS b JOIN workflow.open_tasks AS t ON t.task_id = b.id WHERE t.name = 'One' \gset
SELECT wf_pause(:'work');
SELECT wf_fail_task(:'one', :'one_token', 'broken', code => 'machine');
SELECT count(*) FROM workflow.open_incidents;
SELECT problem FROM wf_check();
SELECT r.sub_status FROM wf_unpause(:'work') AS r;
SELECT activity_id, code, message FROM workflow.open_incidents;
SELECT problem FROM wf_check();
DROP VIEW clocks, tasks;
