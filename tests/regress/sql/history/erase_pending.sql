-- wf_erase(actor => …) cannot make what still has an effect another person's: it passes neither `not` nor "actor": "required".
SET client_min_messages = warning;
CREATE ROLE regress_pending_owner;
CREATE ROLE regress_pending_staff;
CREATE ROLE regress_pending_app LOGIN NOINHERIT;
GRANT regress_pending_owner, regress_pending_staff TO regress_pending_app;
SELECT wf_grant_usage(r) FROM unnest('{regress_pending_owner,regress_pending_staff}'::name[]) AS r \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_pending_app;
SET ROLE regress_pending_owner;
SELECT wf_define('{"definitionId": "pay", "root": {"id": "approve", "type": "RunTask", "taskName": "Approve", "candidates": ["role:regress_pending_staff"], "not": ["starter"]}}') \g /dev/null
SELECT wf_grant('pay', 'regress_pending_staff', '{start,resume}');
RESET ROLE;

\c - regress_pending_app
SET client_min_messages = warning;
-- A stimulus that waits keeps its actor, and is counted.
SELECT gen_random_uuid() AS paid \gset
BEGIN;
SELECT wf_set_role('regress_pending_staff', 'zed');
SELECT count(*) FROM wf_enqueue_bookmark(instance_id => :'paid', activity_id => 'approve', input => '"approved"', keep_for => '1 day');
SELECT * FROM wf_erase(actor => 'zed');
SELECT wf_start('pay', instance_id => :'paid') = :'paid' AS started;
COMMIT;
-- So does a schedule that starts what belongs to another role. Its maker is the starter of the run.
BEGIN;
SELECT wf_set_role('regress_pending_staff', 'zed');
SELECT wf_schedule_workflow('s', '0 0 1 1 *', 'pay', correlation_id => 'scheduled') \g /dev/null
SELECT * FROM wf_erase(actor => 'zed');
SELECT wf_schedule_run_now('s') \g /dev/null
COMMIT;
\c - postgres
SET client_min_messages = warning;
SELECT wf_run_due() \g /dev/null
SELECT correlation_id, sub_status, started_actor FROM workflow.instances ORDER BY correlation_id;
SELECT actor, last_error FROM workflow.bookmark_queue \gset
SELECT :'actor' AS actor, :'last_error' ~ 'excludes "zed"' AS excluded;
\c - regress_pending_app
SET client_min_messages = warning;
BEGIN;
SELECT wf_set_role('regress_pending_staff', 'zed');
\set VERBOSITY terse
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"approved"') WHERE t.correlation_id = 'scheduled';
ROLLBACK;

-- Who chooses a pseudonym needs the right to set the actor, and it is no name of an actor.
\set VERBOSITY default
BEGIN;
SELECT wf_set_role('regress_pending_staff', 'zed');
SELECT * FROM wf_erase(actor => 'zed', pseudonym => 'erased-1');
\echo :SQLSTATE
ROLLBACK;
BEGIN;
SET LOCAL workflow.actor = 'erased-1';
ROLLBACK;
BEGIN;
SELECT wf_set_role('regress_pending_staff', ' erased-1');
ROLLBACK;
\c - postgres
SET client_min_messages = warning;
SELECT * FROM wf_erase(actor => 'zed', pseudonym => 'yan');
\echo :SQLSTATE

-- An instance that runs does not take an erased starter for a stranger: the owner's own erasure needs an override, too.
SET ROLE regress_pending_owner;
SELECT * FROM wf_erase(actor => 'zed');
RESET ROLE;
SELECT started_actor ~ '^erased-' AS erased FROM workflow.instances ORDER BY id;
\c - regress_pending_app
\set VERBOSITY terse
BEGIN;
SELECT wf_set_role('regress_pending_staff', 'yan');
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"approved"') WHERE t.correlation_id = 'scheduled';
ROLLBACK;

-- A dead letter loses its actor, and is not replayed as nobody's.
\set VERBOSITY default
BEGIN;
SELECT wf_set_role('regress_pending_staff', 'zed');
SELECT count(queued_id) FROM wf_publish_event('Gone', keep_for => '1 us');
COMMIT;
\c - postgres
SET client_min_messages = warning;
SELECT wf_run_due() \g /dev/null
SELECT id AS letter, actor FROM workflow.dead_letters \gset
SELECT :'actor' AS actor;
SET ROLE regress_pending_staff;
SELECT * FROM wf_erase(actor => 'zed');
\set VERBOSITY sqlstate
SELECT wf_replay(:'letter');
\set VERBOSITY default
-- A superuser's erasure reaches schedules; what waits in the queue is counted.
RESET ROLE;
SELECT * FROM wf_erase(actor => 'zed');
SELECT made_actor ~ '^erased-' AS erased FROM workflow.triggers WHERE schedule_name = 's';
DROP OWNED BY regress_pending_app;
REVOKE SET ON PARAMETER workflow.actor FROM regress_pending_app;
