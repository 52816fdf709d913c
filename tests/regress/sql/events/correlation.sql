-- The correlation id says what an instance is about: an order, a request. It can be given at the start, or later.
SELECT * FROM wf_define('{"definitionId": "late", "variables": {"Paid": null}, "root": [
    {"type": "Fork", "joinMode": "WaitAll", "branches": [
        {"id": "paid", "type": "Event", "eventName": "Paid", "result": {"var": "Paid"}},
        [{"id": "ordered", "type": "Event", "eventName": "Ordered"}, {"type": "Correlate", "correlationId": {"input": "order"}}]]}]}');
SELECT wf_start('late') AS instance \gset
SELECT activity_id, correlation_id FROM workflow.open_bookmarks WHERE instance_id = :'instance' ORDER BY activity_id;

-- Two payments come for orders that no instance knows yet.
SELECT queued_id IS NOT NULL AS queued FROM wf_publish_event('Paid', '"a"', correlation_id => 'order-a', keep_for => '1 hour');
SELECT queued_id IS NOT NULL AS queued FROM wf_publish_event('Paid', '"b"', correlation_id => 'order-b', keep_for => '1 hour');

-- Correlate gives the open bookmarks the id, too, and asks the queue again: the payment of this order is there.
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Ordered', '{"order": "order-b"}', instance_id => :'instance');
SELECT correlation_id, sub_status, variables FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT correlation_id FROM workflow.bookmark_queue;

-- A bookmark's correlation id is always its instance's.
SELECT wf_start('late') AS instance \gset
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Ordered', '{"order": "order-c"}', instance_id => :'instance');
SELECT i.correlation_id, b.correlation_id AS of_bookmark FROM workflow.instance_list AS i JOIN workflow.open_bookmarks AS b ON b.instance_id = i.instance_id WHERE i.instance_id = :'instance';
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Paid', correlation_id => 'order-c');

-- JavaScript can do the same.
SELECT * FROM wf_define('{"definitionId": "script", "root": {"type": "SetName", "value": {"js": "setCorrelationId(''from script''); return getCorrelationId();"}}}');
SELECT wf_start('script', correlation_id => 'before') AS instance \gset
SELECT correlation_id, name FROM workflow.instance_list WHERE instance_id = :'instance';

-- A number becomes text, null takes it away.
SELECT * FROM wf_define('{"definitionId": "set", "root": {"type": "Correlate", "correlationId": {"input": "id"}}}');
SELECT wf_start('set', '{"id": 42}', correlation_id => 'before') AS number \gset
SELECT wf_start('set', '{"id": null}', correlation_id => 'before') AS nothing \gset
SELECT correlation_id FROM workflow.instance_list WHERE instance_id IN (:'number', :'nothing') ORDER BY correlation_id;

-- An empty correlation id is a correlation id.
SELECT wf_start('late', correlation_id => '') AS instance \gset
SELECT correlation_id = '' AS empty FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT * FROM wf_check();
