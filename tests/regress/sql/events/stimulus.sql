-- wf_send_stimulus starts the triggers that match and resumes the bookmarks that match.
-- wf_publish_event is the same with the name Elsa.Event.
SELECT * FROM wf_define('{"definitionId": "on-paid", "variables": {"Payment": null}, "root": [
    {"id": "paid", "type": "Event", "eventName": "OrderPaid", "canStartWorkflow": true, "result": {"var": "Payment"}},
    {"type": "SetName", "value": {"js": "`paid ${getInput(''amount'')}`"}}]}');
SELECT * FROM wf_define('{"definitionId": "order", "variables": {"Payment": null}, "root": [
    {"id": "wait", "type": "Event", "eventName": "OrderPaid", "result": {"var": "Payment"}}]}');
SELECT wf_start('order', correlation_id => 'o1') AS o1 \gset
SELECT wf_start('order', correlation_id => 'o2') AS o2 \gset

-- One event: an instance starts, two go on. All of them see the payload.
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, queued_id FROM wf_publish_event('OrderPaid', '{"amount": 20}');
SELECT definition_id, correlation_id, name, sub_status, variables, input FROM workflow.instance_list ORDER BY definition_id, correlation_id;

-- With a correlation id: the instances that have it; what is started gets it.
SELECT wf_start('order', correlation_id => 'o3') AS o3 \gset
SELECT wf_start('order', correlation_id => 'o4') AS o4 \gset
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed FROM wf_publish_event('OrderPaid', '{"amount": 30}', correlation_id => 'o3');
SELECT definition_id, correlation_id, sub_status FROM workflow.instance_list WHERE correlation_id IN ('o3', 'o4') ORDER BY definition_id, correlation_id;

-- With an instance id nothing is started.
SELECT started, cardinality(resumed) AS resumed FROM wf_publish_event('OrderPaid', '{"amount": 40}', instance_id => :'o4');
SELECT started, resumed, queued_id FROM wf_publish_event('OrderPaid', '{"amount": 40}', instance_id => :'o4');

-- The general form takes any name, and input apart from the payload that must match.
SELECT wf_start('order', correlation_id => 'o5') AS o5 \gset
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed
  FROM wf_send_stimulus('Event', '{"EventName": "OrderPaid"}', input => '{"amount": 50}', correlation_id => 'o5');
SELECT variables FROM workflow.instance_list WHERE instance_id = :'o5';

-- An event that no instance wants is not kept, unless the sender says how long.
SELECT started, resumed, queued_id FROM wf_publish_event('NobodyCares');
SELECT started, resumed, queued_id IS NOT NULL AS queued FROM wf_publish_event('SomebodyWill', '"kept"', keep_for => '1 hour');
SELECT * FROM wf_define('{"definitionId": "late", "variables": {"V": null}, "root": {"type": "Event", "eventName": "SomebodyWill", "result": {"var": "V"}}}');
SELECT wf_start('late') AS late \gset
SELECT sub_status, variables FROM workflow.instance_list WHERE instance_id = :'late';

-- It is kept only if it neither started nor resumed anything.
SELECT cardinality(started) AS started, queued_id FROM wf_publish_event('OrderPaid', keep_for => '1 hour');

-- Only published definitions are started.
SELECT wf_retract('on-paid');
SELECT started, resumed FROM wf_publish_event('OrderPaid');

-- A fault in one does not stop the others; each leaves a WARNING.
SELECT * FROM wf_define('{"definitionId": "fragile", "root": [
    {"type": "Event", "eventName": "Shake"},
    {"type": "If", "condition": {"js": "getCorrelationId() === ''glass''"}, "then": {"id": "Break", "type": "Fault", "message": "broken"}}]}');
SELECT wf_start('fragile', correlation_id => 'wood', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT wf_start('fragile', correlation_id => 'glass', instance_id => '01900000-0000-7000-8000-000000000002');
SELECT wf_start('fragile', correlation_id => 'stone', instance_id => '01900000-0000-7000-8000-000000000003');
SELECT resumed FROM wf_publish_event('Shake');
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'fragile' ORDER BY instance_id;

-- The hash is Elsa's, to the byte.
SELECT wf_start('order') AS instance \gset
SELECT upper(encode(hash, 'hex')) AS hash FROM workflow.open_bookmarks WHERE instance_id = :'instance';

-- Errors.
SELECT * FROM wf_publish_event(NULL);
\echo :SQLSTATE
SELECT * FROM wf_publish_event('');
\echo :SQLSTATE
SELECT * FROM wf_publish_event('x', keep_for => NULL);
\echo :SQLSTATE
SELECT * FROM wf_publish_event('x', keep_for => '-1 s');
\echo :SQLSTATE
SELECT * FROM wf_send_stimulus(NULL);
\echo :SQLSTATE
SELECT * FROM wf_send_stimulus('Event', '{"Other": 1}');
\echo :SQLSTATE
SELECT * FROM wf_publish_event('x', instance_id => '01900000-0000-7000-8000-00000000dead');
\echo :SQLSTATE
SELECT * FROM wf_check();
