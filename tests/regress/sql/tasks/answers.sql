-- Answers: who gave which, for roles that may read them; and what the records say of an answer that came too late.
SET timezone = 'UTC';
SET workflow.now = '2026-03-01 09:00:00+00';
\pset null '(null)'
CREATE ROLE regress_answers_ada;
CREATE ROLE regress_answers_ben;
CREATE ROLE regress_answers_reader;
SELECT wf_grant_usage(r) FROM unnest(ARRAY['regress_answers_ada', 'regress_answers_ben', 'regress_answers_reader']) AS r \g /dev/null
-- story INSTANCE
CREATE FUNCTION story(instance uuid) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT regexp_replace(line, '[0-9a-f]{8}-[0-9a-f-]{27}', '(id)', 'g') FROM wf_explain(instance) AS line
$$;

SELECT wf_define('{"definitionId": "ask", "root": [
    {"id": "first", "type": "RunTask", "taskName": "Ask", "candidates": ["role:regress_answers_ada"]},
    {"id": "second", "type": "RunTask", "taskName": "Ask", "candidates": ["role:regress_answers_ben"]},
    {"id": "third", "type": "RunTask", "taskName": "Ask"}]}') \g /dev/null
SELECT wf_start('ask', correlation_id => 'a1') AS instance \gset
SET ROLE regress_answers_ada;
SELECT wf_complete_task(task_id, '{"approved": true}') FROM workflow.open_tasks WHERE correlation_id = 'a1' \g /dev/null
SELECT count(*) AS answers FROM workflow.answers;
SET ROLE regress_answers_ben;
SELECT wf_complete_task(task_id, '"no"') FROM workflow.open_tasks WHERE correlation_id = 'a1' \g /dev/null
RESET ROLE;
SELECT wf_set_actor('cleo') \g /dev/null
SELECT wf_complete_task(task_id) FROM workflow.open_tasks WHERE correlation_id = 'a1' \g /dev/null
RESET workflow.actor;
SELECT activity_id, name, completed_at, role, actor, result, used FROM workflow.answers WHERE instance_id = :'instance' ORDER BY task_id;
SELECT * FROM story(:'instance');
SELECT wf_grant('ask', 'regress_answers_reader', '{read}') \g /dev/null
SET ROLE regress_answers_reader;
SELECT activity_id, role, result FROM workflow.answers ORDER BY task_id;
DELETE FROM workflow.answers;
\echo :SQLSTATE
RESET ROLE;

-- Two groups at once, and SQL with the rights of the owner: the first "no" is stored for a session of the owner. Before it cancels the
-- other task, that one is answered, too.
SELECT wf_define('{"definitionId": "race", "variables": {"A": null}, "root": [
    {"type": "Composite", "root": [{"type": "Parallel", "activities": [
        [{"id": "finance", "type": "RunTask", "taskName": "Approve", "candidates": ["role:regress_answers_ada"], "result": {"var": "A"}},
            {"type": "If", "condition": {"js": "!getA()"}, "then": {"type": "Complete"}}],
        {"id": "legal", "type": "RunTask", "taskName": "Approve", "candidates": ["role:regress_answers_ben"]}]}]},
    {"id": "note", "type": "Sql", "statement": "SELECT 1"}]}') \g /dev/null
SELECT wf_start('race') AS race \gset
SET client_min_messages = warning;
SET ROLE regress_answers_ada;
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, 'false') AS r;
SET ROLE regress_answers_ben;
SELECT task_id AS legal FROM workflow.open_tasks \gset
SELECT r.sub_status FROM wf_complete_task(:'legal', 'true') AS r;
RESET ROLE;
SELECT activity_id, role, result, used FROM workflow.answers WHERE instance_id = :'race' ORDER BY task_id;
SELECT wf_run_due();
SELECT activity_id, role, result, used FROM workflow.answers WHERE instance_id = :'race' ORDER BY task_id;
SELECT activity_id, status, completed_at FROM workflow.tasks WHERE instance_id = :'race' ORDER BY id;
SELECT kind, activity, role, detail FROM workflow.audit WHERE instance_id = :'race' ORDER BY at, activity;
SELECT * FROM story(:'race');
SET ROLE regress_answers_ben;
SELECT wf_complete_task(:'legal', 'true');
\echo :SQLSTATE
RESET ROLE;
-- The same for an override, and for a cancel of the instance.
SELECT wf_start('race') AS race \gset
SELECT task_id AS legal FROM workflow.open_tasks WHERE activity_id = 'legal' \gset
SET ROLE regress_answers_ada;
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, 'true') AS r;
RESET ROLE;
SELECT wf_grant('race', 'regress_answers_ada', '{alter}') \g /dev/null
SET ROLE regress_answers_ada;
SELECT r.sub_status FROM wf_override_task(:'legal', 'ben is ill', 'true') AS r;
RESET ROLE;
SELECT wf_cancel(:'race', 'no longer needed');
SELECT activity_id, role, result, used FROM workflow.answers WHERE instance_id = :'race' ORDER BY task_id;
SELECT kind, activity, role, detail FROM workflow.audit WHERE instance_id = :'race' ORDER BY at, activity;
SELECT * FROM story(:'race');
-- An act that has left the journal already is marked as well.
SELECT wf_define('{"definitionId": "long", "options": {"journal": {"keep": 1}}, "root": {"type": "Parallel", "activities": [
    [{"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["role:regress_answers_ada"]}, {"id": "note", "type": "Sql", "statement": "SELECT 1"}],
    {"type": "While", "condition": true, "body": {"id": "next", "type": "Event", "eventName": "Next"}}]}}') \g /dev/null
