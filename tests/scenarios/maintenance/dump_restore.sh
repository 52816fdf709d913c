#!/usr/bin/env bash
# pg_dump and psql, as a DBA uses them: instances that wait in one database continue in another. Suspended instances, tasks, stored stimuli,
# triggers, grants and registered activities are restored; ended instances are still in the history.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

ok() { echo "ok: $*"; }

# refused MESSAGE COMMAND
refused() {
    local said
    if said=$(query "$2" 2>&1); then fail "not refused: $2"; fi
    [[ $said == *"$1"* ]] || fail "expected '$1', got '$said' from: $2"
}

query "CREATE ROLE clerk; CREATE ROLE newcomer" >/dev/null
psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/fill.out" <<'SQL'
CREATE TABLE requests (id text PRIMARY KEY, status text NOT NULL);
CREATE FUNCTION stamp(context jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('outputs', jsonb_build_object('by', 'the stamp of ' || (context -> 'inputs' ->> 'office'))) $$;
SELECT wf_register_activity('Stamp', 'stamp(jsonb)', inputs => '[{"name": "office", "type": "String"}]', outputs => '[{"name": "by", "type": "String"}]');

SELECT wf_define('{"definitionId": "leave", "variables": {"Answer": null, "Large": null}, "root": [
    {"type": "SetVariable", "variable": "Large", "value": {"js": "''x''.repeat(100000)"}},
    {"id": "supervisor", "type": "RunTask", "taskName": "Supervisor", "payload": {"object": {"employee": {"input": "employee"}}}, "result": {"var": "Answer"}},
    {"id": "manager", "type": "Event", "eventName": "Manager", "result": {"var": "Answer"}},
    {"id": "archive", "type": "Sql", "statement": "INSERT INTO requests VALUES ($1 #>> ''{}'', ''archived'')", "parameters": [{"input": "employee"}]},
    {"id": "stamped", "type": "Stamp", "office": "registry", "by": {"var": "Answer"}}]}');
SELECT wf_define('{"definitionId": "alarm", "root": [
    {"id": "ring", "type": "Event", "eventName": "Alarm", "canStartWorkflow": true}, {"id": "handle", "type": "RunTask", "taskName": "Handle"}]}');
SELECT wf_define('{"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": [{"id": "go", "type": "Event", "eventName": "Go"}]}');
SELECT wf_define('{"definitionId": "shaky", "root": [{"id": "divide", "type": "SetName", "value": {"sql": "1 / (SELECT count(*) FROM requests WHERE id = ''repaired'')"}}]}');
SELECT wf_define('{"definitionId": "inner", "outputs": [{"name": "answer"}], "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Ask"}, {"type": "SetOutput", "outputName": "answer", "outputValue": {"js": "getOutputFrom(''ask'')"}}]}');
SELECT wf_define('{"definitionId": "outer", "root": [{"workflowDefinitionId": "inner", "answer": {"output": "answer"}}]}');
SELECT wf_grant_usage('clerk');
SELECT wf_grant('leave', 'clerk', ARRAY['start', 'read']);

SET client_min_messages = error;
SELECT wf_start('leave', '{"employee": "Ada"}', 'at-first');
SELECT wf_start('leave', '{"employee": "Grace"}', 'at-second');
SELECT wf_resume(b.id, '{"by": "Edsger"}') FROM workflow.bookmarks AS b WHERE correlation_id = 'at-second';
SELECT wf_start('leave', '{"employee": "Barbara"}', 'ended');
SELECT wf_cancel(id) FROM workflow.instances WHERE correlation_id = 'ended';
SELECT wf_start('single', correlation_id => 'only');
SELECT wf_start('shaky', correlation_id => 'faulted');
SELECT wf_enqueue_bookmark(activity_id => 'supervisor', correlation_id => 'to-come', input => '{"by": "early bird"}', keep_for => '30 days');
SELECT wf_start('outer', correlation_id => 'inside');
-- Older versions that instances still run on, one of them inside another workflow.
SELECT wf_define('{"definitionId": "inner", "root": []}');
SELECT wf_define('{"definitionId": "leave", "root": [{"id": "supervisor", "type": "Event", "eventName": "Supervisor"}]}');
SQL
is "" "SELECT * FROM wf_check()"

