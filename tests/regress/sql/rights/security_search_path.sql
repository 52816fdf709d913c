-- A search path full of traps, and temporary tables that come first: the engine's own SQL does not look there.
\i tests/regress/include/security.sql

-- security.md#what-an-input-can-do: the search path does not change what the engine's own SQL means
-- A search path full of traps. Nothing of ours looks there.
\connect - regress_security_mallory
\connect - postgres
GRANT CREATE ON DATABASE :"DBNAME" TO regress_security_mallory;
\connect - regress_security_mallory
CREATE SCHEMA traps;
GRANT USAGE ON SCHEMA traps TO PUBLIC;
CREATE FUNCTION traps.trap() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION traps.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT CASE WHEN traps.trap() THEN NULL::timestamptz END';
CREATE FUNCTION traps.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT CASE WHEN traps.trap() THEN NULL::timestamptz END';
CREATE FUNCTION traps.octet_length(bytea) RETURNS int LANGUAGE sql AS 'SELECT CASE WHEN traps.trap() THEN 1 END';
CREATE FUNCTION traps.pg_has_role(name, oid, text) RETURNS boolean LANGUAGE sql AS 'SELECT traps.trap()';
CREATE FUNCTION traps.jsonb_eq(jsonb, jsonb) RETURNS boolean LANGUAGE sql AS 'SELECT traps.trap()';
CREATE FUNCTION traps.uuid_eq(uuid, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT traps.trap()';
CREATE FUNCTION traps.text_eq(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT traps.trap()';
CREATE FUNCTION traps.int8_eq(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT traps.trap()';
CREATE OPERATOR traps.= (LEFTARG = jsonb, RIGHTARG = jsonb, FUNCTION = traps.jsonb_eq);
CREATE OPERATOR traps.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = traps.uuid_eq);
CREATE OPERATOR traps.= (LEFTARG = text, RIGHTARG = text, FUNCTION = traps.text_eq);
CREATE OPERATOR traps.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = traps.int8_eq);
CREATE FUNCTION traps.wf_resume(uuid, jsonb, boolean, text) RETURNS boolean LANGUAGE sql AS 'SELECT traps.trap()';
CREATE TABLE traps.instances (id uuid);
CREATE TABLE traps.bookmarks (id uuid);
CREATE DOMAIN traps.jsonb AS text CHECK (traps.trap());
CREATE DOMAIN traps.uuid AS text CHECK (traps.trap());
\connect - postgres
SET search_path = traps, pg_catalog, public;
SELECT * FROM public.wf_define('{"definitionId": "trapped", "options": {"activationStrategy": "Correlated"}, "root": [
    {"id": "first", "type": "Event", "eventName": "First"}, {"id": "second", "type": "RunTask", "taskName": "Second"}, {"type": "Sql", "statement": "SELECT 1"}, {"type": "Fault", "message": "oops"}]}');
SELECT public.wf_start('trapped', correlation_id => 't', instance_id => '01900000-0000-7000-8000-0000000000e1');
SELECT pg_catalog.cardinality(resumed) FROM public.wf_publish_event('First', correlation_id => 't');
SELECT r.sub_status FROM workflow.waiting AS w, public.wf_complete_task(w.bookmark_id) AS r WHERE w.correlation_id OPERATOR(pg_catalog.=) 't';
SELECT sub_status FROM public.wf_retry('01900000-0000-7000-8000-0000000000e1');
SELECT pg_catalog.count(*) > 0 AS journal FROM workflow.journal;
SELECT public.wf_cancel('01900000-0000-7000-8000-0000000000e1');
SELECT public.wf_delete_instance('01900000-0000-7000-8000-0000000000e1');
SELECT public.wf_delete_definition('trapped');
SELECT * FROM public.wf_check();
RESET search_path;

-- Temporary objects come first in a search path that does not name them. Neither.
CREATE TEMP TABLE instances (id int);
CREATE TEMP TABLE bookmarks (id int);
CREATE TEMP TABLE definitions (id int);
SELECT * FROM wf_define('{"definitionId": "temp", "root": {"id": "e", "type": "Event", "eventName": "X"}}');
SELECT sub_status FROM wf_run('temp');
