-- Stand-ins for the parts of Citus that examples/scale/citus uses, because Citus itself cannot be had where these tests run. They model what
-- matters there: one transaction on the coordinator is one transaction on each node that takes part, ended by two-phase commit. They cannot
-- show how Citus itself plans or delegates a statement.
--
-- Run it on the coordinator and on each node, with these variables of psql: group (0: coordinator), first, second (directories of sockets).
-- The same files of the example are then run on each node and last on the coordinator, since nothing here passes on DDL.
SET allow_system_table_mods = on;
CREATE EXTENSION dblink;
CREATE SCHEMA standin;
CREATE TABLE pg_catalog.pg_dist_local_group (groupid integer PRIMARY KEY);
CREATE TABLE pg_catalog.pg_dist_node (
    nodeid integer PRIMARY KEY, groupid integer, nodename text, nodeport integer, noderole text DEFAULT 'primary', isactive boolean DEFAULT true,
    shouldhaveshards boolean DEFAULT true);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint, low integer, high integer);
CREATE TABLE pg_catalog.pg_dist_placement (shardid bigint, groupid integer, PRIMARY KEY (shardid, groupid));
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", colocationid integer);
INSERT INTO pg_catalog.pg_dist_local_group VALUES (:group);
INSERT INTO pg_catalog.pg_dist_node VALUES (1, 1, :'first', 5432), (2, 2, :'second', 5432);
CREATE TABLE standin.colocated (tab regclass, with_tab regclass, key text);
CREATE TABLE standin.strategies (name text, allowed regproc, is_default boolean DEFAULT false);
CREATE TABLE standin.participants (xid xid8, groupid integer);

-- Events are counted in each session: statements on nodes, PREPARE and COMMIT PREPARED. At the one that standin.stop_at names, the session
-- waits until the test releases an advisory lock.
CREATE FUNCTION standin.reach() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    n integer := coalesce(nullif(current_setting('standin.reached', true), ''), '0')::integer + 1;
BEGIN
    PERFORM set_config('standin.reached', n::text, false);
    IF n::text = current_setting('standin.stop_at', true) THEN
        PERFORM pg_advisory_lock(42);
        PERFORM pg_advisory_unlock(42);
    END IF;
END $$;

CREATE FUNCTION standin.dsn(node integer) RETURNS text LANGUAGE sql AS $$
    SELECT format('host=%s port=%s dbname=%s user=postgres', n.nodename, n.nodeport, current_database()) FROM pg_dist_node AS n WHERE n.groupid = node $$;

-- Ends what finished transactions have prepared, as Citus does after a commit and in its maintenance daemon.
CREATE FUNCTION pg_catalog.recover_prepared_transactions() RETURNS integer LANGUAGE plpgsql SET search_path = public, pg_catalog AS $$
DECLARE
    node record;
    prepared text;
    outcome text;
    ended integer := 0;
BEGIN
    FOR node IN SELECT n.groupid FROM pg_dist_node AS n ORDER BY 1 LOOP
        FOR prepared IN SELECT gid FROM dblink(standin.dsn(node.groupid), 'SELECT gid FROM pg_prepared_xacts WHERE database = current_database()') AS t (gid text) LOOP
            outcome := pg_xact_status(split_part(prepared, '_', 2)::xid8);
            IF outcome <> 'in progress' THEN
                PERFORM standin.reach();
                PERFORM dblink_exec(standin.dsn(node.groupid), format('%s PREPARED %L', CASE outcome WHEN 'committed' THEN 'COMMIT' ELSE 'ROLLBACK' END, prepared));
                ended := ended + 1;
            END IF;
        END LOOP;
    END LOOP;
    RETURN ended;
END $$;

-- Runs a statement in the part of this transaction on a node.
CREATE FUNCTION standin.on_node(node integer, statement text) RETURNS text LANGUAGE plpgsql SET search_path = public, pg_catalog AS $$
DECLARE
    connection text := 'node' || node;
    answer text;
BEGIN
    IF NOT EXISTS (SELECT FROM standin.participants AS p WHERE p.xid = pg_current_xact_id()) THEN
        PERFORM recover_prepared_transactions();
    END IF;
    IF NOT connection = ANY (coalesce(dblink_get_connections(), '{}')) THEN
        PERFORM dblink_connect(connection, standin.dsn(node));
    END IF;
    IF NOT EXISTS (SELECT FROM standin.participants AS p WHERE p.xid = pg_current_xact_id() AND p.groupid = node) THEN
        PERFORM dblink_exec(connection, 'BEGIN');
        INSERT INTO standin.participants VALUES (pg_current_xact_id(), node);
    END IF;
    PERFORM standin.reach();
    SELECT t.answer INTO answer FROM dblink(connection, statement) AS t (answer text);
    RETURN answer;
