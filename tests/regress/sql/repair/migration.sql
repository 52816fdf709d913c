-- An instance goes on in another version of its definition: what waits stays, with its id, its payload and its name.
CREATE FUNCTION pg_temp.lines(id uuid) RETURNS text LANGUAGE sql
BEGIN ATOMIC
    SELECT string_agg(data #>> '{}', ', ' ORDER BY seq, number) FROM workflow.journal WHERE instance_id = id AND event = 'Line';
END;
SELECT * FROM wf_define('{"definitionId": "leave", "variables": {"Days": 3}, "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "ask", "type": "RunTask", "taskName": "approve", "payload": {"days": 3}},
    {"id": "tell", "type": "WriteLine", "text": "approved"}]}}');
SELECT wf_start('leave', correlation_id => 'one') AS one \gset
SELECT wf_start('leave', correlation_id => 'two') AS two \gset
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'one' \gset
SELECT token FROM wf_claim_tasks('{approve}', 'ben') WHERE task_id = :'task' \gset
-- The new version renames the task, inserts a step before it and adds one behind.
SELECT * FROM wf_define('{"definitionId": "leave", "variables": {"Days": 3, "Boss": "Ann"}, "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "hello", "type": "WriteLine", "text": "hello"},
    {"id": "decide", "type": "RunTask", "taskName": "decide", "payload": {"days": 3}},
    {"id": "tell", "type": "WriteLine", "text": {"js": "`approved by ${getBoss()}`"}},
    {"id": "bye", "type": "WriteLine", "text": "bye"}]}}');
-- A dry run changes nothing.
SELECT * FROM wf_migrate(:'one', dry_run => true);
SELECT * FROM wf_migrate(:'one', mapping => '{"ask": "decide"}', dry_run => true);
SELECT version FROM workflow.instance_list WHERE instance_id = :'one';
-- Without a mapping it is refused, and stays as it was.
\set VERBOSITY default
SELECT * FROM wf_migrate(:'one');
\set VERBOSITY terse
SELECT version FROM workflow.instance_list WHERE instance_id = :'one';
-- The open task keeps its id, its name and its lease; it belongs to the activity of the new version.
SELECT * FROM wf_migrate(:'one', mapping => '{"ask": "decide"}');
SELECT version, variables FROM workflow.instance_list WHERE instance_id = :'one';
SELECT task_id = :'task' AS same, name, activity_id, payload, worker FROM workflow.open_tasks WHERE instance_id = :'one';
SELECT activity_id, node_id FROM workflow.bookmarks WHERE instance_id = :'one';
SELECT event, data FROM workflow.journal WHERE instance_id = :'one' AND event = 'Migrated';
SELECT substring(line FROM 'moved.*') FROM wf_explain(:'one') AS line WHERE line ~ 'moved';
-- To the same version once more: nothing happens.
SELECT * FROM wf_migrate(:'one');
SELECT count(*) FROM workflow.journal WHERE instance_id = :'one' AND event = 'Migrated';
SELECT sub_status FROM wf_complete_task(:'task', '"yes"', token => :'token');
SELECT pg_temp.lines(:'one');
-- What has ended cannot be moved.
\set VERBOSITY default
SELECT * FROM wf_migrate(:'one', 1);
\set VERBOSITY terse
-- The other one: the step is given up, and the instance goes on behind the last step before it that is still there. There is none.
SELECT * FROM wf_migrate(:'two', mapping => '{"ask": null}');
SELECT version, sub_status FROM workflow.instance_list WHERE instance_id = :'two';
SELECT status FROM workflow.tasks WHERE instance_id = :'two';
SELECT pg_temp.lines(:'two');
-- A faulted activity, its incident and the handler of what can be compensated follow as well.
SELECT * FROM wf_define('{"definitionId": "trip", "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "book", "type": "Compensable", "body": {"id": "b1", "type": "WriteLine", "text": "booked"}, "compensation": {"id": "b2", "type": "WriteLine", "text": "old way back"}},
    {"id": "pay", "type": "Fault", "message": "no money"},
    {"id": "undo", "type": "Compensate"}]}}');
