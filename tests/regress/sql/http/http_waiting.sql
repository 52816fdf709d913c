-- An endpoint in the middle of a workflow waits for its request: which instance of several is meant, and who comes first.
\i tests/regress/include/http.sql

-- Reached in the middle of a workflow, an endpoint waits. The template may be made by an expression.
SELECT * FROM wf_define('{"definitionId": "approval", "root": [
    {"id": "decision", "type": "HttpEndpoint", "path": {"js": "`leave/${getCorrelationId()}/{decision}`"}, "supportedMethods": ["POST", "DELETE"],
        "routeData": {"output": "Route"}},
    {"type": "WriteHttpResponse", "content": {"js": "getOutputFrom(''decision'', ''RouteData'').decision"}}]}');
SELECT wf_start('approval', correlation_id => 'ada') AS ada \gset
SELECT name, payload, metadata FROM workflow.bookmarks WHERE instance_id = :'ada' ORDER BY id;
SELECT * FROM http('POST', '/leave/ada/granted');
SELECT sub_status, output FROM workflow.instance_list WHERE instance_id = :'ada';
SELECT * FROM http('POST', '/leave/ada/granted');

-- Where many wait at one path, the correlation id or the id of the instance says who is meant.
SELECT * FROM wf_define('{"definitionId": "survey", "root": [
    {"type": "HttpEndpoint", "path": "survey"}, {"type": "WriteHttpResponse", "content": {"js": "getCorrelationId()"}}]}');
SELECT wf_start('survey', correlation_id => 'a') AS a, wf_start('survey', correlation_id => 'b') AS b, wf_start('survey', correlation_id => 'c') AS c \gset
SELECT * FROM http('GET', '/survey');
SELECT body FROM http('GET', '/survey?correlationId=b');
SELECT body FROM http('GET', '/survey', headers => jsonb_build_object('x-workflow-instance-id', :'c'));
SELECT body FROM http('GET', '/survey');
SELECT * FROM http('GET', '/survey', headers => '{"X-Correlation-ID": "nobody"}');
SELECT * FROM http('GET', '/survey?workflowInstanceId=7');

-- Triggers come before bookmarks, but an instance that is named before both. One that is not there gets the id.
SELECT * FROM wf_define('{"definitionId": "counter", "variables": {"N": 0}, "root": {"type": "Flowchart",
    "activities": [{"id": "in", "type": "HttpEndpoint", "path": "count", "canStartWorkflow": true},
        {"id": "add", "type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}},
        {"id": "out", "type": "WriteHttpResponse", "content": {"var": "N"}}],
    "connections": [["in", "add"], ["add", "out"], ["out", "in"]]}}');
SELECT body FROM http('GET', '/count?correlationId=first');
SELECT body FROM http('GET', '/count');
SELECT body FROM workflow.instance_list AS i, http('GET', '/count?workflowInstanceId=' || i.instance_id) WHERE correlation_id = 'first';
SELECT body FROM http('GET', '/count?workflowInstanceId=019a0000-0000-7000-8000-00000000000a');
SELECT body FROM http('GET', '/count?workflowInstanceId=019a0000-0000-7000-8000-00000000000a');
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'counter';

SELECT * FROM wf_define('{"definitionId": "greet", "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "greet/{Name}", "canStartWorkflow": true},
    {"type": "WriteHttpResponse", "content": {"js": "`Hello ${getOutputFrom(''in'', ''RouteData'').Name}!`"}}]}');

-- Started or resumed without a request, an endpoint waits for one.
SELECT sub_status, bookmarks -> 0 ->> 'activity_id' AS waits_at FROM wf_run('greet', trigger_activity_id => 'in');
SELECT b.id AS bookmark, b.instance_id AS crossing FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id WHERE i.definition_id = 'greet' \gset
SELECT metadata FROM workflow.bookmarks WHERE id = :'bookmark';
SELECT sub_status FROM wf_resume(:'bookmark');
SELECT id <> :'bookmark' AS another, metadata FROM workflow.bookmarks WHERE instance_id = :'crossing';
SELECT body FROM http('GET', '/greet/Bob', headers => jsonb_build_object('X-Workflow-Instance-ID', :'crossing'));
