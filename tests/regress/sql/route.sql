-- The routing guard: with workflow.route_check every call says whether its correlation id belongs to this node, before
-- anything else happens.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_route_plain LOGIN;
SET client_min_messages = warning;
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

-- The partition of a key is that of PL/Proxy.
SELECT bool_and(wf_partition(k, 64) = hashtext(k) & 63) AS agrees, count(DISTINCT wf_partition(k, 64)) AS partitions
FROM (SELECT 'order-' || n FROM generate_series(1, 1000) AS n UNION ALL VALUES (''), ('ü€')) AS v (k);
SELECT wf_partition('A', 3);
SELECT wf_partition('A', 0);
SELECT wf_partition('A', 131072);
SELECT wf_partition(NULL, 2);

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

SET client_min_messages = error;
-- Without the guard any key will do.
SELECT call, outcome(call, :'there') FROM calls WHERE outcome(call, :'there') <> 'done' ORDER BY number;

-- A node without partitions has no keys. Only a superuser may set the guard, and say which partitions are here.
SET workflow.route_check = 'partitions';
SELECT wf_start('event', correlation_id => :'here');
SET ROLE regress_route_plain;
SET workflow.route_check = '';
SELECT wf_add_partitions('{0}', 2);
SELECT wf_remove_partitions('{0}');
SELECT wf_partition('A', 2) IN (0, 1) AS is_known;
SELECT count(*) FROM workflow.partitions;
RESET ROLE;
SELECT wf_add_partitions('{0,0}', 2);
SELECT wf_add_partitions('{0}', 2);
SELECT wf_add_partitions('{1}', 4);
SELECT wf_add_partitions('{2}', 2);
SELECT wf_add_partitions('{-1}', 2);
SELECT wf_add_partitions('{0}', 5);
SELECT wf_add_partitions('{0,NULL}', 2);
SELECT wf_add_partitions(NULL, 2);
SELECT wf_remove_partitions(NULL);
SELECT wf_remove_partitions('{7}');

SELECT call, outcome(call, :'here') AS here, outcome(call, :'there') AS there, outcome(call, NULL) AS "without" FROM calls ORDER BY number;

-- The errors in full.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SELECT wf_start('event', correlation_id => :'there');
SELECT wf_start('event');
SELECT wf_resume(bookmark('event', NULL));
\set VERBOSITY default
-- A row of the tree is here, but its key is not.
SELECT outcome('wf_resume(%L)', (SELECT b.id::text FROM workflow.bookmarks b JOIN workflow.instances c ON c.id = b.instance_id
    WHERE c.definition_id = 'child' AND c.parent_instance_id = instance('parent', key))) FROM unnest(ARRAY[:'here', :'there']) AS key;
-- A call for many refuses those of another node, and those without a key, and goes on with the others. So does a dry run.
BEGIN;
SELECT wf_define('{"definitionId": "delay", "variables": [{"name": "V", "value": 2}], "root": {"id": "wait", "type": "Delay", "timeSpan": "1 hour"}}');
CREATE FUNCTION verdicts(call text) RETURNS TABLE (key text, outcome text, problems text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE 'SELECT i.correlation_id, v.outcome, regexp_replace(v.problems::text, ''[0-9a-f-]{36}'', ''ID'') FROM workflow.instances AS i JOIN '
        || call || ' AS v ON v.instance_id = i.id ORDER BY 1';
END $$;
SELECT v.* FROM unnest(ARRAY[true, false]) AS dry, verdicts(format('wf_migrate_all(''delay'', dry_run => %L)', dry)) AS v;
SELECT v.* FROM unnest(ARRAY[true, false]) AS dry,
    verdicts(format('wf_alter(''[{"type": "ModifyVariable", "variableId": "V", "value": 3}]'', ''{"definitionIds": ["delay"]}'', dry_run => %L)', dry)) AS v;
SELECT v.* FROM unnest(ARRAY[true, false]) AS dry,
    verdicts(format('wf_alter(''[{"type": "Migrate", "targetVersion": 1}]'', ''{"definitionIds": ["delay"]}'', dry_run => %L)', dry)) AS v;
ROLLBACK;
SELECT outcome('wf_migrate(instance(''delay'', %L), dry_run => true)', k) FROM unnest(ARRAY[:'here', :'there', NULL]) AS k;
-- Workers: what belongs elsewhere is passed over; its lease goes no further.
BEGIN;
SELECT DISTINCT t.correlation_id = :'here' AS here FROM wf_claim_tasks('{check}', max => 100) AS c JOIN workflow.open_tasks AS t USING (task_id);
ROLLBACK;
SELECT call, outcome(replace(call, '$', quote_literal(:'held_token')), :'held') FROM unnest(ARRAY['wf_extend_task(%L, $)', 'wf_fail_task(%L, $, ''no'')', 'wf_release_task(%L, $)', 'wf_complete_task(%L, token => $)']) AS call;
SELECT wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'held', 'token', :'held_token'))) \g /dev/null

-- An event for everybody resumes what is here, and starts nothing.
SET client_min_messages = notice;
BEGIN;
SELECT array_length(resumed, 1) AS resumed, array_length(started, 1) AS started FROM wf_publish_event('Paid', correlation_id => '*');
SELECT array_length(started, 1) AS started FROM wf_publish_event('News');
ROLLBACK;
RESET client_min_messages;
SELECT array_length(started, 1) AS started FROM wf_publish_event('News', correlation_id => :'here');
SELECT wf_publish_event('News', correlation_id => NULL);
SELECT wf_publish_event('News', instance_id => '00000000-0000-0000-0000-000000000001');

