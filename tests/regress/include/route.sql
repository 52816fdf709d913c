\set ECHO none
-- For the sessions about the routing guard: keys of two partitions, of which this node is to have the first one; of each kind of instance
-- one with each key and one without, from before the guard; and calls with what they do.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_route_plain LOGIN;
SET client_min_messages = error;
SELECT wf_grant_usage('regress_route_plain');
CREATE FUNCTION stamp(context jsonb) RETURNS jsonb LANGUAGE sql RETURN '{}'::jsonb;
SELECT count(wf_define(d::jsonb)) FROM (VALUES
    ('{"definitionId": "task", "root": {"id": "check", "type": "RunTask", "taskName": "check"}}'),
    ('{"definitionId": "event", "root": {"id": "paid", "type": "Event", "eventName": "Paid"}}'),
    ('{"definitionId": "both", "root": [{"id": "check", "type": "RunTask", "taskName": "check"}, {"id": "paid", "type": "Event", "eventName": "Paid"}]}'),
    ('{"definitionId": "delay", "variables": [{"name": "V", "value": 1}], "root": {"id": "wait", "type": "Delay", "timeSpan": "1 hour"}}'),
    ('{"definitionId": "fault", "root": {"id": "bad", "type": "Fault", "message": "no"}}'),
    ('{"definitionId": "hears", "root": [{"id": "news", "type": "Event", "eventName": "News", "canStartWorkflow": true}, {"type": "Event", "eventName": "On"}]}'),
    ('{"definitionId": "page", "root": [{"type": "HttpEndpoint", "path": "page", "canStartWorkflow": true}, {"type": "Event", "eventName": "On"}]}'),
    ('{"definitionId": "hourly", "root": [{"type": "Cron", "cronExpression": "0 * * * *", "canStartWorkflow": true}]}'),
    ('{"definitionId": "child", "root": {"id": "wait", "type": "Event", "eventName": "Child"}}'),
    ('{"definitionId": "parent", "root": {"id": "start", "type": "DispatchWorkflow", "workflowDefinitionId": "child", "correlationId": {"input": "key"}, "waitForCompletion": true}}'),
    ('{"definitionId": "moves", "inputs": [{"name": "key", "type": "String"}], "root": [{"id": "correlate", "type": "Correlate", "correlationId": {"input": "key"}}, {"type": "Event", "eventName": "On"}]}'),
    ('{"definitionId": "tells", "root": [{"id": "tell", "type": "PublishEvent", "eventName": "Paid", "correlationId": {"input": "key"}}]}'),
    ('{"definitionId": "again", "root": [{"type": "Event", "eventName": "On"}, {"type": "ContinueAs"}]}')) AS v (d);

-- Keys of two partitions; this node is to have the first one.
SELECT min(k) FILTER (WHERE wf_partition(k, 2) = 0) AS here, min(k) FILTER (WHERE wf_partition(k, 2) = 1) AS there
FROM (SELECT 'key-' || n FROM generate_series(1, 9) AS n) AS v (k) \gset

-- Of each kind of instance one with each key and one without, from before the guard.
SELECT wf_start(d, correlation_id => k)
FROM unnest(ARRAY['task', 'task', 'event', 'both', 'delay', 'fault', 'again']) AS d, unnest(ARRAY[:'here', :'there', NULL]) AS k \g /dev/null
SELECT wf_start('parent', '{"key": ""}', correlation_id => k) FROM unnest(ARRAY[:'here', :'there']) AS k \g /dev/null
SELECT wf_schedule_workflow(concat('of ', k), '1 hour', 'event', correlation_id => k) FROM unnest(ARRAY[:'here', :'there', NULL]) AS k \g /dev/null
SELECT wf_publish_event('Early', correlation_id => k, keep_for => '1 second') FROM unnest(ARRAY[:'here', :'there']) AS k \g /dev/null
SET workflow.now = '2030-01-01 00:00:02+00';
SELECT wf_run_due();
SELECT task_id AS held, token AS held_token FROM workflow.open_tasks AS t, wf_claim_task(t.task_id, 'w') AS c (task, token)
WHERE t.definition_id = 'both' AND t.correlation_id = :'there' \gset

