-- Schedules by name: what pg_cron does, and what its users have been asking for. The clock is set by workflow.now.
CREATE ROLE regress_sched_ada LOGIN;
CREATE ROLE regress_sched_eve LOGIN;
CREATE ROLE regress_sched_robot NOLOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_sched_ada,regress_sched_eve,regress_sched_robot}'::name[]) AS role;
GRANT CREATE ON SCHEMA public TO regress_sched_ada;
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
SET ROLE regress_sched_ada;
CREATE TABLE sales (day date, amount numeric);
INSERT INTO sales VALUES ('2029-12-30', 10), ('2029-12-31', 20), ('2030-01-01', 30);
CREATE TABLE archive (LIKE sales);

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

-- wf_alter_schedule changes what is given. A new text is a new schedule; everything else keeps what is due.
SELECT wf_alter_schedule('report', misfire => 'skip', overlap => 'queue', jitter => '5 s') IS NOT NULL AS altered;
SELECT schedule, misfire, misfire_cap, overlap, jitter, next_run FROM workflow.schedules WHERE name = 'report';
SELECT wf_alter_schedule('report', schedule => 'every 90 minutes', jitter => '0') IS NOT NULL AS altered;
SELECT schedule, misfire, misfire_cap, overlap, jitter, next_run FROM workflow.schedules WHERE name = 'report';
RESET ROLE; SET workflow.now = '2030-01-01 04:20:00+00'; SET ROLE regress_sched_ada;
SELECT wf_schedule('report', 'every 90 minutes', 'SELECT count(*) FROM archive') IS NOT NULL AS again;
SELECT schedule, misfire, overlap, next_run FROM workflow.schedules WHERE name = 'report';
SELECT wf_alter_schedule('report', timezone => 'Asia/Tokyo', schedule => '30 18 L * *') IS NOT NULL AS altered;
SELECT schedule, time_zone, next_run, next_run AT TIME ZONE 'Asia/Tokyo' AS in_tokyo FROM workflow.schedules WHERE name = 'report';

-- Pause and resume: what the pause covered is not made up for.
SELECT wf_alter_schedule('report', schedule => '@hourly', timezone => 'UTC', active => false) IS NOT NULL AS paused;
RESET ROLE; SET workflow.now = '2030-01-01 06:30:00+00'; SET ROLE regress_sched_ada;
SELECT wf_run_due();
SELECT active, next_run FROM workflow.schedules WHERE name = 'report';
SELECT wf_alter_schedule('report', active => true) IS NOT NULL AS resumed;
SELECT active, next_run FROM workflow.schedules WHERE name = 'report';

-- A run right now, beside the schedule.
SELECT wf_schedule_run_now('report') IS NOT NULL AS instance;
SELECT wf_run_due();
SELECT scheduled_at, status, rows FROM workflow.schedule_runs WHERE name = 'report' ORDER BY scheduled_at DESC LIMIT 1;
SELECT next_run FROM workflow.schedules WHERE name = 'report';

-- A workflow on a schedule: always the version that is published then, with input and correlation id.
SELECT * FROM wf_define('{"definitionId": "greet", "inputs": [{"name": "who", "type": "String"}], "root": {"type": "WriteLine", "text": {"js": "`hello ${getInput(''who'')}`"}}}');
SELECT wf_schedule_workflow('greet', '*/30 * * * *', 'greet', '{"who": "Ada"}', correlation_id => 'g') IS NOT NULL AS scheduled;
RESET ROLE; SET workflow.now = '2030-01-01 07:00:00+00'; SET ROLE regress_sched_ada;
SELECT wf_run_due();
SELECT * FROM wf_define('{"definitionId": "greet", "root": {"type": "WriteLine", "text": {"js": "`good bye ${getInput(''who'')}`"}}}');
SELECT wf_alter_schedule('greet', input => '{"who": "Bob"}') IS NOT NULL AS altered;
RESET ROLE; SET workflow.now = '2030-01-01 07:30:00+00'; SET ROLE regress_sched_ada;
SELECT wf_run_due();
SELECT version, correlation_id, input, data #>> '{}' AS line FROM workflow.journal JOIN workflow.instance_list USING (instance_id) WHERE event = 'Line' ORDER BY at;

-- If nothing is published when it fires, that instant is given up, and the reason kept.
SELECT wf_retract('greet');
RESET ROLE; SET workflow.now = '2030-01-01 08:00:00+00'; SET ROLE regress_sched_ada;
SELECT wf_run_due();
SELECT last_status, last_error, attempts, next_run FROM workflow.schedules WHERE name = 'greet';
SELECT wf_publish('greet');
RESET ROLE; SET workflow.now = '2030-01-01 08:30:00+00'; SET ROLE regress_sched_ada;
SELECT wf_run_due();
SELECT last_status, last_error, attempts, next_run FROM workflow.schedules WHERE name = 'greet';

