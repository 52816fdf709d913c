-- Tables, guard and calls of a shop on Citus. Run it on the coordinator as a superuser, after CREATE EXTENSION citus and workflow, with
-- shared_preload_libraries = 'citus,workflow' on all servers and the nodes added. The coordinator must have no shards
-- (citus_set_coordinator_host, shouldhaveshards = false). Leave max_prepared_transactions at 0, and Citus sets twice max_connections: with 50,
-- one of two INSERTs of 400 rows failed. Sessions of a pool may be shared between transactions. Each node also has connections from the others.
--
-- Tried on Citus 13.2.2 with PostgreSQL 15.20: the distributed tables, the row trigger, ON CONFLICT, delegated functions, a guard that reads
-- a reference table. Not tried there: this text as a whole, the isolation check, and the try-lock. Run by our tests with stand-ins for
-- Citus's functions (tests/scenarios/nodes/citus_standin.sql): everything in this file.
CREATE SCHEMA shop;
CREATE TABLE shop.orders (order_id text PRIMARY KEY, amount numeric NOT NULL DEFAULT 0);
CREATE TABLE shop.steps (order_id text NOT NULL, step text NOT NULL);
CREATE TABLE shop.wf_call (
    key text, message text, kind text NOT NULL, name text NOT NULL, body jsonb, result jsonb, called_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (key, message));
-- Each table has a file for each of its shards: with 1,024, the fifth table failed with "Too many open files".
SELECT create_distributed_table('shop.orders', 'order_id', shard_count := 64);
SELECT create_distributed_table('shop.steps', 'order_id', colocate_with := 'shop.orders');
SELECT create_distributed_table('shop.wf_call', 'key', colocate_with := 'shop.orders');

-- The node group that may answer calls for a shard; NULL while the shard moves, closed_by then being the number of the move. Citus changes the
-- placement of a shard on its own; only shop.move_shard and shop.repair change its home. So a shard that Citus has moved alone is closed on
-- both nodes, and one that Citus has split is closed until shop.repair.
CREATE TABLE shop.home (shard bigint PRIMARY KEY, groupid integer, closed_by bigint);
SELECT create_reference_table('shop.home');
SELECT format('INSERT INTO shop.home (shard, groupid) VALUES %s', string_agg(format('(%s, %s)', shardid, groupid), ', '))
FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) WHERE logicalrelid = 'shop.orders'::regclass
\gexec

-- NULL has no shard; Citus would raise an error.
CREATE FUNCTION shop.shard_of(key text) RETURNS bigint LANGUAGE sql AS $$
    SELECT CASE WHEN key IS NOT NULL THEN pg_catalog.get_shard_id_for_distribution_column('shop.orders', key) END
$$;

-- The guard. It fails closed: both the placement and the home must be here. The shared lock keeps the shard here until the transaction ends;
-- a move takes it exclusively. The guard does not wait for a move: a transaction that has locked rows of the shard would wait for the move's
-- lock while the move waits for the rows, on two nodes, which Citus's deadlock detection does not see for advisory locks. The caller gets 40001
-- and repeats. The rows are read after the lock, which needs a new snapshot for each statement, hence READ COMMITTED.
CREATE FUNCTION shop.is_here(key text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    its_shard bigint := pg_catalog.get_shard_id_for_distribution_column('shop.orders', key);
    this_group integer := (SELECT l.groupid FROM pg_catalog.pg_dist_local_group AS l);
BEGIN
    IF this_group = 0 THEN
        RAISE EXCEPTION 'workflow functions cannot be called on the coordinator'
            USING ERRCODE = '55000', HINT = 'Insert into shop.wf_call, or call a delegated function.';
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'workflow functions on Citus need isolation level READ COMMITTED' USING ERRCODE = '0A000';
    END IF;
    IF NOT EXISTS (SELECT FROM shop.home AS h WHERE h.shard = its_shard AND h.groupid = this_group)
       OR NOT pg_try_advisory_xact_lock_shared(its_shard) THEN
        RETURN false;
    END IF;
    RETURN EXISTS (SELECT FROM pg_catalog.pg_dist_placement AS p WHERE p.shardid = its_shard AND p.groupid = this_group)
       AND EXISTS (SELECT FROM shop.home AS h WHERE h.shard = its_shard AND h.groupid = this_group);
END $$;
-- Citus passes on CREATE FUNCTION and ALTER DATABASE to its nodes.
SELECT format('ALTER DATABASE %I SET workflow.route_check = %L', current_database(), 'shop.is_here')
\gexec

-- Calls of several keys in one transaction, from any node: a row goes to the shard of its key, and its trigger makes the call there.
-- Send it with ON CONFLICT, so that a repeated message returns the first answer instead of 23505:
--     INSERT INTO shop.wf_call (key, message, kind, name, body) VALUES (…)
--     ON CONFLICT (key, message) DO UPDATE SET result = excluded.result RETURNING result
CREATE FUNCTION shop.on_wf_call() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.result := public.wf_call(NEW.key, NEW.message, NEW.kind, NEW.name, NEW.body);
    RETURN NEW;
END $$;
SET citus.enable_unsafe_triggers = on;      -- "unsafe" are triggers that leave the shard of the row; this one stays
CREATE TRIGGER call BEFORE INSERT ON shop.wf_call FOR EACH ROW EXECUTE FUNCTION shop.on_wf_call();
RESET citus.enable_unsafe_triggers;

-- Nothing else removes these rows. The engine remembers a message for workflow.message_retention, whether its row is here or not.
CREATE FUNCTION shop.trim_calls(older_than interval DEFAULT '1 day') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    trimmed bigint;
BEGIN
    DELETE FROM shop.wf_call WHERE called_at < now() - older_than;
    GET DIAGNOSTICS trimmed = ROW_COUNT;
    RETURN trimmed;
END $$;

-- Calls of one key: Citus sends the whole function to the node of its first argument. A NULL there crashed the coordinator of 13.2.2, so
-- never pass one (whether STRICT prevents it was not tried). SQL in such a function, and in a workflow that it runs, reaches the rows of this
-- node's shard and reference tables only.
CREATE FUNCTION shop.begin_order(order_id text, message text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO shop.orders VALUES ($1) ON CONFLICT DO NOTHING;
    RETURN public.wf_call($1, $2, 'start', 'order');
END $$;
-- A row that is not visible yet, because its node died between PREPARE and COMMIT, is not updated: the count says so.
CREATE FUNCTION shop.pay_order(order_id text, message text, amount numeric) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    UPDATE shop.orders AS o SET amount = $3 WHERE o.order_id = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'order % is not visible', $1 USING ERRCODE = '40001', HINT = 'Repeat the call.';
    END IF;
    RETURN public.wf_call($1, $2, 'event', 'OrderPaid');
END $$;
SELECT create_distributed_function('shop.begin_order(text,text)', '$1', colocate_with := 'shop.orders', force_delegation := true);
SELECT create_distributed_function('shop.pay_order(text,text,numeric)', '$1', colocate_with := 'shop.orders', force_delegation := true);

-- A key that Citus sends to a shard.
CREATE FUNCTION shop.route_of(shard bigint, prefix text DEFAULT 'route') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    distributed regclass := (SELECT s.logicalrelid FROM pg_catalog.pg_dist_shard AS s WHERE s.shardid = shard);
BEGIN
    FOR n IN 1 .. 1000000 LOOP
        IF pg_catalog.get_shard_id_for_distribution_column(distributed, prefix || '-' || n) = shard THEN RETURN prefix || '-' || n; END IF;
    END LOOP;
    RAISE EXCEPTION 'no key was found for shard %', shard;
END $$;
