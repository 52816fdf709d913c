-- A child belongs to its parent's owner: who may start it, and in whose session its SQL and that of its parent runs.
\i tests/regress/include/children.sql

-- A child belongs to its parent's owner, who must be allowed to start it.
CREATE ROLE child_maker LOGIN;
SELECT wf_grant_usage('child_maker');
SET ROLE child_maker;
SELECT wf_define('{"definitionId": "borrower", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "double", "input": {"n": 1}}}');
SET client_min_messages = error;
SELECT sub_status, incidents #>> '{0,sqlstate}' AS sqlstate, incidents #>> '{0,message}' AS message FROM wf_run('borrower');
RESET ROLE;
SELECT wf_grant('double', 'child_maker', '{start}');
SET ROLE child_maker;
SELECT sub_status FROM wf_run('borrower');
RESET ROLE;
RESET client_min_messages;
SELECT definition_id, sub_status, owner FROM workflow.instance_list WHERE owner = 'child_maker' ORDER BY instance_id;
SELECT pg_temp.forget();

-- A role that makes a parent go on does not lend a child its rights: one that runs SQL is left for a session of its owner.
CREATE ROLE child_minder LOGIN;
SELECT wf_grant_usage('child_minder');
CREATE TABLE who_ran (what text, who text DEFAULT current_user);
GRANT INSERT ON who_ran TO child_maker, child_minder;
SET ROLE child_maker;
SELECT wf_define('{"definitionId": "noted", "root": {"type": "Sql", "statement": "INSERT INTO public.who_ran VALUES (''child'')"}}');
SELECT wf_define('{"definitionId": "bell", "root": [{"type": "Event", "eventName": "Ring"},
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "noted", "waitForCompletion": true}, {"type": "WriteLine", "text": "the child has ended"}]}');
SELECT wf_grant('bell', 'child_minder', '{resume}');
SELECT wf_start('bell') IS NOT NULL AS started;
SET client_min_messages = error;
SET ROLE child_minder;
SELECT wf_grant_events('child_maker');
SELECT cardinality(resumed) FROM wf_publish_event('Ring');
SELECT wf_run_due();
RESET ROLE;
SELECT wf_run_due();
SELECT * FROM pg_temp.instances();
SELECT * FROM who_ran;
SET ROLE child_maker;
SELECT wf_run_due();
RESET ROLE;
SELECT * FROM pg_temp.instances();
SELECT * FROM who_ran;
SELECT pg_temp.forget();
-- The other way round: what a child reports to a parent that runs SQL stays in the queue for a session of the parent's owner.
SET ROLE child_maker;
SELECT wf_define('{"definitionId": "asked", "root": {"type": "RunTask", "taskName": "answer"}}');
SELECT wf_define('{"definitionId": "writes", "root": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "asked", "waitForCompletion": true},
    {"type": "Sql", "statement": "INSERT INTO public.who_ran VALUES (''parent'')"}]}');
SELECT wf_grant('asked', 'child_minder', '{resume,read}');
SELECT wf_start('writes') IS NOT NULL AS started;
SET ROLE child_minder;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT wf_run_due();
RESET ROLE;
SELECT wf_run_due();
SELECT * FROM pg_temp.instances();
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SET ROLE child_maker;
SELECT wf_run_due();
RESET ROLE;
SELECT * FROM pg_temp.instances();
SELECT count(*) AS queued FROM workflow.bookmark_queue;
SELECT * FROM who_ran;
SELECT pg_temp.forget();
RESET client_min_messages;
