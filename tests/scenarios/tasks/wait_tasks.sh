#!/usr/bin/env bash
# Sessions that sleep in wf_wait_tasks, and what wakes them: as many as there is work for, without polling, and none without work. The task
# name identifies the case, so that no case sees leftovers of an earlier one.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE plain LOGIN;
SELECT wf_grant_usage('plain');
CREATE PROCEDURE put(name text, number integer DEFAULT 1, attempts integer DEFAULT 3) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', name, 'root',
        jsonb_build_object('type', 'RunTask', 'taskName', name, 'retry', jsonb_build_object('maxAttempts', attempts))));
    PERFORM wf_start(name) FROM generate_series(1, number);
END $$;
CREATE FUNCTION claim(name text, number integer DEFAULT 1, lease interval DEFAULT '1 hour') RETURNS bigint LANGUAGE sql
RETURN (SELECT count(*) FROM wf_claim_tasks(ARRAY[name], max => number, lease => lease));
CREATE VIEW held AS SELECT b.id, b.token, t.name FROM workflow.bookmarks b JOIN workflow.tasks t USING (id) WHERE b.token IS NOT NULL;
CREATE VIEW sleepers AS
SELECT a.application_name AS name FROM pg_stat_activity a
WHERE a.query LIKE 'CALL wf_wait_tasks%' AND a.state = 'active' AND a.wait_event_type = 'Extension' AND a.backend_xmin IS NULL AND a.backend_xid IS NULL
  AND NOT EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype <> 'virtualxid');
SQL

# waits SESSION ARGUMENTS [OPTION...]: a session that sleeps in wf_wait_tasks without a snapshot, a transaction id, or a table lock.
declare -A waiting
waits() {
    local name=$1 arguments=$2
    shift 2
    PGAPPNAME=$name psql -X -q -At -d "$PGDATABASE" "$@" -c "CALL wf_wait_tasks($arguments)" >"$WORKFLOW_TMP/$name.ready" 2>&1 &
    waiting[$name]=$!
    sleeps "$name"
}
sleeps() { await "$1" "SELECT name FROM sleepers WHERE name = '$1'"; }
# answers SESSION ANSWER: it has returned this, or returns it soon.
answers() {
    wait "${waiting[$1]}" || true
    grep -qF -- "$2" "$WORKFLOW_TMP/$1.ready" || fail "line ${BASH_LINENO[0]}: $1: expected '$2', got '$(cat "$WORKFLOW_TMP/$1.ready")'"
    unset "waiting[$1]"
}
do_sql() { query "$1" >>"$WORKFLOW_TMP/steps.out"; }

# The commit of a task wakes. A task of another name, an open transaction and a rollback do not.
waits ann "ARRAY['commit'], '1 h'"
waits any "timeout => '1 h'"
do_sql "BEGIN; CALL put('commit'); ROLLBACK"
begin sender "CALL put('commit')"
sleeps ann
finish sender COMMIT
answers ann t
answers any t
waits ann "ARRAY['other', 'more'], '1 h'"
do_sql "CALL put('commit')"
sleeps ann
do_sql "CALL put('more')"
answers ann t

# A killed client leaves no session behind that occupies its slot.
waits ann "ARRAY['nobody'], '1 hour'"
kill -9 "${waiting[ann]}"
await 0 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ann'"
{ wait "${waiting[ann]}" || true; } 2>/dev/null
unset 'waiting[ann]'

# One task wakes one of three sessions, two tasks wake two. Claiming the last task wakes none.
for name in one two three; do waits "$name" "ARRAY['shared'], '1 h'"; done
do_sql "CALL put('shared')"
await 2 "SELECT count(*) FROM sleepers"
is 1 "SELECT claim('shared')"
is 2 "SELECT count(*) FROM sleepers"
do_sql "CALL put('shared', 2)"
await 0 "SELECT count(*) FROM sleepers"
for name in one two three; do answers "$name" t; done
is 2 "SELECT claim('shared', 5)"

# An uncommitted claim: only its end wakes. After a rollback each task wakes one session, after a commit none.
do_sql "CALL put('claimed', 2)"
begin worker "SELECT claim('claimed', 2)"
for name in one two three; do waits "$name" "ARRAY['claimed'], '1 h'"; done
finish worker ROLLBACK
await 1 "SELECT count(*) FROM sleepers"
begin worker "SELECT claim('claimed', 2)"
finish worker COMMIT
is 1 "SELECT count(*) FROM sleepers"
do_sql "SELECT wf_release_task(id, token) FROM held WHERE name = 'claimed' LIMIT 1"
for name in one two three; do answers "$name" t; done
do_sql "SELECT claim('claimed')"

