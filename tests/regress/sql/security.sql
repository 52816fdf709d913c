-- Every path that could lead to another role's rights, attacked. Alice is honest, Mallory is not; both may use the extension.
CREATE ROLE regress_security_alice LOGIN;
CREATE ROLE regress_security_mallory LOGIN;
SELECT wf_grant_usage('regress_security_alice');
SELECT wf_grant_usage('regress_security_mallory');
GRANT CREATE ON SCHEMA public TO regress_security_alice, regress_security_mallory;
-- A role whose rights Mallory's SQL gets hold of leaves a row here.
CREATE TABLE loot (who name DEFAULT current_user, how text);
GRANT INSERT, SELECT ON loot TO PUBLIC;

-- security.md#what-is-open-to-whom: no right on a table, and workflow.now is a superuser's to set
-- 1. The tables themselves.
\connect - regress_security_mallory
\set VERBOSITY terse
SELECT count(*) FROM workflow.instances;
SELECT count(*) FROM workflow.definitions;
UPDATE workflow.owners SET role = '1:1:regress_security_mallory';
DELETE FROM workflow.grants;
INSERT INTO workflow.grants VALUES ('x', 1, 'start');
UPDATE workflow.bookmarks SET callback = 'x';
CREATE FUNCTION workflow.mine() RETURNS int LANGUAGE sql AS 'SELECT 1';
SET workflow.now = '2000-01-01';
SET workflow.max_steps = 100000000;
-- security.md#what-is-open-to-whom: SQL in a document that wf_validate is given is parsed and never run
SELECT * FROM wf_validate('{"definitionId": "x", "root": [
    {"type": "Sql", "statement": "INSERT INTO loot (how) VALUES (''validated'')"}, {"type": "WriteLine", "text": {"sql": "SELEC 1"}}]}', 'warning');
SELECT * FROM loot;
\set VERBOSITY default

-- security.md#owners-and-grants: without a grant none of the rights of the table
-- 2. Alice's definitions and instances.
\connect - regress_security_alice
SELECT * FROM wf_define('{"definitionId": "alice", "root": [{"id": "go", "type": "Event", "eventName": "Go"}, {"id": "task", "type": "RunTask", "taskName": "Secret"}]}');
SELECT wf_start('alice', '{"secret": "ahem"}', correlation_id => 'a1', instance_id => '01900000-0000-7000-8000-0000000000a1');
SELECT bookmark_id AS bookmark FROM workflow.waiting \gset
\connect - regress_security_mallory
\set VERBOSITY sqlstate
SELECT wf_start('alice');
SELECT wf_start('alice', instance_id => '01900000-0000-7000-8000-0000000000a1');
SELECT * FROM wf_resume(:'bookmark');
SELECT * FROM wf_resume(:'bookmark', missing_ok => true);
SELECT * FROM wf_complete_task(:'bookmark');
SELECT wf_cancel('01900000-0000-7000-8000-0000000000a1');
SELECT * FROM wf_retry('01900000-0000-7000-8000-0000000000a1');
SELECT wf_delete_instance('01900000-0000-7000-8000-0000000000a1');
SELECT wf_export('alice');
SELECT * FROM wf_define('{"definitionId": "alice", "root": []}');
SELECT wf_publish('alice');
SELECT wf_retract('alice');
SELECT * FROM wf_refresh('alice');
SELECT wf_delete_definition('alice');
SELECT wf_grant('alice', 'regress_security_mallory', '{start}');
SELECT workflow.instance_state('01900000-0000-7000-8000-0000000000a1');
\set VERBOSITY default

