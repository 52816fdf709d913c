-- Limits of depth, size, steps, time and memory: each ends the call with a clear error, the session lives on, and nothing has changed.
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

-- A workflow that runs itself as a child, and its child too.
SELECT wf_define('{"definitionId": "self", "root": [{"type": "ExecuteWorkflow", "workflowDefinitionId": "self"}]}') \g /dev/null
SELECT wf_run('self');
\echo :SQLSTATE
SET workflow.max_nesting = 20;
SELECT wf_run('self');
RESET workflow.max_nesting;

-- Whatever happened above, this session is as it was.
SELECT sub_status FROM wf_run('echo', '{"v": 1}');
SELECT count(*) FROM workflow.definition_list WHERE definition_id IN ('large', 'small', 'shallow', 'deeper');
SELECT * FROM wf_check();
