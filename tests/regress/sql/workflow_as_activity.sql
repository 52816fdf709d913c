-- A workflow used inside another: its activities run inside the instance of the workflow that uses it.
CREATE ROLE regress_use_author LOGIN;
CREATE ROLE regress_use_other LOGIN;
SELECT wf_grant_usage('regress_use_author');
SELECT wf_grant_usage('regress_use_other');
\connect - regress_use_author

CREATE FUNCTION pg_temp.run(definition text, input jsonb DEFAULT '{}') RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
DECLARE
    result wf_result := wf_run(definition, input);
BEGIN
    RETURN QUERY SELECT data #>> '{}' FROM workflow.journal AS j WHERE j.instance_id = result.instance_id AND event = 'Line' ORDER BY seq, number;
    RETURN QUERY SELECT concat_ws(' ', '--', result.sub_status, nullif(result.output, '{}'), result.incidents -> 0 ->> 'message');
END $$;

-- One that adds two numbers. Its name is an activity type.
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
SELECT pg_temp.run('sums', '{"first": 20}');

-- There is one instance, and its journal shows what happened inside.
SELECT definition_id, count(*) FROM workflow.instance_list GROUP BY 1;
SELECT activity, activity_type, event FROM workflow.journal ORDER BY seq, number;

-- Complete ends the workflow that it stands in, with outcomes that a flowchart around it follows, and goes no further.
SELECT * FROM wf_define('{
    "definitionId": "check", "name": "Check", "options": {"usableAsActivity": true}, "outcomes": ["Good", "Bad"], "inputs": [{"name": "days"}],
    "root": [
        {"type": "If", "condition": {"sql": "(input ->> ''days'')::integer > 5"}, "then": {"type": "Complete", "outcomes": "Bad"}},
        {"type": "Complete", "outcomes": "Good"}]
}');
SELECT * FROM wf_define('{
    "definitionId": "decide",
    "root": [{"type": "Flowchart",
        "activities": [
            {"id": "check", "type": "Check", "days": {"input": "n"}},
            {"id": "yes", "type": "WriteLine", "text": "granted"}, {"id": "no", "type": "WriteLine", "text": "refused"}],
        "connections": [["check", "Good", "yes"], ["check", "Bad", "no"]]},
        {"type": "WriteLine", "text": "decided"}]
}');
SELECT pg_temp.run('decide', '{"n": 3}');
SELECT pg_temp.run('decide', '{"n": 9}');

-- The catalogue lists it.
SELECT type, inputs, outputs, outcomes FROM wf_activities() WHERE type IN ('AddNumbers', 'Check') ORDER BY type;

-- What waits inside is a bookmark of the instance; ids may repeat, node ids do not.
SELECT * FROM wf_define('{
    "definitionId": "ask", "name": "Ask", "options": {"usableAsActivity": true}, "inputs": [{"name": "who"}], "outputs": [{"name": "answer"}],
    "root": [
        {"id": "task", "type": "RunTask", "taskName": "Answer", "payload": {"object": {"who": {"input": "who"}}}},
        {"type": "SetOutput", "outputName": "answer", "outputValue": {"js": "getInput(''who'') + '': '' + getOutputFrom(''task'')"}}]
}');
SELECT * FROM wf_define('{
    "definitionId": "ask-both", "outputs": [{"name": "x"}, {"name": "y"}],
    "root": {"type": "Parallel", "activities": [
        {"id": "one", "type": "Ask", "who": "Ada", "answer": {"output": "x"}},
        {"id": "two", "type": "Ask", "who": "Bob", "answer": {"output": "y"}}]}
}');
SELECT wf_start('ask-both', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT activity_id, node_id, payload ->> 'TaskName' AS task FROM workflow.open_bookmarks ORDER BY node_id;
SELECT r.sub_status, r.output FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"yes"') AS r WHERE t.payload ->> 'who' = 'Bob';
SELECT r.sub_status, r.output FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"no"') AS r WHERE t.payload ->> 'who' = 'Ada';

-- A fault inside is retried inside.
CREATE FUNCTION pg_temp.divisor() RETURNS integer LANGUAGE sql AS 'SELECT 0';
SELECT * FROM wf_define('{"definitionId": "divide", "outputs": [{"name": "q"}],
    "root": [{"type": "WriteLine", "text": "once"}, {"id": "div", "type": "SetOutput", "outputName": "q", "outputValue": {"sql": "100 / pg_temp.divisor()"}}]}');
SELECT * FROM wf_define('{"definitionId": "divides", "root": {"workflowDefinitionId": "divide", "q": {"output": "q"}}}');
SELECT wf_start('divides', instance_id => '01900000-0000-7000-8000-000000000002');
SELECT activity_id, message FROM workflow.open_incidents;
CREATE OR REPLACE FUNCTION pg_temp.divisor() RETURNS integer LANGUAGE sql AS 'SELECT 4';
SELECT sub_status, output FROM wf_retry('01900000-0000-7000-8000-000000000002', '{div}');
SELECT count(*) AS lines FROM workflow.journal WHERE instance_id = '01900000-0000-7000-8000-000000000002' AND event = 'Line';

-- A part of a workflow with variables of its own needs no definition of its own.
SELECT * FROM wf_define('{"definitionId": "in-place", "variables": {"Total": 0}, "root": [
    {"type": "Composite", "variables": {"Sum": 1}, "resultVariable": "Sum", "result": {"var": "Total"}, "root": [
        {"type": "SetVariable", "variable": "Sum", "value": {"js": "getSum() + 4"}},
        {"type": "Complete"}, {"type": "WriteLine", "text": "never"}]},
    {"type": "WriteLine", "text": {"var": "Total"}}]}');
