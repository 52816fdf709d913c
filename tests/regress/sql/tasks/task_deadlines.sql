-- onDeadline of RunTask: the task ends, or others are asked.
SET client_min_messages = error;
CREATE ROLE regress_clerks;
CREATE ROLE regress_heads;
CREATE ROLE regress_ann LOGIN IN ROLE regress_clerks;
CREATE ROLE regress_ben LOGIN IN ROLE regress_heads;
SELECT wf_grant_usage(r) FROM unnest('{regress_clerks,regress_heads,regress_ann,regress_ben}'::name[]) AS r \g /dev/null

-- Definitions that are refused.
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "onDeadline": "approve"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "escalateTo": "heads"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Flowchart", "activities": [{"id": "a", "type": "RunTask", "taskName": "t"}, {"id": "b", "type": "End"}],
    "connections": [["a", "Expired", "b"]]}}');

SELECT wf_define('{"definitionId": "expire", "outputs": [{"name": "Answer"}], "root": {"type": "Flowchart",
    "activities": [{"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["role:regress_clerks"], "deadline": "1 day", "onDeadline": "expire", "result": {"output": "Answer"}},
        {"id": "late", "type": "SetName", "value": "late"}, {"id": "done", "type": "SetName", "value": "in time"}],
    "connections": [["ask", "Expired", "late"], ["ask", "done"]]}}') \g /dev/null
SELECT wf_define('{"definitionId": "escalate", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["role:regress_clerks"],
    "deadline": "1 day", "onDeadline": "escalate", "escalateTo": ["role:regress_heads"]}}') \g /dev/null
SET workflow.now = '2030-01-01 09:00+00';
SELECT wf_start('expire', correlation_id => 'late'), wf_start('expire', correlation_id => 'answered'), wf_start('escalate', correlation_id => 'escalated') \g /dev/null
SELECT correlation_id, waits_for, due FROM workflow.waiting ORDER BY correlation_id, waits_for;
SELECT task_id AS late FROM workflow.open_tasks WHERE correlation_id = 'late' \gset
SELECT task_id AS escalated FROM workflow.open_tasks WHERE correlation_id = 'escalated' \gset
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"yes"') WHERE t.correlation_id = 'answered';
SET workflow.now = '2030-01-02 09:00+00';
SELECT wf_run_due();
SELECT correlation_id, sub_status, name, output FROM workflow.instance_list ORDER BY correlation_id;
SELECT correlation_id, candidates, deadline FROM workflow.open_tasks;
SELECT correlation_id, waits_for FROM workflow.waiting;
SET workflow.now = '2030-01-04 09:00+00';
SELECT wf_run_due();
-- The former candidates come too late, and learn why.
\c - regress_ann
SELECT wf_complete_task(:'late', '"yes"');
SELECT wf_complete_task(:'escalated', '"yes"');
\c - regress_ben
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"yes"');
\c - postgres
SELECT * FROM wf_check();
