-- Which version of a workflow its consumers use: the one that they were defined with, until a new one is passed on to them; and how
-- long it is kept for them.
\i tests/regress/include/workflow_as_activity.sql
\i tests/regress/include/add_numbers.sql
SELECT pg_temp.run('sums', '{"first": 20}');

-- security.md#workflows-used-as-activities: a version is settled when the consumer is stored
-- A consumer stays with the version that it was defined with.
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
\i tests/regress/include/deleted.sql
CALL pg_temp.await_removal('sums');
SELECT definition_id, version FROM workflow.definitions WHERE deleted_at IS NOT NULL AND definition_id IN ('sums', 'add-numbers') ORDER BY 1, 2;
CALL pg_temp.await_removal('add-numbers');
SELECT definition_id, version FROM workflow.definitions WHERE deleted_at IS NOT NULL AND definition_id IN ('sums', 'add-numbers') ORDER BY 1, 2;
SELECT * FROM wf_check();
DROP OWNED BY regress_use_author, regress_use_other;
DROP ROLE regress_use_author, regress_use_other;
