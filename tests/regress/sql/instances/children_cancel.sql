-- Cancelling a parent reaches all below it; a child that is cancelled has ended for its parent.
\i tests/regress/include/children.sql

-- Cancelling a parent reaches all below it; cancelling a child is an end that its parent hears of.
SELECT wf_define('{"definitionId": "middle", "root": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "ask", "waitForCompletion": true}]}');
SELECT wf_define('{"definitionId": "top", "variables": {"R": null}, "root": [
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "middle", "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "getR().subStatus"}}]}');
SELECT wf_start('top') AS top \gset
SELECT wf_cancel(:'top', 'enough');
SELECT * FROM pg_temp.instances();
SELECT pg_temp.forget();
SELECT wf_start('top') AS top \gset
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE definition_id = 'middle';
SELECT * FROM pg_temp.instances();
SELECT * FROM pg_temp.lines();
SELECT pg_temp.forget();
