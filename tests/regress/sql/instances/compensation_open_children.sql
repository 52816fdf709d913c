-- A child that is abandoned or cancelled with its parent takes back what it has done, by its own handlers.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = warning;
SELECT * FROM wf_define('{"definitionId": "child", "root": [
    {"id": "A", "type": "Compensable", "compensation": {"type": "WriteLine", "text": "undo A"}},
    {"type": "RunTask", "taskName": "Work"}]}');
SELECT * FROM wf_define('{"definitionId": "parent", "root": [
    {"id": "Call", "type": "ExecuteWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true, "timeout": "1 hour"}]}');
CREATE VIEW states AS
SELECT i.definition_id, i.sub_status, (SELECT string_agg(n.code, ', ') FROM workflow.open_incidents AS n WHERE n.instance_id = i.instance_id) AS incidents,
    (SELECT count(*) FROM workflow.journal AS j WHERE j.instance_id = i.instance_id AND j.event = 'Line' AND j.data = '"undo A"') AS undone
FROM workflow.instance_list AS i ORDER BY i.instance_id;

-- By the timeout of the activity that waits for it.
SELECT wf_start('parent') AS parent \gset
SET workflow.now = '2026-03-01 10:00:00+00';
SELECT wf_run_due();
SELECT * FROM states;
SELECT wf_run_due();
SELECT * FROM states;
SELECT count(*) FROM workflow.bookmark_queue;

-- By a cancel of the parent.
SELECT wf_delete_instance(instance_id) FROM workflow.instance_list WHERE definition_id = 'parent';
SELECT wf_start('parent') AS parent \gset
SELECT wf_cancel(:'parent');
SELECT wf_run_due();
SELECT * FROM states WHERE sub_status <> 'Faulted';

-- By force nothing is taken back, and an incident of the child says so.
SELECT wf_delete_instance(instance_id) FROM workflow.instance_list;
SELECT wf_start('parent') AS parent \gset
SELECT wf_cancel(:'parent', force => true);
SELECT wf_run_due();
SELECT * FROM states;
SELECT * FROM wf_check();
