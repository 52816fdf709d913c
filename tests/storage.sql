-- Whether heap and indexes of our tables agree: run after each test, prints a line for each thing that is wrong.
-- Rows that the engine writes without the executor are entered into the indexes by code of ours, so every row is looked for.
SET client_min_messages = warning;
SET search_path = pg_catalog;
CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA pg_catalog;
SELECT c.relname, problem.*
FROM pg_class AS c, verify_heapam(c.oid, check_toast => true) AS problem
WHERE c.relnamespace = 'workflow'::regnamespace AND c.relkind = 'r';
DO $$
DECLARE
    index_id oid;
BEGIN
    FOR index_id IN
        SELECT i.indexrelid
        FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_am AS a ON a.oid = c.relam AND a.amname = 'btree'
        JOIN pg_class AS t ON t.oid = i.indrelid
        WHERE i.indisvalid
          AND (t.relnamespace = 'workflow'::regnamespace
               OR t.oid IN (SELECT o.reltoastrelid FROM pg_class AS o WHERE o.relnamespace = 'workflow'::regnamespace))
    LOOP
        PERFORM bt_index_check(index_id, heapallindexed => true);
    END LOOP;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no index was checked';
    END IF;
END
$$;
