-- wf_enqueue_bookmark resumes whatever matches now, or keeps the stimulus until a matching bookmark appears or it expires.
-- An argument that is left out matches anything.
SELECT * FROM wf_define('{"definitionId": "approve", "variables": {"Decision": null}, "root": [
    {"id": "approval", "type": "Event", "eventName": "Approve", "result": {"var": "Decision"}}]}');
SELECT * FROM wf_define('{"definitionId": "task", "root": [{"id": "do", "type": "RunTask", "taskName": "Do it"}]}');

-- By name and stimulus. The name resolves like a type in a definition; the letter case of the keys does not count.
SELECT count(wf_start('approve', correlation_id => 'c' || n)) FROM generate_series(1, 8) AS n;
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed, queued_id
  FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Approve"}', correlation_id => 'c1', input => '{"by": "name"}');
SELECT cardinality(resumed) AS resumed FROM wf_enqueue_bookmark(name => 'Elsa.Event', stimulus => '{"eventname": "Approve"}', correlation_id => 'c2', input => '{"by": "full name"}');

-- By activity and correlation id: what a caller knows who does not know the engine.
SELECT cardinality(resumed) AS resumed FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'c3', input => '{"by": "activity id"}');
SELECT cardinality(resumed) AS resumed FROM wf_enqueue_bookmark(activity_type => 'Event', correlation_id => 'c4', input => '{"by": "activity type"}');

-- By correlation id alone, by instance, by bookmark, by the execution of an activity.
SELECT cardinality(resumed) AS resumed FROM wf_enqueue_bookmark(correlation_id => 'c5', input => '{"by": "correlation id"}');
SELECT cardinality(r.resumed) AS resumed FROM workflow.waiting AS w, wf_enqueue_bookmark(instance_id => w.instance, input => '{"by": "instance"}') AS r WHERE w.correlation_id = 'c6';
SELECT cardinality(r.resumed) AS resumed FROM workflow.waiting AS w, wf_enqueue_bookmark(bookmark_id => w.bookmark_id, input => '{"by": "bookmark"}') AS r WHERE w.correlation_id = 'c7';
SELECT cardinality(r.resumed) AS resumed FROM workflow.open_bookmarks AS b, wf_enqueue_bookmark(activity_instance_id => b.activity_instance_id, input => '{"by": "execution"}') AS r WHERE b.correlation_id = 'c8';
SELECT correlation_id, sub_status, variables FROM workflow.instance_list WHERE definition_id = 'approve' ORDER BY correlation_id;

-- By hash: that of name and stimulus, as Elsa computes it.
SELECT count(wf_start('approve', correlation_id => 'h')) AS started;
SELECT cardinality(r.resumed) AS resumed FROM workflow.open_bookmarks AS b, wf_enqueue_bookmark(hash => b.hash, correlation_id => 'h') AS r WHERE b.correlation_id = 'h';

-- Everything that matches goes on, in order of instance.
SELECT count(wf_start('approve', correlation_id => 'all')) AS started FROM generate_series(1, 3);
SELECT cardinality(resumed) AS resumed FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'all');

-- An enqueue never starts anything.
SELECT * FROM wf_define('{"definitionId": "trigger", "root": [{"type": "Event", "eventName": "Approve", "canStartWorkflow": true}]}');
SELECT started, cardinality(resumed) AS resumed, queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Approve"}', correlation_id => 'nobody yet');

-- No instance waits yet: it is kept, and delivered in the transaction in which the bookmark appears, once.
SELECT wf_start('approve', correlation_id => 'nobody yet') AS first \gset
SELECT wf_start('approve', correlation_id => 'nobody yet') AS second \gset
SELECT sub_status FROM workflow.instance_list WHERE instance_id IN (:'first', :'second') ORDER BY instance_id = :'second';
SELECT wf_cancel(:'second');

-- Items are met oldest first, one per bookmark.
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'two', input => '"first"');
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'two', input => '"second"');
SELECT wf_start('approve', correlation_id => 'two') AS first \gset
SELECT wf_start('approve', correlation_id => 'two') AS second \gset
SELECT variables FROM workflow.instance_list WHERE instance_id IN (:'first', :'second') ORDER BY instance_id = :'second';

-- A stimulus of null matches any payload.
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(name => 'RunTask', stimulus => NULL, correlation_id => 'any');
SELECT sub_status FROM wf_run('task', correlation_id => 'any');

