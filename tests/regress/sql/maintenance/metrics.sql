-- The numbers of wf_metrics(), and who may read them (docs/monitoring.md).
SET client_min_messages = error;
CREATE ROLE regress_metrics_monitor;
GRANT pg_monitor TO regress_metrics_monitor;
CREATE ROLE regress_metrics_plain;
SELECT wf_grant_usage('regress_metrics_plain');

SELECT name, type, labels, value FROM wf_metrics();

-- security.md#what-the-administrator-should-know: only members of pg_monitor read them
SET ROLE regress_metrics_plain;
SELECT count(*) FROM wf_metrics();
SET ROLE regress_metrics_monitor;
SELECT count(*) FROM wf_metrics();
RESET ROLE;

-- What is not zero; of an age only that it is not.
CREATE VIEW numbers AS
    SELECT name, labels, CASE WHEN name ~ 'age_seconds' THEN 1 ELSE value END AS value
    FROM wf_metrics() WHERE value <> 0 AND name <> 'workflow_max_executors';

-- Tasks, their leases and limits.
SELECT count(wf_define(d)) FROM (VALUES
    ('{"definitionId": "charge", "root": {"id": "c", "type": "RunTask", "taskName": "Charge card", "retry": {"maxAttempts": 3, "delay": "00:00:00"}}}'::jsonb),
    ('{"definitionId": "any", "root": {"id": "a", "type": "RunTask", "taskName": {"input": "name"}}}'),
    ('{"definitionId": "wrong", "root": {"id": "w", "type": "Parallel", "activities": [{"type": "Fault", "message": "no"}, {"type": "Delay", "timeSpan": "00:00:01"}]}}'),
    ('{"definitionId": "late", "root": {"id": "l", "type": "Delay", "timeSpan": "00:00:01"}}')) AS t (d);
SELECT wf_limit_tasks('Charge card', 2);
SELECT count(wf_start('charge')) FROM generate_series(1, 3);
SELECT task_id AS task, token FROM wf_claim_tasks('{Charge card}', max => 2) LIMIT 1 \gset
SELECT * FROM numbers;
SELECT wf_fail_task(:'task', :'token', 'card reader is off');
SELECT task_id AS task, token FROM wf_claim_tasks('{Charge card}') \gset
SELECT (wf_complete_task(:'task', token => :'token')).sub_status;
SELECT * FROM numbers;

-- Incidents. What is due in a faulted or paused instance is not late.
SELECT wf_start('wrong') IS NOT NULL AS started;
SELECT wf_start('late') AS late \gset
SELECT wf_start('late') AS paused \gset
SELECT wf_pause(:'paused');
UPDATE workflow.bookmarks SET due_at = due_at - interval '1 hour' WHERE due_at IS NOT NULL;
SELECT count(*) FROM workflow.bookmarks WHERE due_at <= now();
SELECT * FROM numbers WHERE name ~ 'due|incidents';
-- The same numbers as in workflow.health.
SELECT h.open_incidents, h.dead_letters, h.failed_schedules, h.oldest_due IS NOT NULL AS is_late FROM workflow.health AS h;

-- Stored stimuli, dead letters and failed schedules.
SELECT cardinality(resumed) FROM wf_publish_event('Early', keep_for => '1 day');
SELECT cardinality(resumed) FROM wf_publish_event('Short', correlation_id => 'short', keep_for => '1 day');
UPDATE workflow.bookmark_queue SET expires_at = created_at WHERE correlation_id = 'short';
SELECT wf_schedule('fails', '0 0 1 1 *', 'SELECT 1 / 0') IS NOT NULL AS scheduled;
SELECT wf_schedule_run_now('fails') IS NOT NULL AS due;
SELECT wf_run_due() > 0 AS fired;
SELECT * FROM numbers WHERE name !~ 'total|task';

-- 500 names, and all others together.
SELECT count(wf_start('any', jsonb_build_object('name', 'Task ' || n))) FROM generate_series(1, 505) AS n;
SELECT count(*) AS names, sum(value), sum(value) FILTER (WHERE labels ->> 'task' = 'other') AS other FROM wf_metrics() WHERE name = 'workflow_task_open';
-- A name is given as it is.
SELECT count(wf_start('any', '{"name": "0 \"one\"\n\\ {two}"}'));
SELECT labels FROM wf_metrics() WHERE name = 'workflow_task_open' AND labels ->> 'task' LIKE '0 %';

-- More than is counted.
INSERT INTO workflow.incidents (id, instance_id, activity_id, node_id, activity_type, activity_instance_id, created_at, sqlstate, message)
SELECT gen_random_uuid(), :'late', 'x', 'x', 'x', gen_random_uuid(), now(), 'P0001', 'x' FROM generate_series(1, 10001);
SELECT labels, value FROM wf_metrics() WHERE name = 'workflow_open_incidents';
DELETE FROM workflow.incidents WHERE message = 'x';
