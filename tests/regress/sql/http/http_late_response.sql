-- Requests that wait: the instance suspends before it has responded, and a later burst responds.
\i tests/regress/include/http.sql
SET timezone = 'UTC';
-- A server: its requests have the ids r(1), r(2), … Answers that come at once, and later.
CREATE FUNCTION pg_temp.r(n integer) RETURNS uuid LANGUAGE sql AS $$ SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid $$;
CREATE FUNCTION pg_temp.post(n integer, path text, headers jsonb = '{}', server text = 'one', body text = NULL, timeout interval = '30 s',
    OUT status integer, OUT headers jsonb, OUT body text, OUT waits interval) LANGUAGE sql AS $$
    SELECT b.status, b.headers, convert_from(b.body, 'UTF8'), date_trunc('second', b.wait_until - now())
    FROM wf_begin_http_request(pg_temp.r(n), server, 'POST', path, headers, body => convert_to($5, 'UTF8'), timeout => timeout) AS b $$;
CREATE FUNCTION pg_temp.take(server text = 'one') RETURNS TABLE (n text, status integer, headers jsonb, body text) LANGUAGE sql AS $$
    SELECT right(request_id::text, 2), status, headers, convert_from(body, 'UTF8') FROM wf_take_http_responses(server) $$;
CREATE FUNCTION pg_temp.work(result jsonb = NULL) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, result) AS r $$;

-- As in Elsa's guide: the program outside answers later.
SELECT * FROM wf_define('{"definitionId": "guide", "root": [
    {"type": "HttpEndpoint", "path": "guide", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"id": "ask", "type": "SendHttpRequest", "url": "https://example.com/", "parsedContent": {"output": "Asked"}},
    {"id": "answer", "type": "WriteHttpResponse", "statusCode": 201, "content": "done", "responseHeaders": {"X-A": ["1", "2"]}}]}');
SELECT * FROM pg_temp.post(1, '/guide');
SELECT server, until - created_at AS waits, answered_at, responded FROM workflow.http_requests;
SELECT * FROM pg_temp.take();
CALL wf_wait_http_responses('one', '0 s');
SELECT pg_temp.work('{"statusCode": 200, "content": {}}');
CALL wf_wait_http_responses('one', '0 s');
CALL wf_wait_http_responses('two', '0 s');
SELECT * FROM pg_temp.take('two');
SELECT * FROM pg_temp.take();
SELECT * FROM pg_temp.take();
SELECT count(*) FROM workflow.http_requests;

-- A caller of wf_http_request has its answer by then, and the instance faults.
SELECT * FROM http('POST', '/guide');
\set VERBOSITY terse
SELECT pg_temp.work('{"statusCode": 200, "content": {}}');
\set VERBOSITY default
SELECT message FROM workflow.open_incidents;
SELECT wf_cancel(instance_id) FROM workflow.open_incidents;

-- What responds at once, is refused or ends leaves no row.
SELECT * FROM wf_define('{"definitionId": "now", "root": [{"type": "HttpEndpoint", "path": "now", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "WriteHttpResponse", "content": "now"}, {"type": "RunTask", "taskName": "later"}]}');
SELECT * FROM wf_define('{"definitionId": "mute", "root": [{"type": "HttpEndpoint", "path": "mute", "supportedMethods": ["POST"], "canStartWorkflow": true}]}');
SELECT * FROM wf_define('{"definitionId": "two", "root": [{"type": "HttpEndpoint", "path": "two", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "HttpEndpoint", "path": "then", "supportedMethods": ["POST"]}, {"type": "WriteHttpResponse", "content": "then"}]}');
SELECT * FROM pg_temp.post(2, '/now');
SELECT * FROM pg_temp.post(2, '/mute');
SELECT * FROM pg_temp.post(2, '/two');
SELECT * FROM pg_temp.post(2, '/nothing');
SELECT * FROM pg_temp.post(2, '//');
SELECT count(*) FROM workflow.http_requests;
SELECT pg_temp.work();

