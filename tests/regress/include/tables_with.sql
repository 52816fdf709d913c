\set ECHO none
-- In which tables of the extension does a text occur? A bytea is text in the escape format.
CREATE FUNCTION tables_with(wanted text) RETURNS TABLE (name name) LANGUAGE plpgsql SET bytea_output = escape AS $$
DECLARE
    has boolean;
BEGIN
    FOR name IN SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'workflow'::regnamespace AND c.relkind = 'r' ORDER BY 1 LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM workflow.%I AS t WHERE strpos(t::text, $1) > 0)', name) INTO has USING wanted;
        IF has THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;
\set ECHO all
