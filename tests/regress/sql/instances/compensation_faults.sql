-- A fault that ends the run, or its time, takes back what has completed. Nothing else can be retried then.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE VIEW story AS
SELECT i.definition_id, j.event, j.activity, j.data FROM workflow.journal AS j JOIN workflow.instances AS i ON i.id = j.instance_id
WHERE j.event IN ('Line', 'Compensated', 'Faulted', 'Workflow faulted', 'Workflow retried') ORDER BY j.instance_id, j.seq, j.number;

-- While what has completed is being taken back there is nothing to retry.
SELECT * FROM wf_define('{"definitionId": "slow", "options": {"compensateOn": ["cancel", "fault"]}, "root": [
    {"id": "A", "type": "Compensable", "compensation": {"type": "RunTask", "taskName": "Undo"}},
    {"id": "F", "type": "Fault", "message": "no"}]}');
SELECT wf_start('slow') AS instance \gset
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT wf_retry(:'instance');
\echo :SQLSTATE
SELECT wf_retry(:'instance', '{F}');
\echo :SQLSTATE
-- Nor does the story say that there is.
SELECT line FROM wf_explain(:'instance') AS line WHERE line ~ 'wf_retry';
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT wf_retry(:'instance');
\echo :SQLSTATE
SELECT * FROM story;

-- The same while it is being cancelled after a fault.
SELECT * FROM wf_define('{"definitionId": "left", "root": [
    {"id": "A", "type": "Compensable", "compensation": {"type": "RunTask", "taskName": "Undo"}},
    {"id": "F", "type": "Fault", "message": "no"}]}');
SELECT wf_start('left') AS instance \gset
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT wf_cancel(:'instance');
SELECT wf_retry(:'instance');
\echo :SQLSTATE
SELECT wf_run_due();
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT wf_retry(:'instance');
\echo :SQLSTATE

-- Of an instance that a fault has ended only a compensation that failed can be retried.
CREATE TABLE undone (what text NOT NULL);
SELECT * FROM wf_define('{"definitionId": "saga", "options": {"compensateOn": ["cancel", "fault"]}, "root": [
    {"id": "A", "type": "Compensable", "compensation": {"type": "WriteLine", "text": "undo A"}},
    {"id": "B", "type": "Compensable", "compensation": {"id": "UndoB", "type": "Sql", "statement": "INSERT INTO public.taken_back VALUES (''B'')"}},
    {"id": "F", "type": "Fault", "message": "no"}]}');
SELECT wf_start('saga') AS instance \gset
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT activity_id, sqlstate, message, detail FROM workflow.open_incidents WHERE instance_id = :'instance' ORDER BY activity_id;
SELECT wf_retry(:'instance', '{F}');
\echo :SQLSTATE
ALTER TABLE undone RENAME TO taken_back;
SELECT sub_status FROM wf_retry(:'instance');
SELECT * FROM taken_back;
SELECT event, activity, data FROM story WHERE definition_id = 'saga';
SELECT activity_id, sqlstate, message FROM workflow.open_incidents WHERE instance_id = :'instance' ORDER BY activity_id;
SELECT wf_retry(:'instance');
\echo :SQLSTATE

-- The time of a run takes back what has completed, whatever the option says.
SELECT * FROM wf_define('{"definitionId": "timed", "options": {"timeout": "1 day"}, "root": [
    {"id": "A", "type": "Compensable", "compensation": {"type": "WriteLine", "text": "undo A"}},
    {"type": "Event", "eventName": "E"}]}');
SELECT wf_start('timed') AS instance \gset
SET workflow.now = '2026-03-02 09:00:00+00';
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT event, activity, data FROM story WHERE definition_id = 'timed';
SELECT code, message FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT count(*) FROM workflow.open_compensations WHERE instance_id = :'instance';
SELECT wf_retry(:'instance');
\echo :SQLSTATE

-- It does not end what takes something back already.
SELECT * FROM wf_define('{"definitionId": "ending", "options": {"timeout": "1 day"}, "root": [
    {"id": "A", "type": "Compensable", "compensation": {"type": "RunTask", "taskName": "Undo"}},
    {"type": "Event", "eventName": "E"}]}');
SELECT wf_start('ending') AS instance \gset
SELECT wf_cancel(:'instance');
SELECT wf_run_due();
SET workflow.now = '2026-03-04 09:00:00+00';
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT name FROM workflow.open_tasks WHERE instance_id = :'instance';
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.instance_id = :'instance';
SELECT count(*) FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT * FROM wf_check();
