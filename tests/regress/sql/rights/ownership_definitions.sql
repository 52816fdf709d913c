-- A definition that is given away goes with its versions, triggers and id; what runs keeps its owner.
\i tests/regress/include/ownership.sql

-- To a role that she may become. All versions go, with their triggers, and what runs keeps its owner: what a definer
-- definition does for it has the new owner's rights. Another session that keeps the compiled form notices.
SET ROLE regress_own_ann;
SELECT wf_set_owner('definition', 'ours', 'regress_own_team');
SELECT wf_set_owner('definition', 'ours', 'regress_own_team');
SELECT version, owner FROM workflow.definition_list WHERE definition_id = 'ours';
SELECT owner FROM workflow.instance_list WHERE instance_id = :'running';
SELECT sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.instance = :'running';
SELECT cardinality(started) FROM wf_publish_event('Ring');
SELECT owner, count(*) FROM workflow.instance_list WHERE definition_id = 'ours' GROUP BY 1 ORDER BY 1;
RESET ROLE;
SELECT * FROM who;
-- Undone with the transaction, in the sessions that keep it too.
BEGIN;
SELECT wf_set_owner('definition', 'ours', 'regress_own_ben');
SELECT wf_run('ours', trigger_activity_id => 'ring') IS NOT NULL AS ran;
SELECT role FROM who ORDER BY ctid DESC LIMIT 1;
ROLLBACK;
SELECT wf_run('ours', trigger_activity_id => 'ring') IS NOT NULL AS ran;
SELECT role FROM who ORDER BY ctid DESC LIMIT 1;
-- security.md#owners-and-grants: the id of a deleted definition stays its owner's
-- A member of the owner goes on managing it; the id stays theirs when it is deleted, and can be given away then.
SET ROLE regress_own_ann;
SELECT * FROM wf_define('{"definitionId": "ours", "root": []}');
SELECT * FROM wf_define('{"definitionId": "short", "root": []}');
SELECT wf_delete_definition('short');
SELECT wf_set_owner('definition', 'short', 'regress_own_team');
RESET ROLE;
REVOKE regress_own_team FROM regress_own_ann;
SET ROLE regress_own_ann;
SELECT * FROM wf_define('{"definitionId": "short", "root": []}');
SELECT * FROM wf_define('{"definitionId": "ours", "root": {"type": "Finish"}}');
RESET ROLE;
GRANT regress_own_team TO regress_own_ann;

-- The schemas in which its names are looked up without a caller: those in which the new owner alone may create objects.
CREATE SCHEMA regress_own_place AUTHORIZATION regress_own_ann;
GRANT USAGE ON SCHEMA regress_own_place TO PUBLIC;
SET ROLE regress_own_ann;
SET search_path = regress_own_place;
SELECT * FROM public.wf_define('{"definitionId": "looks", "root": {"type": "Sql", "statement": "SELECT 1"}}');
RESET search_path;
SELECT search_path FROM workflow.definition_list WHERE definition_id = 'looks';
RESET ROLE;
SELECT wf_set_owner('definition', 'looks', 'regress_own_ben');
SELECT search_path FROM workflow.definition_list WHERE definition_id = 'looks';
