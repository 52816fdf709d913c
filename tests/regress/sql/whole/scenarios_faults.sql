-- Scenarios of Elsa's own tests: faults and incidents.
\i tests/regress/include/run.sql

SET client_min_messages = error;

-- Fault strategy: what was scheduled runs, then the workflow is Faulted; one incident.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Start"}, {"type": "Fork", "joinMode": "WaitAll", "branches": [
    [{"type": "WriteLine", "text": "Step 1a"}, {"id": "bad", "type": "Fault", "message": "bad"}, {"type": "WriteLine", "text": "Step 1b"}],
    [{"type": "WriteLine", "text": "Step 2a"}, {"type": "WriteLine", "text": "Step 2b"}]]}, {"type": "WriteLine", "text": "End"}]', options => '{"incidentStrategy": "Fault"}');
SELECT activity_id, message FROM workflow.open_incidents;
SELECT wf_cancel(instance_id) FROM workflow.open_incidents;

-- ContinueWithIncidents: the other branch goes on to its end, the workflow stays Suspended; one incident.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Start"}, {"type": "Fork", "joinMode": "WaitAll", "branches": [
    [{"type": "WriteLine", "text": "Step 1a"}, {"id": "bad", "type": "Fault", "message": "bad"}, {"type": "WriteLine", "text": "Step 1b"}],
    [{"type": "WriteLine", "text": "Step 2a"}, {"id": "wait", "type": "Event", "eventName": "Go"}, {"type": "WriteLine", "text": "Step 2b"}]]}, {"type": "WriteLine", "text": "End"}]', options => '{"incidentStrategy": "ContinueWithIncidents"}');
SELECT pg_temp.resume('wait');
SELECT activity_id, message FROM workflow.open_incidents;
SELECT wf_cancel(instance_id) FROM workflow.open_incidents;

-- Elsa's name for it.
SELECT pg_temp.run('{"id": "bad", "type": "Fault", "message": "bad"}', options => '{"incidentStrategyType": "Elsa.Workflows.IncidentStrategies.ContinueWithIncidentsStrategy, Elsa.Workflows.Core"}');
SELECT wf_cancel(instance_id) FROM workflow.open_incidents;

-- A fault stops its sequence.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "before"}, {"id": "bad", "type": "Fault"}, {"type": "WriteLine", "text": "after"}]');
SELECT sqlstate, message, detail FROM workflow.open_incidents;
SELECT wf_cancel(instance_id) FROM workflow.open_incidents;

-- In a flowchart, the branch of a fault is neither done nor dead: a join still waits for it, and a retry goes on there.
CREATE TABLE switch (position boolean);
INSERT INTO switch VALUES (false);
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "s", "type": "WriteLine", "text": "start"}, {"id": "a", "type": "Sql", "statement": "SELECT 1 / position::int FROM switch"}, {"id": "b", "type": "WriteLine", "text": "b"},
        {"id": "j", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "z", "type": "WriteLine", "text": "end"}],
    "connections": [["s", "a"], ["s", "b"], ["a", "j"], ["b", "j"], ["j", "z"]]}');
UPDATE switch SET position = true;
SELECT r.sub_status FROM workflow.open_incidents AS o, wf_retry(o.instance_id) AS r;
SELECT data #>> '{}' AS line FROM workflow.journal WHERE event = 'Line' AND instance_id = (SELECT instance_id FROM workflow.instance_list ORDER BY instance_id DESC LIMIT 1) ORDER BY seq, number;

-- In a loop, a retry repeats the round that failed.
UPDATE switch SET position = false;
SELECT pg_temp.run('{"type": "ForEach", "items": ["a", "b", "c"], "body": [{"type": "WriteLine", "text": {"var": "CurrentValue"}},
    {"type": "If", "condition": {"js": "getCurrentValue() === ''b''"}, "then": {"id": "check", "type": "Sql", "statement": "SELECT 1 / position::int FROM switch"}}]}');
UPDATE switch SET position = true;
SELECT r.sub_status FROM workflow.open_incidents AS o, wf_retry(o.instance_id) AS r;
SELECT data #>> '{}' AS line FROM workflow.journal WHERE event = 'Line' AND instance_id = (SELECT instance_id FROM workflow.instance_list ORDER BY instance_id DESC LIMIT 1) ORDER BY seq, number;

-- Two faults in two branches: two incidents; each can be retried alone.
UPDATE switch SET position = false;
SELECT pg_temp.run('{"type": "Parallel", "activities": [{"id": "one", "type": "Sql", "statement": "SELECT 1 / position::int FROM switch"}, {"id": "two", "type": "Sql", "statement": "SELECT 2 / position::int FROM switch"}]}');
SELECT activity_id FROM workflow.open_incidents ORDER BY activity_id;
UPDATE switch SET position = true;
SELECT r.sub_status FROM (SELECT DISTINCT instance_id FROM workflow.open_incidents) AS o, wf_retry(o.instance_id, '{two}') AS r;
SELECT activity_id FROM workflow.open_incidents;
SELECT r.sub_status FROM workflow.open_incidents AS o, wf_retry(o.instance_id) AS r;
SELECT count(*) FROM workflow.open_incidents;

-- What an activity did before its fault is undone, its variables and bookmarks included.
CREATE FUNCTION half_done(context jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO switch VALUES (NULL);
    IF context #>> '{inputs,fail}' = 'late' THEN RETURN '{"variables": {"V": "changed"}, "bookmarks": [{}], "nonsense": 1}'; END IF;
    RAISE EXCEPTION 'half way';
END $$;
SELECT wf_register_activity('Test.HalfDone', 'half_done(jsonb)', inputs => '[{"name": "fail", "type": "String"}]');
SELECT pg_temp.run('{"id": "h", "type": "Test.HalfDone", "fail": "early"}', '{"V": "initial"}');
SELECT pg_temp.run('{"id": "h", "type": "Test.HalfDone", "fail": "late"}', '{"V": "initial"}');
SELECT count(*) FROM switch;
SELECT DISTINCT variables FROM workflow.instance_list WHERE sub_status = 'Faulted';
SELECT count(*) FROM workflow.waiting;
SELECT * FROM wf_check();
