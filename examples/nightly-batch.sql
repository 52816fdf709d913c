-- A nightly batch: one workflow for the night, one child for each row, and rows that fail do not stop the others.
-- It sets the clock: run it as a superuser, in a database that was marked with ALTER DATABASE … SET workflow.testing = on:   psql -X -q < examples/nightly-batch.sql
-- It makes a schema "billing" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id IN ('nightly-billing', 'charge-subscription') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('nightly-billing', 'charge-subscription')) AS d \g /dev/null
DROP SCHEMA IF EXISTS billing CASCADE;
SET TIME ZONE 'UTC';
\set ECHO queries

\echo
\echo '== 1. The business: subscriptions, and what each night brought ================================='
\echo
CREATE SCHEMA billing;
CREATE TABLE billing.subscriptions (
    customer   text    PRIMARY KEY,
    monthly    numeric NOT NULL CHECK (monthly > 0),
    balance    numeric NOT NULL CONSTRAINT balance_is_not_negative CHECK (balance >= 0),
    paid_until date    NOT NULL
);
CREATE TABLE billing.nights (
    night   date    PRIMARY KEY,
    charged integer NOT NULL,
    failed  integer NOT NULL
);
INSERT INTO billing.subscriptions VALUES
    ('Ada', 10, 25, '2026-11-23'), ('Edsger', 10, 4, '2026-11-23'), ('Grace', 30, 90, '2026-11-23'), ('Barbara', 10, 50, '2026-12-15');

\echo
\echo '== 2. One row is one workflow =================================================================='
\echo
\echo 'It has a transaction, a journal and a fault of its own, and can be retried alone.'
\echo
SELECT * FROM wf_define($json${
    "definitionId": "charge-subscription", "name": "Charge a subscription",
    "inputs": [{"name": "Customer", "type": "String"}],
    "root": {"id": "Charge", "type": "Sql", "parameters": [{"input": "Customer"}],
        "statement": "UPDATE billing.subscriptions SET balance = balance - monthly, paid_until = paid_until + interval '1 month' WHERE customer = $1 #>> '{}'"}
}$json$);

\echo
\echo '== 3. The night starts one for each row that is due ============================================'
\echo
\echo 'BulkDispatchWorkflows leaves the children to the workers and goes on when the last one has ended. For each'
\echo 'child that completed, and for each that faulted, it runs a port.'
\echo
SET workflow.now = '2026-11-22 12:00:00+00';
SELECT * FROM wf_define($json${
    "definitionId": "nightly-billing", "name": "Nightly billing",
    "options": {"activationStrategy": "Singleton"},
    "variables": {"Charged": 0, "Failed": 0},
    "root": [
        {"id": "Night", "type": "Cron", "cronExpression": "0 2 * * *", "timeZone": "UTC", "canStartWorkflow": true},
        {"id": "ChargeAll", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "charge-subscription",
         "items": {"sql": "SELECT coalesce(jsonb_agg(jsonb_build_object('Customer', customer) ORDER BY customer), '[]') FROM billing.subscriptions WHERE paid_until <= (input ->> 'ScheduledAt')::date"},
         "correlationIdFunction": {"js": "getItem().Customer"},
         "childCompleted": {"type": "SetVariable", "variable": "Charged", "value": {"js": "getCharged() + 1"}},
         "childFaulted": {"type": "SetVariable", "variable": "Failed", "value": {"js": "getFailed() + 1"}}},
        {"id": "Record", "type": "Sql", "parameters": [{"input": "ScheduledAt"}, {"var": "Charged"}, {"var": "Failed"}],
         "statement": "INSERT INTO billing.nights VALUES (($1 #>> '{}')::timestamptz::date, ($2)::integer, ($3)::integer)"}
    ]
}$json$);
SELECT activity_id, schedule, next_run FROM workflow.schedules WHERE definition_id = 'nightly-billing';

\echo
\echo '== 4. Two in the morning ======================================================================='
\echo
\echo 'Workers fire what is due; here the clock is set and wf_run_due() called. It does not end before nothing is due.'
\echo
SET workflow.now = '2026-11-23 02:00:01+00';
SET client_min_messages = error;
SELECT wf_run_due() > 0 AS something_ran;
SELECT wf_run_due() \g /dev/null
RESET client_min_messages;
SELECT * FROM billing.subscriptions ORDER BY customer;
SELECT * FROM billing.nights;

\echo
\echo '== 5. Who failed, and why ======================================================================'
\echo
\echo 'Edsger has not enough. What his child did is undone; the others are charged.'
\echo
SELECT i.correlation_id AS customer, n.sqlstate, n.message
  FROM workflow.open_incidents AS n JOIN workflow.instance_list AS i USING (instance_id)
 WHERE n.definition_id = 'charge-subscription';

\echo
\echo 'He pays, and his child alone is retried.'
\echo
UPDATE billing.subscriptions SET balance = balance + 20 WHERE customer = 'Edsger';
SELECT r.sub_status
  FROM workflow.instance_list AS i, wf_retry(i.instance_id) AS r
 WHERE i.definition_id = 'charge-subscription' AND i.correlation_id = 'Edsger';
SELECT customer, balance, paid_until FROM billing.subscriptions WHERE customer = 'Edsger';
