-- wf_call makes a call once for each message of a role: a client that got no answer sends it again.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_call_ada LOGIN;
CREATE ROLE regress_call_ben LOGIN;
SET client_min_messages = warning;
SELECT wf_grant_usage('regress_call_ada');
SELECT wf_grant_usage('regress_call_ben');
GRANT CREATE ON SCHEMA public TO regress_call_ada;
SET ROLE regress_call_ada;
SELECT count(wf_define(d::jsonb)) FROM (VALUES
    ('{"definitionId": "order", "outputs": [{"name": "Amount"}], "root": [{"id": "paid", "type": "Event", "eventName": "Paid", "result": {"output": "Amount"}}, {"id": "check", "type": "RunTask", "taskName": "check"}]}'),
    ('{"definitionId": "page", "root": [{"type": "HttpEndpoint", "path": "orders", "supportedMethods": ["GET", "POST"], "canStartWorkflow": true}, {"type": "WriteHttpResponse", "content": {"js": "getCorrelationId() + \" asked\""}}]}'),
    ('{"definitionId": "gate", "root": {"id": "open", "type": "Event", "eventName": "Open"}}'),
    ('{"definitionId": "bad", "root": {"type": "Fault", "message": "no"}}')) AS v (d);
CREATE FUNCTION shown(answer jsonb) RETURNS jsonb LANGUAGE sql RETURN answer - '{instance_id,started,resumed,bookmarks,queued_id}'::text[];

-- A start. The second answer is the first one, and nothing is done.
SELECT wf_call('A-1', 'm1', 'start', 'order', '{}') AS first \gset
SELECT shown(:'first');
SELECT wf_call('A-1', 'm1', 'start', 'order', '{}') = :'first'::jsonb AS is_same;
SELECT correlation_id, count(*) FROM workflow.instance_list GROUP BY 1;
-- No body and an empty one are two contents.
SELECT wf_call('A-1', 'm1', 'start', 'order');
SELECT wf_call('A-1', 'm1', 'start', 'page', '{}');
SELECT wf_call('A-1', 'm1', 'event', 'order', '{}');
-- Another message, another key and another role are other calls.
SELECT wf_call('A-1', 'm2', 'start', 'order', '{}') ->> 'instance_id' <> :'first'::jsonb ->> 'instance_id' AS is_other;
SELECT wf_call('A-2', 'm1', 'start', 'order', '{}') ->> 'instance_id' <> :'first'::jsonb ->> 'instance_id' AS is_other;
SELECT wf_grant('order', 'regress_call_ben', '{start}');
SET ROLE regress_call_ben;
SELECT wf_call('A-1', 'm1', 'start', 'order', '{}') ->> 'instance_id' <> :'first'::jsonb ->> 'instance_id' AS is_other;
SELECT * FROM workflow.messages;
SET ROLE regress_call_ada;

-- An event, also before its instance: it is kept.
SELECT jsonb_array_length(wf_call('A-1', 'paid', 'event', 'Paid', '250') -> 'resumed') AS resumed;
SELECT jsonb_array_length(wf_call('A-1', 'paid', 'event', 'Paid', '250') -> 'resumed') AS resumed;
SELECT wf_call('A-3', 'paid', 'event', 'Paid', '7') ->> 'queued_id' IS NOT NULL AS is_kept;
SELECT wf_call('A-3', 'm1', 'start', 'order') -> 'sub_status' AS sub_status;
SELECT name, correlation_id FROM workflow.open_tasks ORDER BY correlation_id;

-- A task, which has to be one of the key.
SELECT task_id AS task FROM workflow.open_tasks WHERE correlation_id = 'A-3' \gset
\set VERBOSITY terse
SELECT wf_call('A-1', 'done', 'task', :'task', '{"ok": true}');
SELECT wf_call('A-3', 'done', 'task', 'A-3', '{"ok": true}');
\set VERBOSITY default
SELECT count(*) FROM workflow.open_tasks WHERE task_id = :'task';
SELECT shown(wf_call('A-3', 'done', 'task', :'task', '{"ok": true}'));
SELECT shown(wf_call('A-3', 'done', 'task', :'task', '{"ok": true}'));
-- Without the message that is an error.
\set VERBOSITY sqlstate
SELECT wf_complete_task(:'task');
\set VERBOSITY default

-- What follows may take another correlation id.
SELECT wf_define('{"definitionId": "moves", "root": [{"type": "RunTask", "taskName": "move"}, {"type": "Correlate", "correlationId": "A-9"}]}') \g /dev/null
SELECT wf_call('A-8', 'm1', 'start', 'moves') -> 'sub_status' AS sub_status;
SELECT task_id AS task FROM workflow.open_tasks WHERE correlation_id = 'A-8' \gset
SELECT wf_call('A-8', 'done', 'task', :'task') -> 'sub_status' AS sub_status;
SELECT correlation_id FROM workflow.instance_list WHERE definition_id = 'moves';