-- The answer where the workflow gives none: it ends, waits for another request, faults, is cancelled.
SELECT * FROM wf_define('{"definitionId": "ends", "root": [{"type": "HttpEndpoint", "path": "ends", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "RunTask", "taskName": "t"}]}');
SELECT * FROM wf_define('{"definitionId": "asks", "root": [{"type": "HttpEndpoint", "path": "asks", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "RunTask", "taskName": "t"}, {"type": "HttpEndpoint", "path": "asks/again", "supportedMethods": ["POST"]}, {"type": "WriteHttpResponse", "content": "again"}]}');
SELECT * FROM wf_define('{"definitionId": "breaks", "root": [{"type": "HttpEndpoint", "path": "breaks", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"id": "ask", "type": "RunTask", "taskName": "t", "result": {"output": "R"}}, {"id": "it", "type": "If", "condition": {"sql": "current_setting(''my.way'') = ''free''"}, "then": {"type": "WriteHttpResponse", "content": "repaired"}}]}');
SELECT * FROM wf_define('{"definitionId": "fails", "root": [{"type": "HttpEndpoint", "path": "fails", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "RunTask", "taskName": "t"}, {"type": "Fault", "message": "no ink"}]}');
SELECT status, waits FROM pg_temp.post(3, '/ends');
SELECT pg_temp.work();
SELECT * FROM pg_temp.take();
SELECT status, waits FROM pg_temp.post(4, '/asks');
SELECT pg_temp.work();
SELECT * FROM pg_temp.take();
SELECT body FROM http('POST', '/asks/again');
SELECT status, waits FROM pg_temp.post(5, '/breaks');
\set VERBOSITY terse
SELECT pg_temp.work();
SELECT status, headers, body::jsonb ->> 'error' AS error FROM pg_temp.take();
-- Repaired, the response comes too late. That is no fault.
SET my.way = 'free';
SELECT r.sub_status FROM workflow.open_incidents AS i, wf_retry(i.instance_id) AS r;
\set VERBOSITY default
SELECT * FROM pg_temp.take();
SELECT l.activity, l.event, l.data FROM workflow.journal AS l JOIN workflow.instance_list AS i USING (instance_id) WHERE i.definition_id = 'breaks' AND l.event = 'Note';
SELECT substring(line FROM 22) AS line FROM workflow.instance_list AS i, wf_explain(i.instance_id) AS line WHERE i.definition_id = 'breaks' AND line LIKE '%too late%';
SELECT status, waits FROM pg_temp.post(6, '/ends');
SELECT wf_cancel(instance_id) FROM workflow.open_tasks;
SELECT * FROM pg_temp.take();

-- The time of the server, or that of the endpoint. When it is over, a response is too late.
SELECT * FROM wf_define('{"definitionId": "slow", "root": [{"type": "HttpEndpoint", "path": "slow", "supportedMethods": ["POST"], "canStartWorkflow": true, "requestTimeout": "2 min"},
    {"type": "RunTask", "taskName": "t"}, {"id": "late", "type": "WriteHttpResponse", "statusCode": 202}]}');
SELECT waits FROM pg_temp.post(7, '/slow', timeout => '5 s');
SELECT set_config('workflow.now', (now() + interval '3 min')::text, false) \g /dev/null
SELECT pg_temp.work();
RESET workflow.now;
SELECT * FROM pg_temp.take();
SELECT l.activity, l.event, l.data FROM workflow.journal AS l JOIN workflow.instance_list AS i USING (instance_id) WHERE i.definition_id = 'slow' AND l.event = 'Note';

-- Requests that reach the instance while others wait for it. Each gets the response that follows its endpoint.
SELECT * FROM wf_define('{"definitionId": "pair", "root": {"type": "Parallel", "activities": [
    [{"type": "HttpEndpoint", "path": "pair", "supportedMethods": ["POST"], "canStartWorkflow": true}, {"id": "a", "type": "RunTask", "taskName": "t"}, {"type": "WriteHttpResponse", "content": "a"}],
    [{"type": "HttpEndpoint", "path": "pair/b", "supportedMethods": ["POST"]}, {"type": "RunTask", "taskName": "u"}, {"type": "WriteHttpResponse", "content": "b"}],
    [{"type": "HttpEndpoint", "path": "pair/c", "supportedMethods": ["POST"]}, {"type": "WriteHttpResponse", "content": "c"}]]}}');
SELECT waits FROM pg_temp.post(8, '/pair');
SELECT status, body, waits FROM pg_temp.post(9, '/pair/c');
SELECT * FROM pg_temp.take();
SELECT waits FROM pg_temp.post(10, '/pair/b');
SELECT * FROM pg_temp.take();
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE name = 'u';
SELECT * FROM pg_temp.take();
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT * FROM pg_temp.take();

