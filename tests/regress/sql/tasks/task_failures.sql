-- A worker reports that an attempt failed. The retry policy of the activity says whether the task can be claimed again, or the activity faults.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
\pset null '(null)'
SELECT * FROM wf_define('{
    "definitionId": "pay",
    "root": [
        {"id": "charge", "type": "RunTask", "taskName": "Charge",
         "retry": {"maxAttempts": 3, "delay": "1 minute", "backoff": "exponential", "except": ["card_declined"]}},
        {"id": "thank", "type": "WriteLine", "text": "thanks"}]
}');
SELECT wf_start('pay', correlation_id => 'p1') AS p1 \gset

-- The task stays open. The next worker can claim it after the delay, and sees the progress of the first.
SELECT * FROM wf_claim_tasks('{Charge}', 'ada') \gset one_
\echo :one_attempt of :one_max_attempts
SELECT wf_extend_task(:'one_task_id', :'one_token', progress => '{"asked": true}');
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the bank is closed', code => 'bank_closed');
SELECT attempt, available_at, lease_until, worker, progress FROM workflow.open_tasks;
SELECT regexp_replace(line, '[0-9a-f-]{36}', '(id)') AS line FROM wf_explain(:'p1') AS line OFFSET 3;
SELECT count(*) AS claimed, (SELECT count(*) FROM workflow.incidents) AS incidents FROM wf_claim_tasks('{Charge}');
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the bank is closed', code => 'bank_closed');
\echo :SQLSTATE
SELECT wf_complete_task(:'one_task_id', token => :'one_token');
\echo :SQLSTATE
SET workflow.now = '2026-03-01 09:01:00+00';
SELECT * FROM wf_claim_tasks('{Charge}', 'bob') \gset two_
\echo :two_attempt of :two_max_attempts, :two_progress
-- The worker can say when the next attempt makes sense, instead of the policy.
SELECT wf_fail_task(:'two_task_id', :'two_token', 'the bank is closed', retry_in => '1 hour');
SELECT attempt, available_at FROM workflow.open_tasks;
SET workflow.now = '2026-03-01 10:00:59+00';
SELECT count(*) FROM wf_claim_tasks('{Charge}');
SET workflow.now = '2026-03-01 10:01:00+00';
SELECT * FROM wf_check();

-- The failure of the last attempt is the fault of the activity: an incident with the words of the worker.
SELECT * FROM wf_claim_tasks('{Charge}', 'ada') \gset three_
\echo :three_attempt of :three_max_attempts
SELECT wf_fail_task(:'three_task_id', :'three_token', 'the bank is closed', 'It opens at noon.', 'bank_closed');
SELECT activity_id, sqlstate, code, message, detail, attempts FROM workflow.open_incidents;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'p1';
SELECT status, result, completed_at FROM workflow.tasks WHERE id = :'three_task_id';
-- The same report again has the same answer, and no second incident. An answer with that token comes too late.
SELECT wf_fail_task(:'three_task_id', :'three_token', 'the bank is closed', 'It opens at noon.', 'bank_closed');
SELECT count(*) FROM workflow.incidents;
SELECT wf_complete_task(:'three_task_id', token => :'three_token');
\echo :SQLSTATE
SELECT wf_extend_task(:'three_task_id', :'three_token'), wf_release_task(:'three_task_id', :'three_token');

-- wf_retry opens a new task, whose attempts are counted anew.
SELECT sub_status FROM wf_retry(:'p1');
SELECT name, attempt, available_at, progress FROM workflow.open_tasks;
SELECT status FROM workflow.tasks WHERE instance_id = :'p1' ORDER BY id;
SELECT * FROM wf_claim_tasks('{Charge}') \gset retried_
\echo :retried_attempt of :retried_max_attempts
SELECT r.sub_status FROM wf_complete_task(:'retried_task_id', token => :'retried_token') AS r;

-- retry => false, and a code that the policy excepts, are not followed by another attempt.
SELECT wf_start('pay', correlation_id => 'p2') AS p2 \gset
SELECT * FROM wf_claim_tasks('{Charge}') \gset one_
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the account does not exist', retry => false);
SELECT wf_start('pay', correlation_id => 'p3') AS p3 \gset
SELECT * FROM wf_claim_tasks('{Charge}') \gset one_
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the card was declined', code => 'card_declined', retry_in => '1 s');
-- on names the codes that are followed by another attempt.
SELECT * FROM wf_define('{"definitionId": "mail", "root": {"id": "send", "type": "RunTask", "taskName": "Send", "retry": {"maxAttempts": 5, "delay": "0 s", "on": ["busy"]}}}');
SELECT wf_start('mail', correlation_id => 'm1') AS m1 \gset
SELECT * FROM wf_claim_tasks('{Send}') \gset one_
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the line is busy', code => 'busy');
SELECT * FROM wf_claim_tasks('{Send}') \gset one_
\echo :one_attempt of :one_max_attempts
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the address does not exist', code => 'unknown_address');
-- Without a policy there is no other attempt.
SELECT * FROM wf_define('{"definitionId": "print", "root": {"id": "print", "type": "RunTask", "taskName": "Print"}}');
SELECT wf_start('print', correlation_id => 'a1') AS a1 \gset
SELECT * FROM wf_claim_tasks('{Print}') \gset one_
SELECT wf_fail_task(:'one_task_id', :'one_token', 'no paper is left');
SELECT i.correlation_id, n.sqlstate, n.code, n.message, n.detail
FROM workflow.open_incidents AS n JOIN workflow.instance_list AS i USING (instance_id) ORDER BY i.correlation_id;

