-- "not": ["starter"] where something else has started the instance in turn, or where it begins later than it was started.
CREATE ROLE regress_deploy LOGIN;
CREATE ROLE regress_clerks;
CREATE ROLE regress_ann LOGIN IN ROLE regress_clerks;
CREATE ROLE regress_ben LOGIN IN ROLE regress_clerks;
CREATE ROLE regress_pool LOGIN NOINHERIT IN ROLE regress_ann, regress_ben;
SELECT wf_grant_usage(r) FROM unnest('{regress_deploy,regress_clerks,regress_ann,regress_ben}'::name[]) AS r \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_pool;
\c - regress_deploy
SELECT wf_define('{"definitionId": "ask", "root": [{"id": "E", "type": "Event", "eventName": "Asked", "canStartWorkflow": true},
    {"id": "T", "type": "RunTask", "taskName": "Answer", "candidates": ["role:regress_clerks"], "not": ["starter"]}]}') \g /dev/null
SELECT wf_grant('ask', 'regress_clerks', '{start,read,resume}');

-- security.md#tasks-for-people: an event that a workflow publishes comes from whoever started this workflow
\c - regress_pool
BEGIN;
SELECT wf_set_role('regress_ann', 'ann@example.com');
SELECT wf_grant_events('regress_deploy') \g /dev/null
SELECT wf_define('{"definitionId": "tell", "root": {"type": "PublishEvent", "eventName": "Asked"}}') \g /dev/null
SELECT status FROM wf_run('tell');
COMMIT;
BEGIN;
SELECT wf_set_role('regress_ann', 'ann@example.com');
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_ben', 'ben@example.com');
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
COMMIT;
-- In a session of another role.
\c - regress_ann
SET ROLE regress_clerks;
SELECT wf_grant_events('regress_deploy') \g /dev/null
SELECT wf_define('{"definitionId": "tell clerks", "root": {"type": "PublishEvent", "eventName": "Asked"}}') \g /dev/null
SELECT status FROM wf_run('tell clerks');
RESET ROLE;
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
-- By a workflow that runs with the rights of its owner, and by a child.
\c - regress_deploy
SELECT wf_define('{"definitionId": "file", "options": {"security": "definer"}, "root": {"type": "PublishEvent", "eventName": "Asked"}}') \g /dev/null
SELECT wf_grant('file', 'regress_ann', '{start}');
\c - regress_ann
SELECT status FROM wf_run('file');
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
\c - regress_ann
SET ROLE regress_clerks;
SELECT wf_define('{"definitionId": "above", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "tell clerks", "waitForCompletion": true}}') \g /dev/null
SELECT status FROM wf_run('above');
RESET ROLE;
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
\c - postgres
SELECT i.started_by, i.started_actor, a.kind, a.role, a.login, a.actor
FROM workflow.instance_list AS i JOIN workflow.audit AS a USING (instance_id) WHERE i.definition_id = 'ask' ORDER BY i.created_at, a.at;

-- A start that has to wait: for its turn, or for a session of the owner, which runs its SQL.
\c - regress_deploy
SELECT wf_define('{"definitionId": "one", "options": {"maxConcurrency": {"max": 1}}, "root":
    {"id": "T", "type": "RunTask", "taskName": "Answer", "candidates": ["role:regress_clerks"], "not": ["starter"]}}') \g /dev/null
SELECT wf_define('{"definitionId": "own", "options": {"maxConcurrency": {"max": 1}}, "root": [{"id": "E", "type": "Event", "eventName": "Own", "canStartWorkflow": true},
    {"type": "Sql", "statement": "SELECT 1"},
    {"id": "T", "type": "RunTask", "taskName": "Answer", "candidates": ["role:regress_clerks"], "not": ["starter"]}]}') \g /dev/null
SELECT wf_grant(d, 'regress_clerks', '{start,read,resume}') FROM unnest('{one,own}'::text[]) AS d \g /dev/null
\c - regress_ann
SET ROLE regress_clerks;
SELECT wf_start('one') AS first \gset
SELECT wf_start('one') AS second \gset
SELECT wf_cancel(:'first');
SELECT wf_run_due() \g /dev/null
SELECT cardinality((wf_publish_event('Own')).started) AS started FROM generate_series(1, 2);
RESET ROLE;
\c - regress_deploy
SELECT wf_run_due() \g /dev/null
\c - regress_ann
SELECT wf_complete_task(task_id) FROM workflow.open_tasks WHERE definition_id = 'one';
SELECT wf_complete_task(task_id) FROM workflow.open_tasks WHERE definition_id = 'own';
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
-- The second one waited for a session of the owner, and then for its turn.
\c - regress_deploy
SELECT wf_run_due() \g /dev/null
SELECT wf_run_due() \g /dev/null
\c - regress_ann
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
\c - postgres
SELECT i.definition_id, a.kind, a.role, a.login
FROM workflow.instances AS i JOIN workflow.audit AS a ON a.instance_id = i.id WHERE i.definition_id IN ('one', 'own') ORDER BY i.created_at, i.id, a.at;

