-- Moves a shard together with its instances:  CALL shop.move_shard(102008, 'node3', 5432)
--
-- 1. Closes the shard: its home becomes NULL on all nodes. Calls for its keys now fail with 40001, and timers stay due.
-- 2. In one transaction: waits for calls that were admitted before and exports the instances, moves the rows, and imports the instances.
-- 3. Opens the shard on its new node. A node that has not yet committed step 2 still holds the shard's lock, so no call is too early there.
-- If a step is interrupted, call it again; an interrupted step leaves the shard closed or unchanged. Set lock_timeout if long transactions use
-- the shard.
--
-- Tried on Citus 13.2.2, 64 times: the three statements of step 2 in one transaction. Not tried there: that a procedure runs them, and steps
-- 1 and 3 (only a guard that reads such a table). Run by our tests with stand-ins, with kills at each statement: everything in this file.
CREATE FUNCTION shop.moves(key text) RETURNS boolean LANGUAGE sql AS $$
    SELECT pg_catalog.get_shard_id_for_distribution_column('shop.orders', key) = pg_catalog.current_setting('shop.shard')::bigint
$$;

-- Packs and removes the instances of a shard on this node, which must be the one that is meant.
CREATE FUNCTION shop.export_shard(shard bigint, source integer) RETURNS bytea[] LANGUAGE plpgsql AS $$
DECLARE
    this_group integer := (SELECT l.groupid FROM pg_catalog.pg_dist_local_group AS l);
    has_some boolean;
    pieces bytea[];
BEGIN
    IF this_group <> source THEN
        RAISE EXCEPTION 'the export of shard % runs on node group %, not on %', shard, this_group, source USING ERRCODE = '55000';
    END IF;
    PERFORM pg_advisory_xact_lock(shard);
    PERFORM set_config('shop.shard', shard::text, true);
    has_some := EXISTS (SELECT FROM workflow.instances AS i WHERE i.correlation_id IS NOT NULL AND shop.moves(i.correlation_id));
    pieces := ARRAY(SELECT public.wf_export_instances(predicate => 'shop.moves(text)', remove => true));
    IF has_some AND pieces = '{}' THEN
        RAISE EXCEPTION 'the export of shard % is empty, but there are instances', shard USING ERRCODE = '55000';
    END IF;
    RETURN pieces;
END $$;

-- The first argument decides the node, to which Citus sends these functions. While the shard is closed, only arrive may import.
CREATE FUNCTION shop.leave(route text, shard bigint, source integer) RETURNS bytea[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN shop.export_shard(shard, source);
END $$;
CREATE FUNCTION shop.arrive(route text, shard bigint, target integer, pieces bytea[]) RETURNS bigint LANGUAGE plpgsql SET workflow.route_check = '' AS $$
BEGIN
    IF (SELECT l.groupid FROM pg_catalog.pg_dist_local_group AS l) <> target THEN
        RAISE EXCEPTION 'the import of shard % does not run on node group %', shard, target USING ERRCODE = '55000';
    END IF;
    PERFORM pg_advisory_xact_lock(shard);
    RETURN public.wf_import_instances(pieces);
END $$;
SELECT create_distributed_function('shop.leave(text,bigint,integer)', '$1', colocate_with := 'shop.orders', force_delegation := true);
SELECT create_distributed_function('shop.arrive(text,bigint,integer,bytea[])', '$1', colocate_with := 'shop.orders', force_delegation := true);

-- Call it outside a transaction block. The calls are built as text, so that Citus sees constant arguments.
CREATE PROCEDURE shop.move_shard(shard bigint, target_name text, target_port integer) LANGUAGE plpgsql AS $$
DECLARE
    source record;
    target integer;
    pieces bytea[];
BEGIN
    SELECT n.groupid INTO target FROM pg_catalog.pg_dist_node AS n
    WHERE n.nodename = target_name AND n.nodeport = target_port AND n.isactive AND n.noderole = 'primary';
    SELECT n.groupid, n.nodename, n.nodeport INTO source
    FROM pg_catalog.pg_dist_shard AS s JOIN pg_catalog.pg_dist_placement AS p USING (shardid) JOIN pg_catalog.pg_dist_node AS n USING (groupid)
    WHERE s.shardid = shard AND s.logicalrelid = 'shop.orders'::regclass AND n.noderole = 'primary';
    IF target IS NULL OR source.groupid IS NULL THEN
        RAISE EXCEPTION 'there is no node "%:%", or no shard % of shop.orders', target_name, target_port, shard USING ERRCODE = '22023';
    END IF;

    UPDATE shop.home AS h SET groupid = NULL WHERE h.shard = move_shard.shard;
    COMMIT;
    IF source.groupid <> target THEN
        EXECUTE format('SELECT shop.leave(%L, %s, %s)', shop.route_of(shard), shard, source.groupid) INTO pieces;
        PERFORM citus_move_shard_placement(shard, source.nodename, source.nodeport, target_name, target_port, 'block_writes');
        EXECUTE format('SELECT shop.arrive(%L, %s, %s, %L::bytea[])', shop.route_of(shard), shard, target, pieces);
        COMMIT;
    END IF;
    UPDATE shop.home AS h SET groupid = target WHERE h.shard = move_shard.shard;
    COMMIT;
END $$;
