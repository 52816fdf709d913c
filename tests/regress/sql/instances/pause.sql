-- A paused instance stands still: neither time nor a stimulus nor a call resumes it. What comes meanwhile is kept for it.
\pset null '(null)'
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
SELECT * FROM wf_define('{"definitionId": "order", "variables": {"Got": []}, "root": {"type": "Parallel", "activities": [
    {"type": "While", "condition": {"js": "getGot().length < 3"}, "body": [
        {"id": "paid", "type": "Event", "eventName": "Paid"},
        {"id": "add", "type": "SetVariable", "variable": "Got", "value": {"js": "getGot().concat([getLastResult()])"}},
        {"type": "WriteLine", "text": {"js": "\"paid \" + getGot()[getGot().length - 1].n"}}]},
    [{"id": "later", "type": "Delay", "timeSpan": "1 hour"}, {"type": "WriteLine", "text": "an hour later"}],
    [{"id": "soon", "type": "Delay", "timeSpan": "10 min"}, {"type": "WriteLine", "text": "soon"}],
    [{"id": "pack", "type": "RunTask", "taskName": "Pack"}, {"type": "WriteLine", "text": "packed"}]]}}');
SELECT wf_start('order', correlation_id => 'o1') AS o1 \gset
SELECT task_id AS pack, token FROM wf_claim_tasks('{Pack}', 'w1') \gset
SELECT bookmark_id AS paid FROM workflow.waiting WHERE activity = 'paid' \gset

-- The second call finds it paused, and changes nothing.
SELECT wf_pause(:'o1', 'the customer asked us to wait');
SELECT wf_pause(:'o1', 'twice');
-- Views say so. Due times are shown as they were.
SELECT sub_status, paused_at, paused_by = CURRENT_USER AS by_me, pause_reason FROM workflow.instance_list WHERE instance_id = :'o1';
SELECT activity, due, paused_at FROM workflow.waiting ORDER BY activity;
SELECT activity_id, due_at, paused_at FROM workflow.open_bookmarks ORDER BY activity_id;
SELECT name, available_at, lease_until, paused_at FROM workflow.open_tasks;
SELECT event, data - 'by' AS data, data ->> 'by' = CURRENT_USER AS by_me FROM workflow.journal WHERE event = 'Paused';
SELECT regexp_replace(replace(line, CURRENT_USER, 'me'), '[0-9a-f-]{36}', 'ID') AS line FROM wf_explain(:'o1') AS line WHERE line !~ '(began|waits)$';
SELECT wf_svg(instance => :'o1') ~ ': Suspended, paused<' AS subtitle, wf_svg(instance => :'o1') ~ '>paused<' AS legend, wf_svg(instance => :'o1') ~ 'waits, paused' AS boxes;

-- No bookmark is left among those that are due, and none fires.
SET workflow.now = '2026-03-02 12:00:00+00';
SELECT count(*) FROM workflow.bookmarks WHERE due_at IS NOT NULL;
SELECT wf_run_due();
-- Calls by name are refused.
SELECT wf_resume(:'paid');
\echo :SQLSTATE
SELECT wf_retry(:'o1');
\echo :SQLSTATE
SELECT wf_complete_task(:'pack');
\echo :SQLSTATE
-- Events are kept for it as long as it is paused, whether or not their sender asked for that.
SELECT started, resumed, queued_id IS NOT NULL AS kept FROM wf_publish_event('Paid', '{"n": 1}', keep_for => '0');
SELECT started, resumed, queued_id IS NOT NULL AS kept FROM wf_publish_event('Paid', '{"n": 2}', correlation_id => 'o1', keep_for => '1 min');
SELECT started, resumed, queued_id IS NOT NULL AS kept FROM wf_send_stimulus('Event', '{"EventName": "Paid"}', '{"n": 3}', instance_id => :'o1');
SELECT started, resumed, queued_id IS NOT NULL AS kept FROM wf_publish_event('Paid', '{"n": 4}');
SELECT expires_at, instance_id = :'o1' AS for_it FROM workflow.bookmark_queue ORDER BY id;
SELECT wf_run_due();
-- The answer of the worker closes the task, and waits. The same answer again is the same; another one is refused.
SELECT r.sub_status FROM wf_complete_task(:'pack', token => :'token') AS r;
SELECT r.sub_status FROM wf_complete_task(:'pack', token => :'token') AS r;
SELECT wf_complete_task(:'pack', '{"other": 1}', token => :'token');
\echo :SQLSTATE
SELECT name, status FROM workflow.tasks;
SELECT count(*) FROM workflow.journal WHERE event = 'Line';
SELECT problem FROM wf_check();