SET client_min_messages = error;
SELECT wf_start('trip') AS trip \gset
RESET client_min_messages;
SELECT * FROM wf_define('{"definitionId": "trip", "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "reserve", "type": "Compensable", "body": {"id": "b1", "type": "WriteLine", "text": "booked"}, "compensation": {"id": "b2", "type": "WriteLine", "text": "new way back"}},
    {"id": "charge", "type": "Fault", "message": "still no money"},
    {"id": "undo", "type": "Compensate"}]}}');
SELECT * FROM wf_migrate(:'trip', dry_run => true);
SELECT * FROM wf_migrate(:'trip', mapping => '{"book": "reserve", "pay": "charge"}');
SELECT activity_id, message FROM workflow.open_incidents WHERE instance_id = :'trip';
SELECT activity_id, node_id FROM workflow.compensations WHERE instance_id = :'trip';
SELECT * FROM wf_define('{"definitionId": "trip", "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "reserve", "type": "Compensable", "body": {"id": "b1", "type": "WriteLine", "text": "booked"}, "compensation": {"id": "b2", "type": "WriteLine", "text": "newest way back"}},
    {"id": "undo", "type": "Compensate"}]}}');
SELECT * FROM wf_migrate(:'trip', mapping => '{"charge": null}');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'trip';
SELECT pg_temp.lines(:'trip');
-- Timers stay, or begin anew in the new version.
SET workflow.now = '2030-01-01 08:00:00+00';
SELECT * FROM wf_define('{"definitionId": "nap", "root": {"id": "d", "type": "Delay", "timeSpan": "1:00:00"}}');
SELECT wf_start('nap') AS keep \gset
SELECT wf_start('nap') AS anew \gset
SET workflow.now = '2030-01-01 08:30:00+00';
SELECT * FROM wf_define('{"definitionId": "nap", "root": {"id": "d", "type": "Delay", "timeSpan": "4:00:00"}}');
SELECT * FROM wf_migrate(:'keep');
SELECT * FROM wf_migrate(:'anew', timers => 'anew');
SELECT instance_id = :'keep' AS kept, due_at AT TIME ZONE 'UTC' AS due_at FROM workflow.bookmarks WHERE instance_id IN (:'keep', :'anew') ORDER BY 2;
RESET workflow.now;
-- A child that runs reports to the activity of the new version.
SELECT * FROM wf_define('{"definitionId": "child", "root": {"id": "c", "type": "Event", "eventName": "Go"}}');
SELECT * FROM wf_define('{"definitionId": "parent", "root": {"id": "main", "type": "Sequence", "activities": [{"id": "x", "type": "ExecuteWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true}]}}');
SELECT wf_start('parent') AS parent \gset
SELECT * FROM wf_define('{"definitionId": "parent", "root": {"id": "main", "type": "Sequence", "activities": [{"id": "y", "type": "ExecuteWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true}, {"id": "end", "type": "WriteLine", "text": "the child has ended"}]}}');
SELECT * FROM wf_migrate(:'parent', mapping => '{"x": "y"}');
SELECT cardinality(resumed) FROM wf_publish_event('Go');
SELECT pg_temp.lines(:'parent');
-- What waits for its next attempt runs it as the new version says: no warning.
SET workflow.now = '2030-01-02 08:00:00+00';
SELECT * FROM wf_define('{"definitionId": "again", "root": {"id": "x", "type": "Sql", "statement": "SELECT 1 / 0", "retry": {"maxAttempts": 2, "delay": "1 minute"}}}');
SELECT wf_start('again') AS again \gset
SELECT * FROM wf_define('{"definitionId": "again", "root": {"id": "x", "type": "Sql", "statement": "SELECT 1 / 1", "retry": {"maxAttempts": 2, "delay": "1 minute"}}}');
SELECT * FROM wf_migrate(:'again', timers => 'anew');
SET workflow.now = '2030-01-02 08:01:00+00';
SELECT wf_run_due() > 0 AS ran;
SELECT version, sub_status FROM workflow.instance_list WHERE instance_id = :'again';
RESET workflow.now;
