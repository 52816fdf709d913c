-- An instance that has not begun yet is moved with the trigger at which it begins.
SET client_min_messages = error;
CREATE FUNCTION define(trigger jsonb) RETURNS integer LANGUAGE sql RETURN
    (SELECT version FROM wf_define(jsonb_build_object('definitionId', 'turn', 'options', '{"maxConcurrency": {"max": 1}}'::jsonb, 'root', jsonb_build_object('id', 'main', 'type', 'Sequence',
        'activities', jsonb_build_array('{"type": "Event", "eventName": "T", "canStartWorkflow": true}' || trigger, '{"id": "wait", "type": "Event", "eventName": "W"}'::jsonb)))));
CREATE VIEW seen AS SELECT i.version, i.sub_status, b.name, b.activity_id, b.node_id FROM workflow.instance_list AS i LEFT JOIN workflow.open_bookmarks AS b USING (instance_id)
    WHERE i.definition_id = 'turn' ORDER BY i.instance_id;
SELECT define('{"id": "a"}');
SELECT cardinality(started) FROM wf_publish_event('T', '1');
SELECT cardinality(started) FROM wf_publish_event('T', '2');
SELECT * FROM seen;
-- The trigger has another id: without a mapping the pending one is refused.
SELECT define('{"id": "b"}');
SELECT outcome, problems FROM wf_migrate_all('turn');
SELECT outcome, problems FROM wf_migrate_all('turn', mapping => '{"a": "b"}');
SELECT * FROM seen;
-- It is an activity that starts no workflow.
SELECT define('{"id": "b", "canStartWorkflow": false}');
SELECT outcome, problems FROM wf_migrate_all('turn', dry_run => true);
-- It begins in the version that it was moved to when it is its turn.
SELECT cardinality(resumed) FROM wf_publish_event('W');
SELECT wf_run_due();
SELECT * FROM seen;
SELECT data FROM workflow.journal JOIN workflow.instance_list USING (instance_id) WHERE sub_status = 'Suspended' AND event IN ('Migrated', 'Workflow started');
SELECT cardinality(resumed) FROM wf_publish_event('W');
SELECT * FROM seen;
DROP VIEW seen;
DROP FUNCTION define;
