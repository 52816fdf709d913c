-- workflow.actor: the person for whom an application acts, and who is on record for what was done.
CREATE ROLE regress_deploy LOGIN;
CREATE ROLE regress_app LOGIN;
CREATE ROLE regress_clerk;
CREATE ROLE regress_gateway LOGIN;
GRANT regress_clerk TO regress_gateway;
SELECT wf_grant_usage(r) FROM unnest('{regress_deploy,regress_app,regress_clerk}'::name[]) AS r \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_app, regress_gateway;

SET ROLE regress_deploy;
SELECT wf_define('{"definitionId": "approve", "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Ask"}, {"id": "go", "type": "Event", "eventName": "Go"}]}') \g /dev/null
SELECT wf_grant('approve', r, '{start,resume,read,alter}') FROM unnest('{regress_app,regress_clerk}'::text[]) AS r \g /dev/null
SELECT wf_grant_events('regress_app');
RESET ROLE;

-- An application says for whom it acts, for one transaction. A session that does not end with it is refused.
\c - regress_app
SET workflow.actor = 'ada';
SELECT wf_start('approve', correlation_id => 'A');
RESET workflow.actor;
BEGIN;
SET workflow.actor = 'ada';
SELECT wf_start('approve', correlation_id => 'A');
ROLLBACK;
-- RESET ALL, for which PostgreSQL asks no right, does not take the actor away.
BEGIN;
SET LOCAL workflow.actor = 'ada';
RESET ALL;
SHOW workflow.actor;
ROLLBACK;
-- What it says must be a name.
SET workflow.actor = E'a\nb';
SELECT set_config('workflow.actor', repeat('a', 201), true);

-- One statement is enough: a function in the FROM clause comes first.
SELECT wf_start('approve', correlation_id => 'A') FROM wf_set_actor('ada') \gset
BEGIN;
SET LOCAL workflow.actor = 'bob';
SELECT task_id FROM workflow.open_tasks \gset
SELECT wf_assign_task(:'task_id', 'cy');
COMMIT;
BEGIN;
SET LOCAL workflow.actor = 'cy';
SELECT status FROM wf_complete_task(:'task_id', '{"approved": true}');
COMMIT;
-- Without an actor the role is on record.
SELECT wf_publish_event('Go', '{}', correlation_id => 'A');
SELECT definition_id, owner, started_by, started_actor FROM workflow.instance_list;
SELECT seq, event, activity, by, actor FROM workflow.journal ORDER BY instance_id, seq, number;
SELECT regexp_replace(line, '^\d{4}-\S+ \S+', 'at') AS line FROM wf_explain(:'wf_start') AS line;
\c - postgres
SELECT t.status, o.name AS completed_by, t.completed_actor, t.result
FROM workflow.tasks t JOIN workflow.owners o ON o.id = t.completed_by;

-- Who answers in place of the people whom a task is for is on record with the reason.
\c - regress_deploy
SELECT wf_define('{"definitionId": "leave", "root": {"id": "ask", "type": "RunTask", "taskName": "Leave", "assignee": "ada"}}') \g /dev/null
SELECT wf_grant('leave', 'regress_app', '{start,read,alter}');
\c - regress_app
SELECT wf_start('leave') AS leave \gset
SELECT task_id FROM workflow.open_tasks WHERE name = 'Leave' \gset
SELECT status FROM wf_set_actor('bob'), wf_override_task(:'task_id', 'ada is ill', '"yes"');
SELECT event, by, actor, data ->> 'reason' AS reason FROM workflow.journal WHERE instance_id = :'leave' AND seq > 0 ORDER BY seq, number;
\c - postgres
SELECT t.completed_actor, t.result FROM workflow.tasks t WHERE t.id = :'task_id';

-- Other roles have no actor: they would speak for others.
\c - regress_deploy
BEGIN;
SET LOCAL workflow.actor = 'ada';
ROLLBACK;
SELECT wf_start('approve') FROM wf_set_actor('ada');

