-- Instances that have not begun, places of maxConcurrency, and endpoints, while they are paused.
\pset null '(null)'
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
-- A paused instance keeps its place. One that waits for its turn is passed over while it is paused.
SELECT * FROM wf_define('{"definitionId": "one", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "End"}}');
SELECT wf_start('one', correlation_id => 'a') AS a, wf_start('one', correlation_id => 'b') AS b, wf_start('one', correlation_id => 'c') AS c \gset
SELECT wf_pause(:'a'), wf_pause(:'b');
SELECT wf_run_due();
SELECT correlation_id, sub_status, paused_at IS NOT NULL AS paused FROM workflow.instance_list ORDER BY correlation_id;
SELECT queued_id IS NOT NULL AS kept FROM wf_publish_event('End', correlation_id => 'a');
SELECT r.sub_status FROM wf_unpause(:'a') AS r;
SELECT wf_run_due();
SELECT correlation_id, sub_status FROM workflow.instance_list ORDER BY correlation_id;
-- Its turn comes when its pause has ended.
SELECT r.sub_status FROM wf_unpause(:'b') AS r;
SELECT wf_run_due();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('End', correlation_id => 'c');
SELECT wf_run_due();
SELECT correlation_id, sub_status FROM workflow.instance_list ORDER BY correlation_id;
SELECT wf_cancel(:'b');

-- An instance that is about to start can be paused.
SELECT * FROM wf_define('{"definitionId": "child", "root": {"type": "Event", "eventName": "Child"}}');
SELECT * FROM wf_define('{"definitionId": "parent", "root": {"type": "DispatchWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true}}');
SELECT wf_start('parent') AS parent \gset
SELECT wf_pause(instance_id, 'not before noon') FROM workflow.instance_list WHERE definition_id = 'child';
SELECT wf_run_due();
SELECT sub_status, pause_reason FROM workflow.instance_list WHERE definition_id = 'child';
SELECT r.sub_status FROM workflow.instance_list AS i, wf_unpause(i.instance_id) AS r WHERE i.definition_id = 'child';
SELECT wf_run_due();
SELECT sub_status, pause_reason FROM workflow.instance_list WHERE definition_id = 'child';
SELECT problem FROM wf_check();
SELECT wf_cancel(:'parent');

-- A request to a paused instance gets 503, and the instance waits on.
SELECT * FROM wf_define('{"definitionId": "ask", "root": [{"type": "HttpEndpoint", "path": "pause-ask"}, {"type": "WriteHttpResponse", "content": "yes"}]}');
SELECT wf_start('ask') AS ask \gset
SELECT wf_pause(:'ask');
SELECT status, convert_from(body, 'UTF8') AS body FROM wf_http_request('GET', '/pause-ask');
SELECT r.sub_status FROM wf_unpause(:'ask') AS r;
SELECT status, convert_from(body, 'UTF8') AS body FROM wf_http_request('GET', '/pause-ask');

-- A bookmark that was given up and is replayed fires when the pause has ended.
SELECT * FROM wf_define('{"definitionId": "later", "root": [{"type": "Delay", "timeSpan": "1 hour"}, {"type": "WriteLine", "text": "later"}]}');
SELECT wf_start('later') AS later \gset
INSERT INTO workflow.dead_letters (id, reason, sender, attempts, created_at, dead_at, bookmark_id, instance_id, last_error, due_at)
SELECT '019a0000-0000-7000-8000-0000000000dd', 'Failed', i.owner, 3, b.created_at, b.created_at, b.id, b.instance_id, 'lost', b.due_at FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id WHERE b.instance_id = :'later';
UPDATE workflow.bookmarks SET due_at = NULL WHERE instance_id = :'later';
SELECT wf_pause(:'later');
SELECT wf_replay('019a0000-0000-7000-8000-0000000000dd');
SELECT wf_run_due();
SELECT r.sub_status FROM wf_unpause(:'later') AS r;
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'later';
SELECT problem FROM wf_check();
