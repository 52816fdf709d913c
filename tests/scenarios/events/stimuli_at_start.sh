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
SELECT wf_start('timer', '{"wait": "1 ms"}');
SQL
is 50000 "SELECT count(*) FROM workflow.bookmark_queue"
# Reads until now are not counted.
read_before() { query "SELECT pg_stat_get_tuples_fetched(oid) + pg_stat_get_tuples_returned(oid) FROM pg_class WHERE oid = 'workflow.bookmark_queue'::regclass"; }

# fires_early WHEN: the due timer has fired before 5,000 rows of the queue were read.
fires_early() {
    await 1 "SELECT count(*) FROM public.seen"
    local rows
    rows=$(($(query "SELECT rows_read FROM public.seen") - before))
    [ "$rows" -lt 5000 ] || fail "$1: $rows rows of the queue were read before the timer fired"
    query "TRUNCATE public.seen"
    echo "ok: $1 the first timer does not wait for the stimuli"
}

# A session's reads are counted when it has ended.
alone() { await 0 "SELECT count(*) FROM pg_stat_activity WHERE datname = 'workflow' AND pid <> pg_backend_pid()"; }
alone
before=$(read_before)
setting "workflow.launch_workers = on"
fires_early "after the start of the workers"

# A crash of the server resets the statistics, and leaves all stored stimuli to the next scheduler.
query "SELECT wf_start('timer', '{\"wait\": \"3 seconds\"}')" >/dev/null
due=$(last_due)
kill_server
eventually is_past "$due"
start_server
before=0
fires_early "after a crash"

# An idle scheduler has exited, and the next one has nothing to scan except due timers.
setting "workflow.worker_idle_timeout = '1s'"
await asleep "SELECT state FROM workflow.workers WHERE worker = 'scheduler'"
alone
before=$(read_before)
query "SELECT wf_start('timer', '{\"wait\": \"1 second\"}')" >/dev/null
fires_early "after a pause"
await asleep "SELECT state FROM workflow.workers WHERE worker = 'scheduler'"
after=$(read_before)
[ $((after - before)) -lt 5000 ] || fail "a scheduler that was started for a timer read $((after - before)) rows of the queue"
is 50000 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: and does not look at them at all"
