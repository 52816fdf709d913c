-- A limit of tasks counts the definitions of its owner, whichever role claims.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
CREATE ROLE other LOGIN;
SELECT wf_grant_usage('other'), wf_accept_tasks('other');
SET ROLE other;
SELECT wf_define('{"definitionId": "others", "root": {"id": "work", "type": "RunTask", "taskName": "Shared"}}') \g /dev/null
SELECT count(wf_start('others')) FROM generate_series(1, 3);
SELECT wf_limit_tasks('Shared', 1);
RESET ROLE;
SELECT wf_define('{"definitionId": "mine", "root": {"id": "work", "type": "RunTask", "taskName": "Shared"}}') \g /dev/null
SELECT count(wf_start('mine')) FROM generate_series(1, 3);
SELECT name, concurrency, owner FROM workflow.task_limits;
SELECT definition_id FROM wf_claim_tasks('{Shared}', max => 10) ORDER BY 1;
SELECT count(*) FROM wf_claim_tasks('{Shared}');
-- It goes with the definition: the new owner has no limit.
SELECT wf_set_owner('definition', 'others', session_user);
SELECT definition_id FROM wf_claim_tasks('{Shared}', max => 10) ORDER BY 1;
SET ROLE other;
SELECT wf_limit_tasks('Shared');
SELECT count(*) FROM workflow.task_limits;
RESET ROLE;

-- Rolled back, nothing is limited.
BEGIN;
SELECT wf_limit_tasks('Shared', 1);
ROLLBACK;
SELECT count(wf_start('mine')) FROM generate_series(1, 3);
SELECT count(*) FROM wf_claim_tasks('{Shared}', max => 10);
SELECT count(*) AS slots FROM workflow.slots;
SELECT * FROM wf_check();
DROP OWNED BY other;
DROP ROLE other;
