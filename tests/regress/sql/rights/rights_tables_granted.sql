-- What a GRANT on the tables gives that a DBA should not have made, and that wf_check() names who holds it.
-- (docs/security.md: "Rights on the tables")
\i tests/regress/include/rights_tables.sql

CREATE ROLE regress_tables_writer LOGIN IN ROLE pg_write_all_data;

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
