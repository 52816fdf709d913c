-- Tasks for people: who is to do them, who may answer them, and who may give them to others.
\pset null '(null)'
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
CREATE ROLE regress_inbox_owner;
CREATE ROLE regress_inbox_clerks;
CREATE ROLE regress_inbox_ada IN ROLE regress_inbox_clerks;
CREATE ROLE regress_inbox_ben IN ROLE regress_inbox_clerks;
CREATE ROLE regress_inbox_eva;
CREATE ROLE regress_inbox_app;
CREATE ROLE regress_inbox_boss;
SELECT wf_grant_usage(role) FROM unnest('{regress_inbox_owner, regress_inbox_ada, regress_inbox_ben, regress_inbox_eva, regress_inbox_app, regress_inbox_boss}'::text[]) AS role;

SET ROLE regress_inbox_owner;
SELECT * FROM wf_define('{"definitionId": "leave", "inputs": [{"name": "days"}, {"name": "for"}, {"name": "among"}],
    "root": [{"id": "Approve", "type": "RunTask", "taskName": "Approve leave", "payload": {"object": {"days": {"input": "days"}}},
        "assignee": {"input": "for"}, "candidates": {"input": "among"}, "deadline": "2 days", "priority": 3,
        "form": {"type": "object", "title": "Leave", "properties": {"approved": {"type": "boolean", "title": "Approve it?"}}},
        "result": {"output": "Answer"}}]}');
-- resume lets a role go on with instances; alter lets it assign tasks, and answer those of others. Neither implies the other.
SELECT wf_grant('leave', 'regress_inbox_app', '{resume,read}'), wf_grant('leave', 'regress_inbox_boss', '{alter}');
SELECT wf_start('leave', '{"days": 1, "for": "role:regress_inbox_ada"}', correlation_id => 'for Ada') \g /dev/null
SELECT wf_start('leave', '{"days": 2, "among": ["role:regress_inbox_clerks", "role:regress_inbox_eva"]}', correlation_id => 'for clerks') \g /dev/null
SELECT wf_start('leave', '{"days": 3, "for": "ada@example.com", "among": ["ada@example.com", "ben@example.com"]}', correlation_id => 'for a label') \g /dev/null
SELECT wf_start('leave', '{"days": 4}', correlation_id => 'for all') \g /dev/null
SELECT task_id AS ada FROM workflow.open_tasks WHERE correlation_id = 'for Ada' \gset
SELECT task_id AS clerks FROM workflow.open_tasks WHERE correlation_id = 'for clerks' \gset
SELECT task_id AS label FROM workflow.open_tasks WHERE correlation_id = 'for a label' \gset
SELECT task_id AS everybody FROM workflow.open_tasks WHERE correlation_id = 'for all' \gset
-- The columns of an inbox.
SELECT correlation_id, payload, priority, assignee, candidates, deadline FROM workflow.open_tasks ORDER BY task_id;
SELECT form, result_schema FROM workflow.open_tasks LIMIT 1;

-- security.md#tasks-for-people: a role that a task names sees this task, and no other
SET ROLE regress_inbox_ada;
SELECT correlation_id, name, payload, assignee, candidates FROM workflow.open_tasks ORDER BY task_id;
SELECT count(*) FROM workflow.instance_list;
SET ROLE regress_inbox_boss;
SELECT count(*) FROM workflow.open_tasks;

