\set ECHO none
-- The rows that a call locks and writes, in order, as the write-ahead log has them. pg_temp.begin_trace() before a call, and pg_temp.trace()
-- in a transaction after it.
CREATE EXTENSION pg_walinspect;
SET client_min_messages = error;
-- So that no checkpoint removes the log before it is read.
SELECT FROM pg_create_physical_replication_slot('trace', immediately_reserve => true, temporary => true) \g /dev/null

-- A version of a row that finds no room on its page is locked first, in the log: here each one finds room.
DO $$
DECLARE name regclass;
BEGIN
    FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('ALTER TABLE %s SET (fillfactor = 10, autovacuum_enabled = false)', name);
    END LOOP;
END $$;

CREATE TEMP TABLE trace_begin (at pg_lsn);
CREATE TEMP TABLE trace_rows (name text, tid tid, label text, PRIMARY KEY (name, tid));
CREATE TEMP TABLE trace_definitions (instance uuid PRIMARY KEY, label text);

-- What a row is called: the definition of its instance, and what tells it from other rows of that.
CREATE FUNCTION pg_temp.label(name text, row_data jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ',
        (SELECT label FROM trace_definitions
         WHERE instance = (row_data ->> CASE name WHEN 'instances' THEN 'id' ELSE 'instance_id' END)::uuid),
        CASE name
            WHEN 'bookmarks' THEN concat_ws(' ', nullif(row_data ->> 'activity_id', ''), row_data ->> 'name')
            WHEN 'tasks' THEN row_data ->> 'activity_id'
            WHEN 'incidents' THEN row_data ->> 'activity_id'
            WHEN 'compensations' THEN row_data ->> 'activity_id'
            WHEN 'bookmark_queue' THEN row_data ->> 'name'
            WHEN 'triggers' THEN coalesce(row_data ->> 'schedule_name', row_data ->> 'activity_id')
            WHEN 'execution_log' THEN row_data ->> 'seq'
            WHEN 'slots' THEN row_data ->> 'place'
            WHEN 'admissions' THEN row_data ->> 'definition_id'
            WHEN 'search_attributes' THEN row_data ->> 'name'
        END)
$$;

CREATE FUNCTION pg_temp.read_rows() RETURNS void LANGUAGE plpgsql AS $$
DECLARE name text;
BEGIN
    INSERT INTO trace_definitions
    SELECT i.id, d.definition_id || CASE WHEN i.continued_from IS NULL THEN '' ELSE ' (next)' END
    FROM workflow.instances AS i JOIN workflow.definitions AS d ON d.id = i.definition_version_id
    ON CONFLICT DO NOTHING;
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('INSERT INTO trace_rows SELECT %1$L, r.ctid, pg_temp.label(%1$L, to_jsonb(r)) FROM workflow.%1$I AS r
            ON CONFLICT (name, tid) DO NOTHING', name);
    END LOOP;
END $$;

CREATE PROCEDURE pg_temp.begin_trace() LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM trace_rows;
    PERFORM pg_temp.read_rows();
    DELETE FROM trace_begin;
    INSERT INTO trace_begin VALUES (pg_current_wal_insert_lsn());
END $$;

-- PostgreSQL 15 writes "off 1 …; new off 2" where later releases write "old_off: 1, …, new_off: 2".
CREATE VIEW pg_temp.trace_changes AS
SELECT r.start_lsn, c.relname AS name, r.description,
    CASE replace(r.record_type, '+INIT', '')
        WHEN 'INSERT' THEN 'insert' WHEN 'DELETE' THEN 'delete' WHEN 'UPDATE' THEN 'update' WHEN 'HOT_UPDATE' THEN 'update'
        WHEN 'LOCK' THEN CASE
            WHEN r.description ~ 'KEYSHR_LOCK' THEN 'lock, shared' WHEN r.description ~ 'KEYS_UPDATED' THEN 'lock for update' ELSE 'lock' END
    END AS act,
    format('(%s,%s)', coalesce(before.block[1], after.block[2]), (regexp_match(r.description, '(?:^| |old_)off:? (\d+)'))[1])::tid AS old_tid,
    format('(%s,%s)', after.block[2], (regexp_match(r.description, 'new.off:? (\d+)'))[1])::tid AS new_tid
FROM trace_begin AS b, pg_get_wal_records_info(b.at, pg_current_wal_flush_lsn()) AS r,
    regexp_match(r.block_ref, 'blkref #0: rel (\d+/\d+/\d+) fork main blk (\d+)') AS after(block),
    regexp_match(r.block_ref, 'blkref #1: rel \d+/\d+/\d+ fork main blk (\d+)') AS before(block),
    pg_database AS d, pg_class AS c
WHERE r.resource_manager = 'Heap' AND d.datname = current_database()
    AND c.relnamespace = 'workflow'::regnamespace AND c.relkind = 'r'
    AND after.block[1] = format('%s/%s/%s', d.dattablespace, d.oid, pg_relation_filenode(c.oid));

-- A version of a row has the label of the one before it, or of the one after it. A row that came and went has none.
CREATE FUNCTION pg_temp.trace() RETURNS TABLE (act text, name text, label text) LANGUAGE plpgsql AS $$
DECLARE change record;
BEGIN
    PERFORM pg_temp.read_rows();
    CREATE TEMP TABLE changes AS SELECT * FROM pg_temp.trace_changes AS c WHERE c.act IS NOT NULL;
    FOR change IN SELECT * FROM changes AS c WHERE c.act = 'update' ORDER BY c.start_lsn LOOP
        INSERT INTO trace_rows SELECT r.name, change.new_tid, r.label FROM trace_rows AS r WHERE (r.name, r.tid) = (change.name, change.old_tid)
        ON CONFLICT DO NOTHING;
    END LOOP;
    FOR change IN SELECT * FROM changes AS c WHERE c.act = 'update' ORDER BY c.start_lsn DESC LOOP
        INSERT INTO trace_rows SELECT r.name, change.old_tid, r.label FROM trace_rows AS r WHERE (r.name, r.tid) = (change.name, change.new_tid)
        ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN QUERY
    SELECT c.act, c.name::text, r.label FROM changes AS c LEFT JOIN trace_rows AS r ON (r.name, r.tid) = (c.name, c.old_tid) ORDER BY c.start_lsn;
    DROP TABLE changes;
END $$;
RESET client_min_messages;
\set ECHO all
