-- Fills a database with 1,000 versions of the measured definition, and instances of it that are suspended at their first step. psql -v
-- rows=1000000
--
-- The instances are clones of a real one. An id is unique because of the time in its first 48 bits; the rest is kept, because the ids of
-- activity executions are derived from the instance's.
\set ON_ERROR_STOP on

SELECT document AS document FROM workflow.definitions WHERE definition_id = 'approval-event' AND is_latest \gset

CREATE TEMPORARY TABLE versions AS
SELECT d.version FROM generate_series(1, 999) AS n, wf_define(:'document'::jsonb || jsonb_build_object('description', 'version ' || n)) AS d;
SELECT * FROM wf_define(:'document'::jsonb);

SELECT wf_start('approval-event', '{"employee": "Ada", "days": 3}', 'M-0') AS instance \gset

-- Replaces the time in an id by `n` ms after the start of the year 2000.
CREATE FUNCTION pg_temp.at(id uuid, n integer) RETURNS uuid LANGUAGE sql IMMUTABLE
RETURN (lpad(to_hex(946684800000 + n), 12, '0') || substr(replace(id::text, '-', ''), 13))::uuid;

-- clone(TABLE, KEY, CHANGES, FROM, ROWS): the rows of a table that belong to an instance, `n` times, with changed columns.
CREATE PROCEDURE pg_temp.clone(source text, instance uuid, changes text, n integer) LANGUAGE plpgsql AS $$
DECLARE
    columns text;
BEGIN
    SELECT string_agg(coalesce(c.change, quote_ident(a.attname)), ', ' ORDER BY a.attnum) INTO columns
    FROM pg_attribute AS a
    LEFT JOIN (SELECT split_part(line, ' = ', 1) AS name, split_part(line, ' = ', 2) AS change
               FROM regexp_split_to_table(changes, E'\\s*\\n\\s*') AS line) AS c ON c.name = a.attname
    WHERE a.attrelid = ('workflow.' || source)::regclass AND a.attnum > 0 AND NOT a.attisdropped;

    EXECUTE format('INSERT INTO workflow.%I SELECT %s FROM workflow.%I, generate_series(1, %s) AS n WHERE %I = %L',
        source, columns, source, n, CASE source WHEN 'instances' THEN 'id' ELSE 'instance_id' END, instance);
END $$;

CALL pg_temp.clone('instances', :'instance', $$
    id = pg_temp.at(id, n)
    correlation_id = 'M-' || n
$$, :rows);

CALL pg_temp.clone('bookmarks', :'instance', $$
    id = pg_temp.at(id, n)
    instance_id = pg_temp.at(instance_id, n)
    activity_instance_id = pg_temp.at(activity_instance_id, n)
    correlation_id = 'M-' || n
    hash = sha256(n::text::bytea)
    hash_key = ('x' || left(encode(sha256(n::text::bytea), 'hex'), 8))::bit(32)::integer
    correlation_key = hashtext('M-' || n)
    payload = jsonb_build_object('EventName', 'Event ' || n)
$$, :rows);

CALL pg_temp.clone('execution_log', :'instance', $$
    instance_id = pg_temp.at(instance_id, n)
$$, :rows);

VACUUM (ANALYZE);
CHECKPOINT;
