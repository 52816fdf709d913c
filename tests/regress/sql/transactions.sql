-- Every call belongs to the transaction that makes it, whatever else that does: savepoints, EXCEPTION blocks, cursors,
-- deferred constraints, COPY, procedures that commit, other roles.
SET client_min_messages = warning;
\pset null '(null)'
CREATE TABLE log (line text);
CREATE TABLE orders (id int PRIMARY KEY, status text NOT NULL DEFAULT 'new');
CREATE TABLE items (id int PRIMARY KEY, order_id int REFERENCES orders DEFERRABLE INITIALLY DEFERRED);
SELECT wf_define('{"definitionId": "order", "root": [
    {"type": "Sql", "statement": "INSERT INTO log VALUES (''started '' || ($1 #>> ''{}''))", "parameters": [{"js": "getCorrelationId()"}]},
    {"id": "paid", "type": "Event", "eventName": "Paid"},
    {"type": "Sql", "statement": "INSERT INTO log VALUES (''paid '' || ($1 #>> ''{}''))", "parameters": [{"js": "getCorrelationId()"}]},
    {"id": "sent", "type": "Event", "eventName": "Sent"}]}') \g /dev/null
CREATE FUNCTION pg_temp.try(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'fine';
EXCEPTION WHEN OTHERS OR query_canceled THEN
    RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, '[-0-9a-f]{36}', '<id>');
END $$;
CREATE FUNCTION pg_temp.stand(OUT correlation_id text, OUT sub_status text, OUT waits_at text) RETURNS SETOF record LANGUAGE sql
BEGIN ATOMIC
    SELECT i.correlation_id, i.sub_status, string_agg(w.activity, ', ') FROM workflow.instance_list AS i LEFT JOIN workflow.waiting AS w ON w.instance = i.instance_id
    GROUP BY i.instance_id, i.correlation_id, i.sub_status ORDER BY i.correlation_id;
END;
CREATE FUNCTION pg_temp.forget(OUT instances bigint, OUT lines text) LANGUAGE plpgsql AS $$
BEGIN
    SELECT count(*) FILTER (WHERE wf_delete_instance(instance_id)) INTO instances FROM workflow.instance_list;
    SELECT string_agg(line, ', ') INTO lines FROM log;
    DELETE FROM log;
END $$;

-- Savepoints, one inside the other: what is rolled back never was, what came before it stays.
BEGIN;
SELECT wf_start('order', correlation_id => '1') AS one \gset
SAVEPOINT outer_one;
SELECT cardinality(resumed) FROM wf_publish_event('Paid');
SAVEPOINT inner_one;
SELECT cardinality(resumed) FROM wf_publish_event('Sent');
SELECT wf_start('order', correlation_id => '2') AS two \gset
ROLLBACK TO inner_one;
SELECT * FROM pg_temp.stand();
RELEASE inner_one;
ROLLBACK TO outer_one;
SELECT * FROM pg_temp.stand();
SELECT wf_start('order', correlation_id => 'again', instance_id => :'two') = :'two' AS "the same id";
SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => 'again');
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();

-- A definition, and the role that is seen for the first time, are gone with a savepoint, and nothing remembers them.
CREATE ROLE regress_tx_new;
SELECT wf_grant_usage('regress_tx_new');
SET ROLE regress_tx_new;
BEGIN;
SAVEPOINT s;
SELECT wf_define('{"definitionId": "own", "root": {"id": "before", "type": "Event", "eventName": "E"}}');
SELECT wf_start('own') AS one \gset
ROLLBACK TO s;
SELECT * FROM wf_start('own');
ROLLBACK TO s;
SELECT wf_define('{"definitionId": "own", "root": {"id": "after", "type": "Event", "eventName": "E"}}');
SELECT wf_start('own', instance_id => :'one') = :'one' AS "the same id";
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM wf_run('own', instance_id => :'one') \g /dev/null
RESET ROLE;
SELECT definition_id, owner FROM workflow.instance_list;
SELECT * FROM pg_temp.forget();

-- An EXCEPTION block takes back the call that fails in it half-way, a timeout and a limit included; the transaction goes on.
SELECT wf_define('{"definitionId": "endless", "root": [
    {"type": "Sql", "statement": "INSERT INTO log VALUES (''began'')"}, {"type": "While", "condition": true, "body": {"type": "WriteLine", "text": "on and on"}}]}') \g /dev/null
