-- Retention: what has long been over goes, in small batches; what waits or is faulted stays.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_replay_eve LOGIN;
SELECT wf_grant_usage('regress_replay_eve');
SELECT * FROM wf_define('{"definitionId": "order", "root": [{"id": "paid", "type": "Event", "eventName": "Paid"}, {"type": "WriteLine", "text": "thanks"}]}');

-- What is over: two orders, a nap, one that was cancelled, and a dead letter.
SELECT count(wf_start('order')) FROM generate_series(1, 2);
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Paid');
SELECT * FROM wf_define('{"definitionId": "nap", "root": {"id": "nap", "type": "Delay", "timeSpan": "00:00:01"}}');
SELECT wf_start('nap') IS NOT NULL AS started;
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Paid"}', correlation_id => 'o1', keep_for => '1 hour');
SET workflow.now = '2030-01-01 02:00:00+00';
SELECT wf_run_due();
SELECT wf_start('nap') AS instance \gset
SELECT wf_cancel(:'instance');
SELECT count(*) FROM workflow.dead_letters;
SET workflow.now = '2030-01-01 03:00:00+00';

-- Retention. By default everything stays, except runs of scheduled commands.
SHOW workflow.retention;
SHOW workflow.schedule_run_retention;
SELECT * FROM wf_define('{"definitionId": "short", "options": {"retention": "7 days"}, "root": {"type": "WriteLine", "text": "short"}}');
SELECT * FROM wf_define('{"definitionId": "long", "options": {"retention": "1 year"}, "root": {"type": "WriteLine", "text": "long"}}');
SELECT * FROM wf_define('{"definitionId": "fault", "root": {"type": "Fault", "message": "no"}}');
SET client_min_messages = error;
SELECT count(wf_start(definition)) FROM unnest('{short,long,fault,order}'::text[]) AS definition;
RESET client_min_messages;
SELECT wf_schedule('tick', '@daily', 'SELECT 1') IS NOT NULL AS scheduled, wf_schedule('fail', '@daily', 'SELECT 1 / 0') IS NOT NULL AS scheduled;
CREATE VIEW pg_temp.kept AS SELECT definition_id, sub_status, count(*) FROM workflow.instance_list GROUP BY definition_id, sub_status ORDER BY definition_id COLLATE "C", sub_status;
SET client_min_messages = error;
SELECT count(wf_run_due()) FROM generate_series(2, 6) AS day, set_config('workflow.now', (timestamptz '2030-01-01' + (day - 1) * interval '1 day')::text, false);
RESET client_min_messages;
SELECT * FROM pg_temp.kept;
SELECT wf_alter_schedule('tick', active => false) IS NOT NULL AS paused, wf_alter_schedule('fail', active => false) IS NOT NULL AS paused;

-- A definition may say how long its finished instances are kept; a week later they are gone, with their journal.
SET workflow.now = '2030-01-08 06:00:00+00';
SELECT wf_run_due();
SELECT * FROM pg_temp.kept;
SELECT count(*) FROM workflow.execution_log AS l WHERE NOT EXISTS (SELECT FROM workflow.instances AS i WHERE i.id = l.instance_id);

-- Runs of commands go after thirty days, failed ones as well; the last one of a schedule stays.
SET workflow.now = '2030-02-03 12:00:00+00';
SELECT wf_run_due();
SELECT name, scheduled_at, status FROM workflow.schedule_runs ORDER BY scheduled_at, name;
SET workflow.now = '2030-02-20 12:00:00+00';
SELECT wf_run_due();
SELECT name, scheduled_at, status FROM workflow.schedule_runs ORDER BY scheduled_at, name;
SELECT name, last_status FROM workflow.schedules ORDER BY name;

-- workflow.retention is for all that do not say otherwise, and for dead letters. What waits or is faulted stays.
SET workflow.retention = '1min';
SET workflow.now = '2030-02-20 13:00:00+00';
SELECT wf_run_due();
SELECT * FROM pg_temp.kept;
SELECT count(*) FROM workflow.dead_letters;
SET workflow.now = '2031-02-20 13:00:00+00';
SELECT wf_run_due();
SELECT * FROM pg_temp.kept;

-- Versions that were deleted go when the last instance of them does.
SELECT wf_delete_definition('short');
SELECT count(*) FROM workflow.definitions WHERE definition_id = 'short';
\i tests/regress/include/deleted.sql
CALL pg_temp.await_removal('short');
SELECT count(*) FROM workflow.definitions WHERE definition_id = 'short';

-- Each role removes its own only.
SET ROLE regress_replay_eve;
SELECT * FROM wf_define('{"definitionId": "hers", "root": {"type": "WriteLine", "text": "hers"}}');
SELECT wf_start('hers') IS NOT NULL AS started;
RESET ROLE;
SELECT wf_start('long') IS NOT NULL AS started;
SELECT wf_run_due();
SET workflow.now = '2033-02-20 13:00:00+00';
SET ROLE regress_replay_eve;
SELECT wf_run_due();
RESET ROLE;
SELECT * FROM pg_temp.kept;

-- Batches are small, and the next call goes on where the last one ended.
SELECT count(wf_start('order', correlation_id => 'x')) FROM generate_series(1, 2500);
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Paid', correlation_id => 'x');
SET workflow.now = '2034-02-20 13:00:00+00';
SELECT count(wf_run_due()) FROM generate_series(1, 5);
SELECT * FROM pg_temp.kept;

-- Mistakes.
SELECT * FROM wf_validate('{"definitionId": "x", "options": {"retention": "soon"}, "root": []}');
SELECT * FROM wf_validate('{"definitionId": "x", "options": {"retention": "-1 day"}, "root": []}');
SELECT * FROM wf_validate('{"definitionId": "x", "options": {"retention": 30}, "root": []}');
SELECT * FROM wf_check();
