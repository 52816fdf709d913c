-- Several requests to one instance: each gets the response of what follows its endpoint, and no other one.
\i tests/regress/include/http.sql
\set VERBOSITY terse
-- A server: its requests have the ids r(1), r(2), …
CREATE FUNCTION r(n integer) RETURNS uuid LANGUAGE sql AS $$ SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid $$;
CREATE FUNCTION post(n integer, path text, headers jsonb = '{}', OUT status integer, OUT body text, OUT waits boolean) LANGUAGE sql AS $$
    SELECT b.status, convert_from(b.body, 'UTF8'), b.wait_until IS NOT NULL
    FROM wf_begin_http_request(r(n), 'one', 'POST', path, headers) AS b $$;
CREATE FUNCTION take() RETURNS TABLE (n text, status integer, body text) LANGUAGE sql AS $$
    SELECT right(request_id::text, 2), status, convert_from(body, 'UTF8') FROM wf_take_http_responses('one') ORDER BY 1 $$;
CREATE FUNCTION work(task text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.name = task $$;
CREATE ROLE regress_together;
SELECT wf_grant_usage('regress_together');

-- The requests of two roles wait for one instance. The second one, of a public endpoint, gets nothing of the first.
SELECT * FROM wf_define('{"definitionId": "order", "root": {"type": "Parallel", "activities": [
    [{"type": "HttpEndpoint", "path": "order", "supportedMethods": ["POST"], "canStartWorkflow": true, "authorize": true},
        {"type": "RunTask", "taskName": "order"}, {"type": "WriteHttpResponse", "content": "private"}],
    [{"type": "HttpEndpoint", "path": "order/ping", "supportedMethods": ["POST"]}],
    [{"type": "HttpEndpoint", "path": "order/ask", "supportedMethods": ["POST"]}, {"type": "RunTask", "taskName": "ask"}]]}}');
SELECT * FROM post(1, '/order');
SET ROLE regress_together;
SELECT * FROM post(2, '/order/ping');
SELECT * FROM post(3, '/order/ask');
SELECT * FROM take();
RESET ROLE;
SELECT work('order');
SET ROLE regress_together;
SELECT * FROM take();
RESET ROLE;
SELECT * FROM take();
SELECT work('ask');
SET ROLE regress_together;
SELECT * FROM take();
RESET ROLE;
SELECT count(*) FROM workflow.http_requests;

-- One after the other: the first is not waited for any more where only the second can lead on.
SELECT * FROM wf_define('{"definitionId": "steps", "root": [
    {"type": "HttpEndpoint", "path": "steps", "supportedMethods": ["POST"], "canStartWorkflow": true}, {"type": "RunTask", "taskName": "one"},
    {"type": "HttpEndpoint", "path": "steps/two", "supportedMethods": ["POST"]}, {"type": "RunTask", "taskName": "two"},
    {"type": "WriteHttpResponse", "content": "two"}]}');
SELECT * FROM post(4, '/steps');
SELECT work('one');
SELECT * FROM take();
SELECT * FROM post(5, '/steps/two');
SELECT work('two');
SELECT * FROM take();

-- A flowchart, whose branches meet: the response goes to the request of the last one.
SELECT * FROM wf_define('{"definitionId": "meet", "root": {"type": "Flowchart", "activities": [
    {"id": "start", "type": "Start"}, {"id": "a", "type": "HttpEndpoint", "path": "meet/a", "supportedMethods": ["POST"]},
    {"id": "b", "type": "HttpEndpoint", "path": "meet/b", "supportedMethods": ["POST"]}, {"id": "ta", "type": "RunTask", "taskName": "a"},
    {"id": "tb", "type": "RunTask", "taskName": "b"}, {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "say", "type": "WriteHttpResponse", "content": "both"}],
    "connections": [["start", "a"], ["start", "b"], ["a", "ta"], ["b", "tb"], ["ta", "join"], ["tb", "join"], ["join", "say"]]}}');
SELECT wf_start('meet') \g /dev/null
SELECT * FROM post(6, '/meet/a');
SELECT * FROM post(7, '/meet/b');
SELECT work('b');
SELECT * FROM take();
SELECT work('a');
SELECT * FROM take();

-- A timeout leads to no response: such a request does not wait.
SELECT * FROM wf_define('{"definitionId": "timed", "options": {"timeout": "30 days"}, "root": [
    {"type": "HttpEndpoint", "path": "timed", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "Sequence", "timeout": "10 days", "activities": [{"type": "HttpEndpoint", "path": "timed/two", "supportedMethods": ["POST"]}]}]}');
SELECT * FROM post(8, '/timed');

-- The branch that would have responded ends, and an endpoint is left.
SELECT * FROM wf_define('{"definitionId": "left", "root": [{"type": "HttpEndpoint", "path": "left", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "Parallel", "activities": [{"type": "HttpEndpoint", "path": "left/b", "supportedMethods": ["POST"]}, {"type": "RunTask", "taskName": "left"}]}]}');
SELECT * FROM post(9, '/left');
SELECT work('left');
SELECT * FROM take();

