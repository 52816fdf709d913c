-- The functions can be in any schema. A role that is given their use gets the use of that schema as well.
DROP EXTENSION workflow CASCADE;
CREATE SCHEMA flows;
CREATE EXTENSION workflow SCHEMA flows;
CREATE ROLE regress_schema_user;
CREATE ROLE regress_schema_worker;
SELECT flows.wf_grant_usage('regress_schema_user');
SELECT flows.wf_grant_worker('regress_schema_worker');
SET ROLE regress_schema_user;
SELECT flows.wf_define('{"definitionId": "d", "root": []}');
SET ROLE regress_schema_worker;
SELECT count(*) FROM flows.wf_claim_tasks();
RESET ROLE;
SELECT * FROM flows.wf_check();

-- wf_check names a schema in which any role may create functions, and functions that calls may find in place of the extension's.
GRANT CREATE ON SCHEMA flows TO PUBLIC;
SET ROLE regress_schema_user;
CREATE FUNCTION flows.wf_start(definition character varying) RETURNS uuid LANGUAGE sql AS $$ SELECT NULL::uuid $$;
RESET ROLE;
SELECT * FROM flows.wf_check() ORDER BY problem;
DROP FUNCTION flows.wf_start(character varying);
REVOKE CREATE ON SCHEMA flows FROM PUBLIC;
SELECT * FROM flows.wf_check();
