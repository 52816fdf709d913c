-- Default privileges, and an event trigger, that are older than the extension give no role a right on its tables.
-- (docs/security.md: "What is open to whom")
\i tests/regress/include/rights_tables.sql

-- A table of one's own that refers to one of the extension goes on without it.
\connect - postgres
GRANT CREATE ON SCHEMA public TO regress_tables_plain;
GRANT REFERENCES ON workflow.instances TO regress_tables_plain;
\connect - regress_tables_plain
CREATE TABLE orders (id int, instance uuid);
ALTER TABLE orders ADD CONSTRAINT orders_instance_fkey FOREIGN KEY (instance) REFERENCES workflow.instances;
\connect - postgres
REVOKE REFERENCES ON workflow.instances FROM regress_tables_plain;

-- security.md#default-access: no role but the owner has a right on a table, whatever default privileges there are
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
