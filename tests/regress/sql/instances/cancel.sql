-- wf_cancel ends an instance: its bookmarks go, its tasks are closed, its queue items are dropped.
SELECT * FROM wf_define('{"definitionId": "work", "root": {"type": "Fork", "joinMode": "WaitAll", "branches": [
    {"id": "task", "type": "RunTask", "taskName": "Do it"}, {"id": "event", "type": "Event", "eventName": "Go"}]}}');
SELECT wf_start('work', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT activity FROM workflow.waiting ORDER BY activity;
SELECT wf_cancel('01900000-0000-7000-8000-000000000001', 'the customer changed her mind');
SELECT count(*) AS waiting FROM workflow.waiting;
SELECT name, status FROM workflow.tasks;
SELECT status, sub_status, finished_at IS NOT NULL AS ended FROM workflow.instance_list;
SELECT event, activity, data FROM workflow.journal ORDER BY seq, number;

-- false: it had already ended.
SELECT wf_cancel('01900000-0000-7000-8000-000000000001');
SELECT * FROM wf_define('{"definitionId": "done", "root": []}');
SELECT wf_start('done') AS done \gset
SELECT wf_cancel(:'done');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'done';

-- A faulted instance can be cancelled; then its incidents are settled.
SELECT * FROM wf_define('{"definitionId": "fault", "root": {"type": "Fault", "message": "oops"}}');
SELECT wf_start('fault', instance_id => '01900000-0000-7000-8000-000000000002');
SELECT wf_cancel('01900000-0000-7000-8000-000000000002');
SELECT status, sub_status FROM workflow.instance_list WHERE instance_id = '01900000-0000-7000-8000-000000000002';
SELECT count(*) AS open_incidents FROM workflow.open_incidents;

-- Rolled back, it waits as before.
SELECT wf_start('work', instance_id => '01900000-0000-7000-8000-000000000003');
BEGIN;
SELECT wf_cancel('01900000-0000-7000-8000-000000000003');
ROLLBACK;
SELECT activity FROM workflow.waiting ORDER BY activity;
SELECT name, status FROM workflow.tasks WHERE instance_id = '01900000-0000-7000-8000-000000000003';

-- What is cancelled is not resumed.
SELECT wf_cancel('01900000-0000-7000-8000-000000000003');
SELECT started, resumed FROM wf_publish_event('Go');
SELECT * FROM wf_retry('01900000-0000-7000-8000-000000000003');
\echo :SQLSTATE

-- Errors.
SELECT wf_cancel(NULL);
\echo :SQLSTATE
SELECT wf_cancel('01900000-0000-7000-8000-00000000dead');
\echo :SQLSTATE
SELECT * FROM wf_check();
