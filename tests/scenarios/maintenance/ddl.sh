#!/usr/bin/env bash
# Background workers start and stop as DDL changes the extension and databases: they block no statement, leave nothing behind, and a copy of
# a database does not fire the timers of the original.
# Long: `make test` leaves it to `make test-all`.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

noted="SELECT count(*), count(DISTINCT instance) FROM happened"
finished="SELECT count(*) FROM workflow.instances WHERE sub_status = 'Finished'"
firing="SELECT count(*) FROM workflow.workers WHERE worker = 'executor' AND state = 'firing' AND database = current_database()"

# past_workers COMMAND [DATABASE]: a command that must not wait for the workers, which wait for the gate: that would hang.
past_workers() { query "$1" "${2:-postgres}"; }

# A statement that must wait for autovacuum cancels it, and the log says so.
setting "autovacuum = off"
# Without this nothing would be due in any copy: the databases are not yet bound to a cluster.
time_books
unused workflow
for ((n = 1; n <= 10; n++)); do query "CREATE DATABASE d$n TEMPLATE workflow" postgres; done

all_fire() {
    local n
    for ((n = 1; n <= 10; n++)); do
        start 3 noted "1 second" "d$n"
        start 3 pure "1 second" "d$n"
    done
    for ((n = 1; n <= 10; n++)); do
        await "$(($1 * 6))" "$finished" "d$n"
        await "$(($1 * 3))|$(($1 * 3))" "$noted" "d$n"
    done
}
is 8 "SHOW max_worker_processes"
setting "workflow.launch_workers = on"
all_fire 1
echo "ok: ten databases and eight slots for workers: all fire"
query "ALTER SYSTEM SET max_worker_processes = 32"
stop_server
start_server
all_fire 2
echo "ok: ten databases and 32 slots"
for ((n = 2; n <= 10; n++)); do
    unused "d$n"
    past_workers "DROP DATABASE d$n"
done
echo "ok: DROP DATABASE of nine databases with idle workers"

unused d1
past_workers "ALTER DATABASE d1 RENAME TO renamed"
start 1 noted "100 ms" renamed
await "7|7" "$noted" renamed
start 1 held "100 ms" renamed
await 1 "$firing" renamed
! past_workers "DROP DATABASE renamed" 2>"$WORKFLOW_TMP/refused" || fail "a database with a busy executor was dropped"
grep -q "is being accessed by other users" "$WORKFLOW_TMP/refused" || fail "$(cat "$WORKFLOW_TMP/refused")"
await 1 "$firing" renamed
start 1 noted "100 ms" renamed
await "9|8" "SELECT count(*) + (SELECT count(*) FROM workflow.bookmarks), count(*) FROM happened" renamed
past_workers "DROP DATABASE renamed WITH (FORCE)"
await 0 "SELECT count(*) FROM workflow.workers WHERE database IS NULL AND worker <> 'launcher'"
echo "ok: renamed while idle; busy, it is not dropped, but WITH (FORCE)"

query "CREATE DATABASE fresh" postgres
query "CREATE EXTENSION workflow" fresh
time_books fresh
start 1 noted "100 ms" fresh
await "1|1" "$noted" fresh
past_workers "DROP EXTENSION workflow" fresh
await 0 "SELECT count(*) FROM workflow.workers WHERE database = 'fresh'"
echo "ok: CREATE EXTENSION starts the workers, DROP EXTENSION ends them"

query "DROP TABLE happened, gate; DROP FUNCTION gate(); CREATE EXTENSION workflow; CREATE ROLE mallory LOGIN" fresh
time_books fresh
start 1 held "100 ms" fresh
await 1 "$firing" fresh
pid=$(query "SELECT pid FROM workflow.workers WHERE state = 'firing'" fresh)
for statement in "DROP EXTENSION workflow" "DROP EXTENSION IF EXISTS workflow CASCADE" "DROP DATABASE workflow" "CREATE DATABASE own TEMPLATE fresh"; do
    ! PGUSER=mallory query "$statement" fresh 2>"$WORKFLOW_TMP/refused" || fail "mallory may $statement"
