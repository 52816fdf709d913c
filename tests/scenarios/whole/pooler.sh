#!/usr/bin/env bash
# One session serves many clients, as behind a pooler: roles, search paths and settings change between calls, sometimes within a
# transaction, with DISCARD ALL in between. Nothing that a backend caches (compiled definitions, plans of expressions, rights) may carry
# over from one client to the next.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE alice;
CREATE ROLE bob;
CREATE ROLE nobody;
SELECT wf_grant_usage(role) FROM unnest(ARRAY['alice', 'bob', 'nobody']) AS role;

-- The same names mean different things to each.
CREATE SCHEMA alice AUTHORIZATION alice;
CREATE SCHEMA bob AUTHORIZATION bob;
CREATE FUNCTION alice.whoami() RETURNS text LANGUAGE sql AS 'SELECT ''alice of '' || current_schema';
CREATE FUNCTION bob.whoami() RETURNS text LANGUAGE sql AS 'SELECT ''bob of '' || current_schema';
CREATE TABLE alice.things AS SELECT 1 AS n;
CREATE TABLE bob.things AS SELECT * FROM generate_series(1, 2) AS n;
ALTER TABLE alice.things OWNER TO alice;
ALTER TABLE bob.things OWNER TO bob;

-- One table, of which each sees its own rows.
CREATE TABLE public.notes (owner name NOT NULL, text text NOT NULL);
ALTER TABLE public.notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON public.notes USING (owner = current_user);
GRANT SELECT, INSERT ON public.notes TO alice, bob;
INSERT INTO public.notes VALUES ('alice', 'a'), ('bob', 'b'), ('bob', 'c');

SELECT wf_define('{"definitionId": "mirror", "variables": {"Who": null, "Things": null, "Notes": null, "User": null}, "root": [
    {"id": "wait", "type": "Event", "eventName": "Go"},
    {"type": "SetVariable", "variable": "Who", "value": {"sql": "whoami()"}},
    {"type": "SetVariable", "variable": "Things", "value": {"sql": "SELECT count(*) FROM things"}},
    {"type": "SetVariable", "variable": "Notes", "value": {"sql": "SELECT count(*) FROM public.notes"}},
    {"type": "SetVariable", "variable": "User", "value": {"sql": "current_user"}}]}');
SELECT wf_grant('mirror', role, ARRAY['start', 'resume', 'read']) FROM unnest(ARRAY['alice', 'bob']) AS role;
SQL

# Everything below is one session. Differences from the expected are printed.
cat >"$WORKFLOW_TMP/session.sql" <<'SQL'
\set ON_ERROR_STOP on
CREATE TABLE public.result (turn integer GENERATED ALWAYS AS IDENTITY, role text, got text);
GRANT INSERT ON public.result TO alice, bob;

