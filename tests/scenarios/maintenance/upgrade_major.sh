#!/usr/bin/env bash
# From PostgreSQL 17 on: pg_upgrade of a cluster of PostgreSQL 15, each server with its own library. Instances wait at all kinds of
# bookmarks. In the new cluster all data is there and nothing fires, users can continue, and once the administrator declares it the live one
# everything overdue fires once.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

noted="SELECT count(*), count(DISTINCT instance) FROM happened"
old=$WORKFLOW_TMP/old
new=$WORKFLOW_TMP/new

skip() {
    echo "skipped: $*"
    exit 75
}

[ -n "${OLD_PGBIN:-}" ] || skip "this machine has no PostgreSQL 15 to upgrade from"
# Since November 2026 servers store a column option that older minor releases of every major reject.
major=$(query "SELECT current_setting('server_version_num')::integer / 10000" postgres)
if [ "$major" -gt 17 ] && grep -q pg_attver "$OLD_PGBIN/postgres" && ! grep -q pg_attver "$PGBIN/postgres"; then
    skip "$("$PGBIN/postgres" --version) is older than the releases of the time of $("$OLD_PGBIN/postgres" --version), and refuses its columns"
fi

# as ROLE COMMAND
as() { query "SET ROLE $1; $2"; }

# Table by table, in a form that can be compared between two servers. The text of an owner contains the cluster.
contents() {
    local name
    for name in $(query "SELECT relname FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND relkind = 'r' AND relname <> 'owners' ORDER BY 1"); do
        echo "$name: $(query "SELECT count(*), md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM workflow.$name AS t")"
    done
    query "SELECT activity, correlation_id, since, due FROM workflow.waiting ORDER BY bookmark_id"
    query "SELECT name, owner, next_run FROM workflow.schedules ORDER BY 1"
}

# The old server replaces the scenario's own.
sed -n '/^listen_addresses/,$p' "$PGDATA/postgresql.conf" >"$WORKFLOW_TMP/settings"
stop_server
new_path=$PATH
export PATH=$OLD_PGBIN:$PATH PGDATA=$old
initdb -D "$old" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N >/dev/null
cat "$WORKFLOW_TMP/settings" >>"$old/postgresql.conf"
start_server
query "CREATE DATABASE workflow" postgres
query "CREATE DATABASE plain" postgres
query "CREATE EXTENSION workflow"
is 15 "SELECT current_setting('server_version_num')::integer / 10000"

time_books
setting "workflow.launch_workers = on"
start 3 noted "1 ms"
await "3|3" "$noted"
setting "workflow.enabled = off"
query "CREATE ROLE clerk LOGIN" >/dev/null
query "SELECT wf_grant_usage('clerk')" >/dev/null
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SET client_min_messages = error;
CREATE TABLE requests (id text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
GRANT SELECT, INSERT ON requests TO clerk;
CREATE FUNCTION stamp(context jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('outputs', jsonb_build_object('by', 'the stamp of ' || (context -> 'inputs' ->> 'office'))) $$;
SELECT wf_register_activity('Stamp', 'stamp(jsonb)', inputs => '[{"name": "office", "type": "String"}]', outputs => '[{"name": "by", "type": "String"}]');
SELECT wf_define('{"definitionId": "leave", "variables": {"Answer": null, "Large": null}, "root": [
    {"type": "SetVariable", "variable": "Large", "value": {"input": "large"}},
    {"id": "supervisor", "type": "RunTask", "taskName": "Supervisor", "result": {"var": "Answer"}},
    {"id": "manager", "type": "Event", "eventName": "Manager", "result": {"var": "Answer"}},
    {"id": "stamped", "type": "Stamp", "office": "registry", "by": {"var": "Answer"}}]}');
SELECT wf_define('{"definitionId": "alarm", "root": [
    {"id": "ring", "type": "Event", "eventName": "Alarm", "canStartWorkflow": true}, {"id": "handle", "type": "RunTask", "taskName": "Handle"}]}');
