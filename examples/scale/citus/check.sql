-- What is wrong on which node:  SELECT * FROM shop.check()  returns no row if all is well.
--
-- Not tried on Citus. Run by our tests with stand-ins: everything in this file.

-- On a node: keys whose shard is on another node, with all that wf_export_instances moves: instances (but those of the extension itself), and
-- without an instance stored events, dead letters, messages and schedules.
CREATE FUNCTION shop.misplaced() RETURNS TABLE (shard bigint, keys bigint, instances bigint) LANGUAGE sql AS $$
    SELECT k.shard, count(*), sum(k.instances)::bigint
    FROM (SELECT shop.shard_of(v.key) AS shard, sum(v.n) AS instances
          FROM (SELECT i.correlation_id, 1 FROM workflow.instances AS i WHERE i.definition_id NOT IN ('Workflow.ScheduledCommand', 'Workflow.MigrateInstances')
                UNION ALL SELECT q.correlation_id, 0 FROM workflow.bookmark_queue AS q WHERE q.instance_id IS NULL
                UNION ALL SELECT d.correlation_id, 0 FROM workflow.dead_letters AS d WHERE d.instance_id IS NULL
                UNION ALL SELECT m.key, 0 FROM workflow.messages AS m
                UNION ALL SELECT t.correlation_id, 0 FROM workflow.triggers AS t WHERE t.schedule_name IS NOT NULL) AS v (key, n)
          WHERE v.key IS NOT NULL
          GROUP BY v.key) AS k
    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_dist_placement AS p JOIN pg_catalog.pg_dist_local_group AS l USING (groupid) WHERE p.shardid = k.shard)
    GROUP BY k.shard
$$;

-- On a node: everything that shop.check compares. One statement, since run_command_on_workers reports only on the first.
CREATE FUNCTION shop.report() RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object(
        'misplaced', (SELECT coalesce(jsonb_agg(to_jsonb(m)), '[]') FROM shop.misplaced() AS m),
        'guard', current_setting('workflow.route_check'),
        'definitions', (SELECT md5(string_agg(concat_ws(' ', d.definition_id, d.version, encode(d.digest, 'hex')), ',' ORDER BY d.definition_id, d.version))
                        FROM workflow.definition_list AS d),
        'prepared', (SELECT coalesce(jsonb_agg(x.gid), '[]') FROM pg_prepared_xacts AS x
                     WHERE x.database = current_database() AND x.prepared < now() - interval '5 minutes'))
$$;

CREATE FUNCTION shop.reports() RETURNS TABLE (groupid integer, node text, report jsonb, error text) LANGUAGE sql AS $$
    SELECT n.groupid, n.nodename || ':' || n.nodeport, CASE WHEN r.success THEN r.result::jsonb END, CASE WHEN NOT r.success THEN r.result END
    FROM run_command_on_workers('SELECT shop.report()') AS r JOIN pg_catalog.pg_dist_node AS n ON n.nodename = r.nodename AND n.nodeport = r.nodeport
    WHERE n.noderole = 'primary'
$$;

-- The homes of all shards, as an object. Not a part of the query below, so that Citus need not join a reference table with its catalogs.
CREATE FUNCTION shop.homes() RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN coalesce((SELECT jsonb_object_agg(h.shard, h.groupid) FROM shop.home AS h), '{}');
END $$;

CREATE FUNCTION shop.check() RETURNS TABLE (problem text, node text, shard bigint, detail text) LANGUAGE sql AS $$
    WITH r AS MATERIALIZED (SELECT * FROM shop.reports())
    SELECT 'node reports an error', r.node, NULL::bigint, r.error FROM r WHERE r.error IS NOT NULL
    UNION ALL
    SELECT 'misplaced keys', r.node, (m ->> 'shard')::bigint, format('%s instances of %s keys', m ->> 'instances', m ->> 'keys')
    FROM r CROSS JOIN jsonb_array_elements(r.report -> 'misplaced') AS m
    UNION ALL
    SELECT 'no guard', r.node, NULL, 'workflow.route_check is "' || (r.report ->> 'guard') || '"' FROM r WHERE r.report ->> 'guard' <> 'shop.is_here'
    UNION ALL
    SELECT 'definitions differ', r.node, NULL, 'from ' || f.node
    FROM r CROSS JOIN (SELECT * FROM r WHERE r.error IS NULL AND r.groupid IN (SELECT n.groupid FROM shop.nodes() AS n WHERE NOT n.is_drained)
                       ORDER BY r.groupid LIMIT 1) AS f
    WHERE r.error IS NULL AND r.groupid IN (SELECT n.groupid FROM shop.nodes() AS n WHERE NOT n.is_drained)
      AND r.report ->> 'definitions' IS DISTINCT FROM f.report ->> 'definitions'
    UNION ALL
    SELECT 'deployments are missing', n.nodename || ':' || n.nodeport, NULL, count(*) || ' statements; CALL shop.add_node'
    FROM shop.nodes() AS n CROSS JOIN shop.deployed AS d
    WHERE NOT n.is_drained AND NOT EXISTS (SELECT FROM shop.deployed_on AS o WHERE o.groupid = n.groupid AND o.number = d.number)
    GROUP BY n.nodename, n.nodeport
    UNION ALL
    SELECT 'prepared transaction is older than 5 minutes', r.node, NULL, x FROM r CROSS JOIN jsonb_array_elements_text(r.report -> 'prepared') AS x
    UNION ALL
    SELECT 'closed shard', n.nodename || ':' || n.nodeport, p.shardid,
           CASE WHEN NOT h ? p.shardid::text THEN 'Citus has made it by a split'
                ELSE coalesce('its home is node group ' || (h ->> p.shardid::text), 'a move has not ended') END
    FROM pg_catalog.pg_dist_shard AS s JOIN pg_catalog.pg_dist_placement AS p USING (shardid) JOIN pg_catalog.pg_dist_node AS n USING (groupid)
         CROSS JOIN shop.homes() AS h
    WHERE s.logicalrelid = 'shop.orders'::regclass AND n.noderole = 'primary' AND (h ->> p.shardid::text)::integer IS DISTINCT FROM p.groupid
    UNION ALL
    SELECT 'no copy of shop.home', n.nodename || ':' || n.nodeport, NULL, 'CALL shop.add_node'
    FROM pg_catalog.pg_dist_node AS n
    WHERE n.groupid <> 0 AND n.isactive AND n.noderole = 'primary'
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_dist_shard AS s JOIN pg_catalog.pg_dist_placement AS p USING (shardid)
                      WHERE s.logicalrelid = 'shop.home'::regclass AND p.groupid = n.groupid)
$$;
