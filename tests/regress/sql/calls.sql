-- What a call says: about faults, about what is new, about a stimulus that met nothing, and about what is gone.
-- How it was searched: each call that runs a burst with a fault in it, each that sends with nothing to match and with an id of
-- NULL, and each that names a task or a bookmark with one that is used up, cancelled or was never there.

-- Runs a statement and gives its error, without the instants in it.
CREATE FUNCTION pg_temp.error(statement text) RETURNS TABLE (code text, message text, detail text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    code := 'no error';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    detail := regexp_replace(detail, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00', '(instant)');
    RETURN NEXT;
END $$;

-- A setting says what a fault does to a call that does not say it itself.
SELECT * FROM wf_define('{"definitionId": "boom", "root": {"id": "b", "type": "Sql", "statement": "SELECT 1/0"}}');
SHOW workflow.on_fault;
SELECT sub_status FROM wf_run('boom', instance_id => '01900000-0000-7000-8000-0000000c0001');
SET workflow.on_fault = raise;
SELECT wf_start('boom');
SELECT * FROM wf_run('boom');
SELECT * FROM wf_run('boom', on_fault => NULL);
SELECT * FROM wf_retry('01900000-0000-7000-8000-0000000c0001');
SELECT sub_status FROM wf_retry('01900000-0000-7000-8000-0000000c0001', on_fault => 'store');
SELECT * FROM wf_define('{"definitionId": "later", "root": [{"id": "t", "type": "RunTask", "taskName": "t"},
    {"id": "b", "type": "Sql", "statement": "SELECT 1/0"}]}');
SELECT wf_start('later') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT * FROM wf_resume(:'task');
SELECT * FROM wf_complete_task(:'task');
-- Nothing of the calls that failed is left.
SELECT status FROM workflow.tasks WHERE id = :'task';
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'boom';
-- What a call reaches without naming it is not its fault.
SELECT * FROM wf_define('{"definitionId": "bystander", "root": [{"id": "e", "type": "Event", "eventName": "Go"},
    {"id": "b", "type": "Sql", "statement": "SELECT 1/0"}]}');
SELECT wf_start('bystander', instance_id => '01900000-0000-7000-8000-0000000c0002');
SELECT cardinality(resumed) FROM wf_publish_event('Go');
-- The setting is a word, and every role's to set: for a role, a database, a transaction.
SET workflow.on_fault = ignore;
BEGIN;
SET LOCAL workflow.on_fault = store;
SELECT sub_status FROM wf_complete_task(:'task');
ROLLBACK;
SHOW workflow.on_fault;
RESET workflow.on_fault;
SELECT wf_start('boom', on_fault => 'ignore');

-- wf_run says whether the instance is new.
SELECT * FROM wf_define('{"definitionId": "order", "root": {"id": "paid", "type": "Event", "eventName": "Paid"}}');
SELECT is_new, sub_status FROM wf_run('order', '{"n": 1}', instance_id => '01900000-0000-7000-8000-0000000c0003');
SELECT is_new, sub_status FROM wf_run('order', '{"n": 2}', instance_id => '01900000-0000-7000-8000-0000000c0003');
SELECT is_new, sub_status FROM wf_run('order');
SELECT is_new, sub_status FROM wf_resume((SELECT bookmark_id FROM workflow.waiting WHERE instance = '01900000-0000-7000-8000-0000000c0003'));
SELECT * FROM wf_resume('01900000-0000-7000-8000-00000000dead', missing_ok => true);

-- An event is for all correlation ids unless it names one; NULL, which a variable may hold by mistake, is not all of them.
SELECT count(wf_cancel(instance)) FROM workflow.waiting WHERE activity = 'paid';
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

-- A stimulus that met nothing: a slip of the pen looks like one that comes too early.
SELECT started, resumed, queued_id FROM wf_publish_event('Paaid', '{}', correlation_id => 'a');
SELECT started, resumed, queued_id FROM wf_send_stimulus('Acme.Arrived', correlation_id => NULL);
SELECT started, resumed, queued_id FROM wf_publish_event('Paid', instance_id => '01900000-0000-7000-8000-00000000dead');
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark('Event', '{"EventName": "Paaid"}');
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(activity_id => 'payd', keep_for => '0');
-- Not where the call says that it may come too early.
SELECT queued_id IS NOT NULL AS kept FROM wf_publish_event('Paid', correlation_id => 'early', keep_for => '1 hour');
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(activity_id => 'payd', keep_for => '1 hour');
-- Once for a statement, whatever it sends.
DO $$ BEGIN
    FOR i IN 1..1000 LOOP
        PERFORM wf_publish_event('Paaid');
    END LOOP;
END $$;
-- Not from inside a burst, which may yet come to wait for it.
SELECT * FROM wf_define('{"definitionId": "inside", "root": [
    {"id": "s", "type": "Sql", "statement": "SELECT * FROM wf_publish_event(''Inside'')"}, {"id": "e", "type": "Event", "eventName": "Inside"}]}');
SELECT sub_status FROM wf_run('inside');

-- What is gone is named as the call names it, and who used it up.
SELECT * FROM wf_define('{"definitionId": "approval", "root": {"id": "f", "type": "Fork", "joinMode": "WaitAny", "branches": [
    {"id": "approve", "type": "RunTask", "taskName": "approve"}, {"id": "deadline", "type": "Delay", "timeSpan": "01:00:00"}]}}');
SELECT wf_start('approval') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT sub_status FROM wf_complete_task(:'task');
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_complete_task(%L)', :'task'));
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_resume(%L)', :'task'));
-- By the deadline.
SELECT wf_start('approval') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.instance = :'instance' AND w.activity = 'deadline';
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_complete_task(%L)', :'task'));
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_resume(%L)', :'task'));
-- With its instance.
SELECT wf_start('approval') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT wf_cancel(:'instance', 'the customer changed her mind');
SELECT code, replace(message, :'task', '(task)') AS message, replace(detail, :'instance', '(instance)') AS detail
  FROM pg_temp.error(format('SELECT wf_complete_task(%L)', :'task'));
SELECT * FROM pg_temp.error($$SELECT wf_complete_task('01900000-0000-7000-8000-00000000dead')$$);
SELECT * FROM pg_temp.error($$SELECT wf_resume('01900000-0000-7000-8000-00000000dead')$$);
-- How it ended is for those who may see the instance.
CREATE ROLE calls_stranger;
SELECT wf_grant_usage('calls_stranger');
SET ROLE calls_stranger;
SELECT code, replace(message, :'task', '(task)') AS message, detail FROM pg_temp.error(format('SELECT wf_complete_task(%L)', :'task'));
RESET ROLE;
SELECT * FROM wf_check();
