-- Approve: deadlines, and what happens to an approval that is paused, loses its voters, or has SQL behind it.
SET client_min_messages = error;
CREATE ROLE regress_author LOGIN;
CREATE ROLE regress_boss;
CREATE ROLE regress_hr;
CREATE ROLE regress_ann LOGIN IN ROLE regress_boss;
CREATE ROLE regress_cy LOGIN IN ROLE regress_hr;
SELECT wf_grant_usage(r) FROM unnest('{regress_author,regress_boss,regress_hr,regress_ann,regress_cy}'::name[]) AS r \g /dev/null
CREATE FUNCTION task(voter text) RETURNS uuid LANGUAGE sql AS $$
    SELECT task_id FROM workflow.open_tasks AS t WHERE voter = ANY (t.candidates) ORDER BY task_id DESC LIMIT 1
$$;
\c - regress_author
SET client_min_messages = error;
SELECT wf_define(jsonb_build_object('definitionId', 'late-' || act, 'outputs', '[{"name": "Decision"}, {"name": "By"}]'::jsonb,
    'root', jsonb_build_object('id', 'a', 'type', 'Approve', 'by', '["role:regress_boss", "role:regress_hr"]'::jsonb, 'subject', 's', 'deadline', '2 days',
        'onDeadline', act, 'escalateTo', CASE act WHEN 'escalate' THEN '["role:regress_author"]'::jsonb END, 'result', '{"output": "Decision"}'::jsonb, 'decidedBy', '{"output": "By"}'::jsonb)))
FROM unnest('{expire,approve,reject,escalate}'::text[]) AS act \g /dev/null
-- Only a superuser sets the clock of the session.
\c - postgres
SET client_min_messages = error;
SET workflow.now = '2030-01-01 09:00+00';
SELECT wf_start('late-' || act, correlation_id => act) FROM unnest('{expire,approve,reject,escalate}'::text[]) AS act \g /dev/null

-- Only its time resumes a deadline: whoever may resume the instance would decide with it.
SELECT bookmark_id AS deadline FROM workflow.waiting WHERE waits_for = 'Workflow.Deadline' AND correlation_id = 'approve' \gset
SELECT wf_resume(:'deadline');
\echo :SQLSTATE
SELECT cardinality(resumed) AS resumed FROM wf_send_stimulus('Workflow.Deadline');
SELECT regexp_replace(line, '[0-9a-f-]{36}', '<id>', 'g') AS line FROM workflow.instance_list AS i, wf_explain(i.instance_id) AS e, regexp_split_to_table(e, '\n') AS line WHERE correlation_id = 'approve';

-- Nothing happens before it. What happens then is nobody's vote.
SET workflow.now = '2030-01-03 08:59+00';
SELECT wf_run_due();
SET workflow.now = '2030-01-03 09:00+00';
SELECT wf_run_due();
SELECT correlation_id, sub_status, output FROM workflow.instance_list ORDER BY correlation_id;
SELECT count(*) FROM workflow.answers;
-- Others are asked once, with as much time.
SELECT candidates, deadline FROM workflow.open_tasks;
SET workflow.now = '2030-01-05 09:00+00';
SELECT wf_run_due();
SELECT sub_status, output FROM workflow.instance_list WHERE correlation_id = 'escalate';

-- A pause holds the deadline. It has passed when the pause ends, and votes come too late.
SET workflow.now = '2030-02-01 09:00+00';
SELECT wf_start('late-expire', correlation_id => 'paused') AS paused \gset
SELECT wf_pause(:'paused', 'audit') \g /dev/null
SET workflow.now = '2030-02-05 09:00+00';
SELECT wf_run_due();
SELECT wf_complete_task(task('role:regress_hr'), 'true');
SELECT sub_status FROM workflow.instance_list WHERE correlation_id = 'paused';
SELECT wf_unpause(:'paused') \g /dev/null
SELECT wf_run_due();
SELECT sub_status, output FROM workflow.instance_list WHERE correlation_id = 'paused';
\c - regress_author
SET client_min_messages = error;

-- SQL behind it: each answer waits for a session of the owner. A person has one vote before that, too.
\c - postgres
SET client_min_messages = error;
GRANT regress_boss TO regress_cy;
\c - regress_author
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "sql", "outputs": [{"name": "Decision"}, {"name": "Votes"}], "root": [
    {"id": "a", "type": "Approve", "by": ["role:regress_boss", "role:regress_boss"], "subject": "s", "result": {"output": "Decision"}, "votes": {"output": "Votes"}},
    {"type": "Sql", "statement": "SELECT 1"}]}') \g /dev/null
SELECT wf_start('sql', correlation_id => 'Q') \g /dev/null
\c - regress_ann
SET client_min_messages = error;
SELECT sub_status FROM wf_complete_task(task('role:regress_boss'), 'true');
SELECT wf_complete_task(task('role:regress_boss'), 'true');
\c - regress_cy
SET client_min_messages = error;
SELECT sub_status FROM wf_complete_task(task('role:regress_boss'), 'true');
\c - regress_author
SET client_min_messages = error;
SELECT wf_run_due();
SELECT sub_status, output ->> 'Decision' AS decision, jsonb_path_query_array(output, '$.Votes[*].by') AS by FROM workflow.instance_list WHERE correlation_id = 'Q';

-- A group that nobody is a member of any more cannot vote: the next vote finds the rule impossible. It is never a no.
SELECT wf_start('late-expire', correlation_id => 'shrunk') \g /dev/null
\c - postgres
SET client_min_messages = error;
REVOKE regress_hr FROM regress_cy;
\c - regress_ann
SELECT sub_status FROM wf_complete_task(task('role:regress_boss'), 'true', on_fault => 'store');
SELECT wf_complete_task(task('role:regress_boss'), 'true', on_fault => 'raise');
\c - regress_author
SET client_min_messages = error;
SELECT n.sqlstate, n.message, n.detail, n.hint FROM workflow.open_incidents AS n JOIN workflow.instance_list AS i USING (instance_id) WHERE i.correlation_id = 'shrunk';
\c - postgres
SET client_min_messages = error;
GRANT regress_hr TO regress_cy;
-- A retry asks everybody again.
\c - regress_author
SET client_min_messages = error;
SELECT r.sub_status FROM workflow.instance_list AS i, wf_retry(i.instance_id) AS r WHERE i.correlation_id = 'shrunk';
\c - regress_ann
SELECT sub_status FROM wf_complete_task(task('role:regress_boss'), 'true');
\c - regress_cy
SELECT sub_status FROM wf_complete_task(task('role:regress_hr'), 'true');

-- A migration moves an open approval. What it waits for stays as it is.
\c - regress_author
SET client_min_messages = error;
SELECT wf_start('late-expire', correlation_id => 'moved') AS moved \gset
SELECT version FROM wf_define('{"definitionId": "late-expire", "outputs": [{"name": "Decision"}, {"name": "By"}], "root":
    {"id": "a", "type": "Approve", "by": ["role:regress_author"], "subject": "s", "rule": "any", "result": {"output": "Decision"}, "decidedBy": {"output": "By"}}}');
SELECT * FROM wf_migrate(:'moved');
SELECT candidates FROM workflow.open_tasks ORDER BY task_id;
\c - regress_ann
SELECT sub_status FROM wf_complete_task(task('role:regress_boss'), 'true');
\c - regress_cy
SELECT sub_status FROM wf_complete_task(task('role:regress_hr'), 'true');
\c - regress_author
SELECT output FROM workflow.instance_list WHERE correlation_id = 'moved';
\c - postgres
SELECT * FROM wf_check();
