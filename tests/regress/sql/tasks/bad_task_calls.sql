-- Calls of workers with arguments that make no sense, and with tokens of others: a clear error, and nothing is lost.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
\pset null '(null)'
CREATE ROLE regress_bad_robot;
SELECT wf_define('{"definitionId": "parcel", "root": {"id": "pack", "type": "RunTask", "taskName": "Pack", "retry": {"maxAttempts": 5}}}') \g /dev/null
SELECT count(wf_start('parcel', correlation_id => n::text)) FROM generate_series(1, 3) AS n;
SELECT task_id AS one, token AS one_token FROM wf_claim_tasks('{Pack}', 'ann') \gset
SELECT task_id AS two, token AS two_token FROM wf_claim_tasks('{Pack}', 'ben') \gset
SELECT format('tasks (one, one_token, two, two_token, nothing) AS (VALUES (%L::uuid, %L::uuid, %L::uuid, %L::uuid, %L::uuid))',
    :'one', :'one_token', :'two', :'two_token', '01900000-0000-7000-8000-00000000dead') AS tasks \gset
-- The call with these arguments, and how it ends: its answer, or its error.
CREATE FUNCTION says(call text, tasks text, OUT state text, OUT says text) LANGUAGE plpgsql AS $$
DECLARE
    more text;
    hint text;
BEGIN
    EXECUTE format('WITH %s SELECT c::text FROM tasks, LATERAL %s AS c', tasks, call) INTO says;
    state := '00000';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, says = MESSAGE_TEXT, more = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    says := concat_ws(E'\n', says, nullif(more, ''), nullif(hint, ''));
END $$;
CREATE VIEW now AS SELECT o.task_id, o.attempt, o.worker, b.token, o.lease_until, o.available_at, o.progress, o.last_error, o.assignee
FROM workflow.open_tasks AS o JOIN workflow.bookmarks AS b ON b.id = o.task_id;
CREATE TABLE before AS SELECT * FROM now;

-- Claims.
SELECT c AS "wf_claim_tasks", s.* FROM unnest(ARRAY['max => -1', 'max => -2147483648', 'max => 2147483647',
    'lease => NULL', 'lease => ''999 microseconds''', 'lease => ''178000000 years''', 'lease => ''-178000000 years''',
    '''{pack,""}''']) WITH ORDINALITY AS t (c, n), says(format('wf_claim_tasks(%s)', c), :'tasks') AS s ORDER BY n;
SELECT c AS "wf_claim_task", s.* FROM unnest(ARRAY['one', 'one_token', 'nothing', 'one, lease => ''-1 s''', 'one, ''ann'', ''178000000 years''']) WITH ORDINALITY AS t (c, n),
    says(format('wf_claim_task(%s)', c), :'tasks') AS s ORDER BY n;

-- Heartbeats, and tasks that are given back. With the token of another task, with none that there is, and with both in the wrong order the
-- worker hears that it does not hold the task.
SELECT c AS "wf_extend_task", s.* FROM unnest(ARRAY['NULL, one_token', 'one, one_token, NULL', 'one, one_token, ''0''', 'one, one_token, ''-1 s''', 'one, one_token, ''178000000 years''',
    'one, two_token', 'one, nothing', 'one_token, one']) WITH ORDINALITY AS t (c, n),
    says(format('wf_extend_task(%s)', c), :'tasks') AS s ORDER BY n;
SELECT c AS "wf_release_task", s.* FROM unnest(ARRAY['one, NULL', 'one, two_token', 'one, nothing', 'one_token, one']) WITH ORDINALITY AS t (c, n),
    says(format('wf_release_task(%s)', c), :'tasks') AS s ORDER BY n;

-- Answers.
SELECT c AS "wf_complete_task", s.* FROM unnest(ARRAY['NULL, token => one_token', 'nothing, token => one_token', 'one_token, token => one', 'one, token => two_token', 'one, token => nothing',
    'one', 'one, on_fault => ''maybe'', token => one_token', 'one, on_fault => '''', token => one_token']) WITH ORDINALITY AS t (c, n),
    says(format('wf_complete_task(%s)', c), :'tasks') AS s ORDER BY n;
SELECT c AS "wf_fail_task", s.* FROM unnest(ARRAY['NULL, one_token, ''torn''', 'one, NULL, ''torn''', 'nothing, one_token, ''torn''', 'one, two_token, ''torn''', 'one, nothing, ''torn''',
    'one, one_token, ''torn'', code => ''''', 'one, one_token, ''torn'', code => '' ''', 'one, one_token, ''torn'', code => ''57P01''', 'one, one_token, ''torn'', retry => NULL',
    'one, one_token, ''torn'', retry_in => ''-1 s''', 'one, one_token, ''torn'', retry_in => ''178000000 years''', 'one, one_token, ''torn'', retry_in => ''-178000000 years''',
    'one, one_token, ''torn'', on_fault => ''maybe''']) WITH ORDINALITY AS t (c, n),
    says(format('wf_fail_task(%s)', c), :'tasks') AS s ORDER BY n;
