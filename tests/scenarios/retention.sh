#!/usr/bin/env bash
# Retention removes what is over, ends, and does not read again what it left, whatever that is.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SELECT wf_define('{"definitionId": "waits", "root": {"type": "RunTask", "taskName": "Wait"}}');
SELECT wf_define('{"definitionId": "ends", "root": {"type": "SetName", "value": "ended"}}');
SELECT wf_define('{"definitionId": "stays", "options": {"retention": "365 days"}, "root": {"type": "SetName", "value": "ended"}}');
SELECT wf_define('{"definitionId": "soon", "root": {"type": "Delay", "timeSpan": "00:00:00.1"}}');
SQL
run() { query "SELECT count(wf_start('$2')) FROM generate_series(1, $1)" >/dev/null; } # NUMBER DEFINITION
left() { echo "SELECT count(*) FROM workflow.instances WHERE definition_id IN ('ends', 'soon') AND sub_status = 'Finished'"; }
scheduler="FROM workflow.workers WHERE worker = 'scheduler' AND database = 'workflow'"

# 20,000 survivors of three kinds, some of them older and some younger than the rest.
run 8000 waits
run 30000 ends
run 8000 waits
run 4000 stays
is 30000 "$(left)"
setting "workflow.worker_idle_timeout = '1h'" "workflow.retention = '1s'" "workflow.launch_workers = on"
await 0 "$(left)"
is 20000 "SELECT count(*) FROM workflow.instances"

# reads: rows of instances and of the journal that all sessions have read.
reads() { query "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE relid IN ('workflow.instances'::regclass, 'workflow.execution_log'::regclass)"; }
# It ends: the scheduler sleeps, and so it stays.
setting "autovacuum = off"
await idle "SELECT DISTINCT state FROM pg_stat_activity WHERE backend_type = 'workflow scheduler' AND datname = 'workflow'"
# Longer than the pause before a round that reads everything once more, for what was too young in the first one.
for _ in {1..10}; do
    before=$(reads)
    sleep 15
    after=$(reads)
    [ "$before" != "$after" ] || break
done
[ "$before" = "$after" ] || fail "retention reads on where nothing is left: $((after - before)) rows in fifteen seconds"
echo "ok: retention ends"

# What comes after that is found without reading what is left again.
gone=$(query "SELECT n_tup_del FROM pg_stat_user_tables WHERE relid = 'workflow.instances'::regclass")
for _ in 1 2 3; do
    # They end when they are made: one that ends later, and is read before its time is over, makes the next round a full one.
    run 40 ends
    sleep 4
done
# To count the rows of the tables would be to read them.
await t "SELECT n_tup_del >= $gone + 120 FROM pg_stat_user_tables WHERE relid = 'workflow.instances'::regclass"
after=$(reads)
# Each of the 120 is read some times while it runs and when it goes.
[ $((after - before)) -lt 10000 ] || fail "for 120 instances $((after - before)) rows were read"
is 20000 "SELECT count(*) FROM workflow.instances"
echo "ok: what survives is not read again"

# A survivor that ends goes, too.
query "SELECT wf_complete_task(id) FROM workflow.tasks WHERE status = 'Open' ORDER BY id LIMIT 10" >/dev/null
await 19990 "SELECT count(*) FROM workflow.instances"
echo "ok: until it ends"

# What a longer time kept goes when that is over: the definition changes its mind for those that are there.
query "UPDATE workflow.definitions SET retention = 1000000 WHERE definition_id = 'stays'"
setting "workflow.retention = '2s'"
await 15990 "SELECT count(*) FROM workflow.instances"
echo "ok: and what is kept for longer goes when that time is over"
is 0 "SELECT sum(failed) $scheduler"