END $$;
CREATE FUNCTION standin.prepare() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_catalog AS $$
BEGIN
    PERFORM standin.reach();
    PERFORM dblink_exec('node' || NEW.groupid, format('PREPARE TRANSACTION %L', 'citus_' || NEW.xid || '_' || NEW.groupid));
    DELETE FROM standin.participants AS p WHERE p.xid = NEW.xid AND p.groupid = NEW.groupid;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER prepare AFTER INSERT ON standin.participants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION standin.prepare();

-- A node does not pass on DDL, and rejects it unless it is told not to pass it on.
CREATE FUNCTION standin.reject() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT groupid FROM pg_dist_local_group) <> 0 AND coalesce(current_setting('citus.enable_ddl_propagation', true), '') <> 'off' THEN
        RAISE 'operation is not allowed on this node';
    END IF;
END $$;
CREATE EVENT TRIGGER reject ON ddl_command_start WHEN TAG IN ('GRANT', 'REVOKE') EXECUTE FUNCTION standin.reject();

-- Metadata of tables. The shards of two tables that are created in the same order everywhere have the same numbers.
CREATE SEQUENCE standin.shard START 102008;
CREATE FUNCTION pg_catalog.create_distributed_table(tab regclass, key text, shard_count integer DEFAULT 32, colocate_with text DEFAULT 'default') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    shard bigint;
    size bigint := 4294967296 / shard_count;
BEGIN
    INSERT INTO pg_dist_partition
    SELECT tab, 'h', CASE WHEN colocate_with IN ('default', 'none') THEN (SELECT count(DISTINCT p.colocationid) + 1 FROM pg_dist_partition AS p)
                          ELSE (SELECT p.colocationid FROM pg_dist_partition AS p WHERE p.logicalrelid = colocate_with::regclass) END;
    INSERT INTO standin.colocated VALUES (tab, CASE WHEN colocate_with IN ('default', 'none') THEN tab ELSE colocate_with::regclass END, key);
    IF colocate_with IN ('default', 'none') THEN
        FOR i IN 0 .. shard_count - 1 LOOP
            shard := nextval('standin.shard');
            INSERT INTO pg_dist_shard VALUES (tab, shard, -2147483648 + i * size, -2147483648 + (i + 1) * size - 1);
            -- The second node is added later.
            INSERT INTO pg_dist_placement VALUES (shard, 1);
        END LOOP;
    END IF;
    IF (SELECT groupid FROM pg_dist_local_group) = 0 THEN
        EXECUTE format('CREATE TRIGGER a_forward BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION standin.forward_row(%L)', tab, key);
    END IF;
END $$;
CREATE FUNCTION pg_catalog.get_shard_id_for_distribution_column(tab regclass, key anyelement) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT s.shardid FROM pg_catalog.pg_dist_shard AS s
    WHERE s.logicalrelid = (SELECT c.with_tab FROM standin.colocated AS c WHERE c.tab = $1)
      AND pg_catalog.hashtext($2::text) BETWEEN s.low AND s.high $$;
CREATE FUNCTION standin.group_of(tab regclass, key text) RETURNS integer LANGUAGE sql AS $$
    SELECT p.groupid FROM pg_dist_placement AS p WHERE p.shardid = get_shard_id_for_distribution_column(tab, key) $$;

-- Writes on the coordinator. A row goes to its node, whose triggers run there, and not to the table of the coordinator. A trigger does not see
-- ON CONFLICT: calls are the only rows that are inserted with it.
CREATE FUNCTION standin.forward_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM standin.on_node(standin.group_of(TG_RELID, to_jsonb(NEW) ->> TG_ARGV[0]),
        format('INSERT INTO %1$s SELECT (jsonb_populate_record(NULL::%1$s, %2$L)).* ', TG_RELID::regclass, to_jsonb(NEW))
        || CASE TG_TABLE_NAME WHEN 'wf_call' THEN 'ON CONFLICT (key, message) DO UPDATE SET result = excluded.result' ELSE '' END);
    RETURN NULL;
