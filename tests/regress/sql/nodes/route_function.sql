-- A function of a superuser decides which keys are here: NULL is no. It runs as the extension's owner, with pg_catalog, and no
-- temporary relation takes the place of a catalog.
\i tests/regress/include/route.sql
RESET client_min_messages;
\set SHOW_CONTEXT never

CREATE TABLE placed (key text PRIMARY KEY);
INSERT INTO placed VALUES (:'there');
CREATE FUNCTION is_placed(key text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('search_path') <> 'pg_catalog, pg_temp' OR current_user <> (SELECT pg_get_userbyid(extowner) FROM pg_extension WHERE extname = 'workflow') THEN
        RAISE 'unexpected surroundings: %, %', current_setting('search_path'), current_user;
    END IF;
    RETURN NULLIF(EXISTS (SELECT FROM public.placed p WHERE p.key = is_placed.key), false);
END $$;
SET workflow.route_check = 'public.is_placed';
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here'), outcome('wf_start(''event'', correlation_id => %L)', :'there');
SET ROLE regress_route_plain;
SELECT wf_publish_event('Nobody', correlation_id => :'here', keep_for => '0');
SELECT started FROM wf_publish_event('Nobody', correlation_id => :'there', keep_for => '0');
RESET ROLE;
-- A function that names a catalog without its schema is not misled by the caller.
CREATE FUNCTION is_in_catalog(key text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN EXISTS (SELECT FROM pg_class); END $$;
SET workflow.route_check = 'public.is_in_catalog';
SET ROLE regress_route_plain;
CREATE FUNCTION pg_temp.who() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'called as %', current_user; END $$;
CREATE TEMP VIEW pg_class AS SELECT pg_temp.who();
SELECT started FROM wf_publish_event('Nobody', correlation_id => :'there', keep_for => '0');
DROP VIEW pg_temp.pg_class;
RESET ROLE;
-- A function that is none.
SET workflow.route_check = 'is_placed';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
SET workflow.route_check = 'public.no_such';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
CREATE FUNCTION is_text(key text) RETURNS text LANGUAGE sql RETURN key;
SET workflow.route_check = 'public.is_text';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
CREATE FUNCTION is_any(key text) RETURNS SETOF boolean LANGUAGE sql RETURN true;
SET workflow.route_check = 'public.is_any';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
ALTER FUNCTION is_placed OWNER TO regress_route_plain;
SET workflow.route_check = 'public.is_placed';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
ALTER FUNCTION is_placed OWNER TO CURRENT_USER;
CREATE OR REPLACE FUNCTION is_placed(key text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'no placement'; END $$;
SELECT wf_publish_event('Nobody', correlation_id => :'there');
-- wf_check reports a function that fails, and one that does not exist.
SELECT * FROM wf_check();
SET workflow.route_check = 'public.no_such';
SELECT * FROM wf_check();
SET workflow.route_check = 'public.is_placed';
-- A function that would never end: due work passes over the key, and a claim skips it.
CREATE OR REPLACE FUNCTION is_placed(key text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(86400); RETURN true; END $$;
SELECT count(*) FROM wf_claim_tasks('{check}', max => 1);
-- wf_check neither waits nor keeps a lock: the time for all keys together has a bound.
SELECT * FROM wf_check();
-- The answer of a function that catches the cancellation does not count.
CREATE OR REPLACE FUNCTION is_placed(key text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(86400);
EXCEPTION WHEN query_canceled THEN RETURN true;
END $$;
SELECT count(*) FROM wf_claim_tasks('{check}', max => 1);
SELECT * FROM wf_check();
-- If it continues to wait, it is cancelled again.
CREATE OR REPLACE FUNCTION is_placed(key text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(86400);
EXCEPTION WHEN query_canceled THEN
    PERFORM pg_sleep(86400);
    RETURN true;
END $$;
SELECT count(*) FROM wf_claim_tasks('{check}', max => 1);
SELECT * FROM wf_check();
-- Not set, all keys are here.
SET workflow.route_check = '';
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here'), outcome('wf_start(''event'', correlation_id => %L)', :'there'), outcome('wf_start(''event'', correlation_id => %L)', NULL);
SELECT * FROM wf_check();
