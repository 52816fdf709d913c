#!/usr/bin/env bash
# A stimulus and a bookmark that missed each other, because their transactions did not see each other, are matched by the background
# workers, for every owner of the instance and in either order of commits.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE joe LOGIN;
CREATE ROLE sue LOGIN;
CREATE ROLE nolog;
CREATE ROLE asker;
SELECT wf_grant_usage(r) FROM unnest('{joe,sue,nolog,asker}'::name[]) AS r;
CREATE TABLE public.happened (
    instance uuid NOT NULL, owner text NOT NULL DEFAULT current_user, session text NOT NULL DEFAULT session_user);
GRANT SELECT, INSERT ON public.happened TO PUBLIC;
SELECT wf_define('{"definitionId": "timer", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES (($1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
SQL

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
for role in joe sue nolog postgres; do define_as "$role"; done

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
    await 1 "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND granted"
}
open_gate() {
    query "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'gate'" >/dev/null
    wait "$holder"
}
# checked WORD: after this call the scheduler has checked every stimulus that was stored before, because it has handed a later one to an
# executor. That one and its bookmark miss each other: a sender that sees the bookmark delivers the stimulus itself, and proves nothing.
checked() {
    gate
    missed_by "$1" before BEGIN joe
    send joe "$1"
    open_gate
    await "joe|joe|1" "$happened '$1' GROUP BY 1, 2"
}

setting "workflow.launch_workers = on"

turn=0
for case in "before BEGIN" "before BEGIN ISOLATION LEVEL REPEATABLE READ" "after BEGIN ISOLATION LEVEL REPEATABLE READ"; do
    for role in joe nolog; do
        turn=$((turn + 1))
        gate
        missed_by "m$turn" "${case%% *}" "${case#* }" "$role"
        send "$role" "m$turn"
        open_gate
        session=$role
        await "$role|$session|1" "$happened 'm$turn' GROUP BY 1, 2"
        is 0 "SELECT count(*) FROM workflow.bookmark_queue"
    done
done
echo "ok: workers join a stimulus and a bookmark of an owner who missed each other, under each isolation level"

# The stimulus commits last.
is 0 "SELECT count(*) FROM workflow.bookmark_queue"
for role in joe nolog; do
    mkfifo "$WORKFLOW_TMP/last $role"
    psql -X -q -At <"$WORKFLOW_TMP/last $role" >/dev/null 2>&1 &
    holder=$!
    exec 7>"$WORKFLOW_TMP/last $role"
    echo "SET client_min_messages = error; SET ROLE $role; BEGIN; SELECT wf_enqueue_bookmark('Event', '{\"EventName\": \"Go\"}', correlation_id => 'last $role', keep_for => '1 day'), pg_advisory_xact_lock(1);" >&7
    await 1 "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
    query "SET client_min_messages = error; SET ROLE $role; SELECT wf_start('of $role', correlation_id => 'last $role')" >/dev/null
    echo "COMMIT;" >&7
    exec 7>&-
    wait "$holder"
done
await 2 "SELECT count(*) FROM workflow.instances WHERE correlation_id LIKE 'last %' AND sub_status = 'Finished'"
echo "ok: and where the stimulus commits last"

# Several owners at once: delivered once, to all matching instances.
gate
missed_by all before BEGIN joe sue nolog
send postgres all
open_gate
await "joe|joe|1
nolog|nolog|1
sue|sue|1" "$happened 'all' GROUP BY 1, 2 ORDER BY 1"
await 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: one stimulus reaches the instances of several owners, each in a session of its owner"

