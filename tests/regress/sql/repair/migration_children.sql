-- Children report to the activity that stands for the one which began them, also if they moved themselves.
\i tests/regress/include/migration.sql
SELECT wf_define('{"definitionId": "child", "inputs": [{"name": "Item"}], "root": [{"id": "go", "type": "Event", "eventName": "Go"}, {"id": "fail", "type": "If", "condition": {"js": "getInput(\"Item\") === 3"}, "then": {"type": "Fault", "message": "three"}}]}');
SELECT wf_define('{"definitionId": "parent", "variables": {"Good": 0, "Bad": 0}, "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "all", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "child", "items": [1, 2, 3, 4],
     "childCompleted": {"id": "good", "type": "SetVariable", "variable": "Good", "value": {"js": "getGood() + 1"}}, "childFaulted": {"id": "bad", "type": "SetVariable", "variable": "Bad", "value": {"js": "getBad() + 1"}}}]}}');
SELECT wf_start('parent') AS parent \gset
SELECT wf_run_due() > 0 AS ran;
SELECT instance_id AS first, correlation_id FROM workflow.instance_list WHERE definition_id = 'child' ORDER BY 1 LIMIT 1 \gset
-- One child has reported before.
SELECT cardinality(resumed) FROM wf_publish_event('Go', instance_id => :'first');
SELECT wf_run_due() > 0 AS ran;
SELECT variables FROM workflow.instance_list WHERE instance_id = :'parent';
SELECT wf_define('{"definitionId": "child", "inputs": [{"name": "Item"}], "root": [{"id": "hello", "type": "WriteLine", "text": "new"}, {"id": "go", "type": "Event", "eventName": "Go"}, {"id": "fail", "type": "If", "condition": {"js": "getInput(\"Item\") === 3"}, "then": {"type": "Fault", "message": "three in version 2"}}]}');
SELECT wf_define('{"definitionId": "parent", "variables": {"Good": 0, "Bad": 0}, "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "before", "type": "WriteLine", "text": "before"},
    {"id": "everyone", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "child", "items": [1, 2, 3, 4],
     "childCompleted": {"id": "good", "type": "SetVariable", "variable": "Good", "value": {"js": "getGood() + 100"}}, "childFaulted": {"id": "bad", "type": "SetVariable", "variable": "Bad", "value": {"js": "getBad() + 100"}}},
    {"id": "end", "type": "WriteLine", "text": {"js": "`${getGood()} good, ${getBad()} bad`"}}]}}');
SELECT * FROM wf_migrate(:'parent', mapping => '{"all": "everyone"}');
SELECT outcome, count(*) FROM wf_migrate_all('child', max => 2) GROUP BY 1;
SELECT version, count(*) FROM workflow.instance_list WHERE definition_id = 'child' GROUP BY 1 ORDER BY 1;
SELECT cardinality(resumed) FROM wf_publish_event('Go');
SELECT wf_run_due() > 0 AS ran;
SELECT sub_status, variables FROM workflow.instance_list WHERE instance_id = :'parent';
SELECT pg_temp.lines(:'parent');
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE sub_status NOT IN ('Finished', 'Cancelled');
SELECT * FROM wf_check();
