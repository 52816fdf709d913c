-- wf_validate says everything that wf_define would refuse, one row per problem, and stores nothing.

-- A good definition has no problems.
SELECT * FROM wf_validate('{"definitionId": "good", "root": [{"type": "WriteLine", "text": "Hello"}]}');

-- The path is a JSON pointer into the document as it was given.
SELECT * FROM wf_validate('{
    "variables": [{"name": "N", "type": "Int32", "value": "many"}, {"name": "N"}],
    "options": {"activationStrategy": "Once"},
    "root": {
        "type": "Flowchart",
        "activities": [
            {"id": "a", "type": "WriteLin", "text": "typo"},
            {"id": "b", "type": "Elsa.Event"},
            {"id": "b", "type": "If", "condition": {"js": "getInput("}, "then": {"type": "SetVariable", "variable": "Nobody"}},
            {"id": "c", "type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Python", "value": "import os"}}}
        ],
        "connections": [["a", "z"], ["y", "b"], ["a"], {"source": "a"}]
    }
}');

-- What Studio exports as null or without a value is unset, and that is no problem.
SELECT * FROM wf_validate('{"definitionId": "unset", "root": {"id": "w", "type": "Elsa.WriteLine", "version": 1, "text": null}}');
SELECT * FROM wf_validate('{"definitionId": "unset", "root": {"id": "w", "type": "Elsa.WriteLine", "version": 1,
    "text": {"typeName": "String", "expression": {"type": "Literal"}}}}');

-- Legacy forms of older exports are read.
SELECT * FROM wf_validate('{
    "definitionId": "legacy", "isLatest": true, "isPublished": true,
    "root": {"type": "Elsa.Flowchart", "version": 1, "id": "Flowchart1", "metadata": {}, "applicationProperties": {"NotFoundConnectionsKey": []}, "start": "Start1",
        "activities": {"$values": [
            {"id": "Start1", "type": "Elsa.Start", "version": 1, "canStartWorkflow": false, "runAsynchronously": false, "customProperties": {}},
            {"id": "w", "type": "Elsa.WriteLine", "version": 1,
             "text": {"typeName": "String", "expression": {"type": "Literal", "value": "x"}, "memoryReference": {"id": "w:input-1"}}}]},
        "connections": [{"source": "Start1", "target": "w", "sourcePort": "Done", "targetPort": "In"}]}
}');
SELECT * FROM wf_validate('{
    "definitionId": "pascal",
    "root": {"type": "Elsa.Flowchart", "id": "f", "activities": [{"id": "a", "type": "Elsa.Start"}, {"id": "b", "type": "Elsa.End"}],
             "connections": {"Source": {"Activity": "a", "Port": "Done"}, "Target": {"Activity": "b", "Port": "In"}}}
}');

-- Broken shapes are problems like others.
SELECT * FROM wf_validate('[]');
SELECT * FROM wf_validate('7');
SELECT * FROM wf_validate('null');
SELECT * FROM wf_validate('{}');
SELECT * FROM wf_validate('{"definitionId": "x", "root": []}');
SELECT * FROM wf_validate('{"definitionId": "x", "root": [[[]]], "variables": 1, "inputs": {}, "outputs": "", "options": []}');
SELECT * FROM wf_validate('{"definitionId": "x", "root": {"type": "Flowchart", "activities": {}, "connections": 5}}');
SELECT * FROM wf_validate('{"definitionId": "x", "root": {"type": "Switch", "cases": [1, {}, {"label": "a"}]}}');
SELECT * FROM wf_validate('{"definitionId": "x", "root": {"type": ["WriteLine"]}}');
SELECT * FROM wf_validate('{"definitionId": "x", "root": {"type": "Sequence", "activities": [null, {"type": "End"}]}}');

-- Without an argument there is nothing to validate.
SELECT * FROM wf_validate(NULL);
\echo :SQLSTATE
SELECT count(*) FROM workflow.definition_list;

-- The catalogue says what there is: every example in it is valid, given the workflow that one of them uses.
SELECT * FROM wf_define('{"definitionId": "add-numbers", "inputs": [{"name": "a"}, {"name": "b"}], "outputs": [{"name": "sum"}], "root": []}');
SELECT a.type, p.* FROM wf_activities() AS a, wf_validate(jsonb_build_object('definitionId', 'example', 'variables',
    '{"Decision": null, "Invoice": null, "Payment": null, "Stock": null, "Rows": null, "Total": 0, "Tries": 0}'::jsonb, 'root', a.example::jsonb)) AS p;
SELECT type, outcomes, description FROM wf_activities() ORDER BY type COLLATE "C";
