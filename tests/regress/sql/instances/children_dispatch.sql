-- DispatchWorkflow leaves a child to a worker, and its parent waits for it or does not.
\i tests/regress/include/children.sql

-- DispatchWorkflow leaves the child to a worker; here wf_run_due() is one.
SELECT wf_define('{"definitionId": "later", "variables": {"R": null}, "root": [
    {"type": "DispatchWorkflow", "workflowDefinitionId": "double", "input": {"n": 1}},
    {"type": "DispatchWorkflow", "workflowDefinitionId": "double", "input": {"n": 2}, "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "`the second said ${getR().Twice}`"}}]}');
SELECT sub_status FROM wf_run('later');
SELECT * FROM pg_temp.instances();
SELECT wf_run_due() > 0 AS ran;
SELECT * FROM pg_temp.instances();
SELECT * FROM pg_temp.lines();
SELECT pg_temp.forget();
