-- wf_replay gives what was given up another chance, once: a stimulus that expired, a bookmark that could not be fired.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_replay_eve LOGIN;
SELECT wf_grant_usage('regress_replay_eve');
SELECT * FROM wf_define('{"definitionId": "order", "root": [{"id": "paid", "type": "Event", "eventName": "Paid"}, {"type": "WriteLine", "text": "thanks"}]}');

-- A stimulus that no instance wanted expires and is a dead letter.
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Paid"}', correlation_id => 'o1', keep_for => '1 hour');
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Paid"}', correlation_id => 'o2', keep_for => '1 hour');
SET workflow.now = '2030-01-01 02:00:00+00';
SELECT wf_run_due();
SELECT reason, correlation_id, stimulus, dead_at, replayed_at FROM workflow.dead_letter_list ORDER BY correlation_id;
SELECT dead_letter_id AS first FROM workflow.dead_letter_list WHERE correlation_id = 'o1' \gset
SELECT dead_letter_id AS second FROM workflow.dead_letter_list WHERE correlation_id = 'o2' \gset

-- Replayed, it is delivered at once if an instance waits for it by now ...
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

-- Only by those who have the rights of its sender; no other role sees it.
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

SELECT * FROM wf_check();