SELECT wf_define('{"definitionId": "slow", "root": [{"type": "Sql", "statement": "INSERT INTO log VALUES (''slept'')"}, {"type": "Sql", "statement": "SELECT pg_sleep(10)"}]}') \g /dev/null
BEGIN;
SET LOCAL workflow.max_steps = 1000;
SELECT pg_temp.try('SELECT wf_start(''endless'')');
SET LOCAL statement_timeout = '200ms';
SELECT pg_temp.try('SELECT wf_start(''slow'')');
SET LOCAL statement_timeout = 0;
SELECT wf_start('order', correlation_id => '3') AS three \gset
SELECT pg_temp.try(format('SELECT wf_resume(%L), 1 / 0', bookmark_id)) FROM workflow.waiting;
SELECT pg_temp.try(format('SELECT wf_cancel(%L), 1 / 0', :'three'));
SELECT * FROM pg_temp.stand();
SELECT pg_temp.try(format('SELECT wf_resume(%L)', bookmark_id)) FROM workflow.waiting;
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();

-- In a loop, too: the round that fails is taken back, the others count.
SELECT count(wf_start('order', correlation_id => n::text)) FROM generate_series(1, 3) AS n;
DO $$
DECLARE
    w record;
BEGIN
    FOR w IN SELECT bookmark_id, correlation_id FROM workflow.waiting LOOP
        BEGIN
            PERFORM wf_resume(w.bookmark_id);
            IF w.correlation_id = '2' THEN RAISE 'not this one'; END IF;
        EXCEPTION WHEN raise_exception THEN NULL;
        END;
    END LOOP;
END $$;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();

-- The same inside a burst: a function that catches what it called. The instance of the activity goes on.
SELECT wf_define('{"definitionId": "catching", "variables": {"Said": null}, "root": [
    {"type": "SetVariable", "variable": "Said", "value": {"sql": "pg_temp.try(''SELECT wf_start(''''endless'''')'')"}}, {"id": "next", "type": "Event", "eventName": "Next"}]}') \g /dev/null
SET workflow.max_steps = 1000;
SELECT wf_start('catching') AS catching \gset
RESET workflow.max_steps;
SELECT sub_status, variables FROM workflow.instance_list;
SELECT sub_status FROM workflow.waiting, wf_resume(bookmark_id);
SELECT * FROM pg_temp.forget();
-- What it published to itself and took back is not delivered after the burst; what it did not take back is.
SELECT wf_define('{"definitionId": "two-faced", "variables": {"Heard": null}, "root": {"type": "Parallel", "activities": [
    {"id": "ear", "type": "Event", "eventName": "Word", "result": {"var": "Heard"}}, {"id": "mouth", "type": "Sql", "statement": "SELECT pg_temp.speak($1)", "parameters": [{"input": "words"}]}]}}') \g /dev/null
