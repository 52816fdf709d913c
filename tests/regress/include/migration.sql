\set ECHO none
-- For the sessions about what has begun in the old version and goes on in the new one.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 08:00:00+00';
SET client_min_messages = error;
CREATE FUNCTION pg_temp.lines(id uuid) RETURNS text LANGUAGE sql
BEGIN ATOMIC
    SELECT string_agg(data #>> '{}', ', ' ORDER BY seq, number) FROM workflow.journal WHERE instance_id = id AND event = 'Line';
END;
\set ECHO all