SELECT wf_define('{"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": [{"id": "go", "type": "Event", "eventName": "Go"}]}');
SELECT wf_define('{"definitionId": "shaky", "root": [{"id": "divide", "type": "SetName", "value": {"sql": "1 / (SELECT count(*) FROM public.requests WHERE id = ''repaired'')"}}]}');
SELECT wf_define('{"definitionId": "behind", "root": [{"type": "Sql", "runAsynchronously": true, "statement": "INSERT INTO public.requests VALUES (''behind'')"}]}');
SELECT wf_define('{"definitionId": "parent", "root": [{"type": "DispatchWorkflow", "workflowDefinitionId": "noted", "input": {"wait": "1 ms"}, "waitForCompletion": true}]}');
SELECT wf_define('{"definitionId": "site", "root": [{"type": "HttpEndpoint", "path": "greet", "canStartWorkflow": true},
    {"type": "HttpEndpoint", "path": "greet/again"}, {"type": "WriteHttpResponse", "content": "Hello"}]}');
SELECT wf_grant('single', 'clerk', '{resume}');

SELECT wf_start('leave', jsonb_build_object('large', string_agg(md5(n::text), '')), 'at-first') FROM generate_series(1, 10000) AS n;
SELECT wf_start('leave', jsonb_build_object('large', string_agg(md5(n::text), '')), 'at-second') FROM generate_series(1, 10000) AS n;
SELECT wf_resume(b.id, '{"by": "Edsger"}') FROM workflow.bookmarks AS b WHERE correlation_id = 'at-second';
SELECT wf_start('single', correlation_id => 'only');
SELECT wf_start('shaky', correlation_id => 'faulted');
SELECT wf_start('behind');
SELECT wf_start('parent');
SELECT wf_http_request('GET', '/greet');
SELECT wf_enqueue_bookmark(activity_id => 'supervisor', correlation_id => 'to-come', input => '{"by": "early bird"}', keep_for => '30 days');
-- An older version that instances still run on.
SELECT wf_define('{"definitionId": "leave", "root": [{"id": "supervisor", "type": "Event", "eventName": "Supervisor"}]}');
-- A schedule with an instant that has passed, of each kind and owner.
SELECT set_config('workflow.now', (now() - interval '90 minutes')::text, false);
SELECT wf_schedule('hourly', 'every 1 hour', 'INSERT INTO public.requests VALUES (''hourly'')');
SELECT wf_schedule_workflow('report', 'every 1 hour', 'behind');
SELECT set_config('workflow.now', '', false);
SET ROLE clerk;
SELECT wf_schedule('clerk''s', '1 year', 'SELECT 1');
SELECT wf_define('{"definitionId": "of the clerk", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES (($1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
SELECT wf_start('of the clerk', '{"wait": "1 ms"}');
SQL
start 5 noted "1 ms"
start 5 pure "1 ms"
start 5 pure "1 year"
await 13 "SELECT count(*) FROM workflow.bookmarks WHERE due_at <= clock_timestamp()"
is 3 "SELECT count(*) FROM workflow.schedules WHERE next_run <= clock_timestamp() OR owner = 'clerk'"
is "3|3" "$noted"
is "" "SELECT * FROM wf_check()"
contents >"$WORKFLOW_TMP/before"
# As far as our settings are concerned, both servers that pg_upgrade starts may fire.
query "ALTER SYSTEM RESET workflow.enabled"
stop_server

export PATH=$new_path PGDATA=$new
# From 18 on initdb enables checksums, and pg_upgrade requires both clusters to agree.
checksums=()
if initdb --help | grep -q no-data-checksums; then checksums=(--no-data-checksums); fi
initdb -D "$new" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N "${checksums[@]}" >/dev/null
cat "$WORKFLOW_TMP/settings" "$old/postgresql.auto.conf" >>"$new/postgresql.conf"
cd "$WORKFLOW_TMP" || exit
pg_upgrade -b "$OLD_PGBIN" -B "$PGBIN" -d "$old" -D "$new" -U postgres -s "$WORKFLOW_TMP" >"$WORKFLOW_TMP/upgrade.out" 2>&1 ||
    fail "$(tail -n 30 "$WORKFLOW_TMP/upgrade.out")"
echo "ok: pg_upgrade from $("$OLD_PGBIN/postgres" --version) to $("$PGBIN/postgres" --version)"

start_server
is "$major" "SELECT current_setting('server_version_num')::integer / 10000"
# The scheduler has checked everything due by then.
await foreign "SELECT state FROM workflow.workers WHERE worker = 'scheduler'"
export PGOPTIONS="-c client_min_messages=error"
is 0 "SELECT wf_run_due()"
is 0 "$(printf 'SELECT count(*) FROM pg_stat_activity WHERE backend_type = %s' "'workflow executor'")"
contents | diff "$WORKFLOW_TMP/before" - || fail "the tables differ after pg_upgrade"
is "" "SELECT * FROM wf_check()"
eventually has_logged 1 'WARNING:  this database is a copy, and its timers belong to the original'
echo "ok: all is there, the database is foreign, and nothing fires"

is Suspended "SELECT r.sub_status FROM workflow.tasks AS t, wf_complete_task(t.id, '{\"by\": \"Edsger\"}') AS r WHERE t.correlation_id = 'at-first' AND t.status = 'Open'"
is 2 "SELECT cardinality(resumed) FROM wf_publish_event('Manager', '{\"by\": \"Grace\"}')"
is "at-first|Finished|\"the stamp of registry\"|320000
at-second|Finished|\"the stamp of registry\"|320000" "SELECT correlation_id, sub_status, variables -> 'Answer', length(variables ->> 'Large') FROM workflow.instances WHERE correlation_id LIKE 'at-%' ORDER BY 1"
is "Suspended|manager" "SELECT r.sub_status, r.bookmarks -> 0 ->> 'activity_id' FROM wf_run('leave', '{}', 'to-come', version => 1) AS r"
is 1 "SELECT cardinality(started) FROM wf_publish_event('Alarm')"
is Hello "SELECT convert_from(body, 'UTF8') FROM wf_http_request('GET', '/greet/again')"
if query "SELECT wf_start('single')" >/dev/null 2>&1; then fail "a second instance of a singleton"; fi
only=$(query "SELECT b.id FROM workflow.bookmarks AS b WHERE correlation_id = 'only'")
is Finished "SET ROLE clerk; SELECT sub_status FROM wf_resume('$only')"
if as clerk "SELECT wf_start('single')" >/dev/null 2>&1; then fail "the clerk may start what he may only resume"; fi
query "INSERT INTO requests VALUES ('repaired')"
is Finished "SELECT r.sub_status FROM workflow.instances AS i, wf_retry(i.id) AS r WHERE correlation_id = 'faulted'"
start 2 noted "1 ms"
is "3|3" "$noted"
is "" "SELECT id FROM requests WHERE id <> 'repaired'"
echo "ok: people can go on, with tasks, events, requests and large values, and as another role"

is "clerk|1|1
postgres|30|16" "SELECT role, instances, overdue FROM wf_adopt_database() ORDER BY 1"
await "12|12" "$noted"
await "pure" "SELECT DISTINCT definition_id FROM workflow.instances WHERE id IN (SELECT instance_id FROM workflow.bookmarks WHERE due_at IS NOT NULL)"
await "behind|2
hourly|1
repaired|1" "SELECT id, count(*) FROM requests GROUP BY 1 ORDER BY 1"
await "hourly|succeeded
report|succeeded" "SELECT name, status FROM workflow.schedule_runs ORDER BY 1"
is clerk "SELECT DISTINCT owner FROM happened WHERE owner <> 'postgres'"
is "" "SELECT * FROM wf_check()"
start 2 noted "1 ms"
await "14|14" "$noted"
check_storage
echo "ok: adopted, everything overdue fires once, as its owner"
stop_server
