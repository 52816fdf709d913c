-- A schedule belongs to a role: who sees it, who may change it, and that its command never runs with the rights of another.
\i tests/regress/include/schedules.sql

SELECT wf_schedule('report', '@hourly', 'SELECT count(*) FROM archive') IS NOT NULL AS scheduled;
SELECT * FROM wf_define('{"definitionId": "greet", "inputs": [{"name": "who", "type": "String"}], "root": {"type": "WriteLine", "text": {"js": "`hello ${getInput(''who'')}`"}}}');
SELECT wf_schedule_workflow('greet', '*/30 * * * *', 'greet', '{"who": "Ada"}', correlation_id => 'g') IS NOT NULL AS scheduled;

-- Each role has names of its own, and sees its own. No stimulus starts a schedule.
SET ROLE regress_sched_eve;
SELECT count(*) FROM workflow.schedules;
SELECT count(*) FROM workflow.schedule_runs;
SELECT wf_schedule('report', '@daily', 'SELECT 1') IS NOT NULL AS scheduled;
SELECT name, owner, command FROM workflow.schedules;
SELECT wf_alter_schedule('greet', active => false);
\echo :SQLSTATE
SELECT wf_unschedule('greet');
SELECT wf_schedule_workflow('greet', '@daily', 'greet');
\echo :SQLSTATE
SELECT cardinality(started) AS started FROM wf_send_stimulus('Workflow.Schedule');
RESET ROLE;

-- A role that has the rights of another may change its schedules; a name that several have needs SET ROLE.
SELECT wf_alter_schedule('greet', active => false) IS NOT NULL AS paused;
SELECT wf_alter_schedule('report', active => false);
\echo :SQLSTATE

-- Only the extension defines the workflow that runs commands: it runs with the rights of each role that has a schedule.
SET ROLE regress_sched_eve;
SELECT * FROM wf_define('{"definitionId": "Workflow.ScheduledCommand", "root": []}');
\echo :SQLSTATE
SELECT wf_start('Workflow.ScheduledCommand', '{"statement": "SELECT 1"}');
\echo :SQLSTATE
RESET ROLE;

-- A command runs as the owner, whichever role lets time go on: a superuser's wf_run_due leaves it to the owner.
CREATE TABLE regress_sched_ran (who name);
GRANT INSERT, SELECT ON regress_sched_ran TO regress_sched_eve;
SET ROLE regress_sched_eve;
SELECT wf_schedule('report', '@daily', 'INSERT INTO public.regress_sched_ran VALUES (current_user)') IS NOT NULL AS changed;
RESET ROLE;
SET workflow.now = '2030-01-02 00:00:00+00';
SELECT wf_run_due();
SELECT o.name, r.status FROM workflow.schedule_runs AS r JOIN workflow.schedules AS s USING (schedule_id), LATERAL (SELECT s.owner AS name) AS o WHERE s.owner = 'regress_sched_eve';
SET ROLE regress_sched_eve;
SELECT wf_run_due();
SELECT who FROM regress_sched_ran;
RESET ROLE;

-- Even where a superuser names the run: what eve wrote must not run with their rights.
SET ROLE regress_sched_eve;
SELECT wf_schedule('trap', '@daily', 'UPDATE pg_authid SET rolsuper = true WHERE rolname = current_user') IS NOT NULL AS scheduled;
SELECT wf_schedule_run_now('trap') AS instance \gset
SELECT wf_run_due();
RESET ROLE;
SELECT wf_retry(:'instance');
\echo :SQLSTATE
SELECT wf_cancel(:'instance');

-- A role without LOGIN is told what that means.
SET ROLE regress_sched_robot;
SELECT wf_schedule('beep', '@daily', 'SELECT 1') IS NOT NULL AS scheduled;
RESET ROLE;