-- on_fault => 'raise' raises what would become the incident, with the code in the detail. The worker still holds the task then.
SELECT wf_start('print', correlation_id => 'a2') AS a2 \gset
SELECT * FROM wf_claim_tasks('{Print}', 'ada') \gset one_
SELECT wf_fail_task(:'one_task_id', :'one_token', 'no paper is left', 'Tray 2.', 'no_paper', on_fault => 'raise');
\echo :SQLSTATE
SELECT attempt, lease_until, worker FROM workflow.open_tasks WHERE task_id = :'one_task_id';

-- What looks like a SQLSTATE, or like a class of these, is no code. Other arguments that make no sense.
SELECT wf_fail_task(:'one_task_id', :'one_token', 'no paper is left', code => 'P0001');
\echo :SQLSTATE
SELECT wf_fail_task(:'one_task_id', :'one_token', 'no paper is left', code => '22');
\echo :SQLSTATE
SELECT wf_fail_task(:'one_task_id', :'one_token', NULL);
\echo :SQLSTATE
SELECT wf_fail_task(:'one_task_id', :'one_token', 'no paper is left', retry_in => '-1 s');
\echo :SQLSTATE

-- Try takes the fault when the attempts are used up. Its catch names it by the code.
SELECT * FROM wf_define('{
    "definitionId": "order", "variables": {"What": null},
    "root": {"id": "try", "type": "Try",
        "body": {"id": "charge", "type": "RunTask", "taskName": "Debit", "retry": {"maxAttempts": 2, "delay": "0 s"}},
        "catch": [{"on": ["card_declined"], "variable": "What", "body": {"id": "ask", "type": "RunTask", "taskName": "Another card"}}]}
}');
SELECT wf_start('order', correlation_id => 'o1') AS o1 \gset
SELECT * FROM wf_claim_tasks('{Debit}') \gset one_
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the card was declined', 'Limit reached.', 'card_declined', on_fault => 'raise');
SELECT * FROM wf_claim_tasks('{Debit}') \gset one_
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the card was declined', 'Limit reached.', 'card_declined', on_fault => 'raise');
SELECT sub_status, incident_count, jsonb_pretty(variables -> 'What') AS what FROM workflow.instance_list WHERE instance_id = :'o1';
SELECT name, status FROM workflow.tasks WHERE instance_id = :'o1' ORDER BY id;
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the card was declined', 'Limit reached.', 'card_declined');

-- The lease of the last attempt has a bookmark, due at its end. A heartbeat moves it, no stimulus meets it, and a release removes it.
SET workflow.now = '2026-03-02 09:00:00+00';
SELECT * FROM wf_define('{"definitionId": "weigh", "root": {"id": "weigh", "type": "RunTask", "taskName": "Weigh", "retry": {"maxAttempts": 1}, "timeout": "1 day"}}');
SELECT wf_start('weigh', correlation_id => 'w1') AS w1 \gset
SELECT * FROM wf_claim_tasks('{Weigh}', 'ada') \gset one_
SELECT activity, waits_for, due FROM workflow.waiting WHERE instance = :'w1' ORDER BY waits_for;
SELECT wf_extend_task(:'one_task_id', :'one_token', '1 hour');
SELECT activity, waits_for, due FROM workflow.waiting WHERE instance = :'w1' ORDER BY waits_for;
SELECT resumed FROM wf_enqueue_bookmark(name => 'Workflow.Lease', keep_for => '0');
SELECT * FROM wf_check();
SELECT wf_release_task(:'one_task_id', :'one_token');
SELECT activity, waits_for, due FROM workflow.waiting WHERE instance = :'w1' ORDER BY waits_for;
SELECT * FROM wf_check();

-- Until it has fired, the late answer counts. No other worker can claim the task.
SELECT * FROM wf_claim_tasks('{Weigh}', 'ada') \gset one_
SET workflow.now = '2026-03-02 10:00:00+00';
SELECT count(*) FROM wf_claim_tasks('{Weigh}');
SELECT r.sub_status FROM wf_complete_task(:'one_task_id', token => :'one_token') AS r;
SELECT wf_run_due();

-- When it fires, the activity faults, and the worker comes too late.
SELECT wf_start('weigh', correlation_id => 'w2') AS w2 \gset
SELECT * FROM wf_claim_tasks('{Weigh}', 'ada') \gset one_
SET workflow.now = '2026-03-02 10:05:00+00';
SELECT wf_run_due();
SELECT sqlstate, code, message, detail FROM workflow.open_incidents WHERE instance_id = :'w2';
SELECT status FROM workflow.tasks WHERE id = :'one_task_id';
SELECT wf_complete_task(:'one_task_id', token => :'one_token');
\echo :SQLSTATE
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the scales are broken');
\echo :SQLSTATE
SELECT wf_extend_task(:'one_task_id', :'one_token'), wf_release_task(:'one_task_id', :'one_token');

