-- Scenarios of Elsa's own tests: workflows that start others. Lines come as notices, so that they stand in the order in which
-- they were written, one's own and others'.
SET workflow.write_line_notice = on;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY terse
CREATE PROCEDURE pg_temp.define(id text, root jsonb, more jsonb DEFAULT '{}') LANGUAGE sql AS $$
    SELECT FROM wf_define(jsonb_build_object('definitionId', id, 'root', root) || more)
$$;
CREATE FUNCTION pg_temp.children(OUT definition text, OUT sub_status text, OUT correlation_id text, OUT input jsonb, OUT output jsonb) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT definition_id, sub_status, correlation_id, input - 'ParentInstanceId', output FROM workflow.instance_list WHERE parent_instance_id IS NOT NULL ORDER BY instance_id
$$;
CREATE PROCEDURE pg_temp.forget() LANGUAGE sql AS $$ SELECT wf_delete_instance(instance_id) FROM workflow.instance_list $$;
CALL pg_temp.define('child', '{"type": "WriteLine", "text": "Child: Executing"}');
CALL pg_temp.define('child-with-input', '{"type": "WriteLine", "text": {"js": "`Child received: ${getInput(''Message'')}`"}}');
CALL pg_temp.define('child-with-output', '[{"type": "WriteLine", "text": "Child output: 42"}, {"type": "SetOutput", "outputName": "Answer", "outputValue": 42}]', '{"outputs": [{"name": "Answer", "type": "Int32"}]}');

-- ExecuteWorkflow that waits: before, the child, after.
CALL pg_temp.define('parent', '[{"type": "WriteLine", "text": "Parent: Before child"}, {"type": "ExecuteWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true}, {"type": "WriteLine", "text": "Parent: After child"}]');
SELECT sub_status FROM wf_run('parent');
CALL pg_temp.forget();

-- Without waiting both end as well, in the same call.
CALL pg_temp.define('parent', '[{"type": "WriteLine", "text": "Parent: Before child"}, {"type": "ExecuteWorkflow", "workflowDefinitionId": "child"}, {"type": "WriteLine", "text": "Parent: After child"}]');
SELECT sub_status FROM wf_run('parent');
SELECT sub_status FROM workflow.instance_list ORDER BY instance_id;
CALL pg_temp.forget();

-- The child gets its input, and knows its parent.
CALL pg_temp.define('parent', '{"type": "ExecuteWorkflow", "workflowDefinitionId": "child-with-input", "input": {"object": {"Message": "Hello from parent"}}, "waitForCompletion": true}');
SELECT sub_status FROM wf_run('parent');
SELECT c.input ->> 'ParentInstanceId' = p.instance_id::text, c.parent_instance_id = p.instance_id
  FROM workflow.instance_list AS c, workflow.instance_list AS p WHERE c.definition_id = 'child-with-input' AND p.definition_id = 'parent';
CALL pg_temp.forget();

-- The parent gets its output.
CALL pg_temp.define('parent', '[{"id": "call", "type": "ExecuteWorkflow", "workflowDefinitionId": "child-with-output", "waitForCompletion": true, "result": {"var": "R"}}, {"type": "WriteLine", "text": {"js": "`Parent received: ${getR().output.Answer}`"}}]', '{"variables": {"R": null}}');
SELECT sub_status FROM wf_run('parent');
CALL pg_temp.forget();

-- The child gets its correlation id.
CALL pg_temp.define('parent', '{"type": "ExecuteWorkflow", "workflowDefinitionId": "child", "correlationId": "test-correlation-123", "waitForCompletion": true}');
SELECT sub_status FROM wf_run('parent');
SELECT correlation_id FROM pg_temp.children();
CALL pg_temp.forget();

-- DispatchWorkflow without waiting: the child runs after the parent has ended. It gets its input and correlation id.
CALL pg_temp.define('parent', '[{"type": "WriteLine", "text": "Parent: Before child"}, {"type": "DispatchWorkflow", "workflowDefinitionId": "child-with-input", "correlationId": "dispatched",
    "input": {"object": {"Message": "Hello"}}}, {"type": "WriteLine", "text": "Parent: After child"}]');
SELECT sub_status FROM wf_run('parent');
SELECT * FROM pg_temp.children();
SELECT wf_run_due();
SELECT * FROM pg_temp.children();
CALL pg_temp.forget();

-- With waiting it runs before the parent goes on, which gets its output.
CALL pg_temp.define('parent', '[{"type": "DispatchWorkflow", "workflowDefinitionId": "child-with-output", "waitForCompletion": true, "result": {"var": "R"}}, {"type": "WriteLine", "text": {"js": "`Parent received: ${getR().Answer}`"}}]', '{"variables": {"R": null}}');
SELECT sub_status FROM wf_run('parent');
SELECT wf_run_due() > 0;
SELECT sub_status FROM workflow.instance_list WHERE definition_id = 'parent';
CALL pg_temp.forget();