CREATE FUNCTION pg_temp.speak(words jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        PERFORM wf_publish_event('Word', words -> 0);
        RAISE 'no';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    IF words -> 1 IS NOT NULL THEN PERFORM wf_publish_event('Word', words -> 1); END IF;
END $$;
SELECT wf_start('two-faced', '{"words": ["unsaid", "said"]}', correlation_id => 'two words') \g /dev/null
SELECT wf_start('two-faced', '{"words": ["unsaid"]}', correlation_id => 'one word') \g /dev/null
SELECT correlation_id, sub_status, variables FROM workflow.instance_list ORDER BY correlation_id;
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT * FROM pg_temp.forget();

-- A cursor calls as far as it is fetched. What a savepoint takes back stays taken back, though the cursor has moved on.
BEGIN;
DECLARE starts CURSOR FOR SELECT wf_start('order', correlation_id => n::text) IS NOT NULL AS started FROM generate_series(1, 5) AS n;
FETCH 2 FROM starts;
SAVEPOINT s;
FETCH 1 FROM starts;
ROLLBACK TO s;
FETCH 1 FROM starts;
COMMIT;
SELECT * FROM pg_temp.stand();
-- One that was open before shows what was there then.
BEGIN;
DECLARE waiting CURSOR FOR SELECT correlation_id, activity FROM workflow.waiting ORDER BY 1;
FETCH 1 FROM waiting;
SELECT cardinality(resumed) FROM wf_publish_event('Paid');
FETCH ALL FROM waiting;
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();
-- WITH HOLD: the rest is called at commit.
BEGIN;
DECLARE held NO SCROLL CURSOR WITH HOLD FOR SELECT wf_start('order', correlation_id => n::text) IS NOT NULL AS started FROM generate_series(1, 3) AS n;
FETCH 1 FROM held;
COMMIT;
SELECT * FROM pg_temp.stand();
CLOSE held;
SELECT * FROM pg_temp.forget();

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

-- COPY with a trigger that starts a workflow for each row. A row that does not fit takes all of them back.
DROP TRIGGER start_order ON orders;
CREATE TRIGGER start_order AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION start_order();
COPY orders FROM STDIN;
3	new
4	new
\.
COPY orders FROM STDIN;
5	new
3	again
\.
SELECT * FROM pg_temp.stand();
COPY (SELECT sub_status FROM wf_run('order', correlation_id => 'out')) TO STDOUT;
SELECT * FROM pg_temp.forget();
-- With a trigger for the statement, which sees all of its rows.
CREATE FUNCTION start_orders() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM wf_start('order', correlation_id => id::text) FROM added; RETURN NULL; END $$;
DROP TRIGGER start_order ON orders;
CREATE TRIGGER start_orders AFTER INSERT ON orders REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION start_orders();
COPY orders FROM STDIN;
6	new
7	new
\.
-- In one statement with what it changes.
WITH paid AS (UPDATE orders SET status = 'paid' WHERE id > 5 RETURNING id)
SELECT id, cardinality(resumed) AS resumed FROM paid, wf_publish_event('Paid', correlation_id => id::text) ORDER BY id;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();

-- Procedures that commit and roll back on their way.
CREATE PROCEDURE pg_temp.in_pieces() LANGUAGE plpgsql AS $$
DECLARE
    this uuid := wf_start('order', correlation_id => 'pieces');
    r record;
BEGIN
    COMMIT;
    PERFORM wf_publish_event('Paid', instance_id => this);
    ROLLBACK;
    RAISE WARNING 'waits at %', (SELECT activity FROM workflow.waiting WHERE instance = this);
    PERFORM wf_publish_event('Paid', instance_id => this);
    COMMIT AND CHAIN;
    FOR r IN SELECT n, wf_start('order', correlation_id => 'piece ' || n) FROM generate_series(1, 3) AS n LOOP
        IF r.n = 2 THEN COMMIT; END IF;
    END LOOP;
END $$;
CALL pg_temp.in_pieces();
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();
BEGIN;
SELECT wf_start('order', correlation_id => 'chained') IS NOT NULL AS started;
ROLLBACK AND CHAIN;
SELECT wf_start('order', correlation_id => 'chained') IS NOT NULL AS started;
COMMIT;
SELECT * FROM pg_temp.stand();
SELECT * FROM pg_temp.forget();

-- What a read-only transaction may do is to look.
BEGIN READ ONLY;
SELECT count(*) FROM workflow.waiting;
\set VERBOSITY sqlstate
SELECT wf_start('order');
ROLLBACK;
BEGIN READ ONLY;
SELECT wf_publish_event('Paid', keep_for => '1 hour');
ROLLBACK;
\set VERBOSITY default

-- LISTEN in an activity is the session's once the transaction has committed.
SELECT wf_define('{"definitionId": "listener", "root": [{"type": "Sql", "statement": "LISTEN gossip"}, {"type": "Event", "eventName": "Gossip"}]}') \g /dev/null
BEGIN;
SELECT sub_status FROM wf_run('listener');
ROLLBACK;
SELECT count(*) AS channels FROM pg_listening_channels();
SELECT sub_status FROM wf_run('listener');
SELECT * FROM pg_listening_channels();
UNLISTEN *;
SELECT * FROM pg_temp.forget();

-- Parallel plans: a query of a workflow may have one, its calls may not. Who marks a function that calls us PARALLEL SAFE is
-- told by PostgreSQL.
CREATE TABLE numbers AS SELECT n FROM generate_series(1, 20000) AS n;
ANALYZE numbers;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SELECT wf_define('{"definitionId": "parallel", "variables": {"Even": null}, "root": [
    {"type": "SetVariable", "variable": "Even", "value": {"sql": "SELECT count(*) FROM numbers WHERE n % 2 = 0"}}, {"id": "go", "type": "Event", "eventName": "Go"}]}') \g /dev/null
