#!/usr/bin/env bash
# Retention removes expired rows, terminates, and does not read the remaining rows again, whatever they are.
# Long: rounds of retention are seconds apart. `make test` leaves it to `make test-all`.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SELECT wf_define('{"definitionId": "waits", "root": {"type": "RunTask", "taskName": "Wait"}}');
SELECT wf_define('{"definitionId": "ends", "root": {"type": "SetName", "value": "ended"}}');
SELECT wf_define('{"definitionId": "stays", "options": {"retention": "365 days"}, "root": {"type": "SetName", "value": "ended"}}');
SELECT wf_define('{"definitionId": "soon", "root": {"type": "Delay", "timeSpan": "00:00:00.1"}}');
SELECT wf_define('{"definitionId": "marker", "root": [{"type": "Delay", "timeSpan": "00:00:04"}, {"type": "RunTask", "taskName": "Marker"}]}');
SQL
run() { query "SELECT count(wf_start('$2')) FROM generate_series(1, $1)" >/dev/null; } # NUMBER DEFINITION
left() { echo "SELECT count(*) FROM workflow.instances WHERE definition_id IN ('ends', 'soon') AND sub_status = 'Finished'"; }
survivors="SELECT count(*) FROM workflow.instances WHERE definition_id <> 'marker'"
scheduler="FROM workflow.workers WHERE worker = 'scheduler' AND database = 'workflow'"

# 20,000 rows that stay, of three kinds, some of them older and some younger than the rest.
run 8000 waits
run 30000 ends
run 8000 waits
run 4000 stays
is 30000 "$(left)"
# All are old enough for the first round, so that the next round need not read them.
await t "SELECT max(created_at) < clock_timestamp() - interval '2 seconds' FROM workflow.instances"
setting "workflow.worker_idle_timeout = '1h'" "workflow.retention = '1s'" "workflow.launch_workers = on"
await 0 "$(left)"
is 20000 "$survivors"

# reads: rows of instances and of the journal that all sessions have read.
reads() { query "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE relid IN ('workflow.instances'::regclass, 'workflow.execution_log'::regclass)"; }
# It terminates: the scheduler sleeps until a timer fires. Firing reads some rows; a step of retention over the remaining rows would read a
# thousand.
setting "autovacuum = off"
await idle "SELECT DISTINCT state FROM pg_stat_activity WHERE backend_type = 'workflow scheduler' AND datname = 'workflow'"
number=0
while true; do
    number=$((number + 1))
    before=$(reads)
    run 1 marker
    await "$number" "SELECT count(*) FROM workflow.tasks WHERE name = 'Marker'"
    after=$(reads)
    [ $((after - before)) -ge 100 ] || break
done
echo "ok: retention ends"

# Later rows are found without reading the remaining ones again.
gone=$(query "SELECT n_tup_del FROM pg_stat_user_tables WHERE relid = 'workflow.instances'::regclass")
for turn in 1 2 3; do
    # Instances that end later than they start are read before they expire, and then once more.
    run 20 soon
    run 20 ends
    # Counting the rows of the tables would read them.
    await t "SELECT n_tup_del >= $gone + 40 * $turn FROM pg_stat_user_tables WHERE relid = 'workflow.instances'::regclass"
done
after=$(reads)
# Each of the 120 is read a few times while it runs and when it is removed.
[ $((after - before)) -lt 10000 ] || fail "for 120 instances $((after - before)) rows were read"
is 20000 "$survivors"
echo "ok: what survives is not read again"

# Ids need not be in order of time: callers choose them, and clocks can be set back.
first=00000000-0000-4000-8000-000000000001 last=ffffffff-ffff-4fff-bfff-fffffffffff0
for ids in "$first $last" "$last $first"; do
    read -r at_once later <<<"$ids"
    query "SELECT wf_start('ends', instance_id => '$at_once')" >/dev/null
    query "SELECT wf_start('waits', instance_id => '$later')" >/dev/null
    query "SELECT wf_complete_task(id) FROM workflow.tasks WHERE instance_id = '$later'" >/dev/null
    await 0 "SELECT count(*) FROM workflow.instances WHERE id IN ('$first', '$last')"
done
is 20000 "$survivors"
echo "ok: nor does the order of ids matter"

# A remaining instance that ends is removed as well.
query "SELECT wf_complete_task(id) FROM workflow.tasks WHERE status = 'Open' ORDER BY id LIMIT 10" >/dev/null
await 19990 "$survivors"
echo "ok: until it ends"

# Rows kept by a longer retention are removed when it is over: the definition's retention is shortened while a round that has passed them is
# still removing others.
run 30000 ends
await t "SELECT count(*) < 30000 FROM workflow.instances WHERE definition_id = 'ends'"
query "UPDATE workflow.definitions SET retention = 1000000 WHERE definition_id = 'stays'"
setting "workflow.retention = '2s'"
await 15990 "$survivors"
echo "ok: and what is kept for longer goes when that time is over"
is 0 "SELECT sum(failed) $scheduler"