-- A definition that does not exist: the parent is faulted, whatever starts it.
SET client_min_messages = error;
SELECT count(wf_define(jsonb_build_object('definitionId', 'parent-' || type, 'root', jsonb_build_object('type', type, 'workflowDefinitionId', 'nobody') || CASE type WHEN 'BulkDispatchWorkflows' THEN '{"items": [1]}' ELSE '{}' END::jsonb))) FROM unnest('{ExecuteWorkflow,DispatchWorkflow,BulkDispatchWorkflows}'::text[]) AS type;
SELECT type, r.sub_status, r.incidents #>> '{0,message}' FROM unnest('{ExecuteWorkflow,DispatchWorkflow,BulkDispatchWorkflows}'::text[]) AS type, wf_run('parent-' || type) AS r;
CALL pg_temp.forget();
RESET client_min_messages;

-- BulkDispatchWorkflows: each child gets an item, and the parent ends with the last of them.
CALL pg_temp.define('mixer', '[{"type": "If", "condition": {"js": "getInput(''Fruit'') === ''Durian''"}, "then": {"type": "Fault", "message": "no Durian"}}, {"type": "WriteLine", "text": {"js": "`Mixing ${getInput(''Fruit'')}`"}}]');
CALL pg_temp.define('parent', '[{"type": "BulkDispatchWorkflows", "workflowDefinitionId": "mixer", "items": {"input": "items"}, "defaultItemInputKey": "Fruit", "waitForCompletion": {"input": "wait"},
    "correlationIdFunction": {"js": "`fruit-${getItem()}`"},
    "childCompleted": {"type": "WriteLine", "text": "a child has completed"}, "childFaulted": {"type": "WriteLine", "text": "a child has faulted"}}, {"type": "WriteLine", "text": "Served"}]');
SELECT sub_status FROM wf_run('parent', '{"items": ["Apple", "Banana"], "wait": true}');
SELECT wf_run_due() > 0;
SELECT * FROM pg_temp.children();
CALL pg_temp.forget();

-- How each of them ended is a port: none faults, one does, all do.
SET client_min_messages = error;
SELECT fruits, wf_run('parent', jsonb_build_object('items', fruits, 'wait', true), correlation_id => fruits::text) IS NOT NULL FROM unnest('{"[\"Apple\", \"Apple\"]", "[\"Apple\", \"Durian\"]", "[\"Durian\", \"Durian\"]"}'::jsonb[]) AS fruits;
SELECT wf_run_due() > 0;
SELECT i.correlation_id, i.sub_status, string_agg(j.data #>> '{}', ', ' ORDER BY j.seq, j.number) FROM workflow.instance_list AS i JOIN workflow.journal AS j USING (instance_id)
 WHERE i.definition_id = 'parent' AND j.event = 'Line' GROUP BY 1, 2 ORDER BY 1;
CALL pg_temp.forget();
RESET client_min_messages;

-- Nothing to dispatch; and without waiting, after which no child has a port.
SELECT sub_status FROM wf_run('parent', '{"items": [], "wait": true}');
SELECT sub_status FROM wf_run('parent', '{"items": ["Apple", "Banana"], "wait": false}');
SELECT wf_run_due() > 0;
SELECT sub_status, correlation_id FROM pg_temp.children();
CALL pg_temp.forget();

-- An item that is an object is the child's own input.
CALL pg_temp.define('orders', '{"type": "BulkDispatchWorkflows", "workflowDefinitionId": "child-with-input", "items": [{"Message": "one", "N": 1}, {"Message": "two"}], "input": {"object": {"N": 0, "All": true}}}');
SELECT sub_status FROM wf_run('orders');
SELECT wf_run_due() > 0;
SELECT input FROM pg_temp.children();
CALL pg_temp.forget();

-- An event that one workflow publishes starts another, and resumes a third; its payload comes along.
CALL pg_temp.define('starts', '[{"type": "Event", "eventName": "OrderChanged", "canStartWorkflow": true, "result": {"var": "E"}}, {"type": "WriteLine", "text": {"js": "`started: Status = ${getE().Status}`"}}]', '{"variables": {"E": null}}');
CALL pg_temp.define('waits', '[{"type": "Event", "eventName": "OrderChanged", "result": {"var": "E"}}, {"type": "WriteLine", "text": {"js": "`resumed: Status = ${getE().Status}`"}}]', '{"variables": {"E": null}}');
CALL pg_temp.define('publishes', '[{"type": "PublishEvent", "eventName": "OrderChanged", "payload": {"object": {"Status": "Shipped"}}}, {"type": "WriteLine", "text": "published"}]');
SELECT sub_status FROM wf_run('waits');
SELECT sub_status FROM wf_run('publishes');
SELECT definition_id, sub_status FROM workflow.instance_list ORDER BY 1;
SELECT * FROM wf_check();
