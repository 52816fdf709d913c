-- Bundles whose digest is right and whose rest is not as a server writes it are refused, or taken in as they say; no byte of one
-- stops the server or leaves something behind.
SET timezone = 'UTC';
SET client_min_messages = warning;
SET workflow.now = '2030-01-01 00:00:00+00';
SELECT count(wf_define(d::jsonb)) FROM (VALUES
    ('{"definitionId": "hostile", "root": {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Paid"}, {"type": "Delay", "timeSpan": "1 hour"}, {"type": "RunTask", "taskName": "check", "payload": {"amount": 250}, "candidates": ["people"]}]}}')) AS v (d);
SELECT wf_start('hostile', '{"by": "Ada"}', correlation_id => 'strange') \g /dev/null
SELECT wf_publish_event('Early', '{"x": 1}', correlation_id => 'strange', keep_for => '1 day') \g /dev/null
SELECT wf_call('strange', 'm1', 'event', 'Early', '{"x": 2}') \g /dev/null
SELECT wf_schedule_workflow('hostile', '0 3 * * *', 'hostile', correlation_id => 'strange') \g /dev/null
CREATE TABLE moved AS SELECT id FROM workflow.instances;
CREATE TABLE planned AS SELECT schedule FROM workflow.triggers;
CREATE TABLE other AS SELECT wf_start('hostile', correlation_id => 'here') AS id;
CREATE TABLE bundle AS SELECT row_number() OVER () AS piece, b FROM wf_export_instances('{strange}', remove => true) AS b;

-- A piece with this after the digest.
CREATE FUNCTION sealed(rest bytea) RETURNS bytea LANGUAGE sql RETURN substr('workflow bundle\012\000\001'::bytea, 1, 18) || sha256(rest) || rest;
CREATE FUNCTION rest(b bytea) RETURNS bytea LANGUAGE sql RETURN substr(b, 51);
SELECT bool_and(sealed(rest(b)) = b) AS is_sealed_alike FROM bundle;

