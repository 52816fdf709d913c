-- What wf_delete_instance takes along: children, stimuli that are kept, dead letters, answers of wf_call. It says so.
SELECT * FROM wf_define('{"definitionId": "letter", "root": {"id": "sign", "type": "RunTask", "taskName": "Sign", "payload": {"object": {"for": "Zelda Zapp"}}}}');
SELECT * FROM wf_define('{"definitionId": "contract", "root": [
    {"id": "send", "type": "ExecuteWorkflow", "workflowDefinitionId": "letter", "waitForCompletion": true, "correlationId": {"js": "getCorrelationId()"}, "input": {"object": {"customer": "Zelda Zapp"}}}]}');

\i tests/regress/include/tables_with.sql

-- An answer of wf_call starts it, so that the answer is kept.
SELECT wf_call('case-1', 'm1', 'start', 'contract', '{"customer": "Zelda Zapp"}') ->> 'instance_id' AS i \gset
SELECT definition_id, sub_status, correlation_id FROM workflow.instance_list ORDER BY instance_id;
-- Stimuli that wait in the queue: for the instance, for a bookmark alone, for the correlation id; and those that have expired.
SET client_min_messages = warning;
SELECT count(queued_id) FROM wf_enqueue_bookmark('Event', '{"EventName": "Late"}', instance_id => :'i', input => '{"for": "Zelda Zapp"}');
SELECT count(queued_id) FROM workflow.open_tasks AS t, wf_claim_task(t.task_id) AS c, wf_enqueue_bookmark(bookmark_id => t.task_id, input => '{"for": "Zelda Zapp"}');
SELECT count(queued_id) FROM wf_publish_event('Later', '{"for": "Zelda Zapp"}', correlation_id => 'case-1', keep_for => '1 day');
SELECT count(queued_id) FROM wf_publish_event('Gone', '{"for": "Zelda Zapp"}', correlation_id => 'case-1', keep_for => '1 us');
SELECT count(queued_id) FROM wf_enqueue_bookmark('Event', '{"EventName": "Lost"}', instance_id => :'i', input => '{"for": "Zelda Zapp"}', keep_for => '1 us');
SELECT wf_run_due();
SELECT reason, name FROM workflow.dead_letter_list ORDER BY stimulus::text;
SELECT * FROM tables_with('Zelda Zapp');
SELECT * FROM tables_with('case-1');
RESET client_min_messages;
SELECT wf_delete_instance(:'i');
SELECT * FROM tables_with('Zelda Zapp');
SELECT * FROM tables_with('case-1');
-- Only the audit says that it was there. No other table that has a column for an instance has a row of one that is gone.
SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'instance_id'
WHERE c.relnamespace = 'workflow'::regnamespace AND c.relkind = 'r'
  AND (xpath('count(//row)', query_to_xml(format('SELECT FROM workflow.%I', c.relname), false, false, '')))[1]::text <> '0' ORDER BY 1;

-- What is for the correlation id stays as long as another instance has it.
SELECT wf_start('letter', correlation_id => 'case-2') AS first, wf_start('letter', correlation_id => 'case-2') AS second \gset
SELECT count(queued_id) FROM wf_publish_event('Later', correlation_id => 'case-2', keep_for => '1 day');
SELECT wf_delete_instance(:'first');
SELECT wf_delete_instance(:'second');

-- Children of definitions of other roles, and what other roles have sent, stay.
CREATE ROLE regress_cascade_owner;
CREATE ROLE regress_cascade_other;
SELECT wf_grant_usage('regress_cascade_owner'), wf_grant_usage('regress_cascade_other') \g /dev/null
SET ROLE regress_cascade_other;
SELECT wf_define('{"definitionId": "foreign", "root": {"type": "RunTask", "taskName": "Check"}}') \g /dev/null
SELECT wf_grant('foreign', 'regress_cascade_owner', '{start}');
SET ROLE regress_cascade_owner;
SELECT wf_define('{"definitionId": "mixed", "root": {"type": "Parallel", "activities": [
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "foreign", "waitForCompletion": true},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "own", "waitForCompletion": true}]}}') \g /dev/null
SELECT wf_define('{"definitionId": "own", "root": {"type": "RunTask", "taskName": "Check"}}') \g /dev/null
SELECT wf_start('mixed', correlation_id => 'case-3') AS i \gset
SELECT count(queued_id) FROM wf_publish_event('Mine', correlation_id => 'case-3', keep_for => '1 day');
SET ROLE regress_cascade_other;
SELECT count(queued_id) FROM wf_publish_event('Theirs', correlation_id => 'case-3', keep_for => '1 day');
SET ROLE regress_cascade_owner;
SELECT wf_delete_instance(:'i');
RESET ROLE;
SELECT definition_id, sub_status FROM workflow.instances ORDER BY 1;
SELECT stimulus FROM workflow.bookmark_queue;

