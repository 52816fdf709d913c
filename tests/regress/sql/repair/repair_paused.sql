-- A paused instance is altered, moved to another version, and goes on as that says when the pause ends.
SET client_min_messages = error;
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
SELECT wf_define('{"definitionId": "order", "variables": [{"name": "Amount", "typeName": "Int32"}], "root": [
    {"id": "Pack", "type": "RunTask", "taskName": "Pack"},
    {"id": "Wait", "type": "Delay", "timeSpan": "1 hour"},
    {"type": "WriteLine", "text": {"js": "`one: ${getVariable(\"Amount\")}`"}}]}');
SELECT wf_start('order') AS packing \gset
SELECT wf_start('order') AS waiting \gset
SELECT outcome FROM wf_alter('[{"type": "CancelActivity", "activityId": "Pack"}]', jsonb_build_object('workflowInstanceIds', jsonb_build_array(:'waiting')));
SELECT wf_define('{"definitionId": "order", "variables": [{"name": "Amount", "typeName": "Int32"}], "root": [
    {"id": "Pack", "type": "RunTask", "taskName": "Pack"},
    {"id": "Check", "type": "Event", "eventName": "Checked"},
    {"id": "Pause", "type": "Delay", "timeSpan": "1 hour"},
    {"type": "WriteLine", "text": {"js": "`two: ${getVariable(\"Amount\")}`"}}]}');
SELECT wf_pause(:'packing', 'repair'), wf_pause(:'waiting', 'repair');

-- A variable is set without ending the pause.
SELECT wf_set_variable(:'packing', 'Amount', '3'), wf_set_variable(:'waiting', 'Amount', '"4"');
-- They are moved, with what waits: no task can be claimed, and nothing fires.
SELECT * FROM wf_migrate(:'packing');
SELECT * FROM wf_migrate(:'waiting');
SELECT outcome, problems FROM wf_migrate_all('order', mapping => '{"Wait": "Pause"}', dry_run => true) ORDER BY 1;
SELECT outcome, problems FROM wf_migrate_all('order', mapping => '{"Wait": "Pause"}') ORDER BY 1;
SET workflow.now = '2026-03-02 11:00:00+00';
SELECT count(*) FROM wf_claim_tasks('{Pack}');
SELECT wf_run_due();
SELECT activity, due, paused_at FROM workflow.waiting ORDER BY activity;
-- A step is skipped while it is paused: the next one waits, and stands still as well.
SELECT sub_status FROM wf_cancel_activity(:'packing', 'Pack');
SELECT (SELECT count(*) FROM wf_publish_event('Checked') AS p WHERE p.resumed <> '{}') AS resumed;
SELECT activity, due, paused_at FROM workflow.waiting ORDER BY activity;
-- One that waits for time is due from when it began, which was in the pause.
SELECT sub_status FROM wf_schedule_activity(:'waiting', 'Pause');
SELECT wf_run_due();
SELECT activity, due FROM workflow.waiting ORDER BY activity;

-- At the end of the pause the kept event resumes the one, and the other one waits for its hour.
SELECT sub_status FROM wf_unpause(:'packing');
SELECT sub_status FROM wf_unpause(:'waiting');
SELECT wf_run_due();
SELECT activity, due, paused_at FROM workflow.waiting ORDER BY activity;
SET workflow.now = '2026-03-02 12:00:00+00';
SELECT wf_run_due();
SELECT sub_status, version FROM workflow.instance_list;
SELECT data FROM workflow.journal WHERE event = 'Line' ORDER BY data::text;
SELECT activity, event, data ->> 'type' AS type FROM workflow.journal WHERE instance_id = :'waiting' ORDER BY seq, number;
SELECT * FROM workflow._check();

-- What others do to an instance that keeps no journal is written, but for no event of its own.
SELECT wf_define('{"definitionId": "quiet", "variables": [{"name": "V"}], "options": {"journal": "none"}, "root": [{"id": "Wait", "type": "Event", "eventName": "Go"}]}');
SELECT wf_start('quiet') AS quiet \gset
SELECT wf_pause(:'quiet'), wf_set_variable(:'quiet', 'V', '1');
SELECT sub_status FROM wf_unpause(:'quiet');
SELECT sub_status FROM wf_schedule_activity(:'quiet', 'Wait');
SELECT event FROM workflow.journal WHERE instance_id = :'quiet' ORDER BY seq, number;
SELECT * FROM workflow._check();
