-- Roles that only work: wf_grant_worker gives a role tasks to claim and answer, and nothing else.
\pset null '(null)'
CREATE ROLE regress_wg_ann LOGIN;
CREATE ROLE regress_wg_ben LOGIN;
CREATE ROLE regress_wg_team;
CREATE ROLE regress_wg_robot LOGIN;
CREATE ROLE regress_wg_clerk LOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_wg_ann, regress_wg_ben, regress_wg_team, regress_wg_clerk}'::name[]) AS role;
GRANT regress_wg_team TO regress_wg_ann;
SELECT wf_accept_tasks(owner, worker)
FROM unnest('{regress_wg_ann, regress_wg_ben, regress_wg_team}'::name[]) AS owner, unnest('{regress_wg_robot, regress_wg_clerk}'::name[]) AS worker \g /dev/null

\connect - regress_wg_ann
SELECT wf_define('{"definitionId": "leave", "root": [{"id": "approve", "type": "RunTask", "taskName": "Approve", "payload": {"object": {"days": {"input": "days"}}}},
    {"id": "book", "type": "RunTask", "taskName": "Book"}]}');
SELECT wf_grant('leave', 'regress_wg_clerk', '{start}');
SELECT wf_start('leave', '{"days": 3}', 'ann 1') IS NOT NULL AS started;
SET ROLE regress_wg_team;
SELECT wf_define('{"definitionId": "travel", "root": [{"id": "approve", "type": "RunTask", "taskName": "Approve"}]}');
SELECT wf_start('travel', correlation_id => 'team 1') IS NOT NULL AS started;
-- An instance belongs to who started it, but its tasks are those of the definition.
\connect - regress_wg_clerk
SELECT wf_start('leave', '{"days": 4}', 'clerk 1') IS NOT NULL AS started;
\connect - regress_wg_ben
SELECT wf_define('{"definitionId": "loan", "root": [{"id": "approve", "type": "RunTask", "taskName": "Approve"}, {"id": "pay", "type": "RunTask", "taskName": "Pay out"}]}');
SELECT wf_start('loan', correlation_id => 'ben 1') IS NOT NULL AS started;

-- security.md#roles-for-task-workers: a role without a grant can call nothing
\connect - regress_wg_robot
SELECT * FROM wf_claim_tasks();
\echo :SQLSTATE

-- security.md#roles-for-task-workers: a grant gives tasks of definitions that the grantor may manage, and of no others
\connect - regress_wg_ann
SELECT wf_grant_worker('regress_wg_robot', '{Approve}', 'loan');
\echo :SQLSTATE
SELECT wf_grant_worker('regress_wg_robot', '{Approve}', 'leave');
-- Again: it is no new one.
SELECT wf_grant_worker('regress_wg_robot', '{Approve}', 'leave');
SELECT * FROM workflow.worker_grants ORDER BY 1, 2, 3;
-- security.md#roles-for-task-workers: nothing but the calls of a worker
\connect - postgres
SELECT name FROM workflow._objects() WHERE kind = 'function' AND has_function_privilege('regress_wg_robot', id, 'EXECUTE')
EXCEPT SELECT name FROM workflow._intended_grants() WHERE kind = 'function' AND grantee = 'public' ORDER BY 1;
\connect - regress_wg_robot
BEGIN;
SELECT correlation_id, name, payload, owner FROM wf_claim_tasks(max => 10) WITH ORDINALITY ORDER BY ordinality;
ROLLBACK;
SELECT * FROM workflow.worker_grants;
-- The names that a worker asks for give it no more.
BEGIN;
SELECT count(*) FROM wf_claim_tasks('{Approve,Book,Pay out}', max => 10);
ROLLBACK;
CALL wf_wait_tasks('{Book,Pay out}', '0');
CALL wf_wait_tasks('{Approve}', '0');
-- It completes one, and gives the other back. The task that follows is not its own.
SELECT task_id, token FROM wf_claim_tasks(lease => '1 h') \gset a_
SELECT task_id, token FROM wf_claim_tasks(lease => '1 h') \gset b_
SELECT wf_extend_task(:'a_task_id', :'a_token', progress => '50') IS NOT NULL AS extended;
SELECT status, sub_status, output, bookmarks, incidents FROM wf_complete_task(:'a_task_id', '"yes"', token => :'a_token');
SELECT wf_release_task(:'b_task_id', :'b_token');
BEGIN;
SELECT correlation_id, name FROM wf_claim_tasks(max => 10);
ROLLBACK;
-- Several names are several grants. Definitions: those that Ann may manage, also as a member of the team.
\connect - regress_wg_ann
SELECT wf_grant_worker('regress_wg_robot', '{Approve,Book,Approve}');
\connect - regress_wg_robot
BEGIN;
SELECT correlation_id, definition_id, name FROM wf_claim_tasks(max => 10) ORDER BY 1;
ROLLBACK;
-- What she defines later is among them. So are tasks that were there before.
\connect - regress_wg_ann
SELECT wf_define('{"definitionId": "later", "root": [{"id": "book", "type": "RunTask", "taskName": "Book"}]}');
SELECT wf_start('later', correlation_id => 'ann 2') IS NOT NULL AS started;
\connect - regress_wg_robot
BEGIN;
SELECT correlation_id, name FROM wf_claim_tasks('{Book}', max => 10) ORDER BY 1;
ROLLBACK;

