-- An order takes stock and money, and gives both back when a later step fails or the customer cancels.
-- It sets the clock: run it as a superuser, in a database that was marked with ALTER DATABASE … SET workflow.testing = on:   psql -X -q < examples/order-compensation.sql
-- It makes a schema "shop" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id IN ('shop-order') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('shop-order')) AS d \g /dev/null
DROP SCHEMA IF EXISTS shop CASCADE;
SET TIME ZONE 'UTC';
\set ECHO queries

\echo
\echo '== 1. The business: stock, orders, payments ===================================================='
\echo
\echo 'The rules are constraints: stock is never negative, and an order that was cancelled keeps no money.'
\echo
CREATE SCHEMA shop;
CREATE TABLE shop.products (
    name    text    PRIMARY KEY,
    on_hand integer NOT NULL CHECK (on_hand >= 0)
);
CREATE TABLE shop.orders (
    id       integer GENERATED ALWAYS AS IDENTITY (START WITH 7001) PRIMARY KEY,
    product  text    NOT NULL REFERENCES shop.products,
    quantity integer NOT NULL CHECK (quantity > 0),
    paid     numeric NOT NULL DEFAULT 0 CHECK (paid >= 0),
    status   text    NOT NULL DEFAULT 'New' CHECK (status IN ('New', 'Reserved', 'Paid', 'Shipped', 'Cancelled')),
    CHECK (status <> 'Cancelled' OR paid = 0)
);
INSERT INTO shop.products VALUES ('lamp', 3), ('chair', 1);

\echo
\echo '== 2. The workflow: each step, and what takes it back =========================================='
\echo
\echo 'Reserving is one UPDATE: how many rows it changed says whether there was enough. Each step that takes something'
\echo 'is a Compensable, which says how to give it back. Whatever goes wrong is a fault: the catch gives back what'
\echo 'has been taken, the latest first, and says why.'
\echo
SELECT * FROM wf_define($json${
    "definitionId": "shop-order", "name": "Order",
    "variables": {"Reserved": 0, "Payment": null, "Shipment": null, "Problem": null},
    "outputs": [{"name": "Reason", "type": "String"}],
    "root": {"id": "Order", "type": "Try",
        "body": [
            {"id": "Reserve", "type": "Compensable",
             "body": [
                {"id": "Take", "type": "Sql", "rowCount": {"var": "Reserved"}, "parameters": [{"input": "order"}],
                 "statement": "WITH o AS (UPDATE shop.orders SET status = 'Reserved' WHERE id = ($1)::integer AND EXISTS (SELECT FROM shop.products p WHERE p.name = product AND p.on_hand >= quantity) RETURNING *) UPDATE shop.products p SET on_hand = on_hand - o.quantity FROM o WHERE p.name = o.product"},
                {"type": "If", "condition": {"js": "getReserved() === 0"}, "then": {"type": "Fault", "message": "out of stock"}}],
             "compensation": {"id": "Restock", "type": "Sql", "parameters": [{"input": "order"}],
                "statement": "UPDATE shop.products p SET on_hand = on_hand + o.quantity FROM shop.orders o WHERE o.id = ($1)::integer AND p.name = o.product"}},
            {"id": "Pay", "type": "Compensable",
             "body": [
                {"id": "Charge", "type": "RunTask", "taskName": "Charge customer",
                 "payload": {"object": {"order": {"input": "order"}}}, "result": {"var": "Payment"}},
                {"type": "If", "condition": {"js": "!getPayment().accepted"}, "then": {"type": "Fault", "message": "payment refused"}},
                {"id": "BookPayment", "type": "Sql", "parameters": [{"input": "order"}, {"js": "getPayment().amount"}],
                 "statement": "UPDATE shop.orders SET status = 'Paid', paid = ($2)::numeric WHERE id = ($1)::integer"}],
             "compensation": [
                {"id": "Refund", "type": "RunTask", "taskName": "Refund customer",
                 "payload": {"object": {"order": {"input": "order"}, "amount": {"js": "getPayment().amount"}}}},
                {"id": "BookRefund", "type": "Sql", "parameters": [{"input": "order"}],
                 "statement": "UPDATE shop.orders SET paid = 0 WHERE id = ($1)::integer"}]},
            {"id": "Ship", "type": "RunTask", "taskName": "Ship order",
             "payload": {"object": {"order": {"input": "order"}}}, "result": {"var": "Shipment"}},
            {"type": "If", "condition": {"js": "!getShipment().shipped"}, "then": {"type": "Fault", "message": "cannot be shipped"}},
            {"id": "Close", "type": "Sql", "parameters": [{"input": "order"}],
             "statement": "UPDATE shop.orders SET status = 'Shipped' WHERE id = ($1)::integer"}],
        "catch": [{"variable": "Problem", "body": [
            {"id": "GiveBack", "type": "Compensate"},
            {"id": "Cancel", "type": "Sql", "parameters": [{"input": "order"}],
             "statement": "UPDATE shop.orders SET status = 'Cancelled' WHERE id = ($1)::integer"},
            {"id": "Why", "type": "SetOutput", "outputName": "Reason", "outputValue": {"js": "getProblem().message"}}]}]}
}$json$);

