-- workflow.audit: who did what, one row for each act, for as long as it is wanted.
CREATE ROLE regress_deploy LOGIN;
CREATE ROLE regress_app LOGIN;
CREATE ROLE regress_lead LOGIN;
CREATE ROLE regress_ada LOGIN;
CREATE ROLE regress_other LOGIN;
GRANT regress_ada TO regress_app;
SELECT wf_grant_usage(r) FROM unnest('{regress_deploy,regress_app,regress_lead,regress_ada,regress_other}'::name[]) AS r \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_app;

\c - regress_deploy
SELECT wf_define('{"definitionId": "leave", "variables": {"days": 3}, "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Approve leave"},
    {"id": "pay", "type": "RunTask", "taskName": "Pay"},
    {"id": "booked", "type": "Event", "eventName": "Booked"}]}') \g /dev/null
SELECT wf_grant('leave', 'regress_ada', '{start}') \g /dev/null
SELECT wf_grant('leave', 'regress_app', '{start,resume,read,alter}') \g /dev/null
SELECT wf_grant('leave', 'regress_lead', '{read,resume}') \g /dev/null

-- Ada asks, Bob answers through an application, and somebody changes what was stored.
\c - regress_app
BEGIN;
SET LOCAL workflow.actor = 'ada@example.com';
SET LOCAL ROLE regress_ada;
SELECT wf_start('leave', correlation_id => 'L-1') AS instance \gset
COMMIT;
BEGIN;
SET LOCAL workflow.actor = 'bob@example.com';
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_assign_task(:'task', 'bob') \g /dev/null
SELECT wf_set_variable(:'instance', 'days', '2', reason => 'one is a holiday') \g /dev/null
SELECT wf_pause(:'instance', 'month end') \g /dev/null
SELECT wf_unpause(:'instance') \g /dev/null
SELECT wf_complete_task(:'task', '{"approved": true}') \g /dev/null
COMMIT;
-- Who completes a task in place of others is on record once, with the reason.
\c - regress_deploy
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_assign_task(:'task', 'cy') \g /dev/null
SELECT wf_override_task(:'task', 'Cy is ill', '"paid"') \g /dev/null
\c - regress_app
SELECT wf_grant_events(r) FROM unnest('{regress_ada,regress_deploy}'::name[]) AS r \g /dev/null
SELECT wf_publish_event('Booked', '{}', correlation_id => 'L-1') \g /dev/null

-- The owner of the definition, and who may read it, see all of it.
\c - regress_lead
\set acts 'SELECT kind, activity, task, role, login, actor, detail FROM workflow.audit WHERE instance_id = '
:acts :'instance' ORDER BY at;
-- Its instants are those of the server, and the task is that of the answer.
SELECT bool_and(at BETWEEN now() - interval '1 hour' AND clock_timestamp()) AS now, count(DISTINCT bookmark_id) AS bookmarks FROM workflow.audit;
-- security.md#the-requester: who may not read the definition sees who answered his own request, and nothing else.
\c - regress_ada
SELECT kind, definition_id, correlation_id, activity, task, bookmark_id, role, login, actor, detail FROM workflow.audit ORDER BY at;
-- Others see nothing.
\c - regress_other
SELECT count(*) FROM workflow.audit;
SELECT count(*) FROM workflow.audit_log;
SELECT count(*) FROM workflow._acts;
UPDATE workflow.audit SET actor = 'mallory';

-- A cancel, a retry, a resume by hand, a migration and a change of the owner, each with its reason.
\c - regress_deploy
SELECT wf_define('{"definitionId": "try", "variables": {"x": 0}, "root": [
    {"id": "go", "type": "Event", "eventName": "Go"},
    {"id": "no", "type": "Fault", "message": "no"},
    {"id": "wait", "type": "Event", "eventName": "Never"}]}') \g /dev/null
SELECT wf_start('try') AS instance \gset
SELECT bookmark_id FROM workflow.open_bookmarks WHERE instance_id = :'instance' \gset
SET client_min_messages = error;
SELECT sub_status FROM wf_resume(:'bookmark_id');
SELECT wf_set_variable(:'instance', 'x', '1') \g /dev/null
SELECT sub_status FROM wf_retry(:'instance');
SELECT wf_define('{"definitionId": "try", "variables": {"x": 0}, "root": [
    {"id": "go", "type": "Event", "eventName": "Go"},
    {"id": "no", "type": "Fault", "message": "not yet"},
    {"id": "wait", "type": "Event", "eventName": "Never"}]}') \g /dev/null
