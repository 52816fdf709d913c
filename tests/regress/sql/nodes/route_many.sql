-- The routing guard and calls for many: those of another node are refused or passed over, and the call goes on with the others.
\i tests/regress/include/route.sql
SET workflow.route_check = 'partitions';
SELECT wf_add_partitions('{0}', 2);

-- A call for many refuses those of another node, and those without a key, and goes on with the others. So does a dry run.
BEGIN;
SELECT wf_define('{"definitionId": "delay", "variables": [{"name": "V", "value": 2}], "root": {"id": "wait", "type": "Delay", "timeSpan": "1 hour"}}');
CREATE FUNCTION verdicts(call text) RETURNS TABLE (key text, outcome text, problems text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE 'SELECT i.correlation_id, v.outcome, regexp_replace(v.problems::text, ''[0-9a-f-]{36}'', ''ID'') FROM workflow.instances AS i JOIN '
        || call || ' AS v ON v.instance_id = i.id ORDER BY 1';
END $$;
SELECT v.* FROM unnest(ARRAY[true, false]) AS dry, verdicts(format('wf_migrate_all(''delay'', dry_run => %L)', dry)) AS v;
SELECT v.* FROM unnest(ARRAY[true, false]) AS dry,
    verdicts(format('wf_alter(''[{"type": "ModifyVariable", "variableId": "V", "value": 3}]'', ''{"definitionIds": ["delay"]}'', dry_run => %L)', dry)) AS v;
SELECT v.* FROM unnest(ARRAY[true, false]) AS dry,
    verdicts(format('wf_alter(''[{"type": "Migrate", "targetVersion": 1}]'', ''{"definitionIds": ["delay"]}'', dry_run => %L)', dry)) AS v;
ROLLBACK;
SELECT outcome('wf_migrate(instance(''delay'', %L), dry_run => true)', k) FROM unnest(ARRAY[:'here', :'there', NULL]) AS k;
-- Workers: what belongs elsewhere is passed over; its lease goes no further.
BEGIN;
SELECT DISTINCT t.correlation_id = :'here' AS here FROM wf_claim_tasks('{check}', max => 100) AS c JOIN workflow.open_tasks AS t USING (task_id);
ROLLBACK;
SELECT call, outcome(replace(call, '$', quote_literal(:'held_token')), :'held') FROM unnest(ARRAY['wf_extend_task(%L, $)', 'wf_fail_task(%L, $, ''no'')', 'wf_release_task(%L, $)', 'wf_complete_task(%L, token => $)']) AS call;
SELECT wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'held', 'token', :'held_token'))) \g /dev/null

-- An event without a key resumes what is here, and starts nothing.
SET client_min_messages = notice;
BEGIN;
SELECT array_length(resumed, 1) AS resumed, array_length(started, 1) AS started FROM wf_publish_event('Paid', correlation_id => '*');
SELECT array_length(started, 1) AS started FROM wf_publish_event('News');
ROLLBACK;
RESET client_min_messages;
SELECT array_length(started, 1) AS started FROM wf_publish_event('News', correlation_id => :'here');
SELECT wf_publish_event('News', correlation_id => NULL);
SELECT wf_publish_event('News', instance_id => '00000000-0000-0000-0000-000000000001');
SELECT * FROM wf_check();
