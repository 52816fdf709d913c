-- workflow.activity_executions: what each execution of an activity did, as the journal tells it.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = error;
-- Executions by number, with those around them.
CREATE FUNCTION shown(instance uuid) RETURNS TABLE (n bigint, below bigint, node text, type text, status text, began text, ended text, outcomes text[], waits boolean)
LANGUAGE sql AS $$
    WITH e AS (SELECT row_number() OVER () AS n, * FROM workflow.activity_executions(instance))
    SELECT e.n, (SELECT p.n FROM e AS p WHERE p.activity_instance_id = e.parent_activity_instance_id), e.node_id, e.activity_type, e.status,
           to_char(e.started_at, 'HH24:MI'), to_char(e.completed_at, 'HH24:MI'), e.outcomes, e.has_bookmarks
    FROM e ORDER BY 1;
$$;

SELECT wf_define('{"definitionId": "trip", "root": {"id": "all", "type": "Sequence", "activities": [
    {"id": "say", "name": "Say it", "type": "WriteLine", "text": "hello"},
    {"id": "fit", "type": "FlowDecision", "condition": true},
    {"id": "go", "type": "Event", "eventName": "Go"},
    {"id": "again", "type": "For", "start": 1, "end": 2, "body": {"id": "step", "type": "Sequence", "activities": [{"id": "line", "type": "WriteLine", "text": "step"}]}},
    {"id": "wrong", "type": "Fault", "message": "no way", "code": "stuck"}]}}') \g /dev/null
SELECT wf_start('trip') AS trip \gset
SELECT * FROM shown(:'trip');
SET workflow.now = '2026-03-01 10:00:00+00';
SELECT sub_status FROM wf_resume((SELECT bookmark_id FROM workflow.open_bookmarks WHERE instance_id = :'trip'));
SELECT * FROM shown(:'trip');
SELECT activity_id, activity_name, fault FROM workflow.activity_executions(:'trip') WHERE fault IS NOT NULL OR activity_name IS NOT NULL;
SELECT wf_cancel(:'trip') \g /dev/null
SELECT * FROM shown(:'trip') WHERE status = 'Canceled';

-- The journal names nodes by the same text as the document and as bookmarks.
SELECT event, activity, node_id FROM workflow.journal WHERE instance_id = :'trip' AND activity IS NOT NULL ORDER BY seq, number LIMIT 5;
SELECT activity ->> 'nodeId' AS node_id FROM jsonb_path_query(wf_export('trip'), '$.root.activities[*]') AS activity;

-- Several open executions of one activity: each child is below its own, and so it is where an id stands for several activities.
SELECT wf_define('{"definitionId": "wide", "root": {"id": "each", "type": "ParallelForEach", "items": ["a", "b", "c"], "body": {"id": "round", "type": "Sequence", "activities": [
    {"id": "first", "type": "Sequence", "activities": [{"id": "same", "type": "Event", "eventName": "One"}]},
    {"id": "second", "type": "Sequence", "activities": [{"id": "same", "type": "Event", "eventName": "Two"}]}]}}}') \g /dev/null
SELECT wf_start('wide') AS wide \gset
SELECT wf_resume(bookmark_id) FROM (SELECT bookmark_id FROM workflow.open_bookmarks WHERE instance_id = :'wide' ORDER BY bookmark_id OFFSET 1 LIMIT 1) AS b \g /dev/null
SELECT wf_publish_event('One') \g /dev/null
SELECT wf_publish_event('Two') \g /dev/null
SELECT * FROM shown(:'wide');
SELECT node_id, count(*) FROM workflow.journal WHERE instance_id = :'wide' AND activity = 'same' GROUP BY 1 ORDER BY 1;

-- Many at once: what an event says of the execution around it does not depend on how many are open.
SELECT wf_define('{"definitionId": "many", "inputs": [{"name": "n"}], "root": {"id": "each", "type": "ParallelForEach", "items": {"input": "n"}, "body": {"id": "round", "type": "Sequence", "activities": [
    {"id": "wait", "type": "Event", "eventName": "Wait"}]}}}') \g /dev/null
SELECT wf_start('many', jsonb_build_object('n', (SELECT jsonb_agg(n) FROM generate_series(1, 40) AS n))) AS many \gset
SELECT count(*) AS waiting, count(DISTINCT e.parent_activity_instance_id) AS rounds, count(p.*) AS below_rounds
FROM workflow.activity_executions(:'many') AS e LEFT JOIN workflow.activity_executions(:'many') AS p ON p.activity_instance_id = e.parent_activity_instance_id AND p.activity_id = 'round'
WHERE e.activity_id = 'wait';

-- A workflow that is used twice as an activity: its activities have their ids twice.
SELECT wf_define('{"definitionId": "part", "name": "Part", "options": {"usableAsActivity": true}, "root": {"id": "inner", "type": "WriteLine", "text": "part"}}') \g /dev/null
SELECT wf_define('{"definitionId": "whole", "root": {"id": "all", "type": "Sequence", "activities": [{"id": "left", "type": "Part"}, {"id": "right", "type": "Part"}]}}') \g /dev/null
SELECT wf_start('whole') AS whole \gset
SELECT * FROM shown(:'whole');
SELECT DISTINCT node_id FROM workflow.journal WHERE instance_id = :'whole' AND activity = 'inner' ORDER BY 1;

