-- Mistakes that are no errors of their own are put into words.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
CREATE ROLE regress_legal;
CREATE FUNCTION pg_temp.problems(root jsonb) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT severity || ' ' || path || ' ' || message FROM wf_validate(jsonb_build_object('definitionId', 'd', 'inputs', '[{"name": "Id"}]'::jsonb, 'root', root), 'warning')
$$;

-- A candidate that is the name of a role, and a role that does not exist.
SELECT wf_define('{"definitionId": "people", "root": [{"type": "RunTask", "taskName": "t", "candidates": ["regress_legal", "the boss", "role:regress_legal"]},
    {"type": "RunTask", "taskName": "t", "assignee": "role:regress_nobody"}]}');

-- Names in braces, in a statement with numbered parameters; tables and keywords that do not exist.
SELECT * FROM pg_temp.problems('[{"type": "Sql", "statement": "SELECT {{Input.Id}}"}]');
SELECT wf_define('{"definitionId": "tables", "inputs": [{"name": "Id"}], "root": [{"type": "Sql", "statement": "SELCT 1"}, {"type": "Sql", "statement": "INSERT INTO regress_missing VALUES ($1)", "parameters": [1]},
    {"type": "WriteLine", "text": {"sql": "(SELECT count(*) FROM regress_missing.t)"}}, {"type": "SqlQuery", "query": "SELECT * FROM regress_missing WHERE id = {{Input.Id}}"}]}');
CREATE TABLE regress_there (id integer);
SELECT wf_define('{"definitionId": "tables", "inputs": [{"name": "Id"}], "root": [{"type": "Sql", "statement": "INSERT INTO regress_there VALUES ($1)", "parameters": [1]},
    {"type": "SqlQuery", "query": "SELECT * FROM regress_there WHERE id = {{Input.Id}}"},
    {"type": "WriteLine", "text": {"sql": "input ->> ''Id''"}}, {"type": "Sql", "statement": "CREATE TABLE regress_made (id integer)"}]}');

-- Scripts that wait, or that call what is not there.
SELECT * FROM pg_temp.problems('[{"type": "RunJavaScript", "script": "return await fetch(1)"}]');
SELECT * FROM pg_temp.problems('[{"type": "RunJavaScript", "script": "return fetch(''https://x.example'')"}]');
SELECT * FROM pg_temp.problems('[{"type": "RunJavaScript", "script": "const fetch = x => x; return fetch(1)"}]');
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "fetch", "root": {"type": "RunJavaScript", "script": "return fetch(1)"}}');
RESET client_min_messages;
SELECT wf_start('fetch', on_fault => 'raise');

-- Something else than an error can be thrown, null as well.
SELECT wf_define('{"definitionId": "null", "root": {"type": "RunJavaScript", "script": "throw null"}}');
SELECT wf_start('null', on_fault => 'raise');
SELECT wf_define('{"definitionId": "nul", "root": {"type": "RunJavaScript", "script": "setVariable(''a\\u0000b'', 1)"}}');
SELECT wf_start('nul', on_fault => 'raise');

-- Misspelt names of a definition, an event, a zone.
SELECT wf_define('{"definitionId": "order", "root": {"type": "Event", "eventName": "OrderPaid"}}');
SELECT wf_start('ordre');
SELECT wf_start('order', correlation_id => 'c-1') \g /dev/null
SELECT wf_publish_event('OrderPayed', correlation_id => 'c-1');
SELECT wf_publish_event('Anything', correlation_id => 'c-1');
SELECT wf_cron_preview('0 9 * * *', 1, 'Europe/Berln');

-- An event that comes too late.
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('OrderPaid', correlation_id => 'c-1');
SELECT wf_publish_event('OrderPaid', correlation_id => 'c-1');

-- Zones that are offsets, which PostgreSQL reads with the sign turned round.
SELECT zone, wf_cron_preview('0 9 * * *', 1, zone, '2026-01-01 00:00+00') FROM unnest('{Asia/Kolkata,Etc/GMT-5,EST5EDT}'::text[]) AS zone;
SELECT wf_cron_preview('0 9 * * *', 1, '+05:30');
SELECT wf_schedule('z', '0 9 * * *', 'SELECT 1', timezone => 'UTC+2');
SELECT wf_define('{"definitionId": "z", "root": {"type": "Cron", "cronExpression": "0 9 * * *", "timeZone": "<+0530>-05:30", "canStartWorkflow": true}}');

-- Schedules that say something else than is meant.
SELECT wf_schedule('v', '1 hour', 'SET x.y = 1; VACUUM');
SELECT wf_schedule('v', 'CRON_TZ=Europe/Berlin 0 9 * * *', 'SELECT 1');
SELECT wf_schedule('v', 'every monday', 'SELECT 1');
SELECT wf_schedule('v', '*/90 * * * *', 'SELECT 1');
SELECT wf_schedule('v', '0 */24 * * *', 'SELECT 1') IS NOT NULL AS scheduled;
SELECT wf_schedule('v', '1 hour', 'COPY regress_there FROM stdin');
SELECT wf_schedule('v', '1 hour', 'SELECT $1');
SELECT wf_schedule('v', '1 hour', 'SELECT ''$1'', $$ $1 $$ -- $1') IS NOT NULL AS scheduled;
SELECT wf_define('{"definitionId": "z", "root": {"type": "Cron", "cronExpression": "*/90 * * * *", "canStartWorkflow": true}}');
SELECT wf_unschedule('v');
DROP TABLE regress_there;
