-- An adoption gives what two owners had to one role. Rows of instances and of the queue keep the id of the former owner.
SET client_min_messages = warning;
CREATE ROLE regress_merge_old;
CREATE ROLE regress_merge_new;
SELECT wf_grant_usage('regress_merge_new');
SELECT wf_grant_usage('regress_merge_old');
SET ROLE regress_merge_new;
SELECT * FROM wf_define('{"definitionId": "new", "root": [{"type": "WriteLine", "text": "new"}]}');
SELECT wf_call('k', 'm2', 'start', 'new') ->> 'instance_id' AS second \gset
SET ROLE regress_merge_old;
SELECT * FROM wf_define('{"definitionId": "part", "root": [{"type": "WriteLine", "text": "part"}]}');
SELECT * FROM wf_define('{"definitionId": "parts", "root": {"type": "BulkDispatchWorkflows", "workflowDefinitionId": "part", "items": [1, 2, 3], "waitForCompletion": true}}');
SELECT wf_call('k', 'm1', 'start', 'part') ->> 'instance_id' AS first \gset
SELECT wf_call('k', 'm2', 'start', 'part') ->> 'instance_id' IS NOT NULL AS started;
SELECT wf_start('parts') AS parent \gset
SELECT wf_pause(:'parent');
SELECT wf_run_due();
RESET ROLE;
SELECT count(*), count(bookmark_id) AS for_bookmarks FROM workflow.bookmark_queue;
-- Nothing but a sweep delivers the reports, as where another session has had the parent.
DELETE FROM workflow.pauses;
UPDATE workflow.instances SET paused_at = NULL WHERE id = :'parent';

-- As a dump of another cluster leaves it.
UPDATE workflow.owners SET role = ('1:42:' || name)::workflow.stored_role;
UPDATE workflow.identity SET database = 0;
SELECT count(*) > 0 AS adopted FROM wf_adopt_database(owners => '{"regress_merge_old": "regress_merge_new"}');
SELECT count(DISTINCT sender) AS senders, bool_and(o.same_as IS NOT NULL) AS former FROM workflow.bookmark_queue AS q JOIN workflow.owners AS o ON o.id = q.sender;

-- The reports of the children reach the parent.
SET ROLE regress_merge_new;
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'parent';
-- A call that the former owner has made is not made again; where both have made one of this name, the role's own counts.
SELECT wf_call('k', 'm1', 'start', 'part') ->> 'instance_id' = :'first' AS same;
SELECT wf_call('k', 'm2', 'start', 'new') ->> 'instance_id' = :'second' AS same;
RESET ROLE;
SELECT count(*) FROM workflow.bookmark_queue;
SELECT * FROM wf_check();

DROP OWNED BY regress_merge_old, regress_merge_new;
DROP ROLE regress_merge_old, regress_merge_new;