-- security.md#roles-for-task-workers: it counts while the grantor may manage the definition
\connect - postgres
REVOKE regress_wg_team FROM regress_wg_ann;
\connect - regress_wg_robot
BEGIN;
SELECT correlation_id, definition_id, name FROM wf_claim_tasks(max => 10) ORDER BY 1;
ROLLBACK;
SELECT task_id AS held, token AS held_token FROM wf_claim_tasks('{Approve}') \gset
\connect - postgres
SELECT wf_set_owner('definition', 'leave', 'regress_wg_ben');
SELECT * FROM workflow.worker_grants ORDER BY 2, 3;
\connect - regress_wg_robot
BEGIN;
SELECT correlation_id, definition_id, name FROM wf_claim_tasks(max => 10) ORDER BY 1;
ROLLBACK;
-- What the worker held is of no use any more.
SELECT wf_extend_task(:'held', :'held_token');
\echo :SQLSTATE
SELECT wf_complete_task(:'held', token => :'held_token');
\echo :SQLSTATE
SELECT wf_fail_task(:'held', :'held_token', 'no');
\echo :SQLSTATE
SELECT wf_release_task(:'held', :'held_token');
\echo :SQLSTATE
-- The new owner grants it anew, and the old grant is hers no more. He sees it, and takes it back.
\connect - regress_wg_ben
SELECT role, name, grantor, in_force FROM workflow.worker_grants ORDER BY 2;
SELECT wf_revoke_worker('regress_wg_robot', NULL, 'leave');
SELECT wf_grant_worker('regress_wg_robot', NULL, 'leave');
\connect - regress_wg_robot
SELECT wf_extend_task(:'held', :'held_token') IS NOT NULL AS extended;
SELECT wf_release_task(:'held', :'held_token');

-- A superuser's grant is one of all definitions.
\connect - postgres
SELECT wf_grant_worker('regress_wg_robot', '{Pay out}');
SELECT wf_grant_worker('regress_wg_clerk');
\connect - regress_wg_clerk
BEGIN;
SELECT correlation_id, definition_id, name FROM wf_claim_tasks(max => 10) ORDER BY 1;
ROLLBACK;

-- Taking back: the caller's own grants. NULL means whatever the grant says. One of all names is not a grant of each name.
\connect - regress_wg_ann
SELECT wf_revoke_worker('regress_wg_robot', '{Approve}');
SELECT wf_revoke_worker('regress_wg_robot', '{Approve}');
SELECT wf_revoke_worker('regress_wg_clerk');
SELECT wf_revoke_worker('regress_wg_robot', '{Approve}', 'leave');
\echo :SQLSTATE
SELECT wf_revoke_worker('regress_wg_robot');
\connect - regress_wg_ben
SELECT wf_revoke_worker('regress_wg_robot', '{Approve}', 'leave');
\connect - postgres
SELECT role, definition_id, name, grantor FROM workflow.worker_grants ORDER BY 1, 2, 3;
-- With the last grant go the calls. A role that wf_grant_usage named keeps them.
SELECT wf_revoke_worker('regress_wg_clerk');
SELECT wf_revoke_worker('regress_wg_robot', '{Pay out}');
SELECT has_function_privilege('regress_wg_robot', 'wf_claim_tasks(text[], text, integer, interval)', 'EXECUTE') AS robot;
SELECT wf_revoke_worker('regress_wg_robot');
SELECT has_function_privilege('regress_wg_robot', 'wf_claim_tasks(text[], text, integer, interval)', 'EXECUTE') AS robot,
       has_function_privilege('regress_wg_clerk', 'wf_claim_tasks(text[], text, integer, interval)', 'EXECUTE') AS clerk;