# A rollback to a savepoint, a rollback of a prepared transaction, the death of the session that has claimed.
do_sql "CALL put('savepoint')"
begin worker "SAVEPOINT before; SELECT claim('savepoint')"
waits ann "ARRAY['savepoint'], '1 h'"
printf 'ROLLBACK TO before;\n' >&"${pipes[worker]}"
answers ann t
finish worker COMMIT
do_sql "CALL put('prepared')"
do_sql "BEGIN; SELECT claim('prepared'); PREPARE TRANSACTION 'claim'"
waits ann "ARRAY['prepared'], '1 h'"
do_sql "ROLLBACK PREPARED 'claim'"
answers ann t
do_sql "BEGIN; CALL put('two phases'); PREPARE TRANSACTION 'tasks'"
waits ann "ARRAY['two phases'], '1 h'"
do_sql "COMMIT PREPARED 'tasks'"
answers ann t
do_sql "CALL put('death')"
holding "$PGDATABASE" "BEGIN" "SELECT claim('death')"
waits ann "ARRAY['death'], '1 h'"
let_go
answers ann t

# A lease that expires or is shortened, a delay after a failure, a released task. The first is noticed only by the clock.
do_sql "CALL put('lease'); SELECT claim('lease', lease => '5 seconds')"
waits ann "ARRAY['lease'], '1 h'"
answers ann t
do_sql "SELECT claim('lease', lease => '1 hour')"
waits ann "ARRAY['lease'], '1 h'"
do_sql "SELECT wf_extend_task(id, token, '5 seconds') FROM held WHERE name = 'lease'"
answers ann t
do_sql "CALL put('delay'); SELECT claim('delay')"
waits ann "ARRAY['delay'], '1 h'"
do_sql "SELECT wf_fail_task(id, token, 'torn', retry_in => '5 seconds') FROM held WHERE name = 'delay'"
answers ann t

# A waiter learns of a lease that was taken while it slept, and wakes when it expires.
waits ann "ARRAY['later'], '1 h'"
do_sql "BEGIN; CALL put('later'); SELECT claim('later', lease => '5 seconds'); COMMIT"
answers ann t

# A lease expires while a transaction holds the task: a check after its expiry finds work for the waiter, or the new expiry of the lease.
do_sql "CALL put('answer'); SELECT claim('answer', lease => '5 seconds')"
begin worker "SELECT wf_complete_task(id, token => token) FROM held WHERE name = 'answer'"
waits ann "ARRAY['answer'], '1 h'"
await_end() { await t "SELECT bool_and(lease_until < clock_timestamp()) FROM workflow.bookmarks WHERE payload ->> 'TaskName' = '$1'"; }
# looks_after_end NAME: ann, who sleeps, has checked after the expiry of the lease. Nothing wakes her before.
looks_after_end() {
    local pid before
    pid=$(query "SELECT pid FROM pg_stat_activity WHERE application_name = 'ann'")
    before=$(slept "$pid")
    await_end "$1"
    eventually has_slept "$pid" "$before"
}
looks_after_end answer
sleeps ann
finish worker ROLLBACK
answers ann t
do_sql "CALL put('heartbeat'); SELECT claim('heartbeat', lease => '5 seconds')"
begin worker "SELECT wf_extend_task(id, token, '15 seconds') FROM held WHERE name = 'heartbeat'"
waits ann "ARRAY['heartbeat'], '1 h'"
looks_after_end heartbeat
finish worker COMMIT
sleeps ann
answers ann t
# A claim that has made all tasks with expired leases available is rolled back: both waiters wake, although their lists of names differ.
do_sql "CALL put('ended', 2); SELECT claim('ended', 2, lease => '5 seconds')"
await_end ended
begin worker "SELECT claim('ended')"
waits ann "ARRAY['ended'], '1 h'"
waits ben "ARRAY['ended', 'never'], '1 h'"
finish worker ROLLBACK
answers ann t
answers ben t

# A last attempt needs the lock of its instance.
do_sql "CALL put('last', attempts => 1)"
begin locker "SELECT wf_set_owner('instance', id::text, 'plain') FROM workflow.instances WHERE definition_id = 'last'"
waits ann "ARRAY['last'], '1 h'"
finish locker ROLLBACK
answers ann t

