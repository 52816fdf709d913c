-- What is wrong on which node:  SELECT * FROM shop.check()  returns no row if all is well.
--
-- Not tried on Citus. Run by our tests with stand-ins: everything in this file.

-- On a node: keys with instances, stored events or messages, whose shard is on another node.
CREATE FUNCTION shop.misplaced() RETURNS TABLE (shard bigint, keys bigint, instances bigint) LANGUAGE sql AS $$
    SELECT k.shard, count(*), coalesce(sum(k.instances), 0)::bigint
    FROM (SELECT pg_catalog.get_shard_id_for_distribution_column('shop.orders', v.key) AS shard, sum(v.n) AS instances
          FROM (SELECT i.correlation_id, 1 FROM workflow.instances AS i WHERE i.correlation_id IS NOT NULL
                UNION ALL SELECT q.correlation_id, 0 FROM workflow.bookmark_queue AS q WHERE q.correlation_id IS NOT NULL
                UNION ALL SELECT m.key, 0 FROM workflow.messages AS m) AS v (key, n)
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

CREATE FUNCTION shop.check() RETURNS TABLE (problem text, node text, shard bigint, detail text) LANGUAGE sql AS $$
    WITH r AS MATERIALIZED (SELECT * FROM shop.reports())
    SELECT 'node reports an error', r.node, NULL::bigint, r.error FROM r WHERE r.error IS NOT NULL
    UNION ALL
    SELECT 'misplaced instances', r.node, (m ->> 'shard')::bigint, format('%s instances of %s keys', m ->> 'instances', m ->> 'keys')
    FROM r CROSS JOIN jsonb_array_elements(r.report -> 'misplaced') AS m
    UNION ALL
    SELECT 'no guard', r.node, NULL, 'workflow.route_check is "' || (r.report ->> 'guard') || '"' FROM r WHERE r.report ->> 'guard' <> 'shop.is_here'
    UNION ALL
    SELECT 'definitions differ', r.node, NULL, 'from ' || f.node
    FROM r CROSS JOIN (SELECT * FROM r WHERE r.error IS NULL ORDER BY r.groupid LIMIT 1) AS f
    WHERE r.error IS NULL AND r.report ->> 'definitions' IS DISTINCT FROM f.report ->> 'definitions'
    UNION ALL
    SELECT 'prepared transaction is older than 5 minutes', r.node, NULL, x FROM r CROSS JOIN jsonb_array_elements_text(r.report -> 'prepared') AS x
    UNION ALL
    SELECT 'closed shard', n.nodename || ':' || n.nodeport, p.shardid, coalesce('its home is node group ' || h.groupid, 'a move has not ended')
    FROM pg_catalog.pg_dist_shard AS s JOIN pg_catalog.pg_dist_placement AS p USING (shardid) JOIN pg_catalog.pg_dist_node AS n USING (groupid)
         LEFT JOIN shop.home AS h ON h.shard = p.shardid
    WHERE s.logicalrelid = 'shop.orders'::regclass AND n.noderole = 'primary' AND h.groupid IS DISTINCT FROM p.groupid
$$;