-- security.md#tasks-for-people: only the assignee, candidates, owners and roles with alter may answer such a task
SET ROLE regress_inbox_eva;
SELECT wf_complete_task(:'ada');
\echo :SQLSTATE
-- Who may resume instances is told why.
SET ROLE regress_inbox_app;
SELECT wf_complete_task(:'ada');
\echo :SQLSTATE
SELECT wf_resume(:'clerks');
\echo :SQLSTATE
-- A stimulus passes over such a task as well, whether it is kept or not.
SELECT d.resumed, d.queued_id FROM workflow.instance_list AS i, wf_enqueue_bookmark(instance_id => i.instance_id, keep_for => '0') AS d WHERE i.correlation_id = 'for clerks';
SELECT d.resumed, d.queued_id IS NOT NULL AS kept FROM workflow.instance_list AS i, wf_enqueue_bookmark(instance_id => i.instance_id, keep_for => '1 hour') AS d WHERE i.correlation_id = 'for clerks';
SELECT wf_run_due();
-- Where a label stands for a person, the right to resume is enough.
SELECT r.sub_status FROM wf_complete_task(:'label', '{"approved": true}') AS r;
SELECT r.sub_status FROM wf_complete_task(:'everybody', '{"approved": true}') AS r;
-- The assignee needs no other right; nor does a member of a role among the candidates.
SET ROLE regress_inbox_ben;
SELECT wf_complete_task(:'ada');
\echo :SQLSTATE
SELECT r.sub_status, r.output FROM wf_complete_task(:'clerks', '{"approved": false}') AS r;
SET ROLE regress_inbox_ada;
SELECT r.sub_status, r.output FROM wf_resume(:'ada', '{"approved": true}') AS r;
RESET ROLE;
SELECT correlation_id, status, result, deadline, assignee IS NOT NULL AS assigned, candidates IS NOT NULL AS has_candidates FROM workflow.tasks ORDER BY id;

-- wf_assign_task: an owner, or a role with alter, gives a task to any person. It says whether that changed anything.
SET ROLE regress_inbox_owner;
SELECT wf_start('leave', '{"days": 5, "among": ["role:regress_inbox_clerks", "helpdesk"]}', correlation_id => 'r5') AS r5 \gset
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_assign_task(:'task', 'role:regress_inbox_eva'), wf_assign_task(:'task', 'role:regress_inbox_eva');
SET ROLE regress_inbox_boss;
SELECT wf_assign_task(:'task', ' role:regress_inbox_ada ');
SELECT wf_unassign_task(:'task'), wf_unassign_task(:'task');
-- Others may not, but a candidate takes a task, for itself and not for a group.
SET ROLE regress_inbox_eva;
SELECT wf_assign_task(:'task', 'role:regress_inbox_eva');
\echo :SQLSTATE
SET ROLE regress_inbox_ben;
SELECT wf_assign_task(:'task', 'role:regress_inbox_ada');
\echo :SQLSTATE
SELECT wf_assign_task(:'task', 'role:regress_inbox_clerks');
\echo :SQLSTATE
SELECT wf_assign_task(:'task', 'ben');
\echo :SQLSTATE
SELECT wf_assign_task(:'task', 'role:regress_inbox_ben');
-- Another candidate does not take it from him.
SET ROLE regress_inbox_ada;
SELECT wf_assign_task(:'task', 'role:regress_inbox_ada');
\echo :SQLSTATE
SELECT wf_unassign_task(:'task');
\echo :SQLSTATE
-- He gives it back.
SET ROLE regress_inbox_ben;
SELECT wf_unassign_task(:'task');
-- A person for whom a label stands takes it by the right to resume, if the label is among the candidates.
SET ROLE regress_inbox_app;
SELECT wf_assign_task(:'task', 'ada@example.com');
\echo :SQLSTATE
SELECT wf_assign_task(:'task', 'helpdesk');
SELECT wf_unassign_task(:'task');
SELECT wf_assign_task(:'task', 'helpdesk');
SELECT assignee, candidates FROM workflow.open_tasks;
-- The journal has each change, and so has the story.
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'r5' AND event = 'Assigned' ORDER BY at, seq;
SELECT line FROM wf_explain(:'r5') AS line WHERE line !~ 'wf_complete_task';

-- A renamed role keeps its tasks, and a new role of the old name gets none.
SET ROLE regress_inbox_owner;
SELECT wf_assign_task(:'task', 'role:regress_inbox_eva');
RESET ROLE;
ALTER ROLE regress_inbox_eva RENAME TO regress_inbox_eve;
CREATE ROLE regress_inbox_eva;
SELECT wf_grant_usage('regress_inbox_eva');
SELECT assignee FROM workflow.open_tasks;
SET ROLE regress_inbox_eva;
SELECT wf_complete_task(:'task');
\echo :SQLSTATE
SET ROLE regress_inbox_eve;
SELECT r.sub_status FROM wf_complete_task(:'task') AS r;

