-- Variables, inputs and outputs of a workflow.
\i tests/regress/include/run.sql

-- Initial values; what is assigned is converted to the declared type.
SELECT pg_temp.run('[{"type": "WriteLine", "text": {"js": "toJson(variables)"}}]', '[
    {"name": "I", "type": "Int32", "value": "42"}, {"name": "B", "type": "Boolean", "value": "true"}, {"name": "D", "type": "Decimal", "value": "1.10"},
    {"name": "S", "type": "String", "value": 5}, {"name": "L", "type": "List", "value": "[1, 2]"}, {"name": "O", "type": "Object", "value": "{\"a\": 1}"}, {"name": "N", "type": "Object"}]');
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "I", "value": "7"}, {"type": "SetVariable", "variable": "S", "value": 7}, {"type": "SetVariable", "variable": "B", "value": "false"},
    {"type": "WriteLine", "text": {"js": "toJson([getI(), getS(), getB()])"}}]',
    '[{"name": "I", "type": "Int32"}, {"name": "S", "type": "String"}, {"name": "B", "type": "Boolean"}]');

-- Decimals keep every digit.
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "D", "value": {"sql": "1.10::numeric * 3"}}, {"type": "WriteLine", "text": {"var": "D"}}]', '[{"name": "D", "type": "Decimal"}]');
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "D", "value": {"sql": "123456789012345678901234567890.12"}}, {"type": "WriteLine", "text": {"var": "D"}}]', '[{"name": "D", "type": "Decimal"}]');

-- Scopes: a container may declare variables of its own; the nearest wins.
SELECT pg_temp.run('[{"type": "Sequence", "variables": [{"name": "X", "value": "inner"}], "activities": [
        {"type": "WriteLine", "text": {"var": "X"}}, {"type": "SetVariable", "variable": "X", "value": "changed"}, {"type": "WriteLine", "text": {"var": "X"}}]},
    {"type": "WriteLine", "text": {"var": "X"}}]', '{"X": "outer"}');

-- They are there after a wait, and gone with their container.
SELECT pg_temp.run('[{"type": "Sequence", "variables": [{"name": "X", "value": 1}], "activities": [
        {"type": "SetVariable", "variable": "X", "value": 2}, {"id": "wait", "type": "Event", "eventName": "Go"}, {"type": "WriteLine", "text": {"var": "X"}}]}]', '{"X": "outer"}');
SELECT pg_temp.resume('wait');

-- Variables of the workflow are what instance_list shows.
SELECT variables FROM workflow.instance_list ORDER BY instance_id DESC LIMIT 1;

-- Outputs of activities survive a wait, bound to a variable or not.
SELECT pg_temp.run('[{"id": "query", "type": "Sql", "statement": "SELECT 42 AS answer"}, {"id": "wait", "type": "Event", "eventName": "Go"},
    {"type": "WriteLine", "text": {"js": "toJson(getOutputFrom(''query'', ''result''))"}}, {"type": "WriteLine", "text": {"sql": "outputs #>> ''{query,result,0,answer}''"}}]');
SELECT pg_temp.resume('wait', '"gone on"');

-- Inputs: declared ones are converted and have defaults; a definition that declares none accepts any.
SELECT * FROM wf_define('{"definitionId": "in", "inputs": [{"name": "Amount", "type": "Int32"}, {"name": "Who", "type": "String", "defaultValue": "nobody"}],
    "outputs": [{"name": "Twice", "type": "Int32"}, {"name": "For", "type": "String"}],
    "root": [{"type": "SetOutput", "outputName": "Twice", "outputValue": {"js": "getAmount() * 2"}}, {"type": "SetOutput", "outputName": "For", "outputValue": {"input": "Who"}}]}');
SELECT output FROM wf_run('in', '{"Amount": "21"}');
SELECT output FROM wf_run('in', '{"Amount": 1, "Who": "Ada"}');
\set VERBOSITY terse
SELECT output FROM wf_run('in', '{"Amount": "many"}');
SELECT output FROM wf_run('in', '{"Amount": 1, "Unknown": 2}');
\set VERBOSITY default

-- SetName names the instance, SetOutput sets an output of the workflow; the last value counts.
SELECT * FROM wf_define('{"definitionId": "out", "outputs": [{"name": "A"}, {"name": "B"}], "root": [
    {"type": "SetName", "value": {"js": "`run of ${getInput(''who'')}`"}}, {"type": "SetOutput", "outputName": "A", "outputValue": 1},
    {"type": "SetOutput", "outputName": "A", "outputValue": {"object": {"n": {"js": "1 + 1"}}}}, {"type": "SetOutput", "outputName": "B", "outputValue": null}]}');
SELECT output FROM wf_run('out', '{"who": "Ada"}');
SELECT name FROM workflow.instance_list WHERE definition_id = 'out';

-- A value that does not fit is a fault, and the variable keeps what it had.
SET client_min_messages = error;
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "I", "value": {"js": "''many''"}}]', '[{"name": "I", "type": "Int32", "value": 1}]');
SELECT variables FROM workflow.instance_list ORDER BY instance_id DESC LIMIT 1;
SELECT sqlstate, message FROM workflow.open_incidents;
SELECT * FROM wf_check();