SELECT count(wf_start('parallel', correlation_id => n::text)) FROM numbers WHERE n < 4;
SELECT correlation_id, sub_status, variables FROM workflow.instance_list ORDER BY correlation_id;
SELECT count(DISTINCT instance_id) FROM workflow.journal;
SELECT count(*) FROM workflow.waiting, wf_resume(bookmark_id);
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \g /dev/null
SELECT wf_define('{"definitionId": "waits", "root": {"id": "go", "type": "Event", "eventName": "Go"}}') \g /dev/null
CREATE FUNCTION start_it(n int) RETURNS uuid LANGUAGE sql PARALLEL SAFE AS $$ SELECT wf_start('waits') $$;
SET parallel_leader_participation = off;
\set VERBOSITY sqlstate
SELECT count(start_it(n)) FROM numbers WHERE n < 4;
CREATE FUNCTION fire_it(n int) RETURNS bigint LANGUAGE sql PARALLEL SAFE AS $$ SELECT wf_run_due() $$;
SELECT count(fire_it(n)) FROM numbers WHERE n < 4;
CREATE FUNCTION schedule_it(n int) RETURNS uuid LANGUAGE sql PARALLEL SAFE AS $$ SELECT wf_schedule('parallel', '@daily', 'SELECT 1') $$;
SELECT count(schedule_it(n)) FROM numbers WHERE n < 4;
\set VERBOSITY default
RESET ALL;
SET client_min_messages = warning;
SELECT * FROM pg_temp.forget();

-- SET ROLE in between: each call is made by the current role of that moment, savepoints and functions included.
CREATE ROLE regress_tx_ada;
CREATE ROLE regress_tx_bob;
SELECT count(wf_grant_usage(role)) FROM unnest(ARRAY['regress_tx_ada', 'regress_tx_bob']) AS role;
SET ROLE regress_tx_ada;
SELECT wf_define('{"definitionId": "mine", "variables": {"Who": null}, "root": [
    {"id": "wait", "type": "Event", "eventName": "Mine"}, {"type": "SetVariable", "variable": "Who", "value": {"sql": "current_user"}}]}') \g /dev/null
SELECT wf_grant('mine', 'regress_tx_bob', '{start}');
RESET ROLE;
BEGIN;
SET LOCAL ROLE regress_tx_ada;
SELECT wf_start('mine', correlation_id => 'Ada''s') IS NOT NULL AS started;
SAVEPOINT s;
SET LOCAL ROLE regress_tx_bob;
SELECT wf_start('mine', correlation_id => 'undone') IS NOT NULL AS started;
SELECT correlation_id FROM workflow.waiting;
ROLLBACK TO s;
SELECT wf_start('mine', correlation_id => 'Ada''s, too') IS NOT NULL AS started;
SET LOCAL ROLE regress_tx_bob;
SELECT wf_start('mine', correlation_id => 'Bob''s') IS NOT NULL AS started;
SELECT correlation_id FROM workflow.waiting;
COMMIT;
SELECT correlation_id, owner FROM workflow.instance_list WHERE definition_id = 'mine' ORDER BY correlation_id;
-- security.md#invoker-the-default: a SECURITY DEFINER function sends as its owner; what is left waits for a session of the other owner
-- A function with the rights of Ada resumes what is hers. Bob's waits for a session of Bob.
CREATE FUNCTION as_ada() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql AS $$ SELECT cardinality(resumed) || ' resumed' FROM wf_publish_event('Mine') $$;
ALTER FUNCTION as_ada() OWNER TO regress_tx_ada;
SET client_min_messages = error;
SET ROLE regress_tx_bob;
SELECT as_ada();
SELECT correlation_id, sub_status FROM workflow.instance_list;
SELECT wf_run_due();
RESET ROLE;
SELECT correlation_id, sub_status, variables FROM workflow.instance_list WHERE definition_id = 'mine' ORDER BY correlation_id;
-- An activity that changes the role changes it for the rest of the transaction, as any function does; a fault takes it back.
SELECT wf_define('{"definitionId": "switch", "variables": {"Who": null}, "root": [
    {"type": "Sql", "statement": "SET LOCAL ROLE regress_tx_bob"}, {"type": "SetVariable", "variable": "Who", "value": {"sql": "current_user"}},
    {"id": "back", "type": "Sql", "statement": "SELECT set_config(''role'', ''regress_tx_ada'', true), 1 / 0"}]}') \g /dev/null
BEGIN;
SELECT sub_status FROM wf_run('switch');
SELECT current_user;
COMMIT;
SELECT current_user, owner, variables FROM workflow.instance_list WHERE definition_id = 'switch';
SELECT * FROM pg_temp.forget();
SELECT * FROM wf_check();
