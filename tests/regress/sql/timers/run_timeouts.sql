-- options.timeout bounds a run. When it is over everything open is cancelled, and the instance is faulted for good.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SELECT wf_define('{"definitionId": "offer", "options": {"timeout": "1 day"}, "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Accept"}, {"id": "thank", "type": "RunTask", "taskName": "Thank"}]}');

-- One more bookmark where it is used, from the first wait to the end.
SELECT wf_start('offer') AS offer \gset
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY waits_for;
SELECT line FROM wf_explain(:'offer') AS line WHERE line ~ 'the run';
SELECT problem FROM wf_check();
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY waits_for;
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT count(*) FROM workflow.waiting;

-- When it is over: no policy and no catch takes it, and a child workflow is cancelled, too.
SELECT wf_define('{"definitionId": "child", "root": {"type": "RunTask", "taskName": "Child"}}');
SELECT wf_define('{"definitionId": "parent", "options": {"timeout": "1 day", "activationStrategy": "Singleton"}, "root": {"id": "all", "type": "Parallel",
    "retry": {"maxAttempts": 3}, "activities": [
        {"type": "Try", "body": {"type": "RunTask", "taskName": "Accept"}, "catch": [{"body": {"type": "WriteLine", "text": "no"}}], "finally": {"type": "WriteLine", "text": "no"}},
        {"type": "ExecuteWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true}]}}');
SELECT wf_start('parent') AS parent \gset
SET workflow.now = '2026-03-02 09:00:00+00';
SELECT wf_run_due();
SELECT definition_id, sub_status, incident_count FROM workflow.instance_list WHERE definition_id IN ('parent', 'child') ORDER BY instance_id;
SELECT activity_id, sqlstate, code, message FROM workflow.open_incidents;
SELECT name, status FROM workflow.tasks WHERE name IN ('Accept', 'Child') ORDER BY id;
SELECT count(*) FROM workflow.waiting;
SELECT event, activity, data ->> 'message' AS message FROM workflow.journal WHERE instance_id = :'parent' AND event IN ('Faulted', 'Canceled', 'Workflow faulted', 'Caught', 'Retrying', 'Line') ORDER BY seq, number;
SELECT regexp_replace(line, '^\d{4}-\S+ \S+  ', '') AS line FROM wf_explain(:'parent') AS line;

-- It cannot be retried, and its place is free. A cancel settles the incident.
SELECT wf_retry(:'parent');
\echo :SQLSTATE
SELECT wf_start('parent') IS NOT NULL AS started;
SELECT wf_cancel(:'parent');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'parent';
SELECT count(*) FROM workflow.open_incidents;
SELECT count(*) FILTER (WHERE wf_cancel(instance_id)) FROM workflow.instance_list WHERE sub_status = 'Suspended';

-- An instance that is faulted already keeps it, while nothing else that is due fires there.
SELECT wf_define('{"definitionId": "broken", "options": {"timeout": "1 day", "activationStrategy": "Singleton"}, "root": {"type": "Parallel", "activities": [
    {"id": "divide", "type": "SetOutput", "outputName": "o", "outputValue": {"sql": "SELECT 1 / 0"}},
    {"id": "later", "type": "Delay", "timeSpan": "1 hour"}]}}');
SET client_min_messages = error;
SELECT wf_start('broken') AS broken \gset
SET workflow.now = '2026-03-02 12:00:00+00';
SELECT sub_status FROM wf_retry(:'broken');
SELECT wf_run_due();
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY waits_for;
SELECT wf_start('broken') AS other \gset
SET workflow.now = '2026-03-03 09:00:00+00';
SELECT wf_run_due();
RESET client_min_messages;
SELECT activity_id, code FROM workflow.open_incidents WHERE instance_id = :'broken';
SELECT wf_retry(:'broken');
\echo :SQLSTATE
SELECT wf_cancel(:'broken'), wf_cancel(:'other');

-- A call may end the time, too. on_fault => 'raise' raises the fault.
SELECT wf_start('offer') AS offer \gset
SELECT wf_resume(w.bookmark_id, on_fault => 'raise') FROM workflow.waiting AS w WHERE w.waits_for = 'Workflow.RunTimeout';
\echo :SQLSTATE
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.waits_for = 'Workflow.RunTimeout';

-- A finished or cancelled run costs nothing, and one that ends at once has no bookmark.
SELECT wf_define('{"definitionId": "quick", "options": {"timeout": "1 day"}, "root": {"type": "WriteLine", "text": "done"}}');
SELECT sub_status FROM wf_run('quick');
SELECT count(*) FROM workflow.waiting;

-- What it cannot be.
SELECT path, message FROM jsonb_array_elements('["0 s", "1 month", 5]') AS t,
    wf_validate(jsonb_build_object('definitionId', 'd', 'options', jsonb_build_object('timeout', t), 'root', '[]'::jsonb));
SELECT wf_export('offer') #> '{options,timeout}' AS exported;
