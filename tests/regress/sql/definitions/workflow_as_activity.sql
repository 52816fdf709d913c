-- A workflow used inside another: its activities run inside the instance of the workflow that uses it.
\i tests/regress/include/workflow_as_activity.sql

\i tests/regress/include/add_numbers.sql
SELECT pg_temp.run('sums', '{"first": 20}');

-- There is one instance, and its journal shows what happened inside.
SELECT definition_id, count(*) FROM workflow.instance_list GROUP BY 1;
SELECT activity, activity_type, event FROM workflow.journal ORDER BY seq, number;

-- Complete ends the workflow that it stands in, with outcomes that a flowchart around it follows, and goes no further.
SELECT * FROM wf_define('{
    "definitionId": "check", "name": "Check", "options": {"usableAsActivity": true}, "outcomes": ["Good", "Bad"], "inputs": [{"name": "days"}],
    "root": [
        {"type": "If", "condition": {"sql": "(input ->> ''days'')::integer > 5"}, "then": {"type": "Complete", "outcomes": "Bad"}},
        {"type": "Complete", "outcomes": "Good"}]
}');
SELECT * FROM wf_define('{
    "definitionId": "decide",
    "root": [{"type": "Flowchart",
        "activities": [
            {"id": "check", "type": "Check", "days": {"input": "n"}},
            {"id": "yes", "type": "WriteLine", "text": "granted"}, {"id": "no", "type": "WriteLine", "text": "refused"}],
        "connections": [["check", "Good", "yes"], ["check", "Bad", "no"]]},
        {"type": "WriteLine", "text": "decided"}]
}');
SELECT pg_temp.run('decide', '{"n": 3}');
SELECT pg_temp.run('decide', '{"n": 9}');

-- The catalogue lists it.
SELECT type, inputs, outputs, outcomes FROM wf_activities() WHERE type IN ('AddNumbers', 'Check') ORDER BY type;

-- What waits inside is a bookmark of the instance; ids may repeat, node ids do not.
SELECT * FROM wf_define('{
    "definitionId": "ask", "name": "Ask", "options": {"usableAsActivity": true}, "inputs": [{"name": "who"}], "outputs": [{"name": "answer"}],
    "root": [
        {"id": "task", "type": "RunTask", "taskName": "Answer", "payload": {"object": {"who": {"input": "who"}}}},
        {"type": "SetOutput", "outputName": "answer", "outputValue": {"js": "getInput(''who'') + '': '' + getOutputFrom(''task'')"}}]
}');
SELECT * FROM wf_define('{
    "definitionId": "ask-both", "outputs": [{"name": "x"}, {"name": "y"}],
    "root": {"type": "Parallel", "activities": [
        {"id": "one", "type": "Ask", "who": "Ada", "answer": {"output": "x"}},
        {"id": "two", "type": "Ask", "who": "Bob", "answer": {"output": "y"}}]}
}');
SELECT wf_start('ask-both', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT activity_id, node_id, payload ->> 'TaskName' AS task FROM workflow.open_bookmarks ORDER BY node_id;
SELECT r.sub_status, r.output FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"yes"') AS r WHERE t.payload ->> 'who' = 'Bob';
SELECT r.sub_status, r.output FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"no"') AS r WHERE t.payload ->> 'who' = 'Ada';

-- A fault inside is retried inside.
CREATE FUNCTION pg_temp.divisor() RETURNS integer LANGUAGE sql AS 'SELECT 0';
SELECT * FROM wf_define('{"definitionId": "divide", "outputs": [{"name": "q"}],
    "root": [{"type": "WriteLine", "text": "once"}, {"id": "div", "type": "SetOutput", "outputName": "q", "outputValue": {"sql": "100 / pg_temp.divisor()"}}]}');
SELECT * FROM wf_define('{"definitionId": "divides", "root": {"workflowDefinitionId": "divide", "q": {"output": "q"}}}');
SELECT wf_start('divides', instance_id => '01900000-0000-7000-8000-000000000002');
SELECT activity_id, message FROM workflow.open_incidents;
CREATE OR REPLACE FUNCTION pg_temp.divisor() RETURNS integer LANGUAGE sql AS 'SELECT 4';
SELECT sub_status, output FROM wf_retry('01900000-0000-7000-8000-000000000002', '{div}');
SELECT count(*) AS lines FROM workflow.journal WHERE instance_id = '01900000-0000-7000-8000-000000000002' AND event = 'Line';

-- Which version each uses is a view.
SELECT * FROM workflow.definition_links ORDER BY definition_id, version, uses;
