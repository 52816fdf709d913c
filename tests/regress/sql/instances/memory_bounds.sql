-- What one call may read and hold: workflow.max_nodes, workflow.max_request_size, workflow.memory_limit.
-- This and the scenario memory are the test of what docs/security.md says under Memory.
SET client_min_messages = error;
SHOW workflow.max_nodes;
SHOW workflow.max_request_size;
SHOW workflow.memory_limit;

-- security.md#what-the-administrator-should-know: the bounds on memory can be changed by superusers, and by roles with SET ON PARAMETER
-- They protect the server, so a superuser sets them.
CREATE ROLE mallory;
SET ROLE mallory;
SET workflow.max_nodes = 2000000;
SET workflow.max_request_size = '1GB';
SET workflow.memory_limit = '1TB';
RESET ROLE;
GRANT SET ON PARAMETER workflow.max_nodes TO mallory;
SET ROLE mallory;
SET workflow.max_nodes = 2000000;
RESET workflow.max_nodes;
RESET ROLE;
REVOKE SET ON PARAMETER workflow.max_nodes FROM mallory;

SET workflow.max_nodes = 100;
SET workflow.max_request_size = '1kB';
SELECT * FROM wf_define('{"definitionId": "keep", "variables": {"V": null}, "root": {"type": "SetVariable", "variable": "V", "value": {"input": "v"}}}');

-- security.md#memory: arguments are bounded by nodes and text, and counted by what they will take (54000)
-- Arguments: the object, its name and the list are three of a hundred nodes.
SELECT sub_status FROM wf_run('keep', jsonb_build_object('v', (SELECT jsonb_agg(n) FROM generate_series(1, 97) AS n)));
SELECT sub_status FROM wf_run('keep', jsonb_build_object('v', (SELECT jsonb_agg(n) FROM generate_series(1, 98) AS n)));
\echo :SQLSTATE
SELECT sub_status FROM wf_run('keep', jsonb_build_object('v', repeat('x', 2047)));
SELECT sub_status FROM wf_run('keep', jsonb_build_object('v', repeat('x', 2048)));
\echo :SQLSTATE
-- Ten bytes of jsonb, and a text of 100 kB.
SELECT sub_status FROM wf_run('keep', '{"v": 1e100000}');
\echo :SQLSTATE
SELECT wf_start('keep', name => repeat('x', 3000));
\echo :SQLSTATE

-- security.md#memory: results of SQL, handlers, scripts and templates are bounded
-- What SQL, a function of the user, a script or the engine itself makes: an incident of the activity.
CREATE FUNCTION public.large(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('outputs', jsonb_build_object('x', repeat('x', 3000))) $$;
SELECT wf_register_activity('Large', 'public.large(jsonb)');
CREATE FUNCTION pg_temp.incident(value jsonb) RETURNS TABLE (sqlstate text, message text, hint text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'try', 'variables', '{"V": null}'::jsonb,
        'root', CASE WHEN value ? 'type' THEN value ELSE jsonb_build_object('type', 'SetVariable', 'variable', 'V', 'value', value) END));
    RETURN QUERY SELECT i ->> 'sqlstate', i ->> 'message', i ->> 'hint' FROM wf_run('try', jsonb_build_object('half', repeat('x', 1500))) AS r, jsonb_array_elements(r.incidents) AS i;
END $$;
SELECT * FROM pg_temp.incident('{"sql": "(SELECT pg_catalog.jsonb_agg(n) FROM pg_catalog.generate_series(1, 100) AS n)"}');
SELECT * FROM pg_temp.incident('{"sql": "pg_catalog.repeat(''x'', 3000)"}');
SELECT * FROM pg_temp.incident('{"type": "Sql", "statement": "SELECT n FROM pg_catalog.generate_series(1, 34) AS n", "result": {"var": "V"}}');
SELECT * FROM pg_temp.incident('{"type": "Large"}');
SELECT * FROM pg_temp.incident('{"js": "Array(100).fill(1)"}');
SELECT * FROM pg_temp.incident('{"js": "const a = Array(50).fill(1); [a, a]"}');
SELECT * FROM pg_temp.incident('{"liquid": "{{ Input.half }}{{ Input.half }}"}');
SELECT * FROM pg_temp.incident('{"object": [{"input": "half"}, {"input": "half"}]}');

-- security.md#memory: bodies and paths of requests are bounded (413, 414)
-- A request is answered.
SELECT * FROM wf_define('{"definitionId": "in", "root": {"type": "HttpEndpoint", "path": "in", "supportedMethods": ["POST"], "canStartWorkflow": true}}');
CREATE FUNCTION pg_temp.post(type text, body text, path text = '/in') RETURNS text LANGUAGE sql AS $$
    SELECT status || ' ' || convert_from(body, 'UTF8') FROM wf_http_request('POST', path, jsonb_build_object('Content-Type', type), '{}', convert_to(body, 'UTF8')) $$;
