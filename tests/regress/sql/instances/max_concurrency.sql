-- options.maxConcurrency: how many instances of a definition run at the same time. The others wait for their turn, oldest first.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "load", "options": {"maxConcurrency": {"max": 2}}, "root": [
    {"type": "Event", "eventName": "Go"}, {"type": "If", "condition": {"js": "getInput(\"torn\") === true"}, "then": {"type": "Fault", "message": "torn"}}]}') \g /dev/null
CREATE VIEW runs AS SELECT correlation_id AS run, sub_status FROM workflow.instance_list ORDER BY instance_id;
CREATE FUNCTION go(run text) RETURNS void LANGUAGE sql BEGIN ATOMIC
    SELECT wf_publish_event('Go', correlation_id => run);
END;

-- Two begin, the third waits. It is Pending, and says why.
SELECT wf_start('load', correlation_id => r) IS NOT NULL AS started FROM unnest(ARRAY['a', 'b', 'c', 'd']) AS r;
SELECT * FROM runs;
SELECT correlation_id, waits_for, due FROM workflow.waiting ORDER BY since, correlation_id;
SELECT bookmark_id AS c, instance AS c_instance FROM workflow.waiting WHERE correlation_id = 'c' \gset
SELECT e.* FROM wf_explain(:'c_instance') AS e;
-- No stimulus meets it, and wf_resume begins it only if there is room.
SELECT cardinality(resumed) AS resumed FROM wf_enqueue_bookmark('Workflow.Limit', correlation_id => 'c');
SELECT cardinality(resumed) AS resumed FROM wf_enqueue_bookmark(activity_type => 'Workflow.Limit');
SELECT wf_resume(:'c');
SELECT wf_run_due();
SELECT * FROM runs;

-- An end calls the next one, which a worker or wf_run_due begins. A new one does not overtake it.
SELECT go('a');
SELECT wf_start('load', correlation_id => 'e') IS NOT NULL AS started;
SELECT * FROM runs;
SELECT wf_run_due();
SELECT * FROM runs;
-- So does a cancel, but not that of one that waits.
SELECT i.instance_id AS d FROM workflow.instance_list i WHERE correlation_id = 'd' \gset
SELECT wf_cancel(:'d');
SELECT wf_run_due();
SELECT i.instance_id AS b FROM workflow.instance_list i WHERE correlation_id = 'b' \gset
SELECT wf_cancel(:'b');
SELECT wf_run_due();
SELECT * FROM runs;
-- wf_resume begins one before a worker does.
SELECT wf_start('load', correlation_id => 'f') IS NOT NULL AS started;
SELECT go('c');
SELECT bookmark_id AS f FROM workflow.waiting WHERE correlation_id = 'f' \gset
SELECT sub_status FROM wf_resume(:'f');
SELECT * FROM runs;
SELECT * FROM wf_check();

-- A faulted instance counts until it ends. wf_retry needs no turn.
SELECT go('e'), go('f');
SELECT sub_status FROM wf_run('load', '{"torn": true}', correlation_id => 'g');
SELECT sub_status FROM wf_run('load', correlation_id => 'h');
SELECT sub_status FROM wf_run('load', correlation_id => 'i');
SELECT go('g');
SELECT wf_run_due();
SELECT * FROM runs WHERE sub_status NOT IN ('Finished', 'Cancelled');
SELECT r.sub_status FROM workflow.instance_list AS i, wf_retry(i.instance_id) AS r WHERE i.correlation_id = 'g';
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE correlation_id IN ('g', 'h');
SELECT wf_run_due();
SELECT * FROM runs WHERE sub_status NOT IN ('Finished', 'Cancelled');
SELECT go('i');

-- With a key each value of that input has the limit for itself. Without that input an instance is not counted.
SELECT wf_define('{"definitionId": "sync", "options": {"maxConcurrency": {"max": 1, "key": "shop"}}, "root": {"type": "Event", "eventName": "Go"}}') \g /dev/null
SELECT count(wf_start('sync', v, correlation_id => 'sync')) FROM unnest(ARRAY['{"shop": 1}', '{"shop": "1"}', '{"shop": 2}', '{}', '{}', '{"shop": null}']::jsonb[]) AS v;
SELECT input, sub_status FROM workflow.instance_list WHERE definition_id = 'sync' ORDER BY instance_id;
SELECT wf_publish_event('Go', correlation_id => 'sync') \g /dev/null
SELECT wf_run_due();
SELECT input, sub_status FROM workflow.instance_list WHERE definition_id = 'sync' ORDER BY instance_id;
SELECT wf_publish_event('Go', correlation_id => 'sync') \g /dev/null

-- Triggers and schedules wait as well, with the stimulus. A child of an instance that is counted does not: its parent waits for it.
SELECT wf_define('{"definitionId": "order", "options": {"maxConcurrency": {"max": 1}}, "outputs": [{"name": "paid"}], "root": [
    {"id": "paid", "type": "Event", "eventName": "Paid", "canStartWorkflow": true, "result": {"output": "paid"}}, {"type": "Event", "eventName": "Go"}]}') \g /dev/null
