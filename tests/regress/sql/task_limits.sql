-- Limits of tasks: how many of a name workers hold at once and begin in a period, together and for each value of a key.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SELECT wf_define('{"definitionId": "mail", "root": {"id": "send", "type": "RunTask", "taskName": "Send mail", "priority": {"input": "priority"},
    "payload": {"object": {"customer": {"input": "customer"}}}, "retry": {"maxAttempts": 3, "delay": "10 s"}}}') \g /dev/null
CREATE FUNCTION mail(customer text, number integer DEFAULT 1, priority integer DEFAULT 0) RETURNS bigint LANGUAGE sql
BEGIN ATOMIC
    SELECT count(wf_start('mail', jsonb_build_object('customer', customer, 'priority', priority))) FROM generate_series(1, number);
END;
CREATE FUNCTION claims(number integer, lease interval DEFAULT '1 min') RETURNS text LANGUAGE sql
BEGIN ATOMIC
    SELECT string_agg(payload ->> 'customer', ' ') FROM wf_claim_tasks('{Send mail}', max => number, lease => lease);
END;
CREATE VIEW held AS SELECT b.id, b.token, t.payload ->> 'customer' AS customer FROM workflow.bookmarks b JOIN workflow.tasks t USING (id)
WHERE b.lease_until > current_setting('workflow.now')::timestamptz;

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

-- Three in a minute, sliding. A task that is given back has begun, and counts.
SELECT wf_limit_tasks('Send mail', rate => 3, per => '1 min');
SELECT mail('ann', 9);
SELECT claims(2);
SELECT wf_release_task(id, token) FROM held LIMIT 1;
SET workflow.now = '2026-03-01 09:08:40+00';
SELECT claims(10);
SELECT claims(10);
SET workflow.now = '2026-03-01 09:09:00+00';
SELECT claims(10);
SET workflow.now = '2026-03-01 09:09:40+00';
SELECT claims(10);
-- A lower rate remembers the last claims.
SET workflow.now = '2026-03-01 09:09:59+00';
SELECT wf_limit_tasks('Send mail', rate => 1, per => '1 min');
SELECT claims(10);
SET workflow.now = '2026-03-01 09:10:40+00';
SELECT claims(10);
SELECT count(wf_cancel(id)) FROM workflow.instances WHERE sub_status = 'Suspended';
SELECT wf_limit_tasks('Send mail');

-- One for each customer, three in all. Tasks whose customer is full are passed over; those without customer have only the limit in all.
SELECT wf_limit_tasks('Send mail', 1, key => 'customer'), wf_limit_tasks('Send mail', 3);
SELECT mail('ann', 20);
SELECT mail('bob', 20);
SELECT mail(NULL, 1);
SELECT mail('cid', 2);
SELECT name, key, concurrency FROM workflow.task_limits ORDER BY key;
SELECT count(*), count(DISTINCT payload ->> 'customer') AS customers FROM wf_claim_tasks('{Send mail}', max => 10);
SELECT customer FROM held ORDER BY customer;
SELECT claims(10);
SELECT r.sub_status FROM held AS h, wf_complete_task(h.id, token => h.token) AS r WHERE customer = 'bob';
SELECT claims(10);
SELECT r.sub_status FROM held AS h, wf_complete_task(h.id, token => h.token) AS r WHERE customer IS NULL;
SELECT claims(10);
SELECT * FROM wf_check();
-- Another member takes the place of the key. Nothing has it, so the limit in all is left.
SELECT wf_limit_tasks('Send mail', 1, key => 'region');
SELECT name, key, concurrency FROM workflow.task_limits ORDER BY key;
SELECT r.sub_status FROM held AS h, wf_complete_task(h.id, token => h.token) AS r;
SELECT claims(10);
SELECT * FROM wf_check();
SELECT wf_limit_tasks('Send mail', key => 'region'), wf_limit_tasks('Send mail');
SELECT count(*) AS slots FROM workflow.slots;
SELECT count(wf_cancel(id)) FROM workflow.instances WHERE sub_status = 'Suspended';

