-- An HttpEndpoint is a path and a method. A program that has a request gives it to wf_http_request, and gets the answer back.
-- This is the client of this session: a body is bytes, which people rather read as text.
CREATE FUNCTION http(method text, path text, body text = NULL, headers jsonb = '{}', query jsonb = '{}',
    OUT status integer, OUT headers jsonb, OUT body text)
LANGUAGE sql BEGIN ATOMIC
    SELECT r.status, r.headers, convert_from(r.body, 'UTF8')
    FROM wf_http_request(http.method, http.path, http.headers, http.query, convert_to(http.body, 'UTF8')) AS r;
END;

-- A request starts the workflow, and WriteHttpResponse answers it.
SELECT * FROM wf_define('{"definitionId": "greet", "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "greet/{Name}", "canStartWorkflow": true},
    {"type": "WriteHttpResponse", "content": {"js": "`Hello ${getOutputFrom(''in'', ''RouteData'').Name}!`"}}]}');
SELECT * FROM http('GET', '/greet/Ada');
SELECT * FROM http('get', 'GREET/%C3%84nne%20%2F%20Co/?polite=yes');
SELECT definition_id, sub_status, owner = current_user AS mine FROM workflow.instance_list;

-- What no endpoint waits for is not found; another method is told apart.
SELECT * FROM http('GET', '/greet');
SELECT * FROM http('GET', '/greet/Ada/Lovelace');
SELECT * FROM http('POST', '/greet/Ada');
SELECT * FROM http('GET', '/greet//Ada');
SELECT * FROM http('GET', '/greet/%00');

-- Everything of the request comes out of the endpoint. Names of headers are read in any letter case.
SELECT * FROM wf_define('{"definitionId": "order", "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "orders/{number:int}", "supportedMethods": ["POST", "PUT"], "canStartWorkflow": true,
        "result": {"output": "Request"}, "headers": {"output": "Headers"}, "queryStringData": {"output": "Query"},
        "parsedContent": {"output": "Content"}},
    {"type": "WriteHttpResponse", "statusCode": "Created", "content": {"object": {"number": {"js": "getOutputFrom(''in'', ''RouteData'').number"}}},
        "responseHeaders": {"Location": "/orders/7", "Set-Cookie": ["a=1", "b=2"]}}]}');
SELECT * FROM http('PUT', '/orders/7?page=1&page=2', '{"total": 1.10}', headers => '{"content-type": "application/json", "X-Trace": 1}', query => '{"q": "x y"}');
SELECT jsonb_pretty(output) FROM workflow.instance_list WHERE definition_id = 'order';
SELECT * FROM http('PUT', '/orders/seven');

-- A form, a text, and what is neither.
SELECT * FROM wf_define('{"definitionId": "echo", "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "echo", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "WriteHttpResponse", "content": {"js": "getOutputFrom(''in'', ''ParsedContent'')"}}]}');
SELECT * FROM http('POST', '/echo', 'a=1&a=2&b=x+y', headers => '{"Content-Type": "application/x-www-form-urlencoded"}');
SELECT * FROM http('POST', '/echo', 'plain', headers => '{"Content-Type": "text/plain"}');
SELECT status, convert_from(body, 'UTF8') AS body FROM wf_http_request('POST', '/echo', '{"Content-Type": "image/png"}', body => '\x00ff');
SELECT * FROM http('POST', '/echo');

-- The more special template is meant: a text before a parameter before the rest of the path.
SELECT count(*) FROM unnest(ARRAY['files/new', 'files/{id:int}', 'files/{name}', 'files/{*rest}']) AS path, wf_define(jsonb_build_object('definitionId', path, 'root', jsonb_build_array(
    jsonb_build_object('type', 'HttpEndpoint', 'path', path, 'canStartWorkflow', true),
    jsonb_build_object('type', 'WriteHttpResponse', 'content', path))));
SELECT path, http.body FROM unnest('{files/new,files/7,files/x,files/x/y,files}'::text[]) AS path, http('GET', path);

-- Two that are equal are ambiguous, and nothing runs.
SELECT * FROM wf_define('{"definitionId": "files again", "root": {"type": "HttpEndpoint", "path": "files/{file}", "canStartWorkflow": true}}');
SELECT * FROM http('GET', '/files/x');
SELECT wf_retract('files again');

