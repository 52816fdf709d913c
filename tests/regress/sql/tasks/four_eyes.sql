-- "not" of RunTask: a task excludes whoever started the instance, and whoever answered another activity of it.
-- Its entries are constants of two kinds, and name an activity that opens tasks.
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "not": "starter"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "not": ["Starter"]}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "not": ["starter", 1]}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "not": [{"answered": ["a"]}]}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "not": [{"answered": "a", "by": "b"}]}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "not": {"js": "[]"}}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "not": {"object": [{"input": "who"}]}}}');
SELECT wf_define('{"definitionId": "wrong", "root": [
    {"id": "AskLegal", "type": "RunTask", "taskName": "t"}, {"id": "tell", "type": "WriteLine", "text": ""},
    {"id": "a", "type": "RunTask", "taskName": "t", "not": [{"answered": "AskLegl"}, {"answered": "tell"}]}]}');
SELECT * FROM wf_validate('{"definitionId": "right", "root": [
    {"id": "a", "type": "RunTask", "taskName": "t", "not": []}, {"id": "b", "type": "RunTask", "taskName": "t", "not": null},
    {"id": "c", "type": "RunTask", "taskName": "t", "not": {"literal": ["starter", {"answered": "c"}]}},
    {"id": "d", "type": "Elsa.RunTask", "version": 1, "taskName": {"typeName": "String", "expression": {"type": "Literal", "value": "t"}},
        "not": {"typeName": "Object", "expression": {"type": "Object", "value": "[\"starter\", {\"answered\": \"a\"}]"}}}]}');

CREATE ROLE regress_deploy LOGIN;
CREATE ROLE regress_clerks;
CREATE ROLE regress_heads;
CREATE ROLE regress_ann LOGIN IN ROLE regress_clerks;
CREATE ROLE regress_ben LOGIN IN ROLE regress_clerks;
CREATE ROLE regress_cy LOGIN IN ROLE regress_clerks, regress_heads;
CREATE ROLE regress_app LOGIN;
CREATE ROLE regress_pool LOGIN;
GRANT regress_ann, regress_ben, regress_cy TO regress_pool;
SELECT wf_grant_usage(r) FROM unnest('{regress_deploy,regress_clerks,regress_heads,regress_ann,regress_ben,regress_cy,regress_app}'::name[]) AS r \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_app;
SELECT wf_accept_tasks('regress_deploy', 'regress_clerks'), wf_accept_tasks('regress_deploy', 'regress_app');

-- security.md#tasks-for-people: who starts the instance does not answer, in whatever way, and not as an operator either
\c - regress_deploy
SELECT wf_define('{"definitionId": "pay", "root": [
    {"id": "AskLegal", "type": "RunTask", "taskName": "Ask legal", "candidates": ["role:regress_clerks"], "not": ["starter"]},
    {"id": "Approve", "type": "RunTask", "taskName": "Approve", "candidates": ["role:regress_clerks"], "not": ["starter", {"answered": "AskLegal"}]}]}') \g /dev/null
