-- The numbers of wf_metrics(): what they count, and when (docs/monitoring.md).
SET client_min_messages = error;
CREATE ROLE regress_metrics_monitor;
GRANT pg_monitor TO regress_metrics_monitor;
CREATE ROLE regress_metrics_plain;
SELECT wf_grant_usage('regress_metrics_plain');

SELECT name, type, labels, value FROM wf_metrics();

-- security.md#what-the-administrator-should-know: only members of pg_monitor read them
SET ROLE regress_metrics_plain;
SELECT count(*) FROM wf_metrics();
SELECT workflow._counts();
SET ROLE regress_metrics_monitor;
SELECT count(*) FROM wf_metrics();
SELECT workflow._counts();
RESET ROLE;

-- What is not zero; of an age only that it is not.
CREATE VIEW numbers AS
    SELECT name, labels, CASE WHEN name ~ 'age_seconds' THEN 1 ELSE value END AS value
    FROM wf_metrics() WHERE value <> 0 AND type <> 'histogram' AND name <> 'workflow_max_executors';
-- The counters of a definition: started, resumed, finished, faulted, cancelled, incidents.
CREATE FUNCTION counts(definition text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(coalesce(m.value, 0)::text, ' ' ORDER BY k.number)
    FROM unnest('{started,resumed,finished,faulted,cancelled,incidents}'::text[]) WITH ORDINALITY AS k (name, number)
         LEFT JOIN wf_metrics() AS m ON m.name = format('workflow_definition_%s_total', k.name) AND m.labels ->> 'definition' = definition
$$;

-- Tasks, their leases and limits.
SELECT count(wf_define(d)) FROM (VALUES
    ('{"definitionId": "charge", "root": {"id": "c", "type": "RunTask", "taskName": "Charge card", "retry": {"maxAttempts": 3, "delay": "00:00:00"}}}'::jsonb),
    ('{"definitionId": "any", "root": {"id": "a", "type": "RunTask", "taskName": {"input": "name"}}}'),
    ('{"definitionId": "paid", "root": {"id": "p", "type": "Event", "eventName": "Paid"}}'),
    ('{"definitionId": "wrong", "root": {"id": "w", "type": "Parallel", "activities": [{"type": "Fault", "message": "no"}, {"type": "Delay", "timeSpan": "00:00:01"}]}}'),
    ('{"definitionId": "late", "root": {"id": "l", "type": "Delay", "timeSpan": "00:00:01"}}')) AS t (d);
SELECT wf_limit_tasks('Charge card', 2);
SELECT count(wf_start('charge')) FROM generate_series(1, 3);
SELECT task_id AS task, token FROM wf_claim_tasks('{Charge card}', max => 2) LIMIT 1 \gset
SELECT * FROM numbers;
SELECT wf_fail_task(:'task', :'token', 'card reader is off');
SELECT task_id AS task, token FROM wf_claim_tasks('{Charge card}') \gset
SELECT (wf_complete_task(:'task', token => :'token')).sub_status;
-- The same answer again is none.
SELECT (wf_complete_task(:'task', token => :'token')).sub_status;
SELECT * FROM numbers;

-- A count waits for the commit, and is dropped by a rollback, also to a savepoint.
BEGIN;
SELECT wf_start('paid', correlation_id => 'p-1') IS NOT NULL AS kept;
SAVEPOINT a;
SELECT wf_start('paid') IS NOT NULL AS dropped;
SAVEPOINT b;
SELECT wf_start('paid') IS NOT NULL AS dropped;
RELEASE b;
ROLLBACK TO a;
SELECT wf_start('paid', correlation_id => 'p-2') IS NOT NULL AS kept;
SAVEPOINT c;
SELECT wf_start('paid', correlation_id => 'p-3') IS NOT NULL AS kept;
RELEASE c;
DO $$
BEGIN
    PERFORM wf_start('paid');
    RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
    PERFORM wf_start('paid', correlation_id => 'p-4');
END $$;
SELECT counts('paid') AS before;
COMMIT;
SELECT counts('paid') AS after;
BEGIN;
SELECT wf_start('paid') IS NOT NULL AS dropped;
ROLLBACK;
SELECT counts('paid'), (SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'paid') AS instances;

-- Those of a prepared transaction wait for COMMIT PREPARED, in any session.
SET workflow.notify_tasks = off;
BEGIN;
SELECT wf_start('paid', correlation_id => 'p-5') IS NOT NULL AS kept;
PREPARE TRANSACTION 'metrics kept';
BEGIN;
SELECT wf_start('paid', correlation_id => 'p-6') IS NOT NULL AS dropped;
PREPARE TRANSACTION 'metrics dropped';
SELECT counts('paid') AS prepared;
\connect
SET client_min_messages = error;
COMMIT PREPARED 'metrics nowhere';
ROLLBACK PREPARED 'metrics dropped';
SELECT counts('paid') AS dropped;
COMMIT PREPARED 'metrics kept';
SELECT counts('paid') AS kept;
-- Names of prepared transactions can be used again.
BEGIN;
SELECT wf_start('paid', correlation_id => 'p-7') IS NOT NULL AS kept;
PREPARE TRANSACTION 'metrics kept';
COMMIT PREPARED 'metrics kept';
SELECT counts('paid') AS again;

-- Resumed, finished, cancelled.
SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => 'p-1');
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE correlation_id = 'p-2';
SELECT counts('paid');
-- An instance that waits for its start has not started; its cancellation counts.
SELECT wf_schedule_workflow('soon', '0 0 1 1 *', 'paid') IS NOT NULL AS scheduled;
SELECT wf_schedule_run_now('soon') AS instance \gset
SELECT counts('paid') AS pending;
SELECT wf_cancel(:'instance');
SELECT counts('paid') AS cancelled;
-- One that does start has started, and was not resumed.
SELECT wf_schedule_run_now('soon') IS NOT NULL AS due;
SELECT wf_run_due() > 0 AS fired;
SELECT counts('paid') AS started;
SELECT wf_unschedule('soon');

