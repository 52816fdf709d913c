-- Definitions and grants on all nodes, or on none. run_command_on_all_nodes cannot do that: it commits on each node separately, and reports
-- success if the first statement of several succeeded. Here each node gets one row of one INSERT, and a trigger runs its statement, so
-- Citus's two-phase commit decides for all nodes at once.
--
-- Tried on Citus 13.2.2: such a table with such a trigger for wf_define, committed and rolled back. Not tried there: grants, and these
-- functions. Run by our tests with stand-ins: everything in this file; the stand-in rejects GRANT on a node as Citus does.
CREATE TABLE shop.deployment (route text, groupid integer NOT NULL, number integer, statement text NOT NULL, PRIMARY KEY (route, number));
-- At least one shard for each node, also in future. Its shards have no instances, so Citus may move them.
SELECT create_distributed_table('shop.deployment', 'route', shard_count := 32, colocate_with := 'none');

-- The statement runs with the rights of the role that inserts. wf_grant_usage executes GRANT, which Citus would pass on from the coordinator
-- only ("operation is not allowed on this node"). Here each node executes it for itself.
CREATE FUNCTION shop.on_deployment() RETURNS trigger LANGUAGE plpgsql
SET workflow.notify_triggers = off SET citus.enable_ddl_propagation = off AS $$
BEGIN
    EXECUTE NEW.statement;
    RETURN NEW;
END $$;
SET citus.enable_unsafe_triggers = on;
CREATE TRIGGER deploy BEFORE INSERT ON shop.deployment FOR EACH ROW EXECUTE FUNCTION shop.on_deployment();
RESET citus.enable_unsafe_triggers;

-- On the coordinator only: all statements in their order, and which node has them.
CREATE TABLE shop.deployed (number integer PRIMARY KEY, statement text NOT NULL);
CREATE TABLE shop.deployed_on (groupid integer, number integer REFERENCES shop.deployed, PRIMARY KEY (groupid, number));

-- For each node a key that leads to it by a shard of shop.deployment; NULL if it has none, as after a drain.
CREATE FUNCTION shop.nodes() RETURNS TABLE (groupid integer, nodename text, nodeport integer, route text, is_drained boolean) LANGUAGE sql AS $$
    SELECT n.groupid, n.nodename, n.nodeport, CASE WHEN s.shardid IS NOT NULL THEN shop.route_of(s.shardid, 'node-' || n.groupid) END,
           s.shardid IS NULL AND NOT n.shouldhaveshards
    FROM pg_catalog.pg_dist_node AS n
         LEFT JOIN LATERAL (SELECT min(s.shardid) AS shardid FROM pg_catalog.pg_dist_shard AS s JOIN pg_catalog.pg_dist_placement AS p USING (shardid)
                            WHERE s.logicalrelid = 'shop.deployment'::regclass AND p.groupid = n.groupid) AS s ON true
    WHERE n.groupid <> 0 AND n.isactive AND n.noderole = 'primary'
$$;

-- Runs what a node does not have, in order. Returns the number of statements.
CREATE FUNCTION shop.deploy_missing() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    missing record;
    total bigint := 0;
BEGIN
    LOCK TABLE shop.deployed_on IN SHARE ROW EXCLUSIVE MODE;
    FOR missing IN
        SELECT string_agg(format('(%L, %s, %s, %L)', n.route, n.groupid, d.number, d.statement), ', ') AS rows, array_agg(n.groupid) AS groups,
               string_agg(n.nodename, ', ') FILTER (WHERE n.route IS NULL) AS unreachable, d.number
        FROM shop.deployed AS d CROSS JOIN shop.nodes() AS n
        WHERE NOT n.is_drained AND NOT EXISTS (SELECT FROM shop.deployed_on AS o WHERE o.groupid = n.groupid AND o.number = d.number)
        GROUP BY d.number ORDER BY d.number
    LOOP
        IF missing.unreachable IS NOT NULL THEN
            RAISE EXCEPTION 'no shard of shop.deployment is on %', missing.unreachable USING ERRCODE = '55000', HINT = 'Call shop.add_node.';
        END IF;
        EXECUTE 'INSERT INTO shop.deployment (route, groupid, number, statement) VALUES ' || missing.rows;
        INSERT INTO shop.deployed_on SELECT unnest(missing.groups), missing.number;
        total := total + 1;
    END LOOP;
    RETURN total;
END $$;

-- Runs one statement on all nodes, such as SELECT wf_define('…'), or SELECT wf_grant_usage('app').
CREATE FUNCTION shop.deploy(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE shop.deployed_on IN SHARE ROW EXCLUSIVE MODE;
    INSERT INTO shop.deployed SELECT coalesce(max(d.number), 0) + 1, deploy.statement FROM shop.deployed AS d;
    RETURN shop.deploy_missing();
END $$;