# Sue may resume the instance but not complete its task, which is for joe; her stimulus is the older one.
psql -X -q -At -v ON_ERROR_STOP=1 >/dev/null <<'SQL'
SET SESSION AUTHORIZATION postgres;
SELECT wf_define('{"definitionId": "of asker", "root": [
    {"type": "RunTask", "id": "ask", "taskName": "Ask", "assignee": "role:joe"},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES (($1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
SELECT wf_grant('of asker', r, '{start,resume}') FROM unnest('{joe,sue,asker}'::name[]) AS r;
SQL
gate
missed_by ask before BEGIN asker
for role in sue joe; do
    query "SET client_min_messages = error; SET ROLE $role;
        SELECT wf_enqueue_bookmark(activity_id => 'ask', correlation_id => 'ask', keep_for => '1 day')" >/dev/null
done
await 2 "SELECT count(*) FROM workflow.bookmark_queue WHERE correlation_id = 'ask'"
open_gate
await Finished "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'ask'"
is sue "SELECT o.name FROM workflow.bookmark_queue q JOIN workflow.owners o ON o.id = q.sender WHERE q.correlation_id = 'ask'"
query "DELETE FROM workflow.bookmark_queue WHERE correlation_id = 'ask'"
echo "ok: and where only a later stimulus comes from a role that may answer the task"

# A session has committed a bookmark and has not yet checked whether the workers want to be told. It is stopped between the two until the
# workers have forgotten all stimuli that the bookmark could have missed.
config=${PG_ROOT:-}/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
cc -shared -fPIC -O2 -I"$("$config" --includedir-server)" -I"$("$config" --includedir)" -o "$WORKFLOW_TMP/hold_commit.so" \
    "$(dirname "${BASH_SOURCE[0]}")/hold_commit.c"
mkfifo "$WORKFLOW_TMP/between"
psql -X -q -At -v ON_ERROR_STOP=1 <"$WORKFLOW_TMP/between" >/dev/null 2>"$WORKFLOW_TMP/between.out" &
between=$!
exec 8>"$WORKFLOW_TMP/between"
# A session that has notified the workers before knows where to check.
echo "SELECT wf_enqueue_bookmark(activity_id => 'nobody');
    BEGIN; SELECT wf_start('of postgres', correlation_id => 'between'), pg_advisory_xact_lock(2); LOAD '$WORKFLOW_TMP/hold_commit.so';" >&8
await 1 "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND granted"
send postgres between
checked after
touch "$PGDATA/hold_commit"
echo "COMMIT;" >&8
await Suspended "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'between'"
for word in one two three; do send postgres "nobody $word"; done
rm "$PGDATA/hold_commit"
exec 8>&-
wait "$between"
await "postgres|postgres|1" "$happened 'between' GROUP BY 1, 2"
is 4 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: and where a session is held between its commit and what it tells the workers"

# Several instances and several stimuli. `late` waits before the stimuli are sent, in a transaction that commits after others have started
# to take the stimuli. It gets one, however these transactions end: each stimulus that it is woken for is either taken or becomes free
# again.
# taker NAME WORD: begins a transaction whose instance waits for the event, and takes a stimulus if a free one is visible.
taker() {
    begin "$1" "SET LOCAL client_min_messages = error\; SET LOCAL ROLE joe\; SELECT wf_start('of joe', correlation_id => '$2')"
    # It may have waited for a lock for a moment.
    await "idle in transaction" "SELECT state FROM pg_stat_activity WHERE application_name = '$1'"
}
# tried_in_vain WORD: after this call, an executor has found that another transaction holds the oldest stimulus for WORD, or `late` has got
# the one that nobody holds. It is given only the oldest, except by a scan of the whole queue, which COMMIT PREPARED in an earlier turn
# requests. Then the oldest is not tried again, since no instance that others see waits for it.
tried_in_vain() {
    local since oldest
    since=$(now)
    oldest=$(query "SELECT id FROM workflow.bookmark_queue WHERE correlation_id = '$1' ORDER BY id LIMIT 1")
    delivered_in_vain "$oldest" "$since" "EXISTS (SELECT FROM workflow.instances WHERE correlation_id = '$1' AND sub_status = 'Finished')"
}
turn=0
for endings in "COMMIT" "COMMIT COMMIT" "COMMIT COMMIT COMMIT" "ROLLBACK" "COMMIT ROLLBACK" "ROLLBACK COMMIT" "PREPARE" "COMMIT PREPARE" "PREPARE ROLLBACK COMMIT"; do
    read -ra endings <<<"$endings"
    turn=$((turn + 1)) word=several$turn
    taker late "$word"
    for _ in "${endings[@]}" one; do
        query "SET client_min_messages = error; SET ROLE joe;
            SELECT wf_enqueue_bookmark('Event', '{\"EventName\": \"Go\"}', correlation_id => '$word')" >/dev/null
    done
    checked "marker $word"
    for i in "${!endings[@]}"; do taker "early$i" "$word"; done
    finish late COMMIT
    tried_in_vain "$word"
    left=1 prepared=()
    for i in "${!endings[@]}"; do
        case ${endings[$i]} in
            COMMIT) finish "early$i" COMMIT ;;
            ROLLBACK) finish "early$i" ROLLBACK; left=$((left + 1)) ;;
            PREPARE) finish "early$i" "PREPARE TRANSACTION 'early$i'" && prepared+=("early$i") ;;
        esac
    done
    for name in "${prepared[@]}"; do query "COMMIT PREPARED '$name'" >/dev/null; done
    await "Finished|$((${#endings[@]} + 2 - left))" "SELECT sub_status, count(*) FROM workflow.instances WHERE correlation_id = '$word' GROUP BY 1"
    await $((left - 1)) "SELECT count(*) FROM workflow.bookmark_queue WHERE correlation_id = '$word'"
    query "DELETE FROM workflow.bookmark_queue WHERE correlation_id = '$word'"
done
echo "ok: a bookmark that missed several stimuli gets one, however the transactions end that had taken the first of them"

is 0 "SELECT count(*) FROM workflow.dead_letters"
is 0 "SELECT sum(failed) FROM workflow.workers WHERE worker = 'scheduler'"
