-- wf_claim_task claims a task by its id, by the rules of a claim of any task, and says why it cannot.
\pset null '(null)'
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
CREATE ROLE regress_one_clerk;
CREATE ROLE regress_one_robot;
CREATE ROLE regress_one_nobody;
SELECT wf_grant_usage(role) FROM unnest('{regress_one_clerk, regress_one_nobody}'::name[]) AS role;
SELECT * FROM wf_define('{"definitionId": "pay", "inputs": [{"name": "for"}, {"name": "priority"}], "root": [
    {"id": "charge", "type": "RunTask", "taskName": "Charge", "payload": {"n": 1}, "assignee": {"input": "for"}, "priority": {"input": "priority"},
     "retry": {"maxAttempts": 2, "delay": "10 min"}}]}');
SELECT wf_grant('pay', 'regress_one_clerk', '{resume}');
SELECT wf_start('pay', '{"priority": 9}', 'first') AS first \gset
SELECT wf_start('pay', correlation_id => 'second') AS second \gset
SELECT wf_start('pay', '{"for": "ada"}', 'ada') AS ada \gset
SELECT wf_start('pay', '{"for": "role:regress_one_robot"}', 'robot') AS robot \gset
SELECT task_id AS second_task FROM workflow.open_tasks WHERE correlation_id = 'second' \gset
SELECT task_id AS ada_task FROM workflow.open_tasks WHERE correlation_id = 'ada' \gset
SELECT task_id AS robot_task FROM workflow.open_tasks WHERE correlation_id = 'robot' \gset

-- It is that task, whichever comes first; no other one is touched.
SELECT name, payload, correlation_id, instance_id = :'second' AS instance, definition_id, activity_id, owner = CURRENT_USER AS owner,
    attempt, max_attempts, priority, deadline, lease_until, progress FROM wf_claim_task(:'second_task', 'w1', '5 min');
SELECT correlation_id, attempt, worker, lease_until FROM workflow.open_tasks ORDER BY correlation_id;
-- A worker holds it.
SELECT * FROM wf_claim_task(:'second_task', 'w2');
\echo :SQLSTATE
-- Its lease ends, without any claim that looks for such ends. The second attempt is the last one.
SET workflow.now = '2026-03-02 09:06:00+00';
SELECT correlation_id, attempt, max_attempts, lease_until FROM wf_claim_task(:'second_task', 'w2', '1 min');
SELECT waits_for, due FROM workflow.waiting WHERE instance = :'second' ORDER BY waits_for;
-- The end of that lease is a bookmark of the same activity, and no task.
SELECT id AS lease_end FROM workflow.bookmarks WHERE instance_id = :'second' AND id <> :'second_task' \gset
SELECT * FROM wf_claim_task(:'lease_end');
\echo :SQLSTATE
SET workflow.now = '2026-03-02 09:08:00+00';
SELECT * FROM wf_claim_task(:'second_task', 'w3');
\echo :SQLSTATE
-- A token is that of any claim: the answer of the last attempt counts until the end of its lease has fired.
SELECT token FROM workflow.bookmarks WHERE id = :'second_task' \gset
SELECT sub_status FROM wf_complete_task(:'second_task', token => :'token');
SELECT * FROM wf_claim_task(:'second_task');
\echo :SQLSTATE

-- A failure delays the next attempt, and a release gives the attempt back.
SELECT task_id AS first_task FROM workflow.open_tasks WHERE correlation_id = 'first' \gset
SELECT token FROM wf_claim_task(:'first_task') \gset
SELECT wf_release_task(:'first_task', :'token');
SELECT attempt, token AS token FROM wf_claim_task(:'first_task') \gset
\echo :attempt
SELECT wf_fail_task(:'first_task', :'token', 'no');
SELECT * FROM wf_claim_task(:'first_task');
\echo :SQLSTATE
-- A paused instance stands still. Its time as well: the delay of ten minutes goes on afterwards.
SET workflow.now = '2026-03-02 09:20:00+00';
SELECT wf_pause(:'first', 'wait');
SELECT * FROM wf_claim_task(:'first_task');
\echo :SQLSTATE
SELECT sub_status FROM wf_unpause(:'first');
SELECT attempt FROM wf_claim_task(:'first_task');