CREATE FUNCTION instance(definition text, key text) RETURNS uuid LANGUAGE sql AS $$
    SELECT instance_id FROM workflow.instance_list WHERE definition_id = definition AND correlation_id IS NOT DISTINCT FROM key ORDER BY 1 LIMIT 1 $$;
CREATE FUNCTION bookmark(definition text, key text) RETURNS uuid LANGUAGE sql AS $$
    SELECT id FROM workflow.bookmarks WHERE instance_id = instance(definition, key) $$;
CREATE FUNCTION letter(key text) RETURNS uuid LANGUAGE sql AS $$
    SELECT dead_letter_id FROM workflow.dead_letter_list WHERE correlation_id = key $$;
CREATE TABLE calls (number int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO calls (call) VALUES
    ($$wf_start('event', correlation_id => %1$L)$$), ($$wf_run('event', correlation_id => %1$L)$$),
    ($$wf_start('event', correlation_id => %1$L, instance_id => instance('event', %1$L))$$),
    ($$wf_publish_event('Nobody', correlation_id => %1$L)$$), ($$wf_publish_event('Paid', correlation_id => %1$L, keep_for => '0')$$),
    ($$wf_publish_event('Paid', instance_id => instance('event', %1$L))$$), ($$wf_publish_event('Paid', correlation_id => NULL, instance_id => instance('event', %1$L))$$),
    ($$wf_send_stimulus('Event', '{"EventName": "News"}', correlation_id => %1$L)$$),
    ($$wf_enqueue_bookmark('Event', '{"EventName": "Nobody"}', correlation_id => %1$L, keep_for => '1 hour')$$),
    ($$wf_enqueue_bookmark('Event', '{"EventName": "Nobody"}', correlation_id => %1$L, keep_for => '0')$$),
    ($$wf_enqueue_bookmark(bookmark_id => bookmark('event', %1$L))$$),
    ($$wf_call(%1$L, 'm', 'event', 'Paid')$$), ($$wf_call(%1$L, 'm', 'start', 'event')$$),
    ($$wf_http_request('GET', '/page', headers => jsonb_build_object('X-Correlation-ID', %1$L::text))$$),
    ($$wf_replay(letter(%1$L))$$),
    ($$wf_resume(bookmark('event', %1$L))$$), ($$wf_resume(bookmark('child', NULL))$$),
    ($$wf_complete_task(bookmark('task', %1$L))$$), ($$wf_claim_task(bookmark('task', %1$L), 'w')$$),
    ($$wf_assign_task(bookmark('task', %1$L), 'regress_route_plain')$$), ($$wf_unassign_task(bookmark('task', %1$L))$$),
    ($$wf_cancel(instance('event', %1$L))$$), ($$wf_delete_instance(instance('event', %1$L))$$),
    ($$wf_cancel_activity(instance('both', %1$L), 'check')$$), ($$wf_schedule_activity(instance('event', %1$L), 'paid')$$),
    ($$wf_set_variable(instance('delay', %1$L), 'V', '2')$$), ($$wf_pause(instance('delay', %1$L))$$), ($$wf_unpause(instance('delay', %1$L))$$),
    ($$wf_retry(instance('fault', %1$L))$$), ($$wf_migrate(instance('delay', %1$L))$$),
    ($$wf_set_owner('instance', instance('event', %1$L)::text, 'regress_route_plain')$$),
    ($$wf_schedule_workflow('s', '1 hour', 'event', correlation_id => %1$L)$$),
    ($$wf_alter_schedule(concat('of ', %1$L), active => false)$$), ($$wf_schedule_run_now(concat('of ', %1$L))$$);

-- What a call does with a key: the error, or "done"; all of it is undone.
CREATE FUNCTION outcome(call text, key text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'SELECT count(*) FROM ' || format(call, key);
    RAISE EXCEPTION USING ERRCODE = 'ZZ000';
EXCEPTION
    WHEN SQLSTATE 'ZZ000' THEN RETURN 'done';
    WHEN OTHERS THEN RETURN sqlstate || CASE WHEN sqlstate IN ('40001', '22004') THEN '' ELSE ' ' || sqlerrm END;
END $$;
\set ECHO all