-- The same path and method belong to one workflow.
SELECT * FROM wf_define('{"definitionId": "greet too", "root": {"type": "HttpEndpoint", "path": "/Greet/{NAME}/", "supportedMethods": ["POST", "GET"], "canStartWorkflow": true}}');
SELECT * FROM wf_define('{"definitionId": "twice", "root": [{"id": "a", "type": "HttpEndpoint", "path": "twice", "canStartWorkflow": true},
    {"id": "b", "type": "HttpEndpoint", "path": "twice", "canStartWorkflow": true}]}');
SELECT path, message FROM wf_validate('{"definitionId": "x", "root": [{"type": "HttpEndpoint", "path": "a//b"}, {"type": "HttpEndpoint", "path": "{id:odd}"},
    {"type": "HttpEndpoint", "path": "a", "supportedMethods": ["NO GET"]}, {"type": "WriteHttpResponse", "statusCode": "Fine"},
    {"type": "WriteHttpResponse", "responseHeaders": {"Sp ace": "x"}}, {"type": "Elsa.SendHttpRequest"}, {"type": "Elsa.WriteFileHttpResponse"}]}');

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

-- Started or resumed without a request, an endpoint waits for one.
SELECT sub_status, bookmarks -> 0 ->> 'activity_id' AS waits_at FROM wf_run('greet', trigger_activity_id => 'in');
SELECT b.id AS bookmark, b.instance_id AS crossing FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id WHERE i.definition_id = 'greet' \gset
SELECT metadata FROM workflow.bookmarks WHERE id = :'bookmark';
SELECT sub_status FROM wf_resume(:'bookmark');
SELECT id <> :'bookmark' AS another, metadata FROM workflow.bookmarks WHERE instance_id = :'crossing';
SELECT body FROM http('GET', '/greet/Bob', headers => jsonb_build_object('X-Workflow-Instance-ID', :'crossing'));

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

-- A request that the endpoint turns away changes nothing: no instance, no resume.
SELECT * FROM wf_define('{"definitionId": "upload", "root": [
    {"type": "WriteLine", "text": "before"},
    {"id": "in", "type": "HttpEndpoint", "path": "upload", "supportedMethods": ["POST"], "canStartWorkflow": true, "requestSizeLimit": 200,
        "fileSizeLimit": 5, "blockedFileExtensions": [".exe"], "allowedMimeTypes": ["text/plain"], "exposeInvalidFileMimeTypeOutcome": true, "files": {"output": "Files"}}]}');
SELECT * FROM http('POST', '/upload', repeat('x', 201));
SELECT * FROM http('POST', '/upload', '{"a": 1', headers => '{"Content-Type": "application/json"}');
CREATE FUNCTION form(file_name text, content_type text, content text) RETURNS text LANGUAGE sql AS $$
    SELECT format(E'--b\r\nContent-Disposition: form-data; name="f"; filename="%s"\r\nContent-Type: %s\r\n\r\n%s\r\n--b--\r\n', $1, $2, $3) $$;
SELECT * FROM http('POST', '/upload', form('a.txt', 'text/plain', 'hello!'), headers => '{"Content-Type": "multipart/form-data; boundary=b"}');
SELECT * FROM http('POST', '/upload', form('a.EXE', 'text/plain', 'hello'), headers => '{"Content-Type": "multipart/form-data; boundary=b"}');
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'upload';
SELECT status FROM http('POST', '/upload', form('a.txt', 'text/plain', 'hello'), headers => '{"Content-Type": "multipart/form-data; boundary=b"}');
SELECT output FROM workflow.instance_list WHERE definition_id = 'upload';
-- With its outcome exposed the workflow goes on instead.
SELECT status FROM http('POST', '/upload', form('a.gif', 'image/gif', 'hello'), headers => '{"Content-Type": "multipart/form-data; boundary=b"}');
SELECT event, activity, data FROM workflow.journal AS j JOIN workflow.instance_list AS i USING (instance_id) WHERE i.definition_id = 'upload' AND activity = 'in' ORDER BY instance_id, seq, number;

-- The time of an endpoint is over: nothing of the burst is kept.
CREATE TABLE effects (what text);
SELECT * FROM wf_define('{"definitionId": "slow", "root": [
    {"type": "HttpEndpoint", "path": "slow", "canStartWorkflow": true, "requestTimeout": "00:00:00.1"},
    {"type": "Sql", "statement": "INSERT INTO public.effects VALUES (''slow'')"},
    {"type": "Sql", "statement": "SELECT pg_sleep(60)"}]}');
