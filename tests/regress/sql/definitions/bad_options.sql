-- Options of work that fails and of work outside, misspelt, negative, huge, of a wrong type: each is refused with its place and what would be
-- right, and nothing is stored. retry_policies.sql has the members of a retry policy; what can be told only when a task opens is a fault.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
CREATE FUNCTION problems(definition jsonb) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT path || ': ' || message FROM wf_validate('{"definitionId": "d", "root": []}' || definition, 'warning')
$$;
CREATE FUNCTION of_task(inputs jsonb) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT problems(jsonb_build_object('root', '{"type": "RunTask", "taskName": "T"}' || inputs))
$$;
CREATE FUNCTION of_options(options jsonb) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT problems(jsonb_build_object('options', options))
$$;
\pset tuples_only

-- A word that is misspelt names the word that was meant.
SELECT of_task(jsonb_build_object(word, 1)) FROM unnest('{timeOut,start_timeout,retri,prioriti,asignee,candidate,dedline,forms,resultschema}'::text[]) AS word;
SELECT of_options(jsonb_build_object(word, 1)) FROM unnest('{timout,maxConcurency,compensateon,retri,resilienceStrategie,patience}'::text[]) AS word;
SELECT of_options('{"maxConcurrency": {"max": 1, "kye": "a"}}');
SELECT of_options('{"maxConcurrency": {"maximum": 1}}');
SELECT problems(jsonb_build_object('root', root)) FROM jsonb_array_elements('[
    {"type": "Try", "bodi": []}, {"type": "Try", "body": [], "catches": []}, {"type": "Try", "body": [], "finaly": []},
    {"type": "Try", "body": [], "catch": [{"onn": ["22"]}]}, {"type": "Try", "body": [], "catch": [{"except": ["22"]}]},
    {"type": "Compensable", "cancelation": []}, {"type": "Compensate", "targt": "Book"}]') AS root;
-- Elsa writes more into a strategy than has a meaning here: that is accepted, and what looks misspelt is a warning.
SELECT of_options('{"resilienceStrategies": [{"id": "a", "displayName": "A", "maxRetryAttempts": 1}, {"id": "b", "maxRetryAttempt": 1}]}');

-- Times.
SELECT of_task(jsonb_build_object(name, t)) FROM unnest('{timeout,startTimeout}'::text[]) AS name,
    jsonb_array_elements('["-1 hour", "", "infinity", "9000000000000 hours", "2000000000 days", "0.0000001 s", true, []]') AS t;
SELECT of_options(jsonb_build_object('timeout', t)) FROM jsonb_array_elements('["-1 hour", "soon", "9000000000000 hours", "2000000000 days", {}]') AS t;
-- null is what is not there.
SELECT of_task('{"timeout": null, "startTimeout": null, "retry": null, "priority": null, "assignee": null, "candidates": null, "deadline": null, "form": null, "resultSchema": null}');
SELECT of_options('{"timeout": null, "maxConcurrency": null, "compensateOn": null, "retry": null, "resilienceStrategies": null}');

-- The options of a definition.
SELECT of_options(jsonb_build_object('maxConcurrency', m)) FROM jsonb_array_elements('["3", [], {"max": null}, {"max": -1}, {"max": 10001}, {"max": 1000000000000000000},
    {"max": "2"}, {"max": true}, {"max": 1, "key": ""}, {"max": 1, "key": ["a"]}]') AS m;
SELECT of_options(jsonb_build_object('compensateOn', c)) FROM jsonb_array_elements('[true, {}, ["Fault"], [null], ["cancel", "timeout"]]') AS c;
SELECT of_options(jsonb_build_object('retry', r)) FROM jsonb_array_elements('[3, [], {"maxAttempts": null}, {"maxAttempts": 2, "maxDelay": "2000000000 days"}]') AS r;
SELECT of_options(jsonb_build_object('resilienceStrategies', jsonb_build_object('a', s))) FROM jsonb_array_elements('[null, {"maxRetryAttempts": -1}, {"maxRetryAttempts": 1000000000000000000},
    {"maxRetryAttempts": "3"}, {"backoffType": "Quadratic"}, {"delay": "-00:00:01"}, {"delay": "1 month"}, {"delay": 5}, {"useJitter": "yes"}]') AS s;
SELECT of_options(jsonb_build_object('resilienceStrategies', s)) FROM jsonb_array_elements('[3, "patient", [null], [{"id": 7}]]') AS s;
-- An activity whose strategy cannot be read runs without it, as in Elsa, and the author is told. One that names none has none.
SELECT problems(jsonb_build_object('root', jsonb_build_object('type', 'Sql', 'statement', 'SELECT 1', 'customProperties', jsonb_build_object('resilienceStrategy', s))))
FROM jsonb_array_elements('[3, "patient", [], {"strategyId": 7}, {"mode": "Identifier", "strategyid": "patient"}, {"mode": "Expression", "expression": {"type": "JavaScript", "value": "a"}},
    {}, {"mode": "Identifier", "strategyId": ""}]') AS s;
SELECT problems('{"root": {"type": "Sql", "statement": "SELECT 1", "resilienceStrategy": "patient"}}');

