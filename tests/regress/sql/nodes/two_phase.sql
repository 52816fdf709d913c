-- Every function that changes something can be part of a prepared transaction, as one over several nodes is. What stores
-- definitions announces their triggers, which no prepared transaction can: workflow.notify_triggers = off leaves that out.
SET client_min_messages = error;
CREATE ROLE regress_two_phase_clerk;
CREATE ROLE regress_two_phase_owner;
CREATE FUNCTION two_phase(context jsonb) RETURNS jsonb LANGUAGE sql RETURN NULL::jsonb;
CREATE FUNCTION document(id text, root jsonb) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', id, 'root', root);
SELECT count(wf_define(document(id, root::jsonb))) FROM (VALUES
    ('task', '{"id": "check", "type": "RunTask", "taskName": "check", "retry": {"maxAttempts": 9, "delay": "00:00:00"}}'),
    ('event', '{"id": "on", "type": "Event", "eventName": "On"}'),
    ('fault', '{"id": "bad", "type": "Fault", "message": "no"}'),
    ('delay', '{"id": "long", "type": "Delay", "timeSpan": "1 hour"}'),
    ('variable', '{"id": "s", "type": "Sequence", "variables": {"V": 1}, "activities": [{"id": "wait", "type": "Event", "eventName": "Never"}]}'),
    ('page', '[{"type": "HttpEndpoint", "path": "page", "canStartWorkflow": true}, {"type": "WriteHttpResponse", "content": "hello"}]'),
    ('hears', '{"id": "on", "type": "Event", "eventName": "Heard", "canStartWorkflow": true}')) AS d (id, root);

-- Announced triggers stand against it.
BEGIN;
SELECT * FROM wf_define(document('hears', '{"id": "on", "type": "Event", "eventName": "Heard twice", "canStartWorkflow": true}'));
PREPARE TRANSACTION 'announced';
SET workflow.notify_triggers = off;

CREATE FUNCTION instance(definition text) RETURNS uuid LANGUAGE sql
    RETURN (SELECT instance_id FROM workflow.instance_list WHERE definition_id = definition AND finished_at IS NULL ORDER BY created_at DESC, instance_id DESC LIMIT 1);
CREATE FUNCTION task() RETURNS uuid LANGUAGE sql
    RETURN (SELECT task_id FROM workflow.open_tasks WHERE lease_until IS NULL AND available_at IS NULL LIMIT 1);
CREATE FUNCTION held(OUT id uuid, OUT token uuid) LANGUAGE sql
    AS 'SELECT b.id, b.token FROM workflow.bookmarks b WHERE b.lease_until IS NOT NULL AND b.token IS NOT NULL LIMIT 1';