\connect - regress_wg_robot
CALL wf_wait_tasks(timeout => '0');
\echo :SQLSTATE

-- A grant of a role that is a group is one of its members. The grants of a deleted definition go with it, and EXECUTE with the last.
\connect - regress_wg_ann
SELECT wf_grant_worker('regress_wg_team', NULL, 'later');
SELECT wf_grant_worker('regress_wg_robot', '{Unknown}', 'later');
SELECT a.grantee::regrole FROM pg_proc, aclexplode(proacl) AS a WHERE proname = 'wf_claim_tasks' AND a.grantee = 'regress_wg_robot'::regrole;
\connect - postgres
GRANT regress_wg_team TO regress_wg_robot;
\connect - regress_wg_robot
SELECT correlation_id FROM wf_claim_tasks();
\connect - regress_wg_ann
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE definition_id = 'later';
SELECT wf_delete_definition('later');
SELECT * FROM workflow.worker_grants;
SELECT a.grantee::regrole FROM pg_proc, aclexplode(proacl) AS a WHERE proname = 'wf_claim_tasks' AND a.grantee = 'regress_wg_robot'::regrole;
-- A grantor who is dropped gives nothing any more.
\connect - postgres
SELECT wf_grant_usage('regress_wg_robot');
CREATE ROLE regress_wg_boss SUPERUSER;
SET ROLE regress_wg_boss;
SELECT wf_grant_worker('regress_wg_robot');
RESET ROLE;
\connect - regress_wg_robot
BEGIN;
SELECT count(*) > 0 AS some FROM wf_claim_tasks(max => 10);
ROLLBACK;
\connect - postgres
DROP ROLE regress_wg_boss;
SELECT * FROM workflow.worker_grants;
REVOKE regress_wg_team FROM regress_wg_robot;
\connect - regress_wg_robot
SELECT definition_id FROM wf_claim_tasks(max => 10);
\connect - postgres
SELECT wf_revoke_worker('regress_wg_robot');

-- Errors.
\connect - regress_wg_ann
SELECT wf_grant_worker('regress_wg_nobody');
\echo :SQLSTATE
SELECT wf_grant_worker(NULL);
\echo :SQLSTATE
SELECT wf_grant_worker('regress_wg_robot', '{}');
\echo :SQLSTATE
SELECT wf_grant_worker('regress_wg_robot', '{Approve,NULL}');
\echo :SQLSTATE
SELECT wf_grant_worker('regress_wg_robot', NULL, 'unknown');
\echo :SQLSTATE
SELECT wf_revoke_worker('regress_wg_robot', NULL, 'unknown');
\echo :SQLSTATE
SELECT * FROM workflow.task_grants;
\echo :SQLSTATE
SELECT workflow._give_worker_calls('regress_wg_robot'::regrole);
\echo :SQLSTATE

-- security.md#renamed-and-dropped-roles: wf_adopt_database gives what a role has to another one, its grants included
SELECT wf_define('{"definitionId": "ann''s", "root": [{"id": "book", "type": "RunTask", "taskName": "Book"}]}');
SELECT wf_grant_worker('regress_wg_robot', '{Book}', 'ann''s');
\connect - regress_wg_ben
SELECT wf_grant_worker('regress_wg_ann', '{Pay out}');
\connect - postgres
SELECT count(*) FROM wf_adopt_database(owners => '{"regress_wg_ann": "regress_wg_clerk"}');
SELECT * FROM workflow.worker_grants ORDER BY 1, 2;
SELECT * FROM workflow.accepted_owner_list ORDER BY 1, 2;
SELECT * FROM wf_check();
