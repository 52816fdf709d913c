-- What others limit costs a claim nothing: it reads the limits of the names that it claims. Blocks and rows are counted, no time.
SET client_min_messages = error;
CREATE ROLE stranger;
SELECT wf_grant_usage('stranger');
SELECT wf_define('{"definitionId": "mine", "root": {"id": "mine", "type": "RunTask", "taskName": "Mine"}}') \g /dev/null
SELECT wf_limit_tasks('Mine', 100);
SELECT count(wf_start('mine')) FROM generate_series(1, 4);
-- Rows of the table that a session which has read none reads for a claim, and for a task that it opens.
CREATE FUNCTION read_limits() RETURNS bigint LANGUAGE sql VOLATILE
RETURN (SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_all_tables WHERE relid = 'workflow.limits'::regclass);
\c
SET client_min_messages = error;
BEGIN;
SELECT count(*) FROM wf_claim_tasks('{Mine}');
SELECT wf_start('mine') IS NOT NULL AS started;
SELECT read_limits() AS read_before \gset
COMMIT;
SET ROLE stranger;
SELECT count(wf_limit_tasks('theirs ' || n, 1)) FROM generate_series(1, 500) AS n;
RESET ROLE;
\c
SET client_min_messages = error;
BEGIN;
SELECT count(*) FROM wf_claim_tasks('{Mine}');
SELECT wf_start('mine') IS NOT NULL AS started;
SELECT read_limits() <= :read_before AS reads_no_more, :read_before > 0 AS reads_some;
COMMIT;

-- wf_run_due asks an index once for each stimulus that others keep and nothing waits for, and opens no subtransaction.
SET ROLE stranger;
SELECT count(wf_enqueue_bookmark('Event', '{"EventName": "Nobody"}', correlation_id => n::text)) FROM generate_series(1, 1000) AS n;
RESET ROLE;
SELECT wf_run_due();
SELECT count(*) FROM workflow.bookmark_queue;