-- An instance that continues knows the session that started the first one after that has been removed.
\c - regress_deploy
SELECT wf_define('{"definitionId": "again", "inputs": [{"name": "round"}], "root": {"type": "If", "condition": {"js": "getInput(''round'') < 3"},
    "then": {"type": "ContinueAs", "input": {"object": {"round": {"js": "getInput(''round'') + 1"}}}},
    "else": {"id": "T", "type": "RunTask", "taskName": "Answer", "candidates": ["role:regress_clerks"], "not": ["starter"]}}}') \g /dev/null
SELECT wf_grant('again', 'regress_clerks', '{start,read}');
\c - regress_ann
SET ROLE regress_clerks;
SELECT wf_start('again', '{"round": 1}') \g /dev/null
\c - regress_deploy
SELECT count(*) AS ended, count(wf_delete_instance(instance_id)) AS deleted FROM workflow.instance_list WHERE definition_id = 'again' AND status = 'Finished';
\c - regress_ann
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;

-- A schedule: whoever made it, or said last what it does or whose it is.
\c - regress_deploy
SELECT wf_define('{"definitionId": "asked", "root": {"id": "T", "type": "RunTask", "taskName": "Answer", "candidates": ["role:regress_clerks"], "not": ["starter"]}}') \g /dev/null
SELECT wf_grant('asked', 'regress_clerks', '{start,read,resume}');
\c - regress_ann
SET ROLE regress_clerks;
SELECT wf_schedule_workflow('group', '0 0 1 1 *', 'asked', correlation_id => 'group') \g /dev/null
RESET ROLE;
SELECT wf_schedule_workflow('given', '0 0 1 1 *', 'asked', correlation_id => 'given') \g /dev/null
SELECT wf_set_owner('schedule', 'given', 'regress_clerks');
SET ROLE regress_clerks;
SELECT wf_schedule_run_now('group') \g /dev/null
SELECT wf_schedule_run_now('given') \g /dev/null
SELECT wf_run_due() \g /dev/null
RESET ROLE;
SELECT wf_complete_task(task_id) FROM workflow.open_tasks WHERE correlation_id = 'group';
SELECT wf_complete_task(task_id) FROM workflow.open_tasks WHERE correlation_id = 'given';
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
\c - regress_pool
BEGIN;
SELECT wf_set_role('regress_clerks', 'ann@example.com') \g /dev/null
SELECT wf_schedule_workflow('made', '0 0 1 1 *', 'asked', correlation_id => 'made') \g /dev/null
SELECT wf_schedule_workflow('paused', '0 0 1 1 *', 'asked') \g /dev/null
COMMIT;
BEGIN;
SELECT wf_set_role('regress_clerks', 'ben@example.com') \g /dev/null
SELECT wf_alter_schedule('paused', active => false) \g /dev/null
SELECT wf_alter_schedule('made', input => '{"amount": 1000}') \g /dev/null
SELECT wf_schedule_run_now('made') \g /dev/null
COMMIT;
BEGIN;
SELECT wf_set_role('regress_clerks', 'ben@example.com') \g /dev/null
SELECT wf_run_due() \g /dev/null
COMMIT;
BEGIN;
SELECT wf_set_role('regress_clerks', 'ben@example.com') \g /dev/null
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_clerks', 'ann@example.com') \g /dev/null
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
COMMIT;
\c - postgres
SELECT i.correlation_id, i.started_by, i.started_actor, a.kind, a.role, a.login, a.actor
FROM workflow.instance_list AS i JOIN workflow.audit AS a USING (instance_id) WHERE i.definition_id = 'asked' ORDER BY i.created_at, i.instance_id, a.at;
SELECT schedule_name, made_actor FROM workflow.triggers WHERE schedule_name IS NOT NULL ORDER BY 1;
SELECT * FROM wf_check();
REVOKE SET ON PARAMETER workflow.actor FROM regress_pool;
