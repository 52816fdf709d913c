-- An answer of a worker lends no rights: SQL that follows it runs in a session of the owner.
\pset null '(null)'
SET client_min_messages = warning;
CREATE ROLE regress_wa_ann LOGIN;
CREATE ROLE regress_wa_ben LOGIN;
CREATE ROLE regress_wa_robot LOGIN;
CREATE ROLE regress_wa_helper LOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_wa_ann, regress_wa_ben, regress_wa_helper}'::name[]) AS role;
SELECT wf_accept_tasks('regress_wa_ann', role) FROM unnest('{regress_wa_robot, regress_wa_helper, postgres}'::name[]) AS role;
CREATE TABLE regress_wa_ran (what text, who name DEFAULT current_user, session name DEFAULT session_user, result jsonb);
GRANT INSERT ON regress_wa_ran TO PUBLIC;

\connect - regress_wa_ann
SELECT wf_define('{"definitionId": "plain", "outputs": [{"name": "Receipt"}], "root": [
    {"id": "charge", "type": "RunTask", "taskName": "Charge", "result": {"output": "Receipt"}}]}');
SELECT wf_define('{"definitionId": "book", "variables": {"Receipt": null}, "root": [
    {"id": "charge", "type": "RunTask", "taskName": "Charge", "result": {"var": "Receipt"}},
    {"id": "book", "type": "Sql", "statement": "INSERT INTO public.regress_wa_ran (what, result) VALUES (''book'', $1)", "parameters": [{"var": "Receipt"}]},
    {"id": "ship", "type": "RunTask", "taskName": "Ship"}]}');
SELECT wf_define('{"definitionId": "definer", "options": {"security": "definer"}, "root": [
    {"id": "charge", "type": "RunTask", "taskName": "Charge"},
    {"id": "book", "type": "Sql", "statement": "INSERT INTO public.regress_wa_ran (what) VALUES (''definer'')"}]}');
SELECT wf_define('{"definitionId": "caught", "root": [
    {"id": "try", "type": "Try", "body": {"id": "charge", "type": "RunTask", "taskName": "Charge", "retry": {"maxAttempts": 2, "delay": "0 s"}},
        "catch": [{"on": ["card_declined"], "body": {"id": "note", "type": "Sql", "statement": "INSERT INTO public.regress_wa_ran (what) VALUES (''caught'')"}}]}]}');
SELECT wf_grant_worker('regress_wa_robot', '{Charge}');
SELECT wf_grant('book', 'regress_wa_helper', '{resume}');

-- security.md#answers-lend-no-rights: without SQL of the user what follows is part of the answer
SELECT wf_start('plain') AS plain \gset
\connect - regress_wa_robot
SELECT * FROM wf_claim_tasks() \gset
SELECT status, sub_status, output, bookmarks, incidents FROM wf_complete_task(:'task_id', '"R-1"', token => :'token');
\connect - regress_wa_ann
SELECT sub_status, output FROM workflow.instance_list WHERE instance_id = :'plain';

-- security.md#answers-lend-no-rights: so it is where SQL has the rights of the definition's owner anyway
SELECT wf_start('definer') AS definer \gset
\connect - regress_wa_robot
SELECT * FROM wf_claim_tasks() \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '"R-2"', token => :'token');
\connect - postgres
SELECT what, who, session FROM regress_wa_ran;
TRUNCATE regress_wa_ran;

-- security.md#answers-lend-no-rights: otherwise the answer is taken, and what follows is left to a session of the owner
\connect - regress_wa_ann
SELECT wf_start('book') AS book \gset
\connect - regress_wa_robot
SELECT * FROM wf_claim_tasks() \gset
-- Without workers the call says what goes on later.
SELECT status, sub_status, output, bookmarks, incidents FROM wf_complete_task(:'task_id', '"R-3"', token => :'token');
-- The same answer again is the same; any other is refused.
SELECT sub_status FROM wf_complete_task(:'task_id', '"R-3"', token => :'token');
SELECT sub_status FROM wf_complete_task(:'task_id', '"R-4"', token => :'token');
\echo :SQLSTATE
SELECT outcome, sub_status, message FROM wf_complete_tasks(jsonb_build_array(
    jsonb_build_object('taskId', :'task_id', 'token', :'token', 'result', 'R-3'),
    jsonb_build_object('taskId', :'task_id', 'token', gen_random_uuid(), 'result', 'R-3')));