-- In a list one that makes no sense refuses the list, and one with a token of others only itself.
SELECT e AS "wf_complete_tasks", s.* FROM unnest(ARRAY['{"taskid": 1}', '{"token": null}', '{"result": 1, "on_fault": "store"}', '{"error": []}', '{"error": {"message": 7}}', '{"error": {"message": null}}', '{"error": {"mesage": "torn"}}',
    '{"error": {"message": "torn", "detail": 7}}', '{"error": {"message": "torn", "code": " "}}', '{"error": {"message": "torn", "retryIn": 5}}', '{"error": {"message": "torn", "retryIn": "-1 s"}}',
    '{"error": {"message": "torn", "retryIn": "178000000 years"}}', '{"error": {"message": "torn", "retryIn": "soon"}}', '{"error": {"message": "torn", "retry_in": "1 s"}}']::jsonb[]) WITH ORDINALITY AS t (e, n),
    says(format('wf_complete_tasks(jsonb_build_array(jsonb_build_object(''taskId'', one, ''token'', one_token), jsonb_build_object(''taskId'', two, ''token'', two_token) || %L))', e), :'tasks') AS s ORDER BY n;
SELECT outcome, sub_status, message FROM wf_complete_tasks(jsonb_build_array(
    jsonb_build_object('taskId', :'one', 'token', :'two_token', 'result', 1),
    jsonb_build_object('taskId', :'two', 'token', :'one_token', 'error', '{"message": "torn"}'::jsonb),
    jsonb_build_object('taskId', '01900000-0000-7000-8000-00000000dead', 'token', :'one_token')));

-- Limits, grants, people.
SELECT c AS "wf_limit_tasks", s.* FROM unnest(ARRAY['NULL', '''Pack'', -1', '''Pack'', 2147483647', '''Pack'', rate => 0', '''Pack'', rate => 10001', '''Pack'', 1, per => NULL',
    '''Pack'', rate => 1, per => ''0''', '''Pack'', rate => 1, per => ''178000000 years''']) WITH ORDINALITY AS t (c, n),
    says(format('wf_limit_tasks(%s)', c), :'tasks') AS s ORDER BY n;
SELECT c AS "wf_grant_worker", s.* FROM unnest(ARRAY['''''', '''public''', '''regress_bad_robot'', ''{""}''', '''regress_bad_robot'', ''{Pack,""}''',
    '''regress_bad_robot'', NULL, ''''']) WITH ORDINALITY AS t (c, n),
    says(format('wf_grant_worker(%s)', c), :'tasks') AS s ORDER BY n;
SELECT says.* FROM says($$wf_revoke_worker('regress_bad_robot', '{""}')$$, :'tasks');
SELECT c AS "wf_assign_task", s.* FROM unnest(ARRAY['nothing, ''ada''', 'one_token, ''ada''', 'one, ''ada''']) WITH ORDINALITY AS t (c, n),
    says(format('wf_assign_task(%s)', c), :'tasks') AS s ORDER BY n;

-- Waits.
CALL wf_wait_tasks('{Pack}', '178000000 years');
\echo :SQLSTATE
CALL wf_wait_tasks('{Pack}', '-178000000 years');
\echo :SQLSTATE

-- Nothing of it changed anything: leases, attempts and tokens are what they were, and no limit, grant or incident is there.
SELECT count(*) AS tasks FROM before;
SELECT * FROM now EXCEPT SELECT * FROM before;
SELECT (SELECT count(*) FROM workflow.task_limits) AS limits, (SELECT count(*) FROM workflow.worker_grants) AS grants, (SELECT count(*) FROM workflow.incidents) AS incidents;
-- Each worker answers its task, and the third is claimed and answered.
SELECT r.sub_status FROM wf_complete_task(:'one', token => :'one_token') AS r;
SELECT wf_fail_task(:'two', :'two_token', 'torn', retry_in => '100 years');
SELECT attempt, available_at, last_error FROM workflow.open_tasks WHERE task_id = :'two';
SELECT r.sub_status FROM wf_claim_tasks('{Pack}') AS t, wf_complete_task(t.task_id, token => t.token) AS r;
SELECT count(*) AS claimable FROM wf_claim_tasks();
SELECT * FROM wf_check();
DROP ROLE regress_bad_robot;
