-- Who may pause an instance, with its children; and in whose session it goes on.
\pset null '(null)'
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
CREATE ROLE regress_pause_owner LOGIN;
CREATE ROLE regress_pause_resumer;
CREATE ROLE regress_pause_alterer;
CREATE ROLE regress_pause_stranger;
CREATE ROLE regress_pause_worker;
SELECT wf_grant_usage(role) FROM unnest('{regress_pause_owner, regress_pause_resumer, regress_pause_alterer, regress_pause_stranger}'::text[]) AS role;
SELECT wf_accept_tasks('regress_pause_owner', 'regress_pause_worker');
GRANT CREATE ON SCHEMA public TO regress_pause_owner;
SET ROLE regress_pause_owner;
CREATE TABLE public.pause_said (who name, what text);
SELECT * FROM wf_define('{"definitionId": "said", "root": {"type": "Parallel", "activities": [
    [{"id": "hear", "type": "Event", "eventName": "Hear"}, {"type": "Sql", "statement": "INSERT INTO public.pause_said VALUES (CURRENT_USER, ''heard'')"}],
    [{"id": "do", "type": "RunTask", "taskName": "Do"}, {"type": "Sql", "statement": "INSERT INTO public.pause_said VALUES (CURRENT_USER, ''done'')"}],
    [{"id": "wait", "type": "Delay", "timeSpan": "1 hour"}, {"type": "Sql", "statement": "INSERT INTO public.pause_said VALUES (CURRENT_USER, ''waited'')"}]]}}');
SELECT wf_grant('said', 'regress_pause_resumer', '{resume}'), wf_grant('said', 'regress_pause_alterer', '{alter}');
SELECT wf_grant_worker('regress_pause_worker', '{Do}');
SELECT wf_start('said') AS said \gset

-- security.md#owners-and-grants: who may only resume instances, or has no right at all, may not pause them
SET ROLE regress_pause_stranger;
SELECT wf_pause(:'said');
\echo :SQLSTATE
SELECT wf_unpause(:'said');
\echo :SQLSTATE
SET ROLE regress_pause_resumer;
SELECT wf_pause(:'said');
\echo :SQLSTATE
SET ROLE regress_pause_alterer;
SELECT wf_pause(:'said', 'for a check');
-- Who may not read the instance is not told why it is paused.
SET ROLE regress_pause_resumer;
SELECT wf_retry(:'said');
\echo :SQLSTATE
RESET ROLE;
SELECT wf_grant('said', 'regress_pause_resumer', '{read}');
SET ROLE regress_pause_resumer;
SELECT wf_retry(:'said');
\echo :SQLSTATE
SELECT paused_by, pause_reason FROM workflow.instance_list;

-- A worker claims nothing. One that has a task can answer it, though it lends no rights.
RESET ROLE;
SET ROLE regress_pause_worker;
SELECT count(*) FROM wf_claim_tasks();
RESET ROLE;
SELECT r.sub_status FROM wf_unpause(:'said') AS r;
SET ROLE regress_pause_worker;
SELECT task_id AS do, token FROM wf_claim_tasks() \gset
SET ROLE regress_pause_alterer;
SELECT wf_pause(:'said');
SET ROLE regress_pause_worker;
SELECT r.sub_status, r.instance_id = :'said' AS is_it FROM wf_complete_task(:'do', token => :'token') AS r;
SET ROLE regress_pause_owner;
SELECT queued_id IS NOT NULL AS kept FROM wf_publish_event('Hear');
RESET ROLE;
SET workflow.now = '2026-03-02 12:00:00+00';

-- security.md#answers-lend-no-rights: the SQL of the definition may not have the rights of who ends the pause. So a session of the owner does: until then it stays paused.
SET ROLE regress_pause_alterer;
SELECT r.sub_status FROM wf_unpause(:'said') AS r;
SET ROLE regress_pause_owner;
TABLE public.pause_said;
SELECT paused_at IS NOT NULL AS paused FROM workflow.instance_list;
SELECT line FROM wf_explain(:'said') AS line WHERE line ~ '(paused since|session of its owner)';
-- Nothing overtakes what was kept.
SELECT resumed, queued_id IS NOT NULL AS kept FROM wf_publish_event('Hear');
-- It can be paused anew meanwhile.
SELECT wf_pause(:'said', 'not yet');
SELECT wf_run_due();
SELECT pause_reason FROM workflow.instance_list;
RESET ROLE;
SELECT problem FROM wf_check();
SET ROLE regress_pause_alterer;
SELECT r.sub_status FROM wf_unpause(:'said') AS r;
SET ROLE regress_pause_owner;
SELECT wf_run_due();
SELECT wf_run_due();
TABLE public.pause_said;
SELECT sub_status, paused_at FROM workflow.instance_list;
SELECT event, data FROM workflow.journal WHERE event IN ('Paused', 'Unpaused') ORDER BY seq;

-- Children stand still only if they are asked for. Those that were paused with an instance go on with it.
SELECT * FROM wf_define('{"definitionId": "leaf", "root": {"type": "Event", "eventName": "Leaf"}}');
SELECT * FROM wf_define('{"definitionId": "branch", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "leaf", "waitForCompletion": true}}');
SELECT * FROM wf_define('{"definitionId": "tree", "root": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "branch", "waitForCompletion": true}, {"type": "WriteLine", "text": "all done"}]}');
SELECT wf_start('tree') AS tree \gset
SELECT wf_pause(:'tree');
SELECT definition_id, paused_at IS NOT NULL AS paused FROM workflow.instance_list WHERE definition_id IN ('tree', 'branch', 'leaf') ORDER BY instance_id;
SELECT wf_pause(:'tree', 'all of it', children => true);
SELECT wf_pause(:'tree', 'all of it', children => true);
SELECT definition_id, pause_reason FROM workflow.instance_list WHERE definition_id IN ('tree', 'branch', 'leaf') ORDER BY instance_id;
SELECT r.sub_status FROM wf_unpause(:'tree') AS r;
SELECT definition_id, paused_at IS NOT NULL AS paused FROM workflow.instance_list WHERE definition_id IN ('tree', 'branch', 'leaf') ORDER BY instance_id;
-- The report of a child that ends meanwhile reaches its parent when the pause ends.
SELECT wf_pause(:'tree');
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Leaf');
SELECT definition_id, sub_status, paused_at IS NOT NULL AS paused FROM workflow.instance_list WHERE definition_id IN ('tree', 'branch', 'leaf') ORDER BY instance_id;
SELECT r.sub_status FROM wf_unpause(:'tree') AS r;

-- Who may not alter a child pauses nothing.
SELECT wf_grant('tree', 'regress_pause_alterer', '{alter}');
SELECT wf_start('tree') AS tree \gset
RESET ROLE;
SET ROLE regress_pause_alterer;
SELECT wf_pause(:'tree', children => true);
\echo :SQLSTATE
SET ROLE regress_pause_owner;
SELECT count(*) FROM workflow.instance_list WHERE paused_at IS NOT NULL;
RESET ROLE;
SELECT problem FROM wf_check();
DROP TABLE public.pause_said;
REVOKE CREATE ON SCHEMA public FROM regress_pause_owner;
