-- wf_keep_instances removes what does not belong here, without a word.
\i tests/regress/include/move.sql
CREATE FUNCTION is_b(key text) RETURNS boolean LANGUAGE sql RETURN key = 'B';
SELECT wf_start('child', jsonb_build_object('text', repeat('x', 400000)), correlation_id => 'large') FROM generate_series(1, 60) \g /dev/null
SELECT wf_start('parent', '{"key": "below"}', correlation_id => 'above') IS NOT NULL AS started;

-- Keys without instances count as well.
SELECT wf_call('noted ' || n, 'm', 'event', 'Nobody') FROM generate_series(1, 20) AS n \g /dev/null
CREATE FUNCTION has_instance(key text) RETURNS boolean LANGUAGE sql RETURN EXISTS (SELECT FROM workflow.instances AS i WHERE i.correlation_id = key);
SELECT wf_keep_instances('has_instance(text)', dry_run => true);
SELECT wf_keep_instances('has_instance(text)');
SELECT count(*) FROM workflow.messages WHERE key LIKE 'noted%';
SELECT wf_keep_instances('has_instance(text)', max_percent => 100);
SELECT count(*) FROM workflow.messages WHERE key LIKE 'noted%';

CREATE FUNCTION is_here(key text) RETURNS boolean LANGUAGE sql RETURN key IN ('A', 'above');
SELECT count(*) AS removed FROM workflow.instances WHERE correlation_id IN ('B', 'C', 'large') OR parent_instance_id IN (SELECT id FROM workflow.instances WHERE correlation_id IN ('B', 'C', 'large')) \gset
-- It says beforehand what it would remove, and removes no more than a part unless told.
SELECT wf_keep_instances('is_here(text)', dry_run => true) = :removed AS is_as_said;
\set VERBOSITY verbose
SELECT wf_keep_instances('is_here(text)');
\set VERBOSITY default
SELECT wf_keep_instances('is_here(text)', dry_run => true) = :removed AS nothing_has_gone;
-- A call that is rolled back does not make the next one pass over its keys.
BEGIN;
SELECT wf_keep_instances('is_here(text)', max_percent => 100, max => 5) BETWEEN 5 AND :removed AS some;
ROLLBACK;
SELECT wf_keep_instances('is_here(text)', dry_run => true) = :removed AS nothing_has_gone;
SELECT wf_keep_instances('is_here(text)', max_percent => 100, max => 5) BETWEEN 5 AND :removed AS some;
SELECT wf_keep_instances('is_here(text)', max_percent => 100) > 0 AS more;
SELECT wf_keep_instances('is_here(text)');
SELECT coalesce(correlation_id, (SELECT p.correlation_id FROM workflow.instances AS p WHERE p.id = i.parent_instance_id)) AS key, count(*) FROM workflow.instances AS i GROUP BY 1 ORDER BY 1;
SELECT DISTINCT key FROM (SELECT key FROM workflow.messages UNION ALL SELECT correlation_id FROM workflow.triggers WHERE schedule_name LIKE 'daily%'
    UNION ALL SELECT correlation_id FROM workflow.bookmark_queue UNION ALL SELECT correlation_id FROM workflow.dead_letters) AS v (key);
SELECT wf_keep_instances('is_here(text)', keyless => false, dry_run => true) > 0 AS keyless;
SELECT wf_keep_instances('is_here(text)', keyless => false, max_percent => 100);
SELECT * FROM wf_check();
SELECT wf_call('noted', 'm', 'event', 'Nobody') IS NOT NULL AS noted;
-- What the guard lets through stays.
SELECT wf_add_partitions(ARRAY[0, 1], 2) \g /dev/null
SET workflow.route_check = 'partitions';
SELECT wf_keep_instances('is_b(text)');
SELECT wf_remove_partitions('{0,1}');
-- wf_check lists their keys where a guard is set. A node that has lost its list of partitions would lose all its instances.
SELECT * FROM wf_check() ORDER BY detail;
SELECT wf_keep_instances(NULL);
SELECT wf_keep_instances(NULL, max_percent => 100) > 0 AS removed;
SELECT count(*) FROM workflow.instances WHERE definition_id NOT LIKE 'Workflow.%';
RESET workflow.route_check;
SELECT wf_keep_instances(NULL);
SELECT wf_keep_instances('is_b(text)', max => 0);
SELECT wf_keep_instances('is_b(text)', max => NULL);
SELECT wf_keep_instances('is_b(text)', keyless => NULL);
SELECT wf_keep_instances('is_b(text)', dry_run => NULL);
SELECT wf_keep_instances('is_b(text)', max_percent => 101);
SELECT wf_keep_instances('is_b(text)', max_percent => NULL);
