-- An id belongs to the role that defined it first, for good, and a parent hands its input only to a child whose owner it has
-- named (security.md#owners-and-grants).
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET workflow.retention = '1min';
SET client_min_messages = warning;
CREATE ROLE shop LOGIN; CREATE ROLE bank LOGIN; CREATE ROLE eve LOGIN;
SELECT wf_grant_usage(r) FROM unnest(ARRAY['shop', 'bank', 'eve']) AS r \g /dev/null
CREATE VIEW told AS SELECT i.sqlstate, i.message, i.detail, i.hint FROM workflow.incidents AS i ORDER BY i.id DESC LIMIT 1;
CREATE VIEW passed AS SELECT i.input, o.name AS definition_owner FROM workflow.instances AS i
    JOIN workflow.definitions AS d ON d.id = i.definition_version_id JOIN workflow.owners AS o ON o.id = d.owner
    WHERE i.definition_id IN ('pay', 'next') ORDER BY i.id;

-- A child that no role has defined yet: eve gives a right that nobody asked for.
SET ROLE shop;
SELECT wf_define('{"definitionId": "order", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "pay", "waitForCompletion": true, "input": {"object": {"card": "4111"}}}}') \g /dev/null
SET ROLE eve;
SELECT wf_define('{"definitionId": "pay", "root": []}'), wf_grant('pay', 'shop', '{start}') \g /dev/null
SET ROLE shop;
SELECT count(wf_start('order'));
RESET ROLE;
TABLE told;
TABLE passed;

-- To define the parent again with the same content names the owner that the child has now.
SET ROLE shop;
SELECT * FROM wf_define('{"definitionId": "order", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "pay", "waitForCompletion": true, "input": {"object": {"card": "4111"}}}}');
SELECT count(wf_start('order'));
RESET ROLE;
TABLE passed;
TRUNCATE workflow.incidents, workflow.bookmarks, workflow.instances, workflow.execution_log;

-- The owner of a child may give it away; then the parent has not named its new owner.
GRANT bank TO eve;
SET ROLE eve;
SELECT wf_set_owner('definition', 'pay', 'bank'), wf_grant('pay', 'shop', '{start}') \g /dev/null
RESET ROLE;
REVOKE bank FROM eve;
SET ROLE shop;
SELECT count(wf_start('order'));
RESET ROLE;
TABLE told;
-- An owner that the parent's owner has admitted to its events needs no name, as for an id that an expression computes.
SET ROLE shop;
SELECT wf_define('{"definitionId": "computed", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": {"js": "''p'' + ''ay''"}, "waitForCompletion": true}}') \g /dev/null
SELECT count(wf_start('computed'));
RESET ROLE;
TABLE told;
SET ROLE shop;
SELECT wf_grant_events('bank') \g /dev/null
SELECT count(wf_start('computed')), count(wf_start('order'));
RESET ROLE;
TABLE passed;

-- What an instance continues as is asked the same.
SET ROLE shop;
SELECT wf_define('{"definitionId": "first", "root": {"type": "ContinueAs", "definitionId": "next", "input": {"object": {"card": "4111"}}}}') \g /dev/null
SET ROLE eve;
SELECT wf_define('{"definitionId": "next", "root": []}'), wf_grant('next', 'shop', '{start}') \g /dev/null
SET ROLE shop;
SELECT count(wf_start('first'));
RESET ROLE;
TABLE told;

-- An id whose versions are deleted, and removed, stays its owner's.
TRUNCATE workflow.incidents, workflow.bookmarks, workflow.instances, workflow.execution_log;
SET ROLE bank;
SELECT wf_delete_definition('pay');
RESET ROLE;
\i tests/regress/include/deleted.sql
CALL pg_temp.await_removal('pay');
SELECT count(*) FROM workflow.definitions WHERE definition_id = 'pay';
SET ROLE eve;
SELECT wf_define('{"definitionId": "pay", "root": []}');
SELECT wf_set_owner('definition', 'pay', 'eve');
-- A superuser, or the owner, gives it to another role.
RESET ROLE;
SELECT wf_set_owner('definition', 'pay', 'shop');
SET ROLE shop;
SELECT * FROM wf_define('{"definitionId": "pay", "root": []}');
SET ROLE bank;
SELECT wf_define('{"definitionId": "pay", "root": []}');
