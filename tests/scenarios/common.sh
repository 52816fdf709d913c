# Sourced by scenarios in bash (not executable, so not run as one). They find a server of their own, running, through
# PGHOST, PGPORT, PGUSER and PGDATABASE (`workflow`, with the extension), its data in PGDATA, its programs on the PATH
# (PGBIN), a directory for themselves in WORKFLOW_TMP, and in WORKFLOW_TEST_SECONDS how long random tests may take.
# shellcheck shell=bash
set -euo pipefail

fail() {
    echo "FAILED: $*"
    exit 1
}

# query COMMAND [DATABASE]: values only, fields separated by "|".
query() { psql -X -q -At -v ON_ERROR_STOP=1 -d "${2:-$PGDATABASE}" -c "$1"; }

# is EXPECTED COMMAND: the command's values are these.
is() {
    local got
    got=$(query "$2")
    [ "$got" = "$1" ] || fail "expected '$1', got '$got' from: $2"
}

# check_storage [DATABASE]: heap and indexes of the server that is in use agree. The test runner looks at the scenario's own
# server; one that a scenario made itself, it looks at.
check_storage() {
    local problems
    problems=$(psql -X -q -At -v ON_ERROR_STOP=1 -d "${1:-$PGDATABASE}" -f "$(dirname "${BASH_SOURCE[0]}")/../storage.sql" 2>&1) ||
        fail "tests/storage.sql: $problems"
    [ -z "$problems" ] || fail "tests/storage.sql: $problems"
}

# As when the machine loses power, but for what the disk had not yet got.
kill_server() {
    local pid
    pid=$(head -n 1 "$PGDATA/postmaster.pid")
    kill -9 "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

stop_server() { pg_ctl -D "$PGDATA" -s -w -m "${1:-fast}" stop; }

# Waits for the children of a killed server as well: while one lives, the new server refuses to start.
start_server() {
    for _ in {1..100}; do
        pg_ctl -D "$PGDATA" -l "$PGHOST/log" -s -w -t 60 start 2>>"$WORKFLOW_TMP/start.log" && return
        sleep 0.1
    done
    fail "the server does not start: $(tail -n 3 "$PGHOST/log")"
}

# await EXPECTED COMMAND [DATABASE]: the command's values are these, sooner or later.
await() {
    local got end=$((SECONDS + 60))
    while [ "$SECONDS" -lt "$end" ]; do
        got=$(query "$2" "${3:-}" 2>&1) || true
        [ "$got" != "$1" ] || return 0
        sleep 0.1
    done
    fail "waited for '$1', got '$got' from: $2"
}

# setting "NAME = VALUE"...: for the whole server, from now on.
setting() {
    local one
    for one in "$@"; do query "ALTER SYSTEM SET $one" postgres; done
    query "SELECT pg_reload_conf()" postgres >/dev/null
}

# What workflows that wait for time do, and what they leave behind. Nothing is unique: what happens twice is to be seen.
#   pure    waits, then runs no SQL of users        noted   waits, then writes a line
#   held    waits, then writes a line, then goes through a gate, as long as that is closed
# How long they wait is an input: wf_start('noted', '{"wait": "1 second"}').
time_books() { # [DATABASE]
    psql -X -q -v ON_ERROR_STOP=1 -d "${1:-$PGDATABASE}" >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE TABLE public.happened (
    instance uuid NOT NULL, owner text NOT NULL DEFAULT current_user, session text NOT NULL DEFAULT session_user,
    pid integer NOT NULL DEFAULT pg_backend_pid(), at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE public.gate (is_open boolean NOT NULL);
INSERT INTO public.gate VALUES (false);
GRANT SELECT, INSERT ON public.happened TO PUBLIC;
GRANT SELECT ON public.gate TO PUBLIC;
CREATE FUNCTION public.gate() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE NOT (SELECT is_open FROM public.gate) LOOP PERFORM pg_sleep(0.02); END LOOP;
END $$;
SELECT wf_define('{"definitionId": "pure", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}},
    {"type": "SetName", "value": "fired"}]}');
SELECT wf_define('{"definitionId": "noted", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES (($1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
SELECT wf_define('{"definitionId": "held", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES (($1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]},
    {"type": "Sql", "statement": "SELECT public.gate()"}]}');
SQL
}

# start NUMBER DEFINITION SPAN [DATABASE]: instances that wait so long.
start() {
    query "SELECT count(wf_start('$2', '{\"wait\": \"$3\"}')) FROM generate_series(1, $1)" "${4:-}" >/dev/null
}

# holding DATABASE STATEMENT...: a transaction that has run these and stays open; sets `holder`. Its process is awaited.
holding() {
    local database=$1 command arguments=()
    shift
    for command in "$@"; do arguments+=(-c "$command"); done
    PGAPPNAME=holder psql -X -q -At -d "$database" "${arguments[@]}" -c "SELECT pg_sleep(600)" >/dev/null 2>&1 &
    holder=$!
    await 1 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'" postgres
}
let_go() {
    query "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'holder'" postgres >/dev/null
    wait "$holder" || true
}