-- A role that may answer a task for certain people may claim it by its id: the owner, and a role that may resume for a label.
BEGIN;
SELECT correlation_id FROM wf_claim_task(:'ada_task') UNION ALL SELECT correlation_id FROM wf_claim_task(:'robot_task');
ROLLBACK;
SET ROLE regress_one_clerk;
SELECT correlation_id FROM wf_claim_tasks(max => 10);
BEGIN;
SELECT correlation_id FROM wf_claim_task(:'ada_task');
ROLLBACK;
SELECT * FROM wf_claim_task(:'robot_task');
\echo :SQLSTATE
SET ROLE regress_one_nobody;
SELECT * FROM wf_claim_task(:'ada_task');
\echo :SQLSTATE
-- A role without the extension calls nothing; one that only works claims what it was granted.
SET ROLE regress_one_robot;
SELECT * FROM wf_claim_task(:'robot_task');
\echo :SQLSTATE
RESET ROLE;
SELECT wf_start('pay', correlation_id => 'third') AS third \gset
SELECT task_id AS third_task FROM workflow.open_tasks WHERE correlation_id = 'third' \gset
SELECT wf_grant_worker('regress_one_robot', '{Other}', 'pay');
SET ROLE regress_one_robot;
SELECT * FROM wf_claim_task(:'third_task');
\echo :SQLSTATE
SELECT correlation_id FROM wf_claim_task(:'robot_task', 'robot');
RESET ROLE;
SELECT wf_grant_worker('regress_one_robot', '{Charge}', 'pay');
SET ROLE regress_one_robot;
SELECT correlation_id FROM wf_claim_task(:'third_task', 'robot');
RESET ROLE;

-- Limits hold. A task that was open before a limit was set has it as well.
SELECT wf_define('{"definitionId": "mail", "root": {"id": "send", "type": "RunTask", "taskName": "Send", "payload": {"object": {"to": {"input": "to"}}}}}');
SELECT wf_start('mail', '{"to": "ann"}', 'm1') IS NOT NULL, wf_start('mail', '{"to": "ann"}', 'm2') IS NOT NULL, wf_start('mail', '{"to": "ben"}', 'm3') IS NOT NULL;
SELECT wf_limit_tasks('Send', 1, key => 'to');
SELECT task_id AS m1 FROM workflow.open_tasks WHERE correlation_id = 'm1' \gset
SELECT task_id AS m2 FROM workflow.open_tasks WHERE correlation_id = 'm2' \gset
SELECT task_id AS m3 FROM workflow.open_tasks WHERE correlation_id = 'm3' \gset
SELECT token FROM wf_claim_task(:'m1') \gset
SELECT * FROM wf_claim_task(:'m2');
\echo :SQLSTATE
SELECT correlation_id FROM wf_claim_task(:'m3');
SELECT sub_status FROM wf_complete_task(:'m1', token => :'token');
SELECT correlation_id, lease_until FROM wf_claim_task(:'m2', lease => '1 min');
-- A lease that has ended leaves its slot to the same task.
SET workflow.now = '2026-03-02 10:00:00+00';
SELECT correlation_id, attempt FROM wf_claim_task(:'m2');
SELECT wf_limit_tasks('Send', key => 'to');

-- A faulted instance gives no task.
SELECT wf_define('{"definitionId": "broken", "options": {"incidentStrategyType": "FaultStrategy"}, "root": {"type": "Parallel", "activities": [
    {"id": "ask", "type": "RunTask", "taskName": "Ask"}, {"id": "stop", "type": "Sql", "statement": "SELECT 1 / 0"}]}}');
SELECT sub_status FROM wf_run('broken', correlation_id => 'broken', on_fault => 'store');
SELECT task_id AS ask FROM workflow.open_tasks WHERE correlation_id = 'broken' \gset
SELECT * FROM wf_claim_task(:'ask');
\echo :SQLSTATE

-- SQL of a burst claims no task of its own instance.
SELECT wf_define('{"definitionId": "own", "root": {"type": "Parallel", "activities": [{"id": "wait", "type": "RunTask", "taskName": "Own"},
    [{"type": "Event", "eventName": "Go"}, {"id": "claim", "type": "Sql", "statement": "SELECT wf_claim_task(task_id) FROM workflow.open_tasks WHERE name = ''Own''"}]]}}') \g /dev/null
SELECT wf_start('own', correlation_id => 'own') AS own \gset
SET client_min_messages = error;
SELECT count(*) FROM wf_publish_event('Go', correlation_id => 'own');
RESET client_min_messages;
SELECT sqlstate, regexp_replace(message, '[0-9a-f-]{36}', 'ID') AS message FROM workflow.open_incidents WHERE instance_id = :'own';

-- Arguments that make no sense.
SELECT * FROM wf_claim_task(NULL);
\echo :SQLSTATE
SELECT * FROM wf_claim_task('00000000-0000-0000-0000-000000000000');
\echo :SQLSTATE
SELECT * FROM wf_claim_task(:'first');
\echo :SQLSTATE
SELECT * FROM wf_claim_task(:'first_task', lease => '0');
\echo :SQLSTATE
SELECT * FROM wf_claim_task(:'first_task', lease => NULL);
\echo :SQLSTATE
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM wf_claim_task(:'first_task');
\echo :SQLSTATE
ROLLBACK;
-- A copy of a database gives out no work.
SET workflow.restoring = on;
SELECT * FROM wf_claim_task(:'first_task');
\echo :SQLSTATE
RESET workflow.restoring;
SELECT * FROM wf_check();
SELECT wf_revoke_worker('regress_one_robot');
DROP OWNED BY regress_one_clerk, regress_one_robot, regress_one_nobody;
DROP ROLE regress_one_clerk, regress_one_robot, regress_one_nobody;