-- Incidents. What is due in a faulted or paused instance is not late. A retry that fails makes no more instances faulted.
SELECT wf_start('wrong') AS wrong \gset
SELECT counts('wrong') AS faulted;
SELECT (wf_retry(:'wrong')).sub_status;
SELECT wf_start('late') AS paused \gset
SELECT wf_pause(:'paused');
UPDATE workflow.bookmarks SET due_at = due_at - interval '1 hour' WHERE due_at IS NOT NULL;
SELECT counts('wrong'), (SELECT count(*) FROM workflow.bookmarks WHERE due_at <= now()) AS due;
SELECT * FROM numbers WHERE name ~ 'due|open_incidents';
SELECT h.oldest_due FROM workflow.health AS h;
-- What is behind so many of them is not seen, and the numbers say so.
BEGIN;
INSERT INTO workflow.bookmarks
SELECT r.* FROM workflow.bookmarks AS b CROSS JOIN generate_series(1, 10000) AS n
    CROSS JOIN LATERAL jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid(), 'number', n)) AS r
WHERE b.instance_id = :'wrong' AND b.due_at IS NOT NULL;
SELECT name, labels, value FROM wf_metrics() WHERE name ~ 'due|capped';
ROLLBACK;
-- The same numbers as in workflow.health.
SELECT wf_start('late') AS late \gset
UPDATE workflow.bookmarks SET due_at = due_at - interval '30 minutes' WHERE instance_id = :'late' AND due_at IS NOT NULL;
SELECT * FROM numbers WHERE name ~ 'due';
SELECT h.oldest_due > now() - interval '45 minutes' AS is_exact FROM workflow.health AS h;
SELECT h.open_incidents, h.dead_letters, h.failed_schedules, h.oldest_due IS NOT NULL AS is_late FROM workflow.health AS h;

