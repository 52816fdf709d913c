-- Limits of tasks: how many of a name workers hold at once.
\i tests/regress/include/task_limits.sql

-- Two at once. The tasks that are open get the limit, too.
SELECT mail('ann', 3);
SELECT wf_limit_tasks('Send mail', 2);
SELECT mail('bob');
SELECT name, key, concurrency, rate, per FROM workflow.task_limits;
-- The tasks are there to be claimed, whether there is a place for them or not.
SELECT payload ->> 'customer' AS customer, available_at FROM workflow.open_tasks;
SELECT claims(10);
SELECT claims(10);

-- Whatever ends a lease frees its place: an answer,
SELECT r.sub_status FROM (SELECT * FROM held LIMIT 1) AS h, wf_complete_task(h.id, token => h.token) AS r;
SELECT claims(10);
-- a failure, also if the task itself is to wait,
SELECT wf_fail_task(id, token, 'refused', retry_in => '1 hour') FROM held LIMIT 1;
SELECT claims(10);
-- a task that is given back, which is the first again,
SELECT wf_release_task(id, token) FROM held WHERE customer = 'bob';
SELECT claims(10);
-- a cancelled instance, a deleted one,
SELECT mail('cid', 2);
SELECT wf_cancel(instance_id) FROM workflow.open_tasks o WHERE task_id = (SELECT id FROM held WHERE customer = 'bob');
SELECT claims(10);
SELECT wf_delete_instance(instance_id) FROM workflow.open_tasks o WHERE task_id = (SELECT id FROM held WHERE customer = 'cid');
SELECT claims(10);
-- and the end of the lease. No worker needs to notice it.
SELECT claims(10);
SET workflow.now = '2026-03-01 09:01:00+00';
SELECT claims(1);
SELECT * FROM wf_check();

-- A heartbeat that comes too late finds its place taken, and says so. The answer still counts.
SELECT mail('eve', 2);
SELECT id AS old_id, token AS old_token FROM held \gset
SET workflow.now = '2026-03-01 09:02:00+00';
SELECT wf_extend_task(:'old_id', :'old_token') IS NOT NULL AS extended;
SET workflow.now = '2026-03-01 09:08:00+00';
SELECT count(*) FROM wf_claim_tasks('{Send mail}', max => 10, lease => '1 hour');
SELECT id AS old_id, token AS old_token FROM held LIMIT 1 \gset
SELECT wf_extend_task(:'old_id', :'old_token', '1 s') IS NOT NULL AS shortened;
SET workflow.now = '2026-03-01 09:08:01+00';
SELECT mail('fay', priority => 9);
SELECT claims(1);
SELECT wf_extend_task(:'old_id', :'old_token');
SELECT r.sub_status FROM wf_complete_task(:'old_id', token => :'old_token') AS r;
SELECT * FROM wf_check();

-- A lower limit counts the leases that there are: of two, both must end.
SELECT wf_limit_tasks('Send mail', 1);
SELECT count(*) FROM held;
SELECT mail('gus');
SELECT r.sub_status FROM (SELECT * FROM held LIMIT 1) AS h, wf_complete_task(h.id, token => h.token) AS r;
SELECT claims(10);
SELECT r.sub_status FROM (SELECT * FROM held LIMIT 1) AS h, wf_complete_task(h.id, token => h.token) AS r;
SELECT claims(10);
-- Without limit everything can be claimed.
SELECT wf_limit_tasks('Send mail');
SELECT name, key, concurrency FROM workflow.task_limits;
SELECT mail('gus', 2);
SELECT claims(10);
SELECT count(*) AS limits FROM workflow.limits;
SELECT count(*) AS slots FROM workflow.slots;
SELECT count(wf_cancel(id)) FROM workflow.instances WHERE sub_status = 'Suspended';
SELECT * FROM wf_check();