done
await "$pid" "SELECT pid FROM pg_stat_activity WHERE datname = 'fresh' AND wait_event = 'PgSleep'"
echo "ok: who has not the right to drop disturbs nobody"
past_workers "DROP EXTENSION workflow" fresh
await 0 "SELECT count(*) FROM pg_stat_activity WHERE datname = 'fresh'" postgres
echo "ok: DROP EXTENSION ends a busy executor"

# Clients continue as if nothing had happened, and may get errors; workers must not.
query "DROP TABLE happened, gate; DROP FUNCTION gate(); CREATE EXTENSION workflow" fresh
time_books fresh
{
    # The directory is removed if the scenario fails.
    while [ -d "$WORKFLOW_TMP" ] && [ ! -e "$WORKFLOW_TMP/enough" ]; do
        query "SELECT wf_start('noted', '{\"wait\": \"1 ms\"}'), wf_start('pure', '{\"wait\": \"2 ms\"}') FROM generate_series(1, 20)" fresh || true
    done
} >"$WORKFLOW_TMP/load" 2>&1 &
load=$!
for ((round = 1; round <= 8; round++)); do
    sleep "0.$((RANDOM % 4))"
    past_workers "DROP EXTENSION workflow" fresh
    query "DROP TABLE happened, gate; DROP FUNCTION gate(); CREATE EXTENSION workflow" fresh
    time_books fresh
done
touch "$WORKFLOW_TMP/enough"
wait "$load"
query "TRUNCATE happened" fresh
start 5 noted "1 ms" fresh
await 0 "SELECT count(*) FROM workflow.bookmarks" fresh
await t "SELECT count(*) >= 5 AND count(*) = count(DISTINCT instance) FROM happened" fresh
is "" "SELECT * FROM wf_check()"
# Log lines of background workers have neither user nor database.
! grep -E "\] (ERROR|PANIC|WARNING|LOG:  workflow)" "$PGHOST/log" | grep -v "slots are in use" || fail "workers complained"
echo "ok: dropped and created eight times under load, without a word in the log"

# Nothing fires before the copy is made, and the scheduler of the copy stays.
setting "workflow.enabled = off" "workflow.worker_idle_timeout = '1h'"
query "UPDATE gate SET is_open = true; TRUNCATE happened" fresh
start 5 noted "5 seconds" fresh
start 5 pure "5 seconds" fresh
unused fresh
past_workers "CREATE DATABASE copy TEMPLATE fresh"
setting "workflow.enabled = on"
await "5|5" "$noted" fresh
await foreign "SELECT state FROM workflow.workers WHERE worker = 'scheduler' AND database = 'copy'"
eventually has_logged 1 'WARNING:  this database is a copy, and its timers belong to the original'
# Its scheduler checks again when its timers are due. Then a timer of the original fires in an executor that is as new as one of the copy
# would be.
await_due 10 copy
woken scheduler copy
query "SELECT pg_terminate_backend(pid, 600000) FROM workflow.workers WHERE worker = 'executor' AND database = 'fresh'" fresh >/dev/null
start 1 noted "1 ms" fresh
await "6|6" "$noted" fresh
is "0|0" "SELECT count(*), 0 FROM pg_stat_activity WHERE datname = 'copy' AND backend_type = 'workflow executor'"
[ "$(query "$noted" copy)" = "0|0" ] || fail "the copy fires"
[ "$(query "SELECT wf_run_due()" copy 2>/dev/null)" = 0 ] || fail "wf_run_due fires in the copy"
query "SELECT wf_adopt_database()" copy >/dev/null
await "5|5" "$noted" copy
await 0 "SELECT count(*) FROM workflow.bookmarks" copy
await running "SELECT state FROM workflow.workers WHERE worker = 'scheduler' AND database = 'copy'"
[ "$(query "$noted" fresh)" = "6|6" ] || fail "the original fired again"
echo "ok: a copy does not fire and says so, until it is adopted"

