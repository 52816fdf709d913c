-- A worker claims a task for a time, its lease. The token of the claim proves that the worker holds the task.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
\pset null '(null)'
SELECT * FROM wf_define('{
    "definitionId": "parcel", "variables": {"Answer": null},
    "root": [
        {"id": "pack", "type": "RunTask", "taskName": "Pack", "payload": {"object": {"parcel": {"input": "parcel"}}},
         "priority": {"input": "priority"}, "result": {"var": "Answer"}},
        {"id": "thank", "type": "WriteLine", "text": "thanks"}]
}');
SELECT * FROM wf_define('{"definitionId": "letter", "root": {"id": "stamp", "type": "RunTask", "taskName": "Stamp"}}');
SELECT wf_start('parcel', '{"parcel": 1}', correlation_id => 'p1') AS p1 \gset
SET workflow.now = '2026-03-01 09:01:00+00';
SELECT wf_start('letter', correlation_id => 'l1') AS l1 \gset
SET workflow.now = '2026-03-01 09:02:00+00';
SELECT wf_start('parcel', '{"parcel": 2, "priority": 5}', correlation_id => 'p2') AS p2 \gset
SET workflow.now = '2026-03-01 09:03:00+00';
SELECT wf_start('parcel', '{"parcel": 3, "priority": -1}', correlation_id => 'p3') AS p3 \gset
SET workflow.now = '2026-03-01 09:10:00+00';

-- A claim takes tasks with a higher priority first, then older ones. Without names it takes all that the role may. A task is claimed once.
BEGIN;
SELECT ordinality, name, payload, correlation_id, definition_id, activity_id, owner, attempt, max_attempts, priority, lease_until, progress
FROM wf_claim_tasks(max => 10) WITH ORDINALITY ORDER BY ordinality;
SELECT count(*) FROM wf_claim_tasks(max => 10);
ROLLBACK;
-- By name, and no more than the worker asked for.
BEGIN;
SELECT correlation_id FROM wf_claim_tasks('{Weigh,Pack}', max => 2) WITH ORDINALITY ORDER BY ordinality;
ROLLBACK;
SELECT count(*) FROM wf_claim_tasks('{Weigh}');
SELECT count(*) FROM wf_claim_tasks('{}');
-- A claim that is rolled back counts no attempt.
SELECT correlation_id, priority, attempt, available_at, lease_until, worker, progress FROM workflow.open_tasks ORDER BY created_at;

-- Two workers, two tasks. The view shows who holds which, and until when.
SELECT * FROM wf_claim_tasks(worker => 'ada') \gset ada_
SELECT * FROM wf_claim_tasks('{Stamp}', 'bob', lease => '1 hour') \gset bob_
SELECT :'ada_instance_id' = :'p2' AS ada_has_p2, :'bob_instance_id' = :'l1' AS bob_has_l1;
SELECT correlation_id, attempt, lease_until, worker FROM workflow.open_tasks ORDER BY created_at;

-- A heartbeat gives the new end of the lease. The progress that it brings stays until another one brings progress.
SET workflow.now = '2026-03-01 09:12:00+00';
SELECT wf_extend_task(:'ada_task_id', :'ada_token', progress => '{"items": 3}');
SELECT wf_extend_task(:'ada_task_id', :'ada_token', '10 min');
SELECT lease_until, progress FROM workflow.open_tasks WHERE task_id = :'ada_task_id';
-- A heartbeat can shorten the lease.
SELECT wf_extend_task(:'ada_task_id', :'ada_token', '6 min');

-- The token of another task proves nothing, and changes nothing.
SELECT wf_complete_task(:'ada_task_id', '{"by": "Bob"}', token => :'bob_token');
\echo :SQLSTATE
SELECT wf_fail_task(:'ada_task_id', :'bob_token', 'no box is large enough');
\echo :SQLSTATE
SELECT wf_extend_task(:'ada_task_id', :'bob_token');
SELECT wf_release_task(:'ada_task_id', :'bob_token');
SELECT correlation_id, attempt, lease_until, worker FROM workflow.open_tasks ORDER BY created_at;

-- Without a token the task cannot be completed while its lease runs, nor its bookmark resumed.
SELECT wf_complete_task(:'ada_task_id', '{"by": "Grace"}');
\echo :SQLSTATE
SELECT wf_resume(:'ada_task_id', '{"by": "Grace"}');
\echo :SQLSTATE
SELECT wf_resume(:'ada_task_id', '{"by": "Grace"}', missing_ok => true);
\echo :SQLSTATE