-- With an Idempotency-Key a request has its effect once. Who repeats it waits as well, or gets the stored response.
\set key '{"Idempotency-Key": "k1"}'
SELECT waits FROM pg_temp.post(11, '/guide', :'key', body => 'x');
SELECT waits FROM pg_temp.post(12, '/guide', :'key', 'two', body => 'x');
SELECT * FROM pg_temp.post(13, '/guide', :'key', body => 'y');
SELECT * FROM pg_temp.post(13, '/guide', :'key' || '{"Authorization": "Bearer another"}'::jsonb, body => 'x');
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'guide' AND status = 'Running';
SELECT pg_temp.work('{"statusCode": 200, "content": {}}');
SELECT * FROM pg_temp.take();
SELECT * FROM pg_temp.take('two');
SELECT * FROM pg_temp.post(14, '/guide', :'key', 'three', body => 'x');
SELECT status, body FROM pg_temp.post(15, '/now', '{"idempotency-key": "k2"}');
SELECT status, body FROM pg_temp.post(16, '/now', '{"idempotency-key": "k2"}', 'two');
SELECT count(*) FROM workflow.open_tasks;
SELECT pg_temp.work();
-- What no workflow has served is asked again.
SELECT status FROM pg_temp.post(17, '/nothing', '{"Idempotency-Key": "k3"}');
SELECT status FROM pg_temp.post(17, '/now', '{"Idempotency-Key": "k3"}');
-- A response that its client did not wait for is stored under the key all the same.
SELECT waits FROM pg_temp.post(18, '/slow', '{"Idempotency-Key": "k4"}');
SELECT set_config('workflow.now', (now() + interval '3 min')::text, false) \g /dev/null
SELECT pg_temp.work();
RESET workflow.now;
SELECT status, waits FROM pg_temp.post(19, '/slow', '{"Idempotency-Key": "k4"}', 'two');
SELECT n, status FROM pg_temp.take();
-- The key is free when the response is forgotten.
SELECT set_config('workflow.now', (now() + interval '8 days')::text, false) \g /dev/null
SELECT status, waits FROM pg_temp.post(20, '/slow', '{"Idempotency-Key": "k4"}');
RESET workflow.now;
SELECT pg_temp.work();
SELECT status FROM pg_temp.post(21, '/now', jsonb_build_object('Idempotency-Key', repeat('k', 256)));
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT status FROM pg_temp.post(21, '/now', '{"Idempotency-Key": "k5"}');
ROLLBACK;

-- Another role gets no response, by whatever name it calls itself.
CREATE ROLE regress_late_server;
SELECT wf_grant_usage('regress_late_server');
SELECT waits FROM pg_temp.post(22, '/guide');
SELECT pg_temp.work('{"statusCode": 200, "content": {}}');
SET ROLE regress_late_server;
CALL wf_wait_http_responses('one', '0 s');
SELECT * FROM wf_take_http_responses('one');
SELECT count(*) FROM workflow.http_requests;
SELECT wait_until IS NOT NULL AS waits FROM wf_begin_http_request(pg_temp.r(22), 'one', 'POST', '/guide');
SELECT wait_until IS NOT NULL AS waits, instance_id FROM wf_begin_http_request(pg_temp.r(23), 'one', 'POST', '/fails');
RESET ROLE;
SELECT n, status FROM pg_temp.take();
\set VERBOSITY terse
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
\set VERBOSITY default
SET ROLE regress_late_server;
-- What was wrong is told to those who may read it.
SELECT status, convert_from(body, 'UTF8') AS body FROM wf_take_http_responses('one');
RESET ROLE;

-- The rows go with their instances, and responses of the workflow after a while.
SELECT count(*), count(key) FROM workflow.http_requests;
SET workflow.message_retention = '0';
SELECT wf_run_due() \g /dev/null
RESET workflow.message_retention;
SELECT count(*) FROM workflow.http_requests WHERE responded;
SELECT problem FROM wf_check();
SELECT count(wf_delete_instance(instance_id)) > 0 AS deleted FROM workflow.instance_list;
SELECT count(*) FROM workflow.http_requests;

-- Mistakes of the server.
SELECT wf_begin_http_request(NULL, 'one', 'POST', '/now');
SELECT wf_begin_http_request(pg_temp.r(1), '', 'POST', '/now');
SELECT wf_begin_http_request(pg_temp.r(1), 'one', 'POST', '/now', timeout => '-1 s');
SELECT wf_begin_http_request(pg_temp.r(1), repeat('s', 3000), 'POST', '/now');
SELECT wf_take_http_responses('one', 0);
CALL wf_wait_http_responses('one', NULL);
BEGIN;
CALL wf_wait_http_responses('one', '0 s');
ROLLBACK;
DROP OWNED BY regress_late_server;
DROP ROLE regress_late_server;
