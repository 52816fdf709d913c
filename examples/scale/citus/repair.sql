-- Brings what is on another node than its shard there, and opens closed shards, also those that Citus has made by a split:
-- CALL shop.repair()  only says what it would do, CALL shop.repair(dry_run => false)  does it.
--
-- Not tried on Citus. Run by our tests with stand-ins: everything in this file.
CREATE PROCEDURE shop.repair(dry_run boolean DEFAULT true) LANGUAGE plpgsql AS $$
DECLARE
    broken record;
BEGIN
    IF EXISTS (SELECT FROM shop.reports() AS r WHERE r.error IS NOT NULL) THEN
        RAISE EXCEPTION 'a node reports an error' USING ERRCODE = '55000', HINT = 'SELECT * FROM shop.check().';
    END IF;
    FOR broken IN
        SELECT c.shard, n.nodename, n.nodeport, string_agg(format('%s (%s: %s)', c.problem, c.node, c.detail), ', ' ORDER BY c.problem, c.node) AS problems
        FROM shop.check() AS c JOIN pg_catalog.pg_dist_placement AS p ON p.shardid = c.shard JOIN pg_catalog.pg_dist_node AS n USING (groupid)
        WHERE n.noderole = 'primary' AND c.problem IN ('misplaced keys', 'closed shard')
        GROUP BY 1, 2, 3 ORDER BY 1
    LOOP
        RAISE INFO 'shard % of %:%: %', broken.shard, broken.nodename, broken.nodeport, broken.problems;
        IF NOT dry_run THEN
            -- A move to where a closed shard is collects what other nodes have for it.
            PERFORM shop.close_shard(broken.shard);
            COMMIT;
            CALL shop.move_shard(broken.shard, broken.nodename, broken.nodeport);
        END IF;
    END LOOP;
END $$;
