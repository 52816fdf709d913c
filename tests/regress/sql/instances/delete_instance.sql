-- wf_delete_instance removes an instance and everything that belongs to it. A running one is cancelled first.
SELECT * FROM wf_define('{"definitionId": "work", "root": [{"type": "WriteLine", "text": "hello"}, {"id": "task", "type": "RunTask", "taskName": "Do it"}, {"type": "Fault", "message": "oops"}]}');
SELECT wf_start('work', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT wf_start('work', instance_id => '01900000-0000-7000-8000-000000000002');
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.instance_id = '01900000-0000-7000-8000-000000000002';
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(instance_id => '01900000-0000-7000-8000-000000000001', activity_id => 'other');

-- Before: an instance that waits, and one that is faulted.
CREATE VIEW leftovers AS
    SELECT (SELECT count(*) FROM workflow.instances) AS instances, (SELECT count(*) FROM workflow.bookmarks) AS bookmarks,
           (SELECT count(*) FROM workflow.tasks) AS tasks, (SELECT count(*) FROM workflow.incidents) AS incidents,
           (SELECT count(*) FROM workflow.execution_log WHERE seq >= 0) > 0 AS journal, (SELECT count(*) FROM workflow.bookmark_queue) AS queue;
SELECT * FROM leftovers;
SELECT wf_delete_instance('01900000-0000-7000-8000-000000000001');
SELECT * FROM leftovers;
SELECT wf_delete_instance('01900000-0000-7000-8000-000000000002');
SELECT * FROM leftovers;

-- false: there is no such instance (any more).
SELECT wf_delete_instance('01900000-0000-7000-8000-000000000001');
SELECT wf_delete_instance('01900000-0000-7000-8000-00000000dead');

-- Its id may come back, as a start of something new.
SELECT * FROM wf_define('{"definitionId": "other", "root": []}');
SELECT wf_start('other', instance_id => '01900000-0000-7000-8000-000000000001');

-- Rolled back, all of it is there again.
SELECT wf_start('work', instance_id => '01900000-0000-7000-8000-000000000003');
BEGIN;
SELECT wf_delete_instance('01900000-0000-7000-8000-000000000003');
ROLLBACK;
SELECT * FROM leftovers;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = '01900000-0000-7000-8000-000000000003';

-- A definition can be deleted once its instances are gone.
SELECT wf_delete_definition('work');
\echo :SQLSTATE
SELECT wf_delete_instance('01900000-0000-7000-8000-000000000003');
SELECT wf_delete_definition('work');

SELECT wf_delete_instance(NULL);
\echo :SQLSTATE
SELECT * FROM wf_check();
