-- Bundles whose digest is right and whose rest is not as a server writes it are refused, or taken in as they say; no byte of one
-- stops the server or leaves something behind.
SET timezone = 'UTC';
SET client_min_messages = warning;
SET workflow.now = '2030-01-01 00:00:00+00';
SELECT count(wf_define(d::jsonb)) FROM (VALUES
    ('{"definitionId": "hostile", "root": {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Paid"}, {"type": "Delay", "timeSpan": "1 hour"}, {"type": "RunTask", "taskName": "check", "payload": {"amount": 250}, "candidates": ["people"]}]}}')) AS v (d);
SELECT wf_start('hostile', '{"by": "Ada"}', correlation_id => 'hostile') \g /dev/null
SELECT wf_publish_event('Early', '{"x": 1}', correlation_id => 'hostile', keep_for => '1 day') \g /dev/null
SELECT wf_call('hostile', 'm1', 'event', 'Early', '{"x": 2}') \g /dev/null
SELECT wf_schedule_workflow('hostile', '0 3 * * *', 'hostile', correlation_id => 'hostile') \g /dev/null
CREATE TABLE bundle AS SELECT row_number() OVER () AS piece, b FROM wf_export_instances('{hostile}', remove => true) AS b;

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

-- Each byte in turn, with one bit changed and with all of them set.
SELECT t.state, min(t.message) FROM bundle AS b, generate_series(0, length(rest(b.b)) - 1) AS at, unnest(ARRAY[get_byte(rest(b.b), at) # 1, 255]) AS byte,
    taken(b.piece, set_byte(rest(b.b), at, byte)) AS t
WHERE t.state NOT IN ('00000', '22P03', '42704', '40001', '23505', '23502', '42710', '55000', '22P02', 'XX001') GROUP BY 1 ORDER BY 1;
SELECT (SELECT count(*) FROM workflow.instances) AS instances, (SELECT count(*) FROM workflow.bookmarks) AS bookmarks, (SELECT count(*) FROM workflow.messages) AS messages, (SELECT count(*) FROM workflow.imports) AS imports;
-- And as it was.
SELECT wf_import_instances(ARRAY(SELECT b FROM bundle ORDER BY piece));
SELECT * FROM wf_check();
