-- A row trigger on a business table starts workflows. Which ones, and when, stands in their definitions.
-- Run it in any database that has the extension:   psql -X -q < examples/row-trigger.sql
-- It makes a schema "shop" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id IN ('greet-order', 'check-order') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('greet-order', 'check-order')) AS d \g /dev/null
DROP SCHEMA IF EXISTS shop CASCADE;
RESET client_min_messages;
\set ECHO queries

\echo
\echo '== 1. A business table ========================================================================'
\echo
CREATE SCHEMA shop;
CREATE TABLE shop.orders (
    id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer text    NOT NULL,
    total    numeric NOT NULL
);

\echo
\echo '== 2. An activity type that starts workflows =================================================='
\echo
\echo 'When a definition is published, the payload function turns the inputs of the activity into rows of'
\echo 'the trigger index: one row per payload. Here: one per table, with the least total that matters.'
\echo
CREATE FUNCTION shop.row_inserted_payloads(context jsonb) RETURNS SETOF jsonb
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT jsonb_build_object('table', name, 'minimum', context #> '{inputs,minimum}')
      FROM jsonb_array_elements_text(context #> '{inputs,tables}') AS name;
END;

\echo
\echo 'The handler runs when the activity is reached. If it started this very run there is nothing to wait'
\echo 'for; reached in any other way it waits for the next row, at one bookmark per payload.'
\echo
CREATE FUNCTION shop.row_inserted(context jsonb) RETURNS jsonb
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE WHEN (context -> 'isTrigger')::boolean THEN '{}'::jsonb
                ELSE jsonb_build_object('bookmarks', jsonb_agg(jsonb_build_object('payload', payload))) END
      FROM shop.row_inserted_payloads(context) AS payload;
END;

SELECT wf_register_activity('Acme.RowInserted', 'shop.row_inserted(jsonb)',
    kind => 'trigger', payloads => 'shop.row_inserted_payloads(jsonb)',
    inputs => '[{"name": "tables", "type": "List"}, {"name": "minimum", "type": "Decimal"}]',
    description => 'A row was inserted into one of the tables, with at least this total.');

\echo
\echo '== 3. Two workflows that such a row starts ===================================================='
\echo
SELECT * FROM wf_define('{
    "definitionId": "greet-order",
    "root": [
        {"type": "Acme.RowInserted", "canStartWorkflow": true, "tables": ["shop.orders"], "minimum": 0},
        {"type": "WriteLine", "text": {"js": "`thank you, ${getInput(''customer'')}`"}}
    ]
}');
SELECT * FROM wf_define('{
    "definitionId": "check-order",
    "root": [
        {"type": "Acme.RowInserted", "canStartWorkflow": true, "tables": ["shop.orders"], "minimum": 1000},
        {"type": "RunTask", "taskName": "Check the credit", "payload": {"object": {"customer": {"input": "customer"}}}}
    ]
}');
SELECT definition_id, name, payload FROM workflow.trigger_list WHERE name = 'Acme.RowInserted' ORDER BY definition_id;

\echo
\echo '== 4. The listener is outside: an ordinary row trigger ========================================'
\echo
\echo 'It reads its settings from the trigger index and sends the stimulus. The row is the input. Whoever'
\echo 'inserts need not know of workflows at all, so the function runs as its owner.'
\echo
CREATE FUNCTION shop.tell_workflows() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    setting jsonb;
BEGIN
    FOR setting IN
        SELECT DISTINCT payload FROM workflow.trigger_list
         WHERE name = 'Acme.RowInserted'
           AND payload ->> 'table' = format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME)
           AND (payload ->> 'minimum')::numeric <= NEW.total
         ORDER BY payload
    LOOP
        PERFORM wf_send_stimulus('Acme.RowInserted', setting, input => to_jsonb(NEW));
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER tell_workflows AFTER INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.tell_workflows();

\echo
\echo '== 5. An order of 20 starts one of them, an order of 5000 both ================================'
\echo
INSERT INTO shop.orders (customer, total) VALUES ('Ada', 20);
SELECT definition_id, sub_status, input FROM workflow.instance_list
 WHERE definition_id IN ('greet-order', 'check-order') ORDER BY created_at, definition_id;

INSERT INTO shop.orders (customer, total) VALUES ('Grace', 5000);
SELECT i.definition_id, i.sub_status, i.input ->> 'customer' AS customer, t.name AS task
  FROM workflow.instance_list AS i LEFT JOIN workflow.open_tasks AS t ON t.instance_id = i.instance_id
 WHERE i.definition_id IN ('greet-order', 'check-order') ORDER BY customer, definition_id;

\echo
\echo '== 6. An order that is rolled back never started anything ====================================='
\echo
BEGIN;
INSERT INTO shop.orders (customer, total) VALUES ('Mallory', 9999);
ROLLBACK;
SELECT count(*) AS instances FROM workflow.instance_list WHERE definition_id IN ('greet-order', 'check-order');
