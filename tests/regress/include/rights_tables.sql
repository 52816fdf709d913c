\set ECHO none
-- A row in every table, roles with rights of several kinds, and attempts(): for the sessions that ask what a right on a table gives
-- that was not meant.

-- How it was searched: attempts() tries each statement that needs a right on each table, view and sequence that the catalogue
-- has, so on those of later versions, too. Closed is all but what docs/security.md lists under "Rights on the tables".
\set VERBOSITY terse
CREATE ROLE regress_tables_reader LOGIN IN ROLE pg_read_all_data;
CREATE ROLE regress_tables_grantee LOGIN;
CREATE ROLE regress_tables_plain LOGIN;
CREATE ROLE regress_tables_monitor LOGIN IN ROLE pg_monitor;
CREATE ROLE regress_tables_worker;

-- A row in every table.
SET workflow.now = '2030-01-01 08:00:00+00';
SET client_min_messages = error;
CREATE FUNCTION stamp(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Stamp', 'stamp(jsonb)');
SELECT wf_define('{"definitionId": "order", "root": [{"type": "RunTask", "taskName": "Check"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "broken", "root": [{"type": "Compensable"}, {"type": "Fault", "message": "no parcel"}]}') \g /dev/null
SELECT wf_grant('order', 'regress_tables_plain', '{start,read}');
SELECT wf_grant_events('regress_tables_plain') AS granted, wf_grant_path('parcels', 'regress_tables_plain') AS removed;
SELECT wf_grant_worker('regress_tables_worker');
SELECT wf_start('order', '{"secret": "ahem"}', correlation_id => 'o1') AS instance \gset
SELECT wf_start('broken') IS NOT NULL AS faulted;
SELECT wf_publish_event('Nobody', keep_for => '1 minute') \g /dev/null
SELECT wf_schedule('failing', '1 hour', 'SELECT 1 / 0') \g /dev/null
SET workflow.now = '2030-01-01 09:30:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT wf_schedule('nightly', '1 hour', 'SELECT 1') \g /dev/null
SELECT wf_publish_event('Later', keep_for => '30 days') \g /dev/null
SELECT task_id FROM wf_claim_tasks('{Check}') \g /dev/null
SELECT wf_limit_tasks('Check', 1) \g /dev/null
SELECT wf_define('{"definitionId": "few", "options": {"maxConcurrency": {"max": 1}, "searchAttributes": {"word": {"input": "word"}}}, "root": []}') \g /dev/null
SELECT wf_start('few', '{"word": "ahem"}') \g /dev/null
SELECT wf_pause(instance_id, 'ahem') FROM workflow.instance_list WHERE definition_id = 'broken' \g /dev/null
SELECT wf_call('o1', 'm1', 'event', 'Nobody') \g /dev/null
SELECT wf_define('{"definitionId": "ask", "root": [{"type": "HttpEndpoint", "path": "ask", "canStartWorkflow": true}, {"type": "Event", "eventName": "Asked"}]}') \g /dev/null
SELECT wf_begin_http_request(gen_random_uuid(), 'server', 'GET', '/ask') \g /dev/null
SELECT wf_add_partitions('{0}', 2) \g /dev/null
CREATE FUNCTION people(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE sql
    AS 'SELECT NULL, NULL, NULL, NULL, NULL';
SELECT wf_set_directory('people(text)') \g /dev/null
RESET client_min_messages;
-- Empty as a rule, or but for an update.
INSERT INTO workflow.schema_2 VALUES (1);
INSERT INTO workflow.span_cursor VALUES (1, 1, 1, now(), 1, now());
-- No superuser lends its rights.
INSERT INTO workflow.invoker_grants SELECT min(id), max(id) FROM workflow.owners;
INSERT INTO workflow.accepted_owners SELECT min(id), max(id), false FROM workflow.owners;
INSERT INTO workflow.substitutes SELECT 'ada', 'ben', min(id), true, now(), now() + interval '1 day' FROM workflow.owners;
ALTER TABLE workflow.pending_usage DISABLE TRIGGER give_usage;
INSERT INTO workflow.pending_usage VALUES (1, 1);
ALTER TABLE workflow.imports DISABLE TRIGGER end_import;
INSERT INTO workflow.imports VALUES (gen_random_uuid(), 1, '');

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
\set ECHO all
