#!/usr/bin/env bash
# Background workers fire whatever is due in sessions of the owners, and nothing else: an idle server runs no transactions. They react to
# reload, termination and shutdown at once, and lose nothing when they or the server are killed.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

finished="SELECT count(*) FROM workflow.instances WHERE sub_status = 'Finished'"
lines="SELECT count(*), count(DISTINCT instance) FROM happened"
firing="SELECT count(*) FROM workflow.workers WHERE worker = 'executor' AND state = 'firing' AND database = current_database()"
scheduler="FROM workflow.workers WHERE worker = 'scheduler' AND database = current_database()"

# Slots for the workers of another database as well, whose timers show that those of this one would have fired.
query "ALTER SYSTEM SET max_worker_processes = 16"
stop_server
start_server

query "CREATE ROLE joe LOGIN"
query "CREATE ROLE nolog"
query "SELECT wf_grant_usage('joe'), wf_grant_usage('nolog')" >/dev/null
# Events of the superuser reach instances of others.
query "SELECT wf_grant_events('joe')" >/dev/null
time_books
setting "workflow.launch_workers = on" "workflow.worker_idle_timeout = '1h'"

# start_as ROLE: an instance of this role's own definition.
start_as() {
    psql -X -q -At -v ON_ERROR_STOP=1 >/dev/null <<SQL
SET SESSION AUTHORIZATION $1;
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "of $1", "root": [
    {"type": "Delay", "timeSpan": "00:00:00.1"},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES ((\$1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
SELECT wf_start('of $1');
SQL
}
start 3 pure "100 ms"
start 3 noted "100 ms"
start_as joe
start_as nolog
await 8 "$finished"
await "joe|joe|1
nolog|nolog|1
postgres|postgres|3" "SELECT owner, session, count(*) FROM happened GROUP BY 1, 2 ORDER BY 1"
echo "ok: what is due fires, in a session of its owner; for an owner that may not log in as well"

await "launcher|
scheduler|" "SELECT DISTINCT worker, role FROM workflow.workers WHERE worker <> 'executor' ORDER BY 1"
await t "SELECT count(role) > 0 FROM workflow.workers WHERE worker = 'executor' AND role IN ('joe', 'postgres')"
await "workflow executor
workflow launcher
workflow scheduler" "SELECT DISTINCT backend_type FROM pg_stat_activity WHERE backend_type LIKE 'workflow%' ORDER BY 1"
await "t|0" "SELECT max(fired) >= 8, sum(failed) FROM workflow.workers WHERE worker = 'scheduler'"
is "t" "SELECT lateness_p50 <= lateness_p99 AND lateness_p99 >= '0' FROM workflow.workers WHERE worker = 'scheduler'"
echo "ok: pg_stat_activity and workflow.workers show them"

# Timers that are due much later make no difference.
start 20 pure "1 year"
before=$(query "SELECT n_tup_ins, n_tup_del FROM pg_stat_user_tables WHERE relid = 'workflow.bookmarks'::regclass")
start 20 pure "100 ms"
await 28 "$finished"
await t "SELECT n_tup_ins >= ${before%|*} + 20 AND n_tup_del >= ${before#*|} + 20 FROM pg_stat_user_tables WHERE relid = 'workflow.bookmarks'::regclass"
echo "ok: autovacuum hears what workers write"

# The count is read from another database. A session's activity is in the statistics once it has ended.
setting "autovacuum = off"
await 0 "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%' OR (datname = 'workflow' AND backend_type NOT LIKE 'workflow%')" postgres
woken scheduler workflow
before=$(transactions workflow)
fires_elsewhere "2 seconds"
[ "$before" = "$(transactions workflow)" ] || fail "an idle server does transactions: $before, $(transactions workflow)"
await "t|0|0|0" "SELECT count(*) >= 3, count(backend_xmin), count(backend_xid), count(xact_start) FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
await "idle|Extension" "SELECT DISTINCT state, wait_event_type FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
setting "autovacuum = on"
echo "ok: an idle server does no transactions, and no worker holds a snapshot"

# The gate is closed: instances that wrote their line before are inside user SQL.
is_inside() { await "$1" "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'firing bookmark %' AND wait_event = 'PgSleep'"; }
setting "workflow.max_executors = 1"
start 4 held "100 ms"
is_inside 1
start 5 pure "100 ms"
await_due 9
woken scheduler workflow
fires_elsewhere "1 ms"
is 1 "$firing"
is 28 "$finished"
is "t" "SELECT oldest_due < now() $scheduler"
echo "ok: one executor, and it is shown with what it is doing"
setting "workflow.max_executors = 4"
is_inside 3
await 33 "$finished"
echo "ok: a reload of max_executors starts more of them"
query "UPDATE gate SET is_open = true"
await 37 "$finished"
await "9|9" "$lines"
is 0 "SELECT count(*) FROM workflow.bookmarks WHERE attempts > 0"

setting "workflow.enabled = off"
start 10 noted "100 ms"
start 10 pure "100 ms"
await_due 20
woken scheduler workflow
is 0 "$firing"
is 37 "$finished"
is 0 "SELECT wf_run_due()"
setting "workflow.enabled = on"
await 57 "$finished"
await "19|19" "$lines"
echo "ok: workflow.enabled stops all firing and starts it again"

setting "workflow.launch_workers = off"
await "workflow launcher" "SELECT backend_type FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
start 10 noted "100 ms"
await_due 10
woken launcher
is "workflow launcher" "SELECT backend_type FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
is 57 "$finished"
turned_on=$(now)
setting "workflow.launch_workers = on"
await 67 "$finished"
is 10 "SELECT count(*) FROM happened WHERE at > '$turned_on'"
echo "ok: workflow.launch_workers ends the workers and starts them again"

query "UPDATE gate SET is_open = false"
start 1 held "100 ms"
is_inside 1
is t "SELECT pg_terminate_backend(pid, 600000) FROM workflow.workers WHERE worker = 'executor' AND state = 'firing'"
await 1 "SELECT count(*) FROM workflow.bookmarks WHERE attempts > 0"
query "UPDATE gate SET is_open = true"
await 68 "$finished"
is "30|30" "$lines"
echo "ok: SIGTERM ends an executor inside user SQL, and the fire is repeated"

query "UPDATE gate SET is_open = false"
start 2 held "100 ms"
start 10 noted "1 second"
start 10 pure "1 second"
is_inside 2
due=$(last_due)
stop_server || fail "a worker prevents the shutdown"
eventually is_past "$due"
start_server
await 88 "$finished"
is_inside 2
query "UPDATE gate SET is_open = true"
await 90 "$finished"
is "42|42" "$lines"
echo "ok: a fast shutdown is not prevented, and the restart fires what became due meanwhile"

# crash PID: kills this worker, and waits until the server has recovered.
crash() {
    local before recovers="all server processes terminated; reinitializing"
    before=$(logged "$recovers")
    kill -9 "$1"
    eventually has_logged $((before + 1)) "$recovers"
    await 1 "SELECT 1"
}
query "UPDATE gate SET is_open = false"
start 2 held "100 ms"
start 30 noted "500 ms"
start 30 pure "500 ms"
is_inside 2
crash "$(query "SELECT min(pid) FROM workflow.workers WHERE worker = 'executor' AND state = 'firing'")"
await 150 "$finished"
query "UPDATE gate SET is_open = true"
await 152 "$finished"
is "74|74" "$lines"
is 0 "SELECT count(*) FROM workflow.dead_letters"
echo "ok: kill -9 of an executor: the server recovers, each fires once"

# The same for a stimulus, each time that it is delivered: no crash loop.
query "UPDATE gate SET is_open = false"
as_joe() { PGOPTIONS="-c client_min_messages=error" PGUSER=joe query "$1" >/dev/null; }
query "GRANT EXECUTE ON FUNCTION public.gate() TO joe"
as_joe "SELECT wf_define('{\"definitionId\": \"poison\", \"root\": [{\"type\": \"Event\", \"eventName\": \"Poison\"}, {\"type\": \"Sql\", \"statement\": \"SELECT public.gate()\"}]}'), wf_start('poison')"
query "SELECT wf_publish_event('Poison')" >/dev/null
for _ in 1 2 3; do
    # The attempt is counted before that.
    await 1 "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'delivering stimulus %' AND wait_event = 'PgSleep'"
    crash "$(query "SELECT pid FROM workflow.workers WHERE worker = 'executor' AND state = 'firing'")"
done
await "Failed|4|the server or a worker crashed each time it was fired" "SELECT reason, attempts, last_error FROM workflow.dead_letters"
is Suspended "SELECT sub_status FROM workflow.instances WHERE definition_id = 'poison'"
query "SELECT wf_cancel(id) FROM workflow.instances WHERE definition_id = 'poison'" >/dev/null
query "UPDATE gate SET is_open = true"
echo "ok: a stimulus that crashes the server each time is a dead letter"

crash "$(query "SELECT pid FROM workflow.workers WHERE worker = 'launcher'")"
start 1 noted "100 ms"
await 153 "$finished"
for kind in launcher scheduler; do
    await t "SELECT pg_terminate_backend(pid, 10000) FROM workflow.workers WHERE worker = '$kind' AND pid IS NOT NULL"
done
start 1 noted "100 ms"
await 154 "$finished"
echo "ok: without launcher or scheduler the next one goes on"
# No worker checks an idle database, until a stimulus is left for one.
setting "workflow.worker_idle_timeout = '1s'"
as_joe "SELECT wf_define('{\"definitionId\": \"patient\", \"root\": [{\"type\": \"Event\", \"eventName\": \"Patience\"}, {\"type\": \"Sql\", \"statement\": \"SELECT 1\"}]}'), wf_start('patient')"
await asleep "SELECT state FROM workflow.workers WHERE worker = 'scheduler' AND database = 'workflow'"
query "SELECT wf_publish_event('Patience')" >/dev/null
await Finished "SELECT sub_status FROM workflow.instances WHERE definition_id = 'patient'"
query "SELECT wf_delete_instance(id) FROM workflow.instances WHERE definition_id = 'patient'" >/dev/null
setting "workflow.worker_idle_timeout = '1h'"
echo "ok: a stimulus that is left wakes a database that sleeps"

# A client locks the instances while they are due. A new executor counts an attempt before it makes it, and takes the count back when
# another session holds the lock that it needs.
query "SELECT count(pg_terminate_backend(pid, 10000)) FROM workflow.workers WHERE worker = 'executor'" >/dev/null
await 0 "SELECT count(*) FROM workflow.workers WHERE worker = 'executor'"
# One executor for each of the four fires, which are all of one owner.
setting "workflow.enabled = off" "workflow.max_executors = 5"
start 2 noted "100 ms"
start 2 pure "100 ms"
due="due_at < now() + '1 minute'"
query "CREATE TABLE untouched AS SELECT id, xmin::text AS version FROM workflow.bookmarks WHERE $due"
is 4 "SELECT count(*) FROM untouched"
PGAPPNAME=holder psql -X -q -c "BEGIN; SELECT FROM workflow.instances WHERE sub_status = 'Suspended' FOR NO KEY UPDATE; SELECT pg_sleep(600)" >/dev/null 2>&1 &
holder=$!
await 1 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'"
setting "workflow.enabled = on"
# An executor is new only in its first batch, and how many of them run one before another has had its own is random.
await t "SELECT count(*) > 0 AND count(attempts) = 0 FROM workflow.bookmarks b JOIN untouched u USING (id) WHERE b.xmin::text <> u.version"
is 154 "$finished"
query "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'holder'" >/dev/null
wait "$holder" || true
await 158 "$finished"
setting "workflow.max_executors = 4"
await "78|78" "$lines"
is 0 "SELECT count(*) FROM workflow.dead_letters WHERE reason = 'Failed' AND instance_id NOT IN (SELECT id FROM workflow.instances WHERE definition_id = 'poison')"
echo "ok: what another session holds is passed over, and that is no attempt"

# No slot for another background worker: its work is put back, and fires when one of the others has exited. PostgreSQL uses one slot for
# logical replication; launcher, scheduler and one executor use the rest.
query "UPDATE gate SET is_open = false"
query "ALTER SYSTEM SET max_worker_processes = 4"
lacks="workflow executor could not be started: all background worker slots are in use"
before=$(logged "$lacks")
stop_server
start_server
start 1 held "100 ms"
is_inside 1
start 5 pure "100 ms"
as_joe "SELECT wf_start('of joe'), wf_start('of joe')"
await_due 8
eventually has_logged $((before + 1)) "$lacks"
woken scheduler workflow
is 158 "$finished"
await t "SELECT oldest_due < now() $scheduler"
query "UPDATE gate SET is_open = true"
await 166 "$finished"
await "81|81" "$lines"
is 0 "SELECT count(*) FROM workflow.bookmarks WHERE attempts > 0"
echo "ok: without a slot for an executor its fires wait for one, and none is lost or counted"
is 20 "SELECT count(*) FROM workflow.bookmarks WHERE due_at > now() + '1 month'"