-- A child with work to compensate keeps all of them, unless it is deleted by force.
SELECT wf_delete_instance(instance_id) FROM workflow.instance_list \g /dev/null
SELECT wf_define('{"definitionId": "trip", "root": [
    {"id": "book", "type": "Compensable", "body": {"type": "WriteLine", "text": "booked"}, "compensation": {"type": "WriteLine", "text": "cancelled"}},
    {"type": "RunTask", "taskName": "Travel"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "tour", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "trip", "waitForCompletion": true}}') \g /dev/null
SELECT wf_start('tour') AS i \gset
SELECT wf_delete_instance(:'i');
\echo :SQLSTATE
SELECT definition_id, sub_status FROM workflow.instances ORDER BY 1;
SELECT wf_delete_instance(:'i', force => true);
SELECT count(*) FROM workflow.instances;

-- Retention removes what names an instance with it, whatever its own retention is.
SET workflow.now = '2030-01-01 00:00:00+00';
SELECT wf_define('{"definitionId": "brief", "options": {"retention": "7 days"}, "root": {"type": "Event", "eventName": "Go"}}') \g /dev/null
SELECT wf_start('brief', correlation_id => 'case-4') AS i \gset
SELECT wf_pause(:'i', 'asked for');
SELECT count(queued_id) FROM wf_enqueue_bookmark('Event', '{"EventName": "Lost"}', instance_id => :'i', keep_for => '1 day');
SELECT wf_cancel(:'i');
SET workflow.now = '2030-01-03 00:00:00+00';
SELECT wf_run_due() \g /dev/null
CREATE VIEW pg_temp.left_over AS
    SELECT (SELECT count(*) FROM workflow.instances) AS instances, (SELECT count(*) FROM workflow.dead_letters) AS dead_letters, (SELECT count(*) FROM workflow.pauses) AS pauses;
SELECT * FROM pg_temp.left_over;
SET workflow.now = '2030-01-09 00:00:00+00';
SELECT wf_run_due() \g /dev/null
SELECT * FROM pg_temp.left_over;

-- security.md#who-may-call-what: what other roles have sent costs nothing: no row of theirs is read
RESET workflow.now;
BEGIN;
CREATE TEMP TABLE foreign_rows AS SELECT o.id AS sender, gen_random_uuid() AS id, n FROM workflow.owners AS o, generate_series(1, 4000) AS n WHERE o.name = 'regress_cascade_other';
INSERT INTO workflow.bookmark_queue (id, shape, match_key, sender, created_at, expires_at, bookmark_id, correlation_id)
SELECT id, 1, n, sender, now(), 'infinity', CASE WHEN n % 2 = 0 THEN id END, CASE WHEN n % 2 = 1 THEN 'case-of-' || n END FROM foreign_rows;
INSERT INTO workflow.dead_letters (id, reason, attempts, sender, created_at, dead_at, bookmark_id, correlation_id)
SELECT id, 'Expired', 1, sender, now(), now(), CASE WHEN n % 2 = 0 THEN id END, CASE WHEN n % 2 = 1 THEN 'case-of-' || n END FROM foreign_rows;
INSERT INTO workflow.messages (owner, key, message, content, answer, called_at) SELECT sender, 'case-of-' || n, 'm', '', '{}', now() FROM foreign_rows;
SELECT wf_start('own', correlation_id => 'case-5') AS i \gset
SELECT wf_delete_instance(:'i');
SELECT relname, seq_tup_read + idx_tup_fetch < 1000 AS few FROM pg_stat_xact_user_tables
WHERE schemaname = 'workflow' AND relname IN ('bookmark_queue', 'dead_letters', 'messages') ORDER BY 1;
ROLLBACK;
SELECT * FROM wf_check();
DROP FUNCTION tables_with;
DROP OWNED BY regress_cascade_owner, regress_cascade_other;