SELECT pg_temp.run('in-place');

-- security.md#workflows-used-as-activities: a version is settled when the consumer is stored
-- A consumer stays with the version that it was defined with.
SELECT * FROM workflow.definition_links ORDER BY definition_id, version, uses;
SELECT * FROM wf_define('{
    "definitionId": "add-numbers", "name": "Add numbers", "options": {"usableAsActivity": true},
    "inputs": [{"name": "a", "type": "Int32"}, {"name": "b", "type": "Int32", "defaultValue": 1}],
    "outputs": [{"name": "sum", "type": "Int32"}],
    "root": {"type": "SetOutput", "outputName": "sum", "outputValue": {"js": "1000 + getA() + getInput(''b'')"}}
}');
SELECT pg_temp.run('sums', '{"first": 20}');
-- The same definition again keeps its links; another one is linked anew: to the published version, or to the one it asks for.
SELECT * FROM wf_define('{
    "definitionId": "sums", "variables": {"Sum": 0}, "outputs": [{"name": "total"}],
    "root": [
        {"type": "AddNumbers", "a": {"input": "first"}, "sum": {"var": "Sum"}},
        {"id": "again", "workflowDefinitionId": "add-numbers", "a": {"var": "Sum"}, "b": {"var": "Sum"}, "sum": {"output": "total"}},
        {"type": "WriteLine", "text": {"js": "`${getSum()} ${getSumFromAgain()}`"}}
    ]
}');
SELECT * FROM wf_define('{
    "definitionId": "sums", "variables": {"Sum": 0}, "outputs": [{"name": "total"}],
    "root": [
        {"type": "AddNumbers", "a": {"input": "first"}, "sum": {"var": "Sum"}},
        {"id": "again", "workflowDefinitionId": "add-numbers", "version": 1, "a": {"var": "Sum"}, "b": {"var": "Sum"}, "sum": {"output": "total"}}
    ]
}');
SELECT pg_temp.run('sums', '{"first": 20}');
SELECT version, is_published, uses, used_version FROM workflow.definition_links WHERE definition_id = 'sums' ORDER BY 1, 4;

-- A version that is not there falls back to the published one.
SELECT * FROM wf_define('{"definitionId": "falls-back", "root": {"workflowDefinitionId": "add-numbers", "version": 99, "a": 1, "b": 2}}');
SELECT uses, used_version FROM workflow.definition_links WHERE definition_id = 'falls-back';

