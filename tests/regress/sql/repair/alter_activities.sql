-- Activities cancelled and scheduled by hand: where the instance goes on, and what is refused.
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
\set SHOW_CONTEXT never

-- A step of a sequence is skipped: its task is cancelled, and the next one runs.
SELECT * FROM wf_define('{"definitionId": "steps", "root": {"id": "steps", "type": "Sequence", "activities": [
    {"id": "a", "type": "RunTask", "taskName": "a"}, {"id": "b", "type": "RunTask", "taskName": "b"}, {"id": "c", "type": "RunTask", "taskName": "c"}]}}');
SELECT wf_start('steps') AS s \gset
SELECT sub_status, jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_cancel_activity(:'s', 'a', reason => 'was done by phone');
SELECT name, status FROM workflow.tasks WHERE instance_id = :'s' ORDER BY id;
-- Back to a step that has run: the sequence goes on from there.
SELECT jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_schedule_activity(:'s', 'a', reason => 'it was not');
SELECT r.sub_status, jsonb_path_query_array(r.bookmarks, '$[*].activity_id') AS waits FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
-- Forward over one; then again what is open: its task is another one.
SELECT jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_schedule_activity(:'s', 'c');
SELECT task_id AS old FROM workflow.open_tasks \gset
SELECT jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_schedule_activity(:'s', 'c');
SELECT wf_complete_task(:'old');
\echo :SQLSTATE
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT line FROM wf_explain(:'s') AS line;
SELECT wf_cancel_activity(:'s', 'c');
\echo :SQLSTATE
SELECT wf_schedule_activity(:'s', 'c');

-- A flowchart follows no connection of a cancelled activity, and a join behind it does not wait for it.
SELECT * FROM wf_define('{"definitionId": "chart", "root": {"id": "chart", "type": "Flowchart", "activities": [
        {"id": "start", "type": "Start"}, {"id": "left", "type": "RunTask", "taskName": "left"}, {"id": "right", "type": "RunTask", "taskName": "right"},
        {"id": "join", "type": "RunTask", "taskName": "join"}],
    "connections": [["start", "left"], ["start", "right"], ["left", "join"], ["right", "join"]]}}');
SELECT wf_start('chart') AS f \gset
SELECT jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_cancel_activity(:'f', 'left');
SELECT r.sub_status, jsonb_path_query_array(r.bookmarks, '$[*].activity_id') AS waits FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
-- An activity that has run runs again, beside what is open.
SELECT jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_schedule_activity(:'f', 'left');
-- The last one that is cancelled completes the chart.
SELECT sub_status FROM wf_cancel_activity(:'f', 'left');
SELECT sub_status FROM wf_cancel_activity(:'f', 'join');

-- One that no connection leads to could not go on.
SELECT * FROM wf_define('{"definitionId": "island", "root": {"id": "chart", "type": "Flowchart", "activities": [
    {"id": "start", "type": "RunTask", "taskName": "a"}, {"id": "alone", "type": "RunTask", "taskName": "b"}]}}');
SELECT wf_start('island') AS i \gset
SELECT wf_schedule_activity(:'i', 'alone');
\echo :SQLSTATE
SELECT wf_cancel(:'i');

-- In token mode, too.
SELECT * FROM wf_define('{"definitionId": "tokens", "options": {"flowchartMode": "token"}, "root": {"id": "chart", "type": "Flowchart", "activities": [
        {"id": "start", "type": "Start"}, {"id": "left", "type": "RunTask", "taskName": "left"}, {"id": "next", "type": "RunTask", "taskName": "next"}],
    "connections": [["start", "left"], ["left", "next"]]}}');
SELECT wf_start('tokens') AS t \gset
SELECT jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_schedule_activity(:'t', 'next');
SELECT jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_cancel_activity(:'t', 'left');
SELECT sub_status FROM wf_cancel_activity(:'t', 'next');

-- A fault: the activity is skipped, or executed again. Its incident is resolved.
CREATE TABLE amounts AS SELECT 0 AS amount;
SELECT * FROM wf_define('{"definitionId": "pay", "options": {"incidentStrategy": "ContinueWithIncidentsStrategy"}, "root": {"id": "both", "type": "Parallel", "activities": [
    {"id": "divide", "type": "Sql", "statement": "SELECT 100 / amount FROM amounts"}, {"id": "ask", "type": "RunTask", "taskName": "ask"}]}}');
SET client_min_messages = error;
SELECT wf_start('pay') AS p \gset
SELECT wf_start('pay') AS q \gset
SELECT sub_status, jsonb_array_length(incidents) AS incidents FROM wf_schedule_activity(:'p', 'divide');
UPDATE amounts SET amount = 10;
SELECT sub_status, jsonb_array_length(incidents) AS incidents FROM wf_schedule_activity(:'p', 'divide');
SELECT sub_status, jsonb_array_length(incidents) AS incidents FROM wf_cancel_activity(:'q', 'divide');
RESET client_min_messages;
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
-- One more branch of a Parallel must complete, then.
SELECT wf_start('pay') AS r \gset
SELECT sub_status, jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_schedule_activity(:'r', 'divide');
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;

-- One execution of several.
SELECT * FROM wf_define('{"definitionId": "each", "root": {"id": "each", "type": "ParallelForEach", "items": [1, 2, 3],
    "body": {"id": "ask", "type": "RunTask", "taskName": "ask", "payload": {"var": "CurrentValue"}}}}');
