-- Search attributes: values by which instances are found, and wf_index_instances for instances that are older than the declaration.
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE ROLE regress_search_ann;
CREATE ROLE regress_search_bob;
SELECT wf_grant_usage(r::name) FROM unnest('{regress_search_ann, regress_search_bob}'::text[]) AS r \g /dev/null
SET ROLE regress_search_ann;
SELECT wf_define('{"definitionId": "order", "variables": {"State": "new", "Total": null, "Due": null}, "options": {"searchAttributes": {
    "orderNo": {"input": "orderNo", "type": "text"}, "state": {"var": "State"}, "total": {"var": "Total", "type": "number"}, "due": {"var": "Due", "type": "instant"}}},
    "root": {"id": "sent", "type": "Event", "eventName": "Sent"}}') \g /dev/null
SELECT wf_grant('order', 'regress_search_bob', '{start}') \g /dev/null

-- The first burst stores the values. A value has the declared type, and null is no value.
SELECT wf_start('order', '{"orderNo": 4711}', 'o1') AS o1 \gset
SELECT name, text, number, instant FROM workflow.search_attribute_list WHERE instance_id = :'o1' ORDER BY name;
-- A change of a variable changes the value.
SELECT wf_set_variable(:'o1', 'Total', '12.50'), wf_set_variable(:'o1', 'Due', '"2026-12-24T18:00:00+02:00"') \g /dev/null
SELECT name, text, number, instant FROM workflow.search_attribute_list WHERE instance_id = :'o1' ORDER BY name;
-- What is null, of another type or longer than 256 bytes is not stored.
SELECT wf_set_variable(:'o1', 'Due', 'null'), wf_set_variable(:'o1', 'Total', '"twelve"'), wf_set_variable(:'o1', 'State', to_jsonb(repeat('x', 257))) \g /dev/null
SELECT name, text, number, instant FROM workflow.search_attribute_list WHERE instance_id = :'o1' ORDER BY name;
SELECT wf_set_variable(:'o1', 'Due', '"2026-12-24T18:00:00+02:00"'), wf_set_variable(:'o1', 'Total', '"12.5"'), wf_set_variable(:'o1', 'State', '"new"') \g /dev/null

-- A search in SQL.
SELECT wf_start('order', '{"orderNo": "A-7"}', 'o2') AS o2 \gset
SELECT wf_set_variable(:'o2', 'Total', '99') \g /dev/null
SELECT wf_start('order', '{"orderNo": "4711"}', 'o3') AS o3 \gset
SELECT wf_cancel(:'o3') \g /dev/null
SELECT i.correlation_id, i.sub_status FROM workflow.search_attribute_list AS a JOIN workflow.instance_list AS i USING (instance_id)
WHERE a.definition_id = 'order' AND a.name = 'orderNo' AND a.text = '4711' ORDER BY 1;
-- The same by a list. A text is also the number or the instant that it writes. All conditions must hold.
SELECT filter, (SELECT string_agg(p.correlation_id, ' ' ORDER BY p.correlation_id)
    FROM workflow.instance_page(jsonb_build_object('searchAttributes', filter::jsonb)) AS p) AS found
FROM unnest(ARRAY[
    '[{"name": "orderNo", "value": "4711"}]',
    '[{"name": "orderNo", "value": 4711}]',
    '[{"name": "total", "value": "12.50"}]',
    '[{"name": "total", "from": 10, "to": 20}]',
    '[{"name": "total", "from": "10"}]',
    '[{"name": "total", "to": 5}]',
    '[{"name": "due", "from": "2026-12-24", "to": "2026-12-25"}]',
    '[{"name": "due", "value": "2026-12-24T17:00:00+01:00"}]',
    '[{"name": "orderNo", "value": "4711"}, {"name": "state", "value": "new"}]',
    '[{"name": "orderNo", "value": "4711"}, {"name": "total", "from": 0}]',
    '[{"name": "orderno", "value": "4711"}]',
    '[{"name": "orderNo", "value": "o1"}]',
    '[]']) AS filter;
SELECT * FROM workflow.instance_count('{"searchAttributes": [{"name": "orderNo", "value": "4711"}], "subStatus": "Suspended"}');
SELECT * FROM workflow.instance_count('{"searchAttributes": [{"name": "orderNo", "value": "4711"}], "definitionId": "none"}');

-- security.md#owners-and-grants: values of an instance are for those who may read it, and the starter of an instance need not
RESET ROLE;
SET ROLE regress_search_bob;
SELECT wf_start('order', '{"orderNo": "B-1"}', 'o4') AS o4 \gset
SELECT (SELECT count(*) FROM workflow.search_attribute_list) AS attributes, (SELECT count(*) FROM workflow.instance_page()) AS instances,
    (SELECT total_count FROM workflow.instance_count('{"searchAttributes": [{"name": "orderNo", "value": "B-1"}]}')) AS found;
RESET ROLE;
SET ROLE regress_search_ann;
SELECT wf_grant('order', 'regress_search_bob', '{read}') \g /dev/null
RESET ROLE;
SET ROLE regress_search_bob;
SELECT (SELECT count(*) FROM workflow.search_attribute_list) AS attributes, (SELECT count(*) FROM workflow.instance_page()) AS instances,
    (SELECT total_count FROM workflow.instance_count('{"searchAttributes": [{"name": "orderNo", "value": "B-1"}]}')) AS found;

