-- Scenarios of Elsa's own tests: variables, outputs, names.
\i tests/regress/include/run.sql

-- Set and get, by value, by reference, an array, from an activity's output.
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "A", "value": "Line 5"}, {"type": "WriteLine", "text": {"var": "A"}}]', '{"A": null}');
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "B", "value": {"var": "A"}}, {"type": "WriteLine", "text": {"var": "B"}}]', '{"A": "copied", "B": null}');
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "A", "value": {"js": "[\"Apple\", \"Banana\"]"}}, {"type": "ForEach", "items": {"var": "A"}, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}]', '[{"name": "A", "typeName": "String", "isArray": true}]');
SELECT pg_temp.run('[{"id": "q", "type": "Sql", "statement": "SELECT 1 AS one", "rowCount": {"var": "A"}}, {"type": "WriteLine", "text": {"var": "A"}}]', '{"A": null}');

-- Two variables of one name: the nearest scope wins, in a nested container and after it.
SELECT pg_temp.run('[{"type": "Sequence", "variables": {"X": "inner"}, "activities": [{"type": "SetVariable", "variable": "X", "value": "changed"}, {"type": "WriteLine", "text": {"var": "X"}}]}, {"type": "WriteLine", "text": {"var": "X"}}]', '{"X": "outer"}');

-- A variable of a container is gone with it.
SELECT pg_temp.run('[{"type": "Sequence", "variables": {"Inner": "x"}, "activities": [{"type": "WriteLine", "text": {"var": "Inner"}}]}, {"type": "WriteLine", "text": {"js": "String(getVariable(''Inner''))"}}]');

-- Variables without a name are numbered.
SELECT pg_temp.run('[{"type": "WriteLine", "text": {"js": "`${getVariable1()} ${getVariable2()}`"}}]', '[{"typeName": "String", "value": "one"}, {"typeName": "String", "value": "two"}]');

-- Several outputs; the name that was set stays.
SELECT * FROM wf_define('{"definitionId": "outputs", "outputs": [{"name": "Output1", "type": "String"}, {"name": "Output2", "type": "Int32"}], "root": [
    {"type": "SetOutput", "outputName": "Output1", "outputValue": "Foo"}, {"type": "SetOutput", "outputName": "Output2", "outputValue": "42"}, {"type": "SetName", "value": "named"}, {"id": "wait", "type": "Event", "eventName": "Go"}]}');
SELECT output FROM wf_run('outputs', name => 'before');
SELECT pg_temp.resume('wait');
SELECT name, output FROM workflow.instance_list WHERE definition_id = 'outputs';

-- An output that the definition does not declare is one, too, as in Elsa.
SELECT * FROM wf_define('{"definitionId": "undeclared", "root": {"type": "SetOutput", "outputName": "Surprise", "outputValue": 1}}');
SELECT output FROM wf_run('undeclared');

-- An activity's output as output of the workflow.
SELECT * FROM wf_define('{"definitionId": "mapped", "outputs": [{"name": "Output1", "type": "Int32"}], "root": {"id": "q", "type": "Elsa.Sequence", "activities": [{"id": "s", "type": "Sql", "statement": "VALUES (1), (2)", "rowCount": {"typeName": "Int32", "memoryReference": {"id": "Output1"}}}]}}');
SELECT output FROM wf_run('mapped');

-- The last result, and an output by the id or name of its activity.
SELECT pg_temp.run('[{"id": "q", "name": "Query", "type": "Sql", "statement": "SELECT 7 AS n"}, {"type": "WriteLine", "text": {"js": "getLastResult()[0].n"}}, {"type": "WriteLine", "text": {"js": "getOutputFrom(''Query'')[0].n"}},
    {"type": "WriteLine", "text": {"js": "getResultFromQuery()[0].n"}}]');

-- setVariable beats what is written back from the container "variables".
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "Y", "value": {"js": "variables.X = ''container''; setVariable(''X'', ''function''); return 1;"}}, {"type": "WriteLine", "text": {"var": "X"}}]', '{"X": null, "Y": null}');

-- Arrays of variables are changed in place.
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "Y", "value": {"js": "variables.L.push(4); return variables.L.length;"}}, {"type": "WriteLine", "text": {"js": "toJson(getL())"}}]', '{"L": [1, 2, 3], "Y": null}');

-- Inputs in any letter case of a member of an object.
SELECT pg_temp.run('[{"type": "WriteLine", "text": {"js": "`${getInput(''Order'').total} ${getInput(''Order'').Lines[0].NAME}`"}}]', input => '{"Order": {"Total": 5, "lines": [{"name": "tea"}]}}');

-- An instance keeps its data over several bursts.
SELECT pg_temp.run('[{"type": "SetVariable", "variable": "Log", "value": {"js": "[...getLog(), ''start'']"}}, {"id": "w1", "type": "Event", "eventName": "E", "result": {"var": "R"}},
    {"type": "SetVariable", "variable": "Log", "value": {"js": "[...getLog(), getR()]"}}, {"id": "w2", "type": "Event", "eventName": "E", "result": {"var": "R"}},
    {"type": "SetVariable", "variable": "Log", "value": {"js": "[...getLog(), getR()]"}}, {"type": "WriteLine", "text": {"js": "getLog().join()"}}]', '{"Log": [], "R": null}');
SELECT pg_temp.resume('w1', '"first"');
SELECT pg_temp.resume('w2', '"second"');
SELECT * FROM wf_check();