SELECT * FROM http('GET', '/slow');
SELECT * FROM wf_define('{"definitionId": "endless", "root": [
    {"type": "HttpEndpoint", "path": "endless", "canStartWorkflow": true, "requestTimeout": "00:00:00.1"},
    {"type": "If", "condition": {"js": "for (;;) {}"}}]}');
SELECT * FROM http('GET', '/endless');
-- What it sets off in the same call answers to the same time: a child that it executes, and instances that hear of its events.
SELECT * FROM wf_define('{"definitionId": "sleepy", "root": [{"type": "Sql", "statement": "INSERT INTO public.effects VALUES (''sleepy'')"}, {"type": "Sql", "statement": "SELECT pg_sleep(60)"}]}');
SELECT * FROM wf_define('{"definitionId": "slow-child", "root": [
    {"type": "HttpEndpoint", "path": "slow-child", "canStartWorkflow": true, "requestTimeout": "00:00:00.1"},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "sleepy"}]}');
SELECT * FROM http('GET', '/slow-child');
SELECT * FROM wf_define('{"definitionId": "listener", "root": [{"type": "Event", "eventName": "Wake", "canStartWorkflow": true}, {"type": "ExecuteWorkflow", "workflowDefinitionId": "sleepy"}]}');
SELECT * FROM wf_define('{"definitionId": "slow-event", "root": [
    {"type": "HttpEndpoint", "path": "slow-event", "canStartWorkflow": true, "requestTimeout": "00:00:00.1"},
    {"type": "PublishEvent", "eventName": "Wake"}]}');
SELECT * FROM http('GET', '/slow-event');
SELECT wf_retract('listener');
SELECT count(*) FROM workflow.instance_list WHERE definition_id IN ('slow', 'endless', 'slow-child', 'sleepy', 'listener', 'slow-event');
SELECT * FROM effects;
-- The statement's own time still counts, also where both are over before anything looks.
SELECT * FROM wf_define('{"definitionId": "deaf", "root": [
    {"type": "HttpEndpoint", "path": "deaf", "canStartWorkflow": true, "requestTimeout": "00:00:00.1"},
    {"type": "Sql", "statement": "SELECT sha512(convert_to(repeat(repeat(''x'', 1000), 100000), ''UTF8''))"}]}');
SET statement_timeout = '50ms';
SELECT * FROM http('GET', '/slow');
\set VERBOSITY terse
SELECT * FROM http('GET', '/deaf');
\set VERBOSITY default
RESET statement_timeout;
SELECT status FROM http('GET', '/deaf');
SELECT status FROM http('GET', '/greet/Ada');

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

-- security.md#owners-and-grants: an HttpEndpoint is open to roles that may call wf_http_request, unless it says authorize
-- An endpoint without "authorize" is open to roles that may call the function. With it a caller needs the right to
-- start the definition, or to resume the instance; or membership in the role that is named.
CREATE ROLE http_clerk;
CREATE ROLE http_guest;
CREATE ROLE http_author;
SELECT wf_grant_usage(role) FROM unnest('{http_clerk,http_guest,http_author}'::name[]) AS role;
GRANT USAGE ON SCHEMA public TO http_guest, http_author;
SET ROLE http_author;
SELECT * FROM wf_define('{"definitionId": "guarded", "root": [
    {"type": "HttpEndpoint", "path": "guarded", "canStartWorkflow": true, "authorize": true}, {"type": "WriteHttpResponse", "content": "come in"},
    {"type": "HttpEndpoint", "path": "guarded/next", "authorize": true}, {"type": "WriteHttpResponse", "content": "go on"}]}');
SELECT * FROM wf_define('{"definitionId": "clerks", "root": [
    {"type": "HttpEndpoint", "path": "clerks", "canStartWorkflow": true, "authorize": true, "policy": "http_clerk"}, {"type": "WriteHttpResponse", "content": "at work"}]}');
