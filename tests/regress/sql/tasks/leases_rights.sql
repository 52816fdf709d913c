-- Which tasks a role may claim, and what it may do with a token: those of the instances that it may resume.
\pset null '(null)'
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
CREATE ROLE regress_leases_ann;
CREATE ROLE regress_leases_ben;
CREATE ROLE regress_leases_clerk;
CREATE ROLE regress_leases_worker;
CREATE ROLE regress_leases_plain;
CREATE ROLE regress_leases_stranger;
SELECT wf_grant_usage(role)
FROM unnest('{regress_leases_ann, regress_leases_ben, regress_leases_clerk, regress_leases_worker, regress_leases_plain}'::name[]) AS role;
SELECT wf_accept_tasks('regress_leases_ann', 'regress_leases_worker'), wf_accept_tasks('regress_leases_ann', 'regress_leases_clerk'), wf_accept_tasks('regress_leases_ann'), wf_accept_tasks('regress_leases_ben');

-- Two owners have tasks of the same name. A third role started an instance of Ann's definition, so that instance belongs to the clerk.
SET ROLE regress_leases_ann;
SELECT * FROM wf_define('{"definitionId": "leave", "root": [{"id": "approve", "type": "RunTask", "taskName": "Approve", "payload": {"object": {"days": {"input": "days"}}}}]}');
SELECT wf_grant('leave', 'regress_leases_clerk', '{start}');
SELECT wf_grant('leave', 'regress_leases_worker', '{resume}');
SELECT wf_start('leave', '{"days": 3}', correlation_id => 'ann 1') AS ann1 \gset
RESET ROLE;
SET workflow.now = '2026-03-01 09:01:00+00';
SET ROLE regress_leases_ann;
SELECT wf_start('leave', '{"days": 4}', correlation_id => 'ann 2') AS ann2 \gset
RESET ROLE;
SET workflow.now = '2026-03-01 09:02:00+00';
SET ROLE regress_leases_clerk;
SELECT wf_start('leave', '{"days": 5}', correlation_id => 'clerk 1') AS clerk1 \gset
RESET ROLE;
SET workflow.now = '2026-03-01 09:03:00+00';
SET ROLE regress_leases_ben;
SELECT * FROM wf_define('{"definitionId": "loan", "root": [{"id": "approve", "type": "RunTask", "taskName": "Approve"}, {"id": "pay", "type": "RunTask", "taskName": "Pay out"}]}');
SELECT wf_start('loan', correlation_id => 'ben 1') AS ben1 \gset
RESET ROLE;
SET workflow.now = '2026-03-01 09:10:00+00';

-- security.md#default-access: EXECUTE is revoked from PUBLIC
-- Without wf_grant_usage a role cannot call the functions.
SET ROLE regress_leases_stranger;
SELECT * FROM wf_claim_tasks();
\echo :SQLSTATE
SELECT * FROM wf_complete_tasks('[]');
\echo :SQLSTATE
SELECT wf_extend_task('01900000-0000-7000-8000-00000000dead', '01900000-0000-7000-8000-00000000beef');
\echo :SQLSTATE
SELECT wf_fail_task('01900000-0000-7000-8000-00000000dead', '01900000-0000-7000-8000-00000000beef', 'no');
\echo :SQLSTATE
SELECT wf_release_task('01900000-0000-7000-8000-00000000dead', '01900000-0000-7000-8000-00000000beef');
\echo :SQLSTATE

-- security.md#owners-and-grants: who may resume an instance may claim its tasks, and no other role
-- Names that are NULL mean all tasks that the role may claim. A name does not reach further.
SET ROLE regress_leases_plain;
SELECT count(*) FROM wf_claim_tasks(max => 10);
SELECT count(*) FROM wf_claim_tasks('{Approve,Pay out}', max => 10);
-- A role that may only read sees the tasks, and cannot claim them. It sees no token.
SET ROLE regress_leases_ann;
SELECT wf_grant('leave', 'regress_leases_plain', '{read}');
SET ROLE regress_leases_plain;
SELECT correlation_id, name, attempt FROM workflow.open_tasks ORDER BY created_at;
SELECT count(*) FROM wf_claim_tasks('{Approve}', max => 10);
SELECT token FROM workflow.bookmarks;
\echo :SQLSTATE
-- The grant resume gives the tasks of all instances of the definition. The claim shows the payload to a role that may not read it elsewhere.
SET ROLE regress_leases_worker;
SELECT count(*) FROM workflow.open_tasks;
BEGIN;
SELECT correlation_id, definition_id, owner, payload FROM wf_claim_tasks(max => 10) WITH ORDINALITY ORDER BY ordinality;
ROLLBACK;
-- The role that started an instance may claim its tasks, the definition's owner those of all instances of the definition.
SET ROLE regress_leases_clerk;
BEGIN;
SELECT correlation_id, owner FROM wf_claim_tasks('{Approve}', max => 10) WITH ORDINALITY ORDER BY ordinality;
ROLLBACK;
SET ROLE regress_leases_ann;
BEGIN;
SELECT correlation_id, owner FROM wf_claim_tasks(max => 10) WITH ORDINALITY ORDER BY ordinality;
ROLLBACK;
SET ROLE regress_leases_ben;
BEGIN;
SELECT correlation_id, owner FROM wf_claim_tasks('{Approve}', max => 10) WITH ORDINALITY ORDER BY ordinality;
ROLLBACK;
RESET ROLE;
BEGIN;
SELECT correlation_id, owner FROM wf_claim_tasks(max => 10) WITH ORDINALITY ORDER BY ordinality;
ROLLBACK;
-- Members of the owner may what the owner may.
GRANT regress_leases_ben TO regress_leases_plain;
SET ROLE regress_leases_plain;
BEGIN;
SELECT correlation_id, owner FROM wf_claim_tasks(max => 10) WITH ORDINALITY ORDER BY ordinality;
ROLLBACK;
RESET ROLE;
REVOKE regress_leases_ben FROM regress_leases_plain;

