-- For operators: one view over the current lists of all nodes. Each query asks every node, so it is for occasional use and not for an inbox
-- that people refresh. The nodes are the foreign servers of the database; the roles of their user mappings read the lists there:
--
--   CREATE EXTENSION postgres_fdw;
--   CREATE SERVER node1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'node1', dbname 'app');
--   CREATE USER MAPPING FOR CURRENT_USER SERVER node1 OPTIONS (user 'monitor', password '…');
DO $$
DECLARE
    node name;
    lists text[] := '{}';
BEGIN
    FOR node IN SELECT srvname FROM pg_foreign_server AS s JOIN pg_foreign_data_wrapper AS w ON w.oid = s.srvfdw WHERE fdwname = 'postgres_fdw' ORDER BY 1 LOOP
        EXECUTE format('CREATE SCHEMA %I', node);
        EXECUTE format('IMPORT FOREIGN SCHEMA workflow LIMIT TO (instance_list, open_tasks, open_incidents, health) FROM SERVER %1$I INTO %1$I', node);
        lists := lists || format('SELECT %L AS node, l.instance_id, l.definition_id, l.correlation_id, l.sub_status, l.updated_at FROM %I.instance_list AS l', node, node);
    END LOOP;
    EXECUTE 'CREATE VIEW all_instances AS ' || array_to_string(lists, ' UNION ALL ');
END $$;
