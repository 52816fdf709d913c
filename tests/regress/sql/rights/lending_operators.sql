-- An operator cannot steer SQL, children and events that have the rights of the starter.
\pset null '(null)'
SET client_min_messages = warning;
CREATE ROLE regress_steer_deploy LOGIN;
CREATE ROLE regress_steer_boss LOGIN;
CREATE ROLE regress_steer_starter LOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_steer_deploy, regress_steer_boss, regress_steer_starter}'::name[]) AS role;
CREATE TABLE regress_steer_ran (what text, who name DEFAULT current_user);
GRANT INSERT, SELECT, TRUNCATE ON regress_steer_ran TO PUBLIC;
\connect - regress_steer_deploy
SELECT wf_define(format('{"definitionId": "%s", "options": {"security": "%s"}, "variables": {"Table": "ledger"}, "root": {"type": "Flowchart", "activities": [
    {"id": "ask", "type": "RunTask", "taskName": "Ask"}, {"id": "ok", "type": "If", "condition": {"js": "getTable() != ''ledger''"},
     "then": {"id": "pay", "type": "Sql", "statement": "INSERT INTO public.regress_steer_ran (what) VALUES (''paid'')"}}], "connections": [["ask", "ok"]]}}', id, security)::jsonb)
FROM (VALUES ('pays', 'invoker'), ('definer', 'definer')) AS v (id, security);
SELECT wf_define('{"definitionId": "tells", "root": [{"id": "ask", "type": "RunTask", "taskName": "Ask"}, {"id": "tell", "type": "PublishEvent", "eventName": "Told"}]}');
SELECT wf_define('{"definitionId": "quiet", "variables": {"n": 0}, "root": [{"id": "ask", "type": "RunTask", "taskName": "Ask"}]}');
SELECT wf_grant(id, 'regress_steer_boss', '{alter,read,resume}'), wf_grant(id, 'regress_steer_starter', '{start}') FROM unnest('{pays,definer,tells,quiet}'::text[]) AS id;
\connect - regress_steer_starter
SELECT wf_start('pays') AS pays \gset
SELECT wf_start('definer') AS definer \gset
SELECT wf_start('tells') AS tells \gset
SELECT wf_start('quiet') AS quiet \gset

-- security.md#invoker-the-default: an operator cannot steer SQL, children and events that have the rights of the starter
\connect - regress_steer_boss
SELECT wf_set_variable(:'pays', 'Table', '"x"');
\echo :SQLSTATE
SELECT wf_schedule_activity(:'pays', 'pay');
SELECT wf_cancel_activity(:'pays', 'ask');
SELECT wf_schedule_activity(:'tells', 'tell');
SELECT outcome, problems FROM wf_alter('[{"type": "ModifyVariable", "variableId": "Table", "value": 1}]', '{"definitionIds": ["pays"]}');
SELECT outcome, problems FROM wf_alter('[{"type": "ScheduleActivity", "activityId": "pay"}]', '{"definitionIds": ["pays"]}', dry_run => true);
-- The owner of the definition neither: it may bring no such SQL into the instance by a migration.
\connect - regress_steer_deploy
SELECT wf_schedule_activity(:'pays', 'pay');
SELECT wf_define('{"definitionId": "quiet", "root": [{"id": "ask", "type": "RunTask", "taskName": "Ask"}, {"id": "pay", "type": "Sql", "statement": "INSERT INTO public.regress_steer_ran (what) VALUES (''migrated'')"}]}');
SELECT * FROM wf_migrate(:'quiet');
\echo :SQLSTATE
SELECT outcome FROM wf_migrate_all('quiet');
-- Where nothing has the starter's rights, an operator alters as before.
\connect - regress_steer_boss
SELECT wf_set_variable(:'quiet', 'n', '1');
SELECT wf_set_variable(:'definer', 'Table', '"x"');
SELECT sub_status FROM wf_schedule_activity(:'definer', 'ok');
SELECT what, who FROM regress_steer_ran;
TRUNCATE regress_steer_ran;

-- The starter lends its rights to the owner of the definition, who gave the operator the privilege.
\connect - regress_steer_starter
SELECT wf_grant_invoker('regress_steer_deploy');
\connect - regress_steer_boss
SELECT wf_set_variable(:'pays', 'Table', '"x"');
SELECT sub_status FROM wf_schedule_activity(:'pays', 'ok');
SELECT what, who FROM regress_steer_ran;
\connect - regress_steer_deploy
SELECT * FROM wf_migrate(:'quiet');
\connect - regress_steer_starter
SELECT wf_run_due();
SELECT what, who FROM regress_steer_ran;
-- Every operator may cancel.
SELECT wf_revoke_invoker('regress_steer_deploy');
\connect - regress_steer_boss
SELECT wf_cancel(:'pays');
SELECT outcome FROM wf_alter('[{"type": "Cancel"}]', jsonb_build_object('workflowInstanceIds', jsonb_build_array(:'tells'::text)));
\connect - postgres
SELECT * FROM wf_check();