SELECT wf_fail_task(:'task_id', :'token', 'too late');
\echo :SQLSTATE
SELECT wf_extend_task(:'task_id', :'token'), wf_release_task(:'task_id', :'token');
SELECT wf_complete_task(:'task_id', '"R-3"');
\echo :SQLSTATE
-- What is due is no business of the worker's session.
SELECT count(*) FROM wf_claim_tasks(max => 10);
\connect - regress_wa_ben
SELECT wf_run_due();
\connect - postgres
SELECT wf_run_due();
SELECT count(*) FROM regress_wa_ran;
SELECT status, result, token = :'token' AS by_token FROM workflow.tasks WHERE id = :'task_id';
SELECT count(*) FROM workflow.open_tasks WHERE instance_id = :'book';
SELECT * FROM wf_check();
-- The owner sees where it is.
\connect - regress_wa_ann
SET timezone = 'UTC';
SELECT activity, waits_for, due IS NOT NULL AS is_due FROM workflow.waiting WHERE instance = :'book';
SELECT regexp_replace(line, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?', '(instant)', 'g') FROM wf_explain(:'book') AS line WHERE line LIKE '%answer%' OR line LIKE '%wf_r%';
-- No stimulus meets it.
SELECT resumed FROM wf_enqueue_bookmark(name => 'Workflow.Answer', keep_for => '0');
SELECT resumed FROM wf_enqueue_bookmark(instance_id => :'book', keep_for => '0');
SELECT wf_run_due();
\connect - postgres
SELECT what, who, session, result FROM regress_wa_ran;
SELECT activity, waits_for FROM workflow.waiting WHERE instance = :'book';
SELECT event, activity, bookmark_id = :'task_id' AS is_task FROM workflow.journal WHERE instance_id = :'book' AND seq = 2 ORDER BY number;
-- After that the same answer is still the same.
\connect - regress_wa_robot
SELECT sub_status FROM wf_complete_task(:'task_id', '"R-3"', token => :'token');
SELECT wf_complete_task(:'task_id', '"R-3"');
\echo :SQLSTATE
-- The next task has a name that is not the worker's.
SELECT count(*) FROM wf_claim_tasks(max => 10);

-- The right "resume" lends nothing, neither with a token nor without.
\connect - postgres
TRUNCATE regress_wa_ran;
\connect - regress_wa_helper
SELECT task_id, token FROM wf_claim_tasks('{Ship}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', token => :'token');
\connect - regress_wa_ann
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'book';
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'book';
SELECT wf_start('book') AS book \gset
SELECT task_id FROM workflow.open_tasks WHERE instance_id = :'book' \gset
\connect - regress_wa_helper
SELECT sub_status, output FROM wf_complete_task(:'task_id', '"by a person"');
\connect - postgres
SELECT what, who, result FROM regress_wa_ran;
TRUNCATE regress_wa_ran;
-- A superuser's answer as that of a worker lends nothing either.
\connect - regress_wa_ann
SELECT wf_start('book') AS book \gset
\connect - postgres
SET client_min_messages = warning;
SELECT * FROM wf_claim_tasks('{Charge}') \gset
SELECT sub_status, jsonb_path_query_array(bookmarks, '$[*].name') AS bookmarks FROM wf_complete_task(:'task_id', '"R-5"', token => :'token');
SELECT count(*) FROM regress_wa_ran;
-- wf_resume with the id of what is due lends nothing either, and cannot change the answer.
SELECT w.waits_for, r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '"another"') AS r WHERE w.instance = :'book';
SELECT what, who, result FROM regress_wa_ran;
TRUNCATE regress_wa_ran;

-- A role that may only work lends nothing without a token, either. While a lease runs it needs the token.
\connect - regress_wa_ann
SELECT wf_start('book') AS book \gset
SELECT task_id FROM workflow.open_tasks WHERE instance_id = :'book' \gset
\connect - regress_wa_robot
SELECT sub_status, bookmarks FROM wf_complete_task(:'task_id', '"R-6"');
SELECT wf_complete_task(:'task_id', '"R-6"');
\echo :SQLSTATE
\connect - regress_wa_ann
SELECT wf_run_due();
\connect - postgres
SELECT what, who, result FROM regress_wa_ran;
TRUNCATE regress_wa_ran;

-- A failure that is tried again runs no SQL of the workflow. The last one does, with a catch, and waits for the owner.
\connect - regress_wa_ann
SELECT wf_start('caught') AS caught \gset
\connect - regress_wa_robot
SELECT * FROM wf_claim_tasks() \gset
SELECT wf_fail_task(:'task_id', :'token', 'the bank is down', code => 'bank_down');
SELECT * FROM wf_claim_tasks() \gset
SELECT wf_fail_task(:'task_id', :'token', 'no money', 'Balance: 3.', 'card_declined', on_fault => 'raise');
SELECT wf_fail_task(:'task_id', :'token', 'no money', 'Balance: 3.', 'card_declined');
SELECT wf_complete_task(:'task_id', token => :'token');
\echo :SQLSTATE
\connect - postgres
SELECT count(*) FROM regress_wa_ran;
SELECT waits_for FROM workflow.waiting WHERE instance = :'caught';
SELECT * FROM wf_check();
\connect - regress_wa_ann
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'caught';
SELECT data FROM workflow.journal WHERE instance_id = :'caught' AND event = 'Caught';
\connect - postgres
SELECT what, who FROM regress_wa_ran;
TRUNCATE regress_wa_ran;
-- Without a catch it is an incident of the owner's, with what the worker said.
\connect - regress_wa_ann
SELECT wf_start('book') AS book \gset
\connect - regress_wa_robot
SELECT * FROM wf_claim_tasks() \gset
SELECT outcome, sub_status, message FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'task_id', 'token', :'token',
    'error', '{"message": "no money", "detail": "Balance: 3.", "code": "card_declined"}'::jsonb)));
\connect - regress_wa_ann
SET client_min_messages = error;
SELECT wf_run_due();
SELECT sqlstate, code, message, detail FROM workflow.open_incidents WHERE instance_id = :'book';
-- wf_retry opens a new task.
SELECT sub_status FROM wf_retry(:'book');
SELECT name, task_id <> :'task_id' AS is_new FROM workflow.open_tasks WHERE instance_id = :'book';

-- The instance ends before the owner goes on: the answer was taken, and nothing follows.
\connect - regress_wa_robot
SELECT * FROM wf_claim_tasks() \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '"R-7"', token => :'token');
\connect - regress_wa_ann
SELECT wf_cancel(:'book');
SELECT wf_run_due();
\connect - regress_wa_robot
SELECT sub_status FROM wf_complete_task(:'task_id', '"R-7"', token => :'token');
\connect - postgres
SELECT status FROM workflow.tasks WHERE id = :'task_id';
SELECT count(*) FROM regress_wa_ran;
SELECT * FROM wf_check();
