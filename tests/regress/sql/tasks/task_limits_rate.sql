-- Limits of tasks: how many of a name workers begin in a period, sliding.
\i tests/regress/include/task_limits.sql
SET workflow.now = '2026-03-01 09:08:01+00';

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

-- Both at once: two at a time, and three in a minute. A claim that has a place, but no turn in the minute, leaves the place to others.
SELECT wf_limit_tasks('Send mail', 2, rate => 3, per => '1 min');
SELECT mail('zoe', 6);
SELECT claims(10);
SELECT count(wf_complete_task(id, token => token)) FROM held;
SELECT claims(10);
SELECT count(wf_complete_task(id, token => token)) FROM held;
SELECT claims(10);
SELECT place, task IS NOT NULL AS has_task FROM workflow.slots ORDER BY place, n;
SET workflow.now = '2026-03-01 13:00:00+00';
SELECT claims(10);
SELECT wf_limit_tasks('Send mail');
SELECT * FROM wf_check();
