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
-- An event that notifies people of a task starts workflows with the key of its instance.
SET client_min_messages = warning;
SELECT wf_define('{"definitionId": "noticed", "root": {"type": "Event", "eventName": "Noticed", "canStartWorkflow": true}}') \g /dev/null
SELECT wf_define('{"definitionId": "notices", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["ada"], "notify": {"event": "Noticed"}}}') \g /dev/null
SELECT wf_start('notices', correlation_id => :'here') \g /dev/null
SELECT correlation_id = :'here' AS has_key FROM workflow.instance_list WHERE definition_id = 'noticed';
