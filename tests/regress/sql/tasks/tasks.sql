-- RunTask is work for people and programs outside: it puts a row into workflow.tasks and waits.
SELECT * FROM wf_define('{"definitionId": "invoice", "variables": {"Answer": null, "TaskId": null}, "root": [
    {"id": "check", "type": "RunTask", "taskName": "Check invoice",
     "payload": {"object": {"amount": {"input": "amount"}}}, "taskId": {"var": "TaskId"}, "result": {"var": "Answer"}},
    {"type": "SetName", "value": {"js": "`checked by ${getAnswer().by}`"}}]}');
SELECT wf_start('invoice', '{"amount": 120.50}', correlation_id => 'invoice-1') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT definition_id, activity_id, name, payload, correlation_id FROM workflow.open_tasks;

-- A task's id is the id of its bookmark, and an output of the activity.
SELECT bookmark_id = :'task' AS same_id FROM workflow.waiting WHERE instance = :'instance';
SELECT variables ->> 'TaskId' = :'task' AS same_id FROM workflow.instance_list WHERE instance_id = :'instance';

-- What it is completed with is the result of the activity; the row stays as history.
SELECT status, sub_status FROM wf_complete_task(:'task', '{"by": "Ada", "ok": true}');
SELECT name, variables -> 'Answer' AS answer FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT status, result, completed_at IS NOT NULL AS completed FROM workflow.tasks WHERE id = :'task';
SELECT count(*) AS open_tasks FROM workflow.open_tasks;

-- Once.
\set VERBOSITY sqlstate
SELECT * FROM wf_complete_task(:'task', '{"by": "Grace"}');
\set VERBOSITY default

-- wf_resume does the same.
SELECT wf_start('invoice', '{"amount": 1}') AS instance \gset
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"by": "Edsger"}') AS r WHERE w.instance = :'instance';
SELECT status, result FROM workflow.tasks WHERE instance_id = :'instance';

-- A task that was completed before it exists.
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_id => 'check', correlation_id => 'invoice-3', input => '{"by": "early bird"}');
SELECT wf_start('invoice', '{"amount": 3}', correlation_id => 'invoice-3') AS instance \gset
SELECT sub_status, name FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT status, result FROM workflow.tasks WHERE instance_id = :'instance';

-- Cancelling closes it, and so does a branch that overtakes it.
SELECT wf_start('invoice', '{"amount": 4}') AS instance \gset
SELECT wf_cancel(:'instance');
SELECT status, result, completed_at IS NOT NULL AS closed FROM workflow.tasks WHERE instance_id = :'instance';
SELECT * FROM wf_define('{"definitionId": "race", "root": {"type": "Fork", "joinMode": "WaitAny", "branches": [
    {"id": "slow", "type": "RunTask", "taskName": "slow"}, {"id": "fast", "type": "RunTask", "taskName": "fast"}]}}');
SELECT wf_start('race') AS instance \gset
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r WHERE t.name = 'fast';
SELECT name, status FROM workflow.tasks WHERE instance_id = :'instance' ORDER BY name;

-- A stimulus that names it completes it as well. It is met by its id: its bookmark has no hash, and no id in its payload.
-- open_bookmarks shows both, and the engine makes the same hash of the stimulus.
SELECT wf_start('invoice', '{"amount": 6}', correlation_id => 'invoice-6') AS instance \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'instance' \gset
SELECT hash, hash_key, payload FROM workflow.bookmarks WHERE id = :'task';
SELECT payload = jsonb_build_object('TaskId', :'task', 'TaskName', 'Check invoice') AS complete FROM workflow.open_bookmarks WHERE bookmark_id = :'task';
SELECT cardinality(resumed) FROM wf_send_stimulus('RunTask', jsonb_build_object('TaskId', gen_random_uuid()));
SELECT cardinality(resumed) FROM wf_send_stimulus('RunTask', jsonb_build_object('TaskId', :'task'), correlation_id => 'another');
SELECT cardinality(resumed) FROM wf_send_stimulus('RunTask', '{"TaskId": "no id"}');
SELECT cardinality(r.resumed) FROM workflow.open_bookmarks AS b, wf_enqueue_bookmark(name => 'RunTask', stimulus => jsonb_build_object('taskid', :'task'), hash => b.hash, input => '{"by": "Hedy"}') AS r WHERE b.bookmark_id = :'task';
SELECT status, result FROM workflow.tasks WHERE id = :'task';
-- So does its hash, where the stimulus says which instance it is for.
SELECT wf_start('invoice', '{"amount": 7}', correlation_id => 'invoice-7') AS instance \gset
SELECT cardinality(r.resumed) FROM workflow.open_bookmarks AS b, wf_enqueue_bookmark(hash => b.hash, instance_id => b.instance_id, input => '{"by": "Ada"}') AS r WHERE b.instance_id = :'instance';

-- No other bookmark may be without its hash.
BEGIN;
SELECT wf_define('{"definitionId": "lacking", "root": {"type": "Event", "eventName": "Lacking"}}'), wf_start('lacking') \g /dev/null
UPDATE workflow.bookmarks SET hash_key = NULL WHERE activity_type = 'Elsa.Event';
SELECT problem FROM wf_check();
ROLLBACK;
-- Nor with keys by which stimuli would not find it.
BEGIN;
SELECT wf_define('{"definitionId": "lost", "root": [{"type": "Event", "eventName": "Lost"}]}'), wf_start('lost', correlation_id => 'item') \g /dev/null
UPDATE workflow.bookmarks SET hash_key = hash_key + 1 WHERE activity_type = 'Elsa.Event';
SELECT problem FROM wf_check();
UPDATE workflow.bookmarks SET hash_key = hash_key - 1, correlation_key = 0 WHERE activity_type = 'Elsa.Event';
SELECT problem FROM wf_check();
UPDATE workflow.bookmarks SET correlation_key = hashtext('item'), kind_key = kind_key + 1 WHERE activity_type = 'Elsa.Event';
SELECT problem FROM wf_check();
UPDATE workflow.bookmarks SET kind_key = kind_key - 1 WHERE activity_type = 'Elsa.Event';
SELECT problem FROM wf_check();
ROLLBACK;

-- With workflow.notify_tasks on, the opening of a task is also announced on channel workflow_task.
SET workflow.notify_tasks = on;
SELECT wf_start('invoice', '{"amount": 5}') AS instance \gset
SELECT wf_cancel(:'instance');
RESET workflow.notify_tasks;

-- Inputs are evaluated when the activity is reached. The name is required.
SELECT * FROM wf_define('{"definitionId": "nameless", "root": {"type": "RunTask", "taskName": {"input": "task"}}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message
  FROM wf_run('nameless', instance_id => '01900000-0000-7000-8000-000000000001');

-- Errors.
SELECT * FROM wf_complete_task(NULL);
\echo :SQLSTATE
SELECT * FROM wf_complete_task('01900000-0000-7000-8000-00000000dead');
\echo :SQLSTATE

-- It is wf_resume under the name that fits: any bookmark will do.
SELECT * FROM wf_define('{"definitionId": "event", "root": {"type": "Event", "eventName": "Go"}}');
SELECT wf_start('event') AS instance \gset
SELECT r.sub_status FROM workflow.waiting AS w, wf_complete_task(w.bookmark_id) AS r WHERE w.instance = :'instance';
SELECT * FROM wf_check();
