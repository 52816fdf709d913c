-- What a role owned that is dropped or renamed: superusers give it away, and a new role of its name gets nothing.
\i tests/regress/include/ownership.sql

RESET ROLE;
-- A superuser owns something, too.
SELECT wf_define('{"definitionId": "the superuser''s", "root": []}') IS NOT NULL AS defined;

-- security.md#renamed-and-dropped-roles: REASSIGN OWNED, DROP OWNED and DROP ROLE do what the table says
-- Superusers give anything to any role, also what was a role's that is gone. DROP ROLE takes no notice of what a role owns
-- here, REASSIGN OWNED and DROP OWNED neither.
CREATE ROLE regress_own_leaver;
SELECT wf_grant_usage('regress_own_leaver');
SET ROLE regress_own_leaver;
SELECT * FROM wf_define('{"definitionId": "left", "root": {"type": "Event", "eventName": "Never"}}');
SELECT wf_start('left') AS left \gset
RESET ROLE;
REASSIGN OWNED BY regress_own_leaver TO regress_own_ben;
SELECT owner FROM workflow.definition_list WHERE definition_id = 'left';
DROP ROLE regress_own_leaver;
DROP OWNED BY regress_own_leaver;
SELECT owner FROM workflow.definition_list WHERE definition_id = 'left';
DROP ROLE regress_own_leaver;
SELECT owner FROM workflow.definition_list WHERE definition_id = 'left';
CREATE ROLE regress_own_leaver;
SELECT wf_grant_usage('regress_own_leaver');
SET ROLE regress_own_leaver;
SELECT definition_id FROM workflow.definition_list WHERE definition_id = 'left';
SELECT wf_set_owner('definition', 'left', 'regress_own_leaver');
RESET ROLE;
SELECT wf_set_owner('definition', 'left', 'regress_own_ben'), wf_set_owner('instance', :'left', 'regress_own_ben');
SELECT owner FROM workflow.definition_list WHERE definition_id = 'left';

-- The type in which owners are kept: text in, present name out.
SELECT split_part(role::text, ':', 3) AS name FROM workflow.owners ORDER BY 1;
ALTER ROLE regress_own_team RENAME TO regress_own_crew;
SELECT split_part(role::text, ':', 3) AS name, name AS stored FROM workflow.owners WHERE name = 'regress_own_team';
SELECT '17:42:a:b'::workflow.stored_role, '17:42:'::workflow.stored_role;
SELECT workflow._stored_role_oid('17:42:a'), workflow._stored_role_name('17:42:a'), workflow._stored_role_name('17:42:');
SELECT 'a'::workflow.stored_role;
SELECT '0:42:a'::workflow.stored_role;
SELECT '17:-1:a'::workflow.stored_role;
SELECT ('17:42:' || repeat('x', 64))::workflow.stored_role;

DROP OWNED BY regress_own_ann, regress_own_ben, regress_own_crew, regress_own_leaver CASCADE;
DROP ROLE regress_own_ann, regress_own_ben, regress_own_boss, regress_own_crew, regress_own_leaver;
