-- DBOS, whose schema `dbos migrate` has created: like workflow.sql.
CREATE SCHEMA bench;
CREATE FUNCTION bench.empty() RETURNS void LANGUAGE sql AS 'TRUNCATE dbos.workflow_status, dbos.operation_outputs CASCADE';
CREATE FUNCTION bench.tasks(count integer) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(dbos.enqueue_workflow('task', 'bench', app_version => 'bench')) FROM generate_series(1, count));
