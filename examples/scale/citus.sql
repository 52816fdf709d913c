-- Several nodes with Citus: the business tables are distributed, the tables of the engine are not. Run on the coordinator, as a
-- superuser, with shared_preload_libraries = 'citus,workflow' and max_prepared_transactions > 0 on all nodes. Citus installs the
-- extension on each node that it knows.
CREATE SCHEMA shop;
CREATE TABLE shop.orders (order_id text PRIMARY KEY, amount numeric);
SELECT create_distributed_table('shop.orders', 'order_id', shard_count := 1024);

-- The guard, on every node: an id belongs to the node that has its shard. A call locks the shard in shared mode until its transaction ends;
-- whoever moves the shard with its instances first takes that lock in exclusive mode.
SELECT run_command_on_all_nodes($c$
    CREATE OR REPLACE FUNCTION shop.is_here(key text) RETURNS boolean LANGUAGE plpgsql AS $f$
    DECLARE
        shard bigint := pg_catalog.get_shard_id_for_distribution_column('shop.orders', key);
    BEGIN
        PERFORM pg_catalog.pg_advisory_xact_lock_shared(shard);
        RETURN EXISTS (SELECT FROM pg_catalog.pg_dist_placement AS p JOIN pg_catalog.pg_dist_local_group AS l ON l.groupid = p.groupid
                       WHERE p.shardid = shard);
    END $f$
$c$);
SELECT run_command_on_all_nodes($c$ ALTER DATABASE $c$ || quote_ident(current_database()) || $c$ SET workflow.route_check = 'shop.is_here' $c$);

-- Calls from any node, in any transaction: a row goes to the shard of its key, and its trigger makes the call there. Because of the
-- message, repeating a call has no effect.
CREATE TABLE shop.wf_call (key text, message text, kind text NOT NULL, name text NOT NULL, body jsonb, result jsonb, PRIMARY KEY (key, message));
SELECT create_distributed_table('shop.wf_call', 'key', colocate_with := 'shop.orders');
CREATE FUNCTION shop.on_wf_call() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.result := public.wf_call(NEW.key, NEW.message, NEW.kind, NEW.name, NEW.body);
    RETURN NEW;
END $$;
SET citus.enable_unsafe_triggers = on;      -- "unsafe" are triggers that leave the shard of the row; this one stays
CREATE TRIGGER call BEFORE INSERT ON shop.wf_call FOR EACH ROW EXECUTE FUNCTION shop.on_wf_call();
RESET citus.enable_unsafe_triggers;

-- The same definitions on all nodes, or on none.
BEGIN;
SELECT run_command_on_all_nodes($c$
    SET workflow.notify_triggers = off;
    SELECT wf_define('{"definitionId": "order", "root": {"id": "paid", "type": "Event", "eventName": "OrderPaid"}}')
$c$);
COMMIT;

BEGIN;
INSERT INTO shop.orders VALUES ('A-42', 250);
INSERT INTO shop.wf_call (key, message, kind, name) VALUES ('A-42', 'web-1', 'start', 'order') RETURNING result;
COMMIT;
BEGIN;
UPDATE shop.orders SET amount = 200 WHERE order_id = 'A-42';
INSERT INTO shop.wf_call (key, message, kind, name, body) VALUES ('A-42', 'bank-901', 'event', 'OrderPaid', '{"amount": 200}') RETURNING result;
COMMIT;

-- Do not use citus_rebalance_start(), which moves shards without their instances; do not call wf_* on the coordinator; and do not
-- distribute the functions of the extension, since whether Citus sends such a call to a node depends on the shape of the query, and a NULL
-- key crashed Citus 13.2.
