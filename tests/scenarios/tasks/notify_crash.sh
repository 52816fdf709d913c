#!/usr/bin/env bash
# Tasks are opened, reminders come, and deadlines pass, while the server is killed again and again. Each of these starts a workflow or
# publishes an event, which write a line. At the end:
#   - There is one line for each task that was opened, and for each that took its place at the deadline.
#   - There is one line for each reminder that came before the next one was due, and for the event of each deadline.
#   - There is no line of a task that was rolled back.
#   - A deadline that raises the priority has raised it.
# The power does not fail, so fsync is off.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

rounds=3 number=4
if [ "$WORKFLOW_TEST_SECONDS" -gt 10 ]; then rounds=20 number=20; fi

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE author LOGIN;
SELECT wf_grant_usage('author');
-- No key: what came twice is there twice.
CREATE TABLE told (how text NOT NULL, task text NOT NULL, reason text NOT NULL);
GRANT INSERT ON told TO author;
CREATE FUNCTION directory(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE sql
AS $$ SELECT $1, $1 || '@example.com', NULL, NULL, 'the manager of ' || $1 $$;
SELECT wf_set_directory('directory(text)');
SET ROLE author;
SELECT wf_define('{"definitionId": "tell", "root": {"type": "Sql", "statement": "INSERT INTO public.told VALUES (''workflow'', $1 #>> ''{}'', $2 #>> ''{}'')",
    "parameters": [{"input": "task"}, {"input": "reason"}]}}');
SELECT wf_define('{"definitionId": "hear", "root": [{"id": "heard", "type": "Event", "eventName": "Task", "canStartWorkflow": true, "result": {"var": "Heard"}},
    {"type": "Sql", "statement": "INSERT INTO public.told VALUES (''event'', $1 #>> ''{}'', $2 #>> ''{}'')",
    "parameters": [{"js": "getHeard().task"}, {"js": "getHeard().reason"}]}], "variables": {"Heard": null}}');
-- A task that stays open: nothing takes its reminders away.
SELECT wf_define('{"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["ada"], "deadline": "600 ms",
    "onDeadline": "event", "deadlineEvent": "Task", "notify": {"workflow": "tell", "event": "Task"},
    "reminders": ["200 ms", {"before": "200 ms"}, {"after": "300 ms"}]}}');
SELECT wf_define('{"definitionId": "raise", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["ada"], "deadline": "400 ms",
    "onDeadline": "raise", "raiseTo": 7}}');
SELECT wf_define('{"definitionId": "approve", "options": {"notify": {"workflow": "tell"}}, "root": {"id": "ask", "type": "Approve", "by": ["ada", "ben"],
    "subject": "s", "deadline": "500 ms", "onDeadline": "escalate", "escalateTo": "manager"}}');
SQL

# start: instances of each kind, and some that are rolled back.
start() {
    psql -X -q -U author -v ON_ERROR_STOP=1 >/dev/null -c "SET client_min_messages = error" \
        -c "SELECT count(wf_start(d, correlation_id => 'kept')) FROM unnest('{ask,raise,approve}'::text[]) AS d, generate_series(1, $number)" \
        -c "BEGIN; SELECT wf_start(d) FROM unnest('{ask,approve}'::text[]) AS d; ROLLBACK"
}

setting "workflow.launch_workers = on"
for ((round = 1; round <= rounds; round++)); do
    start
    for crash in 1 2 3; do
        sleep "0.$((RANDOM % 4 + 1))"
        kill_server
        start_server
    done
done
total=$((rounds * number))
await "$total" "SELECT count(*) FROM workflow.instances WHERE definition_id = 'approve' AND status = 'Finished'"
await 0 "SELECT count(*) FROM workflow.bookmarks WHERE due_at IS NOT NULL OR name LIKE 'Workflow.%'"
await 0 "SELECT count(*) FROM workflow.bookmark_queue"

is "" "SELECT instance_id, message FROM workflow.incidents LIMIT 5"
is "event|due|$total
event|opened|$total
workflow|escalated|$((2 * total))
workflow|opened|$((3 * total))" "SELECT how, reason, count(*) FROM told WHERE reason <> 'reminded' GROUP BY 1, 2 ORDER BY 1, 2"
# A reminder that is overdue together with the next one is left to that one; the last one always comes.
is "" "SELECT how, task, count(*) FROM told WHERE reason = 'reminded' GROUP BY 1, 2 HAVING count(*) > 3 LIMIT 5"
is "event|$total
workflow|$total" "SELECT how, count(DISTINCT task) FROM told WHERE reason = 'reminded' GROUP BY 1 ORDER BY 1"
is "" "SELECT task FROM told WHERE reason = 'reminded' GROUP BY 1 HAVING count(*) FILTER (WHERE how = 'event') <> count(*) FILTER (WHERE how = 'workflow') LIMIT 5"
is "" "SELECT how, task, reason, count(*) FROM told WHERE reason <> 'reminded' GROUP BY 1, 2, 3 HAVING count(*) <> 1 LIMIT 5"
is "" "SELECT * FROM told WHERE NOT EXISTS (SELECT FROM workflow.tasks AS t WHERE t.id = told.task::uuid) LIMIT 5"
is "7|$total" "SELECT b.priority, count(*) FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id WHERE i.definition_id = 'raise' GROUP BY 1"
is "the manager of ada|$total
the manager of ben|$total" "SELECT candidates ->> 0, count(*) FROM workflow.tasks WHERE candidates::text LIKE '%manager%' GROUP BY 1 ORDER BY 1"
is "" "SELECT * FROM wf_check()"
echo "ok: $((3 * total)) instances, $(query "SELECT count(*) FROM told") notices"
