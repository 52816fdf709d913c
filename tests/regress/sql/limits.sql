-- Hostile and broken input: each either works exactly or gets a clear error; the session lives on, and nothing has changed.
-- Long texts are built by functions, so that this file stays readable.
\set VERBOSITY terse
SET client_min_messages = error;
CREATE FUNCTION pg_temp.nested(depth int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT ('{"definitionId": "deep", "root": ' || repeat('{"type": "Sequence", "activities": [', depth) || repeat(']}', depth) || '}')::jsonb
$$;

-- security.md#what-an-input-can-do: depth, size, steps and time have limits; the session lives on
-- Depth of activities: workflow.max_nesting.
SELECT * FROM wf_define(pg_temp.nested(400));
SELECT sub_status FROM wf_run('deep');
SELECT * FROM wf_define(pg_temp.nested(501));
\echo :SQLSTATE
SELECT length(path), message FROM wf_validate(pg_temp.nested(501));
SELECT * FROM wf_define(pg_temp.nested(2000));
\echo :SQLSTATE
SET workflow.max_nesting = 10;
SELECT * FROM wf_define(pg_temp.nested(11) || '{"definitionId": "shallow"}');
\echo :SQLSTATE
RESET workflow.max_nesting;

-- Depth of values: what PostgreSQL can hold, the engine can hold.
SELECT * FROM wf_define('{"definitionId": "echo", "outputs": [{"name": "V"}], "root": {"type": "SetOutput", "outputName": "V", "outputValue": {"input": "v"}}}');
SELECT length(output::text) FROM wf_run('echo', jsonb_build_object('v', (repeat('[', 1000) || repeat(']', 1000))::jsonb));
SELECT length(output::text) FROM wf_run('echo', jsonb_build_object('v', (repeat('[', 6000) || repeat(']', 6000))::jsonb));
\echo :SQLSTATE
SELECT * FROM wf_define(jsonb_build_object('definitionId', 'deeper', 'root', (repeat('[', 6000) || repeat(']', 6000))::jsonb));
\echo :SQLSTATE

-- Size of a definition: workflow.max_definition_size.
SELECT * FROM wf_define(jsonb_build_object('definitionId', 'ten-megabytes', 'description', repeat('x', 10000000), 'root', '[]'::jsonb));
SELECT sub_status FROM wf_run('ten-megabytes');
SELECT * FROM wf_define(jsonb_build_object('definitionId', 'large', 'description', repeat('x', 17000000), 'root', '[]'::jsonb));
\echo :SQLSTATE
SET workflow.max_definition_size = '1kB';
SELECT * FROM wf_define(jsonb_build_object('definitionId', 'small', 'description', repeat('x', 2000), 'root', '[]'::jsonb));
\echo :SQLSTATE
RESET workflow.max_definition_size;

-- 100,000 activities.
SELECT * FROM wf_define(jsonb_build_object('definitionId', 'many', 'root', (SELECT jsonb_agg(jsonb_build_object('type', 'SetVariable', 'variable', 'N', 'value', n)) FROM generate_series(1, 100000) AS n),
    'variables', '{"N": 0}'::jsonb));
SELECT wf_start('many') AS instance \gset
SELECT sub_status, variables FROM workflow.instance_list WHERE instance_id = :'instance';

-- Steps of a burst: workflow.max_steps. The call fails, and nothing of it is kept.
SELECT * FROM wf_define('{"definitionId": "endless", "root": {"type": "While", "condition": true, "body": {"type": "SetName", "value": "round"}}}');
SET workflow.max_steps = 10000;
SELECT wf_start('endless');
\echo :SQLSTATE
RESET workflow.max_steps;
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'endless';

-- A loop answers to cancel and to statement_timeout.
SET workflow.max_steps = 2000000000;
SET statement_timeout = '200ms';
SELECT wf_start('endless');
\echo :SQLSTATE
RESET statement_timeout;
RESET workflow.max_steps;

-- A script that never ends, with a small limit.
SET workflow.javascript_timeout = '50ms';
SELECT * FROM wf_define('{"definitionId": "script", "root": {"id": "s", "type": "WriteLine", "text": {"js": "while (true) {}"}}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('script');
RESET workflow.javascript_timeout;
SET workflow.javascript_memory = '4MB';
SELECT * FROM wf_define('{"definitionId": "script", "root": {"id": "s", "type": "WriteLine", "text": {"js": "''x''.repeat(5000000).length"}}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('script');
RESET workflow.javascript_memory;
SELECT sub_status FROM wf_run('script');

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

-- A workflow that runs itself as a child, and its child too.
SELECT wf_define('{"definitionId": "self", "root": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "self"}]}') \g /dev/null
SELECT wf_run('self');
\echo :SQLSTATE
SET workflow.max_nesting = 20;
SELECT wf_run('self');
RESET workflow.max_nesting;

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

-- Whatever happened above, this session is as it was.
SELECT sub_status FROM wf_run('echo', '{"v": 1}');
SELECT count(*) FROM workflow.definition_list WHERE definition_id IN ('large', 'small', 'shallow', 'deeper');
SELECT * FROM wf_check();
