-- The routing guard: with workflow.route_check every call says whether its correlation id belongs to this node, before
-- anything else happens.
\i tests/regress/include/route.sql

-- Without the guard any key will do.
SELECT call, outcome(call, :'there') FROM calls WHERE outcome(call, :'there') <> 'done' ORDER BY number;

-- A node without partitions has no keys. Only a superuser may set the guard, and say which partitions are here.
SET workflow.route_check = 'partitions';
SELECT wf_start('event', correlation_id => :'here');
SET ROLE regress_route_plain;
SET workflow.route_check = '';
SELECT wf_add_partitions('{0}', 2);
SELECT wf_remove_partitions('{0}');
SELECT wf_partition('A', 2) IN (0, 1) AS is_known;
SELECT count(*) FROM workflow.partitions;
RESET ROLE;
SELECT wf_add_partitions('{0,0}', 2);
SELECT wf_add_partitions('{0}', 2);
SELECT wf_add_partitions('{1}', 4);
SELECT wf_add_partitions('{2}', 2);
SELECT wf_add_partitions('{-1}', 2);
SELECT wf_add_partitions('{0}', 5);
SELECT wf_add_partitions('{0,NULL}', 2);
SELECT wf_add_partitions(NULL, 2);
SELECT wf_remove_partitions(NULL);
SELECT wf_remove_partitions('{7}');

SELECT call, outcome(call, :'here') AS here, outcome(call, :'there') AS there, outcome(call, NULL) AS "without" FROM calls ORDER BY number;

-- The errors in full.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SELECT wf_start('event', correlation_id => :'there');
SELECT wf_start('event');
SELECT wf_resume(bookmark('event', NULL));
\set VERBOSITY default
-- A row of the tree is here, but its key is not.
SELECT outcome('wf_resume(%L)', (SELECT b.id::text FROM workflow.bookmarks b JOIN workflow.instances c ON c.id = b.instance_id
    WHERE c.definition_id = 'child' AND c.parent_instance_id = instance('parent', key))) FROM unnest(ARRAY[:'here', :'there']) AS key;
SELECT * FROM wf_check();
