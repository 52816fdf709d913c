-- security.md#owners-and-grants: only the owner of an instance moves it to another version, and no other role can bring its own SQL into it.
CREATE ROLE regress_mig_ann;
CREATE ROLE regress_mig_ben;
CREATE ROLE regress_mig_cid;
SELECT wf_grant_usage('regress_mig_ann'), wf_grant_usage('regress_mig_ben'), wf_grant_usage('regress_mig_cid');
SET ROLE regress_mig_ann;
SELECT wf_define('{"definitionId": "leave", "root": {"id": "a", "type": "Event", "eventName": "E"}}');
SELECT wf_grant('leave', 'regress_mig_ben', '{start, read}'), wf_grant('leave', 'regress_mig_cid', '{resume, read, alter}');
RESET ROLE;
SET ROLE regress_mig_ben;
SELECT wf_start('leave') AS id \gset
RESET ROLE;
SET ROLE regress_mig_ann;
SELECT wf_start('leave') AS anns \gset
SELECT wf_define('{"definitionId": "leave", "root": {"id": "a", "type": "Event", "eventName": "F"}}');
RESET ROLE;
-- A role with every privilege but that of an owner.
\set VERBOSITY default
SET ROLE regress_mig_cid;
SELECT * FROM wf_migrate(:'id');
SELECT * FROM wf_migrate(:'id', dry_run => true);
SELECT * FROM wf_migrate_all('leave');
RESET ROLE;
-- The owner of the definition moves instances of others, as long as nothing runs there with their rights.
SET ROLE regress_mig_ann;
SELECT * FROM wf_migrate(:'id');
SELECT wf_define('{"definitionId": "leave", "root": {"id": "a", "type": "Event", "eventName": {"sql": "SELECT current_user"}}}');
SELECT * FROM wf_migrate(:'id');
SELECT instance_id = :'id' AS bens, outcome, problems FROM wf_migrate_all('leave', mapping => '{"a": "a"}') ORDER BY 1;
SELECT wf_define('{"definitionId": "leave", "options": {"security": "definer"}, "root": {"id": "a", "type": "Event", "eventName": "G"}}');
SELECT instance_id = :'id' AS bens, outcome, problems FROM wf_migrate_all('leave') ORDER BY 1;
-- The owner of the instance moves it, too, while the new version may be started.
SELECT wf_revoke('leave', 'regress_mig_ben', '{start}');
RESET ROLE;
SET ROLE regress_mig_ben;
SELECT * FROM wf_migrate(:'id', 1);
RESET ROLE;
SET ROLE regress_mig_ann;
SELECT wf_grant('leave', 'regress_mig_ben', '{start}');
RESET ROLE;
SET ROLE regress_mig_ben;
SELECT * FROM wf_migrate(:'id', 1);
-- Nor many at once.
SELECT instance_id = :'id' AS bens, outcome FROM wf_migrate_all('leave', dry_run => true);
-- Tables stay closed.
SELECT count(*) FROM workflow.instances;
RESET ROLE;
SELECT wf_delete_instance(:'id'), wf_delete_instance(:'anns');
DROP OWNED BY regress_mig_ann, regress_mig_ben, regress_mig_cid;
DROP ROLE regress_mig_ann, regress_mig_ben, regress_mig_cid;
