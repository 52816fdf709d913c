-- Starting a workflow with a limited task reads few pages, also in a session that planned it while there were no tasks.
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "job", "inputs": [{"name": "n"}], "root": {"type": "RunTask", "taskName": {"input": "n"}}}');
SELECT wf_limit_tasks('Limited', 1);
CREATE FUNCTION pages() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, FORMAT json) SELECT wf_start(''job'', ''{"n": "Limited"}'')' INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks';
END $$;
-- The first start reads more, because it loads caches.
SELECT pages() > 0 AS is_loaded;
SELECT pages() AS before \gset
SELECT count(wf_start('job', '{"n": "Other"}')) FROM generate_series(1, 3000);
SELECT pages() - :before < 40 AS few, pages() - :before < 40 AS few_again;
