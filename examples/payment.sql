-- A card is charged by workers that can be killed, at a provider that can fail: once, however often it is tried.
-- It sets the clock: run it as a superuser, in a database that was marked with ALTER DATABASE … SET workflow.testing = on:   psql -X -q < examples/payment.sql
-- It makes a schema "pay" and a role "pay_worker" of its own, can be run again, and prints each statement before its result.
-- It answers the tasks by hand. The program that does so is examples/payment_worker.py.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_revoke_worker(rolname)) FROM pg_roles WHERE rolname = 'pay_worker' \g /dev/null
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id IN ('payment') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('payment')) AS d \g /dev/null
DROP SCHEMA IF EXISTS pay CASCADE;
DROP ROLE IF EXISTS pay_worker;
SET TIME ZONE 'UTC';
SET workflow.now = '2026-03-02 09:00:00+00';
\set ECHO queries

\echo
\echo '== 1. The business: orders that are to be paid ================================================='
\echo
\echo 'An order is Unclear if it is not known whether the card was charged: a person asks the provider.'
\echo
CREATE SCHEMA pay;
CREATE TABLE pay.orders (
    id       integer GENERATED ALWAYS AS IDENTITY (START WITH 3001) PRIMARY KEY,
    amount   numeric NOT NULL CHECK (amount > 0),
    card     text    NOT NULL,
    status   text    NOT NULL DEFAULT 'New' CHECK (status IN ('New', 'Paid', 'Declined', 'Unclear')),
    receipt  text    CHECK ((receipt IS NOT NULL) = (status = 'Paid')),
    attempts integer
);

\echo
\echo '== 2. The workflow: one task, tried again, and what each end of it means ======================='
\echo
\echo 'The id of the task is the key under which the provider charges once, however often it is asked. The policy'
\echo 'excepts the timeout: another attempt after it would be another task, with another key.'
\echo
SELECT * FROM wf_define($json${
    "definitionId": "payment", "name": "Payment",
    "variables": {"Payment": null, "Problem": null},
    "root": {"id": "Pay", "type": "Try",
        "body": [
            {"id": "Charge", "type": "RunTask", "taskName": "Charge card", "result": {"var": "Payment"},
             "payload": {"object": {"order": {"input": "order"}, "amount": {"input": "amount"}, "card": {"input": "card"}}},
             "retry": {"maxAttempts": 8, "delay": "100 ms", "backoff": "exponential", "maxDelay": "2 s", "except": ["card_declined", "timeout"]},
             "timeout": "10 minutes"},
            {"id": "Paid", "type": "Sql", "parameters": [{"input": "order"}, {"var": "Payment"}],
             "statement": "UPDATE pay.orders SET status = 'Paid', receipt = $2 ->> 'receipt', attempts = ($2 -> 'attempt')::integer WHERE id = ($1)::integer"}],
        "catch": [
            {"on": ["card_declined"], "variable": "Problem", "body":
                {"id": "Declined", "type": "Sql", "parameters": [{"input": "order"}, {"var": "Problem"}],
                 "statement": "UPDATE pay.orders SET status = 'Declined', attempts = ($2 -> 'attempts')::integer WHERE id = ($1)::integer"}},
            {"variable": "Problem", "body":
                {"id": "Unclear", "type": "Sql", "parameters": [{"input": "order"}, {"var": "Problem"}],
                 "statement": "UPDATE pay.orders SET status = 'Unclear', attempts = ($2 -> 'attempts')::integer WHERE id = ($1)::integer"}}]}
}$json$);

\echo
\echo 'What the application calls: one row, one workflow, one transaction.'
\echo
CREATE FUNCTION pay.place(amount numeric, card text) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    new_order integer;
BEGIN
    INSERT INTO pay.orders (amount, card) VALUES (amount, card) RETURNING id INTO new_order;
    PERFORM wf_start('payment', jsonb_build_object('order', new_order, 'amount', amount, 'card', card), correlation_id => new_order::text);
    RETURN new_order;
END $$;

\echo
\echo 'The role of the workers claims and answers these tasks. It sees neither the orders nor the workflow.'
\echo
CREATE ROLE pay_worker LOGIN;
SELECT wf_grant_worker('pay_worker', '{Charge card}', 'payment');