\echo
\echo 'What the application calls: one row, one workflow, one transaction.'
\echo
CREATE FUNCTION shop.place(product text, quantity integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    new_order integer;
BEGIN
    INSERT INTO shop.orders (product, quantity) VALUES (product, quantity) RETURNING id INTO new_order;
    PERFORM wf_start('shop-order', jsonb_build_object('order', new_order), correlation_id => new_order::text);
    RETURN new_order;
END $$;

\echo
\echo 'What the programs do that work off the inbox: find the task of an order, and answer it.'
\echo
CREATE FUNCTION shop.answer(an_order integer, task text, result jsonb) RETURNS text
LANGUAGE sql AS $$
    SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, result) AS r
     WHERE t.correlation_id = an_order::text AND t.name = task
$$;

\echo
\echo '== 3. All goes well ============================================================================'
\echo
SELECT shop.place('lamp', 2) AS "order" \gset
SELECT shop.answer(:order, 'Charge customer', '{"accepted": true, "amount": 98.00}');
SELECT shop.answer(:order, 'Ship order', '{"shipped": true}');
SELECT * FROM shop.orders WHERE id = :order;
SELECT * FROM shop.products ORDER BY name;

\echo
\echo '== 4. There is not enough ======================================================================'
\echo
SELECT shop.place('lamp', 2) AS "order" \gset
SELECT status FROM shop.orders WHERE id = :order;
SELECT output FROM workflow.instance_list WHERE correlation_id = :'order';

\echo
\echo '== 5. The card is refused: the chair goes back ================================================='
\echo
SELECT shop.place('chair', 1) AS "order" \gset
SELECT on_hand FROM shop.products WHERE name = 'chair';
SELECT shop.answer(:order, 'Charge customer', '{"accepted": false}');
SELECT on_hand FROM shop.products WHERE name = 'chair';
SELECT o.status, i.output FROM shop.orders AS o JOIN workflow.instance_list AS i ON i.correlation_id = o.id::text WHERE o.id = :order;

\echo
\echo '== 6. It cannot be shipped: money back, then chair back ========================================'
\echo
SELECT shop.place('chair', 1) AS "order" \gset
SELECT shop.answer(:order, 'Charge customer', '{"accepted": true, "amount": 249.00}');
SELECT shop.answer(:order, 'Ship order', '{"shipped": false}');
SELECT name, payload FROM workflow.open_tasks WHERE correlation_id = :'order';
SELECT shop.answer(:order, 'Refund customer', '{}');
SELECT o.status, o.paid, i.output FROM shop.orders AS o JOIN workflow.instance_list AS i ON i.correlation_id = o.id::text WHERE o.id = :order;
SELECT on_hand FROM shop.products WHERE name = 'chair';

\echo
\echo '== 7. The customer cancels while the lamp is being packed ======================================'
\echo
\echo 'wf_cancel ends what is open, and leaves the rest to the workers; wf_run_due does their work here.'
\echo
UPDATE shop.products SET on_hand = 3 WHERE name = 'lamp';
SELECT shop.place('lamp', 1) AS "order" \gset
SELECT shop.answer(:order, 'Charge customer', '{"accepted": true, "amount": 49.00}');
SELECT activity_id FROM workflow.open_compensations AS c JOIN workflow.instance_list AS i USING (instance_id)
 WHERE i.correlation_id = :'order' ORDER BY c.number;
SELECT wf_cancel(instance_id, 'the customer changed her mind') FROM workflow.instance_list WHERE correlation_id = :'order';
SELECT sub_status FROM workflow.instance_list WHERE correlation_id = :'order';
SELECT wf_run_due() > 0 AS ran;
SELECT name, payload FROM workflow.open_tasks WHERE correlation_id = :'order';

\echo
\echo '== 8. The refund fails: nothing is forgotten ==================================================='
\echo
\echo 'A program gives up on the refund. That is an incident, which names what is left. Later it is tried again.'
\echo
SELECT wf_fail_task(t.task_id, t.token, 'the bank does not know the account') FROM wf_claim_tasks('{Refund customer}') AS t;
SELECT activity_id, message, detail FROM workflow.open_incidents AS n JOIN workflow.instance_list AS i USING (instance_id)
 WHERE i.correlation_id = :'order';
SELECT r.sub_status FROM workflow.instance_list AS i, wf_retry(i.instance_id) AS r WHERE i.correlation_id = :'order';
SELECT shop.answer(:order, 'Refund customer', '{}');
SELECT o.paid, p.on_hand FROM shop.orders AS o JOIN shop.products AS p ON p.name = o.product WHERE o.id = :order;
SELECT event, activity FROM workflow.journal AS j JOIN workflow.instance_list AS i USING (instance_id)
 WHERE i.correlation_id = :'order' AND event IN ('Workflow cancelling', 'Compensated', 'Workflow cancelled') ORDER BY j.seq, j.number;
