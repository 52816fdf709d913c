-- What a member of pg_read_all_data gets of the tables, and what a role without any right does.
-- (docs/security.md: "Rights on the tables")
\i tests/regress/include/rights_tables.sql

-- security.md#rights-on-the-tables: members of pg_read_all_data read every row and write none
-- Who may read everything reads everything, and writes nothing. (COPY and pg_dump: scenario rights_tables)
\connect - regress_tables_reader
SELECT * FROM attempts();
-- security.md#what-postgresql-itself-shows: pg_stats shows nothing of the tables
SELECT count(*) > 0 AS statistics FROM pg_stats WHERE schemaname = 'workflow' AND tablename = 'instances';
\connect - regress_tables_plain
SELECT * FROM attempts();