CREATE FUNCTION kept(key text) RETURNS boolean LANGUAGE sql RETURN true;
CREATE FUNCTION people(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE sql
    AS 'SELECT NULL, NULL, NULL, NULL, NULL';
SELECT count(wf_start('event', correlation_id => 'moved'));
-- An exporter takes what is recorded from its first call on.
SELECT count(*) FROM wf_take_spans();
CREATE TABLE moving AS SELECT wf_export_instances('{moved}', remove => true) AS bundle;
CREATE TABLE calls (number integer GENERATED ALWAYS AS IDENTITY, name text, arguments text);
INSERT INTO calls (name, arguments) VALUES
    ('wf_define', $$document('hears', '{"id": "on", "type": "Event", "eventName": "Other", "canStartWorkflow": true}')$$),
    ('wf_save_draft', $$document('hears', '{"id": "on", "type": "Event", "eventName": "Draft", "canStartWorkflow": true}')$$),
    ('wf_publish', $$'hears'$$),
    ('wf_refresh', $$'hears'$$),
    ('wf_retract', $$'hears'$$),
    ('wf_export', $$'hears'$$),
    ('wf_export_version', $$(SELECT version_id FROM workflow.definition_list WHERE definition_id = 'hears' AND is_latest)$$),
    ('wf_validate', $$document('x', '{"type": "Unknown"}')$$),
    ('wf_start', $$'task', correlation_id => 'a'$$),
    ('wf_start', $$'task', correlation_id => 'b'$$),
    ('wf_start', $$'task', correlation_id => 'c'$$),
    ('wf_run', $$'event', correlation_id => 'a'$$),
    ('wf_claim_tasks', $$ARRAY['check'], 'w'$$),
    ('wf_extend_task', $$(held()).id, (held()).token$$),
    ('wf_release_task', $$(held()).id, (held()).token$$),
    ('wf_claim_task', $$task(), 'w'$$),
    ('wf_fail_task', $$(held()).id, (held()).token, 'not now', retry => false$$),
    ('wf_assign_task', $$task(), 'regress_two_phase_clerk'$$),
    ('wf_unassign_task', $$(SELECT task_id FROM workflow.open_tasks WHERE assignee IS NOT NULL)$$),
    ('wf_complete_task', $$task()$$),
    ('wf_claim_task', $$task(), 'w'$$),
    ('wf_complete_tasks', $$(SELECT jsonb_build_array(jsonb_build_object('taskId', id, 'token', token)) FROM held())$$),
    ('wf_start', $$'task', correlation_id => 'e'$$),
    ('wf_assign_task', $$task(), 'regress_two_phase_clerk'$$),
    ('wf_set_substitute', $$'regress_two_phase_clerk', 'regress_two_phase_owner', '2030-01-02 00:00:00+00'$$),
    ('wf_remove_substitute', $$'regress_two_phase_clerk', 'regress_two_phase_owner'$$),
    ('wf_comment_task', $$task(), 'the clerk is away'$$),
    ('wf_override_task', $$task(), 'the clerk is away'$$),
    ('wf_limit_tasks', $$'check', 5$$),
    ('wf_resume', $$(SELECT bookmark_id FROM workflow.open_bookmarks WHERE instance_id = instance('event'))$$),
    ('wf_start', $$'event', correlation_id => 'b'$$),
    ('wf_enqueue_bookmark', $$name => 'Event', stimulus => '{"EventName": "Nobody"}', correlation_id => 'z', keep_for => '1 hour'$$),
    ('wf_send_stimulus', $$'Event', '{"EventName": "On"}', correlation_id => 'b'$$),
    ('wf_start', $$'event', correlation_id => 'c'$$),
    ('wf_publish_event', $$'On', correlation_id => 'c'$$),
    ('wf_call', $$'d', 'phase', 'start', 'event'$$),
    ('wf_export_instances', $$ARRAY['d'], remove => true$$),
    ('wf_import_instances', $$ARRAY(SELECT bundle FROM moving)$$),
    ('wf_http_request', $$'GET', '/page'$$),
    ('wf_start', $$'variable'$$),
    ('wf_set_variable', $$instance('variable'), 'V', '2'$$),
    ('wf_pause', $$instance('variable')$$),
    ('wf_unpause', $$instance('variable')$$),
    ('wf_cancel_activity', $$instance('variable'), 'wait'$$),
    ('wf_start', $$'variable'$$),
    ('wf_schedule_activity', $$instance('variable'), 'wait'$$),
    ('wf_alter', $$'[{"type": "Cancel"}]', '{"definitionIds": ["variable"]}'$$),
    ('wf_define', $$document('delay', '{"id": "long", "type": "Delay", "timeSpan": "2 hours"}')$$),
    ('wf_start', $$'delay', version => 1$$),
    ('wf_migrate', $$instance('delay')$$),
    ('wf_start', $$'delay', version => 1$$),
    ('wf_migrate_all', $$'delay'$$),
    ('wf_define', $$'{"definitionId": "found", "options": {"searchAttributes": {"order": {"input": "order"}}}, "root": []}'$$),
    ('wf_index_instances', $$'found'$$),
    ('wf_start', $$'fault', on_fault => 'store'$$),
    ('wf_retry', $$instance('fault'), on_fault => 'store'$$),
    ('wf_cancel', $$instance('fault')$$),
    ('wf_delete_instance', $$(SELECT instance_id FROM workflow.instance_list WHERE definition_id = 'fault')$$),
    ('wf_start', $$'event', correlation_id => 'erased'$$),
    ('wf_erase', $$'erased'$$),
    ('wf_schedule', $$'nightly', '0 3 * * *', 'SELECT 1'$$),
    ('wf_schedule_workflow', $$'weekly', '0 3 * * 1', 'event'$$),
    ('wf_alter_schedule', $$'nightly', active => false$$),
    ('wf_schedule_run_now', $$'weekly'$$),
    ('wf_unschedule', $$'nightly'$$),
    ('wf_run_due', $$$$),
    ('wf_replay', $$(SELECT dead_letter_id FROM workflow.dead_letter_list)$$),
    ('wf_register_activity', $$'Two.Phase', 'two_phase(jsonb)'$$),
    ('wf_grant', $$'event', 'regress_two_phase_clerk', '{start}'$$),
    ('wf_revoke', $$'event', 'regress_two_phase_clerk', '{start}'$$),
    ('wf_grant_worker', $$'regress_two_phase_clerk', ARRAY['check']$$),
    ('wf_revoke_worker', $$'regress_two_phase_clerk', ARRAY['check']$$),
    ('wf_grant_events', $$'regress_two_phase_clerk'$$),
    ('wf_revoke_events', $$'regress_two_phase_clerk'$$),
    ('wf_grant_path', $$'page', 'regress_two_phase_clerk'$$),
    ('wf_set_directory', $$'people(text)'$$),
    ('wf_set_owner', $$'definition', 'event', 'regress_two_phase_owner'$$),
    ('wf_grant_usage', $$'regress_two_phase_clerk'$$),
    ('wf_revoke_usage', $$'regress_two_phase_clerk'$$),
    ('wf_delete_definition', $$'hears'$$),
    ('wf_adopt_database', $$$$),
    ('wf_add_partitions', $$ARRAY[0], 1$$),
    ('wf_keep_instances', $$'kept(text)', max_percent => 100$$),
    ('wf_remove_partitions', $$ARRAY[0]$$),
    ('wf_take_spans', $$$$),
    ('wf_set_actor', $$'ada'$$),
    ('wf_set_role', $$'regress_two_phase_clerk'$$);

-- What expires is a dead letter for wf_replay.
SET workflow.now = '2030-01-01 00:00:00+00';
\t on
SELECT 'BEGIN',
       format('SELECT %L || CASE count(*) WHEN 0 THEN '' gives no row'' ELSE '''' END AS "%s" FROM %s(%s)', name, name, name, arguments),
       'PREPARE TRANSACTION ''two phases''', 'COMMIT PREPARED ''two phases''',
       CASE name WHEN 'wf_schedule_run_now' THEN 'SET workflow.now = ''2030-01-01 02:00:00+00''' ELSE NULL END
FROM calls ORDER BY number
\gexec
\t off

-- What was called has taken effect.
SELECT definition_id, sub_status, count(*) FROM workflow.instance_list GROUP BY 1, 2 ORDER BY 1, 2;
-- No function is left out except the one that starts a worker, and those that superusers may not call.
SELECT p.proname
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'workflow'
WHERE p.proname LIKE 'wf\_%' AND p.pronamespace = 'public'::regnamespace AND p.prokind = 'f' AND p.provolatile = 'v'
  AND NOT EXISTS (SELECT FROM calls c WHERE c.name = p.proname)
ORDER BY 1;
SELECT * FROM wf_check();

-- What was prepared and rolled back has not happened.
BEGIN;
SELECT count(wf_start('event', correlation_id => 'undone'));
PREPARE TRANSACTION 'undone';
ROLLBACK PREPARED 'undone';
SELECT count(*) FROM workflow.instance_list WHERE correlation_id = 'undone';
