-- security.md#programs-that-act-for-many-roles: what Alice's SQL tries while the gateway acts for her, here and after her transaction.
\set VERBOSITY terse
\i tests/regress/include/escapes.sql
\c - regress_gateway

-- Every way, alone, and what is said to it.
CREATE FUNCTION pg_temp.try(way text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE way;
    RETURN 'done as ' || current_user;
EXCEPTION WHEN others THEN
    RETURN concat_ws(' ', sqlstate, CASE WHEN sqlerrm LIKE 'cannot %' THEN lower(sqlerrm) END);
END $$;
BEGIN;
SELECT wf_set_role('regress_alice');
SELECT w AS way, pg_temp.try(w) AS answer FROM alice.ways() AS w;
SELECT current_user;
ROLLBACK;
-- Statements of the gateway's own cannot leave it either: nothing that an injection into one of them adds.
BEGIN;
SELECT wf_set_role('regress_alice');
SAVEPOINT s;
RESET ROLE;
ROLLBACK TO s;
SET SESSION AUTHORIZATION DEFAULT;
ROLLBACK TO s;
DISCARD ALL;
ROLLBACK TO s;
RESET ALL;
SELECT current_user;
COMMIT;

-- All of them from each place in which SQL of a user runs: in a workflow, …
\c - postgres
SET ROLE regress_alice;
SELECT type FROM wf_register_activity('Escape', 'alice.escape(jsonb)') AS type \g /dev/null
SELECT wf_define('{"definitionId": "escape", "root": [
    {"type": "Sql", "statement": "SELECT alice.escape(''activity Sql'')"},
    {"type": "WriteLine", "text": {"sql": "alice.escape(''SQL expression'')::text"}},
    {"type": "Escape"},
    {"type": "Sql", "statement": "INSERT INTO alice.things VALUES (1)"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "hold", "root": [
    {"type": "Sql", "statement": "DECLARE held CURSOR WITH HOLD FOR SELECT alice.escape(''held cursor'')"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "definer", "options": {"security": "definer"}, "root": {"type": "Sql", "statement": "SELECT alice.escape(''definer'')"}}') \g /dev/null
-- … in what statements on her tables set off, …
CREATE DOMAIN alice.checked AS int CHECK (alice.escape('domain'));
CREATE TABLE alice.guarded (id int PRIMARY KEY REFERENCES alice.things ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, value int);
CREATE TRIGGER "cascaded delete" AFTER DELETE ON alice.guarded FOR EACH ROW EXECUTE FUNCTION alice.deferred();
CREATE FUNCTION alice.indexed(value int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM alice.escape(''index''); RETURN value; END';
CREATE TABLE alice.rows (value int);
INSERT INTO alice.rows VALUES (1);
ALTER TABLE alice.rows ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON alice.rows USING (alice.escape('policy'));
ALTER TABLE alice.rows FORCE ROW LEVEL SECURITY;
CREATE VIEW alice.view AS SELECT alice.escape('view') AS x;
CREATE RULE r AS ON UPDATE TO alice.rows DO ALSO SELECT alice.escape('rule');
CREATE PROCEDURE alice.procedure() LANGUAGE plpgsql AS 'BEGIN PERFORM alice.escape(''procedure''); END';
CREATE FUNCTION alice.definer() RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$ SELECT alice.escape('SECURITY DEFINER') $$;
CREATE FUNCTION alice.with_setting() RETURNS boolean LANGUAGE sql SET work_mem = '4MB' AS $$ SELECT alice.escape('SET clause') $$;
CREATE FUNCTION alice.step(boolean, text) RETURNS boolean LANGUAGE sql AS $$ SELECT alice.escape('aggregate') $$;
CREATE AGGREGATE alice.aggregate(text) (sfunc = alice.step, stype = boolean);
\c - regress_gateway
BEGIN;
SELECT wf_set_role('regress_alice');
SELECT sub_status FROM wf_run('escape');
SELECT sub_status FROM wf_run('hold');
SELECT sub_status FROM wf_run('definer');
INSERT INTO alice.things VALUES (2);
SELECT 1::alice.checked;
SELECT * FROM alice.rows;
SELECT * FROM alice.view;
UPDATE alice.rows SET value = 2;
CALL alice.procedure();
SELECT alice.definer(), alice.with_setting(), alice.aggregate('x');
DO $$ BEGIN PERFORM alice.escape('DO'); END $$;
PREPARE prepared AS SELECT alice.escape('prepared statement');
EXECUTE prepared;
CREATE INDEX ON alice.rows (alice.indexed(value));
CREATE TEMPORARY TABLE gone (value int) ON COMMIT DELETE ROWS;
CREATE INDEX ON gone (alice.indexed(value));
INSERT INTO gone VALUES (1);
CREATE TEMPORARY TABLE dropped ON COMMIT DROP AS SELECT alice.escape('CREATE TABLE AS');
SAVEPOINT before;
SELECT alice.escape('savepoint');
RELEASE before;
INSERT INTO alice.guarded VALUES (1, 1);
DELETE FROM alice.things WHERE id = 1;
INSERT INTO alice.things VALUES (3);
DECLARE mine CURSOR WITH HOLD FOR SELECT alice.escape('held cursor of the gateway');
-- … and at COMMIT: deferred triggers, and the queries of cursors that are kept.
COMMIT;
SELECT current_user;
SELECT place, count(*) > 0 AS ran, bool_and(tried >= 40) AS all_ways, sum(got_out) AS got_out, array_agg(DISTINCT at_start) AS roles
FROM alice.log GROUP BY place ORDER BY place COLLATE "C";

-- The same after SET LOCAL ROLE: SQL of workflows does not leave the role, and what no workflow runs does. So the test would show it.
CLOSE ALL;
DISCARD TEMP;
DEALLOCATE ALL;
SET ROLE regress_alice;
TRUNCATE alice.log, alice.things, alice.guarded;
RESET ROLE;
BEGIN;
SET LOCAL ROLE regress_alice;
SELECT sub_status FROM wf_run('escape');
SELECT current_user;
COMMIT;
RESET ROLE;
BEGIN;
SET LOCAL ROLE regress_alice;
SELECT sub_status FROM wf_run('hold');
COMMIT;
RESET ROLE;
SELECT place, sum(got_out) > 0 AS got_out FROM alice.log GROUP BY place ORDER BY place COLLATE "C";
CLOSE ALL;

-- In the next transactions of the session: what Alice leaves behind, before the gateway cleans up and after.
BEGIN;
SELECT wf_set_role('regress_alice');
SET search_path = alice, pg_catalog;
SET statement_timeout = '1h';
SET standard_conforming_strings = off;
SET alice.note = 'left';
PREPARE next AS SELECT alice.escape('next request');
DECLARE next CURSOR WITH HOLD FOR SELECT 1;
CREATE FUNCTION pg_temp.wf_set_role(name, text DEFAULT NULL, text[] DEFAULT NULL) RETURNS void LANGUAGE sql AS $$ SELECT alice.escape('next request') $$;
CREATE FUNCTION alice.wf_set_role(name, text DEFAULT NULL, text[] DEFAULT NULL) RETURNS void LANGUAGE sql AS $$ SELECT alice.escape('next request') $$;
CREATE TEMPORARY TABLE pg_class (oid int);
CREATE TEMPORARY SEQUENCE left_over;
SELECT nextval('left_over');
LISTEN alices;
SELECT pg_advisory_lock(1);
COMMIT;
SELECT count(*) AS prepared FROM pg_prepared_statements;
SELECT current_setting('search_path') AS path, (SELECT count(*) FROM pg_cursors) AS cursors, pg_listening_channels() AS channel,
       (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks, to_regprocedure('wf_set_role(name,text,text[])') AS found;
RESET ALL;
DEALLOCATE ALL;
CLOSE ALL;
UNLISTEN *;
DISCARD TEMP;
DISCARD SEQUENCES;
SELECT pg_catalog.pg_advisory_unlock_all();
SELECT current_setting('search_path') AS path, (SELECT count(*) FROM pg_cursors) AS cursors, (SELECT count(*) FROM pg_listening_channels()) AS channels,
       (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks, to_regprocedure('wf_set_role(name,text,text[])') AS found,
       current_setting('alice.note', true) AS note, current_setting('standard_conforming_strings') AS strings,
       (SELECT count(*) FROM pg_prepared_statements) AS prepared, (SELECT count(*) FROM pg_class c WHERE c.relnamespace = pg_my_temp_schema()) AS temporary;
BEGIN;
SELECT wf_set_role('regress_bob');
SELECT current_user;
COMMIT;
SELECT count(*) FROM alice.log WHERE place = 'next request';

\c - postgres
SET client_min_messages = error;
DROP OWNED BY regress_alice, regress_bob;
DROP ROLE regress_gateway, regress_alice, regress_bob;