SELECT wf_start('long') AS long \gset
SET ROLE regress_answers_ada;
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, 'true') AS r;
RESET ROLE;
SELECT count(wf_publish_event('Next', instance_id => :'long')) FROM generate_series(1, 45);
SELECT kind, detail FROM workflow.audit_log WHERE instance_id = :'long' AND kind = 'complete task';
SELECT wf_cancel(:'long', 'no longer needed');
SELECT kind, activity, role, detail FROM workflow.audit WHERE instance_id = :'long' AND kind = 'complete task';
SELECT activity_id, role, result, used FROM workflow.answers WHERE instance_id = :'long';
SELECT * FROM wf_check();

-- Failed attempts, and time limits.
RESET client_min_messages;
SELECT wf_define('{"definitionId": "pay", "root": [
    {"id": "charge", "type": "RunTask", "taskName": "Charge", "timeout": "1 day", "retry": {"maxAttempts": 3, "delay": "1 minute", "on": ["WF001"]}},
    {"id": "wait", "type": "Event", "eventName": "Paid"}]}') \g /dev/null
SELECT wf_start('pay') AS pay \gset
SELECT wf_fail_task(task_id, token, 'the bank is closed') FROM wf_claim_tasks('{Charge}', 'till 1');
SET workflow.now = '2026-03-01 09:01:00+00';
SELECT r.outcome FROM wf_claim_tasks('{Charge}', 'till 2') AS t, wf_complete_tasks(jsonb_build_array(jsonb_build_object(
    'taskId', t.task_id, 'token', t.token, 'error', '{"message": "the bank is still closed", "retryIn": "1 hour"}'::jsonb))) AS r;
SELECT event, activity, bookmark_id IS NOT NULL AS of_task, by, data FROM workflow.journal WHERE instance_id = :'pay' AND event = 'Retrying' ORDER BY seq;
SET workflow.now = '2026-03-02 09:00:00+00';
SELECT wf_run_due() > 0 AS ran;
SELECT * FROM story(:'pay');
SELECT kind FROM workflow.audit WHERE instance_id = :'pay';
SELECT wf_define('{"definitionId": "quiet", "options": {"journal": "none"}, "root": [
    {"id": "charge", "type": "RunTask", "taskName": "Charge", "retry": {"maxAttempts": 3, "delay": "1 minute"}}]}') \g /dev/null
SELECT wf_start('quiet') AS quiet \gset
SELECT wf_fail_task(task_id, token, 'the bank is closed') FROM wf_claim_tasks('{Charge}');
SELECT count(*) FROM workflow.journal WHERE instance_id = :'quiet' AND event = 'Retrying';
SELECT wf_define('{"definitionId": "limited", "options": {"timeout": "3 days"}, "root": [
    {"id": "unclaimed", "type": "RunTask", "taskName": "Ask", "startTimeout": "1 hour"},
    {"id": "late", "type": "Event", "eventName": "Late"}]}') \g /dev/null
SELECT wf_start('limited') AS limited \gset
SET workflow.now = '2026-03-02 10:00:00+00';
SELECT wf_run_due() > 0 AS ran;
SELECT r.sub_status FROM wf_retry(:'limited') AS r;
SET workflow.now = '2026-03-05 10:00:00+00';
SELECT wf_run_due() > 0 AS ran;
SELECT * FROM story(:'limited');
SELECT * FROM wf_check();
DROP FUNCTION story;
