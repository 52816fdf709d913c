-- Event waits for an event by name, PublishEvent publishes one, from one workflow to others.
SELECT * FROM wf_define('{"definitionId": "shop", "outputs": [{"name": "Answer", "type": "Object"}], "root": [
    {"type": "PublishEvent", "eventName": "Ordered", "payload": {"object": {"order": {"js": "getCorrelationId()"}}}},
    {"id": "shipped", "type": "Event", "eventName": "Shipped", "result": {"output": "Answer"}}]}');
SELECT * FROM wf_define('{"definitionId": "warehouse", "root": [
    {"id": "ordered", "type": "Event", "eventName": "Ordered", "canStartWorkflow": true},
    {"id": "pack", "type": "RunTask", "taskName": "Pack", "payload": {"object": {"order": {"input": "order"}}}},
    {"type": "PublishEvent", "eventName": "Shipped", "correlationId": {"js": "getVariable(''Order'')"}, "payload": {"object": {"by": "parcel"}}}],
    "variables": {"Order": null}}');

-- The event is delivered after the burst that published it, in the same transaction.
SELECT wf_start('shop', correlation_id => 'order-1') AS shop \gset
SELECT definition_id, sub_status FROM workflow.instance_list ORDER BY definition_id;
SELECT name, payload FROM workflow.open_tasks;
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'shop' ORDER BY seq, number;

-- Without a correlation id it reaches everyone who waits for it.
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id);
SELECT definition_id, sub_status, output FROM workflow.instance_list ORDER BY definition_id;

-- With one, only those that have it.
SELECT * FROM wf_define('{"definitionId": "listener", "root": {"type": "Event", "eventName": "News"}}');
SELECT * FROM wf_define('{"definitionId": "speaker", "root": {"type": "PublishEvent", "eventName": "News", "correlationId": {"input": "to"}}}');
SELECT wf_start('listener', correlation_id => 'a') AS a \gset
SELECT wf_start('listener', correlation_id => 'b') AS b \gset
SELECT sub_status FROM wf_run('speaker', '{"to": "b"}');
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'listener' ORDER BY correlation_id;

-- A local event reaches the branches of its own instance only.
SELECT * FROM wf_define('{"definitionId": "local", "root": {"type": "Fork", "joinMode": "WaitAll", "branches": [
    {"type": "Sequence", "activities": [{"type": "Event", "eventName": "News"}, {"type": "SetName", "value": "heard it"}]},
    {"type": "PublishEvent", "eventName": "News", "isLocalEvent": true}]}}');
SELECT wf_start('local') AS local \gset
SELECT sub_status, name FROM workflow.instance_list WHERE instance_id = :'local';
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'listener' ORDER BY correlation_id;

-- Reached in the middle of a run an Event waits, even if it is a trigger; as the trigger of its own run it does not.
SELECT * FROM wf_define('{"definitionId": "twice", "root": [
    {"id": "first", "type": "Event", "eventName": "Ping", "canStartWorkflow": true},
    {"id": "second", "type": "Event", "eventName": "Ping", "canStartWorkflow": true},
    {"type": "SetName", "value": "pinged twice"}]}');
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed FROM wf_publish_event('Ping');
SELECT activity FROM workflow.waiting AS w JOIN workflow.instance_list AS i ON i.instance_id = w.instance WHERE i.definition_id = 'twice' ORDER BY activity;

-- A loop back to the trigger waits there for the next one.
SELECT * FROM wf_define('{"definitionId": "again", "variables": {"N": 0}, "root": {"type": "Flowchart",
    "activities": [
        {"id": "ping", "type": "Event", "eventName": "Again", "canStartWorkflow": true},
        {"id": "count", "type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}],
    "connections": [["ping", "count"], ["count", "ping"]]}}');
SELECT cardinality(started) AS started FROM wf_publish_event('Again');
SELECT cardinality(resumed) AS resumed FROM workflow.instance_list AS i, wf_publish_event('Again', instance_id => i.instance_id) WHERE i.definition_id = 'again';
SELECT sub_status, variables FROM workflow.instance_list WHERE definition_id = 'again';

-- An event resumes all bookmarks of an instance that wait for it when it comes.
SELECT * FROM wf_define('{"definitionId": "both", "root": {"type": "Fork", "joinMode": "WaitAll", "branches": [
    [{"id": "a1", "type": "Event", "eventName": "Both"}, {"id": "a2", "type": "Event", "eventName": "Both"}], {"id": "b1", "type": "Event", "eventName": "Both"}]}}');
SELECT sub_status FROM wf_run('both');
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Both');
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Both');
SELECT sub_status FROM workflow.instance_list WHERE definition_id = 'both';

-- The name of an event is text, exactly.
SELECT cardinality(resumed) AS resumed FROM workflow.instance_list AS i, wf_publish_event('again', instance_id => i.instance_id) WHERE i.definition_id = 'again';
SELECT * FROM wf_check();