SELECT wf_grant('pay', r, '{start,read,resume,alter}') FROM unnest('{regress_ann,regress_cy,regress_heads}'::text[]) AS r \g /dev/null
\c - regress_ann
SELECT wf_start('pay', correlation_id => 'P') AS pay \gset
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_complete_task(:'task', '"yes"');
\echo :SQLSTATE
SELECT wf_override_task(:'task', 'it is urgent', '"yes"');
SELECT wf_resume(:'task', '"yes"');
SELECT wf_assign_task(:'task', 'role:regress_ann');
SELECT wf_assign_task(:'task', 'role:regress_ben');
SELECT wf_claim_task(:'task');
SELECT count(*) FROM wf_claim_tasks('{Ask legal}');
CALL wf_wait_tasks('{Ask legal}', '0');
SELECT wf_send_stimulus('RunTask', jsonb_build_object('TaskId', :'task'), '"yes"');
SELECT wf_send_stimulus('RunTask', correlation_id => 'P', keep_for => '1 hour');
SELECT wf_enqueue_bookmark(bookmark_id => :'task', input => '"yes"');
-- Another role of the same login role is the same person.
SET ROLE regress_clerks;
SELECT wf_complete_task(:'task', '"yes"');
SELECT wf_assign_task(:'task', 'role:regress_clerks');
RESET ROLE;
BEGIN;
SELECT wf_set_role('regress_clerks');
SELECT wf_complete_task(:'task', '"yes"');
ROLLBACK;
-- Nobody assigns the task to the excluded. An assignee gives it back.
\c - regress_cy
SELECT wf_assign_task(:'task', 'role:regress_ann');
SELECT wf_assign_task(:'task', 'role:regress_cy'), wf_unassign_task(:'task');
-- Others claim and answer it, and then not the next one.
\c - regress_ben
SELECT task_id, token FROM wf_claim_tasks('{Ask legal}', worker => 'ben') \gset
\c - regress_ann
SELECT outcome, message FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'task_id', 'token', :'token')));
SELECT wf_fail_task(:'task_id', :'token', 'no');
\c - regress_ben
SELECT status FROM wf_complete_task(:'task_id', '"yes"', token => :'token');
SELECT task_id AS task FROM workflow.open_tasks WHERE name = 'Approve' \gset
SELECT wf_complete_task(:'task', '"yes"');
SELECT count(*) FROM wf_claim_tasks('{Approve}');
\c - regress_ann
SELECT wf_complete_task(:'task', '"yes"');
\c - regress_cy
CALL wf_wait_tasks('{Approve}', '0');
SELECT status FROM wf_override_task(:'task', 'everybody is on holiday', '"yes"');

-- The reverse: started with another role than that of the session, whose login role is on record.
\c - regress_deploy
SELECT wf_grant('pay', 'regress_clerks', '{start}');
\c - regress_ann
SET ROLE regress_clerks;
SELECT wf_start('pay') AS pay \gset
RESET ROLE;
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_complete_task(:'task', '"yes"');
\c - regress_cy
SET ROLE regress_clerks;
SELECT wf_complete_task(:'task', '"yes"');
RESET ROLE;
SELECT status FROM wf_complete_task(:'task', '"yes"');
-- So it is with an answer, here the one of whoever has another role than that of the session next time.
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_complete_task(:'task', '"yes"');
SET ROLE regress_heads;
SELECT wf_override_task(:'task', 'nobody is there', '"yes"');
\c - regress_ben
SELECT status FROM wf_complete_task(:'task', '"yes"');
\c - regress_ann
SELECT wf_start('pay') AS pay \gset
SELECT task_id AS task FROM workflow.open_tasks \gset
\c - regress_cy
SET ROLE regress_heads;
SELECT status FROM wf_override_task(:'task', 'nobody is there', '"yes"');
RESET ROLE;
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_complete_task(:'task', '"yes"');
\c - regress_ben
SELECT status FROM wf_complete_task(:'task', '"yes"');

-- security.md#tasks-for-people: a login role that may name actors, or inherits none of the roles that it takes, is no person
\c - regress_pool
BEGIN;
SELECT wf_set_role('regress_ann');
SELECT wf_start('pay') AS pay \gset
COMMIT;
SELECT task_id AS task FROM workflow.open_tasks \gset
BEGIN;
SELECT wf_set_role('regress_ben');
SELECT wf_complete_task(:'task', '"yes"');
ROLLBACK;
\c - postgres
GRANT SET ON PARAMETER workflow.actor TO regress_pool;
\c - regress_pool
BEGIN;
SELECT wf_set_role('regress_ann');
SELECT wf_complete_task(:'task', '"yes"');
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_ben');
SELECT status FROM wf_complete_task(:'task', '"yes"');
SELECT task_id AS approve FROM workflow.open_tasks \gset
SELECT wf_complete_task(:'approve', '"yes"');
ROLLBACK;
\c - postgres
REVOKE SET ON PARAMETER workflow.actor FROM regress_pool;
DO $$
BEGIN
    REVOKE regress_ann, regress_ben, regress_cy FROM regress_pool;
    ALTER ROLE regress_pool NOINHERIT;
    GRANT regress_ann, regress_ben, regress_cy TO regress_pool;
