-- wf_alter_schedule changes what is given; pause and resume; a run right now.
\i tests/regress/include/schedules.sql

RESET ROLE; SET workflow.now = '2030-01-01 04:00:00+00'; SET ROLE regress_sched_ada;
SELECT wf_schedule('report', '@hourly', 'SELECT count(*) FROM archive') IS NOT NULL AS scheduled;

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
