-- Instances with two bookmarks and a journal, started, exported and taken in again.
SELECT wf_define('{"definitionId": "moved", "root": {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Paid"}, {"type": "RunTask", "taskName": "check", "payload": {"amount": 250}}]}}');

CREATE FUNCTION bench.is_here(key text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN key IS NOT NULL; END $$;

-- Microseconds for each of so many instances: of `start`, `export` or `import`, or of `wait`, which a key waits for a move.
CREATE FUNCTION bench.nodes(what text, count integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
    started timestamptz;
    exported timestamptz;
    bundle bytea[];
BEGIN
    TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.execution_log;
    began := clock_timestamp();
    PERFORM wf_start('moved', '{"by": "Ada"}', correlation_id => 'moved-' || n) FROM generate_series(1, count) AS n;
    started := clock_timestamp();
    bundle := ARRAY(SELECT wf_export_instances(ARRAY(SELECT 'moved-' || n FROM generate_series(1, count) AS n), remove => true));
    exported := clock_timestamp();
    PERFORM wf_import_instances(bundle);
    RETURN 1e6 / count * extract(epoch FROM CASE what WHEN 'start' THEN started - began WHEN 'export' THEN exported - started
        WHEN 'import' THEN clock_timestamp() - exported ELSE clock_timestamp() - started END);
END $$;