-- A stimulus and an HTTP request.
SELECT wf_call('A-4', 'm1', 'start', 'gate') -> 'sub_status' AS sub_status;
SELECT jsonb_array_length(wf_call('A-4', 'open', 'stimulus', 'Event', '{"stimulus": {"EventName": "Open"}, "input": 1}') -> 'resumed') AS resumed;
SELECT wf_call('A-5', 'ask', 'http', '/orders', '{"body": {"n": 1}}');
SELECT wf_call('A-5', 'ask', 'http', '/orders', '{"body": {"n": 1}}');
SELECT wf_call('A-5', 'ask again', 'http', '/orders', '{"method": "GET", "headers": {"x-correlation-id": "B"}, "query": {"q": "1"}}') -> 'body' AS body;
SELECT wf_call('A-5', 'nobody', 'http', '/nowhere') -> 'status' AS status;
-- Nothing was done, and nothing is remembered.
SELECT wf_call('A-5', 'nobody', 'http', '/orders') -> 'status' AS status;
SELECT count(*) FROM workflow.instance_list WHERE correlation_id = 'A-5';

-- Bytes that are no text: a file in the request, a response in another character set.
SELECT wf_define('{"definitionId": "bytes", "root": [{"id": "in", "type": "HttpEndpoint", "path": "bytes", "supportedMethods": ["POST"], "canStartWorkflow": true, "parsedContent": {"var": "F"}},
    {"type": "WriteHttpResponse", "content": {"js": "`é ${getF().content}`"}, "contentType": "text/plain; charset=iso-8859-1"}], "variables": {"F": null}}') \g /dev/null
SELECT wf_call('A-5', 'bytes', 'http', '/bytes', '{"bodyBase64": "AP8=", "headers": {"Content-Type": "application/octet-stream"}}');

-- What is not committed, or failed, is no answer.
BEGIN;
SELECT count(wf_call('A-6', 'm1', 'start', 'order'));
SELECT count(wf_call('A-6', 'm1', 'start', 'order'));
SELECT count(*) FROM workflow.instance_list WHERE correlation_id = 'A-6';
ROLLBACK;
SELECT count(*) FROM workflow.instance_list WHERE correlation_id = 'A-6';
SET workflow.on_fault = 'raise';
\set VERBOSITY terse
SELECT wf_call('A-6', 'bad', 'start', 'bad');
RESET workflow.on_fault;
SELECT wf_call('A-6', 'bad', 'start', 'bad') -> 'sub_status' AS sub_status;

-- What cannot be called.
SELECT wf_call(NULL, 'm', 'start', 'order');
SELECT wf_call('k', NULL, 'start', 'order');
SELECT wf_call('k', 'm', NULL, 'order');
SELECT wf_call('k', 'm', 'start', NULL);
SELECT wf_call('', 'm', 'start', 'order');
SELECT wf_call('k', '', 'start', 'order');
SELECT wf_call('*', 'm', 'start', 'order');
\set VERBOSITY default
SELECT wf_call(repeat('k', 1001), 'm', 'start', 'order');
SELECT wf_call('k', repeat('m', 1001), 'start', 'order');
SELECT count(wf_call(repeat('k', 1000), repeat('m', 1000), 'start', 'order'));
SELECT wf_call('k', 'm', 'resume', 'order');
SELECT wf_call('k', 'm', 'start', 'order', '[1]');
SELECT wf_call('k', 'm', 'stimulus', 'Event', '{"payload": {}}');
SELECT wf_call('k', 'm', 'http', '/orders', '{"verb": "GET"}');
SELECT wf_call('k', 'm', 'http', '/orders', '{"method": 1}');
SELECT wf_call('k', 'm', 'http', '/orders', '{"body": "a", "bodyBase64": "YQ=="}');
SELECT wf_call('k', 'm', 'http', '/orders', '{"bodyBase64": "?"}');
SELECT wf_call('k', 'm', 'event', ' ');
SELECT wf_call('k', 'm', 'start', 'unknown');
RESET ROLE;
SELECT count(*) FROM workflow.messages WHERE key = 'k';

-- What a call begins cannot make the same call.
SET ROLE regress_call_ada;
SELECT wf_define('{"definitionId": "again", "root": {"type": "Sql", "statement": "SELECT wf_call(''A-7'', ''m1'', ''event'', ''Any'')"}}') \g /dev/null
SELECT wf_call('A-7', 'm1', 'start', 'again') -> 'incidents' -> 0 ->> 'message' AS message;

-- It is remembered for a time, and a new one after that.
RESET ROLE;
SET workflow.message_retention = '1h';
SET workflow.now = '2030-01-01 00:59:59+00';
SET ROLE regress_call_ada;
SELECT wf_call('A-1', 'm1', 'start', 'order', '{}') = :'first'::jsonb AS is_same;
RESET ROLE;
SET workflow.now = '2030-01-01 01:00:00+00';
SET ROLE regress_call_ada;
SELECT wf_call('A-1', 'm1', 'start', 'order', '{}') = :'first'::jsonb AS is_same;
RESET ROLE;
SELECT count(*) > 1 AS there_are FROM workflow.messages;
SELECT wf_run_due();
SELECT key, message FROM workflow.messages;
SET workflow.message_retention = -1;
SET workflow.now = '2031-01-01 01:00:00+00';
SELECT wf_run_due();
SELECT key, message FROM workflow.messages;
SELECT * FROM wf_check();