END $$;
\c - regress_pool
BEGIN;
SELECT wf_set_role('regress_ben');
SELECT status FROM wf_complete_task(:'task', '"yes"');
COMMIT;
BEGIN;
SELECT wf_set_role('regress_cy');
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT status FROM wf_complete_task(:'task', '"yes"');
COMMIT;
\c - postgres

-- An application: its actors are the people. Without one on both sides the role decides.
\c - regress_deploy
SELECT wf_define('{"definitionId": "leave", "root": [
    {"id": "Approve", "type": "RunTask", "taskName": "Approve leave", "candidates": ["ada", "bob"], "not": ["starter"]},
    {"id": "Book", "type": "RunTask", "taskName": "Book leave", "not": [{"answered": "Approve"}]}]}') \g /dev/null
SELECT wf_grant('leave', r, '{start,read,resume,alter}') FROM unnest('{regress_app,regress_cy}'::text[]) AS r \g /dev/null
\c - regress_app
SELECT wf_start('leave') AS leave FROM wf_set_actor('ada') \gset
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_complete_task(:'task', '"yes"') FROM wf_set_actor('ada');
SELECT wf_complete_task(:'task', '"yes"');
SELECT wf_claim_task(:'task');
SELECT wf_send_stimulus('RunTask', jsonb_build_object('TaskId', :'task'), '"yes"');
SELECT wf_override_task(:'task', 'urgent', '"yes"');
SELECT wf_assign_task(:'task', 'ada') FROM wf_set_actor('bob');
SELECT wf_assign_task(:'task', 'bob') FROM wf_set_actor('bob');
\c - regress_cy
SELECT wf_complete_task(:'task', '"yes"');
\c - regress_app
SELECT status FROM wf_set_actor('bob'), wf_complete_task(:'task', '"yes"');
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT wf_complete_task(:'task') FROM wf_set_actor('bob');
SELECT wf_complete_task(:'task');
SELECT count(*) FROM wf_set_actor('bob'), wf_claim_tasks('{Book leave}');
SELECT name FROM wf_set_actor('ada'), wf_claim_tasks('{Book leave}');
\c - postgres
SELECT wf_cancel(:'leave');

-- Who started what an event, a schedule or a parent starts: the sender, the maker, whoever started the parent.
\c - regress_deploy
SELECT wf_define('{"definitionId": "ask", "root": [{"id": "E", "type": "Event", "eventName": "Asked", "canStartWorkflow": true},
    {"id": "T", "type": "RunTask", "taskName": "Answer", "candidates": ["role:regress_clerks"], "not": ["starter"]}]}') \g /dev/null
SELECT wf_define('{"definitionId": "asked", "root": {"id": "T", "type": "RunTask", "taskName": "Answer", "candidates": ["role:regress_clerks"], "not": ["starter"]}}') \g /dev/null
SELECT wf_grant(d, 'regress_ann', '{start,read}') FROM unnest('{ask,asked}'::text[]) AS d \g /dev/null
\c - postgres
SELECT wf_grant_events('regress_deploy', 'regress_ann') \g /dev/null
\c - regress_ann
SELECT cardinality(started) FROM wf_publish_event('Asked');
SELECT wf_define('{"definitionId": "above", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "asked", "waitForCompletion": true}}') \g /dev/null
SELECT wf_start('above') AS above \gset
SELECT wf_schedule_workflow('asks', '0 9 * * *', 'asked') \g /dev/null
SELECT wf_schedule_run_now('asks') \g /dev/null
SELECT wf_run_due() \g /dev/null
\c - postgres
SELECT i.parent_instance_id IS NOT NULL AS is_child, i.schedule_id IS NOT NULL AS is_scheduled, l.started_by, l.sub_status
FROM workflow.instance_list l JOIN workflow.instances i ON i.id = l.instance_id WHERE i.definition_id LIKE 'ask%' ORDER BY i.created_at;
\c - regress_ann
SELECT array_agg(task_id) AS tasks FROM workflow.open_tasks \gset
SELECT wf_complete_task((:'tasks'::uuid[])[1]);
SELECT wf_complete_task((:'tasks'::uuid[])[2]);
SELECT wf_complete_task((:'tasks'::uuid[])[3]);
\c - regress_ben
SELECT (wf_complete_task((:'tasks'::uuid[])[n])).status FROM generate_series(1, 3) AS n;

