-- wf_export gives Elsa's JSON of a version. What it gives loads again, here and in Elsa, to the same program.

-- A document in Elsa's form keeps everything it had: positions, custom properties, what this engine does not know.
SELECT * FROM wf_define('{
    "definitionId": "elsa", "name": "From Studio", "toolVersion": "3.3.0.0", "someday": {"we": "know"},
    "variables": [{"id": "v1", "name": "Total", "typeName": "Decimal", "isArray": false, "value": "1.10", "storageDriverTypeName": "WorkflowInstanceStorageDriver"}],
    "root": {
        "id": "fc", "nodeId": "Workflow1:fc", "type": "Elsa.Flowchart", "version": 1, "customProperties": {"notFoundConnections": []}, "metadata": {},
        "activities": [{
            "id": "w", "nodeId": "Workflow1:fc:w", "name": "WriteLine1", "type": "Elsa.WriteLine", "version": 1,
            "text": {"typeName": "String", "expression": {"type": "Variable", "value": {"id": "v1", "name": "Total", "typeName": "Decimal"}}},
            "customProperties": {"canStartWorkflow": false, "runAsynchronously": false, "mine": 1},
            "metadata": {"designer": {"position": {"x": -231.796875, "y": 269}}}
        }],
        "connections": []
    }
}');
SELECT jsonb_pretty(wf_export('elsa') #- '{createdAt}');

-- What an export fills in is new content, once: exporting that gives the same again.
SELECT * FROM wf_define(wf_export('elsa'));
SELECT * FROM wf_define(wf_export('elsa'));

-- A short form is expanded: ids, wrappers, connections, all that Studio expects.
SELECT * FROM wf_define('{
    "definitionId": "short", "inputs": [{"name": "Amount", "type": "Decimal"}], "outputs": [{"name": "Large", "type": "Boolean"}],
    "root": {"type": "Flowchart",
        "activities": [
            {"id": "wait", "type": "Event", "eventName": "Go", "canStartWorkflow": true},
            {"id": "large", "type": "FlowDecision", "condition": {"sql": "(input ->> ''Amount'')::numeric > 100"}},
            {"id": "yes", "type": "SetOutput", "outputName": "Large", "outputValue": true}],
        "connections": [["wait", "large"], ["large", "True", "yes"]]}
}');
SELECT jsonb_pretty(wf_export('short') #- '{createdAt}');

-- Exported, renamed, loaded: it does the same.
SELECT * FROM wf_define(wf_export('short') || '{"definitionId": "copy"}');
SELECT output FROM wf_run('short', '{"Amount": 250}', trigger_activity_id => 'wait');
SELECT output FROM wf_run('copy', '{"Amount": 250}', trigger_activity_id => 'wait');

-- And exporting it again gives the same document.
SELECT wf_export('copy') - '{definitionId,id,version,createdAt}'::text[] = wf_export('short') - '{definitionId,id,version,createdAt}'::text[] AS same;

-- The latest version, or the one that is named; a draft counts as latest.
SELECT * FROM wf_define('{"definitionId": "elsa", "root": []}', publish => false);
SELECT wf_export('elsa') -> 'version' AS version, wf_export('elsa') -> 'isPublished' AS published, wf_export('elsa') -> 'isLatest' AS latest;
SELECT wf_export('elsa', 1) -> 'version' AS version, wf_export('elsa', 1) -> 'isPublished' AS published, wf_export('elsa', 1) -> 'isLatest' AS latest;

-- Errors.
SELECT wf_export(NULL);
\echo :SQLSTATE
SELECT wf_export('nobody');
\echo :SQLSTATE
SELECT wf_export('elsa', 99);
\echo :SQLSTATE
SELECT * FROM wf_check();

-- Node ids are the places of activities, the same text as in bookmarks, journal and executions, whatever the document said.
SELECT wf_define('{"definitionId": "moved", "root": {"id": "all", "nodeId": "Workflow1:other", "type": "Elsa.Sequence", "version": 1, "metadata": {}, "customProperties": {},
    "activities": [{"id": "go", "NodeId": "Workflow1:go", "type": "Elsa.Event", "version": 1, "metadata": {}, "customProperties": {},
                    "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "Go"}}}]}}') \g /dev/null
SELECT wf_start('moved') AS moved \gset
SELECT e.root ->> 'nodeId' AS all, e.root -> 'activities' -> 0 ->> 'nodeId' AS go, e.root -> 'activities' -> 0 ? 'NodeId' AS twice,
       b.node_id AS bookmark, j.node_id AS journal, x.node_id AS execution
FROM (SELECT wf_export('moved') -> 'root') AS e (root)
CROSS JOIN (SELECT DISTINCT node_id FROM workflow.open_bookmarks WHERE instance_id = :'moved') b
CROSS JOIN (SELECT DISTINCT node_id FROM workflow.journal WHERE instance_id = :'moved' AND activity = 'go') j
CROSS JOIN (SELECT DISTINCT node_id FROM workflow.activity_executions(:'moved') WHERE activity_id = 'go') x;

-- A designer asks for positions. What has one keeps it, what has none stands below, in layers from left to right; nothing is stored.
SELECT wf_define('{"definitionId": "drawn", "root": {"type": "Flowchart", "id": "flow", "activities": [
    {"type": "WriteLine", "id": "last", "text": "c"}, {"type": "WriteLine", "id": "first", "text": "a"},
    {"type": "FlowDecision", "id": "again", "condition": true}, {"type": "WriteLine", "id": "kept", "text": "k",
     "metadata": {"designer": {"position": {"x": -10.5, "y": 20}}}}],
    "connections": [{"source": "first", "target": "again"}, {"source": "again", "sourcePort": "True", "target": "first"},
                    {"source": "again", "sourcePort": "False", "target": "last"}]}}') \g /dev/null
SELECT version_id AS drawn FROM workflow.definition_list WHERE definition_id = 'drawn' \gset
SELECT a ->> 'id' AS id, a #> '{metadata,designer,position}' AS position
FROM jsonb_array_elements(wf_export_version(:'drawn'::uuid, arrange => true) #> '{root,activities}') AS a;
SELECT wf_export_version(:'drawn'::uuid) = wf_export('drawn') AS plain, wf_export_version(:'drawn'::uuid, true) = wf_export_version(:'drawn'::uuid, arrange => true) AS same;
SELECT wf_export_version(:'drawn'::uuid, NULL);
\echo :SQLSTATE

-- Properties of all activities stand among the custom properties, also where the activity has members of a designer.
SELECT wf_define('{"definitionId": "tried", "root": [
    {"type": "WriteLine", "id": "both", "text": "a", "metadata": {}, "retry": {"maxAttempts": 2}, "timeout": "1 min"},
    {"type": "WriteLine", "id": "home", "text": "b", "retry": {"maxAttempts": 9}, "customProperties": {"retry": {"maxAttempts": 3}}},
    {"type": "SendHttpRequest", "id": "port", "url": "http://localhost", "timeout": {"type": "WriteLine", "text": "late"}, "retry": {"maxAttempts": 4}},
    {"type": "ScheduledCommand", "id": "input", "statement": "SELECT 1", "retry": true, "timeout": "1 h"}]}') \g /dev/null
SELECT a ->> 'id' AS id, a -> 'retry' AS retry, a #>> '{timeout,type}' AS timeout_port, (a -> 'customProperties') - '{canStartWorkflow,runAsynchronously}'::text[] AS properties
FROM jsonb_array_elements(wf_export('tried') #> '{root,activities}') AS a;
SELECT version FROM wf_define(wf_export('tried'));

-- A version that is not given is the latest, as NULL without a type as well.
SELECT wf_export('drawn', NULL) ->> 'version' AS version;
-- Functions of one name can be told apart by calls in which every argument is NULL or a text, as drivers send them.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
WHERE EXISTS (SELECT FROM pg_proc AS o WHERE o.proname = p.proname AND o.pronamespace = p.pronamespace AND o.oid <> p.oid) ORDER BY 1;
SELECT wf_svg('drawn') LIKE '<svg %' AS a, wf_svg('drawn', NULL) LIKE '<svg %' AS b;
SELECT wf_svg(NULL);
