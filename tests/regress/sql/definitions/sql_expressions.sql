-- {"sql": …} is a query if it begins with SELECT, WITH or VALUES, else an expression. It runs in the caller's transaction.
\pset null '(null)'
CREATE FUNCTION pg_temp.value(expression text, input jsonb DEFAULT '{}') RETURNS TABLE (value jsonb, incident text) LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'value', 'variables', '{"A": 1, "B": {"c": [1, 2]}}'::jsonb, 'outputs', '[{"name": "V"}]'::jsonb,
        'root', jsonb_build_array(
            jsonb_build_object('id', 'rows', 'type', 'Sql', 'statement', 'SELECT 1 AS one'),
            jsonb_build_object('id', 'v', 'type', 'SetOutput', 'outputName', 'V', 'outputValue', jsonb_build_object('sql', expression)))));
    result := wf_run('value', input, correlation_id => 'corr', instance_id => '01900000-0000-7000-8000-000000000001');
    PERFORM wf_delete_instance(result.instance_id);
    RETURN QUERY SELECT result.output -> 'V', (result.incidents -> 0 ->> 'sqlstate') || ' ' || (result.incidents -> 0 ->> 'message');
END $$;
SET client_min_messages = error;

-- Expressions of any type; the value becomes jsonb.
SELECT * FROM pg_temp.value('1 + 1');
SELECT * FROM pg_temp.value('1.10');
SELECT * FROM pg_temp.value('''text''');
SELECT * FROM pg_temp.value('true AND false');
SELECT * FROM pg_temp.value('NULL');
SELECT * FROM pg_temp.value('array[1, 2]');
SELECT * FROM pg_temp.value('ROW(1, ''a'')');
SELECT * FROM pg_temp.value('''{"a": 1}''::jsonb');
SELECT * FROM pg_temp.value('''{"a": 1}''::json');
SELECT * FROM pg_temp.value('date ''2026-01-31''');
SELECT * FROM pg_temp.value('''\xff''::bytea');

-- Parameters by name: input, variables, outputs, result, instance, correlation_id. All but the last are jsonb.
SELECT * FROM pg_temp.value('input -> ''x''', '{"x": 7}');
SELECT * FROM pg_temp.value('variables #> ''{B,c,1}''');
SELECT * FROM pg_temp.value('outputs #> ''{rows,rowCount}''');
SELECT * FROM pg_temp.value('result');
SELECT * FROM pg_temp.value('instance - ''{id,version}''::text[]');
SELECT * FROM pg_temp.value('correlation_id || ''!''');
SELECT * FROM pg_temp.value('pg_typeof(correlation_id)::text || pg_typeof(input)::text');

-- security.md#what-an-input-can-do: values are bound as parameters
-- They are values, never text of the statement.
SELECT * FROM pg_temp.value('input ->> ''x''', '{"x": "''; DROP TABLE x; --"}');

-- A column of that name wins, as in SQL.
CREATE TABLE orders (id int PRIMARY KEY, input text, correlation_id text);
INSERT INTO orders VALUES (1, 'column', 'also a column');
SELECT * FROM pg_temp.value('SELECT input FROM orders WHERE id = 1');
SELECT * FROM pg_temp.value('SELECT correlation_id FROM orders WHERE id = (variables ->> ''A'')::int');

-- Queries: the first column of the one row; no row is null, a second row an error.
SELECT * FROM pg_temp.value('SELECT 1, 2');
SELECT * FROM pg_temp.value('  select 3');
SELECT * FROM pg_temp.value('-- a comment first' || chr(10) || 'SELECT 4');
SELECT * FROM pg_temp.value('/* another */ WITH x AS (SELECT 5 AS y) SELECT y FROM x');
SELECT * FROM pg_temp.value('VALUES (6)');
SELECT * FROM pg_temp.value('SELECT 1 WHERE false');
SELECT * FROM pg_temp.value('SELECT generate_series(1, 2)');
SELECT * FROM pg_temp.value('(SELECT max(n) FROM generate_series(1, 9) AS n)');
SELECT * FROM pg_temp.value('selected', '{}');

-- Errors are faults of the activity, with their SQLSTATE.
SELECT * FROM pg_temp.value('1 / 0');
SELECT * FROM pg_temp.value('1 +');
SELECT * FROM pg_temp.value('nobody()');
SELECT * FROM pg_temp.value('');
SELECT * FROM pg_temp.value('1; DROP TABLE orders');
SELECT * FROM pg_temp.value('1) , (2');
SELECT * FROM pg_temp.value('SELECT');
SELECT count(*) FROM orders;

-- A query may write: it is a statement like any other.
SELECT * FROM pg_temp.value('WITH x AS (UPDATE orders SET input = ''changed'' RETURNING input) SELECT input FROM x');
SELECT input FROM orders;

-- The activity Sql runs a statement; parameters are $1…, type jsonb, rows come back as objects.
CREATE TABLE log (n int, what text);
SELECT * FROM wf_define('{"definitionId": "sql", "variables": {"Rows": null, "Count": null, "Inserted": null}, "root": [
    {"id": "insert", "type": "Sql", "statement": "INSERT INTO log SELECT n, $1 ->> ''what'' FROM generate_series(1, $2::int) AS n",
     "parameters": [{"object": {"what": {"input": "what"}}}, 3], "rowCount": {"var": "Inserted"}},
    {"id": "select", "type": "Sql", "statement": "SELECT n, what, n * 1.10 AS amount FROM log ORDER BY n", "result": {"var": "Rows"}, "rowCount": {"var": "Count"}}]}');
