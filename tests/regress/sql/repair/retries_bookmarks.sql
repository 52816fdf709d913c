-- The bookmark at which an activity waits for its next attempt is resumed by time, or by wf_resume with its id. No stimulus meets it.
SET workflow.now = '2026-03-01 09:00:00+00';
CREATE TABLE service (up boolean);
INSERT INTO service VALUES (false);
SELECT * FROM wf_define('{
    "definitionId": "call",
    "root": {"id": "call", "type": "Sql", "statement": "SELECT 1 / (CASE WHEN up THEN 1 ELSE 0 END) FROM service", "retry": {"maxAttempts": 3, "delay": "1 day"}}
}');
SELECT wf_start('call', correlation_id => 'c1') AS instance \gset
SELECT bookmark_id AS bookmark FROM workflow.waiting \gset
UPDATE service SET up = true;

-- Neither by name, nor by type, activity, correlation id, instance or execution, nor by its id.
SELECT resumed FROM wf_enqueue_bookmark(name => 'Workflow.Retry', keep_for => '0');
SELECT resumed FROM wf_enqueue_bookmark(activity_type => 'Sql', keep_for => '0');
SELECT resumed FROM wf_enqueue_bookmark(activity_id => 'call', keep_for => '0');
SELECT resumed FROM wf_enqueue_bookmark(correlation_id => 'c1', keep_for => '0');
SELECT resumed FROM wf_enqueue_bookmark(instance_id => :'instance', keep_for => '0');
SELECT resumed FROM wf_enqueue_bookmark(bookmark_id => :'bookmark', keep_for => '0');
SELECT resumed FROM wf_send_stimulus('Workflow.Retry');
SELECT hash FROM workflow.open_bookmarks WHERE bookmark_id = :'bookmark';

-- A stimulus that is kept does not meet it either when it appears.
UPDATE service SET up = false;
SELECT queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(instance_id => :'instance', keep_for => '1 hour');
SELECT sub_status FROM wf_resume(:'bookmark');
SELECT count(*) FROM workflow.bookmark_queue;
SELECT data ->> 'attempt' AS attempt FROM workflow.journal WHERE event = 'Retrying' ORDER BY seq;

-- The input of that resume means nothing to the activity.
UPDATE service SET up = true;
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"ignored": true}') AS r;
SELECT wf_resume(:'bookmark');
\echo :SQLSTATE

-- An instance that waits for its next attempt can be cancelled.
UPDATE service SET up = false;
SELECT wf_start('call') AS instance \gset
SELECT wf_cancel(:'instance');
SELECT count(*) FROM workflow.waiting;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';

-- What an activity was resumed with is kept for the next attempt: here the answer, which a service had to take.
CREATE FUNCTION keep_answer(context jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    IF NOT (SELECT up FROM service) THEN RAISE 'the service is down'; END IF;
    RETURN jsonb_build_object('outputs', jsonb_build_object('result', context -> 'input'));
END $$;
CREATE FUNCTION ask(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT '{"bookmarks": [{"name": "Answer", "callback": "keep_answer"}]}'::jsonb
$$;
SELECT wf_register_activity('Acme.Ask', 'ask(jsonb)');
SELECT * FROM wf_define('{
    "definitionId": "survey", "variables": {"Said": null},
    "root": {"id": "ask", "type": "Acme.Ask", "result": {"var": "Said"}, "retry": {"maxAttempts": 2, "delay": "1 hour"}}
}');
SELECT wf_start('survey') AS instance \gset
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"answer": 42}') AS r;
SELECT activity, waits_for FROM workflow.waiting;
UPDATE service SET up = true;
SET workflow.now = '2026-03-01 10:00:00+00';
SELECT wf_run_due();
SELECT sub_status, variables FROM workflow.instances WHERE id = :'instance';
SELECT event, activity FROM workflow.journal WHERE instance_id = :'instance' ORDER BY seq, number;

-- On a container everything below it begins again; a task that was open is cancelled, a new one is opened.
SELECT * FROM wf_define('{
    "definitionId": "again", "variables": {"Go": false},
    "root": {"id": "body", "type": "Parallel", "retry": {"maxAttempts": 2, "delay": "1 hour"}, "activities": [
        {"id": "sign", "type": "RunTask", "taskName": "Sign"},
        [{"id": "wait", "type": "Event", "eventName": "Go"}, {"id": "call", "type": "Sql", "statement": "SELECT 1 / (CASE WHEN up THEN 1 ELSE 0 END) FROM service"}]]}
}');
UPDATE service SET up = false;
SELECT wf_start('again') AS instance \gset
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go');
SELECT activity, waits_for FROM workflow.waiting;
SELECT status FROM workflow.tasks WHERE instance_id = :'instance';
UPDATE service SET up = true;
SET workflow.now = '2026-03-01 11:00:00+00';
SELECT wf_run_due();
SELECT activity, waits_for FROM workflow.waiting ORDER BY activity;
SELECT status FROM workflow.tasks WHERE instance_id = :'instance' ORDER BY id;
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go');
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
