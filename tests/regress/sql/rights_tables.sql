-- What a right on a table gives that was not meant: by pg_write_all_data, by a stray GRANT, by default privileges. And what
-- those get who may read everything, or watch. (docs/security.md: "What is open to whom", "Rights on the tables", "What the
-- administrator should know")
-- How it was searched: attempts() tries each statement that needs a right on each table, view and sequence that the catalogue
-- has, so on those of later versions, too. Closed is all but what docs/security.md lists under "Rights on the tables".
\set VERBOSITY terse
CREATE ROLE regress_tables_writer LOGIN IN ROLE pg_write_all_data;
CREATE ROLE regress_tables_reader LOGIN IN ROLE pg_read_all_data;
CREATE ROLE regress_tables_grantee LOGIN;
CREATE ROLE regress_tables_plain LOGIN;
CREATE ROLE regress_tables_monitor LOGIN IN ROLE pg_monitor;

-- A row in every table.
SET workflow.now = '2030-01-01 08:00:00+00';
SET client_min_messages = error;
CREATE FUNCTION stamp(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Stamp', 'stamp(jsonb)');
SELECT wf_define('{"definitionId": "order", "root": [{"type": "RunTask", "taskName": "Check"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "broken", "root": [{"type": "Fault", "message": "no parcel"}]}') \g /dev/null
SELECT wf_grant('order', 'regress_tables_plain', '{start,read}');
SELECT wf_grant_events('regress_tables_plain') AS granted, wf_grant_path('parcels', 'regress_tables_plain') AS removed;
SELECT wf_start('order', '{"secret": "ahem"}', correlation_id => 'o1') AS instance \gset
SELECT wf_start('broken') IS NOT NULL AS faulted;
SELECT wf_publish_event('Nobody', keep_for => '1 minute') \g /dev/null
SELECT wf_schedule('failing', '1 hour', 'SELECT 1 / 0') \g /dev/null
SET workflow.now = '2030-01-01 09:30:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT wf_schedule('nightly', '1 hour', 'SELECT 1') \g /dev/null
SELECT wf_publish_event('Later', keep_for => '30 days') \g /dev/null
RESET client_min_messages;
-- Empty as a rule, or but for an update.
INSERT INTO workflow.schema_1 VALUES (1);
ALTER TABLE workflow.pending_usage DISABLE TRIGGER give_usage;
INSERT INTO workflow.pending_usage VALUES (1, 1);

CREATE FUNCTION contents() RETURNS TABLE (name name, rows bigint, digest text) LANGUAGE plpgsql AS $$
BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND relkind = 'r' LOOP
        RETURN QUERY EXECUTE format('SELECT %L::name, count(*), md5(string_agg(t::text, E''\n'' ORDER BY t::text)) FROM workflow.%I AS t', name, name);
    END LOOP;
END $$;
CREATE TABLE before AS SELECT * FROM contents();
GRANT SELECT ON before TO PUBLIC;
SELECT name AS "tables without a row" FROM before WHERE rows = 0;

-- What the current role gets of everything of ours; each attempt is undone.
CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE FUNCTION attempt(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    number bigint;
BEGIN
    EXECUTE statement;
    GET DIAGNOSTICS number = ROW_COUNT;
    RAISE EXCEPTION USING ERRCODE = 'ZZ000', MESSAGE = CASE WHEN statement ~ '^(INSERT|UPDATE|DELETE|SELECT)' THEN number || ' rows' ELSE 'done' END;
EXCEPTION
    WHEN SQLSTATE 'ZZ000' THEN RETURN sqlerrm;
    WHEN OTHERS THEN RETURN sqlstate;
END $$;
CREATE FUNCTION attempts() RETURNS TABLE (kind text, attempt text, outcome text, objects text) LANGUAGE sql AS $$
    WITH object AS (
        SELECT CASE relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' ELSE 'sequence' END AS kind, c.relname, quote_ident(a.attname) AS attname,
               format('workflow.%I', c.relname) AS name, b.rows
        FROM pg_class AS c JOIN pg_attribute AS a ON attrelid = c.oid AND attnum = 1 LEFT JOIN before AS b ON b.name = c.relname
        WHERE relnamespace = 'workflow'::regnamespace AND relkind IN ('r', 'v', 'S')
    ), trial AS (
        SELECT o.kind, o.name, o.relname, o.rows, s.number, s.attempt, public.attempt(s.statement) AS outcome
        FROM object AS o CROSS JOIN LATERAL (VALUES
            (1, 'SELECT', format('SELECT FROM %s', o.name)),
            (2, 'INSERT', format('INSERT INTO %s DEFAULT VALUES', o.name)),
            (3, 'UPDATE', format('UPDATE %s SET %s = DEFAULT', o.name, o.attname)),
            (4, 'DELETE', format('DELETE FROM %s', o.name)),
            (5, 'TRUNCATE', format('TRUNCATE %s', o.name)),
            (6, 'TRIGGER', format(CASE o.kind WHEN 'view' THEN 'CREATE TRIGGER t INSTEAD OF INSERT ON %s FOR EACH ROW EXECUTE FUNCTION public.fires()'
                                  ELSE 'CREATE TRIGGER t BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION public.fires()' END, o.name)),
            (7, 'POLICY', format('CREATE POLICY p ON %s USING (true)', o.name)),
            (8, 'ALTER', format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY', o.name))) AS s (number, attempt, statement)
        WHERE o.kind <> 'sequence' AND (o.kind = 'table' OR number NOT IN (5, 7, 8))
        UNION ALL
        SELECT o.kind, o.name, o.relname, NULL, s.number, s.attempt, public.attempt(format(s.statement, o.name))
        FROM object AS o CROSS JOIN (VALUES (1, 'nextval', 'DO $do$BEGIN PERFORM nextval(%L); END$do$'), (2, 'setval', 'DO $do$BEGIN PERFORM setval(%L, 2000000000); END$do$')) AS s (number, attempt, statement)
        WHERE o.kind = 'sequence'
        UNION ALL
        SELECT 'schema', 'workflow', 'workflow', NULL, s.number, s.attempt, public.attempt(s.statement)
        FROM (VALUES (1, 'CREATE', 'CREATE TABLE workflow.mine ()')) AS s (number, attempt, statement)
    ), told AS (
        SELECT t.kind, t.number, t.attempt, t.relname,
               CASE WHEN t.kind = 'table' AND t.attempt = 'SELECT' AND t.outcome = t.rows || ' rows' THEN 'all rows'
                    WHEN t.kind = 'view' AND t.attempt = 'SELECT' THEN regexp_replace(t.outcome, '\d+ rows', 'its own')
                    ELSE t.outcome END AS outcome
        FROM trial AS t
    )
    SELECT t.kind, t.attempt, t.outcome,
           CASE WHEN count(*) = (SELECT count(*) FROM told AS u WHERE (u.kind, u.attempt) = (t.kind, t.attempt)) THEN 'all'
                WHEN t.outcome = 'its own' THEN 'the others'
                ELSE string_agg(t.relname, ' ' ORDER BY t.relname) END
    FROM told AS t
    GROUP BY t.kind, t.number, t.attempt, t.outcome
    ORDER BY t.kind, t.number, t.outcome
$$;

-- security.md#what-is-open-to-whom: a right to write, by membership or by GRANT, reaches no row, and neither does COPY FROM
-- A member of pg_write_all_data has INSERT, UPDATE and DELETE on every table there is: on ours he reaches no row. He
-- can move the sequence, which gives no role a right, and may LOCK what he likes, as in every table of the database.
\connect - regress_tables_writer
SELECT * FROM attempts();
-- security.md#rights-on-the-tables: pg_write_all_data gives LOCK TABLE
BEGIN;
LOCK TABLE workflow.instances;
ROLLBACK;
\copy workflow.identity FROM '/dev/null'
-- A schedule's command runs with its owner's rights: the way up that there was.
UPDATE workflow.triggers SET input = '{"statement": ["ALTER ROLE regress_tables_writer SUPERUSER"]}';
\connect - postgres
SET client_min_messages = error;
SET workflow.now = '2030-01-01 11:30:00+00';
SELECT wf_run_due() > 0 AS fired;
RESET client_min_messages;
SELECT name, last_status, command FROM workflow.schedules ORDER BY name;
SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_tables_writer';
TRUNCATE before;
INSERT INTO before SELECT * FROM contents();

-- security.md#rights-on-the-tables: what TRUNCATE, TRIGGER, REFERENCES, BYPASSRLS and CREATE give, and that wf_check() names who holds them
-- A superuser granted everything there is. SELECT shows nothing, INSERT, UPDATE and DELETE reach nothing. TRUNCATE and
-- TRIGGER are not stopped, and say so in wf_check().
GRANT ALL ON ALL TABLES IN SCHEMA workflow TO regress_tables_grantee;
GRANT ALL ON ALL SEQUENCES IN SCHEMA workflow TO regress_tables_grantee;
GRANT UPDATE (input) ON workflow.triggers TO regress_tables_plain;
\connect - regress_tables_grantee
SELECT * FROM attempts();
\copy workflow.identity FROM '/dev/null'
\connect - regress_tables_plain
UPDATE workflow.triggers SET input = '{"statement": ["ALTER ROLE regress_tables_plain SUPERUSER"]}';
\connect - postgres
SELECT DISTINCT problem, regexp_replace(detail, ' on TABLE .*:', ' on a table or view:') AS detail FROM wf_check()
WHERE detail !~ 'REFERENCES' ORDER BY 1, 2;
-- All that is named has its right.
SELECT count(*) > 0 AS named, count(*) FILTER (WHERE NOT has_table_privilege('regress_tables_grantee', (regexp_match(detail, 'TABLE (\S+):'))[1], split_part(detail, ' ', 1))) AS wrongly
FROM wf_check() WHERE detail ~ '^(INSERT|UPDATE|DELETE|TRUNCATE|TRIGGER) on TABLE .*: regress_tables_grantee';
REVOKE ALL ON ALL TABLES IN SCHEMA workflow FROM regress_tables_grantee, regress_tables_plain;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA workflow FROM regress_tables_grantee;
GRANT CREATE ON SCHEMA workflow TO regress_tables_grantee;
ALTER ROLE regress_tables_grantee BYPASSRLS;
SELECT * FROM wf_check() ORDER BY 1, 2;
-- With a right to write BYPASSRLS is everything, as is said.
GRANT pg_write_all_data TO regress_tables_grantee;
SET ROLE regress_tables_grantee;
SELECT DISTINCT attempt, outcome <> '0 rows' AS "reaches rows" FROM attempts() WHERE kind = 'table' AND attempt = 'DELETE';
RESET ROLE;
REVOKE pg_write_all_data FROM regress_tables_grantee;
REVOKE CREATE ON SCHEMA workflow FROM regress_tables_grantee;
ALTER ROLE regress_tables_grantee NOBYPASSRLS;
-- Only those who are members of it are named, also through another role.
REVOKE pg_write_all_data FROM regress_tables_writer;
GRANT regress_tables_writer TO regress_tables_plain;
SELECT * FROM wf_check();
GRANT pg_write_all_data TO regress_tables_writer;
SELECT * FROM wf_check() ORDER BY 1, 2;
REVOKE pg_write_all_data FROM regress_tables_writer;
REVOKE regress_tables_writer FROM regress_tables_plain;
-- Nor is row-level security taken away unseen.
ALTER TABLE workflow.grants DISABLE ROW LEVEL SECURITY;
CREATE POLICY anybody ON workflow.owners USING (true);
SELECT * FROM wf_check() ORDER BY 1, 2;
ALTER TABLE workflow.grants ENABLE ROW LEVEL SECURITY;
DROP POLICY anybody ON workflow.owners;
SELECT name AS "changed tables" FROM before FULL JOIN contents() AS after USING (name, rows, digest) WHERE before IS NULL OR after IS NULL;

-- security.md#rights-on-the-tables: members of pg_read_all_data read every row and write none
-- Who may read everything reads everything, and writes nothing. (COPY and pg_dump: scenario rights_tables)
\connect - regress_tables_reader
SELECT * FROM attempts();
-- security.md#what-postgresql-itself-shows: pg_stats shows nothing of the tables
SELECT count(*) > 0 AS statistics FROM pg_stats WHERE schemaname = 'workflow' AND tablename = 'instances';
\connect - regress_tables_plain
SELECT * FROM attempts();

-- security.md#rights-on-the-tables: a foreign key needs REFERENCES only while it is made, and no right to read
-- A key of one's own table: it is checked as it is made, protects what it refers to, and wants no right to read.
\connect - postgres
GRANT CREATE ON SCHEMA public TO regress_tables_plain;
GRANT REFERENCES ON workflow.instances TO regress_tables_plain;
\connect - regress_tables_plain
CREATE TABLE orders (id int, instance uuid);
INSERT INTO orders VALUES (1, :'instance');
ALTER TABLE orders ADD CONSTRAINT orders_instance_fkey FOREIGN KEY (instance) REFERENCES workflow.instances;
INSERT INTO orders VALUES (2, '01900000-0000-7000-8000-00000000dead');
ALTER TABLE orders DROP CONSTRAINT orders_instance_fkey;
INSERT INTO orders VALUES (2, '01900000-0000-7000-8000-00000000dead');
ALTER TABLE orders ADD CONSTRAINT orders_instance_fkey FOREIGN KEY (instance) REFERENCES workflow.instances NOT VALID;
ALTER TABLE orders VALIDATE CONSTRAINT orders_instance_fkey;
DELETE FROM orders WHERE id = 2;
ALTER TABLE orders VALIDATE CONSTRAINT orders_instance_fkey;
SELECT convalidated FROM pg_constraint WHERE conname = 'orders_instance_fkey';
\connect - postgres
SELECT wf_delete_instance(:'instance');
-- So it does for who may read everything without it being his.
GRANT pg_read_all_data TO regress_tables_plain;
\connect - regress_tables_plain
ALTER TABLE orders DROP CONSTRAINT orders_instance_fkey;
ALTER TABLE orders ADD CONSTRAINT orders_instance_fkey FOREIGN KEY (instance) REFERENCES workflow.instances ON DELETE CASCADE;
-- security.md#rights-on-the-tables: up to 17 REFERENCES gives the rights of the session that deletes
-- Until PostgreSQL 18 the AFTER triggers of a table run with the rights of the session that deletes the row that it refers to.
CREATE TABLE ran (who name);
GRANT INSERT, SELECT ON ran TO PUBLIC;
CREATE FUNCTION notes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES (current_user); RETURN NULL; END $$;
CREATE TRIGGER notes AFTER DELETE ON orders FOR EACH ROW EXECUTE FUNCTION notes();
\connect - postgres
SELECT wf_delete_instance(:'instance');
SELECT count(*) AS orders FROM orders;
SELECT who = CASE WHEN current_setting('server_version_num')::int < 180000 THEN 'postgres' ELSE 'regress_tables_plain' END AS "as is said" FROM ran;
-- So wf_check() names the right there, and only there.
SELECT count(*) = CASE WHEN current_setting('server_version_num')::int < 180000 THEN 1 ELSE 0 END AS "as is said" FROM wf_check()
WHERE detail = 'REFERENCES on TABLE workflow.instances: regress_tables_plain';
REVOKE REFERENCES ON workflow.instances FROM regress_tables_plain;

-- security.md#what-the-administrator-should-know: pg_monitor reads counts and wf_check(), not contents; other roles neither
-- Monitoring: counts of everything without contents, and an error instead of a zero for others.
SET workflow.now = '2020-01-01 08:00:00+00';
SELECT wf_define('{"definitionId": "late", "root": [{"type": "Delay", "timeSpan": "00:00:01"}]}') \g /dev/null
SELECT wf_start('late') IS NOT NULL AS waits;
RESET workflow.now;
\connect - regress_tables_monitor
SELECT open_incidents, latest_incident, dead_letters, latest_dead_letter, failed_schedules, oldest_due FROM workflow.health;
SELECT * FROM wf_check();
SELECT count(*) FROM workflow.open_incidents;
SELECT count(*) FROM workflow.incidents;
\connect - regress_tables_plain
SELECT open_incidents FROM workflow.health;
\connect - postgres
REVOKE pg_read_all_data FROM regress_tables_plain;
\connect - regress_tables_plain
SELECT open_incidents FROM workflow.health;
SELECT * FROM wf_check();
\connect - postgres
SELECT (SELECT count(*) FROM workflow.open_incidents) = open_incidents AS incidents,
       (SELECT count(*) FROM workflow.dead_letter_list WHERE replayed_at IS NULL) = dead_letters AS dead_letters,
       (SELECT count(*) FROM workflow.schedules WHERE last_status IN ('failed', 'interrupted')) = failed_schedules AS schedules FROM workflow.health;
SELECT wf_retry(instance_id) IS NOT NULL AS again, wf_cancel(instance_id) AS cancelled FROM workflow.open_incidents WHERE definition_id = 'broken';
SELECT wf_replay(dead_letter_id) FROM workflow.dead_letter_list;
SELECT wf_unschedule('failing');
SELECT open_incidents, dead_letters, failed_schedules FROM workflow.health;

-- security.md#what-is-open-to-whom: every table has row-level security without a policy for writing, no view can be written through
-- Of all tables and views of ours, those of later versions too.
SELECT c.relname AS "tables without row-level security" FROM pg_class AS c
WHERE relnamespace = 'workflow'::regnamespace AND relkind IN ('r', 'p') AND NOT (relrowsecurity AND NOT relforcerowsecurity AND (
    SELECT count(*) = 1 AND bool_and(polcmd = 'r' AND polpermissive AND polroles = ARRAY['pg_read_all_data'::regrole::oid] AND pg_get_expr(polqual, polrelid) = 'true')
    FROM pg_policy WHERE polrelid = c.oid));
SELECT relname AS "views that can be written" FROM pg_class
WHERE relnamespace = 'workflow'::regnamespace AND relkind NOT IN ('r', 'p') AND pg_relation_is_updatable(oid, true) <> 0;
SELECT relname AS "tables without replica identity" FROM pg_class AS c
WHERE relnamespace = 'workflow'::regnamespace AND relkind IN ('r', 'p') AND relreplident <> 'f' AND NOT EXISTS (
    SELECT FROM pg_index WHERE indrelid = c.oid AND (indisprimary AND relreplident = 'd' OR indisreplident AND relreplident = 'i'));
SELECT g.kind, g.name AS "grants of nothing" FROM workflow._intended_grants() AS g
WHERE g.name <> '*' AND NOT EXISTS (SELECT FROM workflow._objects() AS o WHERE (o.kind, o.name) = (g.kind, g.name));
SELECT proname AS "of the owner alone, yet given" FROM pg_proc WHERE proname IN (SELECT name FROM workflow._intended_grants() WHERE grantee IS NULL)
AND has_function_privilege('regress_tables_plain', oid, 'EXECUTE');
-- security.md#what-is-open-to-whom: the functions that PUBLIC may call
SELECT o.name AS "open to all" FROM workflow._objects() AS o, aclexplode(o.held) AS h
WHERE o.kind = 'function' AND h.grantee = 0 AND o.name !~ '^_' ORDER BY 1;
-- security.md#rights-on-the-tables: TRIGGER on a table gives the rights of the extension's owner
TRUNCATE ran;
GRANT TRIGGER ON workflow.definitions TO regress_tables_plain;
SELECT wf_grant_usage('regress_tables_monitor');
SET ROLE regress_tables_plain;
CREATE TRIGGER notes AFTER INSERT ON workflow.definitions FOR EACH ROW EXECUTE FUNCTION notes();
SET ROLE regress_tables_monitor;
SELECT wf_define('{"definitionId": "watched", "root": []}') \g /dev/null
RESET ROLE;
SELECT who FROM ran;
DROP TRIGGER notes ON workflow.definitions;
SELECT wf_revoke_usage('regress_tables_monitor');
-- Under a publication of all tables what we delete can be deleted. (The publication only asks for it.)
SET client_min_messages = error;
CREATE PUBLICATION everything FOR ALL TABLES;
RESET client_min_messages;
SELECT wf_adopt_database();
DROP PUBLICATION everything;

-- security.md#what-is-open-to-whom: no role but the owner has a right on a table, whatever default privileges there are
-- Default privileges that were there before the extension.
DROP FUNCTION stamp;
DROP EXTENSION workflow CASCADE;
-- security.md#what-the-administrator-should-know: CREATE EXTENSION needs a superuser
SET ROLE regress_tables_plain;
CREATE EXTENSION workflow;
RESET ROLE;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO regress_tables_grantee WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO regress_tables_grantee;
ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO regress_tables_grantee;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TYPES TO regress_tables_grantee;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TYPES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO regress_tables_grantee;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO regress_tables_plain;
-- An event trigger that gives to a role what is made has the same end.
CREATE FUNCTION gives() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    made text;
BEGIN
    FOR made IN SELECT object_identity FROM pg_event_trigger_ddl_commands() WHERE object_type = 'table' LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %s TO regress_tables_monitor', made);
    END LOOP;
END $$;
CREATE EVENT TRIGGER gives ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION gives();
CREATE EXTENSION workflow;
DROP EVENT TRIGGER gives;
TRUNCATE before;
INSERT INTO before SELECT * FROM contents();
CREATE FUNCTION held(role name) RETURNS TABLE (object text, privilege text) LANGUAGE sql AS $$
    SELECT o.target || o.part, h.privilege_type FROM workflow._objects() AS o, aclexplode(o.held) AS h WHERE h.grantee = role::regrole
$$;
SELECT * FROM held('regress_tables_grantee');
SELECT * FROM held('regress_tables_plain');
SELECT * FROM held('regress_tables_monitor');
SELECT has_type_privilege('regress_tables_plain', 'wf_result', 'USAGE') AS type, has_schema_privilege('regress_tables_plain', 'workflow', 'USAGE') AS schema,
       has_function_privilege('regress_tables_plain', 'wf_validate(jsonb, text)', 'EXECUTE') AS function;
SELECT * FROM wf_check();
\connect - regress_tables_grantee
SELECT * FROM attempts();
SELECT wf_start('order');
SELECT wf_grant_usage('regress_tables_grantee');
\connect - postgres
SELECT wf_grant_usage('regress_tables_grantee');
\connect - regress_tables_grantee
SELECT wf_define('{"definitionId": "mine", "root": []}');
\connect - postgres
DROP OWNED BY regress_tables_grantee, regress_tables_plain;