-- Values that are not short texts are keys as well.
SELECT wf_define('{"definitionId": "any", "root": {"id": "work", "type": "RunTask", "taskName": "Any", "payload": {"input": "payload"}}}') \g /dev/null
SELECT wf_limit_tasks('Any', 1, key => 'k');
SELECT count(wf_start('any', jsonb_build_object('payload', jsonb_build_object('k', v))))
FROM unnest(ARRAY['1', '1.0', '"1"', '[1]', '[1]', 'true', to_jsonb(repeat('long', 1000))::text, to_jsonb(repeat('long', 1000))::text]::jsonb[]) AS v;
SELECT left(payload ->> 'k', 10) AS k FROM wf_claim_tasks('{Any}', max => 10) ORDER BY 1;
SELECT count(*) FROM wf_claim_tasks('{Any}', max => 10);
SELECT wf_limit_tasks('Any', key => 'k');
SELECT count(*) FROM wf_claim_tasks('{Any}', max => 10);

-- A limit counts the definitions of its owner, whichever role claims.
CREATE ROLE other LOGIN;
SELECT wf_grant_usage('other');
SET ROLE other;
SELECT wf_define('{"definitionId": "others", "root": {"id": "work", "type": "RunTask", "taskName": "Shared"}}') \g /dev/null
SELECT count(wf_start('others')) FROM generate_series(1, 3);
SELECT wf_limit_tasks('Shared', 1);
RESET ROLE;
SELECT wf_define('{"definitionId": "mine", "root": {"id": "work", "type": "RunTask", "taskName": "Shared"}}') \g /dev/null
SELECT count(wf_start('mine')) FROM generate_series(1, 3);
SELECT name, concurrency, owner FROM workflow.task_limits;
SELECT definition_id FROM wf_claim_tasks('{Shared}', max => 10) ORDER BY 1;
SELECT count(*) FROM wf_claim_tasks('{Shared}');
-- It goes with the definition: the new owner has no limit.
SELECT wf_set_owner('definition', 'others', session_user);
SELECT definition_id FROM wf_claim_tasks('{Shared}', max => 10) ORDER BY 1;
SET ROLE other;
SELECT wf_limit_tasks('Shared');
SELECT count(*) FROM workflow.task_limits;
RESET ROLE;
SELECT * FROM wf_check();

-- What is refused.
SELECT wf_limit_tasks(NULL, 1);
SELECT wf_limit_tasks('', 1);
SELECT wf_limit_tasks('Send mail', 1, key => '');
SELECT wf_limit_tasks('Send mail', 0);
SELECT wf_limit_tasks('Send mail', 10001);
SELECT wf_limit_tasks('Send mail', rate => -1);
SELECT wf_limit_tasks('Send mail', rate => 1, per => NULL);
SELECT wf_limit_tasks('Send mail', rate => 1, per => '-1 s');
SELECT wf_limit_tasks('Send mail', rate => 1, per => '1000 years');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT wf_limit_tasks('Send mail', 1);
ROLLBACK;
-- Both at once: two at a time, and three in a minute. A claim that has a place, but no turn in the minute, leaves the place to others.
SELECT wf_limit_tasks('Send mail', 2, rate => 3, per => '1 min');
SELECT count(wf_cancel(instance_id)) > 0 AS emptied FROM workflow.open_tasks;
SELECT mail('zoe', 6);
SELECT claims(10);
SELECT count(wf_complete_task(id, token => token)) FROM held;
SELECT claims(10);
SELECT count(wf_complete_task(id, token => token)) FROM held;
SELECT claims(10);
SELECT place, cardinality(tasks) AS tasks FROM workflow.slots ORDER BY place, n;
SET workflow.now = '2026-03-01 13:00:00+00';
SELECT claims(10);
SELECT wf_limit_tasks('Send mail');
-- Rolled back, nothing is limited.
BEGIN;
SELECT wf_limit_tasks('Shared', 1);
ROLLBACK;
SELECT count(wf_start('mine')) FROM generate_series(1, 3);
SELECT count(*) FROM wf_claim_tasks('{Shared}', max => 10);
SELECT count(*) AS slots FROM workflow.slots;
SELECT * FROM wf_check();
DROP VIEW held;
DROP FUNCTION claims, mail;
DROP OWNED BY other;
DROP ROLE other;