SELECT wf_start('each') AS e \gset
SELECT activity_instance_id AS first FROM workflow.open_bookmarks WHERE instance_id = :'e' ORDER BY bookmark_id LIMIT 1 \gset
SELECT jsonb_array_length(bookmarks) AS waits FROM wf_cancel_activity(:'e', 'ask', :'first');
SELECT wf_schedule_activity(:'e', 'ask');
\echo :SQLSTATE
SELECT wf_cancel_activity(:'e', 'ask', :'first');
\echo :SQLSTATE
SELECT wf_cancel_activity(:'e', 'each', (SELECT activity_instance_id FROM workflow.open_bookmarks WHERE instance_id = :'e' LIMIT 1));
\echo :SQLSTATE
-- All of them: the loop is over.
SELECT sub_status FROM wf_cancel_activity(:'e', 'ask');

-- What is refused: the whole, what is not there, what is not open, what could not go on.
SELECT * FROM wf_define('{"definitionId": "choice", "root": {"id": "choice", "type": "If", "condition": true,
    "then": {"id": "yes", "type": "RunTask", "taskName": "yes"}, "else": {"id": "no", "type": "RunTask", "taskName": "no"}}}');
SELECT wf_start('choice') AS c \gset
\set VERBOSITY verbose
SELECT wf_cancel_activity(:'c', 'choice');
SELECT wf_cancel_activity(:'c', 'chocie');
SELECT wf_cancel_activity(:'c', 'no');
SELECT wf_schedule_activity(:'c', 'no');
SELECT wf_schedule_activity(:'c', NULL);
SELECT wf_schedule_activity(NULL, 'no');
SELECT wf_cancel_activity('00000000-0000-0000-0000-000000000001', 'no');
\set VERBOSITY default
-- Nothing has changed.
SELECT jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_schedule_activity(:'c', 'yes');
-- An activity by its path, or by its execution alone.
SELECT activity_instance_id AS yes FROM workflow.open_bookmarks WHERE instance_id = :'c' \gset
SELECT sub_status FROM wf_cancel_activity(:'c', NULL, :'yes');

-- What was done can be compensated; a body that is cancelled has not completed.
SELECT * FROM wf_define('{"definitionId": "trip", "root": [
    {"id": "book", "type": "Compensable", "body": {"id": "pay", "type": "RunTask", "taskName": "pay"},
     "compensation": {"type": "WriteLine", "text": "money back"}, "cancellation": {"id": "undo", "type": "WriteLine", "text": "given up"}},
    {"id": "wait", "type": "RunTask", "taskName": "wait"}]}');
SELECT wf_start('trip') AS t \gset
SELECT jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits FROM wf_cancel_activity(:'t', 'pay');
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'t' AND event IN ('Altered', 'Canceled', 'Line', 'Cancellation handled');

-- security.md#whose-rights-sql-in-a-workflow-has: SQL that an alteration sets off has no rights of the caller: it runs in a session of the instance's owner
CREATE ROLE regress_alter_owner; CREATE ROLE regress_alter_boss;
SELECT wf_grant_usage('regress_alter_owner'), wf_grant_usage('regress_alter_boss');
SET ROLE regress_alter_owner;
SELECT * FROM wf_define('{"definitionId": "whose", "variables": {"who": null}, "root": {"id": "chart", "type": "Flowchart", "activities": [
    {"id": "ask", "type": "RunTask", "taskName": "ask"}, {"id": "who", "type": "Sql", "statement": "SELECT current_user::text AS who", "result": {"var": "who"}}], "connections": [["ask", "who"]]}}');
SELECT * FROM wf_define('{"definitionId": "definer", "options": {"security": "definer"}, "variables": {"who": null}, "root": {"id": "chart", "type": "Flowchart", "activities": [
    {"id": "ask", "type": "RunTask", "taskName": "ask"}, {"id": "who", "type": "Sql", "statement": "SELECT current_user::text AS who", "result": {"var": "who"}}], "connections": [["ask", "who"]]}}');
SELECT wf_start('whose') AS w \gset
SELECT wf_start('definer') AS d \gset
SELECT wf_grant('whose', 'regress_alter_boss', '{resume,read}'), wf_grant('definer', 'regress_alter_boss', '{alter,read}');
SET ROLE regress_alter_boss;
SELECT wf_schedule_activity(:'w', 'who');
\echo :SQLSTATE
SELECT wf_cancel_activity(:'w', 'ask');
RESET ROLE;
SELECT wf_grant('whose', 'regress_alter_boss', '{alter}');
SET ROLE regress_alter_boss;
SELECT sub_status FROM wf_schedule_activity(:'w', 'who');
SELECT sub_status FROM wf_schedule_activity(:'d', 'who');
SELECT definition_id, variables FROM workflow.instance_list WHERE instance_id IN (:'w', :'d') ORDER BY 1;
SET ROLE regress_alter_owner;
SELECT wf_run_due();
SELECT definition_id, variables FROM workflow.instance_list WHERE instance_id = :'w';
SET ROLE regress_alter_boss;
-- alter does not retry, resume or cancel.
SELECT wf_cancel(:'d');
\echo :SQLSTATE
RESET ROLE;
SELECT * FROM wf_check();
DROP OWNED BY regress_alter_owner, regress_alter_boss;
DROP ROLE regress_alter_owner; DROP ROLE regress_alter_boss;