-- A catch, and the target of a compensation.
SELECT problems(jsonb_build_object('root', jsonb_build_object('type', 'Try', 'body', '[]'::jsonb, 'catch', c)))
FROM jsonb_array_elements('["22012", {}, [null], ["22012"], [[]], [{"on": []}], [{"on": "22"}], [{"on": [22]}], [{"on": [""]}], [{"on": ["57014"]}],
    [{"body": 7}], [{"variable": 7}], [{"variable": "Missing"}]]') AS c;
SELECT problems(jsonb_build_object('root', jsonb_build_array('{"id": "Book", "type": "Compensable"}'::jsonb, jsonb_build_object('type', 'Compensate', 'target', t))))
FROM jsonb_array_elements('["book", 3, true, []]') AS t;

-- The inputs of a task.
SELECT of_task(jsonb_build_object('priority', p)) FROM jsonb_array_elements('["high", "1.5", [], {}]') AS p;
SELECT of_task(jsonb_build_object('assignee', a)) FROM jsonb_array_elements('["", "role:"]') AS a;
SELECT of_task(jsonb_build_object('assignee', repeat('x', 201)));
SELECT of_task(jsonb_build_object('candidates', c)) FROM jsonb_array_elements('["ada", 7, {}, [null], ["ada", ""], ["role:"]]') AS c;
SELECT of_task(jsonb_build_object('deadline', d)) FROM jsonb_array_elements('["soon", "", "infinity", "2026-02-30", "294277-01-01", true, [], {}]') AS d;
SELECT of_task(jsonb_build_object('form', f)) FROM jsonb_array_elements('["text", 7, true, [], {"propertyOrder": ["a"]}, {"properties": {"a": {"propertyOrder": "1"}}}]') AS f;
SELECT of_task(jsonb_build_object('resultSchema', s)) FROM jsonb_array_elements('["text", 7, [], {"type": 7}, {"$ref": "#/nothing"}, {"pattern": "("}]') AS s;

-- wf_define says it in the same words, and stores nothing: the version that was there goes on, with the instance that waits.
\pset tuples_only off
SELECT * FROM wf_define('{"definitionId": "kept", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "timeout": "1 hour"}}');
SELECT wf_start('kept') AS kept \gset
SELECT wf_define('{"definitionId": "kept", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "timeOut": "1 hour", "priority": "high"}}');
\echo :SQLSTATE
SELECT wf_define('{"definitionId": "kept", "options": {"maxConcurrency": {"max": -1}}, "root": []}');
\echo :SQLSTATE
SELECT wf_define('{"definitionId": "new", "options": {"timeout": "2000000000 days"}, "root": []}');
\echo :SQLSTATE
SELECT definition_id, version, is_published FROM workflow.definition_list ORDER BY definition_id, version;
SELECT activity, waits_for, due FROM workflow.waiting WHERE instance = :'kept' ORDER BY waits_for;

-- What an expression gives is judged when the task opens. It is a fault, which a Try could take, and wf_retry repeats.
SELECT * FROM wf_define('{"definitionId": "late", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "priority": {"input": "priority"}, "deadline": {"input": "deadline"}}}');
SET client_min_messages = error;
SELECT i, r.sub_status, r.incidents -> 0 ->> 'sqlstate' AS sqlstate, r.incidents -> 0 ->> 'message' AS message
FROM unnest(ARRAY['{"priority": 2147483648}', '{"priority": -1000000000000000000}', '{"priority": "high"}', '{"priority": {}}',
    '{"deadline": "2000000000 days"}', '{"deadline": "soon"}', '{"deadline": []}']::jsonb[]) WITH ORDINALITY AS t (i, n), wf_run('late', i) AS r ORDER BY n;
-- So is a name of a task that no index could hold.
SELECT * FROM wf_define('{"definitionId": "named", "root": {"id": "ask", "type": "RunTask", "taskName": {"input": "name"}}}');
SELECT length(name), r.sub_status, r.incidents -> 0 ->> 'sqlstate' AS sqlstate, r.incidents -> 0 ->> 'message' AS message, r.incidents -> 0 ->> 'detail' AS detail
FROM unnest(ARRAY[repeat('x', 1000), repeat('y', 1001), repeat('é', 501)]) WITH ORDINALITY AS t (name, n), wf_run('named', jsonb_build_object('name', name)) AS r ORDER BY n;

-- The longest span is a century.
SELECT of_task(jsonb_build_object(name, t)) FROM unnest('{timeout,startTimeout}'::text[]) AS name, unnest('{36526 days,106751991 days}'::text[]) AS t;
SELECT of_options(jsonb_build_object('timeout', t)) FROM unnest('{36525 days,36526 days}'::text[]) AS t;
SELECT of_options(jsonb_build_object('retry', jsonb_build_object('maxAttempts', 2, name, t))) FROM unnest('{delay,maxDelay,within}'::text[]) AS name, unnest('{36525 days,36526 days}'::text[]) AS t;
SELECT * FROM wf_define('{"definitionId": "ages", "root": {"type": "Parallel", "activities": [
    {"id": "ask", "type": "RunTask", "taskName": "Ask", "timeout": "36525 days", "startTimeout": "36525 days"},
    {"id": "divide", "type": "SetOutput", "outputName": "o", "outputValue": {"sql": "SELECT 1 / 0"}, "retry": {"maxAttempts": 2, "delay": "36525 days"}}]}}');
SELECT wf_start('ages') AS ages \gset
SELECT activity, waits_for, due FROM workflow.waiting WHERE instance = :'ages' ORDER BY activity, waits_for;
SELECT * FROM wf_check();
