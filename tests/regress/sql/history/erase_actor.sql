-- wf_erase(actor => …) puts a pseudonym in the place of a person: afterwards no table has the name.
SET client_min_messages = warning;
\i tests/regress/include/tables_with.sql
CREATE ROLE regress_erase_app;
SELECT wf_grant_usage('regress_erase_app') \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_erase_app;
SET ROLE regress_erase_app;
SELECT * FROM wf_define('{"definitionId": "leave", "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Ask", "assignee": {"input": "boss"}, "candidates": ["zelda@example.com", "bob"], "payload": {"object": {"boss": {"input": "boss"}}}},
    {"type": "SetOutput", "outputName": "By", "outputValue": {"input": "boss"}}]}');
SELECT * FROM wf_define('{"definitionId": "quiet", "options": {"journal": "none"}, "root": {"id": "ask", "type": "RunTask", "taskName": "Ask"}}');

-- Zelda starts, is assigned to, answers and cancels; she sends, calls and schedules.
BEGIN;
SET LOCAL workflow.actor = 'zelda@example.com';
SELECT wf_start('leave', '{"boss": "zelda@example.com"}') AS ended \gset
SELECT wf_start('leave', '{"boss": "bob"}') AS running \gset
SELECT wf_start('quiet') AS quiet \gset
SELECT task_id FROM workflow.open_tasks WHERE instance_id = :'running' \gset
SELECT wf_assign_task(:'task_id', 'zelda@example.com') \g /dev/null
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '{"approved by": "zelda@example.com"}') WHERE t.instance_id = :'ended';
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'quiet';
SELECT count(queued_id) FROM wf_publish_event('Later', keep_for => '1 day');
SELECT count(queued_id) FROM wf_publish_event('Gone', '{"from": "zelda@example.com"}', keep_for => '1 us');
SELECT wf_call('case', 'm', 'start', 'leave', '{"boss": "zelda@example.com"}') ->> 'instance_id' AS called \gset
SELECT wf_schedule_workflow('weekly', '0 3 * * 1', 'leave') \g /dev/null
COMMIT;
SELECT wf_run_due() \g /dev/null
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'called';
SELECT token FROM wf_claim_task(:'task_id', worker => 'zelda@example.com') \gset
RESET ROLE;
SELECT * FROM tables_with('zelda@example.com');

-- Of what runs, the acts and assignments have the pseudonym; a stimulus that waits keeps her. The definition, which names her, is for its author.
SET ROLE regress_erase_app;
SELECT * FROM wf_erase(actor => 'zelda@example.com', pseudonym => 'erased-1');
RESET ROLE;
SELECT * FROM tables_with('zelda@example.com');
SELECT started_actor, input, output FROM workflow.instances ORDER BY id;
SELECT completed_actor, assignee, candidates, payload, result FROM workflow.tasks ORDER BY id;
SELECT assignee, candidates, worker FROM workflow.bookmarks ORDER BY id;
SELECT DISTINCT event, actor, data FROM workflow.journal WHERE actor IS NOT NULL AND event IN ('Assigned', 'Completed', 'Workflow started') ORDER BY 1, 2;
SELECT instance_id = :'quiet' AS quiet, kind, actor FROM workflow.audit WHERE actor IS NOT NULL AND instance_id = :'quiet' ORDER BY at;
SELECT actor FROM workflow.bookmark_queue UNION ALL SELECT actor FROM workflow.dead_letters;
SELECT made_actor FROM workflow.triggers WHERE schedule_name = 'weekly';
SELECT kind, actor, detail -> 'pseudonym' AS pseudonym FROM workflow.audit_log WHERE kind ~ '^erase' ORDER BY at;
-- The instance that runs can be answered.
SET ROLE regress_erase_app;
SELECT wf_release_task(:'task_id', :'token') \g /dev/null
SELECT sub_status FROM wf_override_task(:'task_id', 'she has left');
-- The stimulus that waits keeps her until it is delivered. Then nothing is left.
SELECT wf_define('{"definitionId": "later", "root": {"type": "Event", "eventName": "Later"}}') \g /dev/null
SELECT wf_start('later') \g /dev/null
SELECT * FROM wf_erase(actor => 'zelda@example.com');
SELECT * FROM wf_erase(actor => 'zelda@example.com');

-- An instance that runs keeps her in its input and variables, and is counted, until it has ended.
SELECT wf_start('leave', '{"boss": "zelda@example.com"}') AS running \gset
SELECT * FROM wf_erase(actor => 'zelda@example.com');
SELECT * FROM wf_erase(actor => 'zelda@example.com');
SELECT wf_cancel(:'running');
SELECT * FROM wf_erase(actor => 'zelda@example.com');
RESET ROLE;
SELECT * FROM tables_with('zelda@example.com');
SET ROLE regress_erase_app;

-- In batches, all with one pseudonym that the session makes. Whoever erases himself is not named by that either.
BEGIN;
SET LOCAL workflow.actor = 'yan';
SELECT count(wf_start('quiet')) FROM generate_series(1, 250);
COMMIT;
SELECT table_name, erased FROM wf_set_actor('yan'), wf_erase(actor => 'yan', max => 100);
SELECT table_name, erased FROM wf_set_actor('yan'), wf_erase(actor => 'yan', max => 100);
SELECT table_name, erased FROM wf_set_actor('yan'), wf_erase(actor => 'yan', max => 100);
SELECT table_name, erased FROM wf_set_actor('yan'), wf_erase(actor => 'yan', max => 100);
SELECT count(*), count(DISTINCT started_actor) AS names, bool_and(started_actor ~ '^erased-[0-9a-f]{32}$') AS made FROM workflow.instance_list WHERE definition_id = 'quiet' AND started_actor <> 'erased-1';
RESET ROLE;
SELECT * FROM tables_with('"yan"');

-- security.md#who-may-call-what: acts on definitions of other roles stay, and are counted where the caller may see them
CREATE ROLE regress_erase_stranger;
SELECT wf_grant_usage('regress_erase_stranger') \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_erase_stranger;
SET ROLE regress_erase_app;
SELECT wf_grant('quiet', 'regress_erase_stranger', '{start}');
BEGIN;
SET LOCAL workflow.actor = 'xenia';
SELECT wf_start('quiet') \g /dev/null
SET LOCAL ROLE regress_erase_stranger;
SELECT wf_start('quiet') \g /dev/null
COMMIT;
SET ROLE regress_erase_stranger;
SELECT * FROM wf_erase(actor => 'xenia');
RESET ROLE;
SELECT * FROM tables_with('xenia');
SELECT * FROM wf_erase(actor => 'xenia') \g /dev/null
SELECT * FROM tables_with('xenia');
SELECT problem FROM wf_check();
DROP FUNCTION tables_with;
REVOKE SET ON PARAMETER workflow.actor FROM regress_erase_app, regress_erase_stranger;
