-- Passing on a task to a colleague, and comments on tasks.
SET client_min_messages = error;
CREATE ROLE regress_author LOGIN;
CREATE ROLE regress_clerks;
CREATE ROLE regress_ann LOGIN IN ROLE regress_clerks;
CREATE ROLE regress_ben LOGIN IN ROLE regress_clerks;
CREATE ROLE regress_cy LOGIN;
CREATE ROLE regress_app LOGIN;
CREATE ROLE regress_nobodys;
SELECT wf_grant_usage(r) FROM unnest('{regress_author,regress_clerks,regress_ann,regress_ben,regress_cy,regress_app}'::name[]) AS r \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_app;
CREATE FUNCTION task(request text) RETURNS uuid LANGUAGE sql AS $$ SELECT task_id FROM workflow.open_tasks WHERE correlation_id = request ORDER BY task_id LIMIT 1 $$;
-- The error of a statement without its ids.
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN concat_ws(E'\n', SQLSTATE, regexp_replace(SQLERRM, '[0-9a-f-]{36}', '<id>', 'g'), regexp_replace(detail, ' at .*', ''));
END $$;
\c - regress_author
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "RunTask", "taskName": "t", "reassignable": {"js": "true"}}}');
SELECT wf_define('{"definitionId": "kept", "root": {"id": "t", "type": "RunTask", "taskName": "t", "candidates": ["role:regress_clerks"]}}') \g /dev/null
SELECT wf_define('{"definitionId": "passed", "root": [{"id": "first", "type": "RunTask", "taskName": "first", "assignee": "role:regress_cy"},
    {"id": "t", "type": "RunTask", "taskName": "t", "candidates": ["role:regress_clerks"], "reassignable": true, "not": [{"answered": "first"}]}]}') \g /dev/null
SELECT wf_define('{"definitionId": "vote", "outputs": [{"name": "Votes"}], "root": {"id": "v", "type": "Approve", "by": "role:regress_ann", "reassignable": true, "subject": "s", "votes": {"output": "Votes"}}}') \g /dev/null
SELECT wf_start('kept', correlation_id => 'K'), wf_start('passed', correlation_id => 'P'), wf_start('vote', correlation_id => 'V') \g /dev/null

-- Only where the activity allows it, and only by those who are asked.
\c - regress_ann
SELECT workflow.may_reassign(task('K')), workflow.may_reassign(task('V')), workflow.may_reassign(gen_random_uuid());
SELECT refusal(format('SELECT wf_assign_task(%L, %L)', task('K'), 'role:regress_cy'));
SELECT task('V') AS vote \gset
SELECT wf_assign_task(:'vote', 'role:regress_cy');
-- It is that of the assignee now; a candidate can still answer.
SELECT workflow.may_reassign(:'vote'), refusal(format('SELECT wf_assign_task(%L, %L)', :'vote', 'role:regress_ben'));
\c - regress_cy
SELECT sub_status FROM wf_complete_task(task('P'), '1');
SELECT sub_status FROM wf_complete_task(:'vote', 'true');
\c - regress_author
SELECT v ->> 'as' AS "as", v ->> 'by' AS by FROM workflow.instance_list, jsonb_array_elements(output -> 'Votes') AS v WHERE correlation_id = 'V';
SELECT role, detail FROM workflow.audit WHERE kind = 'assign task' ORDER BY at;
-- Not to somebody whom the task excludes.
\c - regress_ben
SELECT refusal(format('SELECT wf_assign_task(%L, %L)', task('P'), 'role:regress_cy'));
SELECT wf_assign_task(task('P'), 'role:regress_app');
-- A task that a colleague has is not passed on by others.
SELECT refusal(format('SELECT wf_assign_task(%L, %L)', task('P'), 'role:regress_ann'));
\c - regress_app
SELECT wf_assign_task(task('P'), 'role:regress_ann');
-- Not by somebody whom the task excludes, an operator included.
\c - regress_author
SELECT wf_define('{"definitionId": "own", "root": {"id": "t", "type": "RunTask", "taskName": "t", "candidates": ["role:regress_clerks"], "reassignable": true, "not": ["starter"]}}') \g /dev/null
SELECT wf_grant('own', 'regress_ann', '{start}'), wf_start('own', correlation_id => 'A') \g /dev/null
SELECT workflow.may_reassign(task('A'));
\c - regress_ann
SELECT wf_start('own', correlation_id => 'O') \g /dev/null
SELECT workflow.may_reassign(task('A')), workflow.may_reassign(task('O')), split_part(refusal(format('SELECT wf_assign_task(%L, %L)', task('O'), 'role:regress_ben')), E'\n', 2) AS refusal;
-- Nor to a role that nobody can act as, and to a name that is no role only by a role that acts for such names.
SELECT refusal(format('SELECT wf_assign_task(%L, %L)', task('A'), who)) FROM unnest('{role:regress_nobodys,ben}'::text[]) AS who;
\c - regress_author
SELECT wf_grant('own', 'regress_ann', '{resume}') \g /dev/null
\c - regress_ann
SELECT wf_assign_task(task('A'), 'ben');

