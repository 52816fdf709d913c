-- What people see of workflows that they may not read: what they can start, what they have requested, what they have answered.
SET timezone = 'UTC';
SET workflow.now = '2026-03-01 09:00:00+00';
\pset null '(null)'
CREATE ROLE regress_people_dan;
CREATE ROLE regress_people_ada;
CREATE ROLE regress_people_heads;
CREATE ROLE regress_people_eve;
GRANT regress_people_heads TO regress_people_ada;
SELECT wf_grant_usage(r) FROM unnest(ARRAY['regress_people_dan', 'regress_people_ada', 'regress_people_eve']) AS r \g /dev/null
SELECT wf_define('{"definitionId": "leave", "name": "Leave of absence", "description": "Days off", "inputs": [{"name": "days", "type": "Int32"}], "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Approve leave", "candidates": ["role:regress_people_heads", "group:board"], "deadline": "2 days"},
    {"id": "tell", "type": "RunTask", "taskName": "Tell", "assignee": "role:regress_people_ada"},
    {"id": "file", "type": "RunTask", "taskName": "File"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "draft", "root": []}', publish => false) \g /dev/null
SELECT wf_grant(d, 'regress_people_dan', '{start}') FROM unnest('{leave,draft}'::text[]) AS d \g /dev/null

SET ROLE regress_people_dan;
SELECT definition_id, name, description, inputs FROM workflow.startable_definitions;
SELECT wf_start('leave', '{"days": 3}', correlation_id => 'L-1') \g /dev/null
SELECT definition_name, correlation_id, status, sub_status, output, created_at, finished_at, paused_at FROM workflow.my_requests;
SELECT name, created_at, deadline, people, status, completed_at, completed_by FROM workflow.request_steps ORDER BY task_id;
-- A requester reads no more than that.
SELECT count(*) FROM workflow.definition_list;
SELECT count(*) FROM workflow.open_tasks;
SELECT count(*) FROM workflow.task_definitions;

-- A candidate learns the name of the workflow, and nothing of requests of others.
SET ROLE regress_people_ada;
SELECT t.name, d.definition_id, d.definition_name FROM workflow.open_tasks t JOIN workflow.task_definitions d USING (task_id);
SELECT count(*) FROM workflow.startable_definitions;
SELECT count(*) FROM workflow.my_requests;
SELECT count(*) FROM workflow.request_steps;
SELECT wf_complete_task(task_id, '{"approved": true}') FROM workflow.open_tasks \g /dev/null
RESET ROLE;
-- An answer of the role for somebody else is not the role's own.
BEGIN;
SELECT wf_set_actor('cleo') \g /dev/null
SET LOCAL ROLE regress_people_ada;
SELECT wf_complete_task(task_id, '"told"') FROM workflow.open_tasks WHERE name = 'Tell' \g /dev/null
SELECT definition_name, name, completed_at, result, used FROM workflow.my_answers WHERE name = 'Tell';
COMMIT;
SET ROLE regress_people_ada;
SELECT definition_name, name, completed_at, result, used FROM workflow.my_answers;
SET ROLE regress_people_heads;
SELECT count(*) FROM workflow.my_answers;

SET ROLE regress_people_dan;
SELECT name, people, status, completed_by FROM workflow.request_steps ORDER BY task_id;
SET ROLE regress_people_eve;
SELECT (SELECT count(*) FROM workflow.startable_definitions), (SELECT count(*) FROM workflow.my_requests), (SELECT count(*) FROM workflow.request_steps),
       (SELECT count(*) FROM workflow.my_answers), (SELECT count(*) FROM workflow.task_definitions);
DELETE FROM workflow.my_answers;
\echo :SQLSTATE
RESET ROLE;
SELECT wf_delete_instance(id) FROM workflow.instances WHERE definition_id = 'leave' \g /dev/null
SELECT wf_delete_definition(d) FROM unnest('{leave,draft}'::text[]) AS d \g /dev/null
DROP OWNED BY regress_people_dan, regress_people_ada, regress_people_eve, regress_people_heads;
DROP ROLE regress_people_dan, regress_people_ada, regress_people_heads, regress_people_eve;
