#!/usr/bin/env bash
# ALTER EXTENSION workflow UPDATE, from the current build to a simulated next release: with one more table, column, function and argument,
# and a library for the next schema number. The update waits for open transactions. A library that does not match the schema fails with
# instructions. The result equals a fresh install, rights included, and waiting instances continue.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

noted="SELECT count(*), count(DISTINCT instance) FROM happened"

# refused MESSAGE HINT COMMAND [DATABASE]
refused() {
    local got
    got=$(psql -X -q -At -v VERBOSITY=verbose -d "${4:-$PGDATABASE}" -c "$3" 2>&1) && fail "not refused: $3"
    [[ "$got" == *"ERROR:  55000: $1"* && "$got" == *"HINT:  $2"* ]] || fail "$3 said: $got"
}

own_files
library=$(pg_config --pkglibdir)/workflow.so
old=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$files/workflow.control")
new=$old.1

# The next release: scripts first, then the library by a rename, as packages do it.
release() {
    local added=$WORKFLOW_TMP/added.sql fresh=$files/workflow--$new.sql update=$files/workflow--$old--$new.sql
    grep -qaP 'schema_2\x00' "$library" || fail "the number of the schema is not to be found in the library"
    cat >"$added" <<'SQL'
CREATE TABLE workflow.added (id integer CONSTRAINT added_pkey PRIMARY KEY);
COMMENT ON TABLE workflow.added IS 'a table of the next release';
CREATE FUNCTION wf_added() RETURNS integer LANGUAGE sql AS 'SELECT 1';
COMMENT ON FUNCTION wf_added() IS 'a function of the next release';
SQL
    sed -e 's/\bschema_2\b/schema_3/g' \
        -e "s/ARRAY\['_adopt_database'/ARRAY['wf_added', '_adopt_database'/" \
        -e 's/^    CONSTRAINT identity_pkey/    added text,\n&/' \
        -e 's/^CREATE FUNCTION wf_diagram(definition_id text, version integer DEFAULT NULL/&, added boolean DEFAULT false/' \
        -e 's/^COMMENT ON FUNCTION wf_diagram(text, integer/&, boolean/' \
        -e "/^CALL workflow._set_rights();/{
            e cat '$added'
        }" "$files/workflow--$old.sql" >"$fresh"
    {
        echo "ALTER TABLE workflow.schema_2 RENAME TO schema_3;"
        cat "$added"
        echo "ALTER TABLE workflow.identity ADD COLUMN added text;"
        echo "DROP FUNCTION wf_diagram(text, integer);"
        sed -n '/^CREATE FUNCTION wf_diagram/,/^COMMENT/p' "$fresh"
        sed -n '/^CREATE FUNCTION workflow._intended_grants/,/^\$\$;/p' "$fresh" | sed '1s/CREATE/CREATE OR REPLACE/'
        echo "CALL workflow._set_rights();"
    } >"$update"
    for change in schema_3 "'wf_added', " "added text" "added boolean" "integer, boolean" "TABLE workflow.added"; do
        grep -qF "$change" "$fresh" || fail "the script of the next release lacks: $change"
    done
    sed -i "s/^default_version = .*/default_version = '$new'/" "$files/workflow.control"
    sed 's/schema_2\x00/schema_3\x00/g' "$library" >"$library.new"
    mv -f "$library.new" "$library"
}