-- So it is where the parent was started with another role than that of the session.
\c - regress_deploy
SELECT wf_grant('asked', 'regress_clerks', '{start}');
\c - regress_cy
SET ROLE regress_clerks;
SELECT wf_define('{"definitionId": "above clerks", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "asked", "waitForCompletion": true}}') \g /dev/null
SELECT wf_start('above clerks') AS above \gset
RESET ROLE;
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ben
SELECT wf_complete_task(task_id) AS task FROM workflow.open_tasks \g /dev/null

-- And where an instance continues as another one.
\c - regress_deploy
SELECT wf_define('{"definitionId": "again", "inputs": [{"name": "again"}], "root": {"type": "If", "condition": {"js": "!getInput(''again'')"},
    "then": {"type": "ContinueAs", "input": {"again": true}},
    "else": {"id": "T", "type": "RunTask", "taskName": "Answer", "candidates": ["role:regress_clerks"], "not": ["starter"]}}}') \g /dev/null
SELECT wf_grant('again', 'regress_clerks', '{start}');
\c - regress_cy
SET ROLE regress_clerks;
SELECT wf_start('again') AS again \gset
RESET ROLE;
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;

-- A loop: whoever answered any round.
\c - regress_deploy
SELECT wf_define('{"definitionId": "rounds", "root": [
    {"type": "For", "start": 1, "end": 2, "body": {"id": "Round", "type": "RunTask", "taskName": "Round", "candidates": ["role:regress_clerks"]}},
    {"id": "Sign", "type": "RunTask", "taskName": "Sign", "candidates": ["role:regress_clerks"], "not": [{"answered": "Round"}]}]}') \g /dev/null
SELECT wf_start('rounds') AS rounds \gset
\c - regress_ann
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ann
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_cy
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;

-- A workflow that another one uses brings its rules along. Elsa's form keeps them.
\c - regress_deploy
SELECT wf_define('{"definitionId": "sign", "name": "Sign", "options": {"usableAsActivity": true}, "root": [
    {"id": "First", "type": "RunTask", "taskName": "First", "candidates": ["role:regress_clerks"]},
    {"id": "Second", "type": "RunTask", "taskName": "Second", "candidates": ["role:regress_clerks"], "not": [{"answered": "First"}]}]}') \g /dev/null
SELECT wf_define('{"definitionId": "signs", "root": [{"type": "Sign"},
    {"id": "Third", "type": "RunTask", "taskName": "Third", "candidates": ["role:regress_clerks"], "not": [{"answered": "Second"}]}]}') \g /dev/null
SELECT jsonb_path_query(wf_export('signs'), '$.**.not') AS exported;
SELECT wf_start('signs') AS signs \gset
\c - regress_ann
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ben
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT wf_complete_task(task_id) FROM workflow.open_tasks;
\c - regress_ann
SELECT r.status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;

-- What a sender left for a worker to finish is refused when it is delivered.
\c - regress_deploy
SELECT wf_grant('pay', 'regress_ben', '{start,read,resume}');
\c - regress_ben
SELECT wf_start('pay', correlation_id => 'Q') AS pay \gset
SELECT cardinality(resumed) AS resumed, queued_id IS NOT NULL AS kept FROM wf_enqueue_bookmark(activity_id => 'Approve', input => '"yes"', keep_for => '1 hour');
SELECT task_id AS task FROM workflow.open_tasks \gset
\c - regress_cy
SELECT status FROM wf_complete_task(:'task', '"yes"');
\c - postgres
SELECT name, status FROM workflow.tasks WHERE instance_id = :'pay' ORDER BY created_at;
SELECT last_error FROM workflow.bookmark_queue;
SELECT reason, last_error FROM workflow.dead_letters;
SELECT wf_cancel(:'pay') \g /dev/null
SELECT * FROM wf_check();
REVOKE SET ON PARAMETER workflow.actor FROM regress_app;
