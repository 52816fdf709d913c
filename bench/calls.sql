-- The same starts by wf_run, and by wf_call, which records each of them.
SELECT wf_define('{"definitionId": "called", "root": {"type": "Event", "eventName": "Called"}}');

-- Makes this many starts, each a statement and, if it commits, a transaction, and returns the microseconds per start. The instances are
-- removed before the next ones.
CREATE PROCEDURE bench.calls(statement text, count integer, commits boolean, INOUT micros double precision = NULL) LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
BEGIN
    TRUNCATE workflow.instances, workflow.bookmarks, workflow.execution_log, workflow.messages;
    COMMIT;
    began := clock_timestamp();
    FOR number IN 1..count LOOP
        EXECUTE statement USING number::text;
        IF commits THEN
            COMMIT;
        END IF;
    END LOOP;
    micros := extract(epoch FROM clock_timestamp() - began) * 1e6 / count;
END $$;
