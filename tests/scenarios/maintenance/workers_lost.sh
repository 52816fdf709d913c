#!/usr/bin/env bash
# Background workers forget no work: stimuli whose bookmark another session had locked at every delivery, timers of instances that were
# faulted when they came due, and work that was left while firing was disabled.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

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
setting "workflow.launch_workers = on" "workflow.worker_idle_timeout = '1h'"

# looked TIME: since then the scheduler has checked for due work, or for bookmarks that match a stimulus.
looked() {
    await t "SELECT state = 'idle' AND state_change > '$1' FROM pg_stat_activity
        WHERE backend_type = 'workflow scheduler' AND datname = current_database()"
}
item() { query "SELECT id FROM workflow.bookmark_queue"; }
state_of() { echo "SELECT sub_status FROM workflow.instances WHERE correlation_id = '$1'"; }

# A timer comes due while its instance is faulted, and nothing else is due afterwards.
query "SELECT wf_start('faulty', correlation_id => 'f'); SELECT wf_publish_event('Go')" >/dev/null 2>&1
is Faulted "$(state_of f)"
await_due 1
looked "$(query "SELECT max(due_at) FROM workflow.bookmarks")"
is 1 "SELECT count(*) FROM workflow.bookmarks"
query "DROP TABLE public.cause"
query "SELECT wf_retry(id) FROM workflow.instances WHERE correlation_id = 'f'" >/dev/null
await "Finished|delayed" "SELECT sub_status, name FROM workflow.instances WHERE correlation_id = 'f'"
echo "ok: a timer that came due while its instance was faulted fires when that is retried"

# Two transactions lock the instance of a stored stimulus in turn: the second waits for the lock before the first ends.
query "SELECT wf_start('listener', correlation_id => c) FROM unnest('{a,b}'::text[]) AS c" >/dev/null
begin first "SELECT wf_publish_event('Other', correlation_id => 'b')"
before=$(now)
query "SELECT wf_publish_event('News')" >/dev/null
is 1 "SELECT count(*) FROM workflow.bookmark_queue"
begin second "SELECT wf_publish_event('Third', correlation_id => 'b')"
await Lock "SELECT wait_event_type FROM pg_stat_activity WHERE application_name = 'second'"
delivered_in_vain "$(item)" "$before"
# A free row goes to the first session that asks, not to the one that has waited, so the workers ask only once the second session has the
# lock. The scheduler is stopped while it sleeps: otherwise it might hold what others need, or have just given work to an executor.
scheduler=$(query "SELECT pid FROM pg_stat_activity WHERE backend_type = 'workflow scheduler' AND datname = current_database()")
[[ $scheduler =~ ^[0-9]+$ ]] || fail "schedulers: '$scheduler'"
trap 'kill -CONT "$scheduler"' EXIT
stops_asleep() {
    kill -STOP "$scheduler"
    [ "$(query "SELECT wait_event FROM pg_stat_activity WHERE pid = $scheduler")" != Extension ] || return 0
    kill -CONT "$scheduler"
    return 1
}
eventually stops_asleep
await 0 "SELECT count(*) FROM workflow.workers WHERE worker = 'executor' AND state = 'firing'"
finish first COMMIT
await "idle in transaction" "SELECT state FROM pg_stat_activity WHERE application_name = 'second'"
before=$(now)
kill -CONT "$scheduler"
trap - EXIT
delivered_in_vain "$(item)" "$before"
finish second COMMIT
await Finished "$(state_of b)"
await 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: a stimulus outlives those who hold its instance one after the other"

# A session takes a stored stimulus, so that the next one skips it, and then rolls back.
before=$(now)
query "SELECT wf_enqueue_bookmark(activity_id => 'here', keep_for => '1 day')" >/dev/null
looked "$before"
begin undone "SELECT wf_start('meet', correlation_id => 'undone')"
before=$(now)
query "SELECT wf_start('meet', correlation_id => 'next')" >/dev/null
is Suspended "$(state_of next)"
delivered_in_vain "$(item)" "$before"
is Suspended "$(state_of next)"
finish undone ROLLBACK
await Finished "$(state_of next)"
echo "ok: a stimulus that somebody met and left again is delivered to who came after them"

# A stimulus for a task that an open transaction has created: its sender has learned the id.
query "SELECT wf_define('{\"definitionId\": \"errand\", \"root\": {\"type\": \"RunTask\", \"taskName\": \"Errand\"}}')" >/dev/null
begin opener "SELECT bookmarks -> 0 ->> 'id' FROM wf_run('errand', correlation_id => 'errand')"
before=$(now)
query "SELECT wf_enqueue_bookmark('RunTask', '{\"TaskId\": \"$(tail -n 1 "$WORKFLOW_TMP/opener.out")\"}')" >/dev/null
is 1 "SELECT count(*) FROM workflow.bookmark_queue"
looked "$before"
finish opener COMMIT
await Finished "$(state_of errand)"
await 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: a stimulus for a task is delivered when the transaction that opened the task ends"

# A stimulus that no instance waits for does not cause permanent polling while an old transaction is open.
begin old "SELECT pg_current_xact_id()"
before=$(now)
query "SELECT wf_enqueue_bookmark(activity_id => 'nowhere', keep_for => '1 day')" >/dev/null
looked "$before"
eventually rests 40
finish old COMMIT
query "DELETE FROM workflow.bookmark_queue"
echo "ok: a stimulus for nobody keeps no worker busy"

# A stimulus that is stored while firing is disabled is still there for the next scheduler.
query "SELECT wf_start('listener', correlation_id => c) FROM unnest('{c,d}'::text[]) AS c" >/dev/null
await 1 "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'workflow scheduler' AND datname = current_database()"
setting "workflow.enabled = off" "workflow.worker_idle_timeout = '1s'"
begin first "SELECT wf_publish_event('Other', correlation_id => 'd')"
query "SELECT wf_publish_event('News')" >/dev/null
finish first COMMIT
await 0 "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'workflow scheduler' AND datname = current_database()"
is 1 "SELECT count(*) FROM workflow.bookmark_queue"
setting "workflow.enabled = on"
await 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: what is left while nothing is fired is delivered afterwards"

# Without the preloaded library, no process is notified of an extension that is created by a session as it loads the library.
stop_server
echo "shared_preload_libraries = ''" >>"$PGDATA/postgresql.conf"
start_server
query "CREATE DATABASE later" postgres
query "SELECT wf_worker_start()" >/dev/null
# The first worker found nothing there, and exited.
await t "SELECT xact_commit + xact_rollback > 0 FROM pg_stat_database WHERE datname = 'later'"
await 0 "SELECT count(*) FROM pg_stat_activity WHERE datname = 'later'"
query "CREATE EXTENSION workflow" later
query "SELECT wf_define('{\"definitionId\": \"later\", \"root\": {\"type\": \"Delay\", \"timeSpan\": \"00:00:01\"}}')" later >/dev/null
query "SELECT wf_start('later')" later >/dev/null
await Finished "SELECT sub_status FROM workflow.instances" later
echo "ok: an extension that was created unseen is found with the first thing that is due"