SELECT wf_migrate(:'instance') \g /dev/null
SELECT wf_cancel(:'instance', 'a test') \g /dev/null
RESET client_min_messages;
:acts :'instance' ORDER BY at;
\c - postgres
SELECT wf_set_owner('instance', :'instance', 'regress_app') \g /dev/null
SELECT kind, role, detail FROM workflow.audit WHERE instance_id = :'instance' AND kind = 'set owner';

-- Whoever claims a task for people is on record. A worker's claim is no act of a person, but its answer is one.
\c - regress_deploy
SELECT wf_define('{"definitionId": "offer", "root": [
    {"id": "check", "type": "RunTask", "taskName": "Check", "candidates": ["sales"]},
    {"id": "print", "type": "RunTask", "taskName": "Print"}]}') \g /dev/null
SELECT wf_grant('offer', 'regress_app', '{start,resume,read}') \g /dev/null
\c - regress_app
SELECT wf_start('offer') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE name = 'Check' \gset
SELECT token FROM wf_set_actor('dora'), LATERAL wf_claim_task(:'task', worker => 'tablet') \gset
SELECT status FROM wf_set_actor('dora'), LATERAL wf_complete_task(:'task', '1', token => :'token');
SELECT wf_accept_tasks('regress_deploy') \g /dev/null
SELECT token, task_id AS task FROM wf_claim_tasks('{Print}', 'printer', 1) \gset
-- So are the answers of wf_complete_tasks and wf_call, and what wf_call starts.
SELECT outcome FROM wf_set_actor('printer 7'), LATERAL wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'task', 'token', :'token')));
:acts :'instance' ORDER BY at;
SELECT wf_call('C-1', '1', 'start', 'offer') ->> 'instance_id' AS instance FROM wf_set_actor('eve') \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT wf_call('C-1', '2', 'task', :'task', '1') ->> 'sub_status' AS sub_status FROM wf_set_actor('fay');
-- The same message again does nothing, whoever sends it.
SELECT wf_call('C-1', '2', 'task', :'task', '1') ->> 'sub_status' AS sub_status FROM wf_set_actor('gus');
:acts :'instance' ORDER BY at;
-- A migration of many instances is that of the caller, and one that publishing sets off is the publisher's.
\c - postgres
GRANT SET ON PARAMETER workflow.actor TO regress_deploy;
\c - regress_deploy
SELECT wf_define('{"definitionId": "offer", "root": [
    {"id": "check", "type": "RunTask", "taskName": "Check", "candidates": ["sales"]},
    {"id": "print", "type": "RunTask", "taskName": "Print twice"}]}') \g /dev/null
SELECT outcome FROM wf_set_actor('hal'), LATERAL wf_migrate_all('offer') WHERE instance_id = :'instance';
BEGIN;
SET LOCAL workflow.actor = 'ida';
SELECT wf_define('{"definitionId": "offer", "options": {"migrate": "auto"}, "root": [
    {"id": "check", "type": "RunTask", "taskName": "Check", "candidates": ["sales"]},
    {"id": "print", "type": "RunTask", "taskName": "Print thrice"}]}') \g /dev/null
COMMIT;
SELECT wf_run_due() > 0 AS fired FROM wf_set_actor('jo');
SELECT kind, role, actor, detail FROM workflow.audit WHERE instance_id = :'instance' AND kind = 'migrate' ORDER BY at;
SELECT started_by, started_actor FROM workflow.instance_list WHERE definition_id = 'Workflow.MigrateInstances';

-- It does not depend on options.journal, and outlives the rows of the journal.
\c - regress_deploy
SELECT wf_define('{"definitionId": "loop", "options": {"journal": {"level": "none", "keep": 10}}, "root":
    {"type": "While", "condition": true, "body": {"id": "next", "type": "Event", "eventName": "Next"}}}') \g /dev/null
SELECT wf_start('loop') AS instance \gset
DO $$
BEGIN
    FOR i IN 1 .. 45 LOOP
        PERFORM wf_publish_event('Next');
    END LOOP;
END $$;
SELECT count(*) AS events FROM workflow.journal WHERE instance_id = :'instance';
SELECT kind, count(*) FROM workflow.audit WHERE instance_id = :'instance' GROUP BY kind ORDER BY kind;
\c - postgres
SELECT count(*) < 35 AS trimmed FROM workflow.execution_log WHERE instance_id = :'instance';
SELECT kind, count(*) BETWEEN 10 AND 40 AS kept FROM workflow.audit_log WHERE instance_id = :'instance' GROUP BY kind;

