-- security.md#whose-tasks-a-task-worker-accepts: a claim that names no task reaches only definitions of owners whose tasks the worker's side accepts. A grant, a privilege, a candidate
-- and a membership are no consent: whoever opens the tasks can give them.
\pset null '(null)'
CREATE ROLE regress_wc_app LOGIN;
CREATE ROLE regress_wc_eve LOGIN;
CREATE ROLE regress_wc_cashier LOGIN;
CREATE ROLE regress_wc_cashiers;
CREATE ROLE regress_wc_dev LOGIN IN ROLE regress_wc_app;
CREATE ROLE regress_wc_group;
GRANT regress_wc_group TO regress_wc_eve WITH ADMIN OPTION;
SELECT wf_grant_usage(role) FROM unnest('{regress_wc_app, regress_wc_eve, regress_wc_cashier, regress_wc_group}'::name[]) AS role;
CREATE FUNCTION regress_wc_charge(id text) RETURNS jsonb LANGUAGE sql
RETURN jsonb_build_object('definitionId', id, 'root', jsonb_build_object('id', 'charge', 'type', 'RunTask', 'taskName', 'Charge card', 'payload', id));

-- eve's task stands first in the queue. Nobody asked the cashier.
\connect - regress_wc_eve
SELECT wf_define(jsonb_set(regress_wc_charge('trap'), '{root,priority}', '9'));
SELECT wf_grant_worker('regress_wc_cashier', '{Charge card}', 'trap');
SELECT wf_grant_worker('regress_wc_cashier');
SELECT wf_grant('trap', 'regress_wc_cashier', '{start,resume,read,alter}');
SELECT wf_start('trap') AS trap \gset
-- Memberships that she makes are none either.
GRANT regress_wc_group TO regress_wc_cashier;
SET ROLE regress_wc_group;
SELECT wf_define(regress_wc_charge('shared'));
SELECT wf_start('shared') IS NOT NULL AS started;
SELECT wf_accept_tasks('regress_wc_eve') AS for_her_group;
RESET ROLE;
SELECT * FROM wf_explain(:'trap') AS line WHERE line LIKE 'Role%';
SELECT * FROM workflow.worker_grants ORDER BY 2;
\connect - regress_wc_cashier
SELECT count(*) FROM wf_claim_tasks('{Charge card}', max => 10);
-- It is told once.
SELECT count(*) FROM wf_claim_tasks(max => 10);
CALL wf_wait_tasks('{Charge card}', '0');
SELECT role, definition_id, name, in_force, accepted FROM workflow.worker_grants ORDER BY 2;
-- A task that names the cashier is no other.
\connect - regress_wc_eve
SELECT wf_define('{"definitionId": "named", "root": [
    {"id": "a", "type": "RunTask", "taskName": "Charge card", "candidates": ["role:regress_wc_cashier"]}, {"id": "b", "type": "RunTask", "taskName": "Charge card", "assignee": "role:regress_wc_cashier"}]}');
SELECT wf_start('named') AS named \gset
\connect - regress_wc_cashier
SELECT count(*) FROM wf_claim_tasks('{Charge card}', max => 10);
SELECT status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'named';
SELECT count(*) FROM wf_claim_tasks('{Charge card}', max => 10);
-- So it is with a task that has a lane, and with one whose lease has ended.
\connect - regress_wc_eve
SELECT wf_limit_tasks('Charge card', 5);
\connect - regress_wc_cashier
SELECT count(*) FROM wf_claim_tasks('{Charge card}', max => 10);
CALL wf_wait_tasks('{Charge card}', '0');
\connect - regress_wc_eve
SELECT wf_limit_tasks('Charge card');
SELECT wf_claim_task(task_id, lease => '1 s') IS NOT NULL AS claimed FROM workflow.open_tasks WHERE instance_id = :'trap' \gset
\connect - postgres
UPDATE workflow.bookmarks SET available_at = now() - interval '1 s', lease_until = now() - interval '1 s' WHERE instance_id = :'trap';
\connect - regress_wc_cashier
SELECT count(*) FROM wf_claim_tasks('{Charge card}', max => 10);
-- A claim that names the task is consent.
BEGIN;
SELECT c.definition_id FROM workflow.open_tasks AS t, wf_claim_task(t.task_id) AS c WHERE t.instance_id = :'trap';
ROLLBACK;

-- Only the worker's side accepts.
\connect - regress_wc_eve
SELECT wf_accept_tasks('regress_wc_eve', 'regress_wc_cashier');
SELECT wf_refuse_tasks('regress_wc_app', 'regress_wc_cashier');

-- The owner of an application grants, the worker accepts. Then its tasks come, and no others.
\connect - regress_wc_app
SELECT wf_define(regress_wc_charge('payment'));
SELECT wf_start('payment') AS payment \gset
SELECT wf_grant_worker('regress_wc_cashier', '{Charge card}');
\connect - regress_wc_cashier
SELECT wf_accept_tasks('regress_wc_app'), wf_accept_tasks('regress_wc_app') AS again;
SELECT * FROM workflow.accepted_owner_list ORDER BY 1, 2;
CALL wf_wait_tasks('{Charge card}', '0');
BEGIN;
SELECT definition_id, payload FROM wf_claim_tasks('{Charge card}', max => 10);
ROLLBACK;
BEGIN;
SELECT definition_id, payload FROM wf_claim_tasks(max => 10);
ROLLBACK;
-- Further grants need no other word. Members of the owner have its tasks as well.
\connect - regress_wc_app
SELECT wf_grant_worker('regress_wc_cashier', '{Refund}', 'payment');
\connect - postgres
SELECT wf_grant_usage('regress_wc_dev');
\connect - regress_wc_dev
SELECT wf_define(regress_wc_charge('trial'));
SELECT wf_start('trial') IS NOT NULL AS started;
SELECT wf_grant_worker('regress_wc_cashier', '{Charge card}', 'trial');
\connect - regress_wc_cashier
BEGIN;
SELECT definition_id FROM wf_claim_tasks(max => 10) ORDER BY 1;
ROLLBACK;
SELECT wf_refuse_tasks('regress_wc_app'), wf_refuse_tasks('regress_wc_app') AS again;
SELECT count(*) FROM wf_claim_tasks(max => 10);

