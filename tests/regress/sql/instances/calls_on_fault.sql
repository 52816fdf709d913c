-- workflow.on_fault says what a fault does to a call that does not say it itself.
-- How it was searched: each call that runs a burst with a fault in it.
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
