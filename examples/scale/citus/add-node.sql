-- Prepares a new node:  SELECT citus_add_node('node3', 5432);  CALL shop.add_node('node3', 5432);
-- Citus gives it the roles, functions and settings that it has passed on, thus the guard, but no definitions and no grants of workflow.
-- Afterwards shop.rebalance or shop.move_shard gives it shards.
--
-- The same call brings a drained node up to date that returns.
--
-- Tried on Citus 13.2.2: that a new node has the guard and no definitions. Not tried there: this procedure. Run by our tests with
-- stand-ins: everything in this file; the stand-in moves no shard while a node lacks a reference table, as Citus does.
CREATE PROCEDURE shop.add_node(node_name text, node_port integer) LANGUAGE plpgsql AS $$
DECLARE
    donor record;
BEGIN
    IF NOT EXISTS (SELECT FROM shop.nodes() AS n WHERE n.nodename = node_name AND n.nodeport = node_port) THEN
        RAISE EXCEPTION 'Citus has no active node "%:%"', node_name, node_port USING ERRCODE = '22023', HINT = 'Call citus_add_node.';
    END IF;
    -- Citus gives a new node no copy of a reference table, and moves no shard before each node has one. The guard reads shop.home.
    PERFORM replicate_reference_tables('block_writes');
    COMMIT;
    -- Statements reach a node by a shard of shop.deployment. The fullest node gives one; its own route is its lowest shard.
    IF EXISTS (SELECT FROM shop.nodes() AS n WHERE n.nodename = node_name AND n.nodeport = node_port AND n.route IS NULL) THEN
        SELECT max(s.shardid) AS shard, n.nodename, n.nodeport INTO donor
        FROM pg_catalog.pg_dist_shard AS s JOIN pg_catalog.pg_dist_placement AS p USING (shardid) JOIN pg_catalog.pg_dist_node AS n USING (groupid)
        WHERE s.logicalrelid = 'shop.deployment'::regclass AND n.noderole = 'primary'
        GROUP BY n.nodename, n.nodeport ORDER BY count(*) DESC LIMIT 1;
        PERFORM citus_move_shard_placement(donor.shard, donor.nodename, donor.nodeport, node_name, node_port, 'block_writes');
        COMMIT;
    END IF;
    PERFORM shop.deploy_missing();
    COMMIT;
END $$;