END $$;
-- The only reference table is shop.home. The second node has no copy before replicate_reference_tables; its own rows, from when the files
-- were run on it, do not count.
CREATE FUNCTION pg_catalog.create_reference_table(tab regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    shard bigint := nextval('standin.shard');
BEGIN
    INSERT INTO pg_dist_partition SELECT tab, 'n', count(DISTINCT p.colocationid) + 1 FROM pg_dist_partition AS p;
    INSERT INTO pg_dist_shard VALUES (tab, shard, NULL, NULL);
    INSERT INTO pg_dist_placement VALUES (shard, 1);
    IF (SELECT groupid FROM pg_dist_local_group) = 0 THEN
        EXECUTE format('CREATE TRIGGER a_forward AFTER INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION standin.forward_home()', tab);
    END IF;
END $$;
CREATE FUNCTION standin.without_reference() RETURNS SETOF integer LANGUAGE sql AS $$
    SELECT n.groupid FROM pg_dist_node AS n
    WHERE NOT EXISTS (SELECT FROM pg_dist_placement AS p JOIN pg_dist_shard AS s USING (shardid) WHERE s.low IS NULL AND p.groupid = n.groupid) $$;
CREATE FUNCTION standin.forward_home() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM standin.on_node(n.groupid, format('INSERT INTO shop.home SELECT * FROM jsonb_populate_record(NULL::shop.home, %L) '
        'ON CONFLICT (shard) DO UPDATE SET groupid = excluded.groupid, closed_by = excluded.closed_by', to_jsonb(NEW)))
    FROM pg_dist_node AS n WHERE n.groupid NOT IN (SELECT standin.without_reference()) ORDER BY n.groupid;
    RETURN NULL;
END $$;
CREATE FUNCTION pg_catalog.replicate_reference_tables(mode text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    copied integer;
    reference bigint := (SELECT s.shardid FROM pg_dist_shard AS s WHERE s.low IS NULL);
BEGIN
    FOR copied IN SELECT standin.without_reference() LOOP
        PERFORM standin.on_node(copied, 'TRUNCATE shop.home');
        PERFORM standin.on_node(copied, format('INSERT INTO shop.home SELECT * FROM jsonb_populate_recordset(NULL::shop.home, %L)', (SELECT jsonb_agg(to_jsonb(h)) FROM shop.home AS h)));
        PERFORM standin.on_node(n.groupid, format('INSERT INTO pg_dist_placement VALUES (%s, %s)', reference, copied)) FROM pg_dist_node AS n ORDER BY n.groupid;
        INSERT INTO pg_dist_placement VALUES (reference, copied);
    END LOOP;
END $$;
CREATE FUNCTION pg_catalog.create_distributed_function(name regprocedure, distribution_arg_name text DEFAULT NULL, colocate_with text DEFAULT 'default', force_delegation boolean DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    of record;
BEGIN
    SELECT p.oid::regproc AS called, pg_get_function_identity_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result,
           (SELECT string_agg('%L', ', ') FROM generate_series(1, p.pronargs)) AS places, (SELECT string_agg('$' || n, ', ' ORDER BY n) FROM generate_series(1, p.pronargs) AS n) AS parameters
    INTO of FROM pg_proc AS p WHERE p.oid = name;
    IF (SELECT groupid FROM pg_dist_local_group) = 0 THEN
        EXECUTE format('CREATE OR REPLACE FUNCTION %s(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RETURN standin.on_node(standin.group_of(%L, $1), format(%L, %s)); END $f$',
            of.called, of.arguments, of.result, colocate_with, format('SELECT %s(%s)', of.called, of.places), of.parameters);
        EXECUTE format('ALTER FUNCTION %s RESET ALL', name);
    END IF;
END $$;

-- The rows of all tables of a shard, and the metadata everywhere, in one transaction.
CREATE FUNCTION pg_catalog.citus_move_shard_placement(shard bigint, source_name text, source_port integer, target_name text, target_port integer, mode text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    source integer := (SELECT n.groupid FROM pg_dist_node AS n WHERE n.nodename = source_name);
    target integer := (SELECT n.groupid FROM pg_dist_node AS n WHERE n.nodename = target_name);
    of record;
    moved text;
BEGIN
    IF EXISTS (SELECT standin.without_reference()) THEN RAISE 'there are missing reference tables on some nodes'; END IF;
    IF source IS DISTINCT FROM (SELECT p.groupid FROM pg_dist_placement AS p WHERE p.shardid = shard) THEN RAISE 'shard % is not there', shard; END IF;
    FOR of IN SELECT c.tab, c.key FROM standin.colocated AS c JOIN pg_dist_shard AS s ON s.logicalrelid = c.with_tab WHERE s.shardid = shard ORDER BY c.tab::text LOOP
        moved := standin.on_node(source, format('WITH d AS (DELETE FROM %1$s WHERE get_shard_id_for_distribution_column(%1$L, %2$I) = %3$s RETURNING *) SELECT jsonb_agg(to_jsonb(d)) FROM d', of.tab, of.key, shard));
        IF moved IS NOT NULL THEN
            PERFORM standin.on_node(target, format('SET LOCAL session_replication_role = replica; INSERT INTO %1$s SELECT * FROM jsonb_populate_recordset(NULL::%1$s, %2$L); SET LOCAL session_replication_role = origin', of.tab, moved));
        END IF;
    END LOOP;
    PERFORM standin.on_node(n.groupid, format('UPDATE pg_dist_placement SET groupid = %s WHERE shardid = %s', target, shard)) FROM pg_dist_node AS n ORDER BY n.groupid;
    UPDATE pg_dist_placement SET groupid = target WHERE shardid = shard;
END $$;

-- Both parts stay on their node.
CREATE FUNCTION pg_catalog.citus_split_shard_by_split_points(shard bigint, points text[], nodes integer[], mode text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    split text := format('WITH parts AS (INSERT INTO pg_dist_shard SELECT s.logicalrelid, v.* FROM pg_dist_shard AS s '
        'CROSS JOIN LATERAL (VALUES (%2$s, s.low, %4$s), (%3$s, %4$s + 1, s.high)) AS v WHERE s.shardid = %1$s RETURNING shardid), '
        'placed AS (INSERT INTO pg_dist_placement SELECT r.shardid, p.groupid FROM parts AS r CROSS JOIN pg_dist_placement AS p WHERE p.shardid = %1$s), '
        'gone AS (DELETE FROM pg_dist_shard WHERE shardid = %1$s), moved AS (DELETE FROM pg_dist_placement WHERE shardid = %1$s) SELECT count(*)::text FROM parts',
        shard, nextval('standin.shard'), nextval('standin.shard'), points[1]);
BEGIN
    PERFORM standin.on_node(n.groupid, split) FROM pg_dist_node AS n ORDER BY n.groupid;
    EXECUTE split;
END $$;

CREATE FUNCTION pg_catalog.run_command_on_workers(command text) RETURNS TABLE (nodename text, nodeport integer, success boolean, result text) LANGUAGE plpgsql SET search_path = public, pg_catalog AS $$
DECLARE
    node record;
BEGIN
    PERFORM recover_prepared_transactions();
    FOR node IN SELECT * FROM pg_dist_node AS n ORDER BY n.groupid LOOP
        nodename := node.nodename;
        nodeport := node.nodeport;
        BEGIN
            SELECT true, t.answer INTO success, result FROM dblink(standin.dsn(node.groupid), command) AS t (answer text);
        EXCEPTION WHEN OTHERS THEN
            success := false;
            result := SQLERRM;
        END;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE FUNCTION pg_catalog.citus_add_rebalance_strategy(name text, cost text, capacity text, allowed regproc, threshold real) RETURNS void LANGUAGE sql AS $$ INSERT INTO standin.strategies VALUES (name, allowed) $$;
CREATE FUNCTION pg_catalog.citus_set_default_rebalance_strategy(name text) RETURNS void LANGUAGE sql AS $$ UPDATE standin.strategies AS s SET is_default = s.name = $1 $$;

-- Moves what the default strategy allows, to the other node.
CREATE FUNCTION pg_catalog.citus_drain_node(name text, port integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    strategy text := (SELECT s.allowed FROM standin.strategies AS s WHERE s.is_default);
    moved record;
    is_allowed boolean;
BEGIN
    UPDATE pg_dist_node SET shouldhaveshards = false WHERE nodename = name;
    FOR moved IN
        SELECT s.shardid, t.nodename, t.nodeport, t.nodeid
        FROM pg_dist_shard AS s JOIN pg_dist_placement AS p USING (shardid) JOIN pg_dist_node AS n USING (groupid) JOIN pg_dist_node AS t ON t.groupid <> n.groupid
        WHERE n.nodename = name AND s.low IS NOT NULL ORDER BY s.shardid
    LOOP
        EXECUTE format('SELECT %s($1, $2)', strategy) INTO is_allowed USING moved.shardid, moved.nodeid;
        IF is_allowed THEN
            PERFORM citus_move_shard_placement(moved.shardid, name, port, moved.nodename, moved.nodeport, 'block_writes');
        END IF;
    END LOOP;
END $$;
