-- A plain value is passed on as it is. One that looks like an expression, or like a template, is probably meant as one.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
CREATE FUNCTION pg_temp.task(payload jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('definitionId', 'plain', 'variables', '{"Amount": 5}'::jsonb,
        'root', jsonb_build_object('type', 'RunTask', 'taskName', 't', 'payload', payload))
$$;
CREATE FUNCTION pg_temp.problems(payload jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(severity || ' ' || path || ' ' || message, E'\n'), 'accepted') FROM wf_validate(pg_temp.task(payload), 'warning')
$$;
SELECT wf_define(pg_temp.task('{"amount": {"var": "Amount"}}'));
SELECT n, pg_temp.problems(payload)
FROM (VALUES (1, '{"a": [{"b/c": {"input": "x"}}]}'::jsonb),
             (2, '{"object": {"amount": {"var": "Amount"}}}'),
             (3, '{"literal": {"amount": {"var": "Amount"}}}'),
             (4, '{"schema": {"properties": {"input": {"type": "string"}}}}'),
             (5, '{"js": 5}'),
             (6, '{"text": "${getAmount()} EUR"}'),
             (7, '"{{ Variables.Amount }} EUR"'),
             (8, '{"object": {"text": "{{ Variables.Amount }} EUR"}}'),
             (9, '{"object": {"text": {"literal": "{{ name }}"}}}'),
             (10, '{"literal": "{{ name }}"}'),
             (11, '"{name} costs 5 ${currency"')) AS c (n, payload)
ORDER BY n;

-- Scripts and statements have braces of their own.
SELECT * FROM wf_validate('{"definitionId": "d", "root": [{"type": "RunJavaScript", "script": "`${1}`"}, {"type": "SqlQuery", "query": "SELECT {{Workflow.Instance.Id}}"}]}', 'warning');

-- What is exported is the same value, and is accepted.
SELECT wf_define(pg_temp.task('{"literal": {"amount": {"var": "Amount"}}}'));
SELECT wf_export('plain') AS exported \gset
SELECT wf_define(:'exported'::jsonb || '{"definitionId": "copy"}');
SELECT wf_start('copy') \g /dev/null
SELECT payload FROM workflow.open_tasks;

-- Initial values and defaults are constants, so it is a warning there.
SELECT path, severity FROM wf_validate('{"definitionId": "d", "variables": {"V": {"a": {"js": "1"}}}, "inputs": [{"name": "i", "default": [{"var": "V"}]}], "root": []}', 'warning');
