-- A workflow stays on its node: what it starts or tells, too.
\i tests/regress/include/route.sql
SET workflow.route_check = 'partitions';
SELECT wf_add_partitions('{0}', 2);
RESET client_min_messages;

SELECT wf_run('moves', jsonb_build_object('key', :'there'), correlation_id => :'here') IS NOT NULL AS ran;
SELECT wf_run('moves', jsonb_build_object('key', NULL), correlation_id => :'here') IS NOT NULL AS ran;
SELECT wf_run('tells', jsonb_build_object('key', :'there'), correlation_id => :'here') IS NOT NULL AS ran;
SELECT wf_run('tells', jsonb_build_object('key', :'here'), correlation_id => :'here') IS NOT NULL AS ran;
SELECT wf_run('parent', jsonb_build_object('key', :'there'), correlation_id => :'here') IS NOT NULL AS ran;
SELECT activity_id, sqlstate, message, detail, hint FROM workflow.open_incidents WHERE activity_id <> 'bad' ORDER BY created_at, activity_id;
-- A child without a key has that of its parent, and so has what goes on in place of an instance.
SELECT wf_run('parent', '{"key": ""}', correlation_id => :'here') IS NOT NULL AS ran;
SELECT array_length(resumed, 1) AS resumed FROM wf_publish_event('On', correlation_id => :'here');
SELECT * FROM wf_check();
