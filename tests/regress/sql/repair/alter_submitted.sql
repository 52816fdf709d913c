-- SubmitAlterationPlan: a plan that is worked off in batches, as the owner of the instance that submitted it.
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
\set SHOW_CONTEXT never
CREATE ROLE regress_alter_ops;
SELECT wf_grant_usage('regress_alter_ops');
SELECT * FROM wf_define('{"definitionId": "order", "variables": [{"name": "amount", "typeName": "Int32", "value": 1}], "root": [
    {"id": "ask", "type": "RunTask", "taskName": "ask"}]}');
SELECT * FROM wf_define('{"definitionId": "secret", "variables": {"amount": 1}, "root": {"id": "ask", "type": "RunTask", "taskName": "ask"}}');
SELECT wf_grant('order', 'regress_alter_ops', '{alter,read}');
SELECT count(wf_start('order')) FROM generate_series(1, 1203);
SELECT wf_start('secret') AS secret \gset
SELECT wf_complete_task(task_id) IS NOT NULL AS ended FROM (SELECT task_id FROM workflow.open_tasks ORDER BY task_id LIMIT 3) AS t;

SET ROLE regress_alter_ops;
SELECT * FROM wf_define('{"definitionId": "double", "outputs": [{"name": "done"}], "inputs": [{"name": "amount"}], "root": {"id": "Plan", "type": "SubmitAlterationPlan", "result": {"output": "done"},
    "params": {"object": {"Alterations": [{"Type": "ModifyVariable", "VariableId": "amount", "Value": {"input": "amount"}}], "Filter": {"EmptyFilterSelectsAll": true}}}}}');
-- The activity only stores the plan.
SELECT wf_start('double', '{"amount": 2}') AS plan \gset
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'plan';
SELECT DISTINCT variables FROM workflow.instance_list WHERE definition_id = 'order';
-- Batches of 500; the plan cannot alter itself, and sees only what its owner may read. Three have ended.
SELECT wf_run_due(1);
SELECT variables, count(*) FROM workflow.instance_list WHERE definition_id = 'order' GROUP BY variables ORDER BY 2;
SELECT wf_run_due();
SELECT sub_status, output FROM workflow.instance_list WHERE instance_id = :'plan';
SELECT variables, count(*) FROM workflow.instance_list WHERE definition_id = 'order' GROUP BY variables ORDER BY 2;
SELECT data - 'reason' AS data, data ->> 'reason' = format('plan of workflow instance %s', :'plan') AS names_the_plan, count(*) FROM workflow.journal WHERE event = 'Altered' GROUP BY 1, 2;
RESET ROLE;
SELECT variables FROM workflow.instance_list WHERE instance_id = :'secret';

-- A plan that is none is a fault of the activity, when it runs.
SET client_min_messages = error;
SELECT wf_define(jsonb_build_object('definitionId', 'bad' || n, 'root', jsonb_build_object('id', 'Plan', 'type', 'SubmitAlterationPlan', 'params', p)))
FROM jsonb_array_elements('[{"alterations": [{"type": "Cancel"}], "filter": {}}, {"alterations": [], "filter": {"names": ["x"]}}, {"alterations": [{"type": "Cancel"}]},
    {"alterations": [{"type": "Cancel"}], "filter": {"names": ["x"]}, "resaon": "x"}, [], "{]"]') WITH ORDINALITY AS a (p, n);
SELECT count(wf_start('bad' || n)) FROM generate_series(1, 6) AS n;
RESET client_min_messages;
SELECT sqlstate, message FROM workflow.open_incidents ORDER BY incident_id;

-- Cancelled with its instance: no further batch runs.
SELECT * FROM wf_define('{"definitionId": "never", "root": {"id": "Plan", "type": "SubmitAlterationPlan", "params": {"alterations": [{"type": "Cancel"}], "filter": {"definitionIds": ["order"]}}}}');
SELECT wf_start('never') AS never \gset
SELECT wf_cancel(:'never');
SELECT wf_run_due();
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'order' AND sub_status = 'Cancelled';
SELECT * FROM wf_check();
DROP OWNED BY regress_alter_ops;
DROP ROLE regress_alter_ops;
