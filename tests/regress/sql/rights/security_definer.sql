-- Mallory may start a workflow that runs with Alice's rights (definer), and does not leave the cage.
\i tests/regress/include/security.sql

-- security.md#definer: the owner's rights, no SET ROLE, no temporary tables, no LISTEN
-- A workflow of Alice's that runs as its owner (definer). Mallory may start it, and may not leave the cage. Names
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
