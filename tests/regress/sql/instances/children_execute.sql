-- ExecuteWorkflow runs a child in the transaction of its parent, which waits for its end, or for its first wait.
\i tests/regress/include/children.sql

-- ExecuteWorkflow runs the child in this transaction. Its result is how the child stands.
SELECT wf_define('{"definitionId": "sum", "variables": {"R": null}, "root": [
    {"type": "WriteLine", "text": "before"},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "double", "input": {"object": {"n": {"input": "n"}}}, "correlationId": "order-1",
     "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "`${getR().subStatus}: ${getR().output.Twice}`"}}]}');
SELECT sub_status FROM wf_run('sum', '{"n": 21}');
SELECT * FROM pg_temp.lines();
SELECT * FROM pg_temp.instances();
SELECT pg_temp.forget();

-- With waitForCompletion the parent waits until a child that waits has ended, and goes on in the transaction that ends it.
SELECT wf_define('{"definitionId": "poll", "variables": {"R": null}, "root": [
    {"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "getR().output.Answer"}}]}');
SELECT sub_status, bookmarks #>> '{0,activity_id}' AS waits_at FROM wf_run('poll');
BEGIN;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"no"');
SELECT * FROM pg_temp.instances();
ROLLBACK;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"yes"');
SELECT * FROM pg_temp.instances();
SELECT * FROM pg_temp.lines();
SELECT pg_temp.forget();

-- Without it the parent goes on when the child first waits.
SELECT wf_define('{"definitionId": "start-only", "variables": {"R": null}, "root": [
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "`${getR().status}, ${getR().subStatus}`"}}]}');
SELECT sub_status FROM wf_run('start-only');
SELECT * FROM pg_temp.lines();
SELECT * FROM pg_temp.instances();
SELECT pg_temp.forget();