-- A gateway gives the actor together with the role. It holds until the transaction ends.
\c - regress_gateway
BEGIN;
SELECT wf_set_role('regress_clerk', 'dora');
SELECT wf_set_role('regress_clerk', 'eve');
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_clerk', 'dora');
SELECT wf_set_role('regress_clerk') AS again;
SELECT wf_start('approve', correlation_id => 'B') \gset
COMMIT;
BEGIN;
SELECT wf_set_role('regress_clerk');
SELECT wf_start('approve', correlation_id => 'C') \gset c_
SELECT wf_cancel(:'c_wf_start', 'a mistake');
COMMIT;
-- An empty name is none, and spaces around one do not count.
BEGIN;
SELECT wf_set_role('regress_clerk', ' ');
SELECT wf_start('approve', correlation_id => 'D') \gset
COMMIT;
BEGIN;
SELECT wf_set_role('regress_clerk', 'dora ');
SELECT wf_set_role('regress_clerk', ' dora');
SELECT wf_start('approve', correlation_id => 'E') \gset
COMMIT;
\c - postgres
SELECT i.correlation_id, l.started_by, l.started_actor FROM workflow.instance_list l JOIN workflow.instances i ON i.id = l.instance_id
WHERE i.correlation_id > 'A' ORDER BY 1;
REVOKE SET ON PARAMETER workflow.actor FROM regress_gateway;
\c - regress_gateway
BEGIN;
SELECT wf_set_role('regress_clerk', 'dora');
ROLLBACK;

-- SQL of a workflow cannot change who acts, neither for the call that runs it nor for the statements after.
\c - postgres
GRANT regress_app TO regress_deploy;
GRANT SET ON PARAMETER workflow.actor TO regress_deploy;
SET ROLE regress_deploy;
SELECT wf_define('{"definitionId": "forge", "root": [
    {"id": "a", "type": "Sql", "statement": "SELECT set_config(''workflow.actor'', ''mallory'', true)"},
    {"id": "ask", "type": "RunTask", "taskName": "Ask"}]}') \g /dev/null
RESET ROLE;
\c - regress_deploy
BEGIN;
SET LOCAL workflow.actor = 'ada';
SELECT sub_status, incidents #>> '{0,message}' AS message, incidents #>> '{0,detail}' AS detail FROM wf_run('forge', on_fault => 'store');
SELECT current_setting('workflow.actor') AS actor;
COMMIT;

-- A definition can require an actor: of whoever starts, answers, or changes an instance.
SELECT wf_define('{"definitionId": "strict", "options": {"actor": "required"}, "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Strict"}, {"id": "go", "type": "Event", "eventName": "Go strict"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "wrong", "options": {"actor": true}, "root": []}');
SELECT wf_start('strict');
SELECT wf_schedule_workflow('strict', '0 0 1 1 *', 'strict');
SELECT wf_start('strict', correlation_id => 'D') FROM wf_set_actor('ada') \gset
SELECT task_id FROM workflow.open_tasks WHERE name = 'Strict' \gset
SELECT wf_complete_task(:'task_id');
SELECT wf_resume(:'task_id');
SELECT wf_enqueue_bookmark(bookmark_id => :'task_id', input => '1');
SELECT wf_send_stimulus('RunTask', jsonb_build_object('TaskId', :'task_id'), '1');
SELECT wf_assign_task(:'task_id', 'bob');
SELECT wf_pause(:'wf_start');
SELECT wf_cancel(:'wf_start');
SELECT wf_cancel_activity(:'wf_start', 'ask');
SELECT wf_set_variable(:'wf_start', 'x', '1');
-- Nothing of it was stored.
SELECT count(*) AS events, count(DISTINCT actor) AS actors FROM workflow.journal WHERE instance_id = :'wf_start';
SELECT status FROM wf_set_actor('bob'), LATERAL wf_complete_task(:'task_id', '1') \g /dev/null
-- An event reaches it without one: its sender need not know who receives it.
SELECT wf_publish_event('Go strict', correlation_id => 'D');
SELECT status FROM workflow.instance_list WHERE instance_id = :'wf_start';

-- Instances without a journal keep who acted.
SELECT wf_define('{"definitionId": "quiet", "options": {"journal": "none"}, "root": [{"id": "ask", "type": "RunTask", "taskName": "Quiet"}]}') \g /dev/null
SELECT wf_start('quiet') FROM wf_set_actor('ada') \gset
SELECT task_id FROM workflow.open_tasks WHERE name = 'Quiet' \gset
SELECT status FROM wf_set_actor('bob'), LATERAL wf_complete_task(:'task_id') \g /dev/null
SELECT count(*) FROM workflow.journal WHERE instance_id = :'wf_start';
\c - postgres
SELECT seq, length(events) < 40 AS small FROM workflow.execution_log WHERE instance_id = :'wf_start' ORDER BY seq;
SELECT * FROM wf_check();
REVOKE SET ON PARAMETER workflow.actor FROM regress_app, regress_deploy;
