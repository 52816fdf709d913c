-- Library and schema must be of one number; every function but wf_version refuses if they are not. (Scenario update: an update, and
-- a library of another number.)
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SET client_min_messages = error;
CREATE ROLE visitor;
SET ROLE visitor;
SELECT library_schema = database_schema AS fits, library <> '' AS library,
    split_part(postgresql, '.', 1)::integer = current_setting('server_version_num')::integer / 10000 AS same_major
FROM wf_version();
RESET ROLE;
SELECT wf_define('{"definitionId": "task", "root": [{"type": "RunTask", "taskName": "Sign"}]}');

-- A call holds it off until its transaction ends.
BEGIN;
SELECT wf_start('task') IS NOT NULL AS started;
SELECT mode FROM pg_locks WHERE relation = 'workflow.schema_2'::regclass AND pid = pg_backend_pid();
ROLLBACK;

-- The schema is of a later number.
BEGIN;
ALTER TABLE workflow.schema_2 RENAME TO schema_3;
SAVEPOINT renamed;
SELECT wf_start('task');
ROLLBACK TO renamed;
SELECT * FROM wf_activities();
ROLLBACK TO renamed;
SELECT library_schema, database_schema FROM wf_version();
ROLLBACK;
SELECT wf_start('task') IS NOT NULL AS started;

-- It has none: a version before 0.2.0.
BEGIN;
ALTER TABLE workflow.schema_2 RENAME TO other;
SAVEPOINT renamed;
SELECT wf_start('task');
ROLLBACK TO renamed;
SELECT library_schema, database_schema FROM wf_version();
ROLLBACK;

-- A function must be declared with the arguments that its library reads; asked at its first call in a session.
CREATE FUNCTION pg_temp.cancel_by_text(instance_id text, reason text, force boolean) RETURNS boolean LANGUAGE c AS '$libdir/workflow', 'wf_cancel';
SELECT pg_temp.cancel_by_text('a', 'b', false);
CREATE FUNCTION pg_temp.cancel_by_id(id uuid, reason text, force boolean) RETURNS boolean LANGUAGE c AS '$libdir/workflow', 'wf_cancel';
SELECT pg_temp.cancel_by_id(NULL, NULL, false);

-- Every function is either the owner's, or everybody's, or given by wf_grant_usage, or the monitor's.
SELECT g.name FROM workflow._intended_grants() g
WHERE g.kind = 'function' AND NOT EXISTS (SELECT FROM workflow._objects() o WHERE o.kind = 'function' AND o.name = g.name);
SELECT o.name FROM workflow._objects() o
WHERE o.kind = 'function' AND NOT EXISTS (SELECT FROM workflow._intended_grants() g WHERE g.kind = 'function' AND g.name = o.name)
ORDER BY 1;
SELECT wf_grant_usage('visitor');
SELECT count(*) FILTER (WHERE is_given = (g.grantee IS NULL)) = count(*) AS as_listed
FROM workflow._objects() o JOIN workflow._intended_grants() g ON g.kind = 'function' AND g.name = o.name
     CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM aclexplode(o.held) h WHERE h.grantee = 'visitor'::regrole) AS is_given) v
WHERE o.kind = 'function';
DROP OWNED BY visitor;
DROP ROLE visitor;
