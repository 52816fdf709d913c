-- Publishing a definition writes its triggers into the index workflow.triggers: one row per trigger activity and payload.
CREATE FUNCTION file_changed(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT CASE WHEN (context -> 'isTrigger')::boolean THEN '{}'::jsonb ELSE '{"bookmarks": [{}]}'::jsonb END
$$;
CREATE TABLE folders (name text PRIMARY KEY);
INSERT INTO folders VALUES ('in'), ('out');
CREATE FUNCTION file_payloads(context jsonb) RETURNS SETOF jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('folder', name, 'pattern', context #> '{inputs,pattern}') FROM folders ORDER BY name
$$;
SELECT wf_register_activity('Acme.FileChanged', 'file_changed(jsonb)', kind => 'trigger', payloads => 'file_payloads(jsonb)', inputs => '[{"name": "pattern", "type": "String"}]');

-- A draft has no triggers; publishing makes them.
SELECT * FROM wf_define('{"definitionId": "watch", "variables": {"Pattern": "*.csv"}, "root": [
    {"id": "file", "type": "Acme.FileChanged", "canStartWorkflow": true, "pattern": {"var": "Pattern"}},
    {"id": "mail", "type": "Event", "eventName": "Mail", "canStartWorkflow": false},
    {"id": "call", "type": "Event", "eventName": "Call", "canStartWorkflow": true}]}', publish => false);
SELECT count(*) FROM workflow.triggers;
SELECT wf_publish('watch');
SELECT version, activity_id, activity_type, name, payload FROM workflow.triggers ORDER BY activity_id, payload;

-- A stimulus starts what matches; the stimulus, not the function, decides.
SELECT cardinality(started) AS started FROM wf_send_stimulus('Acme.FileChanged', '{"folder": "in", "pattern": "*.csv"}', input => '{"file": "a.csv"}');
SELECT cardinality(started) AS started FROM wf_send_stimulus('Acme.FileChanged', '{"folder": "in", "pattern": "*.txt"}');
SELECT sub_status, input FROM workflow.instance_list;
SELECT activity FROM workflow.waiting ORDER BY activity;

-- Publishing a new version keeps the rows that did not change, ids included.
CREATE TEMP TABLE before AS SELECT id, activity_id, payload FROM workflow.triggers;
SELECT * FROM wf_define('{"definitionId": "watch", "variables": {"Pattern": "*.csv"}, "root": [
    {"id": "file", "type": "Acme.FileChanged", "canStartWorkflow": true, "pattern": {"var": "Pattern"}},
    {"id": "call", "type": "Event", "eventName": "Phone call", "canStartWorkflow": true}]}');
SELECT t.version, t.activity_id, t.payload, b.id IS NOT NULL AS kept FROM workflow.triggers AS t LEFT JOIN before AS b USING (id) ORDER BY t.activity_id, t.payload;

-- They start the new version.
SELECT cardinality(started) AS started FROM wf_send_stimulus('Acme.FileChanged', '{"folder": "out", "pattern": "*.csv"}');
SELECT version, count(*) FROM workflow.instance_list GROUP BY version ORDER BY version;

-- wf_refresh asks the payload functions again.
INSERT INTO folders VALUES ('archive');
DELETE FROM folders WHERE name = 'out';
SELECT * FROM wf_refresh('watch');
SELECT activity_id, payload FROM workflow.triggers ORDER BY activity_id, payload;
SELECT * FROM wf_refresh('watch');

-- Whatever writes into the index: the same trigger twice cannot be in it.
\set VERBOSITY sqlstate
INSERT INTO workflow.triggers (id, created_at, definition_version_id, definition_id, version, activity_id, activity_type, node_id, name, hash_key, hash, payload)
    SELECT gen_random_uuid(), created_at, definition_version_id, definition_id, version, activity_id, activity_type, node_id, name, hash_key, hash, payload FROM workflow.triggers LIMIT 1;
\set VERBOSITY default

-- Retracting, deleting and a version without triggers take them away.
SELECT wf_retract('watch');
SELECT count(*) FROM workflow.triggers;
SELECT wf_publish('watch');
SELECT count(*) FROM workflow.triggers;
SELECT * FROM wf_define('{"definitionId": "watch", "root": []}');
SELECT count(*) FROM workflow.triggers;

-- Two definitions may have the same trigger: both start.
SELECT * FROM wf_define('{"definitionId": "a", "root": {"id": "e", "type": "Event", "eventName": "Both", "canStartWorkflow": true}}');
SELECT * FROM wf_define('{"definitionId": "b", "root": {"id": "e", "type": "Event", "eventName": "Both", "canStartWorkflow": true}}');
SELECT cardinality(started) AS started FROM wf_publish_event('Both');

-- A definition that cannot be indexed is not published.
CREATE FUNCTION no_payloads(context jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no settings' USING ERRCODE = 'WF001'; END $$;
SELECT wf_register_activity('Acme.Broken', 'file_changed(jsonb)', kind => 'trigger', payloads => 'no_payloads(jsonb)');
SELECT * FROM wf_define('{"definitionId": "broken", "root": {"id": "t", "type": "Acme.Broken", "canStartWorkflow": true}}');
\echo :SQLSTATE
SELECT count(*) FROM workflow.definition_list WHERE definition_id = 'broken';

-- A trigger without a payload is a trigger for its name alone.
CREATE FUNCTION one_null(context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT NULL::jsonb $$;
SELECT wf_register_activity('Acme.Plain', 'file_changed(jsonb)', kind => 'trigger', payloads => 'one_null(jsonb)');
SELECT * FROM wf_define('{"definitionId": "plain", "root": {"id": "t", "type": "Acme.Plain", "canStartWorkflow": true}}');
SELECT payload FROM workflow.triggers WHERE definition_id = 'plain';
SELECT cardinality(started) AS started FROM wf_send_stimulus('Acme.Plain');

-- Without a payload function a trigger has one row, without payload, too.
SELECT wf_register_activity('Acme.Plainer', 'file_changed(jsonb)', kind => 'trigger');
SELECT * FROM wf_define('{"definitionId": "plainer", "root": {"id": "t", "type": "Acme.Plainer", "canStartWorkflow": true}}');
SELECT cardinality(started) AS started FROM wf_send_stimulus('Acme.Plainer');

-- canStartWorkflow on an activity that is no trigger: a mistake in the short form; in a document of Elsa it means nothing.
SELECT * FROM wf_define('{"definitionId": "x", "root": {"id": "w", "type": "WriteLine", "text": "x", "canStartWorkflow": true}}');
SELECT * FROM wf_define('{"definitionId": "x", "root": {"id": "w", "type": "Elsa.WriteLine", "version": 1, "customProperties": {"canStartWorkflow": true, "runAsynchronously": false}, "metadata": {}}}');
SELECT count(*) FROM workflow.triggers WHERE definition_id = 'x';
SELECT * FROM wf_check();
