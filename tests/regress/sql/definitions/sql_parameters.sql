-- Parameters of the activity Sql have the types that their places ask for; where that is none, or several, they are jsonb.
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE things (id bigint, name text, price numeric, at timestamptz, tags text[], doc jsonb, plain json, ok boolean, key uuid, mood mood, span interval, bits bytea);
CREATE FUNCTION run_sql(statement text, VARIADIC parameters jsonb[]) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'sql', 'outputs', '[{"name": "R"}]'::jsonb, 'root', jsonb_build_object(
        'id', 's', 'type', 'Sql', 'statement', statement, 'parameters', to_jsonb(parameters), 'result', '{"output": "R"}'::jsonb)));
    result := wf_run('sql', on_fault => 'raise');
    RETURN QUERY SELECT coalesce(nullif(result.output -> 'R', '[]'), to_jsonb(result.sub_status));
END $$;
\pset tuples_only on

-- Columns say what they are.
SELECT run_sql('INSERT INTO things VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
    '9007199254740993', '"Ada"', '12.50', '"2030-01-01T00:00:00Z"', '["a", "b c", null]', '{"n": 1}', '{"z": 1, "a": 2}', 'true',
    '"01900000-0000-7000-8000-000000000001"', '"happy"', '"2 hours"', '"\\x00ff"');
SELECT * FROM things;
SELECT run_sql('SELECT name FROM things WHERE id = $1 AND price = $2 AND ok = $3', '9007199254740993', '12.5', 'true');
SELECT run_sql('SELECT name FROM things WHERE $1 = ANY (tags) AND at > $2 AND key = $3', '"b c"', '"2029-12-31"', '"01900000-0000-7000-8000-000000000001"');
SELECT run_sql('SELECT name FROM things WHERE id = ANY ($1)', '[1, 9007199254740993]');
SELECT run_sql('SELECT name FROM things WHERE doc @> $1', '{"n": 1}');
SELECT run_sql('UPDATE things SET name = $1, doc = $2 WHERE id = $3 RETURNING name, doc', '"Grace"', '["x"]', '9007199254740993');
SELECT run_sql('SELECT name FROM things ORDER BY id LIMIT $1 OFFSET $2', '1', '0');
SELECT run_sql('INSERT INTO things (id, name) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM things WHERE id = $1) RETURNING id, name', '7', '"seven"');
SELECT run_sql('SELECT upper($1), $2::int + 1, $3::date', '"text"', '41', '"2030-01-01"');
-- null is NULL.
SELECT run_sql('SELECT count(*) FROM things WHERE name IS NOT DISTINCT FROM $1', 'null');
-- As before: a cast, members of an object, sets.
SELECT run_sql('SELECT ($1)::bigint AS a, ($2)::text AS b, ($3)::jsonb AS c', '5', '"text"', '{"n": 1}');
SELECT run_sql('SELECT $1 ->> ''n'' AS n, $1 #>> ''{m,0}'' AS m', '{"n": 1, "m": ["x"]}');
SELECT run_sql('SELECT $1 #>> ''{}'' AS v', '"text"');
SELECT run_sql('SELECT value FROM jsonb_array_elements($1)', '[1, 2]');
SELECT run_sql('SELECT x.a, x.b FROM jsonb_to_record($1) AS x (a int, b text)', '{"a": 1, "b": "two"}');
-- A place that asks for nothing: jsonb.
SELECT run_sql('SELECT $1 AS v, jsonb_typeof($2) AS kind', '{"n": 1}', '"text"');
SELECT run_sql('SELECT jsonb_build_object(''a'', $1, ''b'', $2) AS v', '{"n": 1}', '2');
SELECT run_sql('SELECT $1 AS v WHERE $2 = 1', '["x"]', '1');
SELECT run_sql('SELECT count(*) FROM things WHERE $1 IS NULL', 'null');
-- Several: jsonb, and the others keep theirs.
SELECT run_sql('SELECT ($1)::int + 1 AS a, length(($1)::text) AS b, name FROM things WHERE id = $2', '41', '7');
SELECT run_sql('SELECT name, $1 ->> ''n'' AS n FROM things WHERE id = $2', '{"n": 1}', '7');
-- More than the text names; fewer.
SELECT run_sql('SELECT name FROM things WHERE id = $1', '7', '"unused"');
SELECT run_sql('SELECT $2', '7');
-- Values that the type does not take, and statements that are none.
SELECT run_sql('SELECT name FROM things WHERE id = $1', '"seven"');
SELECT run_sql('SELECT name FROM thingz WHERE id = $1', '7');
SELECT run_sql('SELECT nonsense FROM things WHERE id = $1', '7');
SELECT run_sql('SELEC $1', '7');
SELECT run_sql('SELECT $1; SELECT $1', '7');
SELECT run_sql('SELECT name FROM things WHERE id = $1 + $2', '3', '4');
-- The text is never put together: quotes are values.
SELECT run_sql('SELECT count(*) FROM things WHERE name = $1', '"x'' OR true --"');
-- A column that changes its type changes that of the parameter.
CREATE TABLE changing (x int);
INSERT INTO changing VALUES (1);
SELECT run_sql('SELECT count(*) FROM changing WHERE x = $1', '1');
ALTER TABLE changing ALTER x TYPE text;
SELECT run_sql('SELECT count(*) FROM changing WHERE x = $1', '"1"');
-- Procedures and commands.
CREATE PROCEDURE add_thing(id bigint, name text) LANGUAGE sql BEGIN ATOMIC INSERT INTO things (id, name) VALUES (id, name); END;
SELECT run_sql('CALL add_thing($1, $2)', '8', '"eight"');
SELECT run_sql('SELECT name FROM things WHERE id = $1', '8');
\pset tuples_only off
SELECT * FROM wf_check();