SELECT cardinality(started) AS started FROM wf_publish_event('Paid', '1');
SELECT cardinality(started) AS started FROM wf_publish_event('Paid', '2');
SELECT sub_status FROM workflow.instance_list WHERE definition_id = 'order' ORDER BY instance_id;
SELECT wf_publish_event('Go') \g /dev/null
SELECT wf_run_due();
SELECT wf_publish_event('Go') \g /dev/null
SELECT sub_status, output FROM workflow.instance_list WHERE definition_id = 'order' ORDER BY instance_id;
SELECT wf_define('{"definitionId": "nest", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "If", "condition": {"js": "getInput(\"n\") > 0"},
    "then": {"type": "ExecuteWorkflow", "workflowDefinitionId": "nest", "waitForCompletion": true, "input": {"object": {"n": {"js": "getInput(\"n\") - 1"}}}}}}') \g /dev/null
SELECT sub_status FROM wf_run('nest', '{"n": 2}');

-- A child of an instance that has a place begins at once, of whatever definition it is.
SELECT wf_define('{"definitionId": "work", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "Go"}}') \g /dev/null
SELECT wf_define(jsonb_build_object('definitionId', d, 'options', o, 'root', jsonb_build_object('type', 'ExecuteWorkflow', 'workflowDefinitionId', 'work', 'waitForCompletion', true, 'timeout', '1 hour')))
FROM (VALUES ('bounded', '{"maxConcurrency": {"max": 1}}'::jsonb), ('free', '{}')) AS v (d, o) \g /dev/null
CREATE VIEW works AS SELECT definition_id, correlation_id, sub_status FROM workflow.instance_list WHERE definition_id IN ('work', 'bounded', 'free') ORDER BY instance_id;
SELECT wf_start('work', correlation_id => 'w') IS NOT NULL AS started;
SELECT wf_start('bounded', correlation_id => 'b') IS NOT NULL AS started;
SELECT * FROM works;
SELECT go('w');
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE definition_id = 'bounded';
-- The child of one without a limit waits for its turn, and its parent with it. Its report ends the parent.
SELECT wf_start('work', correlation_id => 'w2') IS NOT NULL AS started;
SELECT wf_start('free', correlation_id => 'f') IS NOT NULL AS started;
SELECT * FROM works WHERE sub_status NOT IN ('Finished', 'Cancelled');
SELECT go('w2');
SELECT wf_run_due();
SELECT * FROM works WHERE sub_status NOT IN ('Finished', 'Cancelled');
SELECT count(wf_publish_event('Go'));
SELECT wf_run_due();
SELECT * FROM works WHERE sub_status NOT IN ('Finished', 'Cancelled');
-- One that waits for its turn ends with the activity that waits for it.
SELECT wf_start('work', correlation_id => 'w3') IS NOT NULL AS started;
SELECT wf_start('free', correlation_id => 'f2') IS NOT NULL AS started;
SET workflow.now = '2026-03-01 10:00:00+00';
SELECT wf_run_due();
SELECT * FROM works WHERE correlation_id IN ('w3', 'f2') OR sub_status NOT IN ('Finished', 'Cancelled');
SELECT go('w3');
SELECT wf_run_due();
SELECT * FROM works WHERE sub_status NOT IN ('Finished', 'Cancelled', 'Faulted');
DROP VIEW works;

-- A schedule starts as many as there is room for. The others wait.
SELECT wf_schedule_workflow('often', '* * * * *', 'work') IS NOT NULL AS scheduled;
SET workflow.now = '2026-03-01 10:01:00+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-01 10:02:00+00';
SELECT wf_run_due();
SELECT sub_status, count(*) FROM workflow.instance_list WHERE definition_id = 'work' AND sub_status IN ('Suspended', 'Pending') GROUP BY 1 ORDER BY 1;
SELECT status, count(*) FROM workflow.schedule_runs GROUP BY 1 ORDER BY 1;
SELECT wf_unschedule('often');
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE definition_id = 'work' AND sub_status IN ('Suspended', 'Pending');
SET workflow.now = '2026-03-01 09:00:00+00';

-- A request is not kept waiting.
SELECT wf_define('{"definitionId": "api", "options": {"maxConcurrency": {"max": 1}}, "root": [
    {"type": "HttpEndpoint", "path": "/api", "supportedMethods": ["POST"], "canStartWorkflow": true}, {"type": "Event", "eventName": "Go"}]}') \g /dev/null
SELECT status FROM wf_http_request('POST', '/api');
SELECT status, body FROM wf_http_request('POST', '/api');
SELECT sub_status FROM workflow.instance_list WHERE definition_id = 'api';
SELECT * FROM wf_check();

-- A lower limit waits until no more run than it allows.
SELECT wf_define('{"definitionId": "lower", "options": {"maxConcurrency": {"max": 3}}, "root": {"type": "Event", "eventName": "Go"}}') \g /dev/null
SELECT count(wf_start('lower', correlation_id => n::text)) FROM generate_series(1, 3) AS n;
SELECT wf_define('{"definitionId": "lower", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "Go"}}') \g /dev/null
SELECT sub_status FROM wf_run('lower', correlation_id => '4');
SELECT go('1');
SELECT wf_run_due();
SELECT go('2'), go('3');
SELECT wf_run_due();
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'lower' ORDER BY instance_id;

-- What is refused.
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"maxConcurrency": 1}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"maxConcurrency": {}}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"maxConcurrency": {"max": 0, "kye": "a"}}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"maxConcurrency": {"max": 1.5, "key": 1}}, "root": []}');
SELECT * FROM wf_check();
DROP VIEW runs;
DROP FUNCTION go;