-- With its token it can. The same answer again has the same result, and runs nothing; another answer comes too late.
SELECT to_jsonb(r) AS answered, r.sub_status FROM wf_complete_task(:'ada_task_id', '{"by": "Ada"}', token => :'ada_token') AS r \gset
\echo :sub_status
SELECT to_jsonb(r) = :'answered' AS same FROM wf_complete_task(:'ada_task_id', '{"by": "Ada"}', token => :'ada_token') AS r;
SELECT count(*) AS lines FROM workflow.journal WHERE instance_id = :'p2' AND event = 'Line';
SELECT variables -> 'Answer' AS answer FROM workflow.instance_list WHERE instance_id = :'p2';
SELECT wf_complete_task(:'ada_task_id', '{"by": "Ada", "again": true}', token => :'ada_token');
\echo :SQLSTATE
SELECT wf_complete_task(:'ada_task_id', '{"by": "Ada"}');
\echo :SQLSTATE
SELECT wf_complete_task(:'ada_task_id', '{"by": "Ada"}', token => :'bob_token');
\echo :SQLSTATE
SELECT wf_fail_task(:'ada_task_id', :'ada_token', 'no tape is left');
\echo :SQLSTATE
SELECT wf_extend_task(:'ada_task_id', :'ada_token');
SELECT wf_release_task(:'ada_task_id', :'ada_token');

-- A task that is given back can be claimed at once. That attempt is not counted.
SELECT wf_release_task(:'bob_task_id', :'bob_token');
SELECT attempt, available_at, lease_until, worker FROM workflow.open_tasks WHERE task_id = :'bob_task_id';
SELECT wf_release_task(:'bob_task_id', :'bob_token');
SELECT wf_extend_task(:'bob_task_id', :'bob_token');
SELECT wf_complete_task(:'bob_task_id', token => :'bob_token');
\echo :SQLSTATE

-- Or it can be claimed only later. No attempt is counted then either.
BEGIN;
SELECT * FROM wf_claim_tasks('{Stamp}', 'bob') \gset bob_
SELECT wf_release_task(:'bob_task_id', :'bob_token', '-1 s');
\echo :SQLSTATE
ROLLBACK;
BEGIN;
SELECT * FROM wf_claim_tasks('{Stamp}', 'bob') \gset bob_
SELECT wf_release_task(:'bob_task_id', :'bob_token', retry_in => '30 s');
SELECT attempt, available_at, lease_until, worker FROM workflow.open_tasks WHERE task_id = :'bob_task_id';
SELECT wf_release_task(:'bob_task_id', :'bob_token', retry_in => '30 s');
SET LOCAL workflow.now = '2026-03-01 09:12:29+00';
SELECT count(*) FROM wf_claim_tasks('{Stamp}');
SET LOCAL workflow.now = '2026-03-01 09:12:30+00';
SELECT task_id = :'bob_task_id' AS is_it, attempt FROM wf_claim_tasks('{Stamp}', 'cleo');
ROLLBACK;

-- A lease that has ended makes the task claimable again, and not before.
SELECT * FROM wf_claim_tasks('{Stamp}', 'bob', lease => '1 min') \gset old_
\echo :old_attempt
SET workflow.now = '2026-03-01 09:12:59+00';
SELECT count(*) FROM wf_claim_tasks('{Stamp}');
SET workflow.now = '2026-03-01 09:13:00+00';
SELECT wf_run_due();
SELECT * FROM wf_claim_tasks('{Stamp}', 'cleo', lease => '1 min') \gset new_
\echo :new_attempt
SELECT :'old_task_id' = :'new_task_id' AS same_task, :'old_token' = :'new_token' AS same_token;
SELECT wf_complete_task(:'old_task_id', token => :'old_token');
\echo :SQLSTATE
SELECT wf_fail_task(:'old_task_id', :'old_token', 'no stamp is left');
\echo :SQLSTATE
SELECT wf_extend_task(:'old_task_id', :'old_token');
SELECT wf_release_task(:'old_task_id', :'old_token');
SELECT attempt, lease_until, worker FROM workflow.open_tasks WHERE task_id = :'old_task_id';

-- As long as no other worker has claimed the task, the token counts after the end of the lease: for a heartbeat, and for the answer.
SET workflow.now = '2026-03-01 09:20:00+00';
SELECT wf_extend_task(:'new_task_id', :'new_token', '1 min', '"stamped"');
SELECT count(*) FROM wf_claim_tasks('{Stamp}');
SET workflow.now = '2026-03-01 09:30:00+00';
SELECT r.sub_status FROM wf_complete_task(:'new_task_id', token => :'new_token') AS r;

-- After the lease a call without a token completes the task, and the worker comes too late.
SELECT wf_start('letter', correlation_id => 'l2') AS l2 \gset
SELECT * FROM wf_claim_tasks('{Stamp}', 'bob', lease => '1 min') \gset bob_
SET workflow.now = '2026-03-01 09:31:00+00';
SELECT r.sub_status FROM wf_complete_task(:'bob_task_id', '{"by": "Grace"}') AS r;
SELECT wf_complete_task(:'bob_task_id', '{"by": "Bob"}', token => :'bob_token');
\echo :SQLSTATE
SELECT result FROM workflow.tasks WHERE id = :'bob_task_id';