-- Takes in all pieces, one of them with another rest, and undoes it: the error, or 00000.
CREATE FUNCTION taken(piece bigint, rest bytea, OUT state text, OUT message text, OUT detail text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_import_instances(ARRAY(SELECT CASE b.piece WHEN $1 THEN sealed($2) ELSE b.b END FROM bundle AS b ORDER BY b.piece));
    RAISE EXCEPTION SQLSTATE '00WFX';
EXCEPTION
    WHEN SQLSTATE '00WFX' THEN state := '00000';
    WHEN OTHERS THEN GET STACKED DIAGNOSTICS state := RETURNED_SQLSTATE, message := MESSAGE_TEXT, detail := PG_EXCEPTION_DETAIL;
END $$;
CREATE FUNCTION replaced(b bytea, what bytea, by bytea) RETURNS bytea LANGUAGE sql RETURN overlay(b PLACING by FROM position(what IN b) FOR length(what));

SELECT (taken(piece, rest(b))).state FROM bundle;
-- Other tables, columns, types, texts and documents.
SELECT v.name, t.* FROM (VALUES
    ('a table that does not move', 'bookmarks'::bytea, 'schedules'::bytea),
    ('another column', 'hash_key', 'hash_cow'),
    ('a text with NUL', '\002\005check', '\002\005ch\000ck'),
    ('a text that is not UTF-8', '\002\005check', '\002\005ch\377ck'),
    ('a document for a text', '\002\005check', '\007\005check'),
    ('a text that is no document', '\007\017{"amount": 250}', '\007\017{"amount": 2506'),
    ('a document with NUL', '\007\017{"amount": 250}', '\007\017{"amount": 25\000'),
    ('a text that is too long', '\002\005check', '\002\377check'),
    ('a type that does not exist', '\002\005check', '\011\005check')) AS v (name, what, by), bundle AS b, taken(b.piece, replaced(rest(b.b), v.what, v.by)) AS t
WHERE position(v.what IN rest(b.b)) > 0 ORDER BY 1, b.piece;

-- Rows whose values are others. A table is its name, the names of its columns, and the bytes of its values; a length has seven bits in each byte.
CREATE FUNCTION length_of(value numeric) RETURNS bytea LANGUAGE sql AS $$
    WITH RECURSIVE bits (value, at) AS (SELECT $1, 0 UNION ALL SELECT div(value, 128), at + 1 FROM bits WHERE value >= 128)
    SELECT string_agg(set_byte('\000', 0, mod(value, 128)::integer + CASE WHEN value >= 128 THEN 128 ELSE 0 END), '' ORDER BY at) FROM bits
$$;
CREATE FUNCTION text_of(value text) RETURNS bytea LANGUAGE sql RETURN length_of(octet_length(value)) || convert_to(value, 'UTF8');
CREATE FUNCTION uuid_of(value uuid) RETURNS bytea LANGUAGE sql RETURN '\001\020'::bytea || uuid_send(value);
CREATE FUNCTION time_of(micros numeric) RETURNS bytea LANGUAGE sql RETURN '\010'::bytea || length_of(CASE WHEN micros < 0 THEN -2 * micros - 1 ELSE 2 * micros END);
CREATE FUNCTION last_of(b bytea, what bytea) RETURNS integer LANGUAGE sql RETURN (SELECT max(at) FROM generate_series(1, length(b)) AS at WHERE substr(b, at, length(what)) = what);
-- The values of a table: where they begin, and how many bytes they have.
CREATE FUNCTION values_in(rest bytea, name text, OUT start integer, OUT size integer) LANGUAGE plpgsql AS $$
DECLARE
    at integer := position(text_of(name) IN rest) + length(text_of(name));
BEGIN
    FOR columns IN 1..get_byte(rest, at - 1) LOOP
        at := at + 1 + get_byte(rest, at);
    END LOOP;
    at := at + 1;
    SELECT sum((get_byte(rest, at - 1 + i) & 127) << 7 * i), at + max(i) + 1 INTO size, start
    FROM generate_series(0, 4) AS i WHERE NOT EXISTS (SELECT FROM generate_series(0, i - 1) AS before WHERE get_byte(rest, at - 1 + before) < 128);
END $$;
CREATE FUNCTION with_values(rest bytea, name text, by bytea) RETURNS bytea LANGUAGE sql AS $$
    SELECT substr(rest, 1, v.start - length(length_of(v.size)) - 1) || length_of(length(by)) || by || substr(rest, v.start + v.size) FROM values_in(rest, name) AS v
$$;
CREATE FUNCTION values_of(rest bytea, name text) RETURNS bytea LANGUAGE sql RETURN (SELECT substr(rest, v.start, v.size) FROM values_in(rest, name) AS v);
SELECT b.piece, t.name, with_values(rest(b.b), t.name, values_of(rest(b.b), t.name)) = rest(b.b) AS is_alike
FROM bundle AS b, unnest(ARRAY['instances', 'bookmarks', 'tasks', 'execution_log', 'messages', 'triggers', 'bookmark_queue']) AS t (name)
WHERE position(text_of(t.name) IN rest(b.b)) > 0 ORDER BY 1, 2;
SELECT v.name, t.* FROM (VALUES
    ('a time without end', 'instances', time_of(946771200000000), time_of(9223372036854775807)),
    ('a time without beginning', 'instances', time_of(946771200000000), time_of(-9223372036854775808)),
    ('a time before all', 'instances', time_of(946771200000000), time_of(-211813488000000001)),
    ('a time after all', 'instances', time_of(946771200000000), time_of(9223371331200000000)),
    ('the first time', 'bookmark_queue', time_of(946771200000000), time_of(-211813488000000000)),
    ('an instance without an id', 'instances', uuid_of((SELECT id FROM moved)), '\000'),
    ('a row of another instance', 'bookmarks', uuid_of((SELECT id FROM moved)), uuid_of((SELECT id FROM other))),
    ('a message of another key', 'messages', '\002\007strange', '\002\007another'),
    ('a schedule of another key', 'triggers', '\002\007strange', '\002\007another'),
    ('a stimulus of another key', 'bookmark_queue', '\002\007strange', '\002\007another'),
    ('an instance of another key', 'instances', '\002\007strange', '\002\007another'),
    ('a stimulus to all', 'bookmark_queue', '\002\007strange', '\000'),
    ('a schedule without a key', 'triggers', '\002\007strange', '\000'),
    ('an instance without a key', 'instances', '\002\007strange', '\000'),
    ('an instance that is its own parent', 'instances', '\002\007hostile\003\002\000', '\002\007hostile\003\002'::bytea || uuid_of((SELECT id FROM moved))),
    ('an instance below one of this node', 'instances', '\002\007hostile\003\002\000', '\002\007hostile\003\002'::bytea || uuid_of((SELECT id FROM other))),
    ('a task without a name', 'tasks', '\002\005check', '\000'),
    ('a value less', 'tasks', '\002\005check', ''),
    ('a value more', 'tasks', '\002\005check', '\000\002\005check'),
    ('a document with an escaped NUL', 'tasks', '\007\017{"amount": 250}', '\007\024{"amount": "\\u0000"}'),
    ('a deep document', 'tasks', '\007\017{"amount": 250}', '\007'::bytea || text_of(repeat('[', 1000000))),
    ('a document that is too deep to be read', 'tasks', '\007\017{"amount": 250}', '\007'::bytea || text_of(repeat('[', 3000) || repeat(']', 3000))),
    ('a large number', 'tasks', '\007\017{"amount": 250}', '\007'::bytea || text_of('{"amount": 1e999999}'))) AS v (name, among, what, by), bundle AS b,
    taken(b.piece, with_values(rest(b.b), v.among, replaced(values_of(rest(b.b), v.among), v.what, v.by))) AS t
WHERE position(text_of(v.among) IN rest(b.b)) > 0 ORDER BY 1, b.piece;
-- A schedule without its times.
SELECT t.state, t.message
FROM bundle AS b, planned AS p, taken(b.piece, with_values(rest(b.b), 'triggers', replaced(values_of(rest(b.b), 'triggers'), '\007'::bytea || text_of(p.schedule::text), '\000'))) AS t
WHERE position(text_of('triggers') IN rest(b.b)) > 0;
-- What a column can have is taken in; wf_check names what breaks a rule.
BEGIN;
SELECT count(wf_import_instances(ARRAY(
    SELECT CASE WHEN position(text_of('instances') IN rest(b)) > 0
        THEN sealed(with_values(rest(b), 'instances', replaced(values_of(rest(b), 'instances'), '\002\007Running', '\002\007Runn1ng'))) ELSE b END
    FROM bundle)));
SELECT c.problem FROM wf_check() AS c;
ROLLBACK;
-- Below a child of its own.
UPDATE workflow.instances SET parent_instance_id = (SELECT id FROM moved) WHERE id = (SELECT id FROM other);
SELECT (taken(b.piece, with_values(rest(b.b), 'instances', replaced(values_of(rest(b.b), 'instances'), '\002\007hostile\003\002\000', '\002\007hostile\003\002'::bytea || uuid_of((SELECT id FROM other)))))).*
FROM bundle AS b WHERE position(text_of('instances') IN rest(b.b)) > 0;
UPDATE workflow.instances SET parent_instance_id = NULL WHERE id = (SELECT id FROM other);
-- The last row alone is wrong (ids of one time begin alike, and random bytes do not); a table comes twice.
SELECT (taken(b.piece, with_values(rest(b.b), 'bookmarks', overlay(v PLACING '\000' FROM last_of(v, substr(uuid_of((SELECT id FROM moved)), 1, 5)) FOR 18)))).state
FROM bundle AS b, values_of(rest(b.b), 'bookmarks') AS v WHERE position(text_of('bookmarks') IN rest(b.b)) > 0;
CREATE FUNCTION twice(rest bytea, name text) RETURNS bytea LANGUAGE sql AS $$
    SELECT substr(rest, 1, at - 2) || set_byte('\000', 0, get_byte(rest, at - 2) + 1) || substr(rest, at, v.start + v.size - at) || substr(rest, at)
    FROM values_in(rest, name) AS v, position(text_of(name) IN rest) AS at
$$;
SELECT t.name, (taken(b.piece, twice(rest(b.b), t.name))).* FROM bundle AS b, unnest(ARRAY['instances', 'bookmark_queue']) AS t (name)
WHERE position(text_of(t.name) IN rest(b.b)) > 0 ORDER BY 1;

-- Each byte in turn, with one bit changed and with all of them set.
SELECT t.state, min(t.message) FROM bundle AS b, generate_series(0, length(rest(b.b)) - 1) AS at, unnest(ARRAY[get_byte(rest(b.b), at) # 1, 255]) AS byte,
    taken(b.piece, set_byte(rest(b.b), at, byte)) AS t
WHERE t.state NOT IN ('00000', '22P03', '42704', '40001', '23505', '23502', '42710', '22P02', 'XX001') GROUP BY 1 ORDER BY 1;
SELECT t.name, (xpath('//n/text()', query_to_xml('SELECT count(*) AS n FROM workflow.' || t.name, false, true, '')))[1] AS rows
FROM unnest(ARRAY['instances', 'bookmarks', 'tasks', 'incidents', 'compensations', 'pauses', 'execution_log', 'bookmark_queue', 'dead_letters', 'messages', 'triggers', 'imports', 'owners']) AS t (name) ORDER BY 1;
-- And as it was: what is exported once more is the same.
SELECT wf_import_instances(ARRAY(SELECT b FROM bundle ORDER BY piece));
SELECT * FROM wf_check();
-- A bundle has the rows of an instance in the order in which they lie, and where a row is put depends on the room that others left.
CLUSTER workflow.bookmarks USING bookmarks_pkey;
CLUSTER workflow.bookmark_queue USING bookmark_queue_pkey;
CREATE TABLE again AS SELECT row_number() OVER () AS piece, b FROM wf_export_instances('{strange}', remove => true) AS b;
SELECT t.name, bool_and(values_of(rest(a.b), t.name) = values_of(rest(b.b), t.name)) AS is_alike
FROM again AS a JOIN bundle AS b USING (piece), unnest(ARRAY['instances', 'bookmarks', 'tasks', 'execution_log', 'messages', 'triggers', 'bookmark_queue']) AS t (name)
WHERE position(text_of(t.name) IN rest(b.b)) > 0 GROUP BY 1 ORDER BY 1;
