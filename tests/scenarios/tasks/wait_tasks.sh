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

# calls SESSION ARGUMENTS [OPTION...]: a session that calls wf_wait_tasks.
declare -A waiting
calls() {
    local name=$1 arguments=$2
    shift 2
    PGAPPNAME=$name psql -X -q -At -d "$PGDATABASE" "$@" -c "CALL wf_wait_tasks($arguments)" >"$WORKFLOW_TMP/$name.ready" 2>&1 &
    waiting[$name]=$!
}
# waits SESSION ARGUMENTS [OPTION...]: a session that sleeps there without a snapshot, a transaction id, or a table lock. Something that no
# clock makes must end the sleep: what comes after seconds may be there before a busy machine has got so far.
waits() {
    calls "$@"
    sleeps "$1"
}
sleeps() { await "$1" "SELECT name FROM sleepers WHERE name = '$1'"; }
# answers SESSION ANSWER: it has returned this, or returns it soon.
answers() {
    wait "${waiting[$1]}" || true
    grep -qF -- "$2" "$WORKFLOW_TMP/$1.ready" || fail "line ${BASH_LINENO[0]}: $1: expected '$2', got '$(cat "$WORKFLOW_TMP/$1.ready")'"
    unset "waiting[$1]"
}
# How many have not yet returned, whether they sleep or look.
calling="SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CALL wf_wait_tasks%' AND state = 'active'"
# A session that was woken and claims nothing keeps the work from the others for a second. A case that must get so far before is repeated
# with new tasks when it was too slow: is_late FROM, a value of EPOCHREALTIME.
is_late() { [ $((${EPOCHREALTIME/./} - ${1/./})) -ge 900000 ]; }
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
turn=0 late=t
while [ -n "$late" ]; do
    turn=$((turn + 1)) task=shared$turn
    for name in one two three; do waits "$name" "ARRAY['$task'], '1 h'"; done
    began=$EPOCHREALTIME
    do_sql "CALL put('$task')"
    await t "SELECT ($calling) < 3"
    is 1 "SELECT claim('$task')"
    if is_late "$began"; then late=t; else late=; fi
    [ -n "$late" ] || await 2 "SELECT count(*) FROM sleepers"
    do_sql "CALL put('$task', 2)"
    await 0 "SELECT count(*) FROM sleepers"
    for name in one two three; do answers "$name" t; done
    is 2 "SELECT claim('$task', 5)"
done

# An uncommitted claim: only its end wakes. After a rollback each task wakes one session, after a commit none.
turn=0 late=t
while [ -n "$late" ]; do
    turn=$((turn + 1)) task=claimed$turn
    do_sql "CALL put('$task', 2)"
    begin worker "SELECT claim('$task', 2)"
    for name in one two three; do waits "$name" "ARRAY['$task'], '1 h'"; done
    began=$EPOCHREALTIME
    finish worker ROLLBACK
    await t "SELECT ($calling) <= 1"
    is 2 "SELECT claim('$task', 2)"
    if is_late "$began"; then late=t; else late=; fi
    [ -n "$late" ] || await 1 "SELECT count(*) FROM sleepers"
    do_sql "SELECT wf_release_task(id, token) FROM held WHERE name = '$task' LIMIT 1"
    for name in one two three; do answers "$name" t; done
    is 1 "SELECT claim('$task')"
done

