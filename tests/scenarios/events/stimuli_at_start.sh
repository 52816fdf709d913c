#!/usr/bin/env bash
# When a scheduler starts, its first timer does not wait for anything that grows with the queue: due timers fire before the stimuli that an
# earlier server left have been scanned.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE TABLE public.seen (rows_read bigint NOT NULL);
SELECT wf_define('{"definitionId": "timer", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}},
    {"type": "Sql", "statement": "INSERT INTO public.seen SELECT pg_stat_get_tuples_fetched(oid) + pg_stat_get_tuples_returned(oid) FROM pg_class WHERE oid = ''workflow.bookmark_queue''::regclass"}]}');
SELECT count(wf_enqueue_bookmark('Event', '{"EventName": "Go"}', correlation_id => 'y' || n, keep_for => '1 day')) FROM generate_series(1, 50000) AS n;
SQL
is 50000 "SELECT count(*) FROM workflow.bookmark_queue"
# Reads until now are not counted.
read_before() { query "SELECT pg_stat_get_tuples_fetched(oid) + pg_stat_get_tuples_returned(oid) FROM pg_class WHERE oid = 'workflow.bookmark_queue'::regclass"; }

leave_timer() {
    query "SELECT wf_start('timer', '{\"wait\": \"1 ms\"}')" >/dev/null
    await_due 1
}
# fires_early: the timer has fired before half of the queue was read. While an executor starts, the scheduler goes on to the stimuli, and on
# a busy machine it may get far. So what follows is repeated until the timer was early once: a scan that comes first reads all rows each time.
fires_early() {
    await 1 "SELECT count(*) FROM public.seen"
    local rows
    rows=$(($(query "SELECT rows_read FROM public.seen") - before))
    query "TRUNCATE public.seen"
    echo "$rows rows of the queue were read before the timer fired"
    [ "$rows" -lt 25000 ]
}

# A session's reads are counted when it has ended.
alone() { await 0 "SELECT count(*) FROM pg_stat_activity WHERE datname = 'workflow' AND pid <> pg_backend_pid()"; }
setting "workflow.worker_idle_timeout = '1h'"
while true; do
    leave_timer
    alone
    before=$(read_before)
    setting "workflow.launch_workers = on"
    ! fires_early || break
    setting "workflow.launch_workers = off"
    stop_server
    start_server
done
echo "ok: after the start of the workers the first timer does not wait for the stimuli"

# A crash of the server resets the statistics, and leaves all stored stimuli to the next scheduler.
while true; do
    setting "workflow.enabled = off"
    woken scheduler workflow
    leave_timer
    query "ALTER SYSTEM RESET workflow.enabled" postgres
    kill_server
    start_server
    before=0
    ! fires_early || break
done
echo "ok: nor after a crash"

# An idle scheduler has exited, and the next one has nothing to scan except due timers.
setting "workflow.worker_idle_timeout = '1s'"
await asleep "SELECT state FROM workflow.workers WHERE worker = 'scheduler'"
alone
before=$(read_before)
query "SELECT wf_start('timer', '{\"wait\": \"1 second\"}')" >/dev/null
fires_early || fail "after a pause the timer waited for the stimuli"
await asleep "SELECT state FROM workflow.workers WHERE worker = 'scheduler'"
after=$(read_before)
[ $((after - before)) -lt 5000 ] || fail "a scheduler that was started for a timer read $((after - before)) rows of the queue"
is 50000 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: nor after a pause, when it does not look at them at all"