-- options.journal with "values": the journal has inputs and outputs, by the names of the catalogue, and those that a registered type was given.
CREATE FUNCTION doubled(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('outputs', jsonb_build_object('twice', 2 * (context #> '{inputs,number}')::integer)) $$;
SELECT wf_register_activity('Acme.Double', 'doubled(jsonb)', inputs => '["number"]', outputs => '["twice"]');
SELECT wf_define('{"definitionId": "told", "options": {"journal": {"values": true}}, "variables": [{"name": "N", "value": 4}], "root": {"id": "all", "type": "Sequence", "activities": [
    {"id": "double", "type": "Acme.Double", "number": {"var": "N"}, "twice": {"var": "N"}},
    {"id": "say", "type": "WriteLine", "text": {"js": "`it is ${getN()}`"}},
    {"id": "ask", "type": "RunTask", "taskName": "Ask", "payload": {"object": {"n": {"var": "N"}}}},
    {"id": "shut", "type": "WriteLine", "text": "secret", "customProperties": {"logPersistenceMode": "Exclude"}}]}}') \g /dev/null
SELECT wf_start('told') AS told \gset
SELECT wf_complete_task(task_id, '{"by": "ada"}') FROM workflow.open_tasks WHERE instance_id = :'told' \g /dev/null
SELECT activity_id, status, inputs, outputs FROM workflow.activity_executions(:'told');
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'told' AND event LIKE '%puts%' ORDER BY seq, number;
SELECT e.* FROM wf_explain(:'told') AS e;
SELECT * FROM wf_validate('{"definitionId": "x", "options": {"journal": {"values": "yes", "inputs": true}}, "root": []}');
-- Without, the outputs of an open instance are those that it still has.
SELECT wf_define('{"definitionId": "open", "root": [{"id": "ask", "type": "RunTask", "taskName": "Ask"}, {"id": "go", "type": "Event", "eventName": "Never"}]}') \g /dev/null
SELECT wf_start('open') AS open \gset
SELECT wf_complete_task(task_id, '{"by": "bob"}') FROM workflow.open_tasks WHERE instance_id = :'open' \g /dev/null
SELECT activity_id, status, inputs, outputs FROM workflow.activity_executions(:'open');

-- Attempts: an execution that is tried again runs, and has its last fault.
SELECT wf_define('{"definitionId": "tried", "root": {"id": "try", "type": "Fault", "message": "not yet", "retry": {"maxAttempts": 2, "delay": "1 hour"}}}') \g /dev/null
SELECT wf_start('tried') AS tried \gset
SELECT * FROM shown(:'tried');
SET workflow.now = '2026-03-01 12:00:00+00';
SELECT wf_run_due() > 0 AS ran;
SELECT * FROM shown(:'tried');
-- Milestones alone, and none: what there is.
SELECT wf_define('{"definitionId": "quiet", "options": {"journal": "milestones"}, "root": [{"id": "go", "type": "Event", "eventName": "Go"}]}') \g /dev/null
SELECT wf_start('quiet') AS quiet \gset
SELECT * FROM shown(:'quiet');

-- An instance that went over to a version without one of its activities.
SELECT wf_define('{"definitionId": "moved", "root": {"id": "all", "type": "Sequence", "activities": [{"id": "old", "type": "WriteLine", "text": "old"}, {"id": "wait", "type": "Event", "eventName": "Go"}]}}') \g /dev/null
SELECT wf_start('moved') AS moved \gset
SELECT wf_define('{"definitionId": "moved", "root": {"id": "all", "type": "Sequence", "activities": [{"id": "wait", "type": "Event", "eventName": "Go"}, {"id": "new", "type": "WriteLine", "text": "new"}]}}') \g /dev/null
SELECT * FROM wf_migrate(:'moved');
SELECT wf_publish_event('Go', instance_id => :'moved') \g /dev/null
SELECT * FROM shown(:'moved');
SELECT DISTINCT activity, node_id FROM workflow.journal WHERE instance_id = :'moved' AND activity IS NOT NULL ORDER BY 1;

-- Rights are those of the views; an instance that does not exist is an error.
CREATE ROLE regress_executions;
SET ROLE regress_executions;
SELECT count(*) FROM workflow.activity_executions(:'trip');
RESET ROLE;
SELECT wf_grant('trip', 'regress_executions', '{read}');
SET ROLE regress_executions;
SELECT count(*) FROM workflow.activity_executions(:'trip');
SELECT count(*) FROM workflow.activity_executions('00000000-0000-0000-0000-000000000000');
RESET ROLE;
SELECT workflow._node_id('00000000-0000-0000-0000-000000000000', 'say') IS NULL AS unknown, workflow._node_id(NULL, 'say') IS NULL AS none;
SELECT wf_revoke('trip', 'regress_executions', '{read}');
DROP ROLE regress_executions;
