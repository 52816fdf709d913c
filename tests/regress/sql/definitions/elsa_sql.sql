-- The activities of Elsa's SQL extension run in this database, in the transaction of the call.
\pset null '(null)'
SET client_min_messages = error;
CREATE TABLE employees (id integer PRIMARY KEY, name text NOT NULL, hired date, tags text[], data jsonb);
INSERT INTO employees VALUES (1, 'Ada', '2020-01-01', '{a,b}', '{"x": 1}'), (2, 'Grace', '2021-06-01', NULL, NULL);

SELECT definition_id FROM wf_define('{"definitionId": "elsa-sql", "variables": {"Employee": {"id": 1, "names": ["Ada", "Grace"]}, "Out": null},
    "outputs": [{"name": "Rows"}, {"name": "Count"}, {"name": "Name"}], "root": [
    {"id": "q", "type": "Elsa.SqlQuery", "client": "PostgreSql", "connectionString": "Host=ignored",
        "query": {"typeName": "String", "expression": {"type": "Sql", "value": "SELECT id, name FROM employees WHERE id = {{Variable.Employee.id}}"}},
        "results": {"output": "Rows"}},
    {"id": "c", "type": "SqlCommand", "command": "UPDATE employees SET hired = {{Input.hired}}, tags = {{Variable.Employee.names}}, data = {{Variable.Employee}} WHERE name = ANY ({{Variable.Employee.names}})", "result": {"output": "Count"}},
    {"id": "s", "type": "SqlSingleValue", "command": "SELECT name FROM employees WHERE id = {{Input.id}}", "result": {"output": "Name"}}]}');
SELECT output, incidents FROM wf_run('elsa-sql', '{"hired": "2026-11-21", "id": "2"}');
SELECT * FROM employees ORDER BY id;

-- security.md#what-an-input-can-do: values are bound as parameters
-- Values are bound, never spliced: this is no id.
SELECT output -> 'Name' AS name, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message
FROM wf_run('elsa-sql', '{"hired": "2026-11-21", "id": "2; DROP TABLE employees"}');
SELECT count(*) FROM employees;

-- A parameter has the type that its place asks for, as a client's has.
CREATE FUNCTION pg_temp.value(sql text, input jsonb DEFAULT '{}') RETURNS TABLE (value jsonb, incident text) LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'one', 'outputs', '[{"name": "V"}]'::jsonb, 'root', jsonb_build_array(
        jsonb_build_object('type', 'SqlSingleValue', 'command', sql, 'result', '{"output": "V"}'::jsonb))));
    result := wf_run('one', input, correlation_id => 'corr');
    RETURN QUERY SELECT result.output -> 'V', (result.incidents -> 0 ->> 'sqlstate') || ' ' || (result.incidents -> 0 ->> 'message');
END $$;
SELECT * FROM pg_temp.value('SELECT {{Input.a}} + 1', '{"a": 2}');
SELECT * FROM pg_temp.value('SELECT {{Input.a}}', '{"a": {"b": [1]}}');
SELECT * FROM pg_temp.value('SELECT {{Input.a}}::numeric * 2', '{"a": 12345678901234567890.10}');
SELECT * FROM pg_temp.value('SELECT hired FROM employees WHERE hired < {{Input.day}} AND id = {{Input.none}}', '{"day": "2027-01-01"}');
SELECT * FROM pg_temp.value('SELECT {{Correlation.Id}} || {{Workflow.Definition.Id}}');
SELECT * FROM pg_temp.value('SELECT {{Variable.Nobody}}');
SELECT * FROM pg_temp.value('SELECT $2, {{Input.a}}');
SELECT * FROM pg_temp.value('SELECT nothing');
SELECT * FROM pg_temp.value('SELECT 1; SELECT 2');
SELECT * FROM pg_temp.value('SELECT name FROM employees WHERE false');

-- The search path decides what a name means, and so the types.
CREATE SCHEMA other;
CREATE TABLE other.employees (id text, name text);
INSERT INTO other.employees VALUES ('1', 'another Ada');
SELECT * FROM pg_temp.value('SELECT name FROM employees WHERE id = {{Input.id}}', '{"id": 1}');
SET search_path = other, public;
SELECT * FROM pg_temp.value('SELECT name FROM employees WHERE id = {{Input.id}}', '{"id": 1}');
RESET search_path;
DROP SCHEMA other CASCADE;

-- Elsa's expressions of type Sql may stand anywhere, with and without such parameters.
SELECT definition_id FROM wf_define('{"definitionId": "sql-anywhere", "variables": {"N": 2}, "outputs": [{"name": "V"}], "root": [
    {"type": "Switch", "cases": [{"label": "two", "condition": {"type": "Sql", "value": "{{Variable.N}} = 2"},
        "activity": {"type": "SetOutput", "outputName": "V", "outputValue": {"object": {"half": {"sql": "(variables ->> ''N'')::numeric / 2"}}}}}]}]}');
SELECT output, incidents FROM wf_run('sql-anywhere');

-- Other clients, and parameters that would be text, are refused.
SELECT * FROM wf_validate('{"definitionId": "x", "root": [
    {"type": "SqlQuery", "client": "SqlServer", "query": "SELECT 1"},
    {"type": "SqlQuery", "query": "SELECT ''{{Variable.X}}''"},
    {"type": "SqlQuery", "query": "SELECT {{Nothing.X}}"},
    {"type": "WriteLine", "text": {"sql": "SELECT {{Variable.X"}}]}');
DROP TABLE employees;

-- The types of parameters are those of today: a type that was made anew, or a column that has another one.
CREATE TYPE mood AS ENUM ('calm', 'wild');
CREATE TABLE moods (mood mood);
INSERT INTO moods VALUES ('calm');
SELECT wf_define('{"definitionId": "moods", "inputs": [{"name": "Mood"}], "outputs": [{"name": "N"}], "root": [
    {"type": "SqlSingleValue", "command": "SELECT count(*) FROM public.moods WHERE mood = {{Input.Mood}}", "result": {"output": "N"}}]}') \g /dev/null
SELECT output FROM wf_run('moods', '{"Mood": "calm"}');
ALTER TABLE moods DROP COLUMN mood;
DROP TYPE mood;
CREATE TYPE mood AS ENUM ('wild', 'calm');
ALTER TABLE moods ADD COLUMN mood mood DEFAULT 'calm';
SELECT output FROM wf_run('moods', '{"Mood": "calm"}');
ALTER TABLE moods ALTER COLUMN mood DROP DEFAULT, ALTER COLUMN mood TYPE text;
SELECT output FROM wf_run('moods', '{"Mood": "tired"}');
DROP TABLE moods;
DROP TYPE mood;
SELECT * FROM wf_check();
