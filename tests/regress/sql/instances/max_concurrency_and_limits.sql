-- Limits meet what else bounds and ends work: tasks for people, grants of workers, the time of a run, compensation.
\pset null '(null)'
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';

-- A claim takes a place only for a task that the role may have: one for people if it names the role, others by grant.
CREATE ROLE regress_limits_robot;
CREATE ROLE regress_limits_clerk;
SELECT wf_grant_usage('regress_limits_clerk');
SELECT wf_grant_worker('regress_limits_robot', '{Scan}');
SELECT wf_define('{"definitionId": "scan", "root": {"id": "t", "type": "RunTask", "taskName": "Scan", "candidates": {"input": "among"},
    "payload": {"object": {"shop": {"input": "shop"}}}}}') \g /dev/null
SELECT wf_limit_tasks('Scan', 1, key => 'shop') \g /dev/null
SELECT wf_start('scan', '{"shop": "Rome", "among": ["role:regress_limits_clerk"]}', 'clerk'), wf_start('scan', '{"shop": "Rome"}', 'rome'),
       wf_start('scan', '{"shop": "Rome"}', 'rome'), wf_start('scan', '{"shop": "Oslo"}', 'oslo') \g /dev/null
SET ROLE regress_limits_robot;
SELECT correlation_id FROM wf_claim_tasks('{Scan}', max => 10) ORDER BY correlation_id;
SELECT correlation_id FROM wf_claim_tasks('{Scan}', max => 10);
RESET ROLE;
-- The place of Rome is taken, for people as well, until that lease ends.
SET ROLE regress_limits_clerk;
SELECT correlation_id FROM wf_claim_tasks('{Scan}', max => 10);
RESET ROLE;
SET workflow.now = '2026-03-02 10:00:00+00';
SET ROLE regress_limits_clerk;
SELECT correlation_id FROM wf_claim_tasks('{Scan}', max => 10);
RESET ROLE;
SELECT wf_limit_tasks('Scan', key => 'shop') \g /dev/null

-- The time of a run begins when it begins.
SELECT wf_define('{"definitionId": "timed", "options": {"maxConcurrency": {"max": 1}, "timeout": "1 hour"}, "root": {"type": "Event", "eventName": "Go"}}') \g /dev/null
SELECT wf_start('timed', correlation_id => 'first') AS first, wf_start('timed', correlation_id => 'second') AS second \gset
SELECT i.correlation_id, b.name, b.due_at FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
WHERE i.definition_id = 'timed' ORDER BY b.id;
SET workflow.now = '2026-03-02 10:30:00+00';
SELECT wf_cancel(:'first');
SELECT wf_run_due();
SELECT i.correlation_id, b.name, b.due_at FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
WHERE i.definition_id = 'timed' ORDER BY b.name;

-- One that waits for its turn has nothing to compensate, and is cancelled at once. One that runs keeps its place until its
-- handlers have ended.
SELECT wf_define('{"definitionId": "trip", "options": {"maxConcurrency": {"max": 1}}, "root": [
    {"id": "book", "type": "Compensable", "body": {"type": "WriteLine", "text": "book"}, "compensation": {"type": "RunTask", "taskName": "Return"}},
    {"type": "Event", "eventName": "Go"}]}') \g /dev/null
SELECT wf_start('trip', correlation_id => 'a') AS a, wf_start('trip', correlation_id => 'b') AS b, wf_start('trip', correlation_id => 'c') AS c \gset
SELECT wf_cancel(:'b');
SELECT wf_cancel(:'a');
SELECT wf_run_due();
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'trip' ORDER BY instance_id;
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.name = 'Return';
SELECT wf_run_due();
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'trip' ORDER BY instance_id;
SELECT * FROM wf_check();
DROP OWNED BY regress_limits_robot, regress_limits_clerk;
DROP ROLE regress_limits_robot, regress_limits_clerk;
