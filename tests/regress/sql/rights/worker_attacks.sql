-- What a role that only works tries: to read, to call more, to run SQL with other rights, to answer what is not its own.
\pset null '(null)'
SET client_min_messages = warning;
CREATE ROLE regress_wx_ann LOGIN;
CREATE ROLE regress_wx_robot LOGIN;
CREATE ROLE regress_wx_other LOGIN;
SELECT wf_grant_usage('regress_wx_ann');
SELECT wf_accept_tasks('regress_wx_ann', role) FROM unnest('{regress_wx_robot, regress_wx_other}'::name[]) AS role;
CREATE TABLE regress_wx_ran (what text, who name DEFAULT current_user, session name DEFAULT session_user, value jsonb);
GRANT INSERT ON regress_wx_ran TO regress_wx_ann;

\connect - regress_wx_ann
SELECT wf_define('{"definitionId": "pay", "variables": {"Secret": "open sesame", "Receipt": null}, "outputs": [{"name": "Hidden"}], "root": [
    {"id": "hide", "type": "SetOutput", "outputName": "Hidden", "outputValue": "a secret"},
    {"id": "charge", "type": "RunTask", "taskName": "Charge", "result": {"var": "Receipt"}},
    {"id": "value", "type": "SetVariable", "variable": "Secret", "value": {"js": "getVariable(''Receipt'')"}},
    {"id": "template", "type": "SqlCommand", "command": "INSERT INTO public.regress_wx_ran (what, value) VALUES (''template'', {{Variables.Receipt}})"},
    {"id": "value of sql", "type": "SetVariable", "variable": "Secret", "value": {"sql": "variables -> ''Receipt''"}},
    {"id": "ship", "type": "RunTask", "taskName": "Ship", "payload": "the address"}]}');
SELECT wf_define('{"definitionId": "wait", "root": [{"id": "fork", "type": "Parallel", "activities": [
    {"id": "event", "type": "Event", "eventName": "Paid"}, {"id": "charge", "type": "RunTask", "taskName": "Charge"}, {"id": "delay", "type": "Delay", "timeSpan": "01:00:00"}]},
    {"id": "fail", "type": "Fault", "code": "broken", "message": "the key is 42"}]}');
SELECT wf_grant_worker('regress_wx_robot', '{Charge}');
SELECT wf_grant_worker('regress_wx_other', '{Charge}', 'wait');
SELECT wf_start('pay') AS pay \gset

-- security.md#roles-for-task-workers: no variables, no instances, no journal
\connect - regress_wx_robot
SELECT (SELECT count(*) FROM workflow.instance_list) + (SELECT count(*) FROM workflow.open_tasks) + (SELECT count(*) FROM workflow.waiting)
     + (SELECT count(*) FROM workflow.open_bookmarks) + (SELECT count(*) FROM workflow.journal) + (SELECT count(*) FROM workflow.open_incidents)
     + (SELECT count(*) FROM workflow.definition_list) + (SELECT count(*) FROM workflow.trigger_list) AS visible;
SELECT workflow.instance_state(:'pay');
\echo :SQLSTATE
SELECT variables FROM workflow.instances;
\echo :SQLSTATE
-- security.md#roles-for-task-workers: no other call
SELECT wf_start('pay');
\echo :SQLSTATE
SELECT wf_resume(:'pay');
\echo :SQLSTATE
SELECT wf_retry(:'pay');
\echo :SQLSTATE
SELECT wf_cancel(:'pay');
\echo :SQLSTATE
SELECT wf_explain(:'pay');
\echo :SQLSTATE
SELECT wf_publish('pay');
\echo :SQLSTATE
SELECT wf_define('{"definitionId": "mine", "root": []}');
\echo :SQLSTATE
SELECT wf_run_due();
\echo :SQLSTATE
SELECT wf_publish_event('Paid');
\echo :SQLSTATE
SELECT wf_send_stimulus('Elsa.RunTask');
\echo :SQLSTATE
SELECT wf_grant_worker('regress_wx_robot');
\echo :SQLSTATE
SELECT wf_revoke_worker('regress_wx_other');
\echo :SQLSTATE
SELECT wf_grant('pay', 'regress_wx_robot', '{read}');
\echo :SQLSTATE
SELECT workflow._grant_worker('regress_wx_robot', NULL, NULL);
\echo :SQLSTATE
SELECT workflow._give_worker_calls('regress_wx_robot'::regrole);
\echo :SQLSTATE
SELECT workflow._make_owner('regress_wx_robot');
\echo :SQLSTATE
-- The right to call everything is no right to anything. It has the calls, and still nothing but its tasks.
\connect - postgres
SELECT wf_grant_usage('regress_wx_robot');
\connect - regress_wx_robot
SELECT wf_start('pay');
\echo :SQLSTATE
SELECT * FROM wf_claim_tasks(worker => 'robot') \gset
SELECT :'instance_id' = :'pay' AS is_pay;
SELECT wf_cancel(:'pay');
\echo :SQLSTATE
SELECT wf_explain(:'pay');
\echo :SQLSTATE
SELECT wf_retry(:'pay');
\echo :SQLSTATE
SELECT wf_resume(:'task_id', '"by id"');
\echo :SQLSTATE
SELECT resumed FROM wf_send_stimulus('Elsa.RunTask', jsonb_build_object('TaskId', :'task_id'), '"by stimulus"');
SELECT resumed FROM wf_enqueue_bookmark(bookmark_id => :'task_id', input => '"by bookmark"', keep_for => '0');
SELECT resumed, queued_id IS NULL AS is_lost FROM wf_enqueue_bookmark(instance_id => :'pay', keep_for => '0');

