-- What values become on their way, where Elsa does something that is not obvious.
CREATE FUNCTION pg_temp.lines(definition jsonb) RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    PERFORM wf_define('{"definitionId": "x"}' || definition);
    result := wf_run('x');
    RETURN QUERY SELECT data #>> '{}' FROM workflow.journal AS j WHERE j.instance_id = result.instance_id AND event = 'Line' ORDER BY seq, number;
    RETURN QUERY SELECT concat_ws(' ', '--', result.sub_status, nullif(result.output, '{}'), result.incidents -> 0 ->> 'message');
END $$;
\pset tuples_only on
\pset format unaligned

-- An output that is bound to a variable keeps its value, whatever type the variable has; also after a wait.
SELECT pg_temp.lines('{"variables": [{"name": "A", "type": "String"}, {"name": "N", "type": "Int32"}], "root": [
    {"type": "RunJavaScript", "script": "({Response: ''hi''})", "result": {"var": "A"}},
    {"type": "WriteLine", "text": {"js": "getA().Response"}},
    {"type": "RunJavaScript", "script": "''abc''", "result": {"var": "N"}},
    {"type": "WriteLine", "text": {"var": "N"}}]}');
SELECT wf_define('{"definitionId": "waits", "variables": [{"name": "A", "type": "String"}], "root": [
    {"type": "RunTask", "taskName": "t", "result": {"var": "A"}}, {"type": "Event", "eventName": "e"}, {"type": "WriteLine", "text": {"js": "getA().Response"}}]}');
SELECT wf_start('waits') AS i \gset
SELECT sub_status FROM wf_complete_task((SELECT id FROM workflow.tasks WHERE instance_id = :'i'), '{"Response": "later"}');
SELECT sub_status FROM wf_resume((SELECT bookmark_id FROM workflow.open_bookmarks WHERE instance_id = :'i'));
SELECT data #>> '{}' FROM workflow.journal WHERE instance_id = :'i' AND event = 'Line';
-- What SetVariable and a script assign is converted.
SELECT pg_temp.lines('{"variables": [{"name": "N", "type": "Int32"}], "root": [{"type": "SetVariable", "variable": "N", "value": "7"}, {"type": "WriteLine", "text": {"js": "getN() + 1"}},
    {"type": "SetVariable", "variable": "N", "value": {"js": "''abc''"}}]}');
-- An output of the workflow is converted where it is declared.
SELECT pg_temp.lines('{"outputs": [{"name": "N", "type": "Int32"}], "root": {"type": "RunJavaScript", "script": "''7''", "result": {"output": "N"}}}');

-- A truth as text is True or False, as .NET writes it; in JSON, in SQL, in Liquid and in templates of JavaScript it is true or false.
SELECT pg_temp.lines('{"variables": [{"name": "B", "type": "Boolean", "value": true}, {"name": "S", "type": "String"}], "outputs": [{"name": "T", "type": "String"}], "root": [
    {"type": "WriteLine", "text": {"js": "true"}},
    {"type": "WriteLine", "text": {"var": "B"}},
    {"type": "WriteLine", "text": false},
    {"type": "SetVariable", "variable": "S", "value": {"js": "false"}},
    {"type": "WriteLine", "text": {"js": "getS() === ''False''"}},
    {"type": "WriteLine", "text": {"object": {"b": {"var": "B"}}}},
    {"type": "WriteLine", "text": {"liquid": "{{ Variables.B }}"}},
    {"type": "WriteLine", "text": {"js": "`${getB()}`"}},
    {"type": "WriteLine", "text": {"sql": "variables ->> ''B''"}},
    {"type": "WriteLine", "text": {"typeName": "String", "expression": {"type": "CSharp", "value": "$\"{Variables.B}\""}}},
    {"type": "SetOutput", "outputName": "T", "outputValue": true}]}');

-- A number alone is days in a time span.
SELECT pg_temp.lines('{"root": {"id": "d", "type": "Delay", "timeSpan": "1"}}');
SELECT date_trunc('hour', due - since + '1 minute') FROM workflow.waiting WHERE activity = 'd';
SELECT path, message FROM wf_validate('{"definitionId": "y", "root": [{"type": "Delay", "timeSpan": "123456789"}, {"type": "Timer", "interval": "-1"}, {"type": "Delay", "timeSpan": "1.5"}]}');

-- Paths of ids are those of the document, whatever the workflow is called.
SELECT count(wf_define('{"definitionId": "paths", "name": "My Flow", "root": {"id": "f", "nodeId": "Workflow1:f", "type": "Elsa.Flowchart", "activities": [
    {"id": "e", "nodeId": "Workflow1:f:e", "type": "Elsa.Event", "version": 1, "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "q"}}, "customProperties": {"canStartWorkflow": true}},
    {"id": "g", "type": "Elsa.Event", "version": 1, "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "q"}}}], "connections": []}}'));
SELECT count(wf_start('paths')) FROM generate_series(1, 1);
SELECT 'bookmark', node_id FROM workflow.open_bookmarks WHERE definition_id = 'paths' UNION ALL
SELECT 'trigger', node_id FROM workflow.trigger_list WHERE definition_id = 'paths' UNION ALL
SELECT 'export', activity ->> 'nodeId' FROM jsonb_array_elements(wf_export('paths') #> '{root,activities}') AS activity;

-- Unknown types of other libraries have a way out.
SELECT message FROM wf_validate('{"definitionId": "y", "root": {"type": "Demo.Reqres.GetUser", "version": 1}}');

-- A script may replace what it is given, for itself alone.
SELECT pg_temp.lines('{"root": [
    {"type": "WriteLine", "text": {"js": "toJson = function() { return ''replaced'' }; toJson({a: 1})"}},
    {"type": "WriteLine", "text": {"js": "const before = toJson({a: 1}); toJson = () => ''later''; return before + toJson()"}},
    {"type": "WriteLine", "text": {"js": "toJson({a: 1})"}},
    {"type": "WriteLine", "text": {"js": "Math = {max: () => 7}; Math.max(1)"}},
    {"type": "WriteLine", "text": {"js": "Math.max(1, 2) + ''|'' + typeof JSON.parse"}},
    {"type": "WriteLine", "text": {"js": "globalThis.toJson = 1; Math.max = 1; toJson(2)"}},
    {"type": "WriteLine", "text": {"js": "[typeof LogPersistenceMode, typeof ExpandoObject, typeof JsonElement, typeof JsonNode, typeof JsonObject, typeof Stream].join()"}},
    {"type": "WriteLine", "text": {"js": "const e = new ExpandoObject(); e.a = LogPersistenceMode.Include; e"}},
    {"type": "WriteLine", "text": {"js": "JsonNode.Parse(''{\"a\": [1]}'').a.length"}}]}');
