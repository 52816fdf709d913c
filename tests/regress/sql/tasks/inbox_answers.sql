-- resultSchema: an answer that does not match is refused, and the task stays open.
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
SELECT * FROM wf_define('{"definitionId": "leave", "variables": {"Decision": null}, "root": [
    {"id": "Approve", "type": "RunTask", "taskName": "Approve leave", "retry": {"maxAttempts": 2},
        "resultSchema": {"type": "object", "required": ["approved"], "additionalProperties": false, "properties": {"approved": {"type": "boolean"}}},
        "result": {"var": "Decision"}},
    {"type": "If", "condition": {"js": "getDecision().approved"}, "then": {"type": "WriteLine", "text": "granted"}, "else": {"type": "WriteLine", "text": "refused"}}]}');
SELECT wf_start('leave', correlation_id => 'r1') AS r1 \gset
SELECT task_id AS task, result_schema FROM workflow.open_tasks \gset
SELECT jsonb_pretty(:'result_schema');

-- A word that is misspelt, and no answer at all.
SELECT wf_complete_task(:'task', '{"aproved": true}');
\echo :SQLSTATE
SELECT wf_complete_task(:'task');
\echo :SQLSTATE
SELECT wf_resume(:'task', '{"approved": "yes"}');
\echo :SQLSTATE
SELECT * FROM wf_enqueue_bookmark(correlation_id => 'r1', input => '{"approved": 1}');
\echo :SQLSTATE
-- A worker keeps its lease, and may fail the task.
SELECT task_id, token FROM wf_claim_tasks(worker => 'robot') \gset
SELECT wf_complete_task(:'task_id', '{}', token => :'token');
\echo :SQLSTATE
SELECT outcome, sub_status, message FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'task_id', 'token', :'token', 'result', 3)));
SELECT attempt, worker FROM workflow.open_tasks;
SELECT wf_fail_task(:'task_id', :'token', 'the form is empty');
SELECT task_id, attempt FROM workflow.open_tasks \gset
-- A new version with another schema: the task keeps the one that it was opened with.
SELECT * FROM wf_define('{"definitionId": "leave", "variables": {"Decision": null}, "root": [
    {"id": "Approve", "type": "RunTask", "taskName": "Approve leave", "resultSchema": {"type": "string"}, "result": {"var": "Decision"}}]}');
SELECT wf_complete_task(:'task', '"yes"');
\echo :SQLSTATE
SELECT r.sub_status FROM wf_complete_task(:'task', '{"approved": true}') AS r;
SELECT data FROM workflow.journal WHERE instance_id = :'r1' AND event = 'Line';

-- The schema may be computed. A task that faulted on its answer keeps it.
SELECT * FROM wf_define('{"definitionId": "count", "inputs": [{"name": "most"}], "root": [
    {"id": "Count", "type": "RunTask", "taskName": "Count", "resultSchema": {"object": {"type": "integer", "maximum": {"input": "most"}}}, "result": {"var": "N"}},
    {"id": "Check", "type": "RunTask", "taskName": "Check", "resultSchema": false}], "variables": {"N": null}}');
SELECT wf_start('count', '{"most": 10}') AS c \gset
SELECT wf_complete_task(task_id, '11') FROM workflow.open_tasks;
\echo :SQLSTATE
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '10') AS r;
-- false matches nothing: such a task can only be cancelled.
SELECT wf_complete_task(task_id, '{}') FROM workflow.open_tasks;
\echo :SQLSTATE
SELECT wf_cancel(:'c');
SELECT * FROM wf_check();