-- A fault that leaves the instance running is the answer, too.
SELECT * FROM wf_define('{"definitionId": "goes-on", "options": {"incidentStrategy": "ContinueWithIncidents"}, "root": {"type": "Parallel", "activities": [
    [{"type": "HttpEndpoint", "path": "goes-on", "supportedMethods": ["POST"], "canStartWorkflow": true}, {"type": "RunTask", "taskName": "fails"},
        {"type": "Fault", "message": "no ink"}],
    {"type": "RunTask", "taskName": "other"}]}}');
SELECT * FROM post(10, '/goes-on');
SELECT work('fails');
SELECT n, status, body::jsonb ->> 'error' AS error FROM take();
SELECT wf_cancel(instance_id) FROM workflow.open_incidents;

-- A version without an endpoint.
SELECT * FROM wf_define('{"definitionId": "moves", "root": [{"id": "in", "type": "HttpEndpoint", "path": "moves", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"id": "t", "type": "RunTask", "taskName": "moves"}]}');
SELECT * FROM post(11, '/moves');
SELECT * FROM wf_define('{"definitionId": "moves", "root": [{"id": "t", "type": "RunTask", "taskName": "moves"}]}');
SELECT wf_migrate(instance_id) FROM workflow.open_tasks WHERE name = 'moves' \g /dev/null
SELECT work('moves');
SELECT * FROM take();

-- A key belongs to one instance. Who may no longer call the endpoint does not get the stored response.
CREATE ROLE regress_together_clerks;
GRANT regress_together_clerks TO regress_together;
SELECT * FROM wf_define('{"definitionId": "paid", "root": [{"type": "HttpEndpoint", "path": "paid", "supportedMethods": ["POST"], "canStartWorkflow": true,
    "authorize": true, "policy": "regress_together_clerks"}, {"type": "WriteHttpResponse", "content": "paid"}]}');
SET ROLE regress_together;
SELECT * FROM post(12, '/paid', '{"Idempotency-Key": "k", "X-Correlation-ID": "order-1"}');
SELECT * FROM post(13, '/paid', '{"Idempotency-Key": "k", "X-Correlation-ID": "order-1"}');
SELECT * FROM post(14, '/paid', '{"Idempotency-Key": "k", "X-Correlation-ID": "order-2"}');
RESET ROLE;
REVOKE regress_together_clerks FROM regress_together;
SET ROLE regress_together;
SELECT * FROM post(15, '/paid', '{"Idempotency-Key": "k", "X-Correlation-ID": "order-1"}');
RESET ROLE;

-- A role may have used a key on two nodes. The request that is on a node keeps it.
SET ROLE regress_together;
SELECT * FROM wf_define('{"definitionId": "twice", "root": [{"type": "HttpEndpoint", "path": "twice", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "RunTask", "taskName": "twice"}, {"type": "WriteHttpResponse", "content": "twice"}]}');
SELECT * FROM post(30, '/twice', '{"Idempotency-Key": "k3", "X-Correlation-ID": "twice-1"}');
RESET ROLE;
CREATE TEMP TABLE bundle AS SELECT b FROM wf_export_instances('{twice-1}', remove => true) AS b;
SET ROLE regress_together;
SELECT * FROM post(31, '/twice', '{"Idempotency-Key": "k3", "X-Correlation-ID": "twice-2"}');
RESET ROLE;
SELECT wf_import_instances(array_agg(b)) FROM bundle;
SELECT right(id::text, 2) AS n, key FROM workflow.http_requests WHERE id IN (r(30), r(31)) ORDER BY 1;
SELECT work('twice');
SET ROLE regress_together;
SELECT * FROM take();
RESET ROLE;

-- Each request has an id of its own.
SELECT * FROM post(16, '/left');
\set VERBOSITY default
SELECT * FROM post(16, '/order', '{"Idempotency-Key": "k2"}');
SELECT * FROM post(17, '/order', '{"Idempotency-Key": "k2"}');
SELECT * FROM post(16, '/order', '{"Idempotency-Key": "k2"}');
\set VERBOSITY terse

-- A request whose time is over is forgotten with the end of its instance, a response under a key after a while.
SELECT set_config('workflow.now', (now() + interval '1 min')::text, false) \g /dev/null
SELECT work('left'), wf_cancel(instance_id) FROM workflow.open_tasks WHERE name = 'left';
SELECT count(*) FROM workflow.http_requests WHERE id = r(16);
SELECT wf_cancel(instance_id) FROM workflow.open_tasks WHERE name = 'order';
SELECT n, status FROM take();
SELECT count(*), count(key) FROM workflow.http_requests;
RESET workflow.now;
SET workflow.message_retention = '0';
SELECT set_config('workflow.now', (now() + interval '2 min')::text, false) \g /dev/null
SELECT wf_run_due() \g /dev/null
RESET workflow.now;
RESET workflow.message_retention;
SELECT count(*) FROM workflow.http_requests;
SELECT problem FROM wf_check();
DROP OWNED BY regress_together;
DROP ROLE regress_together, regress_together_clerks;
