-- The state of an instance names activities and connections by numbers. The version that it runs says what these stand
-- for, so that a release that reads documents in another order goes on with it.
SELECT * FROM wf_define('{"definitionId": "numbers", "root": {"id": "chart", "type": "Flowchart", "activities": [
    {"id": "begin", "type": "WriteLine", "text": "begin"}, {"id": "one", "type": "Event", "eventName": "one"},
    {"id": "two", "type": "Event", "eventName": "two"}, {"id": "join", "type": "FlowJoin", "mode": "WaitAll"},
    {"id": "end", "type": "WriteLine", "text": "end"}],
    "connections": [["begin", "one"], ["begin", "two"], ["one", "join"], ["two", "join"], ["join", "end"]]}}');
SELECT number - 1 AS number, activity ->> 1 AS activity, activity -> 0 AS inside FROM workflow.definitions,
    jsonb_array_elements(numbering -> 'activities') WITH ORDINALITY AS a (activity, number)
    WHERE definition_id = 'numbers' ORDER BY number;
SELECT numbering -> 'connections' AS connections FROM workflow.definitions WHERE definition_id = 'numbers';
SELECT wf_start('numbers', correlation_id => 'document') AS instance \gset
SELECT cardinality(resumed) FROM wf_publish_event('one', correlation_id => 'document');

-- Where a release stored a version that read in another order, its instances are stored with those numbers.
CREATE TABLE kept AS SELECT numbering FROM workflow.definitions WHERE definition_id = 'numbers';
UPDATE workflow.definitions SET numbering = '{"activities": [[null, "chart"], [0, "end"], [0, "join"], [0, "two"], [0, "one"], [0, "begin"]],
    "connections": [[2, "Done", 1], [3, "Done", 2], [4, "Done", 2], [5, "Done", 4], [5, "Done", 3]]}'
    WHERE definition_id = 'numbers';
\c
SELECT wf_start('numbers', correlation_id => 'other') AS instance \gset
SELECT cardinality(resumed) FROM wf_publish_event('one', correlation_id => 'other');
SELECT count(DISTINCT state) FROM workflow.instances WHERE definition_id = 'numbers';
\c
SELECT cardinality(resumed) FROM wf_publish_event('two', correlation_id => 'other');
SELECT sub_status FROM workflow.instance_list WHERE correlation_id = 'other';
SELECT event, activity FROM workflow.journal WHERE instance_id = (SELECT instance_id FROM workflow.instance_list WHERE correlation_id = 'other')
    AND event IN ('Line', 'Resumed', 'Workflow finished') ORDER BY seq, number;

-- The same content is the same version, whatever its numbers are.
SELECT * FROM wf_define('{"definitionId": "numbers", "root": {"id": "chart", "type": "Flowchart", "activities": [
    {"id": "begin", "type": "WriteLine", "text": "begin"}, {"id": "one", "type": "Event", "eventName": "one"},
    {"id": "two", "type": "Event", "eventName": "two"}, {"id": "join", "type": "FlowJoin", "mode": "WaitAll"},
    {"id": "end", "type": "WriteLine", "text": "end"}],
    "connections": [["begin", "one"], ["begin", "two"], ["one", "join"], ["two", "join"], ["join", "end"]]}}');

-- Numbers that do not fit the document are refused, and nothing is lost.
UPDATE workflow.definitions SET numbering = jsonb_set(kept.numbering, '{activities,3,1}', '"gone"')
    FROM kept WHERE definition_id = 'numbers';
\c
SELECT wf_start('numbers');
\echo :SQLSTATE
UPDATE workflow.definitions SET numbering = '{"activities": 7}' WHERE definition_id = 'numbers';
SELECT wf_start('numbers');
\echo :SQLSTATE
UPDATE workflow.definitions SET numbering = kept.numbering FROM kept WHERE definition_id = 'numbers';
SELECT cardinality(resumed) FROM wf_publish_event('two', correlation_id => 'document');
SELECT sub_status FROM workflow.instance_list WHERE correlation_id = 'document';
DROP TABLE kept;
