-- wf_save_draft stores a definition that is not finished. The next save overwrites the draft, until an instance runs on it or
-- it is published.
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE VIEW versions AS SELECT version, name, is_latest, is_published, is_draft, revision FROM workflow.definition_list WHERE definition_id = 'offer' ORDER BY version;
CREATE FUNCTION offer(text text, activity text DEFAULT 'WriteLine') RETURNS jsonb LANGUAGE sql
RETURN jsonb_build_object('definitionId', 'offer', 'name', 'Offer', 'root', jsonb_build_object('id', 'say', 'type', activity, 'text', text));

-- A draft need not compile. It says what is wrong, and is exported as it is.
SELECT definition_id, version, revision, problems FROM wf_save_draft(offer('one', 'Tell'));
SELECT * FROM versions;
SELECT wf_export('offer') #> '{root,text}' AS text;
SELECT wf_run('offer', version => 1);
SELECT wf_start('offer');
SELECT wf_publish('offer');
SELECT wf_diagram('offer');
-- The next save overwrites it, and the version keeps its id.
SELECT version_id AS draft FROM workflow.definition_list WHERE definition_id = 'offer' \gset
SELECT version, version_id = :'draft' AS same, revision, problems FROM wf_save_draft(offer('two'));
SELECT * FROM versions;
-- Nobody starts a draft by its name. A member of its owner runs it by its number, which keeps the content as it is.
SELECT wf_start('offer');
SELECT (wf_run('offer', version => 1)).sub_status;
SELECT version, revision, version_id = :'draft' AS same FROM wf_save_draft(offer('three'));
SELECT * FROM versions;
SELECT version, revision FROM wf_save_draft(offer('four'));
-- Publishing ends a draft; what follows is a new one. The same content again stores nothing.
SELECT wf_publish('offer');
SELECT version, revision FROM wf_save_draft(offer('four'));
SELECT version, revision FROM wf_save_draft(offer('five'));
SELECT * FROM versions;
SELECT instance_id AS run FROM wf_run('offer') \gset
SELECT data AS line FROM workflow.journal WHERE instance_id = :'run' AND event = 'Line';
-- An older draft can be published as well, also one that instances run on.
SELECT wf_publish('offer', 1);
SELECT * FROM versions;
SELECT instance_id AS run FROM wf_run('offer') \gset
SELECT data AS line FROM workflow.journal WHERE instance_id = :'run' AND event = 'Line';
-- A retracted version is no draft again.
SELECT wf_retract('offer');
SELECT version, revision FROM wf_save_draft(offer('six'));
SELECT wf_delete_definition('offer', 3);
SELECT * FROM versions;
-- wf_define takes no draft for what it has to store.
SELECT version FROM wf_define(offer('six'), publish => false);
SELECT version FROM wf_define(offer('six'), publish => false);
SELECT * FROM wf_validate(offer('six', 'Tell'));
SELECT * FROM versions;

-- A save says which save it has read. What another session has saved since is not overwritten.
\set VERBOSITY sqlstate
SELECT wf_save_draft(offer('seven'), 0, 'ann''s window');
\set VERBOSITY default
SELECT revision FROM wf_save_draft(offer('seven'), (SELECT revision FROM versions WHERE is_latest), 'ann''s window') \gset
\set VERBOSITY sqlstate
SELECT wf_save_draft(offer('mine'), :revision - 1);
\set VERBOSITY default
DO $$
DECLARE
    detail text;
BEGIN
    PERFORM wf_save_draft(offer('mine'), 1, 'bob''s window');
EXCEPTION WHEN serialization_failure THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RAISE WARNING '%: %', SQLERRM, regexp_replace(detail, '\d{4}-.*', 'T');
END $$;
-- Saves of one session need not wait for each other's numbers.
SELECT revision = :revision + 1 AS saved FROM wf_save_draft(offer('eight'), 1, 'ann''s window');
SELECT revision = :revision + 2 AS saved FROM wf_save_draft(offer('nine'), :revision + 1, 'bob''s window');
SELECT wf_define(offer('ten')) IS NOT NULL AS defined;
\set VERBOSITY sqlstate
SELECT wf_save_draft(offer('eleven'), :revision + 2, 'bob''s window');
\set VERBOSITY default
SELECT wf_delete_definition('offer', version) FROM versions WHERE NOT is_published AND version <> 1;
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE definition_id = 'offer' AND status = 'Running';
SELECT wf_delete_definition('offer') > 0 AS deleted;
SELECT wf_save_draft(offer('twelve'), 1);
-- Numbers of saves are not used again.
SELECT revision > :revision AS is_new FROM wf_save_draft(offer('twelve'), 0);

