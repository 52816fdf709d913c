-- A query of a workflow may have a parallel plan; no worker of one may call the engine.
\i tests/regress/include/transactions.sql

-- Parallel plans: a query of a workflow may have one, its calls may not. Who marks a function that calls us PARALLEL SAFE is
-- told by PostgreSQL.
CREATE TABLE numbers AS SELECT n FROM generate_series(1, 20000) AS n;
ANALYZE numbers;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SELECT wf_define('{"definitionId": "parallel", "variables": {"Even": null}, "root": [
    {"type": "SetVariable", "variable": "Even", "value": {"sql": "SELECT count(*) FROM numbers WHERE n % 2 = 0"}}, {"id": "go", "type": "Event", "eventName": "Go"}]}') \g /dev/null
SELECT count(wf_start('parallel', correlation_id => n::text)) FROM numbers WHERE n < 4;
SELECT correlation_id, sub_status, variables FROM workflow.instance_list ORDER BY correlation_id;
SELECT count(DISTINCT instance_id) FROM workflow.journal;
SELECT count(*) FROM workflow.waiting, wf_resume(bookmark_id);
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SELECT wf_define('{"definitionId": "waits", "root": {"id": "go", "type": "Event", "eventName": "Go"}}') \g /dev/null
CREATE FUNCTION start_it(n int) RETURNS uuid LANGUAGE sql PARALLEL SAFE AS $$ SELECT wf_start('waits') $$;
SET parallel_leader_participation = off;
\set VERBOSITY sqlstate
SELECT count(start_it(n)) FROM numbers WHERE n < 4;
CREATE FUNCTION fire_it(n int) RETURNS bigint LANGUAGE sql PARALLEL SAFE AS $$ SELECT wf_run_due() $$;
SELECT count(fire_it(n)) FROM numbers WHERE n < 4;
CREATE FUNCTION schedule_it(n int) RETURNS uuid LANGUAGE sql PARALLEL SAFE AS $$ SELECT wf_schedule('parallel', '@daily', 'SELECT 1') $$;
SELECT count(schedule_it(n)) FROM numbers WHERE n < 4;
\set VERBOSITY default
RESET ALL;
SET client_min_messages = warning;
SELECT * FROM pg_temp.forget();
