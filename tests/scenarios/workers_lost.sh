#!/usr/bin/env bash
# What waits is not forgotten by the workers: stimuli whose bookmark somebody else held whenever they were delivered, timers
# of instances that were faulted when they came due, what was left while nothing was to be fired.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

time_books
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SELECT wf_define('{"definitionId": "listener", "root": {"type": "Fork", "joinMode": "WaitAll", "branches": [
    {"type": "Event", "eventName": "News"}, {"type": "Event", "eventName": "Other"}, {"type": "Event", "eventName": "Third"}]}}');
SELECT wf_define('{"definitionId": "meet", "root": [{"id": "here", "type": "Event", "eventName": "Meet"}]}');
CREATE TABLE public.cause ();
CREATE FUNCTION public.fail() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('public.cause') IS NOT NULL THEN RAISE EXCEPTION 'the cause is there'; END IF;
END $$;
SELECT wf_define('{"definitionId": "faulty", "root": {"type": "Parallel", "activities": [
    [{"type": "Delay", "timeSpan": "00:00:02"}, {"type": "SetName", "value": "delayed"}],
    [{"type": "Event", "eventName": "Go"}, {"type": "Sql", "statement": "SELECT public.fail()"}]]}}');
SQL
setting "workflow.launch_workers = on"

# holding SECONDS STATEMENT END: a transaction that executes it and then waits, without a snapshot, before it ends.
holding() { printf 'BEGIN;\n%s;\n\\! sleep %s\n%s;\n' "$2" "$1" "$3" | psql -X -q -At -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/holding.out"; }
state_of() { echo "SELECT sub_status FROM workflow.instances WHERE correlation_id = '$1'"; }

# A timer comes due while its instance is faulted, and nothing else is due after that.
query "SELECT wf_start('faulty', correlation_id => 'f')" >/dev/null
query "SELECT wf_publish_event('Go')" >/dev/null 2>&1
is Faulted "$(state_of f)"
sleep 3
is 1 "SELECT count(*) FROM workflow.bookmarks"
query "DROP TABLE public.cause"
query "SELECT wf_retry(id) FROM workflow.instances WHERE correlation_id = 'f'" >/dev/null
await "Finished|delayed" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = 'f'"
echo "ok: a timer that came due while its instance was faulted fires when that is retried"

# One transaction after the other holds the instance that a stimulus was left for. The third begins to wait before the
# stimulus is committed, and gets the lock after that.
query "SELECT wf_start('listener', correlation_id => c) FROM unnest('{a,b}'::text[]) AS c" >/dev/null
holding 2 "SELECT wf_publish_event('Other', correlation_id => 'b')" COMMIT &
sleep 0.5
query "SELECT wf_publish_event('News')" >/dev/null
is 1 "SELECT count(*) FROM workflow.bookmark_queue"
holding 4 "SELECT wf_publish_event('Third', correlation_id => 'b')" COMMIT &
wait
await Finished "$(state_of b)"
is 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: a stimulus outlives those who hold its instance one after the other"

# Somebody has met a kept stimulus, so that the next one passes over it, and then takes that back.
query "SELECT wf_enqueue_bookmark(activity_id => 'here', keep_for => '1 day')" >/dev/null
sleep 2
holding 2 "SELECT wf_start('meet', correlation_id => 'undone')" ROLLBACK &
sleep 0.5
query "SELECT wf_start('meet', correlation_id => 'next')" >/dev/null
is Suspended "$(state_of next)"
wait
await Finished "$(state_of next)"
echo "ok: a stimulus that somebody met and left again is delivered to who came after them"

# What nobody waits for is not looked for all the time while an old transaction is open.
holding 5 "SELECT pg_current_xact_id()" COMMIT &
sleep 0.5
query "SELECT wf_enqueue_bookmark(activity_id => 'nowhere', keep_for => '1 day')" >/dev/null
sleep 1
ticks() { # user and system time of the workers, in hundredths of a second
    local pid sum=0
    for pid in $(query "SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"); do
        sum=$((sum + $(awk '{ print $14 + $15 }' "/proc/$pid/stat")))
    done
    echo "$sum"
}
before=$(ticks)
sleep 2
used=$(($(ticks) - before))
[ "$used" -lt 60 ] || fail "while nothing could be done the workers used $used hundredths of 2 seconds"
wait
query "DELETE FROM workflow.bookmark_queue"
echo "ok: a stimulus for nobody keeps no worker busy"

# A stimulus that is left while nothing is to be fired is still there for the next scheduler.
query "SELECT wf_start('listener', correlation_id => c) FROM unnest('{c,d}'::text[]) AS c" >/dev/null
await 1 "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'workflow scheduler' AND datname = current_database()"
setting "workflow.enabled = off" "workflow.worker_idle_timeout = '1s'"
holding 1 "SELECT wf_publish_event('Other', correlation_id => 'd')" COMMIT &
sleep 0.5
query "SELECT wf_publish_event('News')" >/dev/null
wait
await 0 "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'workflow scheduler' AND datname = current_database()"
is 1 "SELECT count(*) FROM workflow.bookmark_queue"
setting "workflow.enabled = on"
await 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: what is left while nothing is fired is delivered afterwards"

# Without the library at start nobody hears of an extension that a session creates as it loads it.
stop_server
echo "shared_preload_libraries = ''" >>"$PGDATA/postgresql.conf"
start_server
query "CREATE DATABASE later" postgres
query "SELECT wf_worker_start()" >/dev/null
sleep 2
query "CREATE EXTENSION workflow" later
query "SELECT wf_define('{\"definitionId\": \"later\", \"root\": {\"type\": \"Delay\", \"timeSpan\": \"00:00:01\"}}')" later >/dev/null
query "SELECT wf_start('later')" later >/dev/null
await Finished "SELECT sub_status FROM workflow.instances" later
echo "ok: an extension that was created unseen is found with the first thing that is due"
