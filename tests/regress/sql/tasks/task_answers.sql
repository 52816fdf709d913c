-- Answers to tasks in less usual ways: twice in one call, by roles with alter, by stimuli, and by the bookmarks beside the task.
\pset null '(null)'
SET workflow.now = '2026-03-02 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = warning;

-- The same task twice in one call: the same answer again is accepted, another one is not. The instance goes on once.
SELECT * FROM wf_define('{"definitionId": "print", "root": {"type": "RunTask", "taskName": "Print"}}');
SELECT wf_start('print') AS instance \gset
SELECT jsonb_build_object('taskId', task_id, 'token', token) AS answer FROM wf_claim_tasks('{Print}') \gset
SELECT outcome, sub_status, message ~ 'was already completed with another result' AS has_other
FROM wf_complete_tasks(jsonb_build_array(:'answer'::jsonb || '{"result": 1}', :'answer'::jsonb || '{"result": 1}', :'answer'::jsonb || '{"result": 2}'));
SELECT result FROM workflow.tasks WHERE instance_id = :'instance';
SELECT count(*) AS bursts FROM workflow.execution_log WHERE instance_id = :'instance';

-- A role with alter completes tasks of others in their place, and says why. It neither answers nor claims them, nor tasks for nobody in particular.
CREATE ROLE regress_answers_boss;
CREATE ROLE regress_answers_ada;
SELECT wf_grant_usage('regress_answers_boss'), wf_grant_usage('regress_answers_ada');
SELECT * FROM wf_define('{"definitionId": "leave", "inputs": [{"name": "for"}], "root":
    {"type": "RunTask", "taskName": "Approve", "assignee": {"input": "for"}, "result": {"output": "Answer"}, "retry": {"maxAttempts": 3}}}');
SELECT wf_grant('leave', 'regress_answers_boss', '{alter}');
SELECT wf_start('leave', '{"for": "role:regress_answers_ada"}', correlation_id => n) FROM unnest('{given,claimed}'::text[]) AS n \g /dev/null
SELECT wf_start('leave', correlation_id => 'free') \g /dev/null
SELECT task_id AS given FROM workflow.open_tasks WHERE correlation_id = 'given' \gset
SELECT task_id AS claimed FROM workflow.open_tasks WHERE correlation_id = 'claimed' \gset
SELECT task_id AS free FROM workflow.open_tasks WHERE correlation_id = 'free' \gset
SET ROLE regress_answers_boss;
SELECT count(*) FROM wf_claim_tasks();
SELECT sub_status, output FROM wf_override_task(:'given', 'Ada is away', '"yes"');
SELECT wf_complete_task(:'claimed', '"no"');
SELECT wf_claim_task(:'claimed');
SELECT wf_override_task(:'free', 'nobody does it', '"yes"');
SELECT wf_complete_task(:'free', '"yes"');
\echo :SQLSTATE
SELECT wf_claim_task(:'free');
\echo :SQLSTATE
RESET ROLE;
SELECT correlation_id, status, result FROM workflow.tasks WHERE name = 'Approve' ORDER BY id;
SELECT count(wf_cancel(instance_id)) FROM workflow.open_tasks;

-- The bookmark of a last lease fires by its id like any other. The worker's answer comes too late then.
SELECT * FROM wf_define('{"definitionId": "once", "root": {"type": "RunTask", "taskName": "Once", "retry": {"maxAttempts": 1}}}');
SELECT wf_start('once') AS instance \gset
SELECT task_id, token FROM wf_claim_tasks('{Once}', lease => '1 hour') \gset
SELECT bookmark_id AS lease FROM workflow.waiting WHERE waits_for = 'Workflow.Lease' \gset
SELECT sub_status FROM wf_resume(:'lease');
SELECT code, message, attempts FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT wf_complete_task(:'task_id', token => :'token');
\echo :SQLSTATE
SELECT wf_extend_task(:'task_id', :'token');

-- No stimulus meets what takes something back, the time of a run, or that of a first claim: not by name, filter, instance or id.
SELECT * FROM wf_define('{"definitionId": "undo", "root": [
    {"type": "Compensable", "compensation": {"type": "WriteLine", "text": "undo"}}, {"type": "Event", "eventName": "Go"}]}');
