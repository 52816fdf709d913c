-- A deleted version stays while it has instances: workflow.deleted_definitions shows it, and it is exported by its id.
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "gone", "name": "Gone", "description": "once", "root": [{"id": "say", "type": "WriteLine", "text": "one"}]}');
SELECT wf_start('gone') AS run \gset
SELECT version_id AS first FROM workflow.definition_list WHERE definition_id = 'gone' \gset
SELECT wf_define('{"definitionId": "gone", "root": [{"type": "WriteLine", "text": "two"}]}');
SELECT version_id AS second FROM workflow.definition_list WHERE definition_id = 'gone' AND version = 2 \gset
SELECT count(*) FROM workflow.deleted_definitions;
-- The second version has no instance.
SELECT wf_delete_definition('gone');
SELECT definition_id, version, name, description, version_id = :'first' AS first, deleted_at IS NOT NULL AS deleted, document #>> '{root,0,text}' AS text FROM workflow.deleted_definitions;
SELECT i.definition_version_id = :'first' AS first FROM workflow.instance_list i WHERE instance_id = :'run';
SELECT wf_export('gone');
SELECT wf_export_version(:'first'::uuid) #> '{root,activities,0,text,expression}' AS text, wf_export_version(:'first'::uuid) -> 'version' AS version;
-- By its id any version is exported. A number that was deleted can come back; an id cannot.
SELECT wf_define('{"definitionId": "gone", "root": [{"type": "WriteLine", "text": "three"}]}');
SELECT wf_export_version(version_id) = wf_export('gone') AS same, version FROM workflow.definition_list WHERE definition_id = 'gone';
SELECT version, version_id = :'first' AS first FROM workflow.deleted_definitions;
SELECT wf_export_version('00000000-0000-0000-0000-000000000000');
SELECT wf_export_version(NULL);
-- Rights are those of other definitions.
CREATE ROLE regress_deleted;
SELECT wf_grant_usage('regress_deleted');
SET ROLE regress_deleted;
SELECT count(*) FROM workflow.deleted_definitions;
SELECT wf_export_version(:'first'::uuid);
RESET ROLE;
SELECT wf_grant('gone', 'regress_deleted', '{read}');
SET ROLE regress_deleted;
SELECT count(*) FROM workflow.deleted_definitions;
SELECT wf_export_version(:'first'::uuid) -> 'version' AS version;
RESET ROLE;
-- With its last instance it is gone.
SELECT wf_delete_instance(:'run');
SELECT count(*) FROM workflow.deleted_definitions;
DROP OWNED BY regress_deleted;
DROP ROLE regress_deleted;