SELECT pg_temp.post('text/plain', repeat('x', 1024));
SELECT pg_temp.post('text/plain', repeat('x', 1025));
SELECT pg_temp.post('application/json', '[' || repeat('1,', 98) || '1]');
SELECT pg_temp.post('application/json', '[' || repeat('1,', 99) || '1]');
SELECT pg_temp.post('application/x-www-form-urlencoded', repeat('a&', 49) || 'a');
SELECT pg_temp.post('application/x-www-form-urlencoded', repeat('a&', 50) || 'a');
SELECT pg_temp.post('text/plain', 'x', '/in?' || repeat('a&', 49));
SELECT pg_temp.post('text/plain', 'x', '/in?' || repeat('a&', 50));
SELECT pg_temp.post('text/plain', 'x', repeat('/a', 60));
RESET workflow.max_nodes;
RESET workflow.max_request_size;

-- security.md#memory: a call beyond workflow.memory_limit ends with 53200, without an incident
-- A call that wants too much ends, and leaves no incident.
SET workflow.memory_limit = '16MB';
SELECT * FROM wf_define(jsonb_build_object('definitionId', 'fills', 'variables', (SELECT jsonb_object_agg('V' || n, null) FROM generate_series(1, 30) AS n),
    'root', (SELECT jsonb_agg(jsonb_build_object('type', 'SetVariable', 'variable', 'V' || n, 'value', '{"js": "`x`.repeat(1000000)"}'::jsonb)) FROM generate_series(1, 30) AS n)));
\set VERBOSITY terse
SELECT wf_start('fills');
\echo :SQLSTATE
-- A short message of a log can name a long argument often.
SELECT * FROM wf_define('{"definitionId": "logs", "root": {"type": "Log", "message": {"js": "`{A}`.repeat(100000)"}, "arguments": {"js": "({A: `x`.repeat(100000)})"}}}');
SELECT wf_start('logs');
\echo :SQLSTATE
-- security.md#memory: an instance is saved only by a call that holds at most half of the limit
-- Half of it is for the call that loads what was saved.
SELECT * FROM wf_define(jsonb_build_object('definitionId', 'fills', 'variables', (SELECT jsonb_object_agg('V' || n, null) FROM generate_series(1, 30) AS n),
    'root', (SELECT jsonb_agg(jsonb_build_object('type', 'SetVariable', 'variable', 'V' || n, 'value', '{"js": "`x`.repeat(1000000)"}'::jsonb)) FROM generate_series(1, 10) AS n)));
SELECT wf_start('fills');
\echo :SQLSTATE
\set VERBOSITY default
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'fills';
RESET workflow.memory_limit;
SELECT sub_status, incidents FROM wf_run('fills');

-- security.md#memory: texts of errors are cut at 64 kB
-- The SQL that raises an error decides how long its text is.
SELECT * FROM wf_define('{"definitionId": "loud", "root": {"type": "Sql", "statement": "SELECT pg_catalog.repeat(''x'', 1000000)::integer"}}');
SELECT length(incidents -> 0 ->> 'message') AS length FROM wf_run('loud');

-- security.md#memory: a call that is told to stop stops while it reads
-- Reading a body answers to cancel; what that takes is counted in hundredths of a second of this session's processor.
CREATE TABLE bodies (body bytea);
ALTER TABLE bodies ALTER body SET STORAGE EXTERNAL;
INSERT INTO bodies SELECT convert_to('[' || repeat('1,', 20000000) || '1]', 'UTF8');
CREATE FUNCTION pg_temp.used() RETURNS int LANGUAGE sql AS $$
    SELECT used[14]::int + used[15]::int FROM regexp_split_to_array(pg_read_file('/proc/self/stat', 0, 1000), ' ') AS used $$;
SELECT pg_temp.post('text/plain', 'x');
SET workflow.max_request_size = '100MB';
SET workflow.max_nodes = 1000000000;
SET workflow.memory_limit = '1TB';
SELECT pg_temp.used() AS before \gset
SET statement_timeout = '1s';
\set VERBOSITY terse
SELECT status FROM bodies, wf_http_request('POST', '/in', '{"Content-Type": "application/json"}', '{}', body);
\echo :SQLSTATE
RESET statement_timeout;
SELECT pg_temp.used() - :before < 1500 AS stopped_in_time;
