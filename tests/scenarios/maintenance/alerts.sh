#!/usr/bin/env bash
# Each alert of examples/monitoring/alerts.yml fires in the state that it is for, and no other alert does: the state is produced, `wf serve`
# is scraped before and after, and promtool evaluates the rules on these samples.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

command -v promtool >/dev/null || { echo "promtool is missing"; exit 75; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
helper=$here/alerts_rules.py rules=$here/../../../examples/monitoring/alerts.yml
free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free_port) metrics_port=$(free_port)

# scrape NAME: stores the metrics under this name.
scrape() { /usr/bin/python3 "$helper" scrape "http://127.0.0.1:$metrics_port/metrics" "$WORKFLOW_TMP/$1"; }
has_scraped() { scrape "$1" && grep -qx "$2" "$WORKFLOW_TMP/$1"; }

# The alerts that are to fire: a state stays while the next one is added, unless it is ended.
fires=()
# now_fires [ALERT]...: exactly these fire in addition to the earlier ones.
now_fires() {
    fires+=("$@")
    scrape now
    /usr/bin/python3 "$helper" fire "$rules" "$WORKFLOW_TMP" "$WORKFLOW_TMP/healthy" "$WORKFLOW_TMP/now" "${fires[@]}"
    echo "ok: ${*:-no other alert}"
}

time_books
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE watcher;
GRANT pg_monitor TO watcher;
CREATE ROLE gateway LOGIN NOINHERIT;
GRANT watcher TO gateway;
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Fault", "message": "no"}}'),
    wf_define('{"definitionId": "stuck", "root": {"type": "Parallel", "activities": [{"type": "Fault", "message": "no"}, {"type": "Delay", "timeSpan": "1 hour"}]}}'),
    wf_define('{"definitionId": "any", "root": {"id": "a", "type": "RunTask", "taskName": {"input": "name"}}}'),
    wf_define('{"definitionId": "hears", "root": {"type": "Event", "eventName": "Go"}}'),
    wf_define('{"definitionId": "relay", "root": [{"type": "Event", "eventName": "Go"}, {"type": "ContinueAs"}]}'),
    wf_limit_tasks('Charge card', 1),
    wf_schedule('fails', '0 0 1 1 *', 'SELECT 1 / 0');
SQL
touch "$WORKFLOW_TMP/keys.toml"
"$WF" serve --listen "127.0.0.1:$port" --metrics-listen "127.0.0.1:$metrics_port" --metrics-role watcher --api-keys "$WORKFLOW_TMP/keys.toml" \
    --database "host=$PGHOST port=$PGPORT dbname=$PGDATABASE user=gateway" 2>"$WORKFLOW_TMP/gateway.log" &
gateway=$!
trap 'kill "$gateway" 2>/dev/null || true' EXIT
eventually has_scraped healthy 'wf_database_up 1'
now_fires

query "SET client_min_messages = error; SELECT wf_start('wrong')" >/dev/null
now_fires WorkflowNewIncidents

query "SELECT wf_schedule_run_now('fails')" >/dev/null
query "SET client_min_messages = error; SELECT wf_run_due()" >/dev/null
now_fires WorkflowScheduleFailed

query "SELECT wf_publish_event('Early', correlation_id => 'early', keep_for => '1 day')" >/dev/null
query "UPDATE workflow.bookmark_queue SET expires_at = created_at"
query "SELECT wf_run_due()" >/dev/null
now_fires WorkflowNewDeadLetters

query "SELECT wf_start('any', '{\"name\": \"Sign\"}')" >/dev/null
query "UPDATE workflow.bookmarks SET created_at = created_at - interval '2 days' WHERE payload ->> 'TaskName' = 'Sign'"
now_fires WorkflowTaskWaits

query "SELECT wf_start('any', '{\"name\": \"Charge card\"}') FROM generate_series(1, 2)" >/dev/null
is 1 "SELECT count(*) FROM wf_claim_tasks('{Charge card}', max => 2, lease => '1 day')"
now_fires WorkflowTaskLimitFull

# 10,000 timers of a faulted instance are due, which hide others. They stay for this scrape only.
stuck=$(query "SET client_min_messages = error; SELECT wf_start('stuck')")
timer=$(query "UPDATE workflow.bookmarks SET due_at = due_at - interval '2 hours' WHERE instance_id = '$stuck' AND due_at IS NOT NULL RETURNING id")
query "INSERT INTO workflow.bookmarks
    SELECT r.* FROM workflow.bookmarks AS b CROSS JOIN generate_series(1, 10000) AS n
        CROSS JOIN LATERAL jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid(), 'number', n)) AS r
    WHERE b.id = '$timer'"
before=("${fires[@]}")
now_fires WorkflowLatenessUnknown
query "DELETE FROM workflow.bookmarks WHERE instance_id = '$stuck' AND due_at IS NOT NULL AND id <> '$timer'"
fires=("${before[@]}")
now_fires

# No background worker runs, and then the only one is busy.
late=$(query "SELECT wf_start('held', '{\"wait\": \"1 hour\"}')")
query "UPDATE workflow.bookmarks SET due_at = due_at - interval '2 hours' WHERE instance_id = '$late'"
now_fires WorkflowFiresLate

setting "workflow.max_executors = 1" "workflow.launch_workers = on"
await 1 "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND backend_type = 'workflow executor'"
eventually has_scraped now 'workflow_max_executors 1.0'
now_fires WorkflowExecutorsBusy

# An event is stored because its second instance is locked (a call waits for the first), and its delivery runs more bursts than it may.
query "SELECT wf_start('hears', correlation_id => 'relay')" >/dev/null
relay=$(query "SELECT wf_start('relay', correlation_id => 'relay')")
begin locker "SELECT FROM workflow.instances WHERE id = '$relay' FOR UPDATE"
is t "SELECT queued_id IS NOT NULL FROM wf_publish_event('Go', correlation_id => 'relay', keep_for => '1 day')"
finish locker ROLLBACK
query "SET workflow.max_bursts = 1; SELECT wf_run_due()" >/dev/null
is 1 "SELECT count(*) FROM workflow.bookmark_queue WHERE attempts > 0"
now_fires WorkflowDeliveriesFail

query "UPDATE public.gate SET is_open = true"
await 1 "SELECT count(*) FROM public.happened"
stop_server
fires=()
eventually has_scraped now 'wf_database_up 0'
now_fires WorkflowDatabaseDown WorkflowMetricsMissing

kill "$gateway"
wait "$gateway" || true
fires=()
now_fires WorkflowMetricsMissing
start_server

# No alert was left out.
listed=$(sed -n 's/^ *- alert: //p' "$rules" | sort)
provoked=$(sed -n 's/^now_fires \(Workflow.*\)/\1/p' "$here/alerts.sh" | tr ' ' '\n' | sort -u)
[ "$listed" = "$provoked" ] || fail "alerts.yml has"$'\n'"$listed"$'\n'"and this scenario provokes"$'\n'"$provoked"
echo "ok: each alert was provoked"