# A server that does not preload the library: each session uses the library that existed when it began.
query "DROP DATABASE IF EXISTS workflow_template" postgres 2>/dev/null || true
echo "shared_preload_libraries = ''" >>"$PGDATA/postgresql.conf"
start_server
query "CREATE DATABASE late" postgres
query "CREATE EXTENSION workflow" late
query "CREATE ROLE clerk" >/dev/null
query "CREATE ROLE beginner" >/dev/null
query "SELECT wf_grant_usage('clerk')" >/dev/null
query "GRANT EXECUTE ON FUNCTION wf_start, wf_resume TO beginner" >/dev/null
is "2|2" "SELECT library_schema, database_schema FROM wf_version()"
time_books
time_books late
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE FUNCTION stamp(context jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT CASE WHEN context ? 'stimulus' THEN '{}'::jsonb ELSE '{"bookmarks": [{"name": "stamp", "payload": {"office": 1}, "callback": "stamped"}]}' END $$;
CREATE FUNCTION stamped(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Stamp', 'stamp(jsonb)');
SELECT wf_define('{"definitionId": "task", "root": [{"type": "RunTask", "taskName": "Sign"}]}'), wf_start('task');
SELECT wf_define('{"definitionId": "event", "root": [{"type": "Event", "eventName": "Go"}]}'), wf_start('event');
SELECT wf_define('{"definitionId": "ring", "root": [{"type": "Event", "eventName": "Ring", "canStartWorkflow": true}]}');
SELECT wf_define('{"definitionId": "stamp", "root": [{"type": "Stamp"}]}'), wf_start('stamp');
SELECT wf_define('{"definitionId": "site", "root": [{"type": "HttpEndpoint", "path": "greet"}]}'), wf_start('site');
SELECT wf_define('{"definitionId": "parent", "root": [{"type": "DispatchWorkflow", "workflowDefinitionId": "noted", "input": {"wait": "1 second"}, "waitForCompletion": true}]}'),
    wf_start('parent');
SELECT wf_define('{"definitionId": "behind", "root": [{"type": "Sql", "runAsynchronously": true, "statement": "SELECT 1"}]}'), wf_start('behind');
SELECT wf_define('{"definitionId": "timer", "root": [{"type": "Timer", "interval": "1 second"}]}'), wf_start('timer');
SELECT wf_define('{"definitionId": "cron", "root": [{"type": "Cron", "cronExpression": "* * * * * *"}]}'), wf_start('cron');
SELECT wf_define('{"definitionId": "at", "root": [{"type": "StartAt", "dateTime": {"sql": "now() + interval ''1 second''"}}]}'), wf_start('at');
SELECT wf_define('{"definitionId": "machine", "root": {"type": "StateMachine", "states": ["Open", "Closed"], "transitions": [
    {"from": "Open", "to": "Closed", "trigger": {"type": "Event", "eventName": "Close"}}]}}'),
    wf_start('machine');
SELECT wf_schedule('hourly', 'every 1 hour', 'SELECT 1');
SELECT wf_enqueue_bookmark(activity_id => 'Event1', correlation_id => 'to-come', keep_for => '30 days');
SQL
start 3 noted "1 second"
start 2 pure "1 year"
start 3 noted "1 second" late
query "SELECT wf_run_due()" >/dev/null
bookmarks=$(query "SELECT count(*) FROM workflow.bookmarks")
echo "ok: instances wait"

# Sessions with the old library: one between two calls, one in the middle of a transaction.
exec {session}> >(exec psql -X -v VERBOSITY=verbose >"$WORKFLOW_TMP/session.out" 2>&1)
echo "SELECT wf_version();" >&"$session"
await 1 "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'SELECT wf_version%'"
holding workflow "BEGIN" "SELECT wf_start('task')"
release
refused 'extension "workflow" of this database is older than its library' "Run ALTER EXTENSION workflow UPDATE." "SELECT wf_start('task')"
is "3|2" "SELECT library_schema, database_schema FROM wf_version()"
is 4 "SELECT count(*) FROM workflow.instances WHERE definition_id = 'noted'"
is 1 "SELECT count(*) FROM workflow.health"
query "ALTER EXTENSION workflow UPDATE" &
update=$!
await 1 "SELECT count(*) FROM pg_locks WHERE relation = 'workflow.schema_2'::regclass AND NOT granted"
let_go
wait "$update" || fail "ALTER EXTENSION failed"
echo "ok: a library that is newer refuses, and the update waits for open transactions"