SELECT * FROM wf_define('{"definitionId": "nobody", "root": {"type": "HttpEndpoint", "path": "nobody", "canStartWorkflow": true, "authorize": true, "policy": "no such role"}}');
-- security.md#invoker-the-default: a request does not lend its sender's rights
-- SQL of a workflow runs with the rights of its owner: the sender of a request names a path, and lends no rights.
SELECT * FROM wf_define('{"definitionId": "whoami", "root": [
    {"type": "HttpEndpoint", "path": "whoami", "canStartWorkflow": true}, {"type": "WriteHttpResponse", "content": {"sql": "SELECT current_user"}},
    {"type": "Sql", "statement": "SELECT 1/0"}]}');
SET ROLE http_guest;
SELECT * FROM http('GET', '/guarded');
SELECT * FROM http('GET', '/clerks');
SELECT status FROM http('GET', '/nobody');
\set VERBOSITY terse
SELECT * FROM http('GET', '/whoami');
SELECT * FROM http('GET', '/broken');
\set VERBOSITY default
RESET ROLE;
GRANT http_clerk TO http_guest;
SET ROLE http_author;
SELECT wf_grant('guarded', 'http_guest', '{start}');
SET ROLE http_guest;
SELECT * FROM http('GET', '/guarded');
SELECT status FROM http('GET', '/guarded/next');
SELECT * FROM http('GET', '/clerks');
SET ROLE http_author;
SELECT wf_grant('guarded', 'http_guest', '{resume}');
SET ROLE http_guest;
SELECT * FROM http('GET', '/guarded/next');
RESET ROLE;
\set VERBOSITY terse
SELECT body FROM http('GET', '/whoami');
\set VERBOSITY default
-- Nothing is open to a role that may not call the function.
CREATE ROLE http_stranger;
SET ROLE http_stranger;
SELECT status FROM wf_http_request('GET', '/ping');
RESET ROLE;

-- What the caller of the function does wrong is an error, not an answer.
SELECT status FROM wf_http_request(NULL, '/ping');
SELECT status FROM wf_http_request('GET', NULL);
SELECT status FROM wf_http_request('GET', '/ping', headers => '[]');
SELECT status FROM wf_http_request('GET', '/ping', headers => NULL);
SELECT status FROM wf_http_request('GET', '/ping', headers => '{"a": {"b": 1}}');
SELECT status FROM wf_http_request('GET', '/ping', query => '{"a": [[1]]}');

-- The wrapper for PostgREST of docs/http.md: settings in, settings out.
CREATE SCHEMA api;
CREATE FUNCTION api.workflow(bytea) RETURNS bytea LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    given  jsonb := current_setting('request.headers')::jsonb;
    answer wf_http_response;
BEGIN
    answer := wf_http_request(coalesce(given ->> 'x-method', 'POST'), given ->> 'x-path', given, body => $1);
    PERFORM set_config('response.status', answer.status::text, true);
    PERFORM set_config('response.headers', coalesce(jsonb_agg(jsonb_build_object(name, text)), '[]')::text, true)
    FROM jsonb_each(answer.headers) AS h (name, value),
         jsonb_array_elements_text(CASE jsonb_typeof(value) WHEN 'array' THEN value ELSE jsonb_build_array(value) END) AS text;
    RETURN answer.body;
END
$$;
BEGIN;
SELECT set_config('request.headers', '{"x-method": "PUT", "x-path": "/orders/7", "content-type": "application/json"}', true);
SELECT convert_from(api.workflow('{"total": 2}'), 'UTF8') AS body;
SELECT current_setting('response.status') AS status, current_setting('response.headers') AS headers;
COMMIT;

-- A rollback takes a request back like any other call.
BEGIN;
SELECT status FROM http('GET', '/ping');
ROLLBACK;
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'ping';

-- A path may be computed, and is when the definition is published; wf_refresh computes it again.
CREATE TABLE paths (path text);
INSERT INTO paths VALUES ('here');
SELECT * FROM wf_define('{"definitionId": "moving", "root": [
    {"type": "HttpEndpoint", "path": {"sql": "SELECT path FROM public.paths"}, "canStartWorkflow": true}, {"type": "WriteHttpResponse", "statusCode": 204}]}');
UPDATE paths SET path = 'there';
SELECT status FROM http('GET', '/here');
SELECT * FROM wf_refresh('moving');
SELECT here.status AS here, there.status AS there FROM http('GET', '/here') AS here, http('GET', '/there') AS there;

-- Retracted, it is not found any more.
SELECT wf_retract('ping');
SELECT status FROM http('GET', '/ping');
SELECT * FROM wf_check();
