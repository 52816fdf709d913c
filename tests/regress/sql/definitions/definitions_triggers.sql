-- wf_validate lists what wf_define refuses, the payloads of triggers included, and runs nothing of the document.
\pset format unaligned
\pset tuples_only on
SELECT path || ' | ' || message FROM wf_validate('{"definitionId": "t", "root": {"type": "Flowchart", "activities": [
    {"id": "a", "type": "Event", "canStartWorkflow": true, "eventName": {"js": "nope()"}},
    {"id": "b", "type": "Event", "canStartWorkflow": true, "eventName": {"js": "''b''"}},
    {"id": "c", "type": "Event", "canStartWorkflow": true, "eventName": {"var": "Empty"}},
    {"id": "d", "type": "Cron", "canStartWorkflow": true, "cronExpression": {"js": "''61 * * * *''"}},
    {"id": "e", "type": "Timer", "canStartWorkflow": true, "interval": "1 minute", "timeZone": "Nowhere/Land"},
    {"id": "f", "type": "Event", "eventName": {"js": "nope()"}}], "connections": []}, "variables": {"Empty": null}}');
SELECT * FROM wf_define('{"definitionId": "t", "root": {"id": "a", "type": "Event", "canStartWorkflow": true, "eventName": {"js": "nope()"}}}');
SELECT * FROM wf_define('{"definitionId": "t", "variables": {"Empty": null}, "root": {"id": "c", "type": "Event", "canStartWorkflow": true, "eventName": {"var": "Empty"}}}');
SELECT * FROM wf_define('{"definitionId": "t", "root": {"id": "e", "type": "Timer", "canStartWorkflow": true, "interval": "1 minute", "timeZone": "Nowhere/Land"}}');

-- SQL and payload functions are left to wf_define.
CREATE TABLE ran (what text);
CREATE FUNCTION note(what text) RETURNS text LANGUAGE sql AS $$ INSERT INTO ran VALUES (what) RETURNING what $$;
CREATE FUNCTION watch_handler(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
CREATE FUNCTION watch_payloads(context jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$ BEGIN PERFORM note('payloads'); RAISE EXCEPTION 'no folders'; END $$;
SELECT wf_register_activity('Watch', 'watch_handler(jsonb)', kind => 'trigger', payloads => 'watch_payloads(jsonb)');
SELECT path || ' | ' || message FROM wf_validate('{"definitionId": "s", "root": {"type": "Parallel", "activities": [
    {"id": "a", "type": "Event", "canStartWorkflow": true, "eventName": {"sql": "note(''event'')"}},
    {"id": "b", "type": "Watch", "canStartWorkflow": true}]}}');
SELECT count(*) FROM ran;
SELECT * FROM wf_define('{"definitionId": "s", "root": {"id": "b", "type": "Watch", "canStartWorkflow": true}}');

-- What is built in, and what is too large.
SELECT path || ' | ' || message FROM wf_validate('{"definitionId": "Workflow.ScheduledCommand", "root": []}');
SET workflow.max_definition_size = 1;
SELECT path || ' | ' || message FROM wf_validate(jsonb_build_object('definitionId', 'large', 'description', repeat('x', 2000), 'root', '[]'::jsonb));
RESET workflow.max_definition_size;

-- A role that may read nothing may still ask.
CREATE ROLE regress_reader;
SET ROLE regress_reader;
SELECT path || ' | ' || severity || ' | ' || message FROM wf_validate('{"definitionId": "t", "root": {"type": "Event", "canStartWorkflow": true, "eventName": {"js": "nope()"}}}', severity => 'warning');
RESET ROLE;
DROP ROLE regress_reader;
