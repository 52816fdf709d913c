-- Workers pass over tasks for people, unless the task names their role.
\pset null '(null)'
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
CREATE ROLE regress_inbox_robot;
CREATE ROLE regress_inbox_robots;
CREATE ROLE regress_inbox_plain;
CREATE ROLE regress_inbox_plainer;
GRANT regress_inbox_robots TO regress_inbox_robot;
SELECT wf_grant_usage(role) FROM unnest('{regress_inbox_robot, regress_inbox_plain}'::text[]) AS role;
SELECT * FROM wf_define('{"definitionId": "scan", "inputs": [{"name": "for"}, {"name": "among"}], "root": [{"id": "t", "type": "RunTask", "taskName": "Scan",
    "assignee": {"input": "for"}, "candidates": {"input": "among"}, "deadline": "2026-03-05", "retry": {"maxAttempts": 3, "delay": "1 min"}}]}');
SELECT wf_grant('scan', 'regress_inbox_plain', '{resume}');
SELECT wf_start('scan', '{"for": "ada"}', correlation_id => 'label') AS label \gset
SELECT wf_start('scan', '{"among": ["ada", "ben"]}', correlation_id => 'labels') AS labels \gset
SELECT wf_start('scan', '{"among": ["role:regress_inbox_robots", "role:regress_inbox_plainer"]}', correlation_id => 'role') AS role \gset
SELECT wf_start('scan', correlation_id => 'anybody') AS anybody \gset

-- The owner, who may answer all of them, is given the one that has neither assignee nor candidates; it has a deadline as well.
BEGIN;
SELECT correlation_id, deadline, lease_until FROM wf_claim_tasks(max => 10);
ROLLBACK;
-- So is a role that may resume.
SET ROLE regress_inbox_plain;
BEGIN;
SELECT correlation_id FROM wf_claim_tasks('{Scan}', max => 10);
ROLLBACK;
-- A role that a task names is given that task, and needs no other right for it.
SET ROLE regress_inbox_robot;
SELECT correlation_id, attempt FROM wf_claim_tasks(max => 10, lease => '1 min');
RESET ROLE;
SET workflow.now = '2026-03-02 09:02:00+00';
SET ROLE regress_inbox_robot;
SELECT task_id, token FROM wf_claim_tasks(lease => '1 min') \gset
SELECT wf_extend_task(:'task_id', :'token', lease => '2 min', progress => '1');
SELECT wf_fail_task(:'task_id', :'token', 'no paper');
RESET ROLE;
SET workflow.now = '2026-03-02 09:05:00+00';
SET ROLE regress_inbox_robot;
SELECT task_id, token, attempt FROM wf_claim_tasks(lease => '1 min') \gset
SELECT wf_release_task(:'task_id', :'token');
-- No session waits for work that the claim would not give.
CALL wf_wait_tasks('{Scan}', '1 s');
SELECT task_id, token FROM wf_claim_tasks(lease => '1 min') \gset
CALL wf_wait_tasks('{Scan}', '0 s');
RESET ROLE;

-- A worker without rights has no use for the token.
SET ROLE regress_inbox_plain;
SELECT wf_extend_task(:'task_id', :'token');
\echo :SQLSTATE
SELECT outcome, message FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'task_id', 'token', :'token')));
SELECT wf_fail_task(:'task_id', :'token', 'no');
\echo :SQLSTATE
SELECT wf_release_task(:'task_id', :'token');
\echo :SQLSTATE
-- The role that it is for completes it, and gives the same answer again after a lost COMMIT.
SET ROLE regress_inbox_robot;
SELECT outcome, sub_status FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'task_id', 'token', :'token', 'result', 'scanned')));
SELECT r.sub_status, r.output FROM wf_complete_task(:'task_id', '"scanned"', token => :'token') AS r;
SET ROLE regress_inbox_plain;
SELECT wf_complete_task(:'task_id', '"scanned"', token => :'token');
\echo :SQLSTATE

-- A task is claimed by whom it is assigned to by then.
RESET ROLE;
SELECT wf_assign_task(task_id, 'role:regress_inbox_robot') FROM workflow.open_tasks WHERE correlation_id = 'anybody';
SET ROLE regress_inbox_plain;
SELECT count(*) FROM wf_claim_tasks();
SET ROLE regress_inbox_robot;
SELECT correlation_id, priority FROM wf_claim_tasks();
RESET ROLE;
SELECT wf_assign_task(task_id, 'role:postgres') FROM workflow.open_tasks WHERE correlation_id = 'label';
SELECT correlation_id FROM wf_claim_tasks(max => 10);
SELECT correlation_id, assignee, candidates, attempt FROM workflow.open_tasks ORDER BY task_id;
SELECT * FROM wf_check();