-- Refused.
SELECT wf_save_draft('{"root": []}');
SELECT wf_save_draft('7');
SELECT wf_save_draft('{"definitionId": "Workflow.ScheduledCommand", "root": []}');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT wf_save_draft(offer('thirteen'));
ROLLBACK;
SET workflow.max_definition_size = '1kB';
SELECT wf_save_draft(offer(repeat('long', 1000)));
RESET workflow.max_definition_size;

-- A draft is not used as an activity, whatever names it.
SELECT version FROM wf_save_draft('{"definitionId": "part", "name": "Part", "options": {"usableAsActivity": true}, "root": {"type": "WriteLine", "text": "part"}}');
SELECT count(*) FROM wf_activities() WHERE type = 'Part';
SELECT wf_define('{"definitionId": "whole", "root": {"type": "Part"}}');
SELECT wf_define('{"definitionId": "whole", "root": {"type": "WorkflowDefinitionActivity", "workflowDefinitionId": "part", "version": 1}}');
SELECT problems FROM wf_save_draft('{"definitionId": "whole", "root": {"type": "WorkflowDefinitionActivity", "workflowDefinitionId": "part"}}');
SELECT wf_publish('part'), count(*) FROM wf_activities() WHERE type = 'Part';
SELECT problems FROM wf_save_draft('{"definitionId": "whole", "root": {"type": "Part"}}');
-- A consumer that is a draft gets no new version.
SELECT version FROM wf_save_draft('{"definitionId": "part", "name": "Part", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"type": "WriteLine", "text": "new part"}}');
SET client_min_messages = notice;
SELECT wf_publish('part');
SET client_min_messages = warning;
SELECT version, is_draft FROM workflow.definition_list WHERE definition_id = 'whole';
SELECT instance_id AS run FROM wf_run('whole', version => 1) \gset
SELECT data AS line FROM workflow.journal WHERE instance_id = :'run' AND event = 'Line';

-- What a transaction has published and rolled back runs in no later call, nor does the program of a draft that was overwritten.
SELECT version FROM wf_save_draft('{"definitionId": "undone", "root": {"type": "WriteLine", "text": "first"}}');
BEGIN;
SELECT wf_publish('undone');
SELECT sub_status FROM wf_run('undone');
ROLLBACK;
SELECT version FROM wf_save_draft('{"definitionId": "undone", "root": {"type": "WriteLine", "text": "second"}}');
SELECT wf_publish('undone');
SELECT instance_id AS run FROM wf_run('undone') \gset
SELECT data AS line FROM workflow.journal WHERE instance_id = :'run' AND event = 'Line';

SELECT version FROM wf_save_draft('{"definitionId": "tried", "root": {"type": "WriteLine", "text": "first"}}');
BEGIN;
SELECT sub_status FROM wf_run('tried', version => 1);
ROLLBACK;
SELECT version FROM wf_save_draft('{"definitionId": "tried", "root": {"type": "WriteLine", "text": "second"}}');
SELECT instance_id AS run FROM wf_run('tried', version => 1) \gset
SELECT data AS line FROM workflow.journal WHERE instance_id = :'run' AND event = 'Line';

-- Rights: only members of the owner save and run drafts.
CREATE ROLE regress_editor;
CREATE ROLE regress_reader;
SELECT wf_grant_usage('regress_editor'), wf_grant_usage('regress_reader');
SET ROLE regress_editor;
SELECT version FROM wf_save_draft('{"definitionId": "private", "root": {"type": "WriteLine", "text": "draft"}}');
SELECT wf_grant('private', 'regress_reader', '{start,read}');
SELECT saved_by, owner FROM workflow.definition_list WHERE definition_id = 'private';
SET ROLE regress_reader;
SELECT is_draft FROM workflow.definition_list WHERE definition_id = 'private';
SELECT wf_run('private', version => 1);
SELECT wf_save_draft('{"definitionId": "private", "root": []}');
SELECT wf_publish('private');
SET ROLE regress_editor;
SELECT wf_publish('private');
SET ROLE regress_reader;
SELECT sub_status FROM wf_run('private', version => 1);
RESET ROLE;
DROP OWNED BY regress_editor, regress_reader;
DROP ROLE regress_editor, regress_reader;
