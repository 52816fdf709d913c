-- Strange values, numbers, NUL, strings, ids and names: each either works exactly or gets a clear error.
-- Long texts are built by functions, so that this file stays readable.
\set VERBOSITY terse
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "echo", "outputs": [{"name": "V"}], "root": {"type": "SetOutput", "outputName": "V", "outputValue": {"input": "v"}}}');

-- Numbers: every digit stays, whatever their size; where a bounded one is needed there is an error.
SELECT jsonb_array_elements(output -> 'V') = jsonb_array_elements('[1.10, 1e400, -1e-400, 123456789012345678901234567890, 0.1, -0, 1E2]') AS equal,
       left(jsonb_array_elements(output -> 'V')::text, 30) AS begins
  FROM wf_run('echo', '{"v": [1.10, 1e400, -1e-400, 123456789012345678901234567890, 0.1, -0, 1E2]}');
SELECT * FROM wf_define('{"definitionId": "number", "root": {"type": "For", "start": 1, "end": 1e400}}');
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "number", "root": {"type": "For", "start": 1, "end": 99999999999999999999}}');
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "number", "outputs": [{"name": "V"}], "root": {"type": "SetOutput", "outputName": "V", "outputValue": {"js": "getInput(''v'') * 2"}}}');
SELECT output FROM wf_run('number', '{"v": 1e400}');
SELECT output FROM wf_run('number', '{"v": 1.10}');
SELECT * FROM wf_define('{"definitionId": "version", "version": 1e400, "root": []}');
\echo :SQLSTATE

-- NUL: jsonb cannot hold it, and neither can anything that comes from a script.
SELECT wf_start('echo', '{"v": "\u0000"}');
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "nul", "outputs": [{"name": "V"}], "root": {"id": "s", "type": "SetOutput", "outputName": "V", "outputValue": {"js": "''a\\u0000b''"}}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('nul');
SELECT * FROM wf_define('{"definitionId": "nul", "root": {"id": "s", "type": "SetName", "value": {"js": "''a\\u0000b''"}}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('nul');
SELECT * FROM wf_define('{"definitionId": "nul", "root": {"id": "s", "type": "Correlate", "correlationId": {"js": "''a\\u0000b''"}}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('nul');

-- Strings: empty, long, strange.
\pset format unaligned
SELECT output FROM wf_run('echo', '{"v": ["", " ", "\u00e4", "\ud83d\ude00", "\"", "\\", "\n", "‮"]}');
\pset format aligned
SELECT length(output ->> 'V') FROM wf_run('echo', jsonb_build_object('v', repeat('ä', 5000000)));
SELECT length(definition_id), version FROM wf_define(jsonb_build_object('definitionId', (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 30) AS n), 'root', '[]'::jsonb));
\echo :SQLSTATE
SELECT length(definition_id), version FROM wf_define(jsonb_build_object('definitionId', (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 300) AS n), 'root', '[]'::jsonb));
\echo :SQLSTATE
SELECT wf_start('echo', correlation_id => (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 3000) AS n)) IS NOT NULL AS started;
\echo :SQLSTATE
SELECT cardinality(resumed) FROM wf_publish_event(repeat('e', 100000));
SELECT cardinality(resumed) FROM wf_enqueue_bookmark(activity_id => repeat('a', 100000), keep_for => '0');

-- The name of a member that the JSON library gives a meaning: it passes the state.
SELECT version FROM wf_define('{"definitionId": "twice", "outputs": [{"name": "V"}], "root": [{"id": "a", "type": "RunTask", "taskName": "a", "result": {"var": "A"}}, {"type": "RunTask", "taskName": "b"},
    {"type": "SetOutput", "outputName": "V", "outputValue": {"var": "A"}}], "variables": [{"name": "A"}]}');
SELECT wf_start('twice', correlation_id => v) FROM unnest('{x,5}'::text[]) AS v \g /dev/null
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, jsonb_build_object('$serde_json::private::Number', t.correlation_id)) AS r;
SELECT r.sub_status, r.output FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '1') AS r ORDER BY t.correlation_id;

-- The last number of a version.
SELECT version FROM wf_define('{"definitionId": "numbered", "version": 2147483647, "root": []}');
SELECT version FROM wf_define('{"definitionId": "numbered", "root": [{"type": "Finish"}]}');
\echo :SQLSTATE
SELECT version FROM wf_define('{"definitionId": "numbered", "version": 2147483647, "root": []}');

-- Invalid UUIDs.
SELECT wf_resume('1');
\echo :SQLSTATE
SELECT * FROM wf_enqueue_bookmark(instance_id => '00000000-0000-0000-0000-000000000000');
\echo :SQLSTATE
SELECT wf_start('echo', instance_id => '00000000-0000-0000-0000-000000000000');

-- Expressions that recurse, and an object that is not what it seems.
SELECT * FROM wf_define(jsonb_build_object('definitionId', 'templates', 'outputs', '[{"name": "V"}]'::jsonb, 'root', jsonb_build_object('type', 'SetOutput', 'outputName', 'V', 'outputValue',
    (repeat('{"object": [', 300) || '1' || repeat(']}', 300))::jsonb)));
\echo :SQLSTATE
SELECT * FROM wf_define('{"definitionId": "proto", "variables": {"__proto__": 1, "constructor": 2, "toString": 3}, "outputs": [{"name": "V"}],
    "root": {"type": "SetOutput", "outputName": "V", "outputValue": {"js": "[getVariable(''__proto__''), variables.constructor, getVariable(''toString'')]"}}}');
SELECT output FROM wf_run('proto');

SELECT sub_status FROM wf_run('echo', '{"v": 1}');
SELECT * FROM wf_check();