-- A workflow stays on its node: what it starts or tells, too.
SELECT wf_run('moves', jsonb_build_object('key', :'there'), correlation_id => :'here') IS NOT NULL AS ran;
SELECT wf_run('moves', jsonb_build_object('key', NULL), correlation_id => :'here') IS NOT NULL AS ran;
SELECT wf_run('tells', jsonb_build_object('key', :'there'), correlation_id => :'here') IS NOT NULL AS ran;
SELECT wf_run('tells', jsonb_build_object('key', :'here'), correlation_id => :'here') IS NOT NULL AS ran;
SELECT wf_run('parent', jsonb_build_object('key', :'there'), correlation_id => :'here') IS NOT NULL AS ran;
SELECT activity_id, sqlstate, message, detail, hint FROM workflow.open_incidents WHERE activity_id <> 'bad' ORDER BY created_at, activity_id;
-- A child without a key has that of its parent, and so has what goes on in place of an instance.
SELECT wf_run('parent', '{"key": ""}', correlation_id => :'here') IS NOT NULL AS ran;
SELECT array_length(resumed, 1) AS resumed FROM wf_publish_event('On', correlation_id => :'here');

-- Time: what belongs elsewhere stays due, counts no attempt, and fires when it belongs here.
SET workflow.now = '2030-01-01 02:00:00+00';
SELECT wf_schedule('command', '1 hour', 'SELECT 1') IS NOT NULL AS made;
SET workflow.now = '2030-01-01 03:00:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT wf_run_due();
SELECT correlation_id, sub_status, count(*) FROM workflow.instance_list WHERE definition_id = 'delay' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT i.correlation_id, b.attempts, b.due_at < '2030-01-01 03:00:00+00' AS is_due FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id WHERE i.definition_id = 'delay' ORDER BY 1;
SELECT definition_id, count(*) FROM workflow.instance_list WHERE definition_id IN ('hourly', 'Workflow.ScheduledCommand') GROUP BY 1;
SELECT correlation_id, last_scheduled, attempts, last_error FROM workflow.schedules WHERE name LIKE 'of %' ORDER BY 1;
SELECT next_fire_at < '2030-01-01 03:00:00+00' AS is_due, last_error FROM workflow.triggers WHERE definition_id = 'hourly';

-- A partition comes, in a transaction that is undone and in one that is not.
BEGIN;
SELECT wf_add_partitions('{1}', 2);
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'there');
SAVEPOINT s;
SELECT wf_remove_partitions('{0}');
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here');
ROLLBACK TO s;
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here');
ROLLBACK;
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'there');
SELECT wf_add_partitions('{1}', 2);
SELECT wf_run_due() > 0 AS fired;
SELECT correlation_id, sub_status, count(*) FROM workflow.instance_list WHERE definition_id = 'delay' GROUP BY 1, 2 ORDER BY 1, 2;
-- Partitions are counted anew when none is left.
SELECT wf_remove_partitions('{0,1}');
SELECT wf_add_partitions(ARRAY[wf_partition(:'here', 1024)], 1024);
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here'), outcome('wf_start(''event'', correlation_id => %L)', :'there');

-- A function of a superuser decides: NULL is no. It runs as the extension's owner, with pg_catalog alone.
CREATE TABLE placed (key text PRIMARY KEY);
INSERT INTO placed VALUES (:'there');
CREATE FUNCTION is_placed(key text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('search_path') <> 'pg_catalog' OR current_user <> (SELECT pg_get_userbyid(extowner) FROM pg_extension WHERE extname = 'workflow') THEN
        RAISE 'unexpected surroundings: %, %', current_setting('search_path'), current_user;
    END IF;
    RETURN NULLIF(EXISTS (SELECT FROM public.placed p WHERE p.key = is_placed.key), false);
END $$;
SET workflow.route_check = 'public.is_placed';
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here'), outcome('wf_start(''event'', correlation_id => %L)', :'there');
SET ROLE regress_route_plain;
SELECT wf_publish_event('Nobody', correlation_id => :'here', keep_for => '0');
SELECT started FROM wf_publish_event('Nobody', correlation_id => :'there', keep_for => '0');
RESET ROLE;
-- A function that is none.
SET workflow.route_check = 'is_placed';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
SET workflow.route_check = 'public.no_such';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
CREATE FUNCTION is_text(key text) RETURNS text LANGUAGE sql RETURN key;
SET workflow.route_check = 'public.is_text';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
CREATE FUNCTION is_any(key text) RETURNS SETOF boolean LANGUAGE sql RETURN true;
SET workflow.route_check = 'public.is_any';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
ALTER FUNCTION is_placed OWNER TO regress_route_plain;
SET workflow.route_check = 'public.is_placed';
SELECT wf_publish_event('Nobody', correlation_id => :'there');
ALTER FUNCTION is_placed OWNER TO CURRENT_USER;
CREATE OR REPLACE FUNCTION is_placed(key text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'no placement'; END $$;
SELECT wf_publish_event('Nobody', correlation_id => :'there');
-- Not set, all keys are here.
SET workflow.route_check = '';
SELECT outcome('wf_start(''event'', correlation_id => %L)', :'here'), outcome('wf_start(''event'', correlation_id => %L)', :'there'), outcome('wf_start(''event'', correlation_id => %L)', NULL);
