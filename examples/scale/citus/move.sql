-- Moves a shard together with its instances:  CALL shop.move_shard(102008, 'node3', 5432)
--
-- 1. Closes the shard: its home becomes NULL on all nodes. Calls for its keys now fail with 40001, and timers stay due.
-- 2. If it was closed before, or was not where its home was (an interrupted move, Citus's rebalancer, a split): brings what each other node
--    has for it to the node that has its rows. What the new node has stays there.
-- 3. In one transaction: waits for calls that were admitted before and exports the instances, moves the rows, and imports the instances.
-- 4. Opens the shard on its new node. A node that has not yet committed step 3 still holds the shard's lock, so no call is too early there.
--
-- If it is interrupted, call it again: until then the shard is closed, or unchanged. Of two sessions that move a shard, one gets 55006. Set
-- lock_timeout if long transactions use the shard. All instances of one key have to fit into workflow.memory_limit.
--
-- A tree of instances (parents and their children) moves as a whole. If its correlation ids belong to several shards, none of these can move:
-- the call fails with 55000, before it closes the shard unless only an instance without an id connects them, or the shard was closed.
--
-- A session that still has the old metadata may send the SQL of a timer to the old node just after a move (42P01; one timer in 53 moves). The
-- instance then has an incident: wf_retry.
--
-- Tried on Citus 13.2.2, 64 times: in one transaction a delegated export, citus_move_shard_placement, and a delegated import, each once. Not
-- tried there: that a procedure runs them, the steps around them (only a guard that reads such a table), the search for trees, and several
-- exports and imports in the transaction, for shards with more than 32 MB of instances. Run by our tests with stand-ins, with kills at each
-- statement: everything here.

-- On a node: keys of a shard from one on, in order, or NULL. The tables are those of shop.misplaced.
CREATE FUNCTION shop.next_keys(shard bigint, from_key text, most integer) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(v.key ORDER BY v.key)
    FROM ((SELECT DISTINCT i.correlation_id FROM workflow.instances AS i
           WHERE i.correlation_id >= from_key AND i.definition_id NOT IN ('Workflow.ScheduledCommand', 'Workflow.MigrateInstances')
             AND shop.shard_of(i.correlation_id) = shard ORDER BY 1 LIMIT most)
          UNION (SELECT DISTINCT q.correlation_id FROM workflow.bookmark_queue AS q
                 WHERE q.correlation_id >= from_key AND q.instance_id IS NULL AND shop.shard_of(q.correlation_id) = shard ORDER BY 1 LIMIT most)
          UNION (SELECT DISTINCT d.correlation_id FROM workflow.dead_letters AS d
                 WHERE d.correlation_id >= from_key AND d.instance_id IS NULL AND shop.shard_of(d.correlation_id) = shard ORDER BY 1 LIMIT most)
          UNION (SELECT DISTINCT m.key FROM workflow.messages AS m WHERE m.key >= from_key AND shop.shard_of(m.key) = shard ORDER BY 1 LIMIT most)
          UNION (SELECT DISTINCT t.correlation_id FROM workflow.triggers AS t
                 WHERE t.correlation_id >= from_key AND t.schedule_name IS NOT NULL AND shop.shard_of(t.correlation_id) = shard ORDER BY 1 LIMIT most)
          ORDER BY 1 LIMIT most) AS v (key)
$$;

-- On a node: these keys, and those that parents and children of their instances have, which move together.
CREATE FUNCTION shop.with_related(keys text[]) RETURNS text[] LANGUAGE sql AS $$
    WITH RECURSIVE related (id, parent, key) AS (
        SELECT i.id, i.parent_instance_id, i.correlation_id FROM workflow.instances AS i WHERE i.correlation_id = ANY (keys)
        UNION
        SELECT n.id, n.parent, n.key FROM related AS r CROSS JOIN LATERAL (
            SELECT i.id, i.parent_instance_id, i.correlation_id FROM workflow.instances AS i WHERE i.parent_instance_id = r.id
            UNION ALL SELECT i.id, i.parent_instance_id, i.correlation_id FROM workflow.instances AS i WHERE i.id = r.parent
            UNION ALL SELECT i.id, i.parent_instance_id, i.correlation_id FROM workflow.instances AS i WHERE i.correlation_id = r.key)
            AS n (id, parent, key))
    SELECT array_agg(k.key) FROM (SELECT r.key FROM related AS r UNION SELECT unnest(keys)) AS k (key) WHERE k.key IS NOT NULL
$$;

-- On the node that is meant: packs and removes about `most_bytes` of what a shard has here, from a key on. The first element of the result is
-- the key with which the next call continues, NULL if nothing is left.
CREATE FUNCTION shop.export_some(shard bigint, source integer, from_key text, most_bytes bigint) RETURNS bytea[] LANGUAGE plpgsql AS $$
DECLARE
    this_group integer := (SELECT l.groupid FROM pg_catalog.pg_dist_local_group AS l);
    keys text[];
    related text[];
    other_key text;
    most integer := 4;
    pieces bytea[];
    bytes bigint;
    total bigint := 0;
    packed bytea[] := '{}';
BEGIN
    IF this_group <> source THEN
        RAISE EXCEPTION 'the export of shard % runs on node group %, not on %', shard, this_group, source USING ERRCODE = '55000';
    END IF;
    PERFORM pg_advisory_xact_lock(shard);
    LOOP
        keys := shop.next_keys(shard, from_key, 10000);
        IF keys IS NULL THEN
            RETURN array_prepend(NULL, packed);
        END IF;
        WHILE keys <> '{}' LOOP
            related := shop.with_related(keys[:most]);
            other_key := (SELECT min(k) FROM unnest(related) AS k WHERE shop.shard_of(k) <> shard);
            IF other_key IS NOT NULL THEN
                RAISE EXCEPTION 'a tree of instances has correlation ids of shard % and of another one', shard USING ERRCODE = '55000',
                    DETAIL = format('"%s" is of shard %s.', other_key, shop.shard_of(other_key)),
                    HINT = 'A tree moves as a whole. Delete it after it has ended. CALL shop.repair(dry_run => false) opens the shard where it is.';
            END IF;
            pieces := ARRAY(SELECT public.wf_export_instances(keys => related, remove => true));
            IF pieces = '{}' AND (shop.next_keys(shard, keys[1], 1))[1] = ANY (keys[:most]) THEN
                RAISE EXCEPTION 'the export of shard % is empty, but there are instances', shard USING ERRCODE = '55000';
            END IF;
            bytes := (SELECT coalesce(sum(length(p)), 0) FROM unnest(pieces) AS p);
            total := total + bytes;
            packed := packed || pieces;
            from_key := keys[least(most, cardinality(keys))];
            IF total >= most_bytes THEN
                RETURN array_prepend(convert_to(from_key, 'UTF8'), packed);
            END IF;
            keys := keys[most + 1:];
            most := CASE WHEN bytes > most_bytes / 8 THEN greatest(most / 8, 1) ELSE least(most * 2, 256) END;
        END LOOP;
    END LOOP;
END $$;

-- The first argument decides the node to which Citus sends these functions: that of a shard of shop.orders, or of shop.deployment for a node
-- that has no shard of shop.orders to be reached by. While a shard is closed, only arrive may import.
CREATE FUNCTION shop.leave(route text, shard bigint, source integer, from_key text, most_bytes bigint) RETURNS bytea[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN shop.export_some(shard, source, from_key, most_bytes);
END $$;
CREATE FUNCTION shop.leave_stray(route text, shard bigint, source integer, from_key text, most_bytes bigint) RETURNS bytea[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN shop.export_some(shard, source, from_key, most_bytes);
END $$;
CREATE FUNCTION shop.arrive(route text, shard bigint, target integer, pieces bytea[]) RETURNS bigint LANGUAGE plpgsql SET workflow.route_check = '' AS $$
DECLARE
    piece bytea;
    imported bigint := 0;
BEGIN
    IF (SELECT l.groupid FROM pg_catalog.pg_dist_local_group AS l) <> target THEN
        RAISE EXCEPTION 'the import of shard % does not run on node group %', shard, target USING ERRCODE = '55000';
    END IF;
    PERFORM pg_advisory_xact_lock(shard);
    FOREACH piece IN ARRAY pieces LOOP
        imported := imported + public.wf_import_instances(ARRAY[piece]);
    END LOOP;
    RETURN imported;
END $$;
SELECT create_distributed_function('shop.leave(text,bigint,integer,text,bigint)', '$1', colocate_with := 'shop.orders', force_delegation := true);
SELECT create_distributed_function('shop.leave_stray(text,bigint,integer,text,bigint)', '$1', colocate_with := 'shop.deployment', force_delegation := true);
SELECT create_distributed_function('shop.arrive(text,bigint,integer,bytea[])', '$1', colocate_with := 'shop.orders', force_delegation := true);

-- On the node of a shard: a parent and a child of which only one belongs to the shard, or NULL.
CREATE FUNCTION shop.find_cross_shard_tree(route text, shard bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT format('"%s" of shard %s and "%s" of shard %s', p.correlation_id, shop.shard_of(p.correlation_id),
                          c.correlation_id, shop.shard_of(c.correlation_id))
            FROM workflow.instances AS c JOIN workflow.instances AS p ON p.id = c.parent_instance_id
            WHERE (shop.shard_of(p.correlation_id) = find_cross_shard_tree.shard) <> (shop.shard_of(c.correlation_id) = find_cross_shard_tree.shard) LIMIT 1);
END $$;
SELECT create_distributed_function('shop.find_cross_shard_tree(text,bigint)', '$1', colocate_with := 'shop.orders', force_delegation := true);
-- On the coordinator.
CREATE FUNCTION shop.cross_shard_tree_of(shard bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    EXECUTE format('SELECT shop.find_cross_shard_tree(%L, %s)', shop.route_of(shard), shard) INTO found;
    RETURN found;
END $$;

-- On the coordinator only: what was exported and not yet imported. No row outlives its transaction.
CREATE UNLOGGED TABLE shop.parcel (shard bigint, number integer GENERATED ALWAYS AS IDENTITY, pieces bytea[]);

-- A datum in text format has a limit of 1 GB, so an export is fetched in parts. The calls are built as text: Citus needs constant arguments.
CREATE FUNCTION shop.collect(exporter text, route text, shard bigint, source integer, most_bytes bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    from_key text := '';
    pieces bytea[];
BEGIN
    WHILE from_key IS NOT NULL LOOP
        EXECUTE format('SELECT shop.%I(%L, %s, %s, %L, %s)', exporter, route, shard, source, from_key, most_bytes) INTO STRICT pieces;
        from_key := convert_from(pieces[1], 'UTF8');
        IF cardinality(pieces) > 1 THEN
            INSERT INTO shop.parcel (shard, pieces) VALUES (collect.shard, pieces[2:]);
        END IF;
    END LOOP;
END $$;
CREATE FUNCTION shop.hand_over(shard bigint, target integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    parcel record;
    route text := shop.route_of(shard);
BEGIN
    FOR parcel IN SELECT p.pieces FROM shop.parcel AS p WHERE p.shard = hand_over.shard ORDER BY p.number LOOP
        EXECUTE format('SELECT shop.arrive(%L, %s, %s, %L::bytea[])', route, shard, target, parcel.pieces);
    END LOOP;
    DELETE FROM shop.parcel AS p WHERE p.shard = hand_over.shard;
END $$;

-- Until this transaction ends, no other session moves the shard. `ticket` is the number of the move that has closed the shard: between its
-- transactions another session may have taken over.
CREATE FUNCTION shop.lock_move(shard bigint, ticket bigint DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(shard) THEN
        RAISE EXCEPTION 'another session moves shard %', shard USING ERRCODE = '55006';
    ELSIF ticket IS NOT NULL AND NOT EXISTS (
        SELECT FROM shop.home AS h WHERE h.shard = lock_move.shard AND h.groupid IS NULL AND h.closed_by = ticket) THEN
        RAISE EXCEPTION 'another session has taken over the move of shard %', shard USING ERRCODE = '55006';
    END IF;
END $$;
-- Returns the number of the move.
CREATE FUNCTION shop.close_shard(shard bigint) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    ticket bigint := pg_current_xact_id()::text::bigint;
BEGIN
    PERFORM shop.lock_move(close_shard.shard);
    INSERT INTO shop.home (shard, groupid, closed_by) VALUES (close_shard.shard, NULL, ticket)
    ON CONFLICT (shard) DO UPDATE SET groupid = NULL, closed_by = excluded.closed_by;
    RETURN ticket;
END $$;

-- Call it outside a transaction block.
CREATE PROCEDURE shop.move_shard(shard bigint, target_name text, target_port integer, most_bytes bigint DEFAULT 33554432) LANGUAGE plpgsql AS $$
DECLARE
    source record;
    target integer;
    node record;
    was_open boolean;
    ticket bigint;
    tree text;
BEGIN
    PERFORM shop.lock_move(shard);
    SELECT n.groupid INTO target FROM pg_catalog.pg_dist_node AS n
    WHERE n.nodename = target_name AND n.nodeport = target_port AND n.isactive AND n.noderole = 'primary';
    SELECT n.groupid, n.nodename, n.nodeport INTO source
    FROM pg_catalog.pg_dist_shard AS s JOIN pg_catalog.pg_dist_placement AS p USING (shardid) JOIN pg_catalog.pg_dist_node AS n USING (groupid)
    WHERE s.shardid = shard AND s.logicalrelid = 'shop.orders'::regclass AND n.noderole = 'primary';
    IF target IS NULL OR source.groupid IS NULL THEN
        RAISE EXCEPTION 'there is no node "%:%", or no shard % of shop.orders', target_name, target_port, shard USING ERRCODE = '22023';
    END IF;
    tree := CASE WHEN source.groupid <> target THEN shop.cross_shard_tree_of(shard) END;
    IF tree IS NOT NULL THEN
        RAISE EXCEPTION 'a tree of instances has correlation ids of shard % and of another one', shard USING ERRCODE = '55000',
            DETAIL = 'They are ' || tree || '.', HINT = 'A tree moves as a whole. Delete it after it has ended.';
    END IF;
    was_open := EXISTS (SELECT FROM shop.home AS h WHERE h.shard = move_shard.shard AND h.groupid = source.groupid);
    ticket := shop.close_shard(shard);
    COMMIT;

    IF NOT was_open THEN
        FOR node IN SELECT * FROM shop.nodes() AS n WHERE n.groupid NOT IN (source.groupid, target) ORDER BY n.groupid LOOP
            -- A drained node cannot be reached, and need not be if it has nothing.
            CONTINUE WHEN node.route IS NULL AND EXISTS (
                SELECT FROM shop.reports() AS r
                WHERE r.groupid = node.groupid AND NOT r.report -> 'misplaced' @> jsonb_build_array(jsonb_build_object('shard', move_shard.shard)));
            IF node.route IS NULL THEN
                RAISE EXCEPTION 'no shard of shop.deployment is on %', node.nodename USING ERRCODE = '55000', HINT = 'Call shop.add_node.';
            END IF;
            PERFORM shop.lock_move(shard, ticket);
            PERFORM shop.collect('leave_stray', node.route, shard, node.groupid, most_bytes);
            PERFORM shop.hand_over(shard, source.groupid);
            COMMIT;
        END LOOP;
    END IF;
    IF source.groupid <> target THEN
        PERFORM shop.lock_move(shard, ticket);
        PERFORM shop.collect('leave', shop.route_of(shard), shard, source.groupid, most_bytes);
        PERFORM citus_move_shard_placement(shard, source.nodename, source.nodeport, target_name, target_port, 'block_writes');
        PERFORM shop.hand_over(shard, target);
        COMMIT;
    END IF;
    PERFORM shop.lock_move(shard, ticket);
    UPDATE shop.home AS h SET groupid = target, closed_by = NULL WHERE h.shard = move_shard.shard;
    COMMIT;
END $$;
