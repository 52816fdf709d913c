-- Messages arrive in any order: before anybody waits, twice, or for nobody.
-- It sets the clock: run it as a superuser, in a database that was marked with ALTER DATABASE … SET workflow.testing = on:   psql -X -q < examples/event-order.sql
-- It makes a schema "pay" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id IN ('invoice') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('invoice')) AS d \g /dev/null
DROP SCHEMA IF EXISTS pay CASCADE;
SET TIME ZONE 'UTC';
\set ECHO queries

\echo
\echo '== 1. The business: invoices, and payments that a bank reports ================================='
\echo
\echo 'The bank repeats what it is not sure of, and is sometimes faster than the own system.'
\echo
CREATE SCHEMA pay;
CREATE TABLE pay.invoices (
    number text    PRIMARY KEY,
    amount numeric NOT NULL CHECK (amount > 0),
    status text    NOT NULL DEFAULT 'Open' CHECK (status IN ('Open', 'Paid', 'Reminded'))
);
CREATE TABLE pay.payments (
    bank_reference text    PRIMARY KEY,
    invoice        text    NOT NULL,
    amount         numeric NOT NULL
);

\echo
\echo '== 2. The workflow waits for the payment of its invoice ========================================'
\echo
\echo 'Which one is the correlation id: nobody outside needs an id of the engine. The event races a deadline.'
\echo
SELECT * FROM wf_define($json${
    "definitionId": "invoice", "name": "Invoice",
    "options": {"activationStrategy": "CorrelatedSingleton"},
    "variables": {"Payment": null},
    "root": [
        {"id": "Race", "type": "Fork", "joinMode": "WaitAny", "branches": [
            {"id": "Paid", "type": "Event", "eventName": "PaymentReceived", "result": {"var": "Payment"}},
            {"id": "Deadline", "type": "Delay", "timeSpan": "14 days"}]},
        {"id": "Record", "type": "Sql", "parameters": [{"input": "number"}, {"js": "getPayment() !== null"}],
         "statement": "UPDATE pay.invoices SET status = CASE WHEN ($2)::boolean THEN 'Paid' ELSE 'Reminded' END WHERE number = $1 #>> '{}'"}
    ]
}$json$);

\echo
\echo 'What the listener of the bank calls. A payment that was seen before changes nothing. One that nobody'
\echo 'waits for is kept for a week; "keep_for" says so, and the queue delivers it exactly once.'
\echo
CREATE FUNCTION pay.receive(a_reference text, an_invoice text, an_amount numeric) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    delivery wf_delivery;
BEGIN
    INSERT INTO pay.payments VALUES (a_reference, an_invoice, an_amount) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 'known already';
    END IF;
    delivery := wf_publish_event('PaymentReceived', jsonb_build_object('amount', an_amount),
                                 correlation_id => an_invoice, keep_for => '7 days');
    RETURN CASE WHEN delivery.queued_id IS NOT NULL THEN 'kept' WHEN cardinality(delivery.resumed) > 0 THEN 'delivered' ELSE 'nobody' END;
END $$;
CREATE FUNCTION pay.send(a_number text, an_amount numeric) RETURNS uuid
LANGUAGE sql AS $$
    INSERT INTO pay.invoices (number, amount) VALUES (a_number, an_amount);
    SELECT wf_start('invoice', jsonb_build_object('number', a_number), correlation_id => a_number)
$$;

\echo
\echo '== 3. The usual order: first the invoice, then the payment ====================================='
\echo
SET workflow.now = '2026-11-02 08:00:00+00';
SELECT pay.send('R-1', 80) AS instance \gset
SELECT pay.receive('bank-901', 'R-1', 80);
SELECT * FROM pay.invoices;

\echo
\echo 'The bank repeats itself.'
\echo
SELECT pay.receive('bank-901', 'R-1', 80);

\echo
\echo '== 4. The other way round: the message is there before its waiter =============================='
\echo
SELECT pay.receive('bank-902', 'R-2', 45);
SELECT pay.send('R-2', 45) AS instance \gset
SELECT sub_status, variables FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT * FROM pay.invoices ORDER BY number;

\echo
\echo '== 5. Never: the deadline passes ==============================================================='
\echo
SELECT pay.send('R-3', 300) AS instance \gset
SELECT activity, due FROM workflow.waiting WHERE instance = :'instance' ORDER BY activity;
SET workflow.now = '2026-11-16 08:00:01+00';
SELECT wf_run_due();
SELECT * FROM pay.invoices ORDER BY number;

\echo
\echo '== 6. Nobody, ever: what was kept for a week becomes a dead letter ============================='
\echo
SELECT pay.receive('bank-903', 'R-99', 10);
SET workflow.now = '2026-11-23 08:00:02+00';
SELECT wf_run_due() \g /dev/null
SELECT reason, correlation_id, input FROM workflow.dead_letter_list;

\echo
\echo 'Somebody looks at it, and finds the invoice it was meant for.'
\echo
SELECT pay.send('R-99', 10) AS instance \gset
SELECT wf_replay(dead_letter_id) AS delivered FROM workflow.dead_letter_list WHERE correlation_id = 'R-99';
SELECT * FROM pay.invoices ORDER BY number;
