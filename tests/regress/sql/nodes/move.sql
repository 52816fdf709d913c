-- wf_export_instances packs whole trees with all that belongs to their correlation ids, and wf_import_instances takes them in.
\i tests/regress/include/move.sql

-- The rows of every table, told apart by their key.
CREATE FUNCTION contents(OUT name name, OUT rows bigint, OUT digest text) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND relkind = 'r' ORDER BY 1 LOOP
        EXECUTE format('SELECT count(*), md5(string_agg(t::text, E''\n'' ORDER BY t::text)) FROM workflow.%I AS t', name) INTO rows, digest;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE TABLE before AS SELECT * FROM contents();

-- Out and in again: nothing is left in between, and all is as it was.
BEGIN;
CREATE TEMP TABLE bundle AS SELECT b FROM wf_export_instances('{A,B,B,none}', remove => true) AS b;
SELECT count(*) AS pieces, bool_and(b::text LIKE '\\x' || encode('workflow bundle', 'hex') || '%') AS begins FROM bundle;
SELECT correlation_id, count(*) FROM workflow.instances GROUP BY 1 ORDER BY 1;
SELECT * FROM (SELECT key AS "left" FROM workflow.messages UNION ALL SELECT correlation_id FROM workflow.triggers WHERE schedule_name IS NOT NULL
    UNION ALL SELECT correlation_id FROM workflow.bookmark_queue UNION ALL SELECT correlation_id FROM workflow.dead_letters) AS v WHERE "left" IS DISTINCT FROM 'C';
SELECT name, b.rows, a.rows AS after FROM before AS b JOIN contents() AS a USING (name) WHERE a.rows > 0 AND name IN ('bookmarks', 'tasks', 'incidents', 'compensations', 'pauses', 'execution_log', 'bookmark_queue', 'dead_letters');
SELECT wf_import_instances(array_agg(b)) FROM bundle;
SELECT name, b.rows, a.rows AS after FROM before AS b JOIN contents() AS a USING (name) WHERE a IS DISTINCT FROM b AND name NOT IN ('imports', 'admissions', 'audit_log');
COMMIT;
SELECT count(*) FROM workflow.imports;
SELECT * FROM wf_check();

-- A copy leaves everything where it is, and what is here is not overwritten.
SELECT count(*) AS pieces FROM wf_export_instances('{A}');
SELECT name FROM before AS b JOIN contents() AS a USING (name) WHERE a.rows <> b.rows AND name NOT IN ('admissions', 'audit_log');
SELECT wf_import_instances(ARRAY(SELECT wf_export_instances('{A}')));
SELECT count(*) AS pieces FROM wf_export_instances('{none}');
SELECT wf_import_instances('{}');

-- By a function of a superuser, from a machine of another byte order, on which hashtext gives other keys.
CREATE FUNCTION is_b(key text) RETURNS boolean LANGUAGE sql RETURN key = 'B';
BEGIN;
UPDATE workflow.bookmarks SET correlation_key = correlation_key + 1, kind_key = kind_key + 1 WHERE correlation_id = 'B' AND hash IS NOT NULL;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT b FROM wf_export_instances(predicate => 'is_b(text)', remove => true) AS b;
SELECT correlation_id, count(*) FROM workflow.instances GROUP BY 1 ORDER BY 1;
SELECT wf_import_instances(array_agg(b)) FROM moved;
COMMIT;
SELECT * FROM wf_check();

-- What was moved goes on.
SET ROLE regress_move_clerk;
SELECT name, correlation_id, candidates FROM workflow.open_tasks ORDER BY 2, task_id;
RESET ROLE;
SELECT array_length(resumed, 1) AS resumed FROM wf_publish_event('Child', instance_id => (SELECT c.id FROM workflow.instances AS c JOIN workflow.instances AS p ON p.id = c.parent_instance_id WHERE p.correlation_id = 'A'));
SELECT definition_id, sub_status, count(*) FROM workflow.instance_list WHERE definition_id IN ('parent', 'child') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT wf_http_request('GET', '/orders/1', headers => '{"X-Correlation-ID": "B"}') IS NOT NULL AS answered;
SET ROLE regress_move_owner;
SELECT wf_call('A', 'm1', 'start', 'child') ->> 'sub_status' AS sub_status, (SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'child' AND correlation_id = 'A');
SELECT wf_unschedule('daily-A') AS was_mine;
SELECT wf_start('one', correlation_id => 'A');
RESET ROLE;
SET workflow.now = '2030-01-01 02:00:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'few' ORDER BY 1;

-- The empty correlation id is one as well.
SELECT wf_start('child', correlation_id => '') IS NOT NULL AS started;
CREATE FUNCTION is_empty(key text) RETURNS boolean LANGUAGE sql RETURN key = '';
SELECT count(*) FROM wf_export_instances(predicate => 'is_empty(text)');
SELECT * FROM wf_check();