-- So it does those of an instance, whoever removes it: a call, a node that keeps its own instances, or retention.
\c - regress_deploy
SELECT wf_delete_instance(:'instance');
SELECT kind, count(*) FROM workflow.audit WHERE instance_id = :'instance' GROUP BY kind ORDER BY kind;
\c - postgres
CREATE TEMP TABLE before AS SELECT * FROM workflow.audit;
CREATE FUNCTION is_here(key text) RETURNS boolean LANGUAGE sql RETURN key = 'L-1';
SELECT wf_keep_instances('is_here(text)', keyless => false, max_percent => 100) > 0 AS removed;
SELECT correlation_id FROM workflow.instances ORDER BY 1;
TABLE before EXCEPT TABLE workflow.audit;
SET workflow.retention = '1h';
SELECT set_config('workflow.now', (now() + interval '2 hours')::text, false) \g /dev/null
SELECT wf_run_due() \g /dev/null
SELECT (SELECT count(*) FROM workflow.instances) AS instances, (SELECT count(*) FROM workflow.execution_log) AS journal;
TABLE before EXCEPT TABLE workflow.audit;
SELECT kind, detail FROM (TABLE workflow.audit EXCEPT TABLE before) AS later;

-- What was answered by whom is still known to those who could see it before.
\c - regress_lead
SELECT kind, activity, task, role, actor, detail FROM workflow.audit WHERE correlation_id = 'L-1' AND kind LIKE '% task' ORDER BY at;
\c - regress_ada
SELECT kind, definition_id, correlation_id, activity, task, role, login, actor, detail FROM workflow.audit ORDER BY at;
\c - regress_other
SELECT count(*) FROM workflow.audit;

-- What is done to no instance is there as well: to definitions, for those who may read them, and to what belongs to a role.
\c - regress_deploy
SELECT wf_publish('leave') \g /dev/null
SELECT wf_refresh('leave') \g /dev/null
-- What is stored already is no act.
SELECT wf_define('{"definitionId": "same", "root": {"type": "WriteLine", "text": "x"}}') FROM generate_series(1, 3) \g /dev/null
SELECT wf_revoke('leave', 'regress_app', '{alter}') \g /dev/null
SELECT wf_grant_worker('regress_other', '{Pay}', 'leave') \g /dev/null
SELECT wf_revoke_worker('regress_other', '{Pay}', 'leave') \g /dev/null
SELECT wf_grant_invoker('regress_other') \g /dev/null
SELECT wf_revoke_invoker('regress_other') \g /dev/null
SELECT wf_revoke_events('regress_other') \g /dev/null
SELECT wf_schedule('nightly', '@daily', 'SELECT 1', active => false) \g /dev/null
SELECT wf_alter_schedule('nightly', jitter => '1 minute') \g /dev/null
SELECT wf_unschedule('nightly') \g /dev/null
SELECT wf_unschedule('nightly');
SELECT wf_limit_tasks('Pay', concurrency => 2) \g /dev/null
SELECT wf_retract('loop') \g /dev/null
SELECT wf_delete_definition('loop') \g /dev/null
\c - postgres
SELECT wf_set_owner('definition', 'leave', 'regress_lead') \g /dev/null
SELECT wf_accept_tasks('regress_lead', 'regress_other'), wf_refuse_tasks('regress_lead', 'regress_other') \g /dev/null
SELECT wf_grant_path('leave', 'regress_lead') \g /dev/null
\c - regress_deploy
SELECT kind, definition_id, role, detail FROM workflow.audit WHERE instance_id IS NULL ORDER BY at;
\c - regress_lead
SELECT kind, definition_id, role, detail FROM workflow.audit WHERE instance_id IS NULL ORDER BY at;
\c - regress_other
SELECT kind, definition_id, role, detail FROM workflow.audit WHERE instance_id IS NULL ORDER BY at;

-- A superuser says how long it is kept.
SET workflow.audit_retention = '1d';
\c - postgres
SET workflow.audit_retention = '1d';
SELECT set_config('workflow.now', (now() + interval '23 hours')::text, false) \g /dev/null
SELECT wf_run_due() \g /dev/null
SELECT count(*) > 0 AS kept FROM workflow.audit_log;
SELECT set_config('workflow.now', (now() + interval '25 hours')::text, false) \g /dev/null
SELECT wf_run_due() \g /dev/null
SELECT count(*) FROM workflow.audit_log;
SELECT * FROM wf_check();
REVOKE SET ON PARAMETER workflow.actor FROM regress_app, regress_deploy;
