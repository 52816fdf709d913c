-- The bookmark that all children of a bulk dispatch report to stayed when what runs after a child had ended the parent, and did not
-- follow its correlation id.
\i tests/regress/include/children.sql

SELECT wf_define('{"definitionId": "asks", "root": {"type": "RunTask", "taskName": "Ask"}}') \g /dev/null
SELECT wf_define('{"definitionId": "first of two", "root": {"type": "BulkDispatchWorkflows", "workflowDefinitionId": "asks", "items": [1, 2],
    "childCompleted": {"type": "Finish"}}}') \g /dev/null
SELECT wf_define('{"definitionId": "correlated by two", "root": {"type": "BulkDispatchWorkflows", "workflowDefinitionId": "asks", "items": [1, 2],
    "childCompleted": {"type": "Correlate", "correlationId": "known"}}}') \g /dev/null
SELECT wf_start(d) FROM unnest('{first of two,correlated by two}'::text[]) AS d \g /dev/null
SELECT wf_run_due();
SELECT (SELECT (wf_complete_task(t.id)).sub_status FROM workflow.tasks AS t WHERE t.instance_id = c.id)
FROM (SELECT parent_instance_id, min(id::text)::uuid AS id FROM workflow.instances WHERE definition_id = 'asks' GROUP BY 1) AS c;
SELECT * FROM wf_check();
SELECT i.definition_id, i.sub_status, i.correlation_id, b.correlation_id AS of_bookmark
FROM workflow.instances AS i LEFT JOIN workflow.bookmarks AS b ON b.instance_id = i.id WHERE i.definition_id ~ ' two$' ORDER BY 1;
SELECT (wf_complete_task(task_id)).sub_status FROM workflow.open_tasks WHERE name = 'Ask';
SELECT definition_id, sub_status FROM workflow.instances WHERE definition_id ~ ' two$' ORDER BY 1;
SELECT * FROM wf_check();
