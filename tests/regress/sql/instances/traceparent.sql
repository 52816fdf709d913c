-- workflow.traceparent: the trace that instances join, and that they hand to what they start.
\i tests/regress/include/http.sql
CREATE FUNCTION pg_temp.span(kind text, id uuid) RETURNS text LANGUAGE sql
RETURN encode(substr(sha256(convert_to(kind, 'UTF8') || uuid_send(id)), 1, 8), 'hex');
SELECT wf_define('{"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask"}}') \g /dev/null
SELECT wf_define('{"definitionId": "heard", "root": [{"type": "Event", "eventName": "Traced", "canStartWorkflow": true}]}') \g /dev/null
SELECT wf_define('{"definitionId": "parent", "root": [{"type": "PublishEvent", "eventName": "Traced"},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "waitForCompletion": true}]}') \g /dev/null

-- An instance keeps the trace of the transaction that starts it. Its child and what its event starts have it as the parent.
BEGIN;
SET LOCAL workflow.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
SELECT wf_start('parent') AS parent \gset
COMMIT;
SELECT definition_id, split_part(traceparent, '-', 2) AS trace, split_part(traceparent, '-', 3) = pg_temp.span('instance', :'parent') AS below,
    split_part(traceparent, '-', 4) AS flags FROM workflow.instance_list ORDER BY 1;
SELECT traceparent FROM workflow.instance_list WHERE instance_id = :'parent';
-- A task worker gets it with the task, below the wait for the task.
SELECT split_part(traceparent, '-', 2) AS trace, split_part(traceparent, '-', 3) = pg_temp.span('wait', task_id) AS below FROM wf_claim_tasks('{Ask}');

-- Without a trace nothing is stored, and a task worker gets none.
SELECT wf_start('ask') AS untraced \gset
SELECT i.traceparent IS NULL AS instance, c.traceparent IS NULL AS task
FROM wf_claim_tasks('{Ask}') AS c JOIN workflow.instance_list AS i USING (instance_id) WHERE i.instance_id = :'untraced';

-- A successor stays in the trace, although the session that continues the instance is in none.
SELECT wf_define('{"definitionId": "renewed", "root": [{"type": "Event", "eventName": "Renew"}, {"type": "ContinueAs"}]}') \g /dev/null
SET workflow.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
SELECT wf_start('renewed') \g /dev/null
RESET workflow.traceparent;
SELECT wf_publish_event('Renew', '{}') \g /dev/null
SELECT count(*), count(traceparent) AS traced, count(DISTINCT traceparent) AS traces FROM workflow.instance_list WHERE definition_id = 'renewed';

-- The header of a request counts before the setting, and a malformed one is ignored.
SELECT wf_define('{"definitionId": "served", "root": [{"type": "HttpEndpoint", "path": "served", "canStartWorkflow": true}, {"type": "Event", "eventName": "Never"}]}') \g /dev/null
SELECT status FROM http('GET', '/served', headers => '{"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}');
SELECT status FROM http('GET', '/served', headers => '{"traceparent": "00-rubbish-01"}');
SELECT traceparent FROM workflow.instance_list WHERE definition_id = 'served' ORDER BY instance_id;

-- What is not valid cannot be set.
SET workflow.traceparent = '00-00000000000000000000000000000000-00f067aa0ba902b7-01';
\echo :SQLSTATE
SET workflow.traceparent = '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01';
SET workflow.traceparent = '';
