\set ECHO none
-- For the sessions about instances that move: everything that there is, for three keys.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_move_owner LOGIN;
CREATE ROLE regress_move_clerk LOGIN;
SET client_min_messages = error;
SELECT wf_grant_usage('regress_move_owner'), wf_grant_usage('regress_move_clerk');
SET ROLE regress_move_owner;
SELECT count(wf_define(d::jsonb)) FROM (VALUES
    ('{"definitionId": "task", "root": {"id": "check", "type": "RunTask", "taskName": "check", "payload": {"q": "a,\"b\" {x} NULL é"}, "candidates": ["role:regress_move_clerk", "people", "no-role:12"], "retry": {"maxAttempts": 2}}}'),
    ('{"definitionId": "wide", "variables": [{"name": "V", "value": {"n": 1.10, "t": "\\ü\"\n"}}], "root": {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Paid"}, {"type": "Delay", "timeSpan": "1 hour"}, {"type": "HttpEndpoint", "path": "orders/{id}", "supportedMethods": ["GET"]}]}}'),
    ('{"definitionId": "bad", "root": [{"id": "book", "type": "Compensable", "body": {"type": "WriteLine", "text": "booked"}, "compensation": {"type": "WriteLine", "text": "cancelled"}}, {"id": "bad", "type": "Fault", "message": "no"}]}'),
    ('{"definitionId": "again", "root": {"id": "bad", "type": "Fault", "message": "no", "retry": {"maxAttempts": 3, "delay": "1 hour"}}}'),
    ('{"definitionId": "child", "root": {"id": "wait", "type": "Event", "eventName": "Child"}}'),
    ('{"definitionId": "parent", "root": {"id": "start", "type": "DispatchWorkflow", "workflowDefinitionId": "child", "correlationId": {"input": "key"}, "waitForCompletion": true}}'),
    ('{"definitionId": "few", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "Few"}}'),
    ('{"definitionId": "one", "options": {"activationStrategyType": "Correlated"}, "root": {"type": "Event", "eventName": "One"}}')) AS v (d);

-- Everything that there is, for two keys; a third one stays.
SELECT wf_start(d, correlation_id => k) FROM unnest(ARRAY['task', 'task', 'wide', 'bad', 'again', 'few', 'one']) AS d, unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_start('parent', '{"key": ""}', correlation_id => k) FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_start('wide') \g /dev/null
SELECT wf_pause(instance_id, 'later') FROM workflow.instance_list WHERE definition_id = 'wide' AND correlation_id IN ('A', 'C') \g /dev/null
SELECT wf_publish_event('Early', '{"x": 1}', correlation_id => k, keep_for => '1 day') FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_publish_event('Lost', '{"x": 1}', correlation_id => k, keep_for => '1 second') FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_publish_event('Paid', correlation_id => 'A', keep_for => '1 day') \g /dev/null
SELECT wf_call(k, 'm1', 'start', 'child') FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_schedule_workflow('daily-' || k, '0 3 * * *', 'child', correlation_id => k) FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_schedule('command', '1 hour', 'SELECT 1') \g /dev/null
RESET ROLE;
SET workflow.now = '2030-01-01 00:30:00+00';
SELECT wf_run_due() >= 0 AS swept;
\set ECHO all
