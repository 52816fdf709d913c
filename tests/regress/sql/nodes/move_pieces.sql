-- A set is whole, in one transaction; its pieces may come in several calls.
\i tests/regress/include/move.sql
SELECT wf_start('child', jsonb_build_object('text', repeat('x', 400000)), correlation_id => 'large') FROM generate_series(1, 60) \g /dev/null
BEGIN;
CREATE TEMP TABLE large AS SELECT b, n, max(length(b)) OVER () < 16 << 20 AS fits FROM wf_export_instances('{large}', remove => true) WITH ORDINALITY AS e (b, n);
COMMIT;
SELECT count(*) > 1 AS are_several, bool_and(fits) AS fit FROM large;
BEGIN;
SELECT wf_import_instances(ARRAY[b]) > 0 AS taken FROM large WHERE n < (SELECT max(n) FROM large) ORDER BY n;
COMMIT;
BEGIN;
SELECT wf_import_instances(ARRAY[b]) > 0 AS taken FROM large WHERE n > 1 ORDER BY n;
PREPARE TRANSACTION 'incomplete';
BEGIN;
SELECT wf_import_instances(ARRAY[b]) > 0 AS taken FROM large ORDER BY n DESC;
SAVEPOINT s;
SELECT wf_import_instances(ARRAY[b]) FROM large WHERE n = 1;
ROLLBACK TO s;
COMMIT;
SELECT count(*) FROM workflow.instances WHERE correlation_id = 'large';
SELECT * FROM wf_check();
