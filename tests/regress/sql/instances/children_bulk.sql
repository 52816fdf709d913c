-- BulkDispatchWorkflows starts a child for each item and counts each once, however it ends.
\i tests/regress/include/children.sql

-- BulkDispatchWorkflows leaves a child for each item and ends with the last of them; how each ended is a port.
SELECT wf_define('{"definitionId": "picky", "root": [
    {"type": "If", "condition": {"js": "getInput(''Fruit'') === ''durian''"}, "then": {"type": "Fault", "message": "no durian here"}},
    {"type": "WriteLine", "text": {"js": "`mixing ${getInput(''Fruit'')}`"}}]}');
SELECT wf_define('{"definitionId": "smoothie", "variables": {"Ok": 0, "Bad": 0}, "root": {"type": "Flowchart", "activities": [
        {"id": "mix", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "picky", "items": ["apple", {"Fruit": "banana", "Ripe": true}, "durian"],
         "defaultItemInputKey": "Fruit", "correlationIdFunction": {"js": "`mix-${getItem().Fruit ?? getItem()}`"},
         "childCompleted": {"type": "SetVariable", "variable": "Ok", "value": {"js": "getOk() + 1"}},
         "childFaulted": {"type": "SetVariable", "variable": "Bad", "value": {"js": "getBad() + 1"}}},
        {"id": "serve", "type": "WriteLine", "text": {"js": "`${getOk()} good, ${getBad()} bad`"}}],
    "connections": [["mix", "Completed", "serve"]]}}');
SELECT sub_status FROM wf_run('smoothie');
SELECT sub_status, correlation_id, input - 'ParentInstanceId' AS input FROM workflow.instance_list WHERE definition_id = 'picky' ORDER BY instance_id;
SET client_min_messages = error;
SELECT wf_run_due() > 0 AS ran;
RESET client_min_messages;
SELECT * FROM pg_temp.lines();
SELECT * FROM pg_temp.instances();
-- The parent has heard of the fault; a retry of the child is the child's own affair.
SELECT count(*) FROM workflow.instances WHERE parent_bookmark_id IS NOT NULL AND sub_status = 'Faulted';
SELECT pg_temp.forget();

-- The bookmark of a bulk dispatch counts children only.
SELECT wf_define('{"definitionId": "many", "root": {"id": "all", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "double", "items": [{"n": 1}]}}');
SELECT wf_start('many') AS many \gset
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{}') AS r WHERE w.instance = :'many';
SELECT data FROM workflow.journal WHERE instance_id = :'many' AND event = 'Note';
SELECT wf_run_due() > 0 AS ran;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'many';

-- If the input of one item does not fit, the activity faults and no child starts. A child that the activation strategy refuses counts as
-- faulted, and the others start.
SELECT wf_define('{"definitionId": "strict", "inputs": [{"name": "n", "type": "Int32", "required": true}], "options": {"activationStrategy": "Correlated"}, "root": {"type": "Event", "eventName": "Go"}}');
SELECT wf_define('{"definitionId": "misfit", "root": {"type": "BulkDispatchWorkflows", "workflowDefinitionId": "strict", "items": [{"n": 1}, {"n": "none"}]}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('misfit');
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'strict';
SELECT wf_define('{"definitionId": "refused", "root": {"type": "BulkDispatchWorkflows", "workflowDefinitionId": "strict", "items": [{"n": 1}, {"n": 2}], "correlationIdFunction": {"literal": "same"},
    "childFaulted": {"type": "WriteLine", "text": "refused"}}}');
SELECT wf_start('refused') AS refused \gset
SELECT wf_run_due() > 0 AS ran;
SELECT event, data FROM workflow.journal WHERE instance_id = :'refused' AND event = 'Line';
SELECT sub_status FROM workflow.instance_list WHERE definition_id = 'strict';
