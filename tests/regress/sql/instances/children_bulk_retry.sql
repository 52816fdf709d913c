-- A child of a bulk dispatch that faulted and is retried does not report again when it ends well: its parent would count it twice, and
-- not wait for the other one.
\i tests/regress/include/children.sql

CREATE TABLE divisor (n int);
INSERT INTO divisor VALUES (0);
SELECT wf_define('{"definitionId": "fragile", "root": [{"type": "If", "condition": {"js": "getInput(''Item'') === ''fragile''"},
    "then": {"type": "Sql", "statement": "SELECT 1 / n FROM divisor"}, "else": {"type": "RunTask", "taskName": "answer"}}]}');
SELECT wf_define('{"definitionId": "patient", "variables": {"Ok": 0, "Bad": 0}, "root": [
    {"id": "both", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "fragile", "items": ["fragile", "solid"],
     "childCompleted": [{"type": "WriteLine", "text": "well"}, {"type": "SetVariable", "variable": "Ok", "value": {"js": "getOk() + 1"}}],
     "childFaulted": [{"type": "WriteLine", "text": "not well"}, {"type": "SetVariable", "variable": "Bad", "value": {"js": "getBad() + 1"}}]},
    {"type": "SetOutput", "outputName": "Ends", "outputValue": {"js": "`${getOk()} good, ${getBad()} bad`"}}]}');
SELECT wf_start('patient') AS patient \gset
SET client_min_messages = error;
SELECT wf_run_due() > 0 AS ran;
RESET client_min_messages;
SELECT instance_id AS child FROM workflow.instance_list WHERE sub_status = 'Faulted' \gset
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = :'patient' AND event = 'Line';
UPDATE divisor SET n = 1;
SELECT sub_status FROM wf_retry(:'child');
SELECT wf_run_due();
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT * FROM pg_temp.instances();
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT wf_run_due();
SELECT sub_status, output FROM workflow.instance_list WHERE instance_id = :'patient';
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = :'patient' AND event = 'Line' ORDER BY seq, number;
SELECT event, count(*) FROM workflow.journal WHERE instance_id = :'patient' AND activity = 'both' GROUP BY event ORDER BY event;
SELECT substr(line, 22) AS line FROM wf_explain(:'patient') AS line WHERE line ~ 'both';
SELECT pg_temp.forget();
