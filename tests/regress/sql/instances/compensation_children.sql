-- A child instance that finished is confirmed: a cancel of the parent takes nothing of it back.
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "hotel", "root": [
    {"id": "Book", "type": "Compensable", "body": {"type": "WriteLine", "text": "booked"},
     "compensation": {"type": "WriteLine", "text": "given back"}, "confirmation": {"type": "WriteLine", "text": "fixed"}},
    {"type": "If", "condition": {"js": "getInput(\"waits\") === true"}, "then": {"type": "Event", "eventName": "Pay"}}]}');
SELECT * FROM wf_define('{"definitionId": "journey", "root": [
    {"id": "Flight", "type": "Compensable", "body": {"type": "WriteLine", "text": "flight"}, "compensation": {"type": "WriteLine", "text": "flight given back"}},
    {"id": "Hotel", "type": "ExecuteWorkflow", "workflowDefinitionId": "hotel", "waitForCompletion": true, "input": {"object": {"waits": {"input": "waits"}}}},
    {"id": "Leave", "type": "Event", "eventName": "Leave"}]}');
CREATE VIEW told AS
SELECT i.definition_id, j.event, j.activity, j.data FROM workflow.journal AS j JOIN workflow.instance_list AS i USING (instance_id)
WHERE j.event IN ('Line', 'Confirmed', 'Compensated') ORDER BY i.definition_id, j.seq, j.number;

-- The end of the child confirms, while its parent goes on. The records of the parent stay.
SELECT wf_start('journey') AS instance \gset
SELECT definition_id, sub_status FROM workflow.instance_list ORDER BY definition_id;
SELECT activity_id FROM workflow.open_compensations;
SELECT * FROM told;
-- The parent's cancel compensates what is the parent's.
SELECT wf_cancel(:'instance');
SELECT wf_run_due();
SELECT definition_id, sub_status FROM workflow.instance_list ORDER BY definition_id;
SELECT * FROM told;
SELECT count(*) AS open FROM workflow.open_compensations;

-- So it is with a child that waited: its own end confirms, and until then it holds its records itself.
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list;
SELECT wf_start('journey', '{"waits": true}') AS instance \gset
SELECT i.definition_id, c.activity_id FROM workflow.open_compensations AS c JOIN workflow.instance_list AS i USING (instance_id) ORDER BY 1;
SELECT wf_publish_event('Pay') \g /dev/null
SELECT i.definition_id, c.activity_id FROM workflow.open_compensations AS c JOIN workflow.instance_list AS i USING (instance_id) ORDER BY 1;
SELECT wf_cancel(:'instance');
SELECT wf_run_due();
SELECT * FROM told;
SELECT * FROM wf_check();
DROP VIEW told;
