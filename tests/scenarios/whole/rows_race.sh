#!/usr/bin/env bash
# Clients complete tasks while others update the rows of these tasks directly, as fast as they can: the second waits, no client gets "tuple
# concurrently updated", and no change is lost.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

pairs=4 turns=500
psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<SQL
SELECT wf_define('{"definitionId": "loop", "variables": {"N": 0}, "root": [
    {"type": "For", "start": 1, "end": $turns, "body": {"type": "RunTask", "taskName": "Turn"}}]}');
SELECT wf_start('loop', correlation_id => n::text) FROM generate_series(0, $((pairs - 1))) AS n;
-- How often rows have been changed by hand.
CREATE TABLE touched (times integer NOT NULL);
SQL
cat >"$WORKFLOW_TMP/complete.sql" <<'SQL'
SELECT wf_complete_task(task_id) FROM workflow.open_tasks WHERE correlation_id = :client_id::text;
SQL
cat >"$WORKFLOW_TMP/change.sql" <<'SQL'
WITH t AS (UPDATE workflow.tasks SET payload = jsonb_build_object('touched', coalesce((payload ->> 'touched')::integer, 0) + 1)
           WHERE completed_at IS NULL AND correlation_id = :client_id::text RETURNING 1)
INSERT INTO touched SELECT count(*) FROM t;
SQL
pgbench -n -c "$pairs" -T 600 -f "$WORKFLOW_TMP/change.sql" >"$WORKFLOW_TMP/change.out" 2>&1 &
changing=$!
pgbench -n -c "$pairs" -t "$turns" -f "$WORKFLOW_TMP/complete.sql" >"$WORKFLOW_TMP/complete.out" 2>&1 ||
    fail "$(grep -m 3 -i error "$WORKFLOW_TMP/complete.out")"
kill -0 "$changing" 2>/dev/null || fail "$(grep -m 3 -i error "$WORKFLOW_TMP/change.out")"
kill "$changing"
wait "$changing" || true
is "Finished|$pairs" "SELECT sub_status, count(*) FROM workflow.instances GROUP BY 1"
is $((pairs * turns)) "SELECT count(*) FROM workflow.tasks WHERE status = 'Completed'"
is t "SELECT (SELECT sum((payload ->> 'touched')::integer) FROM workflow.tasks) = (SELECT sum(times) FROM touched)"
echo "ok: $((pairs * turns)) tasks completed while their rows were changed $(query 'SELECT sum(times) FROM touched') times by hand"
