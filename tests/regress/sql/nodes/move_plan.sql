-- A move reads what it moves, and not what else is on a node, also in a session that planned it while the node was empty.
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "child", "root": {"type": "RunTask", "taskName": "check"}}') \g /dev/null
SELECT wf_define('{"definitionId": "order", "root": {"type": "DispatchWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true}}') \g /dev/null
CREATE TABLE bundle (piece bytea);
CREATE FUNCTION is_one(key text) RETURNS boolean LANGUAGE sql RETURN key = 'one';
CREATE FUNCTION stays(key text) RETURNS boolean LANGUAGE sql RETURN key <> 'gone';
CREATE FUNCTION pages(statement text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, FORMAT json) ' || statement INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks';
END $$;
-- Pages of a move of one key with a child, and of what asks about each key.
CREATE FUNCTION reads(OUT leave integer, OUT arrive integer, OUT search integer, OUT keep integer) LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE bundle;
    leave := pages('INSERT INTO bundle SELECT wf_export_instances(ARRAY[''one''], remove => true)');
    arrive := pages('SELECT wf_import_instances(ARRAY(SELECT piece FROM bundle))');
    search := pages('SELECT wf_export_instances(predicate => ''is_one(text)'')');
    keep := pages('SELECT wf_keep_instances(''stays(text)'', max_percent => 100)');
END $$;

SELECT wf_start('order', correlation_id => 'one') IS NOT NULL AS is_started;
SELECT count(*) AS instances FROM workflow.instances;
-- The first ones read more, because they load caches.
SELECT reads() IS NOT NULL AS is_loaded;
SELECT * FROM reads() \gset before_
SELECT count(wf_start('order', correlation_id => 'other-' || n)) FROM generate_series(1, 5000) AS n;
SELECT * FROM reads() \gset
SELECT :leave - :before_leave < 100 AS leaves_alone, :arrive - :before_arrive < 100 AS arrives_alone;
-- Each key is looked at once.
SELECT :search - :before_search < 2500 AS searches_once, :keep - :before_keep < 2500 AS keeps_once;