-- Stored stimuli, dead letters and failed schedules.
SELECT cardinality(resumed) FROM wf_publish_event('Early', keep_for => '1 day');
SELECT cardinality(resumed) FROM wf_publish_event('Short', correlation_id => 'short', keep_for => '1 day');
UPDATE workflow.bookmark_queue SET expires_at = created_at WHERE correlation_id = 'short';
SELECT wf_schedule('fails', '0 0 1 1 *', 'SELECT 1 / 0') IS NOT NULL AS scheduled;
SELECT wf_schedule_run_now('fails') IS NOT NULL AS due;
SELECT wf_run_due() > 0 AS fired;
SELECT * FROM numbers WHERE name !~ 'total|task';

-- An answer counts once, also if the instance continues later, and however it is given.
SELECT count(wf_start('any', '{"name": "Sign"}')) FROM generate_series(1, 2);
SELECT task_id AS task, instance_id AS instance FROM workflow.open_tasks WHERE name = 'Sign' LIMIT 1 \gset
SELECT token FROM wf_claim_task(:'task') \gset
SELECT wf_pause(:'instance');
SELECT (wf_complete_task(:'task', token => :'token')).sub_status;
SELECT * FROM numbers WHERE labels ->> 'task' = 'Sign';
SELECT wf_unpause(:'instance');
SELECT wf_run_due() > 0 AS fired;
SELECT (wf_resume(task_id)).sub_status FROM workflow.open_tasks WHERE name = 'Sign';
SELECT * FROM numbers WHERE labels ->> 'task' = 'Sign';

-- A prepared transaction keeps 128 counts: if there are more, the last ones are of "other", and those of histograms come last.
SET workflow.notify_tasks = off;
BEGIN;
SELECT count(wf_start('any', jsonb_build_object('name', 'P ' || n))) FROM generate_series(1, 90) AS n;
SELECT count(*) FROM wf_claim_tasks(ARRAY(SELECT 'P ' || n FROM generate_series(1, 90) AS n), max => 100);
PREPARE TRANSACTION 'metrics many';
COMMIT PREPARED 'metrics many';
SELECT count(*) AS names, sum(value), sum(value) FILTER (WHERE labels ->> 'task' = 'other') AS other
FROM wf_metrics() WHERE name = 'workflow_task_claims_total' AND (labels ->> 'task' LIKE 'P %' OR labels ->> 'task' = 'other');
RESET workflow.notify_tasks;

-- 500 names; all others together, and those that are too long.
SELECT count(wf_start('any', jsonb_build_object('name', 'Task ' || n))) FROM generate_series(1, 505) AS n;
SELECT count(wf_start('any', jsonb_build_object('name', repeat('long ', 40))));
SELECT count(*) FROM wf_claim_tasks(max => 1000);
SELECT name, count(*) AS names, sum(value), sum(value) FILTER (WHERE labels ->> 'task' = 'other') AS other
FROM wf_metrics() WHERE name IN ('workflow_task_open', 'workflow_task_claims_total') GROUP BY name ORDER BY name;
-- A name is given as it is.
SELECT count(wf_start('any', '{"name": "0 \"one\"\n\\ {two}"}'));
SELECT labels FROM wf_metrics() WHERE name = 'workflow_task_open' AND labels ->> 'task' LIKE '0 %';

-- More than is counted.
INSERT INTO workflow.incidents (id, instance_id, activity_id, node_id, activity_type, activity_instance_id, created_at, sqlstate, message)
SELECT gen_random_uuid(), :'late', 'x', 'x', 'x', gen_random_uuid(), now(), 'P0001', 'x' FROM generate_series(1, 10001);
SELECT name, labels, value FROM wf_metrics() WHERE name ~ 'open_incidents|capped';
DELETE FROM workflow.incidents WHERE message = 'x';
BEGIN;
INSERT INTO workflow.limits (owner, name, concurrency, per)
SELECT l.owner, 'Limit ' || n, 1, l.per FROM workflow.limits AS l CROSS JOIN generate_series(1, 10000) AS n;
SELECT name, labels ->> 'metric' AS metric, count(*) AS names FROM wf_metrics() WHERE name ~ 'slots|limits|capped' GROUP BY 1, 2 ORDER BY 1, 2;
ROLLBACK;