-- An export keeps the references as they were given.
SELECT a -> 'type' AS type, a -> 'workflowDefinitionId' AS id, a -> 'version' AS version, a -> 'a' -> 'expression' AS a, a -> 'sum' -> 'memoryReference' AS sum
FROM jsonb_array_elements(wf_export('sums') #> '{root,activities}') AS a;

-- With autoUpdateConsumingWorkflows a new version goes on to those that use it, and to those that use these.
SELECT * FROM wf_define('{"definitionId": "atom", "name": "Atom", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"type": "WriteLine", "text": "atom 1"}}');
SELECT * FROM wf_define('{"definitionId": "molecule", "name": "Molecule", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true},
    "root": [{"type": "Atom"}, {"type": "Atom", "workflowDefinitionId": "atom", "version": 1}, {"type": "Atom"}]}');
SELECT * FROM wf_define('{"definitionId": "matter", "root": [{"type": "Atom"}, {"type": "Molecule"}, {"type": "Molecule"}]}');
SELECT * FROM wf_define('{"definitionId": "draft", "root": {"type": "Atom"}}', publish => false);
SELECT pg_temp.run('matter');
SELECT * FROM wf_define('{"definitionId": "atom", "name": "Atom", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"type": "WriteLine", "text": "atom 2"}}', publish => false);
SELECT pg_temp.run('matter');
SELECT wf_publish('atom');
SELECT pg_temp.run('matter');
SELECT definition_id, version, is_published, uses, used_version FROM workflow.definition_links WHERE is_latest AND uses IN ('atom', 'molecule') ORDER BY 1, 4;
SELECT document #> '{root,1,version}' AS version FROM workflow.definition_list WHERE definition_id = 'molecule' AND is_latest;
-- Nothing is left to do when it is published again.
SELECT wf_publish('atom');
SELECT definition_id, max(version) FROM workflow.definition_list WHERE definition_id IN ('molecule', 'matter', 'draft') GROUP BY 1 ORDER BY 1;

-- What uses a version keeps it from being deleted, not from being retracted.
SELECT wf_retract('add-numbers');
SELECT pg_temp.run('sums', '{"first": 20}');
SELECT wf_delete_definition('add-numbers', 1);
\echo :SQLSTATE
SELECT wf_delete_definition('sums');
SELECT wf_delete_definition('add-numbers', 1);

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

-- Rights. Who uses a workflow needs the right to start it.
\connect - regress_use_other
SELECT * FROM wf_define('{"definitionId": "mine", "root": [{"workflowDefinitionId": "atom"}]}');
\echo :SQLSTATE
\connect - regress_use_author
SELECT wf_grant('atom', 'regress_use_other', '{start}');
\connect - regress_use_other
SELECT * FROM wf_define('{"definitionId": "mine", "root": [{"workflowDefinitionId": "atom"}]}');
-- security.md#workflows-used-as-activities: autoUpdateConsumingWorkflows exchanges it only where the publishing role may manage the consumer
-- What another role's definition uses stays as it is when a new version is published.
\connect - regress_use_author
SELECT * FROM wf_define('{"definitionId": "atom", "name": "Atom", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"type": "WriteLine", "text": "atom 3"}}');
-- security.md#workflows-used-as-activities: a definer workflow can be used only by workflows of the same owner
-- A workflow with the rights of its owner cannot have them inside a workflow of another.
SELECT * FROM wf_define('{"definitionId": "vault", "options": {"security": "definer"}, "root": {"type": "WriteLine", "text": {"sql": "current_user"}}}');
SELECT * FROM wf_define('{"definitionId": "vault-too", "root": {"workflowDefinitionId": "vault"}}');
SELECT wf_grant('vault', 'regress_use_other', '{start}');
\connect - regress_use_other
SELECT * FROM wf_define('{"definitionId": "theft", "root": {"workflowDefinitionId": "vault"}}');
\echo :SQLSTATE

-- security.md#workflows-used-as-activities: inside another workflow its SQL has the rights of that one
\connect - regress_use_author
SELECT * FROM wf_define('{"definitionId": "who", "outputs": [{"name": "role"}], "root": {"type": "SetOutput", "outputName": "role", "outputValue": {"sql": "current_user"}}}');
SELECT wf_grant('who', 'regress_use_other', '{start}');
\connect - regress_use_other
SELECT * FROM wf_define('{"definitionId": "asks", "options": {"security": "definer"}, "outputs": [{"name": "role"}], "root": {"workflowDefinitionId": "who", "role": {"output": "role"}}}');
SELECT wf_grant('asks', 'regress_use_author', '{start,read}');
\connect - regress_use_author
SELECT output FROM wf_run('asks');

-- A consumer that the new version does not suit stays as well; the publisher is told.
\connect - regress_use_author
SELECT * FROM wf_define('{"definitionId": "rate", "options": {"autoUpdateConsumingWorkflows": true}, "inputs": [{"name": "days"}], "root": []}');
SELECT * FROM wf_define('{"definitionId": "rates", "root": {"workflowDefinitionId": "rate", "days": 3}}');
SELECT * FROM wf_define('{"definitionId": "rate", "options": {"autoUpdateConsumingWorkflows": true}, "inputs": [{"name": "hours"}], "root": []}');
SELECT definition_id, version, used_version FROM workflow.definition_links WHERE uses = 'rate';

\connect - postgres
SELECT * FROM wf_check();

-- What was deleted stays in the table while something refers to it: instances to the version that they ran on, versions
-- to those that they use. Retention removes what is not referred to any more.
SELECT definition_id, version FROM workflow.definitions WHERE deleted_at IS NOT NULL AND definition_id IN ('sums', 'add-numbers') ORDER BY 1, 2;
SET workflow.now = '2099-01-01 00:00:00+00';
SET workflow.retention = '1d';
SELECT wf_run_due();
SELECT definition_id, version FROM workflow.definitions WHERE deleted_at IS NOT NULL AND definition_id IN ('sums', 'add-numbers') ORDER BY 1, 2;
SET workflow.now = '2099-01-02 00:00:00+00';
SELECT wf_run_due();
SELECT definition_id, version FROM workflow.definitions WHERE deleted_at IS NOT NULL AND definition_id IN ('sums', 'add-numbers') ORDER BY 1, 2;
SELECT * FROM wf_check();
DROP OWNED BY regress_use_author, regress_use_other;
DROP ROLE regress_use_author, regress_use_other;
