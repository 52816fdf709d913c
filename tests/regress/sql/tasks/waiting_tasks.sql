-- Waiting for tasks: what wf_wait_tasks answers at once. Sessions that sleep are in scenario/wait_tasks.
\set VERBOSITY default
SET client_min_messages = error;
SET timezone = 'UTC';

SELECT wf_define('{"definitionId": "parcel", "root": {"type": "RunTask", "taskName": "Pack", "retry": {"maxAttempts": 2, "delay": "PT1M"}}}');

-- Nothing is open.
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
CALL wf_wait_tasks(timeout => '0 s');

-- A task is open. One of other names is not.
SELECT wf_start('parcel', correlation_id => 'first') IS NOT NULL AS started;
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
CALL wf_wait_tasks(timeout => '0 s');
CALL wf_wait_tasks(ARRAY['Weigh', 'Pack']);
CALL wf_wait_tasks(ARRAY['Weigh'], '0 s');
CALL wf_wait_tasks(ARRAY[]::text[], '0 s');

-- A leased one is none.
SELECT task_id, token FROM wf_claim_tasks(ARRAY['Pack'], lease => '1 hour') \gset
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');

-- Given back it can be claimed, and after a failure when the delay has passed. The look takes in that it has.
SELECT wf_release_task(:'task_id', :'token');
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
SELECT token FROM wf_claim_tasks(ARRAY['Pack']) \gset
SELECT wf_fail_task(:'task_id', :'token', 'the tape is torn');
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
SET workflow.now = '2100-01-01 00:00:00';
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
RESET workflow.now;

-- Below a procedure that may end transactions it runs as well.
DO $$
DECLARE
    ready boolean;
BEGIN
    CALL wf_wait_tasks(ARRAY['Pack'], '0 s', ready);
    RAISE INFO 'ready: %', ready;
END $$;

-- In a transaction block, or below a function, nothing may be ended.
BEGIN;
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
ROLLBACK;
CREATE FUNCTION waits() RETURNS void LANGUAGE plpgsql AS $$ DECLARE ready boolean; BEGIN CALL wf_wait_tasks(NULL, '0 s', ready); END $$;
SELECT waits();
SET default_transaction_isolation = 'repeatable read';
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
RESET default_transaction_isolation;

-- Bad arguments.
CALL wf_wait_tasks(ARRAY['Pack'], NULL);
CALL wf_wait_tasks(ARRAY['Pack'], '-1 ms');
CALL wf_wait_tasks(ARRAY['Pack'], '31 days');
CALL wf_wait_tasks(ARRAY['Pack', NULL], '0 s');

-- A session that stops waiting leaves its place: more waits than there are places.
DO $$
DECLARE
    ready boolean;
BEGIN
    FOR i IN 1..300 LOOP
        CALL wf_wait_tasks(ARRAY['Weigh'], '0 s', ready);
    END LOOP;
END $$;
SET statement_timeout = '20 ms';
CALL wf_wait_tasks(ARRAY['Weigh'], '10 min');
RESET statement_timeout;

-- What a role may not claim is nothing for it to wait for.
CREATE ROLE regress_waiting_stranger;
SELECT wf_grant_usage('regress_waiting_stranger');
SET ROLE regress_waiting_stranger;
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
RESET ROLE;
SELECT wf_grant('parcel', 'regress_waiting_stranger', '{resume}');
SET ROLE regress_waiting_stranger;
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
RESET ROLE;

-- Where nothing is fired, there is nothing to claim.
SET workflow.restoring = on;
CALL wf_wait_tasks(ARRAY['Pack'], '0 s');
RESET workflow.restoring;
DROP OWNED BY regress_waiting_stranger;
DROP ROLE regress_waiting_stranger;