echo "SELECT wf_start('task');" >&"$session"
await 1 "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'SELECT wf_start%'"
echo '\q' >&"$session"
exec {session}>&-
await_text() { eventually grep -qF "$1" "$2"; }
await_text 'ERROR:  55000: the library of extension "workflow" in this session is older than the extension' "$WORKFLOW_TMP/session.out"
await_text 'HINT:  Reconnect.' "$WORKFLOW_TMP/session.out"
is "3|3" "SELECT library_schema, database_schema FROM wf_version()"
is "$bookmarks" "SELECT count(*) FROM workflow.bookmarks"
is "" "SELECT * FROM wf_check()"
is 1 "SET ROLE clerk; SELECT wf_added()"
is "f|f" "SELECT has_function_privilege('beginner', 'wf_added()', 'EXECUTE'), has_function_privilege('beginner', 'wf_diagram(text, integer, boolean)', 'EXECUTE')"
is 0 "SELECT count(*) FROM workflow.pending_usage"
echo "ok: a library that is older refuses in a session that stayed open; a new session goes on"

query "CREATE DATABASE fresh" postgres
query "CREATE EXTENSION workflow" fresh
query "SELECT wf_grant_usage('clerk')" fresh >/dev/null
query "GRANT EXECUTE ON FUNCTION wf_start, wf_resume TO beginner" fresh >/dev/null
unused workflow
query "CREATE DATABASE updated TEMPLATE workflow" postgres
psql -X -q -d updated >"$WORKFLOW_TMP/drop.out" 2>&1 <<'SQL'
DROP TABLE public.happened, public.gate; DROP FUNCTION public.gate(), stamp(jsonb), stamped(jsonb);
SQL
objects fresh >"$WORKFLOW_TMP/fresh"
[ "$(wc -l <"$WORKFLOW_TMP/fresh")" -gt 1000 ] || fail "pg_dump shows no objects"
objects updated | diff "$WORKFLOW_TMP/fresh" - || fail "what was updated differs from what is new"
echo "ok: the schema is as if it were new, rights included"

# With the library preloaded: the server has the new one, and one database still has the old schema.
stop_server
echo "shared_preload_libraries = 'workflow'" >>"$PGDATA/postgresql.conf"
echo "workflow.launch_workers = on" >>"$PGDATA/postgresql.conf"
start_server
await "4|4" "$noted"
is 1 "SELECT cardinality(resumed) FROM wf_publish_event('Go')"
is 1 "SELECT cardinality(resumed) FROM wf_publish_event('Close')"
is 1 "SELECT cardinality(started) FROM wf_publish_event('Ring')"
is Finished "SELECT r.sub_status FROM workflow.tasks AS t, wf_complete_task(t.id) AS r WHERE t.status = 'Open'"
is Finished "SELECT (wf_resume(id)).sub_status FROM workflow.bookmarks WHERE name = 'stamp'"
is 200 "SELECT status FROM wf_http_request('GET', '/greet')"
await "Finished|15
Suspended|2" "SELECT sub_status, count(*) FROM workflow.instances GROUP BY 1 ORDER BY 1"
echo "ok: what waited goes on"

eventually has_logged 1 'workflow fires nothing in this database: extension "workflow" of this database is older than its library'
[ "$(query "$noted" late)" = "0|0" ] || fail "it fired where the library does not fit"
query "ALTER EXTENSION workflow UPDATE" late
await "3|3" "$noted" late
query "SELECT * FROM wf_check()" late | diff - /dev/null || fail "wf_check"
echo "ok: workers of a newer library wait for the update, too"

# Versions before 0.2.0 have no schema number.
query "CREATE DATABASE ancient" postgres
query "CREATE EXTENSION workflow" ancient
query "ALTER EXTENSION workflow DROP TABLE workflow.schema_3; DROP TABLE workflow.schema_3" ancient
refused 'extension "workflow" of this database is of a version before 0.2.0' "Export the definitions" "SELECT wf_start('task')" ancient
echo "ok: there is no way from a version before 0.2.0"
