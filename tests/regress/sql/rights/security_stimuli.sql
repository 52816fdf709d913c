-- What Mallory sends reaches only what she may resume, now and later, also where a superuser's event made her workflow send it.
\i tests/regress/include/security.sql

\connect - regress_security_alice
SELECT * FROM wf_define('{"definitionId": "alice", "root": [{"id": "go", "type": "Event", "eventName": "Go"}, {"id": "task", "type": "RunTask", "taskName": "Secret"}]}');
SELECT wf_start('alice', '{"secret": "ahem"}', correlation_id => 'a1', instance_id => '01900000-0000-7000-8000-0000000000a1');
SELECT bookmark_id AS bookmark FROM workflow.waiting \gset
\connect - regress_security_mallory

-- security.md#who-may-receive-a-stimulus: a stimulus reaches only what its sender may start or resume, now and later
-- Stimuli: she may send them, but they reach only what she may resume, now and later.
SELECT * FROM wf_publish_event('Go');
SELECT * FROM wf_enqueue_bookmark(correlation_id => 'a1', keep_for => '0');
SELECT * FROM wf_enqueue_bookmark(bookmark_id => :'bookmark', keep_for => '0');
SELECT queued_id IS NOT NULL AS queued FROM wf_enqueue_bookmark(name => 'Event', stimulus => '{"EventName": "Go"}');
SELECT * FROM wf_define('{"definitionId": "speaker", "root": {"type": "PublishEvent", "eventName": "Go"}}');
SELECT sub_status FROM wf_run('speaker');
-- The id of another role's instance is taken; that is all she learns.
SELECT wf_start('speaker', instance_id => '01900000-0000-7000-8000-0000000000a1');
\echo :SQLSTATE
\connect - regress_security_alice
SELECT sub_status, activity_id FROM workflow.instance_list AS i JOIN workflow.open_bookmarks AS b ON b.instance_id = i.instance_id;
SELECT sub_status FROM wf_run('alice', correlation_id => 'a2');
SELECT wf_run_due() >= 0 AS swept;
SELECT activity FROM workflow.waiting ORDER BY correlation_id;

\connect - postgres
SELECT wf_grant_events('regress_security_mallory');
\connect - regress_security_mallory

-- security.md#who-may-receive-a-stimulus: the sender of what an instance publishes is its owner, whose call made it run says nothing
-- An event that Mallory's workflow publishes is hers, even where the superuser's event made it run.
SELECT * FROM wf_define('{"definitionId": "relay", "root": [{"id": "wait", "type": "Event", "eventName": "Relay"}, {"type": "PublishEvent", "eventName": "Go"}]}');
SELECT * FROM wf_define('{"definitionId": "relay2", "root": [{"id": "start", "type": "Event", "eventName": "Relay", "canStartWorkflow": true}, {"type": "PublishEvent", "eventName": "Go"}]}');
SELECT wf_start('relay') IS NOT NULL AS started;
\connect - postgres
SELECT cardinality(started) AS started, cardinality(resumed) AS resumed FROM wf_publish_event('Relay');
SELECT activity, correlation_id FROM workflow.waiting WHERE definition_id = 'alice' ORDER BY correlation_id;