-- What a member accepts for a group is for no other member. What a superuser accepts is for those whom superusers put into the group.
\connect - postgres
GRANT regress_wc_cashiers TO regress_wc_cashier, regress_wc_eve;
\connect - regress_wc_eve
SELECT wf_accept_tasks('regress_wc_eve', 'regress_wc_cashiers'), wf_accept_tasks('regress_wc_app', 'regress_wc_cashiers');
\connect - regress_wc_cashier
SELECT count(*) FROM wf_claim_tasks(max => 10);
\connect - postgres
SELECT wf_accept_tasks('regress_wc_app', 'regress_wc_cashiers'), wf_accept_tasks('regress_wc_app', 'regress_wc_cashiers') AS again;
SELECT * FROM workflow.accepted_owner_list WHERE worker = 'regress_wc_cashiers' ORDER BY 2;
-- So is an owner of a definition of which a superuser grants tasks, also if a member accepted him before.
BEGIN;
SELECT wf_grant('trap', 'regress_wc_cashiers', '{resume}');
SELECT * FROM workflow.accepted_owner_list WHERE worker = 'regress_wc_cashiers' ORDER BY 2;
ROLLBACK;
\connect - regress_wc_cashier
BEGIN;
SELECT definition_id FROM wf_claim_tasks(max => 10) ORDER BY 1;
ROLLBACK;
\connect - postgres
SELECT wf_refuse_tasks('regress_wc_app', 'regress_wc_cashiers');
REVOKE regress_wc_cashiers FROM regress_wc_cashier, regress_wc_eve;
-- A membership in the owner is one of these, too.
GRANT regress_wc_app TO regress_wc_cashier;
\connect - regress_wc_cashier
BEGIN;
SELECT definition_id FROM wf_claim_tasks('{Charge card}', max => 10) ORDER BY 1;
ROLLBACK;
\connect - postgres
REVOKE regress_wc_app FROM regress_wc_cashier;

-- A superuser's grant of a definition is the consent of both sides, by wf_grant_worker and by resume.
SELECT wf_grant_worker('regress_wc_cashier', '{Charge card}');
\connect - regress_wc_cashier
SELECT count(*) FROM wf_claim_tasks(max => 10);
\connect - postgres
BEGIN;
SELECT wf_grant_worker('regress_wc_cashier', '{Charge card}', 'payment');
SELECT * FROM workflow.accepted_owner_list ORDER BY 1, 2;
SET LOCAL ROLE regress_wc_cashier;
SELECT definition_id FROM wf_claim_tasks('{Charge card}', max => 10) ORDER BY 1;
ROLLBACK;
BEGIN;
SELECT wf_grant('payment', 'regress_wc_cashier', '{resume}');
SET LOCAL ROLE regress_wc_cashier;
SELECT definition_id FROM wf_claim_tasks('{Charge card}', max => 10) ORDER BY 1;
ROLLBACK;

-- A superuser that works accepts like any other role.
SELECT count(*) FROM wf_claim_tasks('{Charge card}', max => 10);

-- The owner of the database is trusted, and so are members of that role.
SELECT format('ALTER DATABASE %I OWNER TO regress_wc_app', current_database()) \gexec
\connect - regress_wc_cashier
BEGIN;
SELECT definition_id FROM wf_claim_tasks(max => 10) ORDER BY 1;
ROLLBACK;
\connect - postgres
SELECT format('ALTER DATABASE %I OWNER TO postgres', current_database()) \gexec

-- wf_check says what is granted and not accepted.
SELECT * FROM wf_check() ORDER BY detail;
SELECT wf_revoke_worker('regress_wc_cashier');
SELECT * FROM wf_check();

-- Errors.
\connect - regress_wc_cashier
SELECT wf_accept_tasks('regress_wc_nobody');
\echo :SQLSTATE
SELECT wf_accept_tasks('regress_wc_app', 'regress_wc_nobody');
\echo :SQLSTATE
SELECT wf_accept_tasks(NULL);
\echo :SQLSTATE
-- What a role accepts is told to the two alone.
SELECT workflow._accepts_tasks('regress_wc_cashier'::regrole, 'regress_wc_app'::regrole), workflow._accepts_tasks('regress_wc_dev'::regrole, 'regress_wc_app'::regrole),
       workflow._accepts_tasks(NULL, NULL);
-- A name is quoted in the call that is proposed.
\connect - postgres
CREATE ROLE "regress_wc_o'neil";
SELECT wf_grant_usage('regress_wc_o''neil');
SET ROLE "regress_wc_o'neil";
SELECT wf_define(regress_wc_charge('oneil')) \g /dev/null
SELECT wf_grant_worker('regress_wc_cashier', '{Charge card}', 'oneil');
SELECT wf_revoke_worker('regress_wc_cashier');
RESET ROLE;
