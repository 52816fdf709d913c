-- Errors that SQL of the user catches itself leave nothing in the session.
CREATE FUNCTION stumbles() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 3000 LOOP
        BEGIN
            PERFORM 1 / 0;
        EXCEPTION WHEN division_by_zero THEN
        END;
    END LOOP;
END $$;
SELECT wf_define('{"definitionId": "stumbles", "root": [{"type": "Sql", "statement": "SELECT public.stumbles()"}]}') \g /dev/null
SELECT sub_status FROM wf_run('stumbles');
SELECT used_bytes AS before FROM pg_backend_memory_contexts WHERE name = 'TopMemoryContext' \gset
SELECT sub_status FROM wf_run('stumbles');
SELECT used_bytes - :before < 100000 AS is_as_before FROM pg_backend_memory_contexts WHERE name = 'TopMemoryContext';