# A rollback to a savepoint, a rollback of a prepared transaction, the death of the session that has claimed.
do_sql "CALL put('savepoint')"
begin worker "SAVEPOINT before\; SELECT claim('savepoint')"
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
calls ann "ARRAY['lease'], '1 h'"
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
# looks_after_end NAME: ann has checked after the expiry of the lease, and sleeps. Her transactions end with each check.
looks_after_end() {
    await_end "$1"
    await t "SELECT xact_start > (SELECT max(lease_until) FROM workflow.bookmarks WHERE payload ->> 'TaskName' = '$1')
        FROM pg_stat_activity WHERE application_name = 'ann'"
    sleeps ann
}
looks_after_end answer
finish worker ROLLBACK
answers ann t
do_sql "CALL put('heartbeat'); SELECT claim('heartbeat', lease => '5 seconds')"
begin worker "SELECT wf_extend_task(id, token, '15 seconds') FROM held WHERE name = 'heartbeat'"
waits ann "ARRAY['heartbeat'], '1 h'"
looks_after_end heartbeat
finish worker COMMIT
answers ann t
is 1 "SELECT claim('heartbeat')"
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
is 1 "SELECT claim('full', lease => '5 seconds')"
calls ann "ARRAY['full'], '1 h'"
answers ann t
is 1 "SELECT claim('full')"
waits ann "ARRAY['full'], '1 h'"
do_sql "SELECT wf_cancel(b.instance_id) FROM held h JOIN workflow.bookmarks b USING (id) WHERE h.name = 'full' AND b.lease_until > now()"
answers ann t
# It wakes at the end of a period, and when a limit is removed.
do_sql "CALL put('period', 3)"
do_sql "SELECT wf_limit_tasks('period', rate => 1, per => '5 seconds')"
is 1 "SELECT claim('period', 5)"
calls ann "ARRAY['period'], '1 h'"
answers ann t
do_sql "SELECT wf_limit_tasks('period', rate => 1, per => '1 hour')"
waits ann "ARRAY['period'], '1 h'"
do_sql "SELECT wf_limit_tasks('period')"
answers ann t

# A waiter that leaves hands over what it watched: the only one that knew of the expiry of a lease is cancelled, terminated, or times out.
# Until two have left before the lease expired, with leases of twice the length.
lease=15 expired=t
while [ "$expired" = t ]; do
    task=heir$lease
    do_sql "CALL put('$task'); SELECT claim('$task', lease => '$lease seconds')"
    expires="SELECT lease_until < clock_timestamp() FROM workflow.bookmarks WHERE payload ->> 'TaskName' = '$task'"
    for name in one two three; do calls "$name" "ARRAY['$task'], '1 h'"; done
    await t "SELECT (SELECT count(*) FROM sleepers) = 3 OR ($expires)"
    do_sql "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'one'"
    wait "${waiting[one]}" || true
    do_sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'two'"
    wait "${waiting[two]}" || true
    expired=$(query "$expires")
    if [ "$expired" = f ]; then
        answers one "canceling statement due to user request"
        answers two "terminating connection due to administrator command"
    fi
    answers three t
    lease=$((lease * 2))
done
# A waiter that was woken and claims nothing keeps the work from the others for at most a second.
waits one "ARRAY['idle'], '1 h'"
waits two "ARRAY['idle'], '1 h'"
do_sql "CALL put('idle')"
answers one t
answers two t

# Timed out: nothing is ready, and the slot is free again.
is f "CALL wf_wait_tasks(ARRAY['nothing'], '500 ms')"
setting "workflow.max_waiters = 1"
await 1 "SHOW workflow.max_waiters"
waits ann "ARRAY['nothing'], '1 h'"
query "CALL wf_wait_tasks(ARRAY['nothing'], '0 s')" >"$WORKFLOW_TMP/refused" 2>&1 && fail "a second session may wait"
grep -qF "too many sessions wait for tasks" "$WORKFLOW_TMP/refused" || fail "$(cat "$WORKFLOW_TMP/refused")"
grep -qF "workflow.max_waiters allows 1" "$WORKFLOW_TMP/refused" || fail "$(cat "$WORKFLOW_TMP/refused")"
do_sql "SELECT pg_terminate_backend(pid, 600000) FROM pg_stat_activity WHERE application_name = 'ann'"
answers ann "terminating connection"
is f "CALL wf_wait_tasks(ARRAY['nothing'], '0 s')"
setting "workflow.max_waiters = 100"

# Asleep next to an uncommitted claim nothing runs: no transaction ends, and no session returns.
do_sql "CALL put('quiet')"
begin worker "SELECT claim('quiet')"
for number in {1..8}; do waits "quiet$number" "ARRAY['quiet'], '1 h'"; done
slept_all() { for number in {1..8}; do slept "$(query "SELECT pid FROM pg_stat_activity WHERE application_name = 'quiet$number'")"; done | paste -sd ' '; }
# A session that waits may be woken for something else, such as changes of the catalog, now and then.
are_quiet() {
    local before
    before=$(slept_all)
    sleep 5
    [ "$(slept_all)" = "$before" ]
}
eventually are_quiet
is 8 "SELECT count(*) FROM sleepers"
finish worker ROLLBACK
await t "SELECT count(*) < 8 FROM sleepers"
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
calls ann "ARRAY['bare'], '1 h'"
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
