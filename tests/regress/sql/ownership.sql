-- wf_set_owner: who may give what to whom, and what goes along.
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
SELECT wf_schedule('nightly', '@daily', 'SELECT 1') IS NOT NULL AS scheduled;
CREATE FUNCTION own_handler(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Own.Type', 'own_handler(jsonb)');

-- What is no question.
SELECT wf_set_owner(NULL, 'ours', 'regress_own_ann');
SELECT wf_set_owner('definition', NULL, 'regress_own_ann');
SELECT wf_set_owner('definition', 'ours', NULL);
\set VERBOSITY default
SELECT wf_set_owner('table', 'ours', 'regress_own_ann');
\set VERBOSITY terse
SELECT wf_set_owner('definition', 'ours', 'regress_own_nobody');
SELECT wf_set_owner('definition', 'theirs', 'regress_own_team');
SELECT wf_set_owner('instance', 'no uuid', 'regress_own_team');
SELECT wf_set_owner('instance', '01900000-0000-7000-8000-000000000000', 'regress_own_team');
SELECT wf_set_owner('schedule', 'weekly', 'regress_own_team');
SELECT wf_set_owner('activity type', 'Other', 'regress_own_team');
SELECT wf_set_owner('definition', 'Workflow.ScheduledCommand', 'regress_own_team');
SELECT wf_set_owner('definition', 'ours', 'regress_own_ann');

-- security.md#roles-that-come-and-go: a role that gives something away must be able to SET ROLE to the new owner
-- She owns it, but cannot be them: her definer definition would run with their rights.
\set VERBOSITY default
SELECT wf_set_owner('definition', 'ours', 'regress_own_boss');
\set VERBOSITY terse
SELECT wf_set_owner('definition', 'ours', 'regress_own_ben');
SELECT wf_set_owner('instance', :'running', 'regress_own_boss');
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_boss');
SELECT wf_set_owner('activity type', 'Own.Type', 'regress_own_boss');
-- He could be himself, but owns nothing of it.
SET ROLE regress_own_ben;
SELECT wf_set_owner('definition', 'ours', 'regress_own_ben');
SELECT wf_set_owner('instance', :'running', 'regress_own_ben');
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_ben');
SELECT wf_set_owner('activity type', 'Own.Type', 'regress_own_ben');
RESET ROLE;
SELECT DISTINCT owner FROM workflow.definition_list;

-- To a role that she may become. All versions go, with their triggers, and what runs keeps its owner: what a definer
-- definition does for it has the new owner's rights. Another session that keeps the compiled form notices.
SET ROLE regress_own_ann;
SELECT wf_set_owner('definition', 'ours', 'regress_own_team');
SELECT wf_set_owner('definition', 'ours', 'regress_own_team');
SELECT version, owner FROM workflow.definition_list WHERE definition_id = 'ours';
SELECT owner FROM workflow.instance_list WHERE instance_id = :'running';
SELECT sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.instance = :'running';
SELECT cardinality(started) FROM wf_publish_event('Ring');
SELECT owner, count(*) FROM workflow.instance_list WHERE definition_id = 'ours' GROUP BY 1 ORDER BY 1;
RESET ROLE;
SELECT * FROM who;
-- Undone with the transaction, in the sessions that keep it too.
BEGIN;
SELECT wf_set_owner('definition', 'ours', 'regress_own_ben');
SELECT wf_run('ours', trigger_activity_id => 'ring') IS NOT NULL AS ran;
SELECT role FROM who ORDER BY ctid DESC LIMIT 1;
ROLLBACK;
SELECT wf_run('ours', trigger_activity_id => 'ring') IS NOT NULL AS ran;
SELECT role FROM who ORDER BY ctid DESC LIMIT 1;
-- security.md#owners-and-grants: the id of a deleted definition stays its owner's
-- A member of the owner goes on managing it; the id stays theirs when it is deleted, and can be given away then.
SET ROLE regress_own_ann;
SELECT * FROM wf_define('{"definitionId": "ours", "root": []}');
SELECT * FROM wf_define('{"definitionId": "short", "root": []}');
SELECT wf_delete_definition('short');
SELECT wf_set_owner('definition', 'short', 'regress_own_team');
RESET ROLE;
REVOKE regress_own_team FROM regress_own_ann;
SET ROLE regress_own_ann;
SELECT * FROM wf_define('{"definitionId": "short", "root": []}');
SELECT * FROM wf_define('{"definitionId": "ours", "root": {"type": "Finish"}}');
RESET ROLE;
GRANT regress_own_team TO regress_own_ann;

-- The schemas in which its names are looked up without a caller: those in which the new owner alone may create objects.
CREATE SCHEMA regress_own_place AUTHORIZATION regress_own_ann;
GRANT USAGE ON SCHEMA regress_own_place TO PUBLIC;
SET ROLE regress_own_ann;
SET search_path = regress_own_place;
SELECT * FROM public.wf_define('{"definitionId": "looks", "root": {"type": "Sql", "statement": "SELECT 1"}}');
RESET search_path;
SELECT search_path FROM workflow.definition_list WHERE definition_id = 'looks';
RESET ROLE;
SELECT wf_set_owner('definition', 'looks', 'regress_own_ben');
SELECT search_path FROM workflow.definition_list WHERE definition_id = 'looks';

-- An instance: what is below it goes along, a child alone does not go.
SET ROLE regress_own_ann;
SELECT instance_id AS child FROM workflow.instance_list WHERE parent_instance_id = :'parent' \gset
\set VERBOSITY default
SELECT wf_set_owner('instance', :'child', 'regress_own_team');
\set VERBOSITY terse
SELECT wf_set_owner('instance', :'parent', 'regress_own_team');
SELECT definition_id, owner FROM workflow.instance_list WHERE definition_id IN ('parent', 'child') ORDER BY 1;
SELECT cardinality(resumed) FROM wf_publish_event('Child');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'parent';
SELECT wf_set_owner('instance', :'single', 'regress_own_team');
SELECT owner FROM workflow.instance_list WHERE instance_id = :'single';
-- The journal of each says so, and its rows go on being counted.
SELECT i.definition_id, j.event, j.data FROM workflow.journal AS j JOIN workflow.instance_list AS i USING (instance_id)
 WHERE i.instance_id IN (:'parent', :'child', :'single') AND j.event = 'Owner changed' ORDER BY i.instance_id, j.seq;
SELECT instance_id = :'parent' AS is_parent, count(DISTINCT seq) = max(seq) - min(seq) + 1 AS is_whole, max(seq) > 1 AS goes_on
  FROM workflow.journal WHERE instance_id IN (:'parent', :'single') GROUP BY 1, instance_id ORDER BY 1;
SELECT substring(line FROM 'given.*') AS line FROM wf_explain(:'single') AS line WHERE line ~ ' given ';
RESET ROLE;
-- Inside its own burst it cannot be given away.
SELECT * FROM wf_define('{"definitionId": "self", "root": {"type": "SetName", "value": {"sql": "SELECT wf_set_owner(''instance'', instance ->> ''id'', ''regress_own_ben'')::text"}}}');
SET client_min_messages = error;
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' LIKE '%is running further up in this session' AS said FROM wf_run('self');
RESET client_min_messages;

-- A schedule, by name.
SET ROLE regress_own_ann;
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_team');
SELECT name, owner FROM workflow.schedules;
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_team');
SELECT wf_schedule('nightly', '@daily', 'SELECT 2') IS NOT NULL AS scheduled;
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_team');
RESET ROLE;

-- An activity type.
SELECT wf_set_owner('activity type', 'Own.Type', 'regress_own_ben');
SET ROLE regress_own_ann;
SELECT wf_register_activity('Own.Type', 'own_handler(jsonb)');
RESET ROLE;

-- security.md#roles-that-come-and-go: REASSIGN OWNED, DROP OWNED and DROP ROLE do what the table says
-- Superusers give anything to any role, also what was a role's that is gone. DROP ROLE takes no notice of what a role owns
-- here, REASSIGN OWNED and DROP OWNED neither.
CREATE ROLE regress_own_leaver;
SELECT wf_grant_usage('regress_own_leaver');
SET ROLE regress_own_leaver;
SELECT * FROM wf_define('{"definitionId": "left", "root": {"type": "Event", "eventName": "Never"}}');
SELECT wf_start('left') AS left \gset
RESET ROLE;
REASSIGN OWNED BY regress_own_leaver TO regress_own_ben;
SELECT owner FROM workflow.definition_list WHERE definition_id = 'left';
DROP ROLE regress_own_leaver;
DROP OWNED BY regress_own_leaver;
SELECT owner FROM workflow.definition_list WHERE definition_id = 'left';
DROP ROLE regress_own_leaver;
SELECT owner FROM workflow.definition_list WHERE definition_id = 'left';
CREATE ROLE regress_own_leaver;
SELECT wf_grant_usage('regress_own_leaver');
SET ROLE regress_own_leaver;
SELECT definition_id FROM workflow.definition_list WHERE definition_id = 'left';
SELECT wf_set_owner('definition', 'left', 'regress_own_leaver');
RESET ROLE;
SELECT wf_set_owner('definition', 'left', 'regress_own_ben'), wf_set_owner('instance', :'left', 'regress_own_ben');
SELECT owner FROM workflow.definition_list WHERE definition_id = 'left';

-- The type in which owners are kept: text in, present name out.
SELECT split_part(role::text, ':', 3) AS name FROM workflow.owners ORDER BY 1;
ALTER ROLE regress_own_team RENAME TO regress_own_crew;
SELECT split_part(role::text, ':', 3) AS name, name AS stored FROM workflow.owners WHERE name = 'regress_own_team';
SELECT '17:42:a:b'::workflow.stored_role, '17:42:'::workflow.stored_role;
SELECT workflow._stored_role_oid('17:42:a'), workflow._stored_role_name('17:42:a'), workflow._stored_role_name('17:42:');
SELECT 'a'::workflow.stored_role;
SELECT '0:42:a'::workflow.stored_role;
SELECT '17:-1:a'::workflow.stored_role;
SELECT ('17:42:' || repeat('x', 64))::workflow.stored_role;

DROP OWNED BY regress_own_ann, regress_own_ben, regress_own_crew, regress_own_leaver CASCADE;
DROP ROLE regress_own_ann, regress_own_ben, regress_own_boss, regress_own_crew, regress_own_leaver;