-- An instance that waits for its turn is found, and one that continues another has values of its own.
RESET ROLE;
SET ROLE regress_search_ann;
SELECT wf_define('{"definitionId": "turn", "options": {"maxConcurrency": {"max": 1}, "searchAttributes": {"n": {"input": "n"}}}, "root": {"type": "Event", "eventName": "Turn"}}') \g /dev/null
SELECT wf_start('turn', '{"n": 1}'), wf_start('turn', '{"n": 2}') \g /dev/null
SELECT wf_define('{"definitionId": "again", "options": {"searchAttributes": {"n": {"input": "n"}}}, "root": [
    {"id": "tick", "type": "Event", "eventName": "Tick"}, {"type": "ContinueAs", "input": {"js": "({n: 4})"}}]}') \g /dev/null
SELECT wf_start('again', '{"n": 3}') AS again \gset
SELECT wf_publish_event('Tick', instance_id => :'again') \g /dev/null
SELECT a.definition_id, a.name, a.number, i.sub_status FROM workflow.search_attribute_list AS a JOIN workflow.instance_list AS i USING (instance_id)
WHERE a.name = 'n' ORDER BY a.number;

-- A migration stores the values that the new version declares.
SELECT wf_define('{"definitionId": "order", "variables": {"State": "new", "Total": null, "Due": null}, "options": {"searchAttributes": {
    "number": {"input": "orderNo"}, "state": {"var": "State"}}},
    "root": {"id": "sent", "type": "Event", "eventName": "Sent"}}') \g /dev/null
SELECT wf_migrate(:'o1') \g /dev/null
SELECT name, text, number, instant FROM workflow.search_attribute_list WHERE instance_id = :'o1' ORDER BY name;

-- Older instances in batches, each with the last id of the one before. An instance that has ended is found as well.
SELECT wf_define('{"definitionId": "older", "root": {"id": "wait", "type": "Event", "eventName": "Older"}}') \g /dev/null
SELECT wf_start('older', jsonb_build_object('city', city)) FROM unnest('{Oslo,Rome,Bern}'::text[]) AS city \g /dev/null
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE definition_id = 'older' AND input ->> 'city' = 'Rome' \g /dev/null
SELECT wf_define('{"definitionId": "older", "options": {"searchAttributes": {"city": {"input": "city"}}}, "root": {"id": "wait", "type": "Event", "eventName": "Older"}}') \g /dev/null
SELECT count(*) FROM workflow.search_attribute_list WHERE definition_id = 'older';
SELECT indexed, last_id FROM wf_index_instances('older', max => 2) \gset
SELECT :indexed AS indexed, text FROM workflow.search_attribute_list WHERE definition_id = 'older' ORDER BY text;
SELECT * FROM wf_index_instances('older', max => 2, after => :'last_id');
SELECT * FROM wf_index_instances('older');
SELECT text FROM workflow.search_attribute_list WHERE definition_id = 'older' ORDER BY text;

-- The values leave with their instance, and come back with it.
SELECT wf_delete_instance(:'o1') \g /dev/null
RESET ROLE;
SELECT count(*) FROM workflow.search_attributes WHERE instance_id = :'o1';
CREATE TEMP TABLE before AS TABLE workflow.search_attributes;
BEGIN;
CREATE TEMP TABLE bundle AS SELECT b FROM wf_export_instances('{o2}', remove => true) AS b;
SELECT count(*) FROM workflow.search_attributes WHERE instance_id = :'o2';
SELECT wf_import_instances(array_agg(b)) FROM bundle;
SELECT count(*) AS missing FROM (TABLE before EXCEPT TABLE workflow.search_attributes) AS b;
COMMIT;

-- What is refused.
SET ROLE regress_search_bob;
SELECT * FROM wf_index_instances('order');
RESET ROLE;
SET ROLE regress_search_ann;
SELECT wf_define('{"definitionId": "plain", "root": []}') \g /dev/null
SELECT * FROM wf_index_instances('plain');
SELECT wf_retract('plain') \g /dev/null
SELECT * FROM wf_index_instances('plain');
SELECT * FROM wf_index_instances('none');
SELECT * FROM wf_index_instances(NULL);
SELECT * FROM wf_index_instances('older', max => 0);
SELECT * FROM workflow.instance_count('{"searchAttributes": {"orderNo": "4711"}}');
SELECT * FROM workflow.instance_count('{"searchAttributes": [{"value": 1}]}');
SELECT * FROM workflow.instance_count('{"searchAttributes": [{"name": "total"}]}');
SELECT * FROM workflow.instance_count('{"searchAttributes": [{"name": "total", "value": 1, "to": 2}]}');
SELECT * FROM workflow.instance_count('{"searchAttributes": [{"name": "total", "from": "many"}]}');
SELECT * FROM workflow.instance_count('{"searchAttributes": [{"name": "total", "value": []}]}');
\pset tuples_only
SELECT p.path || ': ' || p.message FROM jsonb_array_elements('[
    [],
    {"": {"var": "Total"}},
    {"a=b": {"var": "Total"}},
    {"a": "Total"},
    {"a": {}},
    {"a": {"var": "Total", "input": "orderNo"}},
    {"a": {"input": ""}},
    {"a": {"var": 1}},
    {"a": {"var": "Totel"}},
    {"a": {"input": "orderNr"}},
    {"a": {"var": "Total", "type": "date"}},
    {"a": {"var": "Total", "kind": "text"}}]') AS a,
    wf_validate(jsonb_build_object('definitionId', 'd', 'root', '[]'::jsonb, 'variables', '{"Total": null}'::jsonb, 'inputs', '[{"name": "orderNo"}]'::jsonb,
        'options', jsonb_build_object('searchAttributes', a))) AS p;
SELECT p.path || ': ' || p.message FROM wf_validate(jsonb_build_object('definitionId', 'd', 'root', '[]'::jsonb, 'options', jsonb_build_object('searchAttributes',
    (SELECT jsonb_object_agg('a' || n, '{"input": "a"}'::jsonb) FROM generate_series(1, 9) AS n)))) AS p;
