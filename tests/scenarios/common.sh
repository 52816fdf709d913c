# Sourced by scenarios in bash (not executable, so not run as one). They find a server of their own, running, through
# PGHOST, PGPORT, PGUSER and PGDATABASE (`workflow`, with the extension), its data in PGDATA, its programs on the PATH
# (PGBIN), a directory for themselves in WORKFLOW_TMP, and in WORKFLOW_TEST_SECONDS how long random tests may take.
# shellcheck shell=bash
set -euo pipefail

# The runner's watchdog ends a scenario that hangs, after WORKFLOW_TEST_WATCHDOG seconds (scripts/lib/cluster.sh). So nothing here has a
# timeout of its own, and waiting for a condition may take arbitrarily long.
awaited=
trap 'echo "FAILED: stopped by the watchdog${awaited:+; it waited for $awaited}"; exit 124' TERM

fail() {
    echo "FAILED: $*"
    exit 1
}

# query COMMAND [DATABASE]: values only, fields separated by "|".
query() { psql -X -q -At -v ON_ERROR_STOP=1 -d "${2:-$PGDATABASE}" -c "$1"; }

# is EXPECTED COMMAND: fails unless the command returns these values.
is() {
    local got
    got=$(query "$2")
    [ "$got" = "$1" ] || fail "expected '$1', got '$got' from: $2"
}

# check_storage [DATABASE]: checks with amcheck that heap and indexes agree. The test runner does this for the scenario's own server; a
# scenario that makes another server calls it.
check_storage() {
    local problems
    problems=$(psql -X -q -At -v ON_ERROR_STOP=1 -d "${1:-$PGDATABASE}" -f "$(dirname "${BASH_SOURCE[0]}")/../storage.sql" 2>&1) ||
        fail "tests/storage.sql: $problems"
    [ -z "$problems" ] || fail "tests/storage.sql: $problems"
}