# The content of every table, in a form that can be compared between two databases.
contents() {
    local name
    for name in $(query "SELECT relname FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND relkind = 'r' ORDER BY 1" "$1"); do
        echo "$name: $(query "SELECT count(*), md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM workflow.$name AS t" "$1")"
    done
}

pg_dump -f "$WORKFLOW_TMP/dump.sql" "$PGDATABASE"
contents "$PGDATABASE" >"$WORKFLOW_TMP/before"
psql -X -q -d postgres -c "CREATE DATABASE restored"
psql -X -q -v ON_ERROR_STOP=1 -d restored -f "$WORKFLOW_TMP/dump.sql" >"$WORKFLOW_TMP/restore.out" 2>&1 || fail "restore: $(tail -n 5 "$WORKFLOW_TMP/restore.out")"
contents restored >"$WORKFLOW_TMP/after"
diff "$WORKFLOW_TMP/before" "$WORKFLOW_TMP/after" || fail "the tables differ"
ok "restored without an error, every table the same"

export PGOPTIONS="-c client_min_messages=error"
original=$PGDATABASE PGDATABASE=restored
is "" "SELECT * FROM wf_check()"
ok "wf_check() has nothing to say"

is "Suspended" "SELECT r.sub_status FROM workflow.tasks AS t, wf_complete_task(t.id, '{\"by\": \"Edsger\"}') AS r WHERE t.correlation_id = 'at-first' AND t.status = 'Open'"
is "1" "SELECT cardinality(resumed) FROM wf_publish_event('Manager', '{\"by\": \"Grace\"}', correlation_id => 'at-first')"
is "Finished|\"the stamp of registry\"|100000" "SELECT sub_status, variables -> 'Answer', length(variables ->> 'Large') FROM workflow.instances WHERE correlation_id = 'at-first'"
is "Ada|archived" "SELECT * FROM requests"
ok "an instance suspended at its first step goes on to its end, with its variables, SQL and custom activity"

is "Finished" "SELECT r.sub_status FROM workflow.bookmarks AS b, wf_resume(b.id) AS r WHERE correlation_id = 'at-second'"
ok "one suspended at its second step, too, on the version it was started with"

is 'Finished|"yes"' "SELECT r.sub_status, r.output -> 'answer' FROM workflow.tasks AS t, wf_complete_task(t.id, '\"yes\"') AS r WHERE t.correlation_id = 'inside'"
ok "and one inside a workflow that another uses, in the version that was settled"

is "Suspended|manager" "SELECT r.sub_status, r.bookmarks -> 0 ->> 'activity_id' FROM wf_run('leave', '{\"employee\": \"Edsger\"}', 'to-come', version => 1) AS r"
is "0" "SELECT count(*) FROM workflow.bookmark_queue"
ok "a kept stimulus is met by its bookmark"

is "1" "SELECT cardinality(started) FROM wf_publish_event('Alarm')"
ok "a trigger starts"

refused "allows no further instance" "SELECT wf_start('single')"
ok "the running singleton is still the only one"

query "INSERT INTO requests VALUES ('repaired', '')" >/dev/null
is "Finished" "SELECT r.sub_status FROM workflow.instances AS i, wf_retry(i.id) AS r WHERE correlation_id = 'faulted'"
ok "a faulted instance is retried"

is "t" "SET ROLE clerk; SELECT wf_start('leave') IS NOT NULL"
is "1" "SET ROLE clerk; SELECT count(DISTINCT definition_id) FROM workflow.definition_list"
refused "permission denied" "SET ROLE clerk; SELECT wf_start('single')"
ok "what was granted is granted, and nothing else"

query "SELECT wf_grant_usage('newcomer')" >/dev/null
is "t" "SET ROLE newcomer; SELECT wf_define('{\"definitionId\": \"new\", \"root\": []}') IS NOT NULL"
is "t" "SET ROLE newcomer; SELECT wf_start('new') IS NOT NULL"
is "3" "SELECT version FROM wf_define('{\"definitionId\": \"leave\", \"root\": []}')"
ok "new owners and versions get numbers of their own"

is "" "SELECT * FROM wf_check()"
check_storage
contents "$original" | diff "$WORKFLOW_TMP/before" - || fail "the original changed"
ok "wf_check() is empty, the original untouched"