-- A day later it goes on: the answer, then the stimuli as they came, then what is due, in the order of the due times.
SET workflow.now = '2026-03-03 12:00:00+00';
SELECT r.sub_status FROM wf_unpause(:'o1') AS r;
SELECT paused_at, paused_by, pause_reason FROM workflow.instance_list;
SELECT data #>> '{}' AS line FROM workflow.journal WHERE event = 'Line' ORDER BY seq, number;
SELECT wf_run_due();
SELECT data #>> '{}' AS line FROM workflow.journal WHERE event = 'Line' ORDER BY seq, number;
SELECT sub_status FROM workflow.instance_list;
SELECT event, data ->> 'by' = CURRENT_USER AS by_me FROM workflow.journal WHERE event = 'Unpaused';
-- One came too late: it is kept as long as others, and is then a dead letter.
SELECT instance_id = :'o1' AS for_it, expires_at FROM workflow.bookmark_queue;
SELECT problem FROM wf_check();
DELETE FROM workflow.bookmark_queue;

-- Errors.
SELECT wf_unpause(:'o1');
\echo :SQLSTATE
SELECT wf_pause(:'o1');
SELECT wf_pause('019a0000-0000-7000-8000-000000000001');
\echo :SQLSTATE
SELECT wf_unpause('019a0000-0000-7000-8000-000000000001');
\echo :SQLSTATE
SELECT wf_pause(NULL);
\echo :SQLSTATE
SELECT wf_pause(:'o1', children => NULL);
\echo :SQLSTATE

-- A pause can be rolled back like everything else.
SELECT wf_start('order', correlation_id => 'o2') AS o2 \gset
BEGIN;
SELECT wf_pause(:'o2');
ROLLBACK;
SELECT paused_at, (SELECT count(*) FROM workflow.bookmarks WHERE due_at IS NOT NULL) AS due FROM workflow.instance_list WHERE instance_id = :'o2';
-- It can be cancelled or removed while it is paused.
SELECT wf_pause(:'o2');
SELECT wf_cancel(:'o2');
SELECT sub_status, paused_at FROM workflow.instance_list WHERE instance_id = :'o2';
SELECT wf_start('order', correlation_id => 'o3') AS o3 \gset
SELECT wf_pause(:'o3');
SELECT queued_id IS NOT NULL AS kept FROM wf_publish_event('Paid');
SELECT wf_delete_instance(:'o3');
SELECT count(*) FROM workflow.bookmark_queue;
SELECT problem FROM wf_check();

-- An event that another instance takes as well is kept for the one that is paused.
SELECT wf_start('order', correlation_id => 'o4') AS o4, wf_start('order', correlation_id => 'o5') AS o5 \gset
SELECT wf_pause(:'o4');
SELECT cardinality(resumed) AS resumed, queued_id IS NOT NULL AS kept FROM wf_publish_event('Paid', '{"n": 5}');
SELECT correlation_id, variables FROM workflow.instance_list WHERE correlation_id IN ('o4', 'o5') ORDER BY correlation_id;
SELECT r.sub_status FROM wf_unpause(:'o4') AS r;
SELECT correlation_id, variables FROM workflow.instance_list WHERE correlation_id IN ('o4', 'o5') ORDER BY correlation_id;

-- A burst cannot pause the instance that it runs.
SELECT * FROM wf_define('{"definitionId": "self", "root": {"id": "stop", "type": "Sql", "statement": "SELECT wf_pause(instance_id) FROM workflow.instance_list WHERE definition_id = ''self''"}}');
SELECT r.sub_status, r.incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('self') AS r;

-- A faulted instance can be paused, and is not retried then.
SELECT instance_id AS broken FROM workflow.instance_list WHERE sub_status = 'Faulted' \gset
SELECT wf_pause(:'broken', E'look at it first:\n\'why\'');
SELECT wf_retry(:'broken');
\echo :SQLSTATE
SELECT r.sub_status FROM wf_unpause(:'broken') AS r;

-- What has to be compensated stands still, too: the cancel takes effect when the pause has ended.
SELECT * FROM wf_define('{"definitionId": "trip", "root": [
    {"id": "book", "type": "Compensable", "body": {"type": "WriteLine", "text": "booked"}, "compensation": {"type": "WriteLine", "text": "given back"}},
    {"id": "wait", "type": "Event", "eventName": "Go"}]}');
SELECT wf_start('trip') AS trip, wf_start('trip') AS trip2 \gset
SELECT wf_pause(:'trip'), wf_pause(:'trip2');
SELECT wf_cancel(:'trip');
SELECT wf_run_due();
SELECT sub_status, paused_at IS NOT NULL AS paused FROM workflow.instance_list WHERE instance_id = :'trip';
SELECT r.sub_status FROM wf_unpause(:'trip') AS r;
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'trip';
SELECT wf_cancel(:'trip2', force => true);
SELECT sub_status, paused_at FROM workflow.instance_list WHERE instance_id = :'trip2';
SELECT problem FROM wf_check();