-- security.md#answers-lend-no-rights: an answer is a value, whatever is in it
SELECT sub_status FROM wf_complete_task(:'task_id', token => :'token', result =>
    '{"secret": "DB_PASSWORD", "sql": "SELECT 1", "js": "getVariable(''Secret'')", "var": "Secret", "type": "Sql", "text": "''); DROP TABLE regress_wx_ran; --", "liquid": "{{ Variables.Secret }}"}');
SELECT count(*) FROM workflow.waiting;
SELECT wf_run_due();
\connect - regress_wx_ann
SELECT wf_run_due();
SELECT sub_status, variables ->> 'Secret' = variables ->> 'Receipt' AS is_value FROM workflow.instance_list WHERE instance_id = :'pay';
SELECT task_id AS ship FROM workflow.open_tasks WHERE instance_id = :'pay' \gset
\connect - postgres
SELECT what, who, session, jsonb_pretty(value) AS value FROM regress_wx_ran;

-- security.md#roles-for-task-workers: no task of another name or definition, in whatever way
\connect - regress_wx_robot
SELECT count(*) FROM wf_claim_tasks('{Ship}', max => 10);
SELECT wf_complete_task(:'ship', '"mine"');
\echo :SQLSTATE
SELECT wf_complete_task(:'ship', '"mine"', token => :'token');
\echo :SQLSTATE
SELECT wf_fail_task(:'ship', :'token', 'mine');
\echo :SQLSTATE
SELECT outcome, message LIKE 'permission denied for workflow instance %' AS is_denied
FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'ship', 'token', :'token'), jsonb_build_object('taskId', :'ship', 'token', :'token', 'error', '{"message": "mine"}'::jsonb)));
SELECT wf_extend_task(:'ship', :'token');
SELECT wf_release_task(:'ship', :'token');
\echo :SQLSTATE
-- Nor a task that another worker claimed, with its token, if the task is not one of its own.
\connect - regress_wx_ann
SELECT task_id, token FROM wf_claim_tasks('{Ship}') \gset
\connect - regress_wx_robot
SELECT wf_complete_task(:'task_id', '"mine"', token => :'token');
\echo :SQLSTATE
SELECT wf_extend_task(:'task_id', :'token');
\echo :SQLSTATE
SELECT wf_release_task(:'task_id', :'token');
\echo :SQLSTATE
-- And when it is answered, not the answer again.
\connect - regress_wx_ann
SELECT sub_status FROM wf_complete_task(:'task_id', '"R-1"', token => :'token');
\connect - regress_wx_robot
SELECT wf_complete_task(:'task_id', '"R-1"', token => :'token');
\echo :SQLSTATE
SELECT wf_complete_task(:'task_id', '"R-1"');
\echo :SQLSTATE

-- A bookmark that is no task is not answered as one.
\connect - regress_wx_ann
SELECT wf_start('wait') AS wait \gset
SELECT max(bookmark_id::text) FILTER (WHERE activity_id = 'event') AS event, max(bookmark_id::text) FILTER (WHERE activity_id = 'delay') AS delay
FROM workflow.open_bookmarks WHERE instance_id = :'wait' \gset
\connect - regress_wx_robot
SELECT wf_complete_task(:'event');
\echo :SQLSTATE
SELECT wf_complete_task(:'delay');
\echo :SQLSTATE
SELECT wf_fail_task(:'event', gen_random_uuid(), 'no');
\echo :SQLSTATE
-- security.md#roles-for-task-workers: a worker hears how the instance stands, not what went wrong
\connect - regress_wx_ann
SELECT count(*) FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.instance = :'wait' AND w.activity <> 'charge';
\connect - regress_wx_other
SELECT * FROM wf_claim_tasks() \gset
SELECT wf_complete_task(:'task_id', token => :'token', on_fault => 'raise');
\echo :SQLSTATE
SELECT r.status, r.sub_status, r.output, r.bookmarks, r.incidents FROM wf_complete_task(:'task_id', token => :'token') AS r;
\connect - postgres
SELECT * FROM wf_check();
