-- A response is written by the burst that the request runs. Where one stands behind an activity that waits, wf_define warns.
\i tests/regress/include/http.sql
CREATE FUNCTION pg_temp.warns(root jsonb) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT path || ': ' || message FROM wf_validate(jsonb_build_object('definitionId', 'late', 'root', root), 'warning') WHERE severity = 'warning' AND message LIKE 'the response%' $$;

-- As in Elsa's guide: the program outside answers later, and by then the caller has an answer.
SELECT * FROM wf_define('{"definitionId": "guide", "root": [
    {"type": "HttpEndpoint", "path": "guide", "canStartWorkflow": true},
    {"id": "ask", "type": "SendHttpRequest", "url": "https://example.com/"},
    {"id": "answer", "type": "WriteHttpResponse", "content": "done"}]}');
SELECT * FROM http('GET', '/guide');

-- What waits: tasks, events, times, children that are waited for, and what runs in a burst of its own.
SELECT w FROM unnest(ARRAY['{"type": "RunTask", "id": "w", "taskName": "t"}', '{"type": "Event", "id": "w", "eventName": "e"}', '{"type": "Delay", "id": "w", "timeSpan": "1 s"}',
        '{"type": "DispatchWorkflow", "id": "w", "workflowDefinitionId": "guide", "waitForCompletion": true}',
        '{"type": "MigrateInstances", "id": "w", "definitionId": "guide", "version": 2}',
        '{"type": "WriteLine", "id": "w", "text": "t", "runAsynchronously": true}']::jsonb[]) WITH ORDINALITY AS a (activity, n),
    pg_temp.warns(jsonb_build_array(activity, '{"type": "WriteHttpResponse"}'::jsonb)) AS w ORDER BY n;
-- What does not: another request, a child that is only started, what starts the workflow, what comes after the response.
SELECT count(w) FROM unnest(ARRAY['[{"type": "RunTask", "taskName": "t"}, {"type": "HttpEndpoint", "path": "b"}]',
        '[{"type": "DispatchWorkflow", "workflowDefinitionId": "guide"}]', '[{"type": "Event", "eventName": "e", "canStartWorkflow": true}]',
        '[{"type": "WriteHttpResponse"}, {"type": "RunTask", "taskName": "t"}, {"type": "HttpEndpoint", "path": "b"}]']::jsonb[]) AS before,
    pg_temp.warns(before || '[{"type": "WriteHttpResponse"}]') AS w;
-- On one way of several is enough: in a branch, in an earlier round of a loop, along the connections of a flowchart, back as well.
SELECT pg_temp.warns('[{"type": "If", "condition": true, "then": {"id": "asked", "type": "RunTask", "taskName": "t"}}, {"id": "r", "type": "WriteHttpResponse"}]');
SELECT pg_temp.warns('{"type": "While", "condition": true, "body": [{"id": "r", "type": "WriteHttpResponse"}, {"id": "asked", "type": "RunTask", "taskName": "t"}]}');
SELECT pg_temp.warns('{"type": "Flowchart", "activities": [{"id": "in", "type": "HttpEndpoint", "path": "f", "canStartWorkflow": true}, {"id": "r", "type": "WriteHttpResponse"},
    {"id": "asked", "type": "RunTask", "taskName": "t"}], "connections": [["in", "r"], ["r", "asked"], ["asked", "r"]]}');
SELECT pg_temp.warns('{"type": "StateMachine", "states": ["A", "B"], "transitions": [
    {"from": "A", "to": "B", "trigger": {"type": "HttpEndpoint", "path": "m"}, "action": {"id": "r", "type": "WriteHttpResponse"}},
    {"from": "A", "to": "B", "trigger": {"id": "e", "type": "Event", "eventName": "e"}, "action": {"id": "late", "type": "WriteHttpResponse"}}]}');
