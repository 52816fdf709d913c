-- timeout bounds one attempt of an activity, waiting included. When the time is over, what is below is cancelled, and the activity faults.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SELECT * FROM wf_define('{
    "definitionId": "approve",
    "root": [
        {"id": "ask", "type": "RunTask", "taskName": "Approve", "timeout": "2 days"},
        {"id": "thank", "type": "WriteLine", "text": "thanks"}]
}');

-- An activity that ends in time: its timeout goes with it.
SELECT wf_start('approve') AS instance \gset
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY waits_for;
SELECT line FROM wf_explain(:'instance') AS line OFFSET 1;
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT count(*) FROM workflow.waiting;

-- One that does not: its task is cancelled, and the incident says what happened. Its code is "timeout".
SELECT wf_start('approve') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks \gset
SET workflow.now = '2026-03-03 09:00:00+00';
SELECT wf_run_due();
SELECT sub_status, incident_count FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT activity_id, sqlstate, code, message FROM workflow.open_incidents;
SELECT status FROM workflow.tasks WHERE id = :'task';
SELECT wf_complete_task(:'task');
\echo :SQLSTATE
SELECT count(*) FROM workflow.waiting;

-- wf_retry begins with a new task, and the whole time.
SELECT sub_status FROM wf_retry(:'instance');
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY waits_for;

-- Time resumes the bookmark, or a call with its id: then the time is over at once. No stimulus meets it.
SELECT resumed FROM wf_enqueue_bookmark(name => 'Workflow.Timeout', keep_for => '0');
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, on_fault => 'raise') AS r WHERE w.waits_for = 'Workflow.Timeout';
\echo :SQLSTATE
SELECT wf_cancel(:'instance');

-- A retry policy and a catch may name it, and a connection "Timeout" of a flowchart is taken instead of the fault.
SELECT * FROM wf_define('{
    "definitionId": "remind",
    "root": {"id": "chart", "type": "Flowchart",
        "activities": [
            {"id": "ask", "type": "RunTask", "taskName": "Approve", "timeout": "1 day", "retry": {"maxAttempts": 2, "delay": "1 hour", "on": ["timeout"]}},
            {"id": "granted", "type": "WriteLine", "text": "granted"},
            {"id": "escalate", "type": "RunTask", "taskName": "Escalate"}],
        "connections": [["ask", "granted"], ["ask", "Timeout", "escalate"]]}
}');
SELECT wf_start('remind') AS instance \gset
SET workflow.now = '2026-03-04 09:00:00+00';
SELECT wf_run_due();
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY waits_for;
SET workflow.now = '2026-03-04 10:00:00+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-05 10:00:00+00';
SELECT wf_run_due();
SELECT activity, waits_for, due FROM workflow.waiting ORDER BY waits_for;
SELECT event, activity, data - 'message' AS data FROM workflow.journal
WHERE instance_id = :'instance' AND event IN ('Retrying', 'Completed', 'Bookmark created', 'Faulted') ORDER BY seq, number;
SELECT wf_cancel(:'instance');

-- On a container: everything below it.
SELECT * FROM wf_define('{
    "definitionId": "deadline",
    "root": [
        {"id": "try", "type": "Try",
            "body": {"id": "both", "type": "Parallel", "timeout": "1 hour", "activities": [{"type": "RunTask", "taskName": "One"}, {"type": "Event", "eventName": "Two"}]},
            "catch": [{"on": ["timeout"], "body": {"id": "late", "type": "WriteLine", "text": "too late"}}]},
        {"id": "after", "type": "WriteLine", "text": "after"}]
}');
SELECT wf_start('deadline') AS instance \gset
SET workflow.now = '2026-03-05 11:00:00+00';
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT data FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Line' ORDER BY seq, number;

-- A child workflow that an activity waits for is cancelled when the time of the activity is over.
SELECT * FROM wf_define('{"definitionId": "child", "root": {"type": "RunTask", "taskName": "Child"}}');
SELECT * FROM wf_define('{
    "definitionId": "parent",
    "root": [{"id": "run", "type": "ExecuteWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true, "timeout": "1 hour"}]
}');
SELECT wf_start('parent') AS instance \gset
SELECT activity, waits_for FROM workflow.waiting WHERE instance = :'instance' ORDER BY waits_for;
SELECT problem FROM wf_check();
SET workflow.now = '2026-03-05 12:00:00+00';
SELECT wf_run_due();
SELECT name, status FROM workflow.tasks WHERE name = 'Child';
SELECT definition_id, sub_status FROM workflow.instance_list WHERE definition_id IN ('parent', 'child') ORDER BY instance_id;
SELECT count(*) FROM workflow.bookmark_queue;
SELECT wf_cancel(:'instance');

-- Where overdue timers are passed over, attempts and timeouts stay due.
SET workflow.now = '2026-03-06 09:00:00+00';
SELECT * FROM wf_define('{
    "definitionId": "moved",
    "root": {"type": "Parallel", "activities": [
        {"id": "ask", "type": "RunTask", "taskName": "Approve", "timeout": "1 hour"},
        {"id": "later", "type": "Delay", "timeSpan": "1 hour"},
        {"id": "call", "type": "SetOutput", "outputName": "o", "outputValue": {"sql": "SELECT 1 / 0"}, "retry": {"maxAttempts": 2, "delay": "1 hour"}}]}
}');
SELECT wf_start('moved') AS instance \gset
SET workflow.now = '2026-03-06 12:00:00+00';
UPDATE workflow.identity SET database = 0;
SELECT overdue FROM wf_adopt_database(overdue => 'skip');
SELECT activity, waits_for, due FROM workflow.waiting WHERE instance = :'instance' ORDER BY activity, waits_for;

-- What a timeout cannot be.
SELECT path, message FROM jsonb_array_elements('["0 s", "-1 hour", "1 month", "soon", 5, {"js": "1"}]') AS t,
    wf_validate(jsonb_build_object('definitionId', 'd', 'root', jsonb_build_object('type', 'Event', 'eventName', 'Go', 'timeout', t)));
SELECT path, message FROM wf_validate('{"definitionId": "d", "root": {"type": "Event", "eventName": "Go", "timeOut": "1 hour"}}');
SELECT wf_export('approve') #> '{root,activities,0,customProperties,timeout}' AS exported;
