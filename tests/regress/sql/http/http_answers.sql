-- A program that has a request gives it to wf_http_request, and gets the answer back: the response of the workflow, an empty one,
-- or what went wrong.
\i tests/regress/include/http.sql

-- A response needs a request that still waits for it.
SELECT sub_status, incidents -> 0 ->> 'message' AS message FROM wf_define('{"definitionId": "reply", "root": {"type": "WriteHttpResponse"}}') AS d, wf_run(d.definition_id);

-- A child that ends at once is no wait: the workflow goes on in the same call. What goes wrong then is the answer, too.
SELECT * FROM wf_define('{"definitionId": "kitchen", "root": [{"type": "SetOutput", "outputName": "dish", "outputValue": "soup"}]}');
SELECT * FROM wf_define('{"definitionId": "serve", "variables": {"R": null}, "root": [{"type": "HttpEndpoint", "path": "serve", "canStartWorkflow": true},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "kitchen", "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteHttpResponse", "content": {"js": "getR().output.dish"}}]}');
SELECT * FROM http('GET', '/serve');
SELECT * FROM wf_define('{"definitionId": "spill", "root": [{"type": "HttpEndpoint", "path": "spill", "canStartWorkflow": true},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "kitchen", "waitForCompletion": true}, {"id": "it", "type": "Fault", "message": "spilled"}]}');
\set VERBOSITY terse
SELECT status, body::jsonb ->> 'error' AS error FROM http('GET', '/spill');
\set VERBOSITY default
-- Who writes no response answers with 200 and nothing, also while the workflow goes on waiting.
SELECT * FROM wf_define('{"definitionId": "ping", "root": [{"type": "HttpEndpoint", "path": "ping", "canStartWorkflow": true}, {"type": "Event", "eventName": "Pong"}]}');
SELECT * FROM http('GET', '/ping');

-- A fault is 500, and stays to be looked at. What was wrong is told to those who may read it.
SELECT * FROM wf_define('{"definitionId": "broken", "root": [
    {"type": "HttpEndpoint", "path": "broken", "canStartWorkflow": true}, {"id": "it", "type": "Fault", "message": "out of ink"}]}');
\set VERBOSITY terse
SELECT * FROM http('GET', '/broken');
\set VERBOSITY default
-- A response that was written before counts.
SELECT * FROM wf_define('{"definitionId": "late", "root": [
    {"type": "HttpEndpoint", "path": "late", "canStartWorkflow": true}, {"type": "WriteHttpResponse", "statusCode": 202}, {"type": "WriteHttpResponse"}]}');
\set VERBOSITY terse
SELECT * FROM http('GET', '/late');
\set VERBOSITY default
-- Where a faulted workflow waits, it is faulted.
SELECT * FROM wf_define('{"definitionId": "half", "root": {"type": "Parallel", "activities": [{"type": "HttpEndpoint", "path": "half"}, {"type": "Fault"}]}}');
\set VERBOSITY terse
SELECT sub_status FROM wf_run('half');
\set VERBOSITY default
SELECT * FROM http('GET', '/half');

-- An activation strategy refuses.
SELECT * FROM wf_define('{"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "single", "canStartWorkflow": true}, {"type": "Event", "eventName": "Done"}]}');
SELECT status FROM http('GET', '/single');
SELECT * FROM http('GET', '/single');
SELECT event, activity FROM workflow.execution_log AS l, jsonb_to_recordset(workflow._events(l.instance_id, l.events)) AS e (event text, activity text) WHERE e.event = 'Start refused';

-- A workflow that asks itself would wait for itself.
SELECT * FROM wf_define('{"definitionId": "self", "root": {"type": "Parallel", "activities": [{"type": "HttpEndpoint", "path": "self"},
    [{"type": "Event", "eventName": "Ask"}, {"type": "Sql", "statement": "SELECT status, headers FROM wf_http_request(''GET'', ''/self'')", "result": {"output": "Answer"}}]]}}');
SELECT wf_start('self') AS self \gset
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Ask');
SELECT output FROM workflow.instance_list WHERE instance_id = :'self';

-- What the caller of the function does wrong is an error, not an answer.
SELECT status FROM wf_http_request(NULL, '/ping');
SELECT status FROM wf_http_request('GET', NULL);
SELECT status FROM wf_http_request('GET', '/ping', headers => '[]');
SELECT status FROM wf_http_request('GET', '/ping', headers => NULL);
SELECT status FROM wf_http_request('GET', '/ping', headers => '{"a": {"b": 1}}');
SELECT status FROM wf_http_request('GET', '/ping', query => '{"a": [[1]]}');

-- A rollback takes a request back like any other call.
BEGIN;
SELECT status FROM http('GET', '/ping');
ROLLBACK;
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'ping';
