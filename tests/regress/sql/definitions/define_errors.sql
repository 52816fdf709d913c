-- What wf_define refuses, and how it says so. Nothing of a refused definition is stored.

-- Without an argument.
SELECT * FROM wf_define(NULL);
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "x", "root": []}', publish => NULL);
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "x", "root": []}', allow_unknown => NULL);
\echo :SQLSTATE

-- Not a definition at all.
SELECT * FROM wf_define('[]');
\echo :SQLSTATE
SELECT * FROM wf_define('"text"');
SELECT * FROM wf_define('null');
SELECT * FROM wf_define('{}');
\echo :SQLSTATE
SELECT * FROM wf_define('{"root": []}');
SELECT * FROM wf_define('{"definitionId": "", "root": []}');
SELECT * FROM wf_define('{"definitionId": 7, "root": []}');
SELECT * FROM wf_define('{"definitionId": "x"}');
SELECT * FROM wf_define('{"definitionId": "x", "root": 1}');
SELECT * FROM wf_define('{"definitionId": "x", "version": 0, "root": []}');
SELECT * FROM wf_define('{"definitionId": "x", "version": 99999999999, "root": []}');
SELECT * FROM wf_define('{"definitionId": "x", "version": "1", "root": []}');

-- Documents of another kind: of Elsa 2, an activity by itself, what an API wraps around a definition.
SELECT * FROM wf_define('{"$id": "1", "definitionId": "x", "versionId": "y", "variables": {"data": {}}, "isSingleton": false,
    "activities": [{"activityId": "a", "type": "WriteLine", "properties": [{"name": "Text", "expressions": {"Literal": "a"}}]}],
    "connections": [{"sourceActivityId": "a", "targetActivityId": "b", "outcome": "Done"}]}');
\echo :SQLSTATE
SELECT * FROM wf_define('{"id": "x", "type": "Elsa.Sequence", "version": 1, "activities": []}');
SELECT * FROM wf_define('{"name": "x", "model": {"definitionId": "x", "root": []}, "publish": true}');

-- An activity type that does not exist: the message names it and its place.
SELECT * FROM wf_define('{"definitionId": "x", "root": [{"type": "WriteLine", "text": "a"}, {"type": "WriteLin", "text": "b"}]}');
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "x", "root": [{"text": "no type"}]}');
SELECT * FROM wf_define('{"definitionId": "x", "root": [{"type": "Elsa.WriteFileHttpResponse", "url": "https://example.com"}]}');

-- An expression type that cannot run here: the alternatives are named.
SELECT * FROM wf_define('{"definitionId": "x", "root": [{"type": "Elsa.WriteLine",
    "text": {"typeName": "String", "expression": {"type": "CSharp", "value": "return File.ReadAllText(\"x\");"}}}]}');
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "x", "root": [{"type": "WriteLine", "text": {"liquid": "{{ Variables.X | nothing }}"}}]}');

-- A script that is no JavaScript.
SELECT * FROM wf_define('{"definitionId": "script", "root": [{"type": "WriteLine", "text": {"js": "getInput("}}]}');
\echo :SQLSTATE

-- Connections that lead nowhere, and ids that occur twice among siblings.
SELECT * FROM wf_define('{"definitionId": "x", "root": {"type": "Flowchart",
    "activities": [{"id": "a", "type": "WriteLine", "text": "a"}], "connections": [["a", "b"]]}}');
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "x", "root": [{"id": "a", "type": "WriteLine", "text": "a"}, {"id": "a", "type": "WriteLine", "text": "b"}]}');
\echo :SQLSTATE

-- A variable that is not declared.
SELECT * FROM wf_define('{"definitionId": "x", "root": [{"type": "SetVariable", "variable": "Nobody", "value": 1}]}');
SELECT * FROM wf_define('{"definitionId": "x", "root": [{"type": "WriteLine", "text": {"var": "Nobody"}}]}');

-- Inputs without which an activity makes no sense.
SELECT * FROM wf_define('{"definitionId": "x", "root": [{"type": "Event"}, {"type": "RunTask"}, {"type": "Sql"}, {"type": "SetVariable"}]}');
\echo :SQLSTATE

-- Values that are not of their type.
SELECT * FROM wf_define('{"definitionId": "x", "root": {"type": "For", "start": "one", "end": 2}}');
SELECT * FROM wf_define('{"definitionId": "x", "root": {"type": "FlowJoin", "mode": "WaitSome"}}');
SELECT * FROM wf_define('{"definitionId": "x", "variables": [{"name": "N", "type": "Int32", "value": "many"}], "root": []}');

-- Options.
SELECT * FROM wf_define('{"definitionId": "x", "options": {"activationStrategy": "Once"}, "root": []}');
SELECT * FROM wf_define('{"definitionId": "x", "options": {"incidentStrategy": "Ignore"}, "root": []}');
SELECT * FROM wf_define('{"definitionId": "x", "options": {"security": "superuser"}, "root": []}');

-- All problems are told at once.
SELECT * FROM wf_define('{"definitionId": "x", "variables": [{"name": "N", "type": "Int32", "value": "many"}],
    "root": {"type": "Flowchart", "activities": [{"id": "a", "type": "Nothing"}, {"id": "b", "type": "Event"}], "connections": [["a", "c"]]}}');

-- Nothing was stored.
SELECT count(*) FROM workflow.definition_list WHERE definition_id = 'x';

-- allow_unknown: stored, and a fault only where such an activity is reached.
SELECT * FROM wf_define('{"definitionId": "later", "root": {"type": "If", "condition": {"input": "new"},
    "then": {"id": "Call", "type": "Elsa.WriteFileHttpResponse", "url": "https://example.org"}}}', allow_unknown => true);
SELECT sub_status FROM wf_run('later', '{"new": false}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message
  FROM wf_run('later', '{"new": true}', instance_id => '01900000-0000-7000-8000-000000000001');

-- The other calls about definitions.
SELECT wf_publish(NULL);
\echo :SQLSTATE
SELECT wf_publish('nobody');
\echo :SQLSTATE
SELECT wf_publish('later', 99);
\echo :SQLSTATE
SELECT wf_retract(NULL);
SELECT wf_retract('nobody');
\echo :SQLSTATE
SELECT wf_delete_definition(NULL);
SELECT wf_delete_definition('nobody');
\echo :SQLSTATE
SELECT wf_delete_definition('later', 99);
\echo :SQLSTATE
SELECT * FROM wf_refresh(NULL);
SELECT * FROM wf_refresh('nobody');
\echo :SQLSTATE
SELECT * FROM wf_check();
