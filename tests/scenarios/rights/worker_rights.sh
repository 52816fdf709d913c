#!/usr/bin/env bash
# A task worker role that may log in, claim and answer, and nothing else. The steps after its answers run in sessions of the owner, by the
# background workers: once, even if the server crashes in between. Its grants survive pg_dump, and a dropped role blocks no other.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

ok() { echo "ok: $*"; }

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE ann LOGIN;
CREATE ROLE mute;
CREATE ROLE robot LOGIN;
CREATE TABLE ran (what text, who name DEFAULT current_user, session name DEFAULT session_user, result jsonb);
GRANT INSERT ON ran TO ann, mute;
SELECT wf_grant_usage('ann'), wf_grant_usage('mute'), wf_accept_tasks('ann', 'robot'), wf_accept_tasks('mute', 'robot');
CREATE FUNCTION owned(id text) RETURNS jsonb LANGUAGE sql RETURN format('{"definitionId": "%s", "variables": {"Result": null}, "root": [
    {"id": "work", "type": "RunTask", "taskName": "Work", "result": {"var": "Result"}},
    {"id": "note", "type": "Sql", "statement": "INSERT INTO public.ran (what, result) VALUES (''%1$s'', $1)", "parameters": [{"var": "Result"}]},
    {"id": "again", "type": "Sql", "statement": "SELECT set_config(''role'', ''none'', false)"}]}', id)::jsonb;
SET SESSION AUTHORIZATION ann;
SELECT wf_define(owned('book'));
SELECT wf_grant_worker('robot', '{Work}');
SELECT count(wf_start('book')) FROM generate_series(1, 20);
SET SESSION AUTHORIZATION DEFAULT;
SET ROLE mute;
SELECT wf_define(owned('silent'));
SELECT wf_grant_worker('robot', '{Work}', 'silent');
SQL

as_robot() { PGUSER=robot query "SET client_min_messages = error; $1"; }
answer="SELECT count(r.sub_status) FROM (SELECT task_id, token FROM wf_claim_tasks('{Work}', max => 5)) AS c, wf_complete_task(c.task_id, to_jsonb(c.task_id), token => c.token) AS r"

# Without background workers all work is left.
[ "$(as_robot "$answer")" = 5 ] || fail "five answers"
is "5" "SELECT count(*) FROM workflow.waiting WHERE waits_for = 'Workflow.Answer' AND due <= now()"
is "0" "SELECT count(*) FROM ran"
ok "answers wait for a session of the owner"

# security.md#answers-lend-no-rights: what follows runs once, in a session of the owner
setting "workflow.launch_workers = on"
await "5|1" "SELECT count(*), count(DISTINCT who) FROM ran WHERE who = 'ann' AND session = 'ann'"
[ "$(as_robot "$answer")" = 5 ] || fail "five more"
await "10" "SELECT count(*) FROM workflow.instances WHERE sub_status = 'Finished'"
is "10|10" "SELECT count(*), count(DISTINCT result) FROM ran WHERE who = 'ann' AND session = 'ann'"
ok "it runs there, by the workers"

# The server crashes after the last answers are committed.
setting "workflow.launch_workers = off"
await "workflow launcher" "SELECT backend_type FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
[ "$(as_robot "$answer")" = 5 ] || fail "five before the crash"
kill_server
start_server
is "5" "SELECT count(*) FROM workflow.waiting WHERE waits_for = 'Workflow.Answer'"
setting "workflow.launch_workers = on"
await "15|15" "SELECT count(*), count(DISTINCT result) FROM ran WHERE who = 'ann' AND session = 'ann'"
is "" "SELECT * FROM wf_check()"
ok "a crash between the answer and what follows loses nothing and doubles nothing"

# An owner without LOGIN: the engine's own session serves it, restricted.
query "SET ROLE mute; SELECT wf_start('silent')" >/dev/null
PGUSER=robot query "SELECT 1 FROM wf_claim_tasks(lease => '1 h', max => 6)" >/dev/null
await "t" "SELECT count(*) = 0 FROM workflow.bookmarks WHERE token IS NULL"
read -r task token <<<"$(query "SELECT id, token FROM workflow.bookmarks WHERE instance_id = (SELECT id FROM workflow.instances WHERE definition_id = 'silent')" | tr '|' ' ')"
as_robot "SELECT sub_status FROM wf_complete_task('$task', token => '$token')" >/dev/null
# security.md#settings-of-a-session: its SQL is in no session of a superuser, neither by current_user nor by session_user
await "silent|mute|mute" "SELECT what, who, session FROM ran WHERE what = 'silent'"
ok "an owner that may not log in is served by the engine's own session, with the owner's rights"
is "postgres" "SELECT string_agg(rolname, ' ') FROM pg_roles WHERE rolsuper"

# security.md#roles-for-task-workers: grants survive a dump
pg_dump -f "$WORKFLOW_TMP/dump.sql" "$PGDATABASE"
query "CREATE DATABASE restored" postgres
psql -X -q -v ON_ERROR_STOP=1 -d restored -f "$WORKFLOW_TMP/dump.sql" >"$WORKFLOW_TMP/restore.out" 2>&1 || fail "restore: $(tail -n 5 "$WORKFLOW_TMP/restore.out")"
for database in "$PGDATABASE" restored; do
    [ "$(query "SELECT role, name, definition_id, grantor, in_force FROM workflow.worker_grants ORDER BY 3 NULLS FIRST" "$database")" = "robot|Work||ann|t
robot|Work|silent|mute|t" ] || fail "grants of $database"
    [ "$(query "SELECT count(*) FROM workflow._objects() AS o WHERE o.kind = 'function' AND o.name IN (SELECT workflow._worker_calls()) AND NOT has_function_privilege('robot', o.id, 'EXECUTE')" "$database")" = 0 ] ||
        fail "functions of $database"
done
query "SELECT wf_adopt_database()" restored >/dev/null
[ "$(PGUSER=robot query "SELECT count(*) FROM wf_claim_tasks('{Work}', max => 100)" restored)" = 5 ] || fail "claims in the restored database"
ok "a restored database has the grants and the functions"

# Roles can be dropped as usual, and their grants end.
query "DROP OWNED BY ann" restored
query "DROP OWNED BY ann; DROP ROLE ann"
is "false|true" "SELECT string_agg(in_force::text, '|' ORDER BY definition_id NULLS FIRST) FROM workflow.worker_grants"
query "SELECT wf_start('book')" >/dev/null
[ "$(as_robot "SELECT count(*) FROM wf_claim_tasks(max => 100)")" = 0 ] || fail "a grantor who is gone gives tasks"
query "SELECT wf_grant_worker('robot', NULL, 'book')" >/dev/null
[ "$(as_robot "SELECT count(*) FROM wf_claim_tasks(max => 100)")" = 1 ] || fail "the superuser's grant gives no task"
ok "a grantor who is gone gives nothing"
is "" "SELECT * FROM wf_check()"