-- A stimulus that meets a claimed task waits in the queue. When the lease has ended, it is delivered.
SELECT * FROM wf_claim_tasks('{Pack}', 'dan', lease => '10 min') \gset dan_
SELECT :'dan_instance_id' = :'p1' AS dan_has_p1;
SELECT resumed, queued_id IS NOT NULL AS queued
FROM wf_enqueue_bookmark(activity_id => 'pack', correlation_id => 'p1', input => '{"by": "stimulus"}', keep_for => '1 day');
SELECT wf_extend_task(:'dan_task_id', :'dan_token', '20 min');
SET workflow.now = '2026-03-01 09:45:00+00';
SELECT wf_run_due();
SELECT count(*) FROM workflow.bookmark_queue;
SET workflow.now = '2026-03-01 09:51:00+00';
SELECT wf_run_due() \g /dev/null
SELECT count(*) FROM workflow.bookmark_queue;
SELECT status, result FROM workflow.tasks WHERE id = :'dan_task_id';
SELECT wf_complete_task(:'dan_task_id', '{"by": "Dan"}', token => :'dan_token');
\echo :SQLSTATE

-- A stimulus without keep_for waits for the end of the lease as well. If the worker answers before, the stimulus is a dead letter.
SELECT * FROM wf_claim_tasks('{Pack}', 'dan') \gset dan_
SELECT resumed, queued_id IS NOT NULL AS queued FROM wf_send_stimulus('RunTask', jsonb_build_object('TaskId', :'dan_task_id'));
SELECT count(*) FROM workflow.bookmark_queue;
SELECT r.sub_status FROM wf_complete_task(:'dan_task_id', '{"by": "Dan"}', token => :'dan_token') AS r;
SELECT wf_run_due() \g /dev/null
SELECT (SELECT count(*) FROM workflow.bookmark_queue) AS queued, (SELECT count(*) FROM workflow.dead_letter_list) AS given_up;
SELECT * FROM wf_check();

-- Arguments that make no sense.
SELECT * FROM wf_claim_tasks(max => 0);
\echo :SQLSTATE
SELECT * FROM wf_claim_tasks(max => 1001);
\echo :SQLSTATE
SELECT * FROM wf_claim_tasks(max => NULL);
\echo :SQLSTATE
SELECT * FROM wf_claim_tasks(lease => '0');
\echo :SQLSTATE
SELECT * FROM wf_claim_tasks(lease => '-1 s');
\echo :SQLSTATE
SELECT * FROM wf_claim_tasks(lease => '30 days 1 microsecond');
\echo :SQLSTATE
SELECT * FROM wf_claim_tasks('{Pack,NULL}');
\echo :SQLSTATE
SELECT wf_extend_task(:'dan_task_id', :'dan_token', '31 days');
\echo :SQLSTATE
SELECT wf_extend_task(:'dan_task_id', NULL);
\echo :SQLSTATE
SELECT wf_release_task(NULL, :'dan_token');
\echo :SQLSTATE
SELECT wf_complete_task('01900000-0000-7000-8000-00000000dead', token => :'dan_token');
\echo :SQLSTATE
SELECT wf_extend_task('01900000-0000-7000-8000-00000000dead', :'dan_token'), wf_release_task('01900000-0000-7000-8000-00000000dead', :'dan_token');

-- The explanation says which worker holds the task, and when it can be tried again.
SELECT wf_start('letter', correlation_id => 'l3') AS l3 \gset
SELECT * FROM wf_claim_tasks('{Stamp}', 'bob') \gset bob_
SELECT regexp_replace(line, '[0-9a-f-]{36}', '(id)') AS line FROM wf_explain(:'l3') AS line OFFSET 3;
SELECT wf_release_task(:'bob_task_id', :'bob_token');
SELECT regexp_replace(line, '[0-9a-f-]{36}', '(id)') AS line FROM wf_explain(:'l3') AS line OFFSET 3;

-- A transaction that does not see what others have claimed since it began cannot claim.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM wf_claim_tasks();
\echo :SQLSTATE
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM wf_claim_tasks();
\echo :SQLSTATE
ROLLBACK;

-- A database that is being filled from a dump gives out no tasks, nor does a copy. The first due time says which database this is.
SET workflow.restoring = on;
SELECT * FROM wf_claim_tasks();
\echo :SQLSTATE
RESET workflow.restoring;
SELECT * FROM wf_define('{"definitionId": "later", "root": {"type": "Delay", "timeSpan": "01:00:00"}}');
SELECT sub_status FROM wf_run('later');
BEGIN;
UPDATE workflow.identity SET database = 0;
SELECT * FROM wf_claim_tasks();
\echo :SQLSTATE
ROLLBACK;
