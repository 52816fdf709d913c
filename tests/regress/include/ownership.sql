\set ECHO none
-- Definitions, instances and an activity type of Ann's, who is a member of a team: for the sessions about wf_set_owner.
\set VERBOSITY terse
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_own_ann;
CREATE ROLE regress_own_ben;
CREATE ROLE regress_own_boss SUPERUSER;
CREATE ROLE regress_own_team;
GRANT regress_own_team TO regress_own_ann;
GRANT CREATE ON SCHEMA public TO regress_own_ann, regress_own_ben;
SELECT wf_grant_usage('regress_own_ann'), wf_grant_usage('regress_own_ben'), wf_grant_usage('regress_own_team');
CREATE TABLE who (what text, role name DEFAULT current_user);
GRANT SELECT, INSERT ON who TO PUBLIC;

SET ROLE regress_own_ann;
SELECT * FROM wf_define('{"definitionId": "ours", "options": {"security": "definer"}, "root": [
    {"id": "ring", "type": "Event", "eventName": "Ring", "canStartWorkflow": true},
    {"type": "Sql", "statement": "INSERT INTO public.who VALUES (''definer'')"}, {"type": "Event", "eventName": "Go"},
    {"type": "Sql", "statement": "INSERT INTO public.who VALUES (''definer, later'')"}]}');
SELECT wf_start('ours', trigger_activity_id => 'ring') AS running \gset
SELECT * FROM wf_define('{"definitionId": "single", "options": {"activationStrategy": "Correlated"}, "root": {"type": "Event", "eventName": "Never"}}');
SELECT wf_start('single', correlation_id => 'c') AS single \gset
SELECT * FROM wf_define('{"definitionId": "child", "root": {"type": "Event", "eventName": "Child"}}');
SELECT * FROM wf_define('{"definitionId": "parent", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true}}');
SELECT wf_start('parent', correlation_id => 'p') AS parent \gset
CREATE FUNCTION own_handler(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Own.Type', 'own_handler(jsonb)');
\set ECHO all
