-- Due times belong to one database. The first transaction that stores one says which; what a savepoint undoes says nothing.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
SELECT * FROM wf_define('{"definitionId": "later", "root": {"type": "Delay", "timeSpan": "01:00:00"}}');
SELECT count(*) FROM workflow.identity;
BEGIN;
SAVEPOINT first;
SELECT sub_status FROM wf_run('later');
ROLLBACK TO first;
SELECT sub_status FROM wf_run('later');
COMMIT;
SELECT count(*) FROM workflow.identity;

-- What another database stored (this one is a copy of it) does not fire here, until the administrator says that this is the one.
UPDATE workflow.identity SET database = 0;
SET workflow.now = '2030-01-01 02:00:00+00';
SELECT wf_run_due();
SELECT definition_id, sub_status FROM workflow.instance_list;
CREATE ROLE stranger;
SELECT wf_grant_usage('stranger');
SET ROLE stranger;
SELECT * FROM wf_adopt_database();
RESET ROLE;
GRANT EXECUTE ON FUNCTION wf_adopt_database(boolean, text, jsonb), wf_worker_start() TO stranger;
SET ROLE stranger;
SELECT * FROM wf_adopt_database();
SELECT wf_worker_start();
RESET ROLE;
SELECT * FROM wf_adopt_database();
SELECT wf_run_due();
SELECT definition_id, sub_status FROM workflow.instance_list;

DROP OWNED BY stranger;
DROP ROLE stranger;

-- Ids of owners begin anywhere, so that rows of another database that came here find no owner by chance.
SELECT last_value > 100 AS begins_anywhere FROM workflow.owners_id_seq;
