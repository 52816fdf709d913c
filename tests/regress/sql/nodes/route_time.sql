-- The routing guard and time: what belongs elsewhere stays due, and fires when it belongs here.
\i tests/regress/include/route.sql
SET workflow.route_check = 'partitions';
SELECT wf_add_partitions('{0}', 2);
RESET client_min_messages;

-- Time: what belongs elsewhere stays due, counts no attempt, and fires when it belongs here.
SET workflow.now = '2030-01-01 02:00:00+00';
SELECT wf_schedule('command', '1 hour', 'SELECT 1') IS NOT NULL AS made;
SET workflow.now = '2030-01-01 03:00:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT wf_run_due();
SELECT correlation_id, sub_status, count(*) FROM workflow.instance_list WHERE definition_id = 'delay' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT i.correlation_id, b.attempts, b.due_at < '2030-01-01 03:00:00+00' AS is_due FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id WHERE i.definition_id = 'delay' ORDER BY 1;
SELECT definition_id, count(*) FROM workflow.instance_list WHERE definition_id IN ('hourly', 'Workflow.ScheduledCommand') GROUP BY 1;
SELECT correlation_id, last_scheduled, attempts, last_error FROM workflow.schedules WHERE name LIKE 'of %' ORDER BY 1;
SELECT next_fire_at < '2030-01-01 03:00:00+00' AS is_due, last_error FROM workflow.triggers WHERE definition_id = 'hourly';

-- A partition comes, in a transaction that is undone and in one that is not.
BEGIN;
SELECT wf_add_partitions('{1}', 2);
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'there');
SAVEPOINT s;
SELECT wf_remove_partitions('{0}');
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here');
ROLLBACK TO s;
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here');
ROLLBACK;
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'there');
SELECT wf_add_partitions('{1}', 2);
SELECT wf_run_due() > 0 AS fired;
SELECT correlation_id, sub_status, count(*) FROM workflow.instance_list WHERE definition_id = 'delay' GROUP BY 1, 2 ORDER BY 1, 2;
-- Partitions are counted anew when none is left.
SELECT wf_remove_partitions('{0,1}');
SELECT wf_add_partitions(ARRAY[wf_partition(:'here', 1024)], 1024);
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here'), outcome('wf_start(''event'', correlation_id => %L)', :'there');
SELECT * FROM wf_check();
