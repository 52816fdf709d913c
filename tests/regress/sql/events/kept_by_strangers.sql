-- What a stranger keeps for an event costs a bookmark that waits for it one look, however much it is. Counted are the rows
-- of the queue that are read, not the time.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE ROLE kept_owner;
CREATE ROLE kept_stranger;
SELECT wf_grant_usage('kept_owner'), wf_grant_usage('kept_stranger');

SET ROLE kept_owner;
SELECT wf_define('{"definitionId": "patient", "root": [{"id": "wait", "type": "Event", "eventName": "Go"}, {"id": "again", "type": "Event", "eventName": "Go"}]}');
-- security.md#what-makes-others-wait: a new bookmark costs one look for each role that keeps stimuli, however many those are
SET ROLE kept_stranger;
SELECT count(wf_publish_event('Go', keep_for => '1 day')) FROM generate_series(1, 1000);

SET ROLE kept_owner;
BEGIN;
SELECT sub_status FROM wf_run('patient');
RESET ROLE;
SELECT pg_stat_get_xact_tuples_fetched('workflow.bookmark_queue'::regclass) < 20 AS passed_over;
COMMIT;

-- What one's own role keeps is found behind it, oldest first.
SET ROLE kept_owner;
SELECT cardinality(resumed), queued_id IS NOT NULL AS kept FROM wf_publish_event('Go', '2', instance_id => '01900000-0000-7000-8000-0000000000aa', keep_for => '1 day');
SELECT cardinality(resumed), queued_id IS NOT NULL AS kept FROM wf_publish_event('Go', '3', correlation_id => 'c', keep_for => '1 day');
SELECT status FROM wf_run('patient', instance_id => '01900000-0000-7000-8000-0000000000aa', correlation_id => 'c');

RESET ROLE;
TRUNCATE workflow.bookmark_queue, workflow.instances, workflow.bookmarks, workflow.definitions;
SELECT wf_revoke_usage('kept_owner'), wf_revoke_usage('kept_stranger');
DROP ROLE kept_owner, kept_stranger;
