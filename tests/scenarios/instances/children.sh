#!/usr/bin/env bash
# A thousand children of one parent: ended by eight clients at once, run by background workers, and run by workers that are killed. Each
# child reports once, no report is lost, and the parent continues after the last.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

children=1000

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE TABLE heard (child uuid NOT NULL);
SELECT wf_define('{"definitionId": "asks", "root": [{"type": "RunTask", "taskName": "t"}]}');
SELECT wf_define('{"definitionId": "runs", "root": [{"type": "SetName", "value": {"js": "`item ${getInput(''Item'')}`"}}]}');
SELECT wf_define(jsonb_build_object('definitionId', 'all-of-' || child, 'variables', '{"N": 0}'::jsonb, 'root', jsonb_build_array(
    jsonb_build_object('type', 'BulkDispatchWorkflows', 'workflowDefinitionId', child, 'items', '{"input": "items"}'::jsonb,
        'childCompleted', '[{"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}},
             {"type": "Sql", "statement": "INSERT INTO public.heard VALUES (($1 #>> ''{}'')::uuid)", "parameters": [{"var": "ChildInstanceId"}]}]'::jsonb),
    '{"type": "Correlate", "correlationId": {"js": "`heard of ${getN()}`"}}'::jsonb))) FROM unnest('{asks,runs}'::text[]) AS child;
SELECT wf_define('{"definitionId": "all-at-once", "variables": {"N": 0}, "root": [
    {"type": "BulkDispatchWorkflows", "workflowDefinitionId": "asks", "items": {"input": "items"},
     "childCompleted": {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}},
    {"type": "Correlate", "correlationId": {"js": "`heard of ${getN()}`"}}]}');
SQL

# dispatch DEFINITION: prints the parent's id.
dispatch() {
    query "SET client_min_messages = error; SELECT wf_start('$1', jsonb_build_object('items', (SELECT jsonb_agg(g) FROM generate_series(1, $children) AS g)))"
}

# heard PARENT: the state of the parent and the number of reports it has received.
heard() { echo "SELECT sub_status, correlation_id FROM workflow.instances WHERE id = '$1'"; }

# Without background workers: eight clients complete the tasks of all children; reports for a locked parent are left to wf_run_due.
parent=$(dispatch all-at-once)
query "SET client_min_messages = error; SELECT wf_run_due($((children * 2)))" >/dev/null
is "$children" "SELECT count(*) FROM workflow.tasks WHERE status = 'Open'"
query "CREATE TABLE task AS SELECT id, row_number() OVER (ORDER BY id) AS n FROM workflow.tasks"
cat >"$WORKFLOW_TMP/complete.sql" <<'SQL'
SELECT nextval('next') AS n \gset
SELECT wf_complete_task(id) FROM task WHERE n = :n;
SQL
query "CREATE SEQUENCE next"
pgbench -n -c 8 -j 2 -t $((children / 8)) -f "$WORKFLOW_TMP/complete.sql" >"$WORKFLOW_TMP/pgbench.out" 2>&1 || fail "$(tail -n 3 "$WORKFLOW_TMP/pgbench.out")"
is 0 "SELECT count(*) FROM workflow.tasks WHERE status = 'Open'"
query "SET client_min_messages = error; SELECT wf_run_due(100000)" >/dev/null
is "Finished|heard of $children" "$(heard "$parent")"
is 0 "SELECT count(*) FROM workflow.bookmark_queue"
is 0 "SELECT count(*) FROM workflow.dead_letters"
echo "ok: $children children ended by eight clients at once"

# Workers run the children and deliver their reports; the parent runs SQL of its owner.
setting "workflow.launch_workers = on"
parent=$(dispatch all-of-runs)
await "Finished|heard of $children" "$(heard "$parent")"
is "$children|$children" "SELECT count(*), count(DISTINCT child) FROM heard"
await 0 "SELECT count(*) FROM workflow.bookmark_queue"
bursts=$(query "SELECT count(*) FROM workflow.execution_log WHERE instance_id = '$parent'")
[ "$bursts" -lt $((children / 4)) ] || fail "$bursts bursts of the parent: reports are not delivered together"
echo "ok: $children children run by workers, reported in $bursts bursts"

# The same, while the server is killed at random moments.
query "TRUNCATE heard"
parent=$(dispatch all-of-runs)
for _ in 1 2 3; do
    sleep "0.$((RANDOM % 4 + 1))"
    kill_server
    start_server
done
await "Finished|heard of $children" "$(heard "$parent")"
is "$children|$children" "SELECT count(*), count(DISTINCT child) FROM heard"
is "$children" "SELECT count(*) FROM workflow.instances WHERE parent_instance_id = '$parent' AND sub_status = 'Finished'"
is 0 "SELECT count(*) FROM workflow.dead_letters"
echo "ok: the same through three crashes"
