-- The time of an endpoint is that of all that its request sets off in the same call; when it is over, nothing of that is kept.
\i tests/regress/include/http.sql

SELECT * FROM wf_define('{"definitionId": "greet", "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "greet/{Name}", "canStartWorkflow": true},
    {"type": "WriteHttpResponse", "content": {"js": "`Hello ${getOutputFrom(''in'', ''RouteData'').Name}!`"}}]}');

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
\set VERBOSITY terse
SELECT * FROM http('GET', '/slow');
SELECT * FROM http('GET', '/deaf');
\set VERBOSITY default
RESET statement_timeout;
SELECT status FROM http('GET', '/deaf');
SELECT status FROM http('GET', '/greet/Ada');
-- wf_call remembers no answer of what was undone: the request is made when it is sent again.
CREATE FUNCTION held() RETURNS void LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION USING ERRCODE = '55P03', MESSAGE = 'held'; END $$;
SELECT * FROM wf_define('{"definitionId": "held", "root": [
    {"type": "HttpEndpoint", "path": "held", "canStartWorkflow": true}, {"type": "Sql", "statement": "SELECT public.held()"}]}');
SELECT name, wf_call('k', name, 'http', name, '{"method": "GET"}') ->> 'status' AS status FROM unnest(ARRAY['/slow', '/held', '/greet/Ada']) AS name;
SELECT message FROM workflow.messages;
CREATE OR REPLACE FUNCTION held() RETURNS void LANGUAGE sql AS '';
SELECT wf_call('k', '/held', 'http', '/held', '{"method": "GET"}') ->> 'status' AS status;
SELECT message FROM workflow.messages ORDER BY 1;
-- Nor one of what an activation strategy has refused.
SELECT * FROM wf_define('{"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": [
    {"type": "HttpEndpoint", "path": "single", "canStartWorkflow": true}, {"type": "Event", "eventName": "Done"}]}');
SELECT wf_start('single') AS single \gset
SELECT wf_call('k', '/single', 'http', '/single', '{"method": "GET"}') ->> 'status' AS status;
SELECT wf_cancel(:'single');
SELECT wf_call('k', '/single', 'http', '/single', '{"method": "GET"}') ->> 'status' AS status;
