-- A workflow on a schedule runs in the version that is published when it fires, or not at all.
\i tests/regress/include/schedules.sql

RESET ROLE; SET workflow.now = '2030-01-01 06:30:00+00'; SET ROLE regress_sched_ada;
SELECT wf_schedule('report', '@hourly', 'SELECT count(*) FROM archive') IS NOT NULL AS scheduled;

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
