#!/usr/bin/env bash
# A changed setting reaches the background workers of a database at once, whether they sleep or not, by reload, ALTER DATABASE and ALTER
# ROLE; and so does the end of an instance that retention removes. Covered: each way to change a setting, with workers that sleep, work and
# have exited. What else wakes them: ddl (databases, extensions, roles), restore_in_place (COPY), retention (rounds that end and do not
# start again).
# Long: rounds of retention are seconds apart. `make test` leaves it to `make test-all`.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SELECT wf_define('{"definitionId": "waits", "root": {"type": "RunTask", "taskName": "Wait"}}');
SELECT wf_define('{"definitionId": "ends", "root": {"type": "SetName", "value": "ended"}}');
SELECT wf_define('{"definitionId": "soon", "root": {"type": "Delay", "timeSpan": "00:00:00.1"}}');
SQL
run() { query "SELECT count(wf_start('$2')) FROM generate_series(1, $1)" >/dev/null; } # NUMBER DEFINITION
left() { echo "SELECT count(*) FROM workflow.instances WHERE definition_id IN ('ends', 'soon') AND sub_status = 'Finished'"; }
scheduler="FROM workflow.workers WHERE worker = 'scheduler' AND database = 'workflow'"
asleep() { await asleep "SELECT state $scheduler"; }

# A database with nothing due is not checked. The workers have exited, or wait.
setting "workflow.worker_idle_timeout = '1s'" "workflow.launch_workers = on"
asleep
run 10 ends
is 10 "$(left)"
query "ALTER DATABASE workflow SET workflow.retention = '1s'"
await 0 "$(left)"
echo "ok: ALTER DATABASE wakes a database that sleeps"
query "ALTER DATABASE workflow RESET workflow.retention"
asleep
run 10 ends
setting "workflow.retention = '1s'"
await 0 "$(left)"
echo "ok: so does a reload"
setting "workflow.retention = DEFAULT"
asleep
run 10 ends
query "ALTER ROLE postgres IN DATABASE workflow SET workflow.retention = '1s'"
await 0 "$(left)"
echo "ok: and ALTER ROLE"
query "ALTER ROLE postgres IN DATABASE workflow RESET ALL"
asleep

setting "workflow.worker_idle_timeout = '1h'"
run 10 soon
await running "SELECT state $scheduler"
await 10 "$(left)"
setting "workflow.retention = '1s'"
await 0 "$(left)"
setting "workflow.retention = DEFAULT"
run 10 soon
await 10 "$(left)"
query "ALTER DATABASE workflow SET workflow.retention = '1s'"
await 0 "$(left)"
echo "ok: and a scheduler that is there takes the new setting"

# An instance that ends later is removed although nothing else is due, whether or not a worker checked before it ended.
run 5 waits
await 0 "$(left)"
query "SELECT wf_complete_task(id) FROM workflow.tasks WHERE status = 'Open'" >/dev/null
await 0 "SELECT count(*) FROM workflow.instances"
setting "workflow.worker_idle_timeout = '1s'"
asleep
run 5 ends
await 0 "$(left)"
echo "ok: what ends later is removed without a further thing to wake the database"

# Executors have the settings of sessions that begin now.
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE TABLE public.seen (value text);
SELECT wf_define('{"definitionId": "asks", "root": [{"type": "Delay", "timeSpan": "00:00:00.1"},
    {"type": "Sql", "statement": "INSERT INTO public.seen VALUES (current_setting(''workflow.queue_ttl''))"}]}');
SQL
setting "workflow.worker_idle_timeout = '1h'"
run 1 asks
await "1d" "SELECT string_agg(value, ' ') FROM public.seen"
query "ALTER DATABASE workflow SET workflow.queue_ttl = '2h'"
run 1 asks
await "1d 2h" "SELECT string_agg(value, ' ') FROM public.seen"
query "ALTER DATABASE workflow SET workflow.restoring = on"
await 0 "SELECT count(*) FROM workflow.workers WHERE worker = 'executor'"
run 1 asks
query "ALTER DATABASE workflow RESET ALL"
await "1d 2h 1d" "SELECT string_agg(value, ' ') FROM public.seen"
echo "ok: executors have the settings of sessions that begin now, and a database that was restored goes on at once"
is 0 "SELECT sum(failed) $scheduler"

# The activity Log writes to the server's log from a level on, whatever happens to the transaction, and to no client.
psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/logged.out" 2>&1 <<'SQL'
SET client_min_messages = log;
SELECT wf_define('{"definitionId": "logs", "root": [{"type": "Log", "message": "quiet"},
    {"type": "Log", "level": "Warning", "message": "loud", "attributes": {"sku": 17}},
    {"type": "Log", "level": "Critical", "message": {"js": "`one\\ntwo` + `y`.repeat(10000)"}}]}');
SELECT instance_id FROM wf_run('logs') \gset
BEGIN;
SET LOCAL workflow.log_min_level = warning;
SELECT sub_status FROM wf_run('logs');
ROLLBACK;
SQL
is 3 "SELECT count(*) FROM workflow.journal WHERE event = 'Logged'"
[ "$(grep -c 'LOG:  workflow log: Warning (Process): loud' "$PGHOST/log")" -eq 1 ] || fail "it is not in the server's log, or twice"
grep -qE 'DETAIL:  Definition "logs", instance [0-9a-f-]{36}, attributes \{"sku": ?17\}\.' "$PGHOST/log" || fail "its detail is not there"
[ "$(grep -cE 'Critical \(Process\): one twoy{8185}…' "$PGHOST/log")" -eq 1 ] || fail "a long message is not cut, or has lines of its own"
! grep -q 'quiet' "$PGHOST/log" || fail "what is below the level is in the server's log"
! grep -q 'workflow log' "$WORKFLOW_TMP/logged.out" || fail "a client was told"
echo "ok: what is logged goes into the server's log from workflow.log_min_level on"