-- Comments: of whoever sees the task.
\c - regress_ann
SELECT task('P') AS task \gset
SELECT wf_comment_task(:'task', ' Which order? ');
\c - regress_ben
SELECT workflow.task_calls(:'task');
SELECT wf_comment_task(:'task', attachments => '[{"name": "order.pdf", "uri": "https://files.example/order.pdf"}]');
SELECT number, role, actor, comment, attachments, at <= now() AS at FROM workflow.task_comments ORDER BY number;
\c - regress_app
SELECT refusal(format('SELECT wf_comment_task(%L, %L)', :'task', 'hello'));
SELECT count(*) FROM workflow.task_comments;
\c - regress_author
SELECT wf_grant('passed', 'regress_app', '{read}') \g /dev/null
\c - regress_app
SELECT 1 FROM wf_set_actor('ada'), wf_comment_task(:'task', 'I am "ada"');
SELECT number, role, actor, comment FROM workflow.task_comments ORDER BY number;

-- What is refused.
SELECT refusal(format('SELECT wf_comment_task(%L)', :'task'));
SELECT refusal(format('SELECT wf_comment_task(%L, %L)', :'task', '  '));
SELECT refusal(format('SELECT wf_comment_task(NULL, %L)', 'a'));
SELECT refusal(format('SELECT wf_comment_task(%L, %L)', gen_random_uuid(), 'a'));
SELECT refusal(format('SELECT wf_comment_task(%L, %L)', :'task', repeat('a', 4001)));
SELECT refusal(format('SELECT wf_comment_task(%L, attachments => %L)', :'task', attachments)) FROM unnest(ARRAY['{}', '[1]', '[{"name": "a"}]', '[{"name": "", "uri": "https://a"}]',
    '[{"name": "a", "uri": "/etc/passwd"}]', '[{"name": "a", "uri": "JavaScript:alert(1)"}]', '[{"name": "a", "uri": "mailto:a@a"}]', '[{"name": "a", "uri": "https://a b"}]',
    '[{"name": "a", "uri": "https://a", "x": 1}]', '[{"name": "a", "uri": "S3://bucket/a"}]']) AS attachments;
SELECT refusal(format('SELECT wf_comment_task(%L, attachments => %L)', :'task', (SELECT jsonb_agg('{"name": "a", "uri": "https://a"}'::jsonb) FROM generate_series(1, 11))));
DO $$ BEGIN PERFORM wf_comment_task(task('P'), n::text) FROM generate_series(5, 100) AS n; END $$;
SELECT refusal(format('SELECT wf_comment_task(%L, %L)', :'task', 'one more'));
-- After the end.
\c - regress_ann
SELECT sub_status FROM wf_complete_task(:'task', '2');
SELECT refusal(format('SELECT wf_comment_task(%L, %L)', :'task', 'too late'));
SELECT count(*) FROM workflow.task_comments;
-- After a cancellation: for those whom the task named when it ended.
\c - regress_author
SELECT wf_define('{"definitionId": "either", "root": {"type": "Approve", "by": ["role:regress_ann", "role:regress_ben"], "rule": "any", "subject": "s"}}') \g /dev/null
SELECT wf_define('{"definitionId": "handed", "root": {"id": "t", "type": "RunTask", "taskName": "t", "assignee": "role:regress_ann", "reassignable": true}}') \g /dev/null
SELECT wf_start('kept', correlation_id => 'C'), wf_start('either', correlation_id => 'E'), wf_start('handed', correlation_id => 'H') \g /dev/null
-- One that was taken and given back, one of two votes, and one that is passed on.
\c - regress_ann
SELECT wf_assign_task(task('C'), 'role:regress_ann') \g /dev/null
SELECT wf_comment_task(task('C'), 'Which order?') \g /dev/null
SELECT wf_unassign_task(task('C')) \g /dev/null
SELECT wf_comment_task(task('E'), 'Is it urgent?') \g /dev/null
SELECT wf_comment_task(task('H'), 'Is it ours?') \g /dev/null
SELECT wf_assign_task(task('H'), 'role:regress_cy') \g /dev/null
\c - regress_ben
SELECT sub_status FROM wf_complete_task(task('E'), 'true');
\c - regress_author
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE correlation_id IN ('C', 'H');
SELECT i.correlation_id, s.status, s.people FROM workflow.request_steps s JOIN workflow.instance_list i USING (instance_id) WHERE i.correlation_id IN ('C', 'E', 'H') ORDER BY 1, 3;
\c - regress_ann
SELECT correlation_id, comment FROM workflow.task_comments WHERE correlation_id IN ('C', 'E', 'H') ORDER BY 1;
\c - regress_ben
SELECT correlation_id, comment FROM workflow.task_comments WHERE correlation_id IN ('C', 'E', 'H') ORDER BY 1;
\c - regress_cy
SELECT correlation_id, comment FROM workflow.task_comments WHERE correlation_id IN ('C', 'E', 'H') ORDER BY 1;
\c - regress_app
SELECT correlation_id, comment FROM workflow.task_comments WHERE correlation_id IN ('C', 'E', 'H') ORDER BY 1;
-- An erased actor is a pseudonym in comments.
\c - postgres
SET client_min_messages = error;
SELECT table_name, erased FROM wf_erase(actor => 'ada', pseudonym => 'erased-1') WHERE table_name = 'tasks';
SELECT number, actor, comment FROM workflow.task_comments WHERE actor IS NOT NULL;
SELECT * FROM wf_check();
REVOKE SET ON PARAMETER workflow.actor FROM regress_app;
