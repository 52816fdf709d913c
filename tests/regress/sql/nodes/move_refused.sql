-- What wf_export_instances and wf_import_instances refuse, without effect.
\i tests/regress/include/move.sql
CREATE FUNCTION is_b(key text) RETURNS boolean LANGUAGE sql RETURN key = 'B';

-- Nothing, other things, half of it, later formats.
SELECT wf_import_instances(NULL);
SELECT wf_import_instances('{NULL}');
SELECT wf_import_instances(ARRAY['hello'::bytea]);
SELECT wf_import_instances(ARRAY['\x'::bytea]);
SELECT wf_import_instances(ARRAY['workflow bundle\012\000\002'::bytea]);
CREATE TEMP TABLE one AS SELECT b FROM wf_export_instances('{A}') AS b LIMIT 1;
SELECT wf_import_instances(ARRAY[substr(b, 1, 1000)]) FROM one;
SELECT wf_import_instances(ARRAY[set_byte(b, 100, get_byte(b, 100) # 1)]) FROM one;
-- A tree with two keys moves with both.
SELECT wf_start('parent', '{"key": "below"}', correlation_id => 'above') IS NOT NULL AS started;
SELECT count(*) FROM wf_export_instances('{above}');
SELECT count(*) FROM wf_export_instances('{below}');
SELECT count(*) FROM wf_export_instances('{above,below}');
-- Versions and roles that are not here.
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{above,below}', remove => true) AS b;
SAVEPOINT s;
UPDATE workflow.definitions SET version = 7 WHERE definition_id = 'parent';
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK TO s;
UPDATE workflow.definitions SET document = document || '{"description": "other"}' WHERE definition_id = 'parent';
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK TO s;
SELECT wf_set_owner('definition', 'parent', 'regress_move_clerk');
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK TO s;
ALTER ROLE regress_move_owner RENAME TO regress_move_renamed;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK;
-- A schedule of the same name, and a number of an owner that is another role here.
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{B}', remove => true) AS b;
SET ROLE regress_move_owner;
SELECT wf_schedule_workflow('daily-B', '0 3 * * *', 'child') IS NOT NULL AS made;
RESET ROLE;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK;
SET ROLE regress_move_owner;
SELECT wf_grant('child', 'regress_move_clerk', '{start}') AS granted;
SET ROLE regress_move_clerk;
SELECT wf_start('child', correlation_id => 'clerk') IS NOT NULL AS started;
RESET ROLE;
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{clerk}', remove => true) AS b;
UPDATE workflow.owners SET same_as = (SELECT o.id FROM workflow.owners AS o WHERE o.name = 'regress_move_owner') WHERE name = 'regress_move_clerk';
CREATE TEMP TABLE sessions_look_again () ON COMMIT DROP;
DO $$
DECLARE
    told text;
BEGIN
    PERFORM wf_import_instances(ARRAY(SELECT b FROM gone));
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS told = PG_EXCEPTION_DETAIL;
    RAISE EXCEPTION USING ERRCODE = sqlstate, MESSAGE = sqlstate || ' ' || regexp_replace(sqlerrm, '\d+', 'N'), DETAIL = told;
END $$;
ROLLBACK;
-- An import that was undone, and then one after another role has got the name.
SELECT instance_id AS clerks FROM workflow.instance_list WHERE correlation_id = 'clerk' \gset
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{clerk}', remove => true) AS b;
CREATE ROLE regress_move_third;
SELECT wf_grant_usage('regress_move_third');
DELETE FROM workflow.owners WHERE name = 'regress_move_clerk';
CREATE TEMP TABLE sessions_look_again () ON COMMIT DROP;
SET ROLE regress_move_clerk;
SELECT resumed FROM wf_publish_event('Nothing', keep_for => '1 day');
RESET ROLE;
SAVEPOINT s;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
SET ROLE regress_move_clerk;
SELECT wf_cancel(:'clerks');
ROLLBACK TO s;
ALTER ROLE regress_move_clerk RENAME TO regress_move_old;
ALTER ROLE regress_move_third RENAME TO regress_move_clerk;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
SET ROLE regress_move_clerk;
SELECT wf_cancel(:'clerks');
ROLLBACK;
-- Two roles that have a schedule here, each of the name that the other's has there.
BEGIN;
SET ROLE regress_move_owner;
SELECT wf_schedule_workflow('first', '0 3 * * *', 'child', correlation_id => 'names') \g /dev/null
SET ROLE regress_move_clerk;
SELECT wf_schedule_workflow('second', '0 3 * * *', 'child', correlation_id => 'names') \g /dev/null
RESET ROLE;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{names}', remove => true) AS b;
SET ROLE regress_move_owner;
SELECT wf_schedule_workflow('second', '0 3 * * *', 'child') \g /dev/null
SET ROLE regress_move_clerk;
SELECT wf_schedule_workflow('first', '0 3 * * *', 'child') \g /dev/null
RESET ROLE;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
SELECT schedule_name, count(DISTINCT owner) AS owners FROM workflow.triggers WHERE schedule_name IN ('first', 'second') GROUP BY 1 ORDER BY 1;
ROLLBACK;
-- A key of another node.
SELECT wf_add_partitions('{0,1}', 2) \g /dev/null
SET workflow.route_check = 'partitions';
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{above,below}', remove => true) AS b;
SAVEPOINT s;
SELECT wf_remove_partitions(ARRAY[wf_partition('above', 2)]);
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK;
RESET workflow.route_check;
-- Who may, and when.
SELECT count(*) FROM wf_export_instances();
SELECT count(*) FROM wf_export_instances('{A}', 'is_b(text)');
SELECT count(*) FROM wf_export_instances('{A,NULL}');
SELECT count(*) FROM wf_export_instances(predicate => 'lower(text)');
SELECT count(*) FROM wf_export_instances('{A}', remove => NULL);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM wf_export_instances('{A}');
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT wf_import_instances('{}');
ROLLBACK;
SELECT wf_define('{"definitionId": "inside", "root": {"type": "Sql", "statement": "SELECT count(*) FROM wf_export_instances(''{A}'')"}}') \g /dev/null
SELECT wf_run('inside', on_fault => 'raise');
SET ROLE regress_move_owner;
SELECT count(*) FROM wf_export_instances('{A}');
SELECT wf_import_instances('{}');
SELECT wf_keep_instances('is_b(text)');
RESET ROLE;
SELECT * FROM wf_check();
