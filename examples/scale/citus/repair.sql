-- Brings misplaced instances to the node of their shard, and opens closed shards:  CALL shop.repair()  only says what it would do,
-- CALL shop.repair(dry_run => false)  does it. Do not run it during a move.
--
-- Not tried on Citus. Run by our tests with stand-ins: everything in this file.

-- A node that no longer has the shard is reached by a shard of shop.deployment.
CREATE FUNCTION shop.leave_stray(route text, shard bigint, source integer) RETURNS bytea[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN shop.export_shard(shard, source);
END $$;
SELECT create_distributed_function('shop.leave_stray(text,bigint,integer)', '$1', colocate_with := 'shop.deployment', force_delegation := true);

CREATE PROCEDURE shop.repair(dry_run boolean DEFAULT true) LANGUAGE plpgsql AS $$
DECLARE
    stray record;
    closed record;
    pieces bytea[];
BEGIN
    IF EXISTS (SELECT FROM shop.reports() AS r WHERE r.error IS NOT NULL) THEN
        RAISE EXCEPTION 'a node reports an error' USING ERRCODE = '55000', HINT = 'SELECT * FROM shop.check().';
    END IF;
    FOR stray IN
        SELECT r.groupid AS source, r.node, n.route, m.shard, m.keys, m.instances, p.groupid AS target
        FROM shop.reports() AS r JOIN shop.nodes() AS n USING (groupid)
             CROSS JOIN jsonb_to_recordset(r.report -> 'misplaced') AS m (shard bigint, keys bigint, instances bigint)
             JOIN pg_catalog.pg_dist_placement AS p ON p.shardid = m.shard
        ORDER BY m.shard, r.groupid
    LOOP
        RAISE INFO 'shard %: % instances of % keys from % to node group %', stray.shard, stray.instances, stray.keys, stray.node, stray.target;
        IF NOT dry_run THEN
            EXECUTE format('SELECT shop.leave_stray(%L, %s, %s)', stray.route, stray.shard, stray.source) INTO pieces;
            EXECUTE format('SELECT shop.arrive(%L, %s, %s, %L::bytea[])', shop.route_of(stray.shard), stray.shard, stray.target, pieces);
            COMMIT;
        END IF;
    END LOOP;
    FOR closed IN
        SELECT p.shardid, p.groupid
        FROM pg_catalog.pg_dist_shard AS s JOIN pg_catalog.pg_dist_placement AS p USING (shardid) LEFT JOIN shop.home AS h ON h.shard = p.shardid
        WHERE s.logicalrelid = 'shop.orders'::regclass AND h.groupid IS DISTINCT FROM p.groupid ORDER BY 1
    LOOP
        RAISE INFO 'shard %: opens on node group %', closed.shardid, closed.groupid;
        IF NOT dry_run THEN
            UPDATE shop.home AS h SET groupid = closed.groupid WHERE h.shard = closed.shardid;
            COMMIT;
        END IF;
    END LOOP;
END $$;
