-- A correlation id of NULL, which a variable may hold by mistake, was all of them: only '*' and no id at all are.
-- How it was searched: each call that sends, with an id of NULL.
SELECT * FROM wf_define('{"definitionId": "order", "root": {"id": "paid", "type": "Event", "eventName": "Paid"}}');

-- An event is for all correlation ids unless it names one; NULL, which a variable may hold by mistake, is not all of them.
SELECT wf_start('order', correlation_id => 'a', instance_id => '01900000-0000-7000-8000-0000000c000a');
SELECT wf_start('order', correlation_id => 'b', instance_id => '01900000-0000-7000-8000-0000000c000b');
SELECT wf_start('order', instance_id => '01900000-0000-7000-8000-0000000c0004');
BEGIN;
SELECT resumed FROM wf_publish_event('Paid');
ROLLBACK;
BEGIN;
SELECT resumed FROM wf_publish_event('Paid', correlation_id => '*');
ROLLBACK;
BEGIN;
SELECT resumed FROM wf_send_stimulus('Event', '{"EventName": "Paid"}');
SELECT resumed FROM wf_send_stimulus('Event', '{"EventName": "Paid"}', correlation_id => '*');
ROLLBACK;
BEGIN;
SELECT resumed FROM wf_publish_event('Paid', correlation_id => NULL);
SELECT resumed FROM wf_publish_event('Paid', correlation_id => 'a');
ROLLBACK;
BEGIN;
SELECT resumed FROM wf_send_stimulus('Event', '{"EventName": "Paid"}', correlation_id => NULL);
ROLLBACK;
BEGIN;
SELECT resumed FROM wf_send_stimulus('Event', correlation_id => NULL);
SELECT resumed FROM wf_publish_event('Paid', correlation_id => NULL, instance_id => '01900000-0000-7000-8000-0000000c000a');
ROLLBACK;
-- Kept, it is still for those without one.
SELECT count(wf_cancel(instance)) FROM workflow.waiting WHERE activity = 'paid';
SELECT queued_id IS NOT NULL AS kept FROM wf_publish_event('Paid', correlation_id => NULL, keep_for => '1 hour');
SELECT sub_status FROM wf_run('order', correlation_id => 'c');
SELECT sub_status FROM wf_run('order');
SELECT queued_id AS kept FROM wf_publish_event('Paid', correlation_id => NULL, keep_for => '1 hour') \gset
UPDATE workflow.bookmark_queue SET expires_at = '2000-01-01' WHERE id = :'kept';
SELECT wf_run_due();
SELECT wf_replay(:'kept');
SELECT sub_status FROM wf_run('order', correlation_id => 'c');
SELECT sub_status FROM wf_run('order');
-- A trigger gives its instance the correlation id that was named.
SELECT * FROM wf_define('{"definitionId": "begin", "root": {"id": "e", "type": "Event", "eventName": "Begin", "canStartWorkflow": true}}');
SELECT cardinality(started) FROM wf_publish_event('Begin');
SELECT cardinality(started) FROM wf_publish_event('Begin', correlation_id => NULL);
SELECT cardinality(started) FROM wf_publish_event('Begin', correlation_id => 'begun');
SELECT correlation_id, count(*) FROM workflow.instance_list WHERE definition_id = 'begin' GROUP BY 1 ORDER BY 1;
-- PublishEvent does as Elsa's: no id is everyone.
SELECT * FROM wf_define('{"definitionId": "publisher", "root": {"id": "p", "type": "PublishEvent", "eventName": "Paid", "correlationId": {"input": "id"}}}');
SELECT count(wf_cancel(instance)) FROM workflow.waiting WHERE activity = 'paid';
SELECT wf_start('order', correlation_id => 'a', instance_id => '01900000-0000-7000-8000-0000000c0005');
SELECT wf_start('order', instance_id => '01900000-0000-7000-8000-0000000c0006');
SELECT sub_status FROM wf_run('publisher');
SELECT instance_id, sub_status FROM workflow.instance_list WHERE instance_id BETWEEN '01900000-0000-7000-8000-0000000c0005' AND '01900000-0000-7000-8000-0000000c0006' ORDER BY 1;
-- No instance can have the id that stands for all.
SELECT wf_start('order', correlation_id => '*');
SELECT * FROM wf_schedule_workflow('s', '@daily', 'order', correlation_id => '*');
SELECT * FROM wf_enqueue_bookmark('Event', correlation_id => '*');
SELECT * FROM wf_define('{"definitionId": "everyone", "root": {"id": "c", "type": "Correlate", "correlationId": "*"}}');
SELECT wf_start('everyone', on_fault => 'raise');
SELECT * FROM wf_define('{"definitionId": "everyone", "root": {"id": "c", "type": "RunJavaScript", "script": "setCorrelationId(''*'')"}}');
SELECT wf_start('everyone', on_fault => 'raise');
SELECT wf_start('publisher', '{"id": "*"}', on_fault => 'raise');
SELECT * FROM wf_define('{"definitionId": "everyone", "root": {"id": "c", "type": "DispatchWorkflow", "workflowDefinitionId": "order", "correlationId": "*"}}');
SELECT wf_start('everyone', on_fault => 'raise');
SELECT * FROM wf_define('{"definitionId": "everyone", "root": {"id": "c", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "order", "items": [1], "correlationIdFunction": {"js": "''*''"}}}');
SELECT wf_start('everyone', on_fault => 'raise');
SELECT * FROM wf_define('{"definitionId": "endpoint", "root": {"id": "h", "type": "HttpEndpoint", "path": "everyone", "canStartWorkflow": true}}');
SELECT status, convert_from(body, 'UTF8') FROM wf_http_request('GET', '/everyone', '{"X-Correlation-ID": "*"}');
