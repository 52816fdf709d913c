-- wf_set_role: a role for the rest of the transaction, which no SQL in the transaction can leave.
\i tests/regress/include/escapes.sql
CREATE ROLE regress_other;
CREATE ROLE regress_super SUPERUSER;
GRANT regress_super TO regress_gateway;
\c - regress_gateway

-- Between BEGIN and the end of the transaction the role is the current one, with its rights and no others.
SELECT wf_set_role('regress_alice');
BEGIN;
SELECT wf_set_role('regress_alice');
SELECT current_user, session_user, current_setting('role') AS role, wf_set_role('regress_alice') AS again;
SELECT has_schema_privilege('alice', 'CREATE') AS alices, has_schema_privilege('bob', 'CREATE') AS bobs;
COMMIT;
SELECT current_user, current_setting('role') AS role;
BEGIN;
SELECT wf_set_role('regress_bob');
SELECT current_user;
ROLLBACK;
SELECT current_user;
BEGIN;
SELECT wf_set_role('regress_bob');
SELECT 1 / 0;
COMMIT;
SELECT current_user;
-- COMMIT AND CHAIN begins a transaction of the gateway.
BEGIN;
SELECT wf_set_role('regress_bob');
COMMIT AND CHAIN;
SELECT current_user;
COMMIT;

-- Refused: what SET ROLE would refuse, a superuser, and a way out.
BEGIN;
SAVEPOINT s;
SELECT wf_set_role(NULL);
ROLLBACK TO s;
SELECT wf_set_role('regress_nobody');
ROLLBACK TO s;
SELECT wf_set_role('regress_other');
ROLLBACK TO s;
SELECT wf_set_role('regress_super');
ROLLBACK TO s;
SELECT wf_set_role('regress_alice');
SELECT wf_set_role('regress_bob');
ROLLBACK TO s;
-- A savepoint that is older than the call takes it back, as it does SET LOCAL; one that is younger does not.
SELECT current_user;
SELECT wf_set_role('regress_bob');
SAVEPOINT younger;
SELECT 1 / 0;
ROLLBACK TO younger;
SELECT current_user;
RELEASE s;
SELECT current_user;
SET ROLE NONE;
ROLLBACK;
SELECT current_user;

-- Refused where PostgreSQL would go back to the role before.
\set VERBOSITY terse
SET search_path = pg_temp, public;
CREATE FUNCTION pg_temp.plain(role name) RETURNS name LANGUAGE plpgsql AS 'BEGIN PERFORM public.wf_set_role(role); RETURN current_user; END';
CREATE FUNCTION pg_temp.with_setting(role name) RETURNS name LANGUAGE plpgsql SET work_mem = '4MB' AS 'BEGIN PERFORM public.wf_set_role(role); RETURN current_user; END';
CREATE FUNCTION pg_temp.with_role(role name) RETURNS name LANGUAGE plpgsql SET role = 'none' AS 'BEGIN PERFORM public.wf_set_role(role); RETURN current_user; END';
CREATE FUNCTION pg_temp.definer(role name) RETURNS name LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN PERFORM public.wf_set_role(role); RETURN current_user; END';
CREATE FUNCTION pg_temp.caught(role name) RETURNS name LANGUAGE plpgsql AS 'BEGIN PERFORM public.wf_set_role(role); RETURN 1 / 0; EXCEPTION WHEN division_by_zero THEN RETURN current_user; END';
CREATE FUNCTION pg_temp.kept(role name) RETURNS name LANGUAGE plpgsql AS 'BEGIN PERFORM public.wf_set_role(role); RETURN current_user; EXCEPTION WHEN division_by_zero THEN RETURN current_user; END';
BEGIN;
SAVEPOINT s;
SELECT pg_temp.with_setting('regress_alice');
ROLLBACK TO s;
SELECT pg_temp.with_role('regress_alice');
ROLLBACK TO s;
SELECT pg_temp.definer('regress_alice');
ROLLBACK TO s;
SELECT pg_temp.caught('regress_alice');
SELECT current_user;
SELECT pg_temp.plain('regress_alice');
SELECT current_user;
ROLLBACK TO s;
SELECT current_user;
SELECT pg_temp.kept('regress_bob');
SELECT current_user;
SELECT wf_set_role('regress_alice');
ROLLBACK;
-- Refused in SQL of a workflow: an answer would go on as another role.
\c - postgres
SELECT wf_define('{"definitionId": "becomes", "root": {"type": "Sql", "statement": "SELECT public.wf_set_role(''regress_alice'')"}}') \g /dev/null
BEGIN;
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_run('becomes');
SELECT current_user;
ROLLBACK;
\c - regress_gateway
-- After SET ROLE it holds as well, and the end of the transaction goes back to what SET ROLE said.
SET ROLE regress_bob;
BEGIN;
SET LOCAL ROLE regress_alice;
SELECT public.wf_set_role('regress_bob');
RESET ROLE;
COMMIT;
SELECT current_user;
BEGIN;
SELECT public.wf_set_role('regress_alice');
SELECT current_user;
COMMIT;
SELECT current_user;
RESET ROLE;
RESET search_path;
DISCARD TEMP;

-- A worker of a parallel query has the role, too.
BEGIN;
SELECT wf_set_role('regress_alice');
SELECT set_config(name, 'on', true) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SELECT DISTINCT current_user, session_user FROM pg_proc WHERE oid < 2000;
COMMIT;

\c - postgres
SET client_min_messages = error;
DROP OWNED BY regress_alice, regress_bob;
DROP ROLE regress_gateway, regress_alice, regress_bob, regress_other, regress_super;