-- Errors.
RESET ROLE;
SELECT wf_assign_task(:'task', 'ada');
\echo :SQLSTATE
SELECT wf_assign_task('01900000-0000-7000-8000-00000000dead', 'ada');
\echo :SQLSTATE
SELECT wf_unassign_task('01900000-0000-7000-8000-00000000dead');
\echo :SQLSTATE
SELECT wf_assign_task(NULL, 'ada');
\echo :SQLSTATE
SELECT wf_start('leave', '{"days": 6}') AS r6 \gset
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_assign_task(:'task', NULL);
\echo :SQLSTATE
SELECT wf_assign_task(:'task', ' ');
\echo :SQLSTATE
SELECT wf_assign_task(:'task', 'role:');
\echo :SQLSTATE
SELECT wf_assign_task(:'task', 'role:regress_inbox_nobody');
\echo :SQLSTATE
SELECT wf_assign_task(:'task', repeat('x', 201));
\echo :SQLSTATE
-- A bookmark that is no task's.
SELECT * FROM wf_define('{"definitionId": "wait", "root": {"type": "Event", "eventName": "Go"}}');
SELECT wf_start('wait') AS waiting \gset
SELECT wf_assign_task(bookmark_id, 'ada') FROM workflow.waiting WHERE definition_id = 'wait';
\echo :SQLSTATE
-- While a worker holds the task no person is given it.
SELECT wf_accept_tasks('regress_inbox_owner');
SELECT task_id, token FROM wf_claim_tasks(worker => 'robot', lease => '1 min') \gset
SELECT wf_assign_task(:'task', 'ada');
\echo :SQLSTATE
SELECT wf_release_task(:'task_id', :'token'), wf_assign_task(:'task', 'ada');

-- What a definition says is judged when it is stored, what an expression gives when the task opens.
SELECT path, message FROM wf_validate('{"definitionId": "bad", "root": [
    {"type": "RunTask", "taskName": "a", "assignee": "role:", "candidates": ["x", ""], "deadline": "soon", "form": "text", "resultSchema": {"type": "no type"}},
    {"type": "RunTask", "taskName": "b", "candidates": 7}]}');
SELECT * FROM wf_define('{"definitionId": "late", "inputs": [{"name": "x"}], "root": {"id": "t", "type": "Switch", "cases": [
    {"label": "role", "condition": {"js": "getInput(''x'') == ''role''"}, "activity": {"id": "role", "type": "RunTask", "taskName": "a", "assignee": {"js": "''role:regress_inbox_nobody''"}}},
    {"label": "list", "condition": {"js": "getInput(''x'') == ''list''"}, "activity": {"id": "list", "type": "RunTask", "taskName": "a", "candidates": {"js": "Array(101).fill(''x'')"}}},
    {"label": "deadline", "condition": {"js": "getInput(''x'') == ''deadline''"}, "activity": {"id": "deadline", "type": "RunTask", "taskName": "a", "deadline": {"js": "''soon''"}}},
    {"label": "form", "condition": {"js": "getInput(''x'') == ''form''"}, "activity": {"id": "form", "type": "RunTask", "taskName": "a", "form": {"js": "[1]"}}},
    {"label": "schema", "condition": {"js": "getInput(''x'') == ''schema''"}, "activity": {"id": "schema", "type": "RunTask", "taskName": "a", "resultSchema": {"js": "({type: 7})"}}}]}}');
SET client_min_messages = error;
SELECT wf_start('late', jsonb_build_object('x', x)) FROM unnest('{role,list,deadline,form,schema}'::text[]) AS x \g /dev/null
SELECT activity_id, sqlstate, message FROM workflow.open_incidents ORDER BY activity_id;
SELECT * FROM wf_check();
-- A check goes on where a row that was changed by hand has no list.
BEGIN;
UPDATE workflow.bookmarks SET candidates = '{"role": "role:0"}' WHERE name = 'Elsa.RunTask';
SELECT problem FROM wf_check();
UPDATE workflow.bookmarks SET candidates = '"role:0"' WHERE name = 'Elsa.RunTask';
SELECT DISTINCT problem FROM wf_check();
ROLLBACK;