-- Starts and resumes as the current role, and notes what the workflow saw.
CREATE FUNCTION public.turn() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    result public.wf_result := public.wf_run('mirror');
BEGIN
    result := public.wf_resume((result.bookmarks #>> '{0,id}')::uuid);
    INSERT INTO public.result (role, got)
    SELECT current_user, result.sub_status || coalesce(' ' || (result.incidents -> 0 ->> 'message'), '') || ' ' ||
        (SELECT concat_ws(', ', i.variables ->> 'Who', i.variables ->> 'Things', i.variables ->> 'Notes', i.variables ->> 'User')
         FROM workflow.instance_list AS i WHERE i.instance_id OPERATOR(pg_catalog.=) result.instance_id);
END $$;

-- Twenty turns each: more than any plan needs to become generic.
DO $$ BEGIN
    FOR n IN 1 .. 20 LOOP
        SET LOCAL ROLE alice;
        SET LOCAL search_path = alice, public;
        PERFORM public.turn();
        SET LOCAL ROLE bob;
        SET LOCAL search_path = bob, public;
        PERFORM public.turn();
    END LOOP;
END $$;

-- Between transactions, with what poolers send.
SET SESSION AUTHORIZATION alice;
SET search_path = alice, public;
SELECT public.turn();
DISCARD ALL;
SET SESSION AUTHORIZATION bob;
SET search_path = bob, public;
SELECT public.turn();
RESET SESSION AUTHORIZATION;
DISCARD ALL;
SET ROLE alice;
SET search_path = alice, public;
SELECT public.turn();
DISCARD PLANS;
SELECT public.turn();
DISCARD ALL;

-- A path on which everything of ours has a namesake of another owner.
CREATE SCHEMA trap;
CREATE TABLE trap.instances (id uuid);
CREATE FUNCTION trap.wf_resume(uuid) RETURNS text LANGUAGE sql AS $$ SELECT 'trapped' $$;
CREATE FUNCTION trap.equals(uuid, uuid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE OPERATOR trap.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = trap.equals);
CREATE FUNCTION trap.jsonb_array_elements(jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
SET search_path = trap, pg_catalog, alice, public;
SELECT public.turn();
SELECT count(*) FROM wf_check() \g /dev/null
SELECT count(*) FROM workflow.journal \g /dev/null
RESET search_path;

-- A prepared statement keeps its text, not the rights of who prepared it.
GRANT USAGE ON SCHEMA public TO nobody;
PREPARE go AS SELECT wf_start('mirror') IS NOT NULL;
EXECUTE go \g /dev/null
SET ROLE nobody;
\set ON_ERROR_STOP off
EXECUTE go;
\set code :SQLSTATE
\set ON_ERROR_STOP on
RESET ROLE;
INSERT INTO public.result (role, got) VALUES ('nobody', :'code');

-- A definition that was rolled back is not what a later one of the same version number means.
BEGIN;
SELECT wf_define('{"definitionId": "draft", "root": [{"type": "SetName", "value": "rolled back"}]}') \g /dev/null
SELECT wf_run('draft') \g /dev/null
ROLLBACK;
SELECT wf_define('{"definitionId": "draft", "root": [{"type": "SetName", "value": "committed"}]}') \g /dev/null
SELECT wf_start('draft') AS id \gset
INSERT INTO public.result (role, got) SELECT 'draft', name FROM workflow.instances WHERE id = :'id';
SQL
PGOPTIONS="-c client_min_messages=error" psql -X -q -v ON_ERROR_STOP=1 -f "$WORKFLOW_TMP/session.sql" >"$WORKFLOW_TMP/session.out" 2>&1 ||
    fail "$(grep -E 'ERROR|DETAIL|CONTEXT' "$WORKFLOW_TMP/session.out")"

is "20" "SELECT count(*) FROM result WHERE role = 'bob' AND turn <= 40 AND got = 'Finished bob of bob, 2, 2, bob'"
is "20" "SELECT count(*) FROM result WHERE role = 'alice' AND turn <= 40 AND got = 'Finished alice of alice, 1, 1, alice'"
echo "ok: two roles in turns, each on its own search path and behind its own policies"
is "alice|Finished alice of alice, 1, 1, alice
bob|Finished bob of bob, 2, 2, bob
alice|Finished alice of alice, 1, 1, alice
alice|Finished alice of alice, 1, 1, alice" "SELECT role, got FROM result WHERE turn BETWEEN 41 AND 44 ORDER BY turn"
echo "ok: DISCARD ALL, DISCARD PLANS and SET SESSION AUTHORIZATION in between"
is "postgres|Finished alice of trap, 1, 3, postgres" "SELECT role, got FROM result WHERE turn = 45"
echo "ok: namesakes on the search path change nothing of ours"
is "42501" "SELECT got FROM result WHERE role = 'nobody'"
echo "ok: a prepared statement has the rights of who executes it"
is "committed" "SELECT got FROM result WHERE role = 'draft'"
echo "ok: a version that was rolled back is forgotten"
is "" "SELECT * FROM wf_check()"
echo "ok: wf_check() is empty"
