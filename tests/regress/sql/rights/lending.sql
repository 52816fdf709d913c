-- A role lends its rights by an act of its own: it names the definition that it starts, owns the instance, or has made
-- a grant of wf_grant_invoker. Everywhere else SQL runs in a session of the instance's owner.
\pset null '(null)'
SET client_min_messages = warning;
CREATE ROLE regress_lend_eve LOGIN;
CREATE ROLE regress_lend_ada LOGIN;
CREATE ROLE regress_lend_bob LOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_lend_eve, regress_lend_ada, regress_lend_bob}'::name[]) AS role;
CREATE TABLE regress_lend_ran (n integer GENERATED ALWAYS AS IDENTITY, what text, who name DEFAULT current_user);
GRANT INSERT, SELECT, TRUNCATE ON regress_lend_ran TO PUBLIC;

-- eve's workflows; nobody asked ada whether she wants the right to resume them.
\connect - regress_lend_eve
SELECT wf_define('{"definitionId": "trap", "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Ask", "assignee": "role:regress_lend_ada"},
    {"id": "sql", "type": "Sql", "statement": "INSERT INTO public.regress_lend_ran (what) VALUES (''trap'')"},
    {"id": "more", "type": "Event", "eventName": "More"},
    {"id": "again", "type": "Sql", "statement": "INSERT INTO public.regress_lend_ran (what) VALUES (''event'')"},
    {"id": "last", "type": "RunTask", "taskName": "Last"},
    {"id": "end", "type": "Sql", "statement": "INSERT INTO public.regress_lend_ran (what) VALUES (''step'')"}]}');
SELECT wf_define('{"definitionId": "broken", "root": [
    {"id": "sql", "type": "Sql", "statement": "INSERT INTO public.regress_lend_ran (what) SELECT ''retried'' WHERE 1 / (SELECT count(*) FROM public.regress_lend_ran) > 0"}]}');
SELECT wf_define('{"definitionId": "quiet", "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Ask", "assignee": "role:regress_lend_ada"}]}');
SELECT wf_grant(id, 'regress_lend_ada', '{resume,read,alter}') FROM unnest('{trap,broken,quiet}'::text[]) AS id;
SELECT wf_start('broken') AS broken \gset
SELECT wf_start('trap') AS trap \gset
SELECT wf_start('quiet') AS quiet \gset

-- security.md#invoker-the-default: a task that is for a role, and a privilege that others gave it, lend nothing
\connect - regress_lend_ada
SET client_min_messages = notice;
SELECT sub_status, bookmarks FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'trap';
SELECT who, what FROM regress_lend_ran ORDER BY n;
-- Where no SQL of users follows, the answer is part of the call.
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'quiet';
\connect - regress_lend_eve
SELECT wf_run_due();
SELECT who, what FROM regress_lend_ran ORDER BY n;

-- A retry, and a resume by the id of a bookmark.
\connect - regress_lend_ada
SET client_min_messages = notice;
SELECT sub_status FROM wf_retry(:'broken');
SELECT sub_status FROM wf_retry(:'broken', on_fault => 'raise');
SELECT sub_status FROM workflow.open_bookmarks AS b, wf_resume(b.bookmark_id, '{"by": "ada"}') WHERE b.instance_id = :'trap';
\connect - regress_lend_eve
SELECT wf_run_due();
SELECT who, what FROM regress_lend_ran ORDER BY n;
SELECT instance_id = :'trap' AS is_trap, sub_status FROM workflow.instance_list ORDER BY 1;
TRUNCATE regress_lend_ran;

-- A superuser lends nothing either: neither by an alteration, nor by a plan of many, nor by an answer.
SELECT wf_start('trap') AS trap \gset
SELECT wf_start('trap') AS other \gset
\connect - postgres
TRUNCATE regress_lend_ran;
SET client_min_messages = notice;
SELECT sub_status FROM wf_cancel_activity(:'trap', 'ask', reason => 'superfluous');
SELECT sub_status FROM wf_cancel_activity(:'trap', 'no such');
SELECT outcome, problems FROM wf_alter('[{"type": "CancelActivity", "activityId": "ask"}]', '{"definitionIds": ["trap"]}', dry_run => true);
SELECT outcome, problems FROM wf_alter('[{"type": "ScheduleActivity", "activityId": "end"}]', jsonb_build_object('workflowInstanceIds', jsonb_build_array(:'other'::text)));
SELECT name, input FROM workflow.bookmark_queue ORDER BY id;
SELECT wf_run_due();
SELECT who, what FROM regress_lend_ran ORDER BY n;
\connect - regress_lend_eve
SELECT wf_run_due();
SELECT who, what FROM regress_lend_ran ORDER BY n;
SELECT event, data FROM workflow.journal WHERE instance_id = :'trap' AND event = 'Altered';

