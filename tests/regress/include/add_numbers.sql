\set ECHO none
-- For the sessions about workflows that are used as activities, after workflow_as_activity.sql.
-- A workflow that adds two numbers. Its name is an activity type.
SELECT * FROM wf_define('{
    "definitionId": "add-numbers", "name": "Add numbers",
    "options": {"usableAsActivity": true},
    "inputs": [{"name": "a", "type": "Int32"}, {"name": "b", "type": "Int32", "defaultValue": 1}],
    "outputs": [{"name": "sum", "type": "Int32"}],
    "root": {"type": "SetOutput", "outputName": "sum", "outputValue": {"js": "getA() + getInput(''b'')"}}
}');

-- Used by its type or by its id. Inputs are evaluated where the activity stands, outputs are bound there.
SELECT * FROM wf_define('{
    "definitionId": "sums", "variables": {"Sum": 0}, "outputs": [{"name": "total"}],
    "root": [
        {"type": "AddNumbers", "a": {"input": "first"}, "sum": {"var": "Sum"}},
        {"id": "again", "workflowDefinitionId": "add-numbers", "a": {"var": "Sum"}, "b": {"var": "Sum"}, "sum": {"output": "total"}},
        {"type": "WriteLine", "text": {"js": "`${getSum()} ${getSumFromAgain()}`"}}
    ]
}');
\set ECHO all