# New rights, and tasks of a faulted instance that is retried.
do_sql "CALL put('grant')"
waits ann "ARRAY['grant'], '1 h'" -U plain
do_sql "SELECT wf_grant('grant', 'plain', '{resume}')"
answers ann t
do_sql "CALL put('worker')"
waits ann "ARRAY['worker'], '1 h'" -U plain
do_sql "SELECT wf_grant_worker('plain', '{worker}')"
answers ann t
do_sql "CALL put('owner')"
waits ann "ARRAY['owner'], '1 h'" -U plain
do_sql "SELECT wf_set_owner('definition', 'owner', 'plain')"
answers ann t
# Tasks of an owner that the worker accepts.
do_sql "CREATE ROLE keeper; SELECT wf_grant_usage('keeper')"
do_sql "CALL put('accept')"
do_sql "SELECT wf_set_owner('definition', 'accept', 'keeper')"
do_sql "SET ROLE keeper; SELECT wf_grant_worker('plain', '{accept}', 'accept')"
waits ann "ARRAY['accept'], '1 h'" -U plain
do_sql "SELECT wf_accept_tasks('keeper', 'plain')"
answers ann t
# A task that is assigned to a person, and one that is returned to all candidates.
do_sql "CALL put('person')"
waits ann "ARRAY['person'], '1 h'" -U plain
do_sql "SELECT wf_assign_task(task_id, 'role:plain') FROM workflow.open_tasks WHERE name = 'person'"
answers ann t
waits ann "ARRAY['person'], '1 h'"
do_sql "SELECT wf_unassign_task(task_id) FROM workflow.open_tasks WHERE name = 'person'"
answers ann t
do_sql "CREATE TABLE stock (n integer); SELECT wf_define('{\"definitionId\": \"faulted\", \"root\": {\"type\": \"Parallel\", \"activities\": [
    {\"type\": \"RunTask\", \"taskName\": \"faulted\"}, {\"type\": \"Sql\", \"statement\": \"SELECT 1 / count(*) FROM stock\"}]}}'); SELECT wf_start('faulted')"
waits ann "ARRAY['faulted'], '1 h'"
do_sql "INSERT INTO stock VALUES (1); SELECT wf_retry(id) FROM workflow.instances WHERE definition_id = 'faulted'"
answers ann t

# A task that an operator schedules in a faulted instance.
do_sql "SELECT wf_define('{\"definitionId\": \"repair\", \"root\": [{\"type\": \"Fault\", \"message\": \"no\"}, {\"id\": \"t\", \"type\": \"RunTask\", \"taskName\": \"repair\"}]}'); SELECT wf_start('repair')"
waits ann "ARRAY['repair'], '1 h'"
do_sql "SELECT wf_schedule_activity(id, 't') FROM workflow.instances WHERE definition_id = 'repair'"
answers ann t

# Firing is off: tasks are not offered, and waiters sleep.
do_sql "CALL put('off')"
setting "workflow.enabled = off"
await off "SHOW workflow.enabled"
is f "CALL wf_wait_tasks(ARRAY['off'], '300 ms')"
query "SELECT * FROM wf_claim_tasks(ARRAY['off'])" >"$WORKFLOW_TMP/refused" 2>&1 && fail "a task was claimed although firing is off"
grep -qF "The setting workflow.enabled is off." "$WORKFLOW_TMP/refused" || fail "$(cat "$WORKFLOW_TMP/refused")"
waits ann "ARRAY['off'], '1 h'"
setting "workflow.enabled = on"
await on "SHOW workflow.enabled"
answers ann t

# A limit holds tasks back: the waiter sleeps next to an uncommitted claim of the only slot, and checks when that is rolled back.
do_sql "CALL put('full', 3)"
do_sql "SELECT wf_limit_tasks('full', 1)"
begin worker "SELECT claim('full')"
waits ann "ARRAY['full'], '1 h'"
# That it continues to sleep can only be observed over time.
sleep 1
sleeps ann
finish worker ROLLBACK
answers ann t
# It sleeps while a lease has the slot, and wakes when its completion commits, or the lease expires.
is 1 "SELECT claim('full', 5)"
waits ann "ARRAY['full'], '1 h'"
begin worker "SELECT wf_complete_task(id, token => token) FROM held WHERE name = 'full'"
sleeps ann
finish worker COMMIT
answers ann t
do_sql "SELECT claim('full', lease => '5 seconds')"
waits ann "ARRAY['full'], '1 h'"
answers ann t
do_sql "SELECT claim('full')"
waits ann "ARRAY['full'], '1 h'"
do_sql "SELECT wf_cancel(b.instance_id) FROM held h JOIN workflow.bookmarks b USING (id) WHERE h.name = 'full' AND b.lease_until > now()"
answers ann t
# It wakes at the end of a period, and when a limit is removed.
do_sql "CALL put('period', 3)"
do_sql "SELECT wf_limit_tasks('period', rate => 1, per => '5 seconds')"
is 1 "SELECT claim('period', 5)"
waits ann "ARRAY['period'], '1 h'"
answers ann t
do_sql "SELECT wf_limit_tasks('period', rate => 1, per => '1 hour')"
waits ann "ARRAY['period'], '1 h'"
do_sql "SELECT wf_limit_tasks('period')"
answers ann t

# A waiter that leaves hands over what it watched: the only one that knew of the expiry of a lease is cancelled, terminated, or times out.
do_sql "CALL put('heir'); SELECT claim('heir', lease => '15 seconds')"
waits one "ARRAY['heir'], '1 h'"
waits two "ARRAY['heir'], '1 h'"
waits three "ARRAY['heir'], '1 h'"
do_sql "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'one'"
answers one "canceling statement due to user request"
do_sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'two'"
answers two "terminating connection due to administrator command"
answers three t
# A waiter that was woken and claims nothing keeps the work from the others for at most a second.
waits one "ARRAY['idle'], '1 h'"
waits two "ARRAY['idle'], '1 h'"
do_sql "CALL put('idle')"
answers one t
answers two t

# Timed out: nothing is ready, and the slot is free again.
waits ann "ARRAY['nothing'], '500 ms'"
answers ann f
setting "workflow.max_waiters = 1"
await 1 "SHOW workflow.max_waiters"
waits ann "ARRAY['nothing'], '1 h'"
query "CALL wf_wait_tasks(ARRAY['nothing'], '0 s')" >"$WORKFLOW_TMP/refused" 2>&1 && fail "a second session may wait"
grep -qF "too many sessions wait for tasks" "$WORKFLOW_TMP/refused" || fail "$(cat "$WORKFLOW_TMP/refused")"
grep -qF "workflow.max_waiters allows 1" "$WORKFLOW_TMP/refused" || fail "$(cat "$WORKFLOW_TMP/refused")"
do_sql "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'ann'"
answers ann "terminating connection"
is f "CALL wf_wait_tasks(ARRAY['nothing'], '0 s')"
setting "workflow.max_waiters = 100"

# Asleep next to an uncommitted claim nothing runs: no transaction ends, and no session returns.
do_sql "CALL put('quiet')"
begin worker "SELECT claim('quiet')"
for number in {1..8}; do waits "quiet$number" "ARRAY['quiet'], '1 h'"; done
slept_all() { for number in {1..8}; do slept "$(query "SELECT pid FROM pg_stat_activity WHERE application_name = 'quiet$number'")"; done | paste -sd ' '; }
before=$(slept_all)
sleep 5
is 8 "SELECT count(*) FROM sleepers"
[ "$(slept_all)" = "$before" ] || fail "sessions that wait for tasks woke for nothing: $before, then $(slept_all)"
finish worker ROLLBACK
await 7 "SELECT count(*) FROM sleepers"
do_sql "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name LIKE 'quiet%'"
wait

# Without preloading the library, sessions find each other as well, including one that has opened a task before any waits. A waiter polls
# once a second then, so its answer alone does not show what woke it.
echo "shared_preload_libraries = ''" >>"$PGDATA/postgresql.conf"
stop_server
start_server
is 1 "SELECT count(*) FROM pg_settings WHERE name = 'shared_preload_libraries' AND setting = ''"
begin sender "CALL put('bare')"
waits ann "ARRAY['bare'], '1 h'"
finish sender COMMIT
answers ann t
begin worker "SELECT claim('bare')"
waits ann "ARRAY['bare'], '1 h'"
finish worker ROLLBACK
answers ann t
is 1 "SELECT claim('bare', lease => '5 seconds')"
waits ann "ARRAY['bare'], '1 h'"
answers ann t
is 1 "SELECT claim('bare')"
# A session that has not loaded the library ends a transaction: polling finds the result.
do_sql "CALL put('bare')"
do_sql "BEGIN; SELECT claim('bare'); PREPARE TRANSACTION 'bare'"
waits ann "ARRAY['bare'], '1 h'"
do_sql "ROLLBACK PREPARED 'bare'"
answers ann t
is 1 "SELECT claim('bare')"
do_sql "BEGIN; CALL put('bare'); PREPARE TRANSACTION 'bare'"
waits ann "ARRAY['bare'], '1 h'"
do_sql "COMMIT PREPARED 'bare'"
answers ann t
is 0 "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
