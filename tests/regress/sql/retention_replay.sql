-- What was given up gets another chance (wf_replay); what has long been over goes (retention).
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_replay_eve LOGIN;
SELECT wf_grant_usage('regress_replay_eve');
SELECT * FROM wf_define('{"definitionId": "order", "root": [{"id": "paid", "type": "Event", "eventName": "Paid"}, {"type": "WriteLine", "text": "thanks"}]}');

-- A stimulus that nobody wanted expires and is a dead letter.
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Paid"}', correlation_id => 'o1', keep_for => '1 hour');
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Paid"}', correlation_id => 'o2', keep_for => '1 hour');
SET workflow.now = '2030-01-01 02:00:00+00';
SELECT wf_run_due();
SELECT reason, correlation_id, stimulus, dead_at, replayed_at FROM workflow.dead_letter_list ORDER BY correlation_id;
SELECT dead_letter_id AS first FROM workflow.dead_letter_list WHERE correlation_id = 'o1' \gset
SELECT dead_letter_id AS second FROM workflow.dead_letter_list WHERE correlation_id = 'o2' \gset

-- Replayed, it is delivered at once if somebody waits for it by now ...
SELECT wf_start('order', correlation_id => 'o1') AS instance \gset
SELECT wf_replay(:'first') AS delivered;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';

-- ... and else waits in the queue, for as long as workflow.queue_ttl says.
SELECT wf_replay(:'second') AS delivered;
SELECT correlation_id, attempts, expires_at FROM workflow.bookmark_queue;
SELECT sub_status FROM wf_run('order', correlation_id => 'o2');
SELECT correlation_id, replayed_at FROM workflow.dead_letter_list ORDER BY correlation_id;

-- Once.
SELECT wf_replay(:'first');
\echo :SQLSTATE
SELECT wf_replay('01900000-0000-7000-8000-00000000dead');
\echo :SQLSTATE
SELECT wf_replay(NULL);
\echo :SQLSTATE

-- Only by those who have the rights of its sender; nobody else sees it.
SET ROLE regress_replay_eve;
SELECT count(*) FROM workflow.dead_letter_list;
SELECT wf_replay(:'second');
\echo :SQLSTATE
RESET ROLE;

-- A bookmark that could not be fired three times is a dead letter, too, and the bookmark waits. Replayed, it is due again.
SELECT * FROM wf_define('{"definitionId": "nap", "root": {"id": "nap", "type": "Delay", "timeSpan": "00:00:01"}}');
SELECT wf_start('nap') AS instance \gset
INSERT INTO workflow.dead_letters (id, reason, sender, attempts, created_at, dead_at, bookmark_id, instance_id, due_at, last_error)
    SELECT gen_random_uuid(), 'Failed', i.owner, 3, b.created_at, '2030-01-01 02:00:00+00', b.id, i.id, b.due_at, 'out of luck' FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id WHERE i.id = :'instance';
UPDATE workflow.bookmarks SET due_at = NULL, attempts = 3 WHERE instance_id = :'instance';
SET workflow.now = '2030-01-01 03:00:00+00';
SELECT wf_run_due();
SELECT reason, due_at, last_error, wf_replay(dead_letter_id) AS delivered FROM workflow.dead_letter_list WHERE instance_id = :'instance';
SELECT due_at, attempts FROM workflow.bookmarks WHERE instance_id = :'instance';
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';

-- If the instance has gone on without it, there is nothing to replay.
SELECT wf_start('nap') AS instance \gset
INSERT INTO workflow.dead_letters (id, reason, sender, attempts, created_at, dead_at, bookmark_id, instance_id, due_at, last_error)
    SELECT '01900000-0000-7000-8000-00000000beef', 'Failed', i.owner, 3, b.created_at, '2030-01-01 02:00:00+00', b.id, i.id, b.due_at, 'out of luck' FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id WHERE i.id = :'instance';
SELECT wf_cancel(:'instance');
SELECT wf_replay('01900000-0000-7000-8000-00000000beef');
\echo :SQLSTATE
DELETE FROM workflow.dead_letters WHERE id = '01900000-0000-7000-8000-00000000beef';

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
SET workflow.now = '2031-02-20 13:02:00+00';
SELECT wf_run_due();
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

-- As long as can be said is for ever.
SELECT definition_id FROM wf_define('{"definitionId": "for ever", "options": {"retention": "290000 years"}, "root": {"type": "WriteLine", "text": "kept"}}');
SELECT wf_start('for ever') IS NOT NULL AS started;
SET workflow.now = '2035-02-20 13:00:00+00';
SELECT wf_run_due();
SELECT count(*) FROM workflow.instances WHERE definition_id = 'for ever';

-- Mistakes.
SELECT * FROM wf_validate('{"definitionId": "x", "options": {"retention": "soon"}, "root": []}');
SELECT * FROM wf_validate('{"definitionId": "x", "options": {"retention": "-1 day"}, "root": []}');
SELECT * FROM wf_validate('{"definitionId": "x", "options": {"retention": 30}, "root": []}');
SELECT * FROM wf_check();
