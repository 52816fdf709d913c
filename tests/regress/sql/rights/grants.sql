-- Who may do what. A definition and its instances belong to the role that defined it; others get what they are granted.
CREATE ROLE regress_grants_owner LOGIN;
CREATE ROLE regress_grants_clerk LOGIN;
CREATE ROLE regress_grants_other LOGIN;

-- security.md#default-access: EXECUTE is revoked from PUBLIC
-- Nothing may be called before a superuser says so, but what only reads its argument or the catalogue.
\connect - regress_grants_clerk
SELECT wf_start('leave');
\echo :SQLSTATE
SELECT count(*) > 20 AS catalogue FROM wf_activities();
SELECT * FROM wf_validate('{"definitionId": "x", "root": []}');

-- Setting up an application role.
\connect - postgres
SELECT wf_grant_usage('regress_grants_owner');
SELECT wf_grant_usage('regress_grants_clerk');
SELECT wf_grant_usage('regress_grants_other');
SELECT wf_grant_usage('regress_grants_nobody');
\echo :SQLSTATE
-- security.md#default-access: wf_grant_usage gives the rest, but what is the administrator's
SELECT name FROM workflow._objects()
WHERE kind = 'function' AND name !~ '^_' AND NOT has_function_privilege('regress_grants_clerk', id, 'EXECUTE') ORDER BY 1;

\connect - regress_grants_owner
SELECT * FROM wf_define('{"definitionId": "leave", "root": [{"id": "approve", "type": "RunTask", "taskName": "Approve"}]}');
SELECT wf_start('leave', correlation_id => 'r1', instance_id => '01900000-0000-7000-8000-000000000001');

-- Without a grant: nothing.
\connect - regress_grants_clerk
SELECT wf_start('leave');
\echo :SQLSTATE
SELECT * FROM wf_enqueue_bookmark(correlation_id => 'r1', keep_for => '0');
SELECT wf_cancel('01900000-0000-7000-8000-000000000001');
\echo :SQLSTATE
SELECT wf_export('leave');
\echo :SQLSTATE

-- security.md#owners-and-grants: an instance belongs to the role that started it; start, resume and read give what the table says
-- start: begin instances. An instance belongs to the role that started it; the definition's owner may do everything with it.
\connect - regress_grants_owner
SELECT wf_grant('leave', 'regress_grants_clerk', '{start}');
\connect - regress_grants_clerk
SELECT wf_start('leave', correlation_id => 'r2') IS NOT NULL AS started;
SELECT count(*) AS visible FROM workflow.instance_list;
\connect - regress_grants_owner
SELECT correlation_id, owner FROM workflow.instance_list ORDER BY correlation_id;

-- read: see them all. resume: go on with them, retry and cancel them.
SELECT wf_grant('leave', 'regress_grants_clerk', '{read}');
\connect - regress_grants_clerk
SELECT activity, correlation_id FROM workflow.waiting ORDER BY correlation_id;
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.correlation_id = 'r1';
\echo :SQLSTATE
\connect - regress_grants_owner
SELECT wf_grant('leave', 'regress_grants_clerk', '{resume}');
\connect - regress_grants_clerk
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.correlation_id = 'r1';

-- security.md#owners-and-grants: grants do not let a role define, publish, grant or delete
-- None of them lets a role manage: define, publish, grant, delete.
SELECT * FROM wf_define('{"definitionId": "leave", "root": []}');
\echo :SQLSTATE
SELECT wf_retract('leave');
\echo :SQLSTATE
SELECT wf_grant('leave', 'regress_grants_other', '{start}');
\echo :SQLSTATE
SELECT wf_delete_definition('leave');
\echo :SQLSTATE
SELECT wf_delete_instance('01900000-0000-7000-8000-000000000001');
\echo :SQLSTATE

-- Taken back.
\connect - regress_grants_owner
SELECT wf_revoke('leave', 'regress_grants_clerk', '{start,read,resume}');
\connect - regress_grants_clerk
SELECT wf_start('leave');
\echo :SQLSTATE
SELECT count(*) AS visible FROM workflow.instance_list;

-- security.md#owners-and-grants: members of the owner are owners
-- Members of the owning role own, too; a grant reaches the members of the role that has it.
\connect - postgres
GRANT regress_grants_owner TO regress_grants_other;
\connect - regress_grants_other
SELECT correlation_id, sub_status FROM workflow.instance_list ORDER BY correlation_id;
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.correlation_id = 'r2';
SELECT * FROM wf_define('{"definitionId": "leave", "root": [{"id": "approve", "type": "RunTask", "taskName": "Approve it"}]}');
\connect - postgres
REVOKE regress_grants_owner FROM regress_grants_other;
\connect - regress_grants_other
SELECT count(*) AS visible FROM workflow.instance_list;

-- security.md#renamed-and-dropped-roles: a renamed role keeps what it has
-- A renamed role keeps what it has.
\connect - postgres
ALTER ROLE regress_grants_owner RENAME TO regress_grants_renamed;
\connect - regress_grants_renamed
SELECT correlation_id, owner FROM workflow.instance_list ORDER BY correlation_id;

-- security.md#renamed-and-dropped-roles: a new role with the name of a dropped one gets nothing
-- A dropped role owns nothing, and a new one of its name neither.
\connect - postgres
DROP OWNED BY regress_grants_renamed;
DROP ROLE regress_grants_renamed;
CREATE ROLE regress_grants_renamed LOGIN;
SELECT wf_grant_usage('regress_grants_renamed');
\connect - regress_grants_renamed
SELECT count(*) AS visible FROM workflow.instance_list;
SELECT wf_start('leave');
\echo :SQLSTATE

-- security.md#owners-and-grants: superusers may do everything
-- A superuser may do everything.
\connect - postgres
SELECT wf_start('leave') IS NOT NULL AS started;

-- Errors.
SELECT wf_grant('nobody', 'regress_grants_clerk', '{start}');
\echo :SQLSTATE
SELECT wf_grant('leave', 'regress_grants_nobody', '{start}');
\echo :SQLSTATE
SELECT wf_grant('leave', 'regress_grants_clerk', '{own}');
\echo :SQLSTATE
SELECT wf_grant('leave', 'regress_grants_clerk', '{NULL}');
\echo :SQLSTATE
SELECT wf_grant(NULL, 'regress_grants_clerk', '{start}');
\echo :SQLSTATE
SELECT wf_grant('leave', 'regress_grants_clerk', NULL);
\echo :SQLSTATE
SELECT wf_grant('leave', 'regress_grants_clerk', '{}');
SELECT wf_revoke('leave', 'regress_grants_clerk', '{start}');

-- wf_revoke_usage takes back what wf_grant_usage gave.
SELECT wf_revoke_usage('regress_grants_clerk');
\connect - regress_grants_clerk
SELECT wf_start('leave');
\echo :SQLSTATE
\connect - postgres
SELECT * FROM wf_check();