# A dump is loaded while background workers check the database: it is complete, and it is a copy.
start 5 noted "1 hour" fresh
query "CREATE DATABASE loaded" postgres
query "CREATE EXTENSION workflow" loaded
await running "SELECT state FROM workflow.workers WHERE worker = 'scheduler' AND database = 'loaded'"
pg_dump -f "$WORKFLOW_TMP/fresh.sql" fresh
psql -X -q -v ON_ERROR_STOP=1 -d loaded -f "$WORKFLOW_TMP/fresh.sql" >"$WORKFLOW_TMP/load.out" 2>&1 || fail "load: $(tail -n 3 "$WORKFLOW_TMP/load.out")"
before=$(query "$noted" loaded)
query "UPDATE workflow.bookmarks SET due_at = now()" loaded
[ "$(query "SELECT wf_run_due()" loaded 2>/dev/null)" = 0 ] || fail "wf_run_due fires in what was loaded"
query "SELECT wf_run('pure', '{\"wait\": \"1 ms\"}')" loaded >/dev/null
await foreign "SELECT state FROM workflow.workers WHERE worker = 'scheduler' AND database = 'loaded'"
[ "$(query "$noted" loaded)" = "$before" ] || fail "what was loaded fires"
[ -z "$(query "SELECT * FROM wf_check()" loaded)" ] || fail "wf_check of what was loaded"
query "DROP DATABASE loaded WITH (FORCE)" postgres
echo "ok: so is a dump that is loaded while workers run"

# As initdb's own scripts and some tools do it: no statement notifies us. The session that starts the timers was there before.
PGDATABASE=copy begin before "SELECT count(wf_start('pure', '{\"wait\": \"1 second\"}')) FROM generate_series(1, 3)"
query "UPDATE pg_database SET datallowconn = false WHERE datname = 'copy'" postgres
refused='not currently accepting connections'
before=$(logged "$refused")
began=$EPOCHSECONDS
query "SELECT pg_terminate_backend(pid, 600000) FROM pg_stat_activity WHERE datname = 'copy' AND backend_type LIKE 'workflow%'" postgres >/dev/null
finish before COMMIT
eventually has_logged $((before + 1)) "$refused"
# A launcher that retried at once would do so many times in a second, before another database's timer fires.
start 1 noted "3 seconds" fresh
await "7|7" "$noted" fresh
! has_logged $((before + 5 + EPOCHSECONDS - began)) "$refused" || fail "workers run against a closed door"
query "UPDATE pg_database SET datallowconn = true WHERE datname = 'copy'" postgres
await 0 "SELECT count(*) FROM workflow.bookmarks" copy
echo "ok: a database that lets nobody in is tried again now and then"
unused copy
past_workers "DROP DATABASE copy"
unused fresh
past_workers "DROP DATABASE fresh"

# Without the library preloaded.
export PGOPTIONS="-c client_min_messages=error"
query "CREATE ROLE joe LOGIN; SELECT wf_grant_usage('joe')" >/dev/null
echo "shared_preload_libraries = ''" >>"$PGDATA/postgresql.conf"
stop_server
start_server
PGUSER=joe query "SELECT wf_define('{\"definitionId\": \"joes\", \"root\": [{\"type\": \"Delay\", \"timeSpan\": \"1 ms\"}, {\"type\": \"Sql\", \"statement\": \"SELECT 1\"}]}'); SELECT wf_start('joes')" >/dev/null
start 2 noted "1 ms"
await_due 3
[ "$(PGUSER=joe query "SELECT wf_run_due()")" = 1 ] || fail "wf_run_due did not fire joe's own row alone"
is "0|0" "$noted"
is 2 "SELECT wf_run_due()"
is 0 "SELECT count(*) FROM wf_metrics() WHERE name ~ '_(definition|task)_.*_total'"
is "2|2" "$noted"
is 0 "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
start 2 noted "1 ms"
is t "SELECT wf_worker_start()"
await "4|4" "$noted"
is f "SELECT wf_worker_start()"
start 2 noted "100 ms"
await "6|6" "$noted"
! PGUSER=joe query "SELECT wf_worker_start()" 2>"$WORKFLOW_TMP/refused" || fail "joe may start workers"
stop_server
start_server
start 2 noted "1 ms"
await_due 2
is "6|6" "$noted"
is 0 "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
is t "SELECT wf_worker_start()"
await "8|8" "$noted"
echo "ok: without preload wf_run_due drives time, and wf_worker_start() starts workers until the next restart"
