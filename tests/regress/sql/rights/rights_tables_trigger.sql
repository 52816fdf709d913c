-- What TRIGGER on a table gives: the rights of the extension's owner.
-- (docs/security.md: "Rights on the tables")
\i tests/regress/include/rights_tables.sql

\connect - postgres
GRANT CREATE ON SCHEMA public TO regress_tables_plain;
\connect - regress_tables_plain
CREATE TABLE ran (who name);
GRANT INSERT, SELECT ON ran TO PUBLIC;
CREATE FUNCTION notes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES (current_user); RETURN NULL; END $$;
\connect - postgres

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

REVOKE TRIGGER ON workflow.definitions FROM regress_tables_plain;
