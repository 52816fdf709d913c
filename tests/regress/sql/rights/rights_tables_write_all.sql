-- What a member of pg_write_all_data gets of the tables: no row, not even one on which a schedule's command stands.
-- (docs/security.md: "What is open to whom")
\i tests/regress/include/rights_tables.sql

CREATE ROLE regress_tables_writer LOGIN IN ROLE pg_write_all_data;

-- security.md#default-access: a right to write, by membership or by GRANT, reaches no row, and neither does COPY FROM
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

REVOKE pg_write_all_data FROM regress_tables_writer;
