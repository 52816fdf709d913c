\set ECHO none
-- Runs retention, as time passes, until it has removed the deleted versions of a definition. It removes these only when
-- the transactions of the time have ended at which it first found them, those of other sessions included.
CREATE PROCEDURE pg_temp.await_removal(definition text) LANGUAGE plpgsql AS $$
BEGIN
    FOR look IN 1 .. 20000 LOOP
        PERFORM set_config('workflow.now', (current_setting('workflow.now')::timestamptz + interval '1 minute')::text, false);
        PERFORM wf_run_due();
        COMMIT;
        IF NOT EXISTS (SELECT FROM workflow.definitions WHERE definition_id = definition AND deleted_at IS NOT NULL) THEN
            RETURN;
        END IF;
        PERFORM pg_sleep(0.05);
    END LOOP;
    RAISE EXCEPTION 'the deleted versions of % were not removed', definition;
END $$;
\set ECHO all
