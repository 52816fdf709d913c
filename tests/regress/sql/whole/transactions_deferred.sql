-- What a transaction leaves for its end, deferred constraints and triggers, is still one with the workflow.
\i tests/regress/include/transactions.sql

-- A deferred constraint that fails at commit takes the workflow with it, broken by the caller or by an activity.
BEGIN;
SELECT wf_start('order', correlation_id => 'late') IS NOT NULL AS started;
INSERT INTO items VALUES (1, 99);
COMMIT;
SELECT wf_define('{"definitionId": "add-item", "root": {"id": "add", "type": "Sql", "statement": "INSERT INTO items VALUES (1, 99)"}}') \g /dev/null
BEGIN;
SELECT sub_status FROM wf_run('add-item');
COMMIT;
SELECT * FROM pg_temp.stand();
-- Checked within the activity it is the activity's fault.
CREATE FUNCTION pg_temp.add_item() RETURNS void LANGUAGE plpgsql AS $$ BEGIN INSERT INTO items VALUES (1, 99); SET CONSTRAINTS ALL IMMEDIATE; END $$;
SELECT wf_define('{"definitionId": "add-item", "root": {"id": "add", "type": "Sql", "statement": "SELECT pg_temp.add_item()"}}') \g /dev/null
SET client_min_messages = error;
SELECT sub_status, incidents #>> '{0,activity_id}' AS activity, incidents #>> '{0,sqlstate}' AS sqlstate FROM wf_run('add-item');
SET client_min_messages = warning;
SELECT count(*) AS items FROM items;
SELECT * FROM pg_temp.forget();
-- A deferred trigger calls the engine at the very end of the transaction; what was queued before meets what it starts.
CREATE FUNCTION start_order() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM wf_start('order', correlation_id => NEW.id::text); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER start_order AFTER INSERT ON orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION start_order();
SET client_min_messages = error;
BEGIN;
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark('Event', '{"EventName": "Paid"}', correlation_id => '1');
INSERT INTO orders VALUES (1), (2);
SELECT count(*) FROM pg_temp.stand();
COMMIT;
SELECT * FROM pg_temp.stand();
SET client_min_messages = warning;
SELECT * FROM pg_temp.forget();

DROP TRIGGER start_order ON orders;
