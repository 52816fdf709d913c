-- A schedule and an activity type that are given away.
\i tests/regress/include/ownership.sql

SELECT wf_schedule('nightly', '@daily', 'SELECT 1') IS NOT NULL AS scheduled;

-- A schedule, by name.
SET ROLE regress_own_ann;
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_team');
SELECT name, owner FROM workflow.schedules;
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_team');
SELECT wf_schedule('nightly', '@daily', 'SELECT 2') IS NOT NULL AS scheduled;
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_team');
RESET ROLE;

-- An activity type.
SELECT wf_set_owner('activity type', 'Own.Type', 'regress_own_ben');
SET ROLE regress_own_ann;
SELECT wf_register_activity('Own.Type', 'own_handler(jsonb)');
RESET ROLE;
