-- A part of a workflow with variables of its own needs no definition of its own.
\i tests/regress/include/workflow_as_activity.sql

SELECT * FROM wf_define('{"definitionId": "in-place", "variables": {"Total": 0}, "root": [
    {"type": "Composite", "variables": {"Sum": 1}, "resultVariable": "Sum", "result": {"var": "Total"}, "root": [
        {"type": "SetVariable", "variable": "Sum", "value": {"js": "getSum() + 4"}},
        {"type": "Complete"}, {"type": "WriteLine", "text": "never"}]},
    {"type": "WriteLine", "text": {"var": "Total"}}]}');
SELECT pg_temp.run('in-place');
