-- An instance that is given away goes with what is below it, and its journal says so.
\i tests/regress/include/ownership.sql

-- An instance: what is below it goes along, a child alone does not go.
SET ROLE regress_own_ann;
SELECT instance_id AS child FROM workflow.instance_list WHERE parent_instance_id = :'parent' \gset
\set VERBOSITY default
SELECT wf_set_owner('instance', :'child', 'regress_own_team');
\set VERBOSITY terse
SELECT wf_set_owner('instance', :'parent', 'regress_own_team');
SELECT definition_id, owner FROM workflow.instance_list WHERE definition_id IN ('parent', 'child') ORDER BY 1;
SELECT cardinality(resumed) FROM wf_publish_event('Child');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'parent';
SELECT wf_set_owner('instance', :'single', 'regress_own_team');
SELECT owner FROM workflow.instance_list WHERE instance_id = :'single';
-- The journal of each says so, and its rows go on being counted.
SELECT i.definition_id, j.event, j.data FROM workflow.journal AS j JOIN workflow.instance_list AS i USING (instance_id)
 WHERE i.instance_id IN (:'parent', :'child', :'single') AND j.event = 'Owner changed' ORDER BY i.instance_id, j.seq;
SELECT instance_id = :'parent' AS is_parent, count(DISTINCT seq) = max(seq) - min(seq) + 1 AS is_whole, max(seq) > 1 AS goes_on
  FROM workflow.journal WHERE instance_id IN (:'parent', :'single') GROUP BY 1, instance_id ORDER BY 1;
SELECT substring(line FROM 'given.*') AS line FROM wf_explain(:'single') AS line WHERE line ~ ' given ';
RESET ROLE;
-- Inside its own burst it cannot be given away.
SELECT * FROM wf_define('{"definitionId": "self", "root": {"type": "SetName", "value": {"sql": "SELECT wf_set_owner(''instance'', instance ->> ''id'', ''regress_own_ben'')::text"}}}');
SET client_min_messages = error;
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' LIKE '%is running further up in this session' AS said FROM wf_run('self');
RESET client_min_messages;
-- A role gets a row with its first call. What a session has kept of that is gone if the row is.
CREATE ROLE regress_own_new IN ROLE regress_own_ann;
SET ROLE regress_own_new;
BEGIN;
SAVEPOINT before;
SELECT resumed FROM wf_publish_event('Child', keep_for => '1 day');
SELECT resumed FROM wf_publish_event('Child', keep_for => '1 day');
ROLLBACK TO before;
SELECT resumed FROM wf_publish_event('Child', keep_for => '1 day');
SELECT resumed FROM wf_publish_event('Child', keep_for => '1 day');
ROLLBACK;
SELECT resumed FROM wf_publish_event('Child', keep_for => '1 day');
RESET ROLE;
SELECT o.name, count(*) FROM workflow.bookmark_queue AS q JOIN workflow.owners AS o ON o.id = q.sender WHERE o.name LIKE 'regress_own_new%' GROUP BY 1;
-- Its new name is stored with its next call.
ALTER ROLE regress_own_new RENAME TO regress_own_newer;
SET ROLE regress_own_newer;
SELECT resumed FROM wf_publish_event('Child', keep_for => '1 day');
RESET ROLE;
SELECT o.name, count(*) FROM workflow.bookmark_queue AS q JOIN workflow.owners AS o ON o.id = q.sender WHERE o.name LIKE 'regress_own_new%' GROUP BY 1;
SELECT * FROM wf_check();
