-- The same starts by wf_run and by wf_call, which remembers each of them.
SELECT wf_define('{"definitionId": "called", "root": {"type": "Event", "eventName": "Called"}}');

-- Makes so many starts, each a statement of its own, and returns the microseconds that one took. What they made is taken away.
CREATE FUNCTION bench.calls(statement text, count integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
BEGIN
    TRUNCATE workflow.instances, workflow.bookmarks, workflow.execution_log, workflow.messages;
    began := clock_timestamp();
    FOR number IN 1..count LOOP
        EXECUTE statement USING number::text;
    END LOOP;
    RETURN extract(epoch FROM clock_timestamp() - began) * 1e6 / count;
END $$;
