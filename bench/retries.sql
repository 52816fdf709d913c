-- An activity that faults while bench.fine is 0, and waits for its second attempt; and a timer.
SELECT wf_define('{"definitionId": "retried", "root": [{"type": "Sql", "statement": "SELECT 1 / current_setting(''bench.fine'')::integer",
    "retry": {"maxAttempts": 2, "delay": "00:00:01"}}]}');
SELECT wf_define('{"definitionId": "delayed", "root": [{"type": "Delay", "timeSpan": "00:00:01"}]}');

-- Starts this many instances and fires what they wait for, all in one transaction, which no worker sees. Returns the microseconds per start
-- and per fire.
CREATE FUNCTION bench.start_and_fire(definition text, count integer, fine boolean, OUT started double precision, OUT fired double precision)
LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
    number bigint;
BEGIN
    PERFORM set_config('workflow.now', '2030-01-01 08:00:00+00', true), set_config('bench.fine', fine::integer::text, true);
    began := clock_timestamp();
    PERFORM wf_start(definition) FROM generate_series(1, count);
    started := extract(epoch FROM clock_timestamp() - began) * 1e6 / count;
    PERFORM set_config('workflow.now', '2030-01-01 08:00:02+00', true), set_config('bench.fine', '1', true);
    began := clock_timestamp();
    number := wf_run_due(count);
    fired := extract(epoch FROM clock_timestamp() - began) * 1e6 / count;
    IF EXISTS (SELECT FROM workflow.bookmarks) OR number NOT IN (0, count) THEN
        RAISE EXCEPTION '% of % were fired', number, count;
    END IF;
END $$;

CREATE FUNCTION bench.timer(count integer) RETURNS double precision LANGUAGE sql RETURN (SELECT fired FROM bench.start_and_fire('delayed', count, true));

-- The cost of faulting, waiting and running again: without the fault, the activity runs once.
CREATE FUNCTION bench.retry(count integer) RETURNS double precision LANGUAGE sql RETURN
    (SELECT started + fired FROM bench.start_and_fire('retried', count, false)) - (SELECT started FROM bench.start_and_fire('retried', count, true));
