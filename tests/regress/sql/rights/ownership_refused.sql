-- What wf_set_owner refuses: an object that does not exist, one of another owner, and a new owner that the caller cannot become.
\i tests/regress/include/ownership.sql

SELECT wf_schedule('nightly', '@daily', 'SELECT 1') IS NOT NULL AS scheduled;

-- What is no question.
SELECT wf_set_owner(NULL, 'ours', 'regress_own_ann');
SELECT wf_set_owner('definition', NULL, 'regress_own_ann');
SELECT wf_set_owner('definition', 'ours', NULL);
\set VERBOSITY default
SELECT wf_set_owner('table', 'ours', 'regress_own_ann');
\set VERBOSITY terse
SELECT wf_set_owner('definition', 'ours', 'regress_own_nobody');
SELECT wf_set_owner('definition', 'theirs', 'regress_own_team');
SELECT wf_set_owner('instance', 'no uuid', 'regress_own_team');
SELECT wf_set_owner('instance', '01900000-0000-7000-8000-000000000000', 'regress_own_team');
SELECT wf_set_owner('schedule', 'weekly', 'regress_own_team');
SELECT wf_set_owner('activity type', 'Other', 'regress_own_team');
SELECT wf_set_owner('definition', 'Workflow.ScheduledCommand', 'regress_own_team');
SELECT wf_set_owner('definition', 'ours', 'regress_own_ann');

-- security.md#renamed-and-dropped-roles: a role that gives something away must be able to SET ROLE to the new owner
-- She owns it, but cannot be them: her definer definition would run with their rights.
\set VERBOSITY default
SELECT wf_set_owner('definition', 'ours', 'regress_own_boss');
\set VERBOSITY terse
SELECT wf_set_owner('definition', 'ours', 'regress_own_ben');
SELECT wf_set_owner('instance', :'running', 'regress_own_boss');
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_boss');
SELECT wf_set_owner('activity type', 'Own.Type', 'regress_own_boss');
-- He could be himself, but owns nothing of it.
SET ROLE regress_own_ben;
SELECT wf_set_owner('definition', 'ours', 'regress_own_ben');
SELECT wf_set_owner('instance', :'running', 'regress_own_ben');
SELECT wf_set_owner('schedule', 'nightly', 'regress_own_ben');
SELECT wf_set_owner('activity type', 'Own.Type', 'regress_own_ben');
RESET ROLE;
SELECT DISTINCT owner FROM workflow.definition_list;
