-- Outputs belong to the execution of the container in which they were made: bodies that run beside each other, and
-- rounds of a loop, do not see one another's.

CREATE FUNCTION pg_temp.lines(instance uuid) RETURNS SETOF jsonb LANGUAGE sql AS $$
    SELECT data FROM workflow.journal WHERE instance_id = instance AND event = 'Line' ORDER BY seq, number $$;

-- Each body reads its own output: in scripts, Liquid and SQL.
SELECT wf_define('{"definitionId": "beside", "root": {"type": "ParallelForEach", "items": ["a", "b", "c"], "body": [
    {"id": "q", "type": "SqlSingleValue", "command": "SELECT upper({{Variable.CurrentValue}})"},
    {"type": "WriteLine", "text": {"js": "`${getCurrentValue()} -> ${getOutputFrom(''q'', ''Result'')} ${getResultFromQ()} ${getLastResult()}`"}},
    {"type": "WriteLine", "text": {"liquid": "{{ Variables.CurrentValue }} -> {{ LastResult }}"}},
    {"type": "WriteLine", "text": {"sql": "variables ->> ''CurrentValue'' || '' -> '' || (outputs -> ''q'' ->> ''result'') || (result #>> ''{}'')"}},
    {"type": "WriteLine", "text": {"sql": "SELECT {{Variable.CurrentValue}} || '' -> '' || {{LastResult}}"}}]}}');
SELECT pg_temp.lines(wf_start('beside'));

-- The same across a wait: each body is resumed in a call of its own, the last one first.
SELECT wf_define('{"definitionId": "beside", "root": {"type": "ParallelForEach", "items": ["a", "b", "c"], "body": [
    {"id": "q", "type": "SqlSingleValue", "command": "SELECT upper({{Variable.CurrentValue}})"},
    {"id": "ask", "type": "RunTask", "taskName": "ask", "payload": {"js": "getLastResult()"}},
    {"type": "WriteLine", "text": {"js": "`${getCurrentValue()} -> ${getOutputFrom(''q'')}, ${getOutputFrom(''ask'')} ${getLastResult()}`"}}]}}');
SELECT wf_start('beside') AS i \gset
SELECT payload FROM workflow.open_tasks WHERE instance_id = :'i' ORDER BY payload;
SELECT wf_complete_task(task_id, to_jsonb('answer ' || (payload #>> '{}'))) IS NOT NULL AS answered
FROM (SELECT * FROM workflow.open_tasks WHERE instance_id = :'i' AND payload = '"B"') AS t;
SELECT o ->> 'activity_id' AS open, o -> 'outputs' AS outputs FROM jsonb_array_elements(workflow.instance_state(:'i') -> 'open') AS o
ORDER BY (o ->> 'execution')::int;
SELECT wf_complete_task(task_id, to_jsonb('answer ' || (payload #>> '{}'))) IS NOT NULL AS answered
FROM (SELECT * FROM workflow.open_tasks WHERE instance_id = :'i' ORDER BY payload DESC) AS t;
SELECT pg_temp.lines(:'i');

-- The branches of a flowchart share one container: each goes on with the result of its own last step, and what a join
-- lets run sees the latest result of the branches that have reached it.
SELECT wf_define('{"definitionId": "fork", "root": {"type": "Flowchart", "activities": [
    {"id": "fork", "type": "FlowFork", "branches": ["A", "B"]},
    {"id": "a", "type": "SqlSingleValue", "command": "SELECT ''of a''"}, {"id": "a2", "type": "WriteLine", "text": {"js": "`A sees ${getLastResult()}`"}},
    {"id": "b", "type": "SqlSingleValue", "command": "SELECT ''of b''"}, {"id": "b2", "type": "WriteLine", "text": {"js": "`B sees ${getLastResult()}`"}},
    {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "end", "type": "WriteLine", "text": {"js": "`the end sees ${getLastResult()}`"}}],
    "connections": [["fork", "A", "a"], ["a", "a2"], ["fork", "B", "b"], ["b", "b2"], ["a2", "join"], ["b2", "join"], ["join", "end"]]}}');
SELECT pg_temp.lines(wf_start('fork'));

-- The handler of a compensation reads what its own body has made.
SELECT wf_define('{"definitionId": "saga", "root": [
    {"type": "ParallelForEach", "items": ["a", "b"], "body": {"id": "step", "type": "Compensable",
        "body": [{"id": "book", "type": "SqlSingleValue", "command": "SELECT ''booking '' || {{Variable.CurrentValue}}"}, {"id": "wait", "type": "Event", "eventName": "go"}],
        "compensation": {"type": "WriteLine", "text": {"js": "`cancel ${getOutputFrom(''book'')}`"}}}},
    {"type": "Compensate"}]}');
SELECT wf_start('saga') AS i \gset
SELECT wf_publish_event('go');
SELECT pg_temp.lines(:'i');

-- A round of a loop does not see what an earlier round made. What follows the loop sees the latest.
SELECT wf_define('{"definitionId": "rounds", "root": [
    {"type": "ForEach", "items": [1, 2], "body": [
        {"type": "If", "condition": {"js": "getCurrentValue() === 1"}, "then": {"id": "ask", "type": "SqlSingleValue", "command": "SELECT ''yes''"}},
        {"type": "WriteLine", "text": {"js": "`${getCurrentValue()}: ${getOutputFrom(''ask'')}`"}}]},
    {"type": "WriteLine", "text": {"js": "`after: ${getOutputFrom(''ask'')}`"}}]}');
SELECT pg_temp.lines(wf_start('rounds'));