SELECT * FROM wf_define('{"definitionId": "bound", "options": {"timeout": "1 hour"}, "root": {"type": "Event", "eventName": "Go"}}');
SELECT * FROM wf_define('{"definitionId": "awaited", "root": {"type": "RunTask", "taskName": "Soon", "startTimeout": "1 hour"}}');
SELECT wf_cancel(wf_start('undo'));
SELECT count(wf_start(d)) FROM unnest('{bound,awaited}'::text[]) AS d;
SELECT waits_for, b.by, cardinality(d.resumed) AS resumed, d.queued_id
FROM workflow.waiting AS w,
    LATERAL (VALUES ('name', w.waits_for, NULL::uuid), ('id', NULL, w.bookmark_id)) AS b (by, activity_type, bookmark_id),
    wf_enqueue_bookmark(activity_type => b.activity_type, bookmark_id => b.bookmark_id, keep_for => '0') AS d
WHERE w.waits_for IN ('Workflow.Compensation', 'Workflow.RunTimeout', 'Workflow.StartTimeout') ORDER BY 1, 2;
SELECT waits_for, cardinality(d.resumed) AS resumed FROM workflow.waiting AS w, wf_enqueue_bookmark(instance_id => w.instance, keep_for => '0') AS d
WHERE w.waits_for = 'Workflow.Compensation';
SELECT waits_for FROM workflow.waiting WHERE waits_for ~ '^Workflow' ORDER BY 1;
SELECT count(wf_delete_instance(instance_id, force => true)) FROM workflow.instance_list;

-- A stimulus that is kept for a claimed task and does not fit its schema is no answer: it becomes a dead letter, and the task stays.
SELECT * FROM wf_define('{"definitionId": "checked", "root": {"type": "RunTask", "taskName": "Check", "result": {"output": "Answer"},
    "resultSchema": {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}}}');
SELECT wf_start('checked') AS instance \gset
SELECT task_id FROM wf_claim_tasks('{Check}', lease => '1 min') \gset
SELECT cardinality(resumed) AS resumed, queued_id IS NOT NULL AS is_kept FROM wf_enqueue_bookmark(instance_id => :'instance', input => '{"ok": "x"}', keep_for => '1 day');
SET workflow.now = '2026-03-02 09:01:00+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-02 09:10:00+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-02 10:00:00+00';
SELECT wf_run_due();
SELECT reason, last_error FROM workflow.dead_letter_list;
SELECT sub_status, output FROM wf_complete_task(:'task_id', '{"ok": true}');

-- An answer that does not fit the schema of one task is an error of the whole stimulus, and resumes no other instance.
SELECT * FROM wf_define('{"definitionId": "plain", "root": {"type": "Event", "eventName": "Go"}}');
SELECT wf_start('plain', correlation_id => 'x') \g /dev/null
SELECT wf_start('checked', correlation_id => 'x') \g /dev/null
SELECT wf_enqueue_bookmark(correlation_id => 'x', input => '1');
\echo :SQLSTATE
SELECT definition_id, sub_status FROM workflow.instance_list WHERE correlation_id = 'x' ORDER BY 1;

-- A session that turns retries off: an attempt that fails is the last one, and an answer of a service takes its port.
SELECT * FROM wf_define('{"definitionId": "fetch", "root": {"type": "Flowchart", "activities": [
    {"id": "get", "type": "FlowSendHttpRequest", "url": "https://a.example", "expectedStatusCodes": [200], "retry": {"maxAttempts": 3, "delay": "1 min"}},
    {"id": "else", "type": "WriteLine", "text": "else"}], "connections": [["get", "Unmatched status code", "else"]]}}');
SELECT * FROM wf_define('{"definitionId": "thrice", "root": {"type": "RunTask", "taskName": "Thrice", "retry": {"maxAttempts": 3, "delay": "1 min"}}}');
SET workflow.retry = off;
SELECT wf_start('thrice') AS instance \gset
SELECT task_id, token FROM wf_claim_tasks('{Thrice}') \gset
SELECT wf_fail_task(:'task_id', :'token', 'torn');
SELECT message, attempts FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT wf_start('fetch') AS instance \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.FlowSendHttpRequest}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"statusCode": 503}', token => :'token');
SELECT data FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Line';
RESET workflow.retry;
SELECT * FROM wf_check();
DROP OWNED BY regress_answers_boss, regress_answers_ada;
SELECT wf_revoke_usage('regress_answers_boss'), wf_revoke_usage('regress_answers_ada');
DROP ROLE regress_answers_boss, regress_answers_ada;
