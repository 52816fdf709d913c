#!/usr/bin/env bash
# Retention removes what is over, ends, and does not read again what it left, whatever that is.
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

# 20,000 survivors of three kinds, some of them older and some younger than the rest.
run 8000 waits
run 30000 ends
run 8000 waits
run 4000 stays
is 30000 "$(left)"
# None is too young for the first round: it would be read by the next one.
await t "SELECT max(created_at) < clock_timestamp() - interval '2 seconds' FROM workflow.instances"
setting "workflow.worker_idle_timeout = '1h'" "workflow.retention = '1s'" "workflow.launch_workers = on"
await 0 "$(left)"
is 20000 "$survivors"

# reads: rows of instances and of the journal that all sessions have read.
reads() { query "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE relid IN ('workflow.instances'::regclass, 'workflow.execution_log'::regclass)"; }
# It ends: the scheduler sleeps, and so it stays, until a timer fires. That reads some rows; a step of retention over what is left
# would read a thousand.
setting "autovacuum = off"
await idle "SELECT DISTINCT state FROM pg_stat_activity WHERE backend_type = 'workflow scheduler' AND datname = 'workflow'"
for number in {1..20}; do
    before=$(reads)
    run 1 marker
    await "$number" "SELECT count(*) FROM workflow.tasks WHERE name = 'Marker'"
    after=$(reads)
    [ $((after - before)) -ge 100 ] || break
done
[ $((after - before)) -lt 100 ] || fail "retention reads on where nothing is left: $((after - before)) rows until a timer fired"
echo "ok: retention ends"

# What comes after that is found without reading what is left again.
gone=$(query "SELECT n_tup_del FROM pg_stat_user_tables WHERE relid = 'workflow.instances'::regclass")
for turn in 1 2 3; do
    # Those that end later than they begin are read before their time is over, and then once more.
    run 20 soon
    run 20 ends
    # To count the rows of the tables would be to read them.
    await t "SELECT n_tup_del >= $gone + 40 * $turn FROM pg_stat_user_tables WHERE relid = 'workflow.instances'::regclass"
done
after=$(reads)
# Each of the 120 is read some times while it runs and when it goes.
[ $((after - before)) -lt 10000 ] || fail "for 120 instances $((after - before)) rows were read"
is 20000 "$survivors"
echo "ok: what survives is not read again"

# Ids need not be in the order of time: a caller gives them, and a clock can be set back.
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

# A survivor that ends goes, too.
query "SELECT wf_complete_task(id) FROM workflow.tasks WHERE status = 'Open' ORDER BY id LIMIT 10" >/dev/null
await 19990 "$survivors"
echo "ok: until it ends"

# What a longer time kept goes when that is over: the definition changes its mind for those that are there, here while a round
# that has passed them is still removing others.
run 30000 ends
await t "SELECT count(*) < 30000 FROM workflow.instances WHERE definition_id = 'ends'"
query "UPDATE workflow.definitions SET retention = 1000000 WHERE definition_id = 'stays'"
setting "workflow.retention = '2s'"
await 15990 "$survivors"
echo "ok: and what is kept for longer goes when that time is over"
is 0 "SELECT sum(failed) $scheduler"
