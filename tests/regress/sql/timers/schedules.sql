-- Schedules by name: what pg_cron does, and what its users have been asking for. A command runs when it is due, as an instance.
\i tests/regress/include/schedules.sql

-- A command on a schedule. Several statements run in one transaction; the same name again changes the schedule and keeps its id.
SELECT wf_schedule('archive', '0 3 * * *', 'DELETE FROM sales') AS id \gset
SELECT wf_schedule('archive', '0 3 * * *', 'INSERT INTO archive SELECT * FROM sales WHERE day < ''2030-01-01''; DELETE FROM sales WHERE day < ''2030-01-01''', timezone => 'Europe/Berlin') = :'id' AS same;
SELECT * FROM workflow.schedules \gx

-- Nothing runs before its time. A run is an instance of the workflow that runs commands.
SELECT wf_run_due();
RESET ROLE; SET workflow.now = '2030-01-01 02:00:00.003+00'; SET ROLE regress_sched_ada;
SELECT wf_run_due();
SELECT count(*) FROM sales;
SELECT name, definition_id, scheduled_at, started_at, status, rows, error FROM workflow.schedule_runs;
SELECT name, last_scheduled, last_run, last_status, next_run FROM workflow.schedules;
SELECT definition_id, name, sub_status, owner FROM workflow.instance_list;

-- An error is the fault of that run; the schedule goes on. What the run did is undone.
SELECT wf_schedule('report', '@hourly', 'DELETE FROM archive; SELECT 1 / 0') IS NOT NULL AS scheduled;
RESET ROLE; SET workflow.now = '2030-01-01 03:00:00+00'; SET ROLE regress_sched_ada;
SELECT wf_run_due();
SELECT name, status, rows, sqlstate, error FROM workflow.schedule_runs WHERE name = 'report';
SELECT name, last_status, last_error, next_run FROM workflow.schedules WHERE name = 'report';
SELECT count(*) FROM archive;

-- The next run has the new command.
SELECT wf_alter_schedule('report', command => 'SELECT count(*) FROM archive') IS NOT NULL AS altered;
RESET ROLE; SET workflow.now = '2030-01-01 04:00:00+00'; SET ROLE regress_sched_ada;
SELECT wf_run_due();
SELECT scheduled_at, status, rows FROM workflow.schedule_runs WHERE name = 'report' ORDER BY scheduled_at;

-- wf_unschedule leaves the runs.
RESET ROLE;
SELECT wf_unschedule('archive');
SELECT name, status FROM workflow.schedule_runs WHERE name = 'archive';
SELECT * FROM wf_check();
