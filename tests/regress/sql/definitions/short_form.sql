-- The short form is what a person types. wf_export shows what it stands for: Elsa's JSON.
CREATE FUNCTION pg_temp.run(definition jsonb, input jsonb DEFAULT '{}') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    PERFORM wf_define(definition);
    result := wf_run(definition ->> 'definitionId', input);
    RETURN QUERY SELECT data #>> '{}' FROM workflow.journal WHERE instance_id = result.instance_id AND event = 'Line' ORDER BY seq, number;
    RETURN NEXT '-- ' || result.sub_status;
END $$;

-- An array of activities is a sequence. Type names need no prefix. Ids may be left out: a missing one is the type
-- and the number of the activity in the document.
SELECT * FROM wf_define('{
    "definitionId": "short",
    "variables": {"Total": 0},
    "root": [
        {"type": "SetVariable", "variable": "Total", "value": {"js": "getTotal() + 1"}},
        {"type": "WriteLine", "text": {"sql": "''total is '' || (variables ->> ''Total'')"}}
    ]
}');
SELECT jsonb_pretty(wf_export('short') #- '{createdAt}');

-- A plain value is a literal, strings that look like code included.
SELECT * FROM pg_temp.run('{"definitionId": "f1", "root": [{"type": "WriteLine", "text": "getInput(1)"}]}');

-- An object is an expression only if its one key is js, sql, liquid, var, input, object or literal.
SELECT * FROM pg_temp.run('{"definitionId": "f2", "variables": {"V": null}, "root": [
    {"type": "SetVariable", "variable": "V", "value": {"js": "1 + 1"}},             {"type": "WriteLine", "text": {"var": "V"}},
    {"type": "SetVariable", "variable": "V", "value": {"sql": "1 + 1"}},            {"type": "WriteLine", "text": {"var": "V"}},
    {"type": "SetVariable", "variable": "V", "value": {"input": "who"}},            {"type": "WriteLine", "text": {"var": "V"}},
    {"type": "SetVariable", "variable": "V", "value": {"js": "1 + 1", "note": ""}}, {"type": "WriteLine", "text": {"var": "V"}},
    {"type": "SetVariable", "variable": "V", "value": {"literal": {"js": "1 + 1"}}},{"type": "WriteLine", "text": {"var": "V"}},
    {"type": "SetVariable", "variable": "V", "value": {"literal": [{"js": "1 + 1"}]}},           {"type": "WriteLine", "text": {"var": "V"}}
]}', '{"who": "Ada"}');

-- "object" evaluates expressions inside an object or an array.
SELECT * FROM pg_temp.run('{"definitionId": "f3", "variables": {"V": null}, "root": [
    {"type": "SetVariable", "variable": "V", "value": {"object": {"who": {"input": "who"}, "two": [{"js": "1 + 1"}, 2], "raw": {"literal": {"var": "V"}}}}},
    {"type": "WriteLine", "text": {"var": "V"}}
]}', '{"who": "Ada"}');

-- Outputs are bound to variables or to outputs of the workflow.
SELECT * FROM wf_define('{"definitionId": "bound", "variables": {"Rows": null}, "outputs": [{"name": "Count", "type": "Int32"}],
    "root": {"type": "Sql", "statement": "SELECT 1 AS one", "result": {"var": "Rows"}, "rowCount": {"output": "Count"}}}');
SELECT output FROM wf_run('bound');
SELECT variables FROM workflow.instance_list WHERE definition_id = 'bound';

-- Variables as an object, or as a list with types; text is converted to the type.
SELECT * FROM pg_temp.run('{"definitionId": "f4",
    "variables": [{"name": "N", "type": "Int32", "value": "41"}, {"name": "L", "type": "List", "value": "[1, 2]"}],
    "root": [{"type": "WriteLine", "text": {"js": "getN() + 1"}}, {"type": "WriteLine", "text": {"js": "getL().length"}}]}');

-- Ports take an activity, or an array of them.
SELECT * FROM pg_temp.run('{"definitionId": "f5", "root": {"type": "If", "condition": true,
    "then": [{"type": "WriteLine", "text": "one"}, {"type": "WriteLine", "text": "two"}],
    "else": {"type": "WriteLine", "text": "three"}}}');

-- Connections of a flowchart: from, outcome, to; Done may be left out.
SELECT * FROM pg_temp.run('{"definitionId": "f6", "root": {"type": "Flowchart",
    "activities": [
        {"id": "a", "type": "WriteLine", "text": "a"},
        {"id": "d", "type": "FlowDecision", "condition": {"input": "yes"}},
        {"id": "y", "type": "WriteLine", "text": "yes"},
        {"id": "n", "type": "WriteLine", "text": "no"}],
    "connections": [["a", "d"], ["d", "True", "y"], ["d", "False", "n"]]}}', '{"yes": false}');

-- Strategies by short name.
SELECT * FROM wf_define('{"definitionId": "alone", "options": {"activationStrategy": "Singleton", "incidentStrategy": "ContinueWithIncidents"},
    "root": {"type": "Event", "eventName": "Go"}}');
SELECT wf_export('alone') -> 'options' AS options;

-- Both forms may be mixed at any depth.
SELECT * FROM pg_temp.run('{"definitionId": "f7", "root": {"id": "s", "type": "Elsa.Sequence", "version": 1, "activities": [
    {"type": "WriteLine", "text": {"js": "`short`"}},
    {"id": "w", "type": "Elsa.WriteLine", "version": 1, "customProperties": {}, "metadata": {},
     "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "`long`"}}}]}}');
SELECT * FROM wf_check();