-- keep_for: not at all, for a while, for ages. An expired item is never delivered, whichever session looks first.
SELECT queued_id FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'not kept', keep_for => '0');
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'for ages', keep_for => '1000 years');
SET workflow.now = '2030-01-01 00:00:00+00';
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'an hour', keep_for => '1 hour');
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'default');
SELECT correlation_id, expires_at FROM workflow.bookmark_queue WHERE correlation_id IN ('for ages', 'an hour', 'default') ORDER BY correlation_id;
SET workflow.now = '2030-01-01 01:00:00+00';
SELECT sub_status FROM wf_run('approve', correlation_id => 'an hour');
SELECT sub_status FROM wf_run('approve', correlation_id => 'default');
SET workflow.now = '2999-01-01 00:00:00+00';
SELECT sub_status FROM wf_run('approve', correlation_id => 'for ages');

-- What expired is a dead letter once the sweep has seen it.
SELECT wf_run_due();
SELECT correlation_id, reason FROM workflow.dead_letters;
SELECT count(*) AS queued FROM workflow.bookmark_queue;
RESET workflow.now;

-- workflow.queue_ttl is the default.
SET workflow.queue_ttl = '5min';
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'ttl');
SELECT expires_at - created_at AS kept_for FROM workflow.bookmark_queue WHERE correlation_id = 'ttl';
RESET workflow.queue_ttl;

-- Rolled back, it was never sent.
BEGIN;
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_id => 'approval', correlation_id => 'undone');
ROLLBACK;
SELECT sub_status FROM wf_run('approve', correlation_id => 'undone');

-- Errors: no filter, filters that match nothing ever, arguments that make no sense.
SELECT * FROM wf_enqueue_bookmark();
\echo :SQLSTATE
SELECT * FROM wf_enqueue_bookmark(input => '{}', keep_for => '1 day');
\echo :SQLSTATE
SELECT * FROM wf_enqueue_bookmark(stimulus => '{"EventName": "Approve"}');
\echo :SQLSTATE
SELECT * FROM wf_enqueue_bookmark(hash => '\x00');
\echo :SQLSTATE
SELECT * FROM wf_enqueue_bookmark(name => '');
\echo :SQLSTATE
SELECT * FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"Name": "Approve"}');
\echo :SQLSTATE
SELECT * FROM wf_enqueue_bookmark(activity_id => 'approval', keep_for => '-1 day');
\echo :SQLSTATE
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(instance_id => '01900000-0000-7000-8000-00000000dead');
\echo :SQLSTATE
SELECT * FROM wf_check();

-- What waits for a bookmark that its sender may not resume stays as it is: it is not taken out and put back.
CREATE ROLE regress_enqueue_bob;
SELECT wf_grant_usage('regress_enqueue_bob');
SELECT wf_define('{"definitionId": "not his", "root": {"id": "private", "type": "Event", "eventName": "Private"}}') \g /dev/null
SELECT wf_start('not his') \g /dev/null
SET ROLE regress_enqueue_bob;
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(activity_id => 'private', keep_for => '1 day');
RESET ROLE;
SELECT xmin AS writer FROM workflow.bookmark_queue WHERE activity_id = 'private' \gset
SELECT wf_run_due();
SELECT xmin = :'writer' AS untouched FROM workflow.bookmark_queue WHERE activity_id = 'private';
DELETE FROM workflow.bookmark_queue WHERE activity_id = 'private';
SELECT wf_revoke_usage('regress_enqueue_bob');

-- Two kept events for two activities of one burst: the older one is delivered first, and cancels the wait for the other.
SELECT wf_define('{"definitionId": "either", "root": {"type": "Fork", "joinMode": "WaitAny", "branches": [
    {"id": "first", "type": "Event", "eventName": "First"}, {"id": "second", "type": "Event", "eventName": "Second"}]}}') \g /dev/null
SELECT started, resumed FROM wf_publish_event('Second', correlation_id => 'either', keep_for => '1 day');
SELECT started, resumed FROM wf_publish_event('First', correlation_id => 'either', keep_for => '1 day');
SELECT wf_start('either', correlation_id => 'either') AS either \gset
SELECT activity, event FROM workflow.journal WHERE instance_id = :'either' AND event IN ('Resumed', 'Canceled') ORDER BY seq, number;
SELECT stimulus FROM workflow.bookmark_queue WHERE correlation_id = 'either';
