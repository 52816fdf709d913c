-- What cannot be used as an activity is a problem of its place: unknown, recursive, ambiguous, too large.
\i tests/regress/include/workflow_as_activity.sql

SELECT * FROM wf_define('{
    "definitionId": "add-numbers", "name": "Add numbers",
    "options": {"usableAsActivity": true},
    "inputs": [{"name": "a", "type": "Int32"}, {"name": "b", "type": "Int32", "defaultValue": 1}],
    "outputs": [{"name": "sum", "type": "Int32"}],
    "root": {"type": "SetOutput", "outputName": "sum", "outputValue": {"js": "getA() + getInput(''b'')"}}
}');
SELECT * FROM wf_define('{
    "definitionId": "check", "name": "Check", "options": {"usableAsActivity": true}, "outcomes": ["Good", "Bad"], "inputs": [{"name": "days"}],
    "root": [
        {"type": "If", "condition": {"sql": "(input ->> ''days'')::integer > 5"}, "then": {"type": "Complete", "outcomes": "Bad"}},
        {"type": "Complete", "outcomes": "Good"}]
}');
SELECT * FROM wf_define('{
    "definitionId": "ask", "name": "Ask", "options": {"usableAsActivity": true}, "inputs": [{"name": "who"}], "outputs": [{"name": "answer"}],
    "root": [
        {"id": "task", "type": "RunTask", "taskName": "Answer", "payload": {"object": {"who": {"input": "who"}}}},
        {"type": "SetOutput", "outputName": "answer", "outputValue": {"js": "getInput(''who'') + '': '' + getOutputFrom(''task'')"}}]
}');
SELECT * FROM wf_define('{"definitionId": "atom", "name": "Atom", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"type": "WriteLine", "text": "atom 1"}}');
SELECT * FROM wf_define('{"definitionId": "molecule", "name": "Molecule", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true},
    "root": [{"type": "Atom"}, {"type": "Atom", "workflowDefinitionId": "atom", "version": 1}, {"type": "Atom"}]}');

-- What cannot be used is a problem of its place.
SELECT * FROM wf_validate('{"definitionId": "x", "root": [
    {"workflowDefinitionId": "nowhere"}, {"type": "Nowhere"}, {"type": "WorkflowDefinitionActivity"}, {"type": "Workflow"},
    {"type": "Check", "dayz": 1}, {"type": "Check", "days": 1, "price": {"js": "1"}},
    {"type": "Ask", "answer": {"var": "Nothing"}}, {"type": "AddNumbers", "a": "many"}]}');
SELECT * FROM wf_define('{"definitionId": "atom", "root": {"type": "Molecule"}}');
\echo :SQLSTATE
-- One that uses what comes later can be stored first; the same definition again finds it.
SELECT * FROM wf_define('{"definitionId": "early", "root": {"type": "Late"}}', allow_unknown => true);
SELECT * FROM wf_define('{"definitionId": "late", "name": "late", "options": {"usableAsActivity": true}, "root": {"type": "WriteLine", "text": "late"}}');
SELECT pg_temp.run('early');
SELECT * FROM wf_define('{"definitionId": "early", "root": {"type": "Late"}}');
SELECT pg_temp.run('early');
SELECT * FROM wf_define('{"definitionId": "early", "root": {"type": "Late"}}');
-- A name that several workflows have is no workflow's.
SELECT * FROM wf_define('{"definitionId": "atom-too", "name": "atom", "options": {"usableAsActivity": true}, "root": []}');
SELECT * FROM wf_validate('{"definitionId": "x", "root": [{"type": "Atom"}]}');
SELECT wf_delete_definition('atom-too');

-- Definitions that use each other twice, twenty levels deep, would be a million activities.
DO $$
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'twice-0', 'root', jsonb_build_object('type', 'WriteLine', 'text', repeat('x', 50000))));
    FOR n IN 1 .. 20 LOOP
        PERFORM wf_define(jsonb_build_object('definitionId', 'twice-' || n, 'root', jsonb_build_array(
            jsonb_build_object('workflowDefinitionId', 'twice-' || n - 1), jsonb_build_object('workflowDefinitionId', 'twice-' || n - 1))));
    END LOOP;
END $$;
\echo :SQLSTATE
