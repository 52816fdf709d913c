-- Tasks move with their leases, and get the limits of the node to which they come.
\i tests/regress/include/move.sql
SET workflow.now = '2030-01-01 02:00:00+00';

-- Leases end, and a last one with it.
CREATE TABLE held AS SELECT t.task_id, c.token FROM workflow.open_tasks AS t, wf_claim_task(t.task_id, 'w') AS c WHERE t.correlation_id = 'C' ORDER BY t.task_id;
SELECT wf_fail_task(task_id, token, 'no') FROM held ORDER BY task_id DESC LIMIT 1 \g /dev/null
SET workflow.now = '2030-01-01 02:01:00+00';
UPDATE held SET token = (SELECT c.token FROM wf_claim_task(task_id, 'w') AS c) WHERE task_id = (SELECT task_id FROM held ORDER BY task_id DESC LIMIT 1);
SELECT b.claims, b.token IS NOT NULL AS is_held, b.lease_until, b.available_at FROM workflow.bookmarks AS b JOIN held ON id = task_id ORDER BY id;
-- A stimulus that names a bookmark alone goes with it.
SELECT wf_enqueue_bookmark(bookmark_id => task_id, keep_for => '1 day') FROM held ORDER BY task_id LIMIT 1 \g /dev/null
BEGIN;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT b FROM wf_export_instances('{C}', remove => true) AS b;
SELECT count(*) FROM workflow.bookmark_queue WHERE bookmark_id IS NOT NULL;
SELECT wf_import_instances(array_agg(b)) > 0 AS moved FROM moved;
SELECT count(*) FROM workflow.bookmark_queue WHERE bookmark_id IS NOT NULL;
DELETE FROM workflow.bookmark_queue WHERE bookmark_id IS NOT NULL;
COMMIT;
SELECT b.claims, b.token IS NOT NULL AS is_held, b.lease_until, b.available_at FROM workflow.bookmarks AS b JOIN held ON id = task_id ORDER BY id;
SELECT name, due_at FROM workflow.bookmarks WHERE name = 'Workflow.Lease';
SELECT wf_complete_task(task_id, token => token) FROM held ORDER BY task_id LIMIT 1;
SELECT wf_run_due() > 0 AS fired;
SELECT t.status FROM workflow.tasks AS t JOIN held ON id = task_id ORDER BY id;

-- Limits of this node hold for what comes; a lane of another node means nothing here.
SET ROLE regress_move_owner;
SELECT wf_limit_tasks('check', 1) \g /dev/null
RESET ROLE;
BEGIN;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT b FROM wf_export_instances('{A,B}', remove => true) AS b;
SET ROLE regress_move_owner;
SELECT wf_limit_tasks('check') \g /dev/null
RESET ROLE;
SELECT wf_import_instances(array_agg(b)) > 0 AS moved FROM moved;
SELECT DISTINCT lane, available_at FROM workflow.bookmarks WHERE activity_type = 'Elsa.RunTask' AND correlation_id IN ('A', 'B');
ROLLBACK;
BEGIN;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT b FROM wf_export_instances('{A,B}', remove => true) AS b;
SELECT wf_import_instances(array_agg(b)) > 0 AS moved FROM moved;
COMMIT;
SELECT wf_accept_tasks('regress_move_owner', 'regress_move_clerk');
SET ROLE regress_move_clerk;
SELECT count(*) FROM wf_claim_tasks('{check}', max => 10);
SET ROLE regress_move_owner;
SELECT wf_limit_tasks('check') \g /dev/null
RESET ROLE;
SELECT * FROM wf_check();
