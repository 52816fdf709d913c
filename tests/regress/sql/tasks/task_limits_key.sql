-- Limits of tasks for each value of a key, and beside it for all of a name.
\i tests/regress/include/task_limits.sql

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

-- The first customer is full and has more tasks than a claim reads at first. Of all the others the most urgent task comes next.
SELECT wf_limit_tasks('Send mail', 1, key => 'customer');
SELECT mail('ann', 60, 9);
SELECT claims(1);
SELECT sum(mail('customer ' || n)) FROM generate_series(1, 200) AS n;
SELECT mail('urgent', 1, 5);
SELECT claims(1);
SELECT wf_limit_tasks('Send mail', key => 'customer');
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
SELECT * FROM wf_check();
