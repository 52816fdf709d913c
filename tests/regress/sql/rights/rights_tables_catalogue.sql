-- What the catalogue says of every table, view and function of ours, those of later versions too.
-- (docs/security.md: "What is open to whom")
\i tests/regress/include/rights_tables.sql

-- security.md#default-access: every table has row-level security without a policy for writing, no view can be written through
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
-- security.md#default-access: the functions that PUBLIC may call
SELECT o.name AS "open to all" FROM workflow._objects() AS o, aclexplode(o.held) AS h
WHERE o.kind = 'function' AND h.grantee = 0 AND o.name !~ '^_' ORDER BY 1;

-- No other role makes columns of the type of stored roles, which would stand in the way of DROP EXTENSION.
SELECT o.name AS "types for all" FROM workflow._objects() AS o, aclexplode(o.held) AS h WHERE o.kind = 'type' AND h.grantee = 0 ORDER BY 1;
SET ROLE regress_tables_plain;
CREATE TEMP TABLE kept (role workflow.stored_role);
RESET ROLE;

-- Something is overdue, and a role is known that owns nothing.
SET workflow.now = '2020-01-01 08:00:00+00';
SELECT wf_define('{"definitionId": "late", "root": [{"type": "Delay", "timeSpan": "00:00:01"}]}') \g /dev/null
SELECT wf_start('late') IS NOT NULL AS waits;
RESET workflow.now;
SELECT wf_grant_usage('regress_tables_monitor');

-- Under a publication of all tables what we delete can be deleted. (The publication only asks for it.)
SET client_min_messages = error;
CREATE PUBLICATION everything FOR ALL TABLES;
RESET client_min_messages;
SELECT wf_adopt_database();
DROP PUBLICATION everything;
