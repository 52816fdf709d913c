-- Groups that a program vouches for: with them, an actor answers for nobody but itself and its groups.
CREATE ROLE regress_deploy LOGIN;
CREATE ROLE regress_staff;
CREATE ROLE regress_program LOGIN NOINHERIT;
GRANT regress_staff TO regress_program;
GRANT SET ON PARAMETER workflow.actor TO regress_program;
SELECT wf_grant_usage(r) FROM unnest('{regress_deploy,regress_staff}'::name[]) AS r \g /dev/null
\c - regress_deploy
SELECT wf_define('{"definitionId": "ask", "root": [
    {"id": "board", "type": "RunTask", "taskName": "Ask", "candidates": ["group:board", "eve"]},
    {"id": "role", "type": "RunTask", "taskName": "Ask", "candidates": ["role:regress_staff"]}]}') \g /dev/null
SELECT wf_grant('ask', 'regress_staff', '{start,read,resume}') \g /dev/null
SELECT wf_start('ask') \g /dev/null
SELECT task_id AS task FROM workflow.open_tasks \gset
\c - regress_program

-- security.md#tasks-for-people: neither another person of the same role, nor a member of another group
BEGIN;
SELECT wf_set_role('regress_staff', 'ada', '{}');
SAVEPOINT s;
SELECT wf_complete_task(:'task', '"yes"');
\echo :SQLSTATE
ROLLBACK TO s;
SELECT wf_assign_task(:'task', 'ada');
ROLLBACK TO s;
SELECT wf_resume(:'task', '"yes"');
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_staff', 'ada', '{boards,group:board}');
SELECT wf_complete_task(:'task', '"yes"');
ROLLBACK;
-- A name of a group is no name of a person, and the other way round.
BEGIN;
SELECT wf_set_role('regress_staff', 'group:board', '{eve}');
SELECT wf_complete_task(:'task', '"yes"');
ROLLBACK;
-- The person, a member of the group, and a program that vouches for no groups: it acts for all whom only it knows.
BEGIN;
SELECT wf_set_role('regress_staff', ' eve ', '{}');
SELECT wf_complete_task(:'task', '"yes"') IS NOT NULL AS answered;
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_staff', 'ada', '{board}');
SELECT wf_complete_task(:'task', '"yes"') IS NOT NULL AS answered;
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_staff', 'ada');
SELECT wf_complete_task(:'task', '"yes"') IS NOT NULL AS answered;
ROLLBACK;
-- A member takes the task for itself and for nobody else, and returns it.
BEGIN;
SELECT wf_set_role('regress_staff', 'ada', '{board}');
SAVEPOINT s;
SELECT wf_assign_task(:'task', 'ben');
ROLLBACK TO s;
SELECT wf_assign_task(:'task', 'ada');
SELECT assignee, candidates FROM workflow.open_tasks;
SELECT wf_unassign_task(:'task');
COMMIT;

-- A substitute answers for the absent person, without the person's groups. Only the person appoints one.
BEGIN;
SELECT wf_set_role('regress_staff', 'ben', '{}');
SELECT wf_set_substitute('eve', 'ben', 'tomorrow');
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_staff', 'eve', '{board}');
SELECT wf_set_substitute('eve', 'ben', 'tomorrow');
COMMIT;
BEGIN;
SELECT wf_set_role('regress_staff', 'ada', '{}');
SELECT wf_complete_task(:'task', '"yes"');
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_staff', 'ben', '{}');
SELECT wf_complete_task(:'task', '"yes"') IS NOT NULL AS answered;
SELECT role, actor, in_place_of FROM workflow.answers;
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_staff', 'ben', '{board}');
SELECT wf_complete_task(:'task', '"yes"') IS NOT NULL AS answered;
SELECT role, actor, in_place_of FROM workflow.answers;
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_staff', 'eve', '{}');
SELECT wf_remove_substitute('eve', 'ben');
COMMIT;

-- Refused: groups without an actor, with NULL inside, other ones later, and from a role that may set no actor.
BEGIN;
SAVEPOINT s;
SELECT wf_set_role('regress_staff', groups => '{board}');
ROLLBACK TO s;
SELECT wf_set_role('regress_staff', ' ', '{board}');
ROLLBACK TO s;
SELECT wf_set_role('regress_staff', 'ada', '{board,NULL}');
ROLLBACK TO s;
SELECT wf_set_role('regress_staff', 'ada', '{board}');
SELECT wf_set_role('regress_staff', 'ada', '{board}'), wf_set_role('regress_staff', 'ada'), wf_set_role('regress_staff');
SAVEPOINT t;
SELECT wf_set_role('regress_staff', 'ada', '{board,heads}');
ROLLBACK TO t;
SELECT wf_set_role('regress_staff', 'eve', '{board}');
-- A savepoint that is older than the call takes the groups back.
ROLLBACK TO s;
SELECT wf_set_role('regress_staff', 'ada');
SELECT wf_set_role('regress_staff', 'ada', '{}');
ROLLBACK;
\c - regress_deploy
BEGIN;
SELECT wf_set_role('regress_deploy', 'ada', '{}');
ROLLBACK;

-- Members of a role answer its tasks as before, also with groups.
\c - regress_program
BEGIN;
SELECT wf_set_role('regress_staff', 'ada', '{board}');
SELECT (wf_complete_task(:'task', '"yes"')).status;
COMMIT;
BEGIN;
SELECT wf_set_role('regress_staff', 'ben', '{}');
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT (wf_complete_task(:'task', '"yes"')).status;
COMMIT;
\c - postgres
REVOKE SET ON PARAMETER workflow.actor FROM regress_program;