\echo
\echo '== 3. All goes well ============================================================================'
\echo
\echo 'The answer is stored with the commit of the worker. What follows has rights that the worker has not, so a'
\echo 'background worker runs it; wf_run_due does its work here.'
\echo
SELECT pay.place(98, 'visa') AS "order" \gset
SET ROLE pay_worker;
SELECT task_id, token, payload FROM wf_claim_tasks('{Charge card}', worker => 'worker 1', lease => '30 s') \gset
\echo :payload
SELECT sub_status FROM wf_complete_task(:'task_id', '{"receipt": "R-1", "attempt": 1}', token => :'token');
RESET ROLE;
SELECT wf_run_due();
SELECT status, receipt, attempts FROM pay.orders WHERE id = :order;

\echo
\echo '== 4. The provider does not answer, and then it does ==========================================='
\echo
SELECT pay.place(49, 'visa') AS "order" \gset
SET ROLE pay_worker;
SELECT task_id, token FROM wf_claim_tasks('{Charge card}', worker => 'worker 1', lease => '30 s') \gset
SELECT wf_fail_task(:'task_id', :'token', 'the provider does not answer', code => 'provider');
RESET ROLE;
SELECT attempt, last_error, available_at - timestamptz '2026-03-02 09:00' AS again_after FROM workflow.open_tasks WHERE correlation_id = :'order';
SET workflow.now = '2026-03-02 09:00:01+00';
SET ROLE pay_worker;
SELECT task_id, token FROM wf_claim_tasks('{Charge card}', worker => 'worker 2', lease => '30 s') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"receipt": "R-2", "attempt": 2}', token => :'token');
RESET ROLE;
SELECT wf_run_due();
SELECT status, receipt, attempts FROM pay.orders WHERE id = :order;

\echo
\echo '== 5. A worker is killed after the provider has charged ========================================'
\echo
\echo 'Until its lease ends no other worker gets the task. Then one claims it and sends the same key, and the provider'
\echo 'gives the receipt that it gave before. If the first worker was only slow, its answer comes too late.'
\echo
SELECT pay.place(249, 'visa') AS "order" \gset
SET ROLE pay_worker;
SELECT task_id, token AS late FROM wf_claim_tasks('{Charge card}', worker => 'worker 1', lease => '30 s') \gset
SELECT count(*) FROM wf_claim_tasks('{Charge card}', worker => 'worker 2', lease => '30 s');
RESET ROLE;
SET workflow.now = '2026-03-02 09:00:31+00';
SET ROLE pay_worker;
SELECT token FROM wf_claim_tasks('{Charge card}', worker => 'worker 2', lease => '30 s') \gset
RESET ROLE;
SELECT attempt, worker FROM workflow.open_tasks WHERE task_id = :'task_id';
SET ROLE pay_worker;
SELECT sub_status FROM wf_complete_task(:'task_id', '{"receipt": "R-3", "attempt": 1}', token => :'late');
SELECT sub_status FROM wf_complete_task(:'task_id', '{"receipt": "R-3", "attempt": 2}', token => :'token');
RESET ROLE;
SELECT wf_run_due();
SELECT status, receipt, attempts FROM pay.orders WHERE id = :order;

\echo
\echo '== 6. The card is declined: no other attempt ==================================================='
\echo
SELECT pay.place(7000, 'stolen') AS "order" \gset
SET ROLE pay_worker;
SELECT wf_fail_task(task_id, token, 'the card was declined', code => 'card_declined') FROM wf_claim_tasks('{Charge card}', worker => 'worker 1', lease => '30 s');
RESET ROLE;
SELECT wf_run_due();
SELECT status, receipt, attempts FROM pay.orders WHERE id = :order;

\echo
\echo '== 7. The time is over while a worker is at it: a person asks the provider ====================='
\echo
SELECT pay.place(15, 'visa') AS "order" \gset
SET ROLE pay_worker;
SELECT task_id, token FROM wf_claim_tasks('{Charge card}', worker => 'worker 1', lease => '1 hour') \gset
RESET ROLE;
SET workflow.now = '2026-03-02 09:30:00+00';
SELECT wf_run_due();
SELECT status, receipt, attempts FROM pay.orders WHERE id = :order;
SET ROLE pay_worker;
SELECT sub_status FROM wf_complete_task(:'task_id', '{"receipt": "R-5", "attempt": 1}', token => :'token');
RESET ROLE;
SELECT line FROM workflow.instance_list AS i, wf_explain(i.instance_id) AS line WHERE i.correlation_id = :'order';

\echo
\echo '== 8. What is left to do ======================================================================='
\echo
SELECT count(*) AS open_tasks FROM workflow.open_tasks WHERE name = 'Charge card';
SELECT id, amount, status FROM pay.orders WHERE status <> 'Paid' ORDER BY id;