# Kills the server as a power loss would, except that the operating system still writes its cached pages.
kill_server() {
    local pid
    pid=$(head -n 1 "$PGDATA/postmaster.pid")
    kill -9 "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

stop_server() { pg_ctl -D "$PGDATA" -s -w -m "${1:-fast}" stop; }

# Waits until the children of a killed server are gone as well: while one lives, the new server refuses to start.
start_server() {
    awaited="the server to start"
    until pg_ctl -D "$PGDATA" -l "$PGHOST/log" -s -w start 2>>"$WORKFLOW_TMP/start.log"; do sleep 0.1; done
    awaited=
}

# await EXPECTED COMMAND [DATABASE]: waits until the command returns these values.
await() {
    local got
    while true; do
        got=$(query "$2" "${3:-}" 2>&1) || true
        [ "$got" != "$1" ] || break
        awaited="'$1', and got '$got' from: $2"
        sleep 0.1
    done
    awaited=
}

# eventually COMMAND...: waits until a shell command succeeds.
eventually() {
    until "$@"; do
        awaited="$*"
        sleep 0.1
    done
    awaited=
}

# logged TEXT: the number of lines with this text in the server's log.
logged() { grep -cF "$1" "$PGHOST/log" || true; }
# has_logged NUMBER TEXT: there are at least so many.
has_logged() { [ "$(logged "$2")" -ge "$1" ]; }

# now: the server's time.
now() { query "SELECT clock_timestamp()"; }

# await_due NUMBER [DATABASE]: waits until this number of timers is due, none of which has fired.
await_due() { await "$1" "SELECT count(*) FROM workflow.bookmarks WHERE due_at < clock_timestamp()" "${2:-}"; }

# last_due: when the last timer of the coming hour is due, in whole seconds since 1970.
# is_past SECOND: without asking a server.
last_due() { query "SELECT ceil(extract(epoch FROM max(due_at)))::bigint FROM workflow.bookmarks WHERE due_at < now() + '1 hour'"; }
is_past() { [ "$EPOCHSECONDS" -ge "$1" ]; }

# setting "NAME = VALUE"...: for the whole server, and reload.
setting() {
    local one
    for one in "$@"; do query "ALTER SYSTEM SET $one" postgres; done
    query "SELECT pg_reload_conf()" postgres >/dev/null
}

# Workflows that wait for a time, and a table of their effects. It has no unique constraint, so that a duplicate fire is visible.
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

# start NUMBER DEFINITION SPAN [DATABASE]: starts instances that wait this long.
start() {
    query "SELECT count(wf_start('$2', '{\"wait\": \"$3\"}')) FROM generate_series(1, $1)" "${4:-}" >/dev/null
}

# transactions [DATABASE]: how many transactions the database has done. What a worker or an ended session did is included.
transactions() { query "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '${1:-$PGDATABASE}'" postgres; }
# rests RATE: the database does fewer transactions than this in a second, while no session is connected to it. `eventually rests` never ends
# if the workers poll without a pause.
rests() {
    local before
    before=$(transactions)
    sleep 1
    [ $(($(transactions) - before)) -lt "$1" ]
}

# unused DATABASE: waits until no client is connected to it, as those that have just left may still be. Statements such as DROP DATABASE and
# CREATE DATABASE ... TEMPLATE wait for them for 5 seconds only.
unused() { await 0 "SELECT count(*) FROM pg_stat_activity WHERE datname = '$1' AND backend_type = 'client backend'" postgres; }

# holding DATABASE STATEMENT...: runs the statements in a transaction that stays open; sets `holder`. Waits for its process.
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

# own_files: restarts the server on private copies of its files, so that a scenario can install releases. Sets `files`, their extension
# directory.
own_files() {
    local copy=$WORKFLOW_TMP/prefix
    cp -a "${PGBIN%/lib/postgresql/*}" "$copy"
    stop_server
    PGBIN=$copy${PGBIN#"${PGBIN%/lib/postgresql/*}"}
    export PATH=$PGBIN:$PATH
    files=$(pg_config --sharedir)/extension
}

# objects DATABASE: what pg_upgrade would carry over: every object of the extension with its current and initial rights, without OIDs,
# transaction ids and order.
objects() {
    pg_dump --schema-only --binary-upgrade -d "$1" | grep -v -e '^--' -e '^$' -e 'binary_upgrade_set_next' -e '^\\' -e 'SET relfrozenxid' -e 'catalog.setval' |
        sed -E -e "s/'$1'/'this'/g" -e 's/[0-9]{5,}/N/g' | sort
}

# begin NAME STATEMENT: a session that has run this in a transaction, or waits for a lock there. The transaction stays open without a
# snapshot until `finish NAME COMMIT` or `finish NAME ROLLBACK`.
declare -A sessions pipes
begin() {
    local pipe
    mkfifo "$WORKFLOW_TMP/$1"
    PGAPPNAME=$1 psql -X -q -At -v ON_ERROR_STOP=1 -f "$WORKFLOW_TMP/$1" >>"$WORKFLOW_TMP/$1.out" 2>&1 &
    sessions[$1]=$!
    # Opened for reading as well, so that opening does not wait for psql.
    exec {pipe}<>"$WORKFLOW_TMP/$1"
    pipes[$1]=$pipe
    # Both in one message, so that the session is not idle in between.
    printf 'BEGIN\\; %s;\n' "$2" >&"$pipe"
    await t "SELECT state = 'idle in transaction' OR wait_event_type = 'Lock' FROM pg_stat_activity WHERE application_name = '$1'"
}
finish() {
    local pipe=${pipes[$1]}
    printf '%s;\n\\q\n' "$2" >&"$pipe"
    wait "${sessions[$1]}" || fail "$1: $(cat "$WORKFLOW_TMP/$1.out")"
    exec {pipe}>&-
    rm "$WORKFLOW_TMP/$1"
}

# woken KIND [DATABASE]: wakes this background worker by a reload, and waits until it has started all pending work and sleeps again. If it
# exits meanwhile, as a scheduler does whose slot others want, this begins again with its successor.
woken() {
    local asleep pid before
    asleep="SELECT pid FROM pg_stat_activity
        WHERE backend_type = 'workflow $1' AND coalesce(datname, '') = '${2:-}' AND wait_event = 'Extension'"
    while true; do
        await 1 "SELECT count(*) FROM ($asleep) AS s" postgres
        pid=$(query "$asleep" postgres)
        before=$(slept "$pid")
        [ -n "$before" ] || continue
        query "SELECT pg_reload_conf()" postgres >/dev/null
        eventually has_slept "$pid" "$before"
        await t "SELECT count(*) = 0 OR bool_or(wait_event = 'Extension') FROM pg_stat_activity WHERE pid = $pid" postgres
        [ ! -d "/proc/$pid" ] || break
    done
}
# slept PID: how often this process has waited for something; nothing if there is no such process.
slept() { awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$1/status" 2>/dev/null || true; }
# has_slept PID NUMBER: it has waited more often than that, or has exited.
has_slept() {
    local times
    times=$(slept "$1")
    [ -z "$times" ] || [ "$times" -gt "$2" ]
}

# delivered_in_vain ITEM TIME [UNLESS]: since then an executor has tried to deliver this stimulus, which is still queued, or the condition
# UNLESS is true. An executor shows only its last work, so the stimulus must be tried again and again until this returns, as one is that
# another session has locked. Without an instance that waits for it, it is not, and UNLESS has to end the wait. Fails if it is gone.
delivered_in_vain() {
    await t "SELECT ${3:-false} OR NOT EXISTS (SELECT FROM workflow.bookmark_queue WHERE id = '$1')
        OR EXISTS (SELECT FROM pg_stat_activity
            WHERE backend_type = 'workflow executor' AND state = 'idle' AND state_change > '$2' AND query = 'delivering stimulus $1')"
    is 1 "SELECT count(*) FROM workflow.bookmark_queue WHERE id = '$1'"
}

# fires_elsewhere SPAN: waits until a timer of another database has fired, by background workers that had to be started. By then the workers
# of this database have finished whatever they began before.
fires_elsewhere() {
    query "CREATE DATABASE elsewhere" postgres
    query "CREATE EXTENSION workflow" elsewhere
    time_books elsewhere
    start 1 noted "$1" elsewhere
    await "1|1" "SELECT count(*), count(DISTINCT instance) FROM happened" elsewhere
    unused elsewhere
    query "DROP DATABASE elsewhere" postgres
}
