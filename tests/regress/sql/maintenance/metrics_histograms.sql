-- Histograms of wf_metrics(): which durations count, in which bucket, and when (docs/monitoring.md).
SET client_min_messages = error;
-- The series of a metric that has one histogram.
CREATE FUNCTION histogram(metric text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', regexp_replace(m.name, '.*_', ''), m.labels ->> 'le', m.value), ', ' ORDER BY m.n)
    FROM wf_metrics() WITH ORDINALITY AS m (name, type, help, labels, value, n) WHERE starts_with(m.name, metric)
$$;
SELECT count(wf_define(d)) FROM (VALUES
    ('{"definitionId": "sign", "root": {"id": "s", "type": "RunTask", "taskName": "Sign", "retry": {"maxAttempts": 3, "delay": "00:00:00"}}}'::jsonb),
    ('{"definitionId": "paid", "root": {"id": "p", "type": "Event", "eventName": "Paid"}}')) AS t (d);
SET workflow.now = '2030-01-01 09:00:00+00';
SELECT count(wf_start('sign')) FROM generate_series(1, 3);

-- The first claim of a task counts. A later attempt has waited for the end of the one before it as well.
SET workflow.now = '2030-01-01 09:00:30+00';
SELECT task_id AS task, token FROM wf_claim_tasks('{Sign}') \gset
SELECT histogram('workflow_task_claim_seconds');
SELECT wf_fail_task(:'task', :'token', 'no');
SELECT token FROM wf_claim_task(:'task') \gset
SELECT histogram('workflow_task_claim_seconds');
SELECT value FROM wf_metrics() WHERE name = 'workflow_task_claims_total';

-- An answer counts from the opening of the task. A bucket includes its bound.
SELECT histogram('workflow_task_answer_seconds');
SET workflow.now = '2030-01-01 09:01:00+00';
SELECT (wf_complete_task(:'task', token => :'token')).sub_status;
SELECT histogram('workflow_task_answer_seconds');
-- The last bucket has no bound. What is rolled back, also to a savepoint, does not count.
SET workflow.now = '2030-01-11 09:00:00+00';
BEGIN;
SELECT count(wf_complete_task(task_id)) FROM workflow.open_tasks;
ROLLBACK;
SELECT histogram('workflow_task_answer_seconds');
SELECT array_agg(task_id) AS tasks FROM workflow.open_tasks \gset
BEGIN;
SELECT (wf_complete_task((:'tasks'::uuid[])[1])).sub_status;
SAVEPOINT a;
SELECT (wf_complete_task((:'tasks'::uuid[])[2])).sub_status;
ROLLBACK TO a;
COMMIT;
SELECT histogram('workflow_task_answer_seconds');
RESET workflow.now;

-- Bursts: three starts and two answers. Those of a prepared transaction count at COMMIT PREPARED.
SET workflow.notify_tasks = off;
BEGIN;
SELECT wf_start('paid') IS NOT NULL AS kept;
PREPARE TRANSACTION 'histogram';
SELECT labels, value FROM wf_metrics() WHERE name = 'workflow_definition_burst_seconds_count';
COMMIT PREPARED 'histogram';
SELECT labels, value FROM wf_metrics() WHERE name = 'workflow_definition_burst_seconds_count';
-- Each bucket includes those below it, and the last one all bursts.
SELECT m.labels ->> 'definition' AS definition, array_agg(m.value ORDER BY m.n) = array_agg(m.value ORDER BY m.value) AS is_ascending, max(m.value)
FROM wf_metrics() WITH ORDINALITY AS m (name, type, help, labels, value, n) WHERE m.name = 'workflow_definition_burst_seconds_bucket' GROUP BY 1 ORDER BY 1;
SELECT bool_and(value > 0) AS has_sums FROM wf_metrics() WHERE name = 'workflow_definition_burst_seconds_sum';
