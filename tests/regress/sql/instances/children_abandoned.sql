-- A timeout, another attempt and a catch cancel the child workflows that the activity waits for, and all below them.
\i tests/regress/include/children.sql
SET workflow.now = '2026-03-01 09:00:00+00';
CREATE FUNCTION pg_temp.ended() RETURNS TABLE (definition text, status text, reason text) LANGUAGE sql AS $$
    SELECT l.definition_id, l.sub_status, j.data #>> '{}' FROM workflow.instance_list AS l
    LEFT JOIN workflow.journal AS j ON j.instance_id = l.instance_id AND j.event = 'Workflow cancelled' ORDER BY l.instance_id
$$;
SELECT wf_define('{"definitionId": "middle", "root": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "waitForCompletion": true}]}');

-- The time of one activity is over: its child is cancelled, with all below it and their tasks.
SELECT wf_define('{"definitionId": "top", "root": [
    {"id": "run", "type": "ExecuteWorkflow", "workflowDefinitionId": "middle", "waitForCompletion": true, "timeout": "1 hour"}]}');
SELECT wf_start('top') AS top \gset
SET workflow.now = '2026-03-01 10:00:00+00';
SELECT wf_run_due();
SELECT * FROM pg_temp.ended();
SELECT status FROM workflow.tasks;
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT pg_temp.forget();

-- Another attempt begins with another child.
SELECT wf_define('{"definitionId": "again", "root": [
    {"id": "run", "type": "ExecuteWorkflow", "workflowDefinitionId": "middle", "waitForCompletion": true, "timeout": "1 hour",
     "retry": {"maxAttempts": 2, "delay": "0 s"}}]}');
SELECT wf_start('again') AS again \gset
SET workflow.now = '2026-03-01 11:00:00+00';
SELECT wf_run_due();
SELECT * FROM pg_temp.ended();
SELECT pg_temp.forget();

-- A catch, of the children of a bulk dispatch: those that wait for a worker to start them, too. A child that no activity waits for goes on.
SELECT wf_define('{"definitionId": "many", "root": {"type": "Try",
    "body": {"type": "Parallel", "activities": [
        {"type": "BulkDispatchWorkflows", "workflowDefinitionId": "ask", "items": [1, 2], "waitForCompletion": true},
        {"type": "DispatchWorkflow", "workflowDefinitionId": "ask"},
        [{"id": "go", "type": "Event", "eventName": "Go"}, {"type": "Fault", "message": "no"}]]},
    "catch": [{"body": {"type": "RunTask", "taskName": "repair"}}]}}');
SELECT wf_start('many') AS many \gset
SELECT r.started, r.queued_id FROM wf_publish_event('Go') AS r;
SELECT * FROM pg_temp.ended();
SET client_min_messages = error;
SELECT wf_run_due() > 0 AS ran;
RESET client_min_messages;
SELECT * FROM pg_temp.ended();
SELECT pg_temp.forget();

-- A child that was asked for in the call that gives it up does not begin. Other endings of a branch leave children alone.
SELECT wf_define('{"definitionId": "never", "root": {"type": "Try",
    "body": {"type": "Parallel", "activities": [
        {"type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "waitForCompletion": true}, {"type": "Fault", "message": "no"}]},
    "catch": [{"body": {"type": "WriteLine", "text": "caught"}}]}}');
SELECT sub_status FROM wf_run('never');
SELECT * FROM pg_temp.ended();
SELECT pg_temp.forget();
SELECT wf_define('{"definitionId": "race", "root": {"type": "Fork", "joinMode": "WaitAny", "branches": [
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "waitForCompletion": true}, {"type": "Event", "eventName": "Go"}]}}');
SELECT wf_start('race') AS race \gset
SELECT cardinality((wf_publish_event('Go')).resumed) AS resumed;
SELECT * FROM pg_temp.ended();
SELECT pg_temp.forget();

-- A child whose burst runs further up in this session: SQL of the child ends the time of the parent. The queue keeps the cancel.
CREATE FUNCTION over() RETURNS text LANGUAGE sql AS
    $$ SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.waits_for = 'Workflow.Timeout' $$;
SELECT wf_define('{"definitionId": "inner", "root": [{"type": "RunTask", "taskName": "go"},
    {"type": "Sql", "statement": "SELECT over()"}, {"type": "RunTask", "taskName": "more"}]}');
SELECT wf_define('{"definitionId": "outer", "root": [
    {"type": "Try", "body": {"type": "ExecuteWorkflow", "workflowDefinitionId": "inner", "waitForCompletion": true, "timeout": "1 day"}, "catch": [{}]},
    {"type": "RunTask", "taskName": "after"}]}');
SELECT wf_start('outer') AS outer \gset
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT * FROM pg_temp.ended();
SELECT name FROM workflow.bookmark_queue;
SELECT wf_run_due();
SELECT * FROM pg_temp.ended();
SELECT count(*) AS queued FROM workflow.bookmark_queue;

-- No stimulus of that name is kept.
CREATE ROLE regress_abandoned_stranger;
SELECT wf_grant_usage('regress_abandoned_stranger');
SET ROLE regress_abandoned_stranger;
SELECT wf_enqueue_bookmark(name => 'Workflow.Cancel', instance_id => :'outer', keep_for => '1 day') IS NOT NULL AS kept;
SELECT wf_run_due();
RESET ROLE;
SELECT wf_run_due();
SELECT * FROM pg_temp.ended();
DROP FUNCTION over;
SELECT pg_temp.forget();
