#!/usr/bin/env bash
# Timers never wait for stimuli. However many are stored, and wherever in the cluster a transaction is open, due timers fire, and the
# background workers are otherwise idle. No stimulus is lost when a scheduler exits. Covered: each kind of transaction that keeps others from
# being seen as ended (a snapshot, an xid in another database, a prepared one), a new scheduler, a server after a crash, and a locked instance,
# next to thousands of stimuli. The first timer after a start: stimuli_at_start; stimuli and bookmarks that missed each other: missed_stimuli.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE joe LOGIN;
CREATE ROLE sue LOGIN;
CREATE ROLE nolog;
SELECT wf_grant_usage(r) FROM unnest('{joe,sue,nolog}'::name[]) AS r;
CREATE TABLE public.happened (
    instance uuid NOT NULL, owner text NOT NULL DEFAULT current_user, session text NOT NULL DEFAULT session_user);
GRANT SELECT, INSERT ON public.happened TO PUBLIC;
SELECT wf_define('{"definitionId": "timer", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES (($1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
SQL
query "CREATE DATABASE elsewhere" postgres

# define_as ROLE: an event, then SQL of its owner; everybody may resume it.
define_as() {
    psql -X -q -At -v ON_ERROR_STOP=1 >/dev/null <<SQL
SET SESSION AUTHORIZATION $1;
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "of $1", "root": [{"type": "Event", "eventName": "Go"},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES ((\$1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
RESET SESSION AUTHORIZATION;
SELECT wf_grant('of $1', r, '{resume}') FROM unnest('{joe,sue,nolog,postgres}'::name[]) AS r WHERE r <> '$1';
SQL
}
for role in joe sue nolog; do define_as "$role"; done

# keep NUMBER WORD: stores stimuli that no instance waits for, each in a transaction of its own.
keep() {
    query "DO \$\$ BEGIN FOR i IN 1 .. $1 LOOP
        PERFORM wf_enqueue_bookmark('Event', '{\"EventName\": \"Go\"}', correlation_id => '$2' || i, keep_for => '1 day'); COMMIT; END LOOP; END \$\$"
}

finished="SELECT count(*) FROM workflow.instances WHERE definition_id = 'timer' AND sub_status = 'Finished'"
fired=0

fires() { # NUMBER WHAT
    query "SELECT wf_start('timer', '{\"wait\": \"300 ms\"}') FROM generate_series(1, $1)" >/dev/null
    fired=$((fired + $1))
    await "$fired" "$finished"
    echo "ok: timers fire beside kept stimuli, while $2"
}

# missed_by WORD WHEN BEGIN ROLE...: each role starts an instance, in one transaction, before or after that transaction waits for the gate.
missed_by() {
    local word=$1 when=$2 begin=$3 role statements='' wait="SELECT pg_advisory_xact_lock(1);"
    shift 3
    for role in "$@"; do
        statements+="SET LOCAL ROLE $role; SELECT wf_start('of $role', correlation_id => '$word'); "
    done
    [ "$when" = after ] || statements+=$wait
    [ "$when" = before ] || statements="$wait $statements"
    psql -X -q -At -v ON_ERROR_STOP=1 >/dev/null 2>>"$WORKFLOW_TMP/holding.out" \
        <<<"$begin; SELECT count(*) FROM pg_class; $statements COMMIT;" &
    holder=$!
    await 1 "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
}
# send ROLE WORD: stored, since no waiting instance is visible.
send() {
    query "SET client_min_messages = error; SET ROLE $1;
        SELECT wf_enqueue_bookmark('Event', '{\"EventName\": \"Go\"}', correlation_id => '$2', keep_for => '1 day')" >/dev/null
    await 1 "SELECT count(*) FROM workflow.bookmark_queue WHERE correlation_id = '$2'"
}
happened="SELECT h.owner, h.session, count(*) FROM public.happened h JOIN workflow.instances i ON i.id = h.instance WHERE i.correlation_id ="
gate() { # a session that has the lock until it is told to go
    PGAPPNAME=gate psql -X -q -At -c "SELECT pg_advisory_lock(1)" -c "SELECT pg_sleep(600)" >/dev/null 2>&1 &
    await 1 "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
}
open_gate() {
    query "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'gate'" >/dev/null
    wait "$holder"
}

setting "workflow.launch_workers = on" "workflow.max_executors = 1"
query "SELECT wf_start('timer', '{\"wait\": \"1 year\"}')" >/dev/null
snapshot="BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

holding "$PGDATABASE" "$snapshot" "SELECT count(*) FROM pg_class"
keep 2000 snapshot
fires 5 "a snapshot is open"
eventually rests 40
let_go

holding elsewhere "BEGIN" "SELECT pg_current_xact_id()"
keep 1000 elsewhere
fires 5 "a transaction of another database is open"
eventually rests 40
let_go

query "BEGIN; CREATE TABLE prepared (); PREPARE TRANSACTION 'one'" >/dev/null
keep 1000 prepared
fires 5 "a transaction is prepared"
eventually rests 40
query "ROLLBACK PREPARED 'one'"

# After a crash the new scheduler has to scan all stimuli, and so has the successor of a terminated one.
holding elsewhere "BEGIN" "SELECT pg_current_xact_id()"
query "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE backend_type LIKE 'workflow %'" >/dev/null
fires 5 "the scheduler is new"
kill_server
wait "$holder" || true
start_server
holding elsewhere "BEGIN" "SELECT pg_current_xact_id()"
fires 5 "the server has recovered"
eventually rests 40
let_go
is 4000 "SELECT count(*) FROM workflow.bookmark_queue"

# Stimuli whose instance is locked: they are retried, which costs little, and timers do not wait for them.
setting "workflow.enabled = off"
gate
missed_by busy after "BEGIN ISOLATION LEVEL REPEATABLE READ" joe
query "DO \$\$ BEGIN FOR i IN 1 .. 2000 LOOP
    PERFORM wf_enqueue_bookmark('Event', '{\"EventName\": \"Go\"}', correlation_id => 'busy', keep_for => '1 day'); COMMIT; END LOOP; END \$\$"
open_gate
holding "$PGDATABASE" "BEGIN" "SELECT FROM workflow.instances WHERE correlation_id = 'busy' FOR UPDATE"
setting "workflow.enabled = on"
fires 5 "an instance that many stimuli are for is held"
# Each second a page of 200 stimuli is retried, in three transactions each.
eventually rests 1000
let_go
await Finished "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'busy'"
await 1999 "SELECT count(*) FROM workflow.bookmark_queue WHERE correlation_id = 'busy'"
query "DELETE FROM workflow.bookmark_queue"
is 0 "SELECT count(*) FROM workflow.dead_letters"

# A stimulus that expires while the database is idle becomes a dead letter at that time.
query "SELECT wf_enqueue_bookmark('Event', '{\"EventName\": \"Nobody\"}', keep_for => '1 second')" >/dev/null
await Expired "SELECT reason FROM workflow.dead_letters"
is 0 "SELECT count(*) FROM workflow.bookmark_queue"
query "DELETE FROM workflow.dead_letters"
echo "ok: a stimulus that nothing waits for expires on an idle server"
is 0 "SELECT sum(failed) FROM workflow.workers WHERE worker = 'scheduler'"

# Where another worker finds no slot, a scheduler that has had its turn of five seconds exits. Its successor delivers the stimuli that were
# blocked. PostgreSQL uses one of the four slots for logical replication; launcher, scheduler and joe's executor use the rest.
query "ALTER SYSTEM SET max_worker_processes = 4"
lacks="workflow executor could not be started: all background worker slots are in use"
stop_server
start_server
psql -X -q -At -v ON_ERROR_STOP=1 >/dev/null <<'SQL'
SET SESSION AUTHORIZATION sue;
SELECT wf_define('{"definitionId": "timer of sue", "root": [{"type": "Delay", "timeSpan": {"input": "wait"}},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES (($1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
SQL
setting "workflow.enabled = off"
gate
missed_by left after "BEGIN ISOLATION LEVEL REPEATABLE READ" joe
send joe left
open_gate
holding "$PGDATABASE" "BEGIN" "SELECT FROM workflow.instances WHERE correlation_id = 'left' FOR UPDATE"
since=$(now)
setting "workflow.enabled = on"
delivered_in_vain "$(query "SELECT id FROM workflow.bookmark_queue")" "$since"
scheduler="SELECT pid FROM pg_stat_activity WHERE backend_type = 'workflow scheduler'"
await 1 "SELECT count(*) FROM ($scheduler AND backend_start < clock_timestamp() - interval '6 seconds') AS s"
pid=$(query "$scheduler")
query "SET SESSION AUTHORIZATION sue; SELECT wf_start('timer of sue', '{\"wait\": \"100 ms\"}')" >/dev/null
eventually has_logged 1 "$lacks"
await t "SELECT pid <> $pid FROM ($scheduler) AS s"
let_go
await "Finished|2" "SELECT sub_status, count(*) FROM workflow.instances WHERE correlation_id = 'left' OR definition_id = 'timer of sue' GROUP BY 1"
await 0 "SELECT count(*) FROM workflow.bookmark_queue"
is 1 "SELECT count(*) FROM public.happened h JOIN workflow.instances i ON i.id = h.instance WHERE i.correlation_id = 'left'"
echo "ok: a scheduler that gives up its slot leaves blocked stimuli to its successor"
