-- wf_define stores a definition. A deployment runs it from files every time, because the same content is the
-- same version.
SELECT * FROM wf_define('{"definitionId": "greet", "name": "Greet", "root": [{"type": "WriteLine", "text": "Hello"}]}');
SELECT * FROM wf_define('{"definitionId": "greet", "name": "Greet", "root": [{"type": "WriteLine", "text": "Hello"}]}');

-- The order of keys does not count, nor does what Elsa Studio changes with every export.
SELECT * FROM wf_define('{
    "id": "5f1c0c3a9d0e4b7e", "version": 1, "createdAt": "2026-01-15T09:30:00+00:00", "toolVersion": "3.6.0.0",
    "isLatest": false, "isPublished": false, "tenantId": "",
    "root": [{"text": "Hello", "type": "WriteLine"}], "name": "Greet", "definitionId": "greet"
}');

-- Other content is another version, which is published and runs from now on.
SELECT * FROM wf_define('{"definitionId": "greet", "name": "Greet", "root": [{"type": "WriteLine", "text": "Good day"}]}');

-- Numbers count as numbers.
SELECT * FROM wf_define('{"definitionId": "count", "root": {"type": "For", "start": 1, "end": 2.0}}');
SELECT * FROM wf_define('{"definitionId": "count", "root": {"type": "For", "start": 1.00, "end": 2}}');

-- Going back to older content is a version of its own: what runs is always the latest.
SELECT * FROM wf_define('{"definitionId": "greet", "name": "Greet", "root": [{"type": "WriteLine", "text": "Hello"}]}');
SELECT definition_id, version, name, is_latest, is_published FROM workflow.definition_list ORDER BY definition_id, version;

-- An instance stays on the version that it was started with.
SELECT * FROM wf_define('{"definitionId": "stay", "root": [{"type": "Event", "eventName": "Go"}, {"type": "SetName", "value": "old"}]}');
SELECT wf_start('stay') AS old_instance \gset
SELECT * FROM wf_define('{"definitionId": "stay", "root": [{"type": "Event", "eventName": "Go"}, {"type": "SetName", "value": "new"}]}');
SELECT wf_start('stay') AS new_instance \gset
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go');
SELECT version, name, sub_status FROM workflow.instance_list WHERE definition_id = 'stay' ORDER BY version;

-- A draft is stored and checked, and does not run.
SELECT * FROM wf_define('{"definitionId": "greet", "root": [{"type": "WriteLine", "text": "Hi"}]}', publish => false);
SELECT version, is_latest, is_published FROM workflow.definition_list WHERE definition_id = 'greet' ORDER BY version;
SELECT wf_start('greet') AS published \gset
SELECT wf_start('greet', version => 4) AS draft \gset
SELECT version FROM workflow.instance_list WHERE instance_id IN (:'published', :'draft') ORDER BY version;

-- Storing the same draft again changes nothing; with publish it becomes the published version.
SELECT * FROM wf_define('{"definitionId": "greet", "root": [{"type": "WriteLine", "text": "Hi"}]}', publish => false);
SELECT * FROM wf_define('{"definitionId": "greet", "root": [{"type": "WriteLine", "text": "Hi"}]}');
SELECT version, is_latest, is_published FROM workflow.definition_list WHERE definition_id = 'greet' ORDER BY version;

-- wf_publish does the same for the latest version, or for the one that is named.
SELECT * FROM wf_define('{"definitionId": "greet", "root": [{"type": "WriteLine", "text": "Moin"}]}', publish => false);
SELECT wf_publish('greet');
SELECT wf_publish('greet', 1);
SELECT version, is_latest, is_published FROM workflow.definition_list WHERE definition_id = 'greet' ORDER BY version;

-- wf_retract: nothing new starts, what runs goes on.
SELECT wf_retract('stay');
SELECT wf_retract('stay');
SELECT wf_start('stay');
\echo :SQLSTATE

-- The document's version counts only where it is higher than all that are stored.
SELECT * FROM wf_define('{"definitionId": "numbered", "version": 7, "root": []}');
SELECT * FROM wf_define('{"definitionId": "numbered", "version": 3, "root": [{"type": "End"}]}');
SELECT * FROM wf_define('{"definitionId": "numbered", "version": 12, "root": []}');

-- Without a definitionId the id identifies a definition, without both its name.
SELECT * FROM wf_define('{"id": "by-id", "name": "By name", "root": []}');
SELECT * FROM wf_define('{"name": "By name", "root": []}');

-- wf_delete_definition removes a version, or all of them, and says how many.
SELECT wf_delete_definition('numbered', 8);
SELECT wf_delete_definition('numbered');
SELECT count(*) FROM workflow.definition_list WHERE definition_id = 'numbered';

-- Not while instances run on it.
SELECT wf_start('count') IS NOT NULL AS started;
SELECT * FROM wf_define('{"definitionId": "busy", "root": [{"type": "Event", "eventName": "Never"}]}');
SELECT wf_start('busy', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT wf_delete_definition('busy');
\echo :SQLSTATE
SELECT wf_cancel('01900000-0000-7000-8000-000000000001');
SELECT wf_delete_definition('busy');

-- What has ended keeps its history.
SELECT definition_id, version, sub_status FROM workflow.instance_list WHERE definition_id = 'busy';

-- Each version row has an id of its own, so that the number of a deleted version may come back with other content.
SELECT * FROM wf_define('{"definitionId": "busy", "root": [{"type": "SetName", "value": "another"}]}');
SELECT wf_start('busy') AS instance \gset
SELECT version, name FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT * FROM wf_check();