-- What PostgreSQL refuses inside a transaction block runs outside of one, in a worker; wf_run_due leaves it to that.
SELECT wf_schedule('vacuum', '@daily', 'VACUUM sales') IS NOT NULL AS scheduled;
SELECT wf_schedule_run_now('vacuum') IS NOT NULL AS instance;
SELECT wf_run_due();
SELECT wf_run_due();
SELECT activity, payload FROM workflow.waiting JOIN workflow.open_bookmarks USING (bookmark_id);
SELECT status FROM workflow.schedule_runs WHERE name = 'vacuum';

-- What a worker does when it has run the command:
SELECT r.sub_status, r.output FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"rows": 0}') AS r;
SELECT status, rows FROM workflow.schedule_runs WHERE name = 'vacuum';
SELECT wf_schedule_run_now('vacuum') IS NOT NULL AS instance;
SELECT wf_run_due();
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"error": {"sqlstate": "57P02", "message": "the server ended while the command was running"}}') AS r;
SELECT status, sqlstate, error FROM workflow.schedule_runs WHERE name = 'vacuum' ORDER BY instance_id;

-- Which commands those are is decided by their text, and can be said.
RESET ROLE;
CREATE FUNCTION pg_temp.is_apart(command text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_schedule('probe', '@yearly', command);
    RETURN (SELECT (input ->> 'topLevel')::boolean FROM workflow.triggers WHERE schedule_name = 'probe');
END $$;
SELECT c AS command, pg_temp.is_apart(c) AS top_level
  FROM unnest(ARRAY['VACUUM', 'ANALYZE', 'CREATE INDEX CONCURRENTLY ON sales (day)', 'CREATE INDEX ON sales (day)', 'DROP INDEX CONCURRENTLY i', 'DROP INDEX i',
                    'REINDEX TABLE CONCURRENTLY sales', 'REINDEX TABLE sales', 'REINDEX DATABASE workflow', 'CALL p()', 'CREATE DATABASE d', 'ALTER SYSTEM SET work_mem = 1', 'CLUSTER',
                    'CLUSTER sales', 'ALTER TABLE a DETACH PARTITION b CONCURRENTLY', 'ALTER TABLE a DETACH PARTITION b', 'DISCARD ALL', 'COMMIT PREPARED ''x''', 'DO $x$ BEGIN END $x$']) AS c;
SELECT wf_alter_schedule('probe', top_level => true) IS NOT NULL AS altered;
SELECT input FROM workflow.triggers WHERE schedule_name = 'probe';
SELECT wf_unschedule('probe');

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
SET ROLE regress_sched_eve;
SELECT wf_schedule('report', '@daily', 'SELECT set_config(''test.ran_as'', current_user, false)') IS NOT NULL AS changed;
RESET ROLE;
SET workflow.now = '2030-01-02 00:00:00+00';
SELECT wf_run_due();
SELECT o.name, r.status FROM workflow.schedule_runs AS r JOIN workflow.schedules AS s USING (schedule_id), LATERAL (SELECT s.owner AS name) AS o WHERE s.owner = 'regress_sched_eve';
SET ROLE regress_sched_eve;
SELECT wf_run_due();
SELECT current_setting('test.ran_as');
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

-- Mistakes.
SELECT wf_schedule('x', '61 * * * *', 'SELECT 1');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', 'SELEC 1');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', ' -- nothing');
SELECT wf_schedule('x', '@daily', 'VACUUM; SELECT 1');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', 'BEGIN; SELECT 1; COMMIT');
SELECT wf_schedule('x', '@daily', 'COMMIT');
SELECT wf_schedule('x', '@daily', 'begin', top_level => true);
SELECT wf_schedule('x', '@daily', 'SELECT 1', timezone => 'Mars/Phobos');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', 'SELECT 1', misfire => 'never');
SELECT wf_schedule('x', '@daily', 'SELECT 1', misfire_cap => 0);
SELECT wf_schedule('x', '@daily', 'SELECT 1', overlap => 'no');
SELECT wf_schedule('x', '@daily', 'SELECT 1', jitter => '-1 s');
SELECT wf_schedule('', '@daily', 'SELECT 1');
SELECT wf_schedule(NULL, '@daily', 'SELECT 1');
\echo :SQLSTATE
SELECT wf_schedule('x', '@daily', NULL);
SELECT wf_schedule_workflow('x', '@daily', 'nothing');
\echo :SQLSTATE
SELECT wf_schedule_workflow('x', '@daily', 'greet', '[1]');
SELECT wf_retract('greet');
SELECT wf_schedule_workflow('x', '@daily', 'greet');
\echo :SQLSTATE
SELECT wf_alter_schedule('nothing', active => true);
\echo :SQLSTATE
SELECT wf_alter_schedule('greet', command => 'SELECT 1');
\echo :SQLSTATE
SELECT wf_alter_schedule('archive', input => '{}');
SELECT wf_alter_schedule('archive', command => 'SELECT 1', input => '{}');
SELECT wf_unschedule('nothing');
SELECT wf_schedule_run_now('nothing');
\echo :SQLSTATE

-- wf_unschedule leaves the runs.
SELECT wf_unschedule('archive');
SELECT name, status FROM workflow.schedule_runs WHERE name = 'archive';
SELECT * FROM wf_check();