-- A token helps no role that may not resume the instance.
SET ROLE regress_leases_worker;
SELECT * FROM wf_claim_tasks(worker => 'robot') \gset held_
SELECT :'held_instance_id' = :'ann1' AS worker_has_ann1;
SET ROLE regress_leases_ben;
SELECT wf_complete_task(:'held_task_id', '{"by": "Ben"}', token => :'held_token');
\echo :SQLSTATE
SELECT wf_fail_task(:'held_task_id', :'held_token', 'no');
\echo :SQLSTATE
SELECT wf_extend_task(:'held_task_id', :'held_token');
\echo :SQLSTATE
SELECT wf_release_task(:'held_task_id', :'held_token');
\echo :SQLSTATE
SELECT outcome, sub_status, message FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'held_task_id', 'token', :'held_token')));
SELECT outcome, sub_status, message FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'held_task_id', 'token', :'held_token',
    'error', '{"message": "no"}'::jsonb)));
RESET ROLE;
SELECT attempt, worker FROM workflow.open_tasks WHERE task_id = :'held_task_id';

-- The worker completes the task, and is told how the instance stands and not what is in it. The same answer again needs the right as well.
SET ROLE regress_leases_worker;
SELECT r.status, r.sub_status, r.output, r.bookmarks, r.incidents FROM wf_complete_task(:'held_task_id', '{"by": "robot"}', token => :'held_token') AS r;
SELECT r.status, r.sub_status, r.output, r.bookmarks, r.incidents FROM wf_complete_task(:'held_task_id', '{"by": "robot"}', token => :'held_token') AS r;
SET ROLE regress_leases_ben;
SELECT wf_complete_task(:'held_task_id', '{"by": "robot"}', token => :'held_token');
\echo :SQLSTATE

-- A worker that may not read the instance may fail its task.
SET ROLE regress_leases_worker;
SELECT * FROM wf_claim_tasks() \gset failed_
SELECT :'failed_instance_id' = :'ann2' AS worker_has_ann2;
SELECT wf_fail_task(:'failed_task_id', :'failed_token', 'the form is empty', code => 'form_empty', on_fault => 'raise');
\echo :SQLSTATE
SELECT wf_fail_task(:'failed_task_id', :'failed_token', 'the form is empty', code => 'form_empty');
SET ROLE regress_leases_ben;
SELECT wf_fail_task(:'failed_task_id', :'failed_token', 'the form is empty', code => 'form_empty');
\echo :SQLSTATE
SET ROLE regress_leases_ann;
SELECT i.correlation_id, n.sqlstate, n.code, n.message FROM workflow.open_incidents AS n JOIN workflow.instance_list AS i USING (instance_id);

-- A grant that is taken back ends the rights to what the worker holds. The task can be claimed by another role after the lease.
SET ROLE regress_leases_worker;
SELECT * FROM wf_claim_tasks(lease => '1 min') \gset held_
SET ROLE regress_leases_ann;
SELECT wf_revoke('leave', 'regress_leases_worker', '{resume}');
SET ROLE regress_leases_worker;
SELECT wf_extend_task(:'held_task_id', :'held_token');
\echo :SQLSTATE
SELECT wf_complete_task(:'held_task_id', token => :'held_token');
\echo :SQLSTATE
SELECT count(*) FROM wf_claim_tasks(max => 10);
SET ROLE regress_leases_clerk;
SELECT count(*) FROM wf_claim_tasks();
RESET ROLE;
SET workflow.now = '2026-03-01 09:11:00+00';
SET ROLE regress_leases_ann;
SELECT wf_grant('leave', 'regress_leases_clerk', '{resume}');
SET ROLE regress_leases_clerk;
SELECT * FROM wf_claim_tasks() \gset clerk_
SELECT :'clerk_instance_id' = :'clerk1' AS clerk_has_clerk1, :clerk_attempt AS attempt;
SELECT r.sub_status FROM wf_complete_task(:'clerk_task_id', token => :'clerk_token') AS r;
RESET ROLE;
SELECT correlation_id, status FROM workflow.tasks ORDER BY correlation_id;
SELECT * FROM wf_check();