-- security.md#who-hears-a-stimulus: a stimulus reaches only what its sender may start or resume, now and later
-- 3. Stimuli: she may send them, but they reach only what she may resume, now and later.
SELECT * FROM wf_publish_event('Go');
SELECT * FROM wf_enqueue_bookmark(correlation_id => 'a1', keep_for => '0');
SELECT * FROM wf_enqueue_bookmark(bookmark_id => :'bookmark', keep_for => '0');
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Go"}');
SELECT * FROM wf_define('{"definitionId": "speaker", "root": {"type": "PublishEvent", "eventName": "Go"}}');
SELECT sub_status FROM wf_run('speaker');
-- The id of another role's instance is taken; that is all she learns.
SELECT wf_start('speaker', instance_id => '01900000-0000-7000-8000-0000000000a1');
\echo :SQLSTATE
\connect - regress_security_alice
SELECT sub_status, activity_id FROM workflow.instance_list AS i JOIN workflow.open_bookmarks AS b ON b.instance_id = i.instance_id;
SELECT sub_status FROM wf_run('alice', correlation_id => 'a2');
SELECT wf_run_due() >= 0 AS swept;
SELECT activity FROM workflow.waiting ORDER BY correlation_id;

-- security.md#invoker-the-default: a call that did not name an instance runs no SQL of another owner
-- 4. The other way round: Mallory waits for an event with SQL of hers, and the superuser publishes it.
\connect - regress_security_mallory
SELECT * FROM wf_define('{"definitionId": "trap", "root": [
    {"id": "wait", "type": "Event", "eventName": "Alarm"}, {"type": "Sql", "statement": "INSERT INTO loot (how) VALUES (''resumed by an event'')"}]}');
SELECT * FROM wf_define('{"definitionId": "trap2", "root": [
    {"id": "start", "type": "Event", "eventName": "Alarm", "canStartWorkflow": true}, {"type": "Sql", "statement": "INSERT INTO loot (how) VALUES (''started by an event'')"}]}');
SELECT * FROM wf_define('{"definitionId": "trap3", "variables": {"V": null}, "root": [
    {"id": "wait", "type": "Event", "eventName": "Alarm"}, {"type": "SetVariable", "variable": "V", "value": {"sql": "WITH x AS (INSERT INTO loot (how) VALUES (''an expression'') RETURNING how) SELECT how FROM x"}}]}');