-- Without a policy workflow.max_leases says which lease is the last one.
SET workflow.max_leases = 2;
SET workflow.now = '2026-03-02 10:10:00+00';
SELECT * FROM wf_claim_tasks('{Print}', 'ada') \gset two_
SELECT :'two_instance_id' = :'a2' AS is_a2, :two_attempt AS attempt;
SELECT waits_for, due FROM workflow.waiting WHERE instance = :'a2' ORDER BY waits_for;
SET workflow.now = '2026-03-02 10:15:00+00';
SELECT wf_run_due();
SELECT sqlstate, code, message FROM workflow.open_incidents WHERE instance_id = :'a2';
RESET workflow.max_leases;

-- What ends the wait otherwise takes task and lease with it: a cancel, and the timeout of the activity.
SELECT wf_start('weigh', correlation_id => 'w3') AS w3 \gset
SELECT * FROM wf_claim_tasks('{Weigh}', lease => '10 days') \gset one_
SELECT wf_start('weigh', correlation_id => 'w4') AS w4 \gset
SELECT * FROM wf_claim_tasks('{Weigh}', lease => '10 days') \gset two_
SELECT wf_cancel(:'w3');
SET workflow.now = '2026-03-03 10:15:00+00';
SELECT wf_run_due();
SELECT correlation_id, status FROM workflow.tasks WHERE instance_id IN (:'w3', :'w4') ORDER BY correlation_id;
SELECT count(*) FROM workflow.waiting WHERE instance IN (:'w3', :'w4');
SELECT wf_extend_task(:'one_task_id', :'one_token'), wf_extend_task(:'two_task_id', :'two_token'), wf_release_task(:'one_task_id', :'one_token');
SELECT wf_complete_task(:'one_task_id', token => :'one_token');
\echo :SQLSTATE
SELECT wf_fail_task(:'one_task_id', :'one_token', 'the scales are broken');
\echo :SQLSTATE

-- wf_complete_tasks takes many answers. An answer that is refused stops no other. Given again, answers that ended a task have the same outcome.
SELECT count(wf_start(d, correlation_id => c)) FROM (VALUES ('print', 'c1'), ('mail', 'c2'), ('print', 'c3'), ('print', 'c4')) AS v (d, c);
CREATE TEMPORARY TABLE held AS SELECT * FROM wf_claim_tasks('{Print,Send}', max => 10);
SELECT jsonb_agg(jsonb_build_object('taskId', task_id, 'token', CASE correlation_id WHEN 'c4' THEN gen_random_uuid() ELSE token END) ||
    CASE correlation_id
        WHEN 'c1' THEN '{"result": {"pages": 3}}'
        WHEN 'c2' THEN '{"error": {"message": "the line is busy", "code": "busy", "retryIn": "1 hour"}}'
        WHEN 'c3' THEN '{"error": {"message": "no paper is left", "detail": "Tray 2.", "code": "no_paper", "retry": false}}'
        ELSE '{}' END::jsonb) AS answers FROM held \gset
SELECT h.correlation_id, a.outcome, a.sub_status, a.message FROM wf_complete_tasks(:'answers') AS a JOIN held AS h USING (task_id) ORDER BY 1;
SELECT h.correlation_id, a.outcome, a.sub_status, a.message FROM wf_complete_tasks(:'answers') AS a JOIN held AS h USING (task_id) ORDER BY 1;
SELECT t.correlation_id, t.status, t.result, o.available_at
FROM workflow.tasks AS t LEFT JOIN workflow.open_tasks AS o ON o.task_id = t.id WHERE t.correlation_id ~ '^c' ORDER BY 1;

-- Malformed answers are refused as a whole.
CREATE FUNCTION pg_temp.refusal(answers jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN PERFORM wf_complete_tasks(answers); RETURN 'none'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM; END $$;
SELECT pg_temp.refusal(a) FROM unnest(ARRAY[NULL, '{}', '[1]', '[{}]', '[]']::jsonb[]) WITH ORDINALITY AS t (a, n) ORDER BY n;
SELECT pg_temp.refusal(jsonb_build_array('{"taskId": "01900000-0000-7000-8000-00000000dead", "token": "01900000-0000-7000-8000-00000000beef"}' || a))
FROM unnest(ARRAY['{"token": "secret"}', '{"taskId": 7}', '{"resullt": 1}', '{"result": 1, "error": {"message": "no"}}', '{"error": "no"}', '{"error": {}}',
    '{"error": {"message": "no", "code": "22"}}', '{"error": {"message": "no", "retryIn": "soon"}}', '{"error": {"message": "no", "retry": "never"}}',
    '{"error": {"message": "no", "hint": "yes"}}']::jsonb[]) WITH ORDINALITY AS t (a, n) ORDER BY n;
SELECT * FROM wf_check();