-- A stimulus that looks like an act does nothing that its sender may not do by a call.
SELECT wf_start('trap') AS forged \gset
\connect - regress_lend_bob
SELECT current_user AS forger, queued_id IS NOT NULL AS is_queued FROM wf_enqueue_bookmark('Workflow.Act', instance_id => :'forged', keep_for => '1 day',
    input => '{"alter": [{"type": "CancelActivity", "activityId": "ask"}], "by": "postgres"}');
\connect - regress_lend_eve
SELECT wf_run_due();
SELECT count(*) AS open FROM workflow.open_tasks WHERE instance_id = :'forged' AND name = 'Ask';
SELECT event, data FROM workflow.journal WHERE instance_id = :'forged' AND event = 'Altered';

-- What cannot be done any more becomes a dead letter of who wanted it.
\connect - postgres
SELECT sub_status FROM wf_schedule_activity(:'trap', 'end');
\connect - regress_lend_eve
SELECT wf_cancel(:'trap');
SELECT wf_run_due();
\connect - postgres
UPDATE workflow.bookmark_queue SET attempts = 2, not_before = NULL;
\connect - regress_lend_eve
SELECT wf_run_due();
\connect - postgres
SELECT name, sender, reason, last_error FROM workflow.dead_letter_list;
TRUNCATE workflow.dead_letters, regress_lend_ran;

-- security.md#invoker-the-default: membership is no consent, and a grant that the other side makes neither
GRANT regress_lend_eve TO regress_lend_ada;
\connect - regress_lend_eve
SELECT wf_grant_events('regress_lend_ada'), wf_grant_invoker('regress_lend_ada');
\connect - regress_lend_ada
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'other' AND t.name = 'Ask';
SELECT who, what FROM regress_lend_ran ORDER BY n;
\connect - regress_lend_eve
SELECT wf_run_due();
SELECT wf_revoke_invoker('regress_lend_ada');
SELECT who, what FROM regress_lend_ran ORDER BY n;
TRUNCATE regress_lend_ran;

-- security.md#invoker-the-default: wf_grant_invoker lends, to this role and by the lender alone
SELECT wf_start('trap') AS third \gset
\connect - regress_lend_ada
SELECT wf_grant_invoker('regress_lend_eve') AS granted, wf_grant_invoker('regress_lend_eve') AS again;
SELECT wf_grant_invoker('no_such_role');
SELECT wf_grant_invoker(NULL);
SELECT * FROM workflow.invoker_grant_list;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'third';
SELECT who, what FROM regress_lend_ran ORDER BY n;
-- A stimulus names no instance of eve's, and lends nothing.
SELECT resumed FROM wf_publish_event('More', instance_id => :'third');
\connect - regress_lend_eve
SELECT * FROM workflow.invoker_grant_list;
SELECT wf_run_due();
SELECT who, what FROM regress_lend_ran ORDER BY n;
\connect - regress_lend_ada
SELECT wf_revoke_invoker('regress_lend_eve') AS revoked, wf_revoke_invoker('regress_lend_eve') AS again;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'third';
SELECT count(*) FROM regress_lend_ran WHERE what = 'step';

-- The rights of a superuser are never lent: not by a grant, nor by one that it made before it became one.
\connect - postgres
SELECT wf_grant_invoker('regress_lend_eve');
\connect - regress_lend_ada
SELECT wf_grant_invoker('regress_lend_eve');
\connect - regress_lend_eve
SELECT wf_run_due();
SELECT wf_start('trap') AS fourth \gset
\connect - postgres
TRUNCATE regress_lend_ran;
ALTER ROLE regress_lend_ada SUPERUSER;
\connect - regress_lend_ada
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'fourth';
SELECT who, what FROM regress_lend_ran ORDER BY n;

\connect - postgres
SELECT * FROM wf_check();