SELECT wf_start('sql', '{"what": "it''s"}') AS instance \gset
SELECT variables FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT * FROM log;

-- It sees what the transaction did, and goes with it.
BEGIN;
INSERT INTO log VALUES (100, 'mine');
SELECT wf_start('sql', '{"what": "more"}') AS instance \gset
SELECT variables -> 'Count' AS count FROM workflow.instance_list WHERE instance_id = :'instance';
ROLLBACK;
SELECT count(*) FROM log;

-- Statements that end a transaction are refused.
SELECT * FROM wf_define('{"definitionId": "commit", "root": {"id": "s", "type": "Sql", "statement": {"input": "statement"}}}');
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('commit', '{"statement": "COMMIT"}');
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('commit', '{"statement": "ROLLBACK"}');
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('commit', '{"statement": "SAVEPOINT s"}');
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('commit', '{"statement": "COPY log FROM STDIN"}');
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('commit', '{"statement": "SELECT 1; SELECT 2"}');
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('commit', '{"statement": ""}');

-- What a statement sets with SET LOCAL or set_config stays in the transaction, as in a function; its search path does not change ours.
SELECT sub_status FROM wf_run('commit', '{"statement": "SELECT set_config(''search_path'', ''nowhere'', true)"}');

-- A table that changes between two runs does no harm.
SELECT * FROM pg_temp.value('SELECT id FROM orders');
ALTER TABLE orders ALTER COLUMN id TYPE text;
SELECT * FROM pg_temp.value('SELECT id FROM orders');
DROP TABLE orders;
SELECT * FROM pg_temp.value('SELECT id FROM orders');

-- A name is a column where there is one, also when that changes within a session.
CREATE TABLE named (input jsonb);
INSERT INTO named VALUES ('"the column"');
SELECT wf_define('{"definitionId": "named", "outputs": [{"name": "V"}], "root": [
    {"type": "SetOutput", "outputName": "V", "outputValue": {"sql": "SELECT input FROM public.named"}}]}') \g /dev/null
SELECT output FROM wf_run('named', '{"the": "input"}');
ALTER TABLE named RENAME input TO other;
SELECT output FROM wf_run('named', '{"the": "input"}');
ALTER TABLE named RENAME other TO input;
SELECT output FROM wf_run('named', '{"the": "input"}');
DROP TABLE named;
SELECT * FROM wf_check();