CREATE FUNCTION mallory_handler(context jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO loot (how) VALUES ('a handler: ' || coalesce(context #>> '{bookmark,name}', 'start'));
    RETURN CASE WHEN context ? 'bookmark' OR (context -> 'isTrigger')::boolean THEN '{}' ELSE '{"bookmarks": [{"name": "Alarm", "payload": 1, "callback": "mallory_handler"}]}' END;
END $$;
-- security.md#whose-rights-sql-in-a-workflow-has: payload functions have the rights of the definition's owner on publish and refresh
-- It runs with the rights of the definition's owner, also when others publish: its names are qualified, as in definer SQL.
CREATE FUNCTION mallory_payloads(context jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.loot (how) VALUES ('a payload function');
    RETURN NEXT '1'::jsonb;
END $$;
SELECT wf_register_activity('Mallory.Trap', 'mallory_handler(jsonb)', kind => 'trigger', payloads => 'mallory_payloads(jsonb)');
SELECT * FROM wf_define('{"definitionId": "trap4", "root": {"id": "t", "type": "Mallory.Trap", "canStartWorkflow": true}}');
SELECT wf_start('trap') IS NOT NULL, wf_start('trap3') IS NOT NULL, wf_start('trap4') IS NOT NULL;
\connect - postgres
TRUNCATE loot;
-- Without a word of the superuser's they hear nothing (events_heard.sql). With it they do, and still run nothing as another.
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Alarm');
SELECT wf_grant_events('regress_security_mallory');
SELECT cardinality(resumed) >= 0 AS published FROM wf_publish_event('Alarm');
SELECT cardinality(resumed) >= 0 AS sent FROM wf_send_stimulus('Alarm', '1');
SELECT cardinality(resumed) >= 0 AS sent FROM wf_send_stimulus('Mallory.Trap', '1');
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_type => 'Mallory.Trap');
SELECT wf_run_due() >= 0 AS swept;
SELECT * FROM wf_refresh('trap4');
SELECT wf_publish('trap4');
SELECT wf_retract('trap4');
SELECT DISTINCT who, how FROM loot;
SELECT who, how FROM loot WHERE who <> 'regress_security_mallory';
-- security.md#invoker-the-default: what was left is delivered by wf_run_due() of the owner
-- It is due for her: in her session it goes on.
\connect - regress_security_mallory
SELECT wf_run_due() > 0 AS ran;
SELECT who, how FROM loot ORDER BY how;

-- security.md#who-hears-a-stimulus: the sender of what an instance publishes is its owner, whose call made it run says nothing
-- An event that Mallory's workflow publishes is hers, even where the superuser's event made it run.
SELECT * FROM wf_define('{"definitionId": "relay", "root": [{"id": "wait", "type": "Event", "eventName": "Relay"}, {"type": "PublishEvent", "eventName": "Go"}]}');
SELECT * FROM wf_define('{"definitionId": "relay2", "root": [{"id": "start", "type": "Event", "eventName": "Relay", "canStartWorkflow": true}, {"type": "PublishEvent", "eventName": "Go"}]}');
SELECT wf_start('relay') IS NOT NULL AS started;
\connect - postgres
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed FROM wf_publish_event('Relay');
SELECT activity, correlation_id FROM workflow.waiting WHERE definition_id = 'alice' ORDER BY correlation_id;

-- security.md#definer: the owner's rights, no SET ROLE, no temporary tables, no LISTEN
-- 5. A workflow of Alice's that runs as its owner (definer). Mallory may start it, and may not leave the cage. Names
-- are looked up in pg_catalog only: what is elsewhere must be qualified.
\connect - regress_security_alice
CREATE TABLE alices (secret text);
INSERT INTO alices VALUES ('ahem');
SELECT * FROM wf_define('{"definitionId": "definer", "options": {"security": "definer"}, "root":
    {"id": "s", "type": "Sql", "statement": {"input": "statement"}, "result": {"output": "Rows"}}, "outputs": [{"name": "Rows"}]}');
SELECT wf_grant('definer', 'regress_security_mallory', '{start}');
\connect - regress_security_mallory
SET client_min_messages = error;
CREATE FUNCTION pg_temp.try(statement text) RETURNS TABLE (rows jsonb, incident text) LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    result := wf_run('definer', jsonb_build_object('statement', statement));
    RETURN QUERY SELECT result.output -> 'Rows', (result.incidents -> 0 ->> 'sqlstate') || ' ' || (result.incidents -> 0 ->> 'message');
END $$;
SELECT * FROM pg_temp.try('SELECT current_user, session_user, secret FROM public.alices');
SELECT * FROM pg_temp.try('SET ROLE regress_security_alice');
SELECT * FROM pg_temp.try('RESET ROLE');
SELECT * FROM pg_temp.try('SET SESSION AUTHORIZATION regress_security_alice');
SELECT * FROM pg_temp.try('SELECT set_config(''role'', ''regress_security_alice'', false)');
SELECT * FROM pg_temp.try('CREATE TEMP TABLE t (x int)');
SELECT * FROM pg_temp.try('LISTEN x');
-- security.md#definer: a cursor that it declares stays open until the caller's transaction ends
BEGIN;
SELECT * FROM pg_temp.try('DECLARE left_open CURSOR FOR SELECT secret FROM public.alices');
FETCH ALL FROM left_open;
COMMIT;
FETCH ALL FROM left_open;
SELECT current_user, session_user;
SELECT secret FROM alices;
RESET client_min_messages;

-- security.md#definer: no deferred triggers
-- A deferred trigger would fire at commit, as the role that commits: it is refused under the definer's rights.
CREATE TABLE bait (x int);
CREATE FUNCTION bait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO loot (how) VALUES ('a deferred trigger'); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER bait AFTER INSERT ON bait DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bait();
GRANT INSERT ON bait TO PUBLIC;
SELECT * FROM wf_define('{"definitionId": "deferred", "options": {"security": "definer"}, "root": {"id": "s", "type": "Sql", "statement": "INSERT INTO public.bait VALUES (1)"}}');
\connect - postgres
TRUNCATE loot;
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message
  FROM wf_run('deferred', instance_id => '01900000-0000-7000-8000-0000000000d1');
SELECT * FROM loot;

-- security.md#invoker-the-default: where the caller named the definition its SQL has the caller's rights
-- 6. Invoker: a role that names a definition runs its SQL with its own rights, as it would a function. That is no attack but
-- what PostgreSQL does everywhere: do not start what you do not trust.
\connect - regress_security_mallory
SELECT * FROM wf_define('{"definitionId": "invoker", "root": {"id": "s", "type": "Sql", "statement": "INSERT INTO loot (how) VALUES (''named'')"}}');
SELECT wf_grant('invoker', 'regress_security_alice', '{start}');
\connect - regress_security_alice
SELECT sub_status FROM wf_run('invoker');
SELECT * FROM loot;

-- security.md#what-an-input-can-do: the search path does not change what the engine's own SQL means
-- 7. A search path full of traps. Nothing of ours looks there.
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

-- security.md#owners-and-grants: only members of its owner replace an activity type
-- 8. Handlers: only the owner replaces a type; no role calls through it what it may not call itself.
\connect - regress_security_alice
CREATE FUNCTION alices_handler(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
REVOKE EXECUTE ON FUNCTION alices_handler(jsonb) FROM PUBLIC;
SELECT wf_register_activity('Alice.Work', 'alices_handler(jsonb)');
\connect - regress_security_mallory
SELECT wf_register_activity('Alice.Work', 'mallory_handler(jsonb)');
\echo :SQLSTATE
SELECT wf_register_activity('Mallory.Borrowed', 'alices_handler(jsonb)');
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "borrowed", "root": {"id": "w", "type": "Alice.Work"}}');
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('borrowed');
RESET client_min_messages;

-- An operator of hers that would suit a statement of ours better than PostgreSQL's own is not used.
\connect - postgres
GRANT CREATE ON SCHEMA public TO regress_security_mallory;
CREATE SCHEMA honest;
CREATE FUNCTION honest.asks(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"bookmarks": [{"id": "01900000-0000-7000-8000-0000000000c1", "callback": "answers"}]}'::jsonb $$;
CREATE FUNCTION honest.answers(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Honest.Ask', 'honest.asks(jsonb)');
SELECT wf_define('{"definitionId": "honest", "root": [{"type": "Honest.Ask"}]}');
SET ROLE regress_security_mallory;
CREATE FUNCTION public.hijack(jsonb, jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'hijacked as %', current_user;
    RETURN pg_catalog.jsonb_extract_path_text($1);
END $$;
CREATE OPERATOR public.#>> (LEFTARG = jsonb, RIGHTARG = jsonb, FUNCTION = public.hijack);
RESET ROLE;
SELECT sub_status FROM wf_run('honest');
SELECT sub_status FROM wf_resume('01900000-0000-7000-8000-0000000000c1');
DROP FUNCTION public.hijack CASCADE;
REVOKE CREATE ON SCHEMA public FROM regress_security_mallory;

-- 9. One session, several roles (a pooler): what one has cached is not another's.
\connect - postgres
SET ROLE regress_security_alice;
SELECT wf_start('alice', correlation_id => 'pooled') IS NOT NULL AS started;
SET ROLE regress_security_mallory;
SELECT wf_start('alice');
\echo :SQLSTATE
SELECT count(*) FROM workflow.waiting WHERE correlation_id = 'pooled';
RESET ROLE;
SELECT * FROM wf_check();
