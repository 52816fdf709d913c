-- Starting a workflow with a limited task reads few pages, also in a session that planned it when statistics said that there
-- are no rows. Reading a whole index seems to cost as much then as finding one entry.
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "job", "inputs": [{"name": "n"}], "root": {"type": "RunTask", "taskName": {"input": "n"}}}');
CREATE FUNCTION pages() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, FORMAT json) SELECT wf_start(''job'', ''{"n": "Limited"}'')' INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks';
END $$;
BEGIN;
SELECT count(wf_start('job', '{"n": "Other"}')) FROM generate_series(1, 500);
ROLLBACK;
ANALYZE;
SELECT wf_limit_tasks('Limited', 1);
SELECT pages() > 0 AS is_loaded;
SELECT pages() AS before \gset
SELECT count(wf_start('job', '{"n": "Other"}')) FROM generate_series(1, 60);
SELECT pages() - :before < 40 AS few, pages() - :before < 40 AS few_again;
