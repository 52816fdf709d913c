-- What wf_define says to retry policies that mean nothing, and where a policy may stand.
CREATE FUNCTION problems(policy jsonb) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT path || ': ' || message
    FROM wf_validate(jsonb_build_object('definitionId', 'd', 'root', jsonb_build_object('type', 'Sql', 'statement', 'SELECT 1', 'retry', policy)))
$$;

-- Everything that a policy can say.
SELECT problems('{"maxAttempts": 5, "delay": "PT1S", "backoff": "exponential", "factor": 1.5, "maxDelay": "1 hour", "within": "1 day",
    "jitter": true, "on": ["22", "P0001", "timeout"], "except": ["22012"]}');
SELECT problems('{"MaxAttempts": 1, "delay": "0 s", "jitter": 0}');

-- Without maxAttempts it would never end.
SELECT problems('{}');
SELECT problems('{"delay": "1 s"}');
SELECT problems(p) FROM jsonb_array_elements('[3, "often", true, []]') AS p;

-- Misspelt, negative, huge, of a wrong type.
SELECT problems('{"maxAttempt": 3}');
SELECT problems('{"maxAttempts": 3, "delai": "1 s", "until": "1 day"}');
SELECT problems(jsonb_build_object('maxAttempts', n)) FROM jsonb_array_elements('[0, -1, 1.5, 1000001, 1e300, "3", {}]') AS n;
SELECT problems(jsonb_build_object('maxAttempts', 2, 'delay', d))
FROM jsonb_array_elements('["-1 s", "soon", "1 month", "9000000000000 hours", 5, {}, {"js": "1"}]') AS d;
SELECT problems('{"maxAttempts": 2, "maxDelay": "0 s", "within": "-1 s"}');
SELECT problems(jsonb_build_object('maxAttempts', 2, 'backoff', b)) FROM jsonb_array_elements('["quadratic", "Exponential", 2]') AS b;
SELECT problems(jsonb_build_object('maxAttempts', 2, 'backoff', 'exponential', 'factor', f)) FROM jsonb_array_elements('[0.5, -2, 1001, "2"]') AS f;
SELECT problems('{"maxAttempts": 2, "factor": 2}');
SELECT problems('{"maxAttempts": 2, "backoff": "linear", "factor": 2}');
SELECT problems(jsonb_build_object('maxAttempts', 2, 'jitter', j)) FROM jsonb_array_elements('[1.5, -0.1, "yes"]') AS j;
SELECT problems(jsonb_build_object('maxAttempts', 2, 'on', o)) FROM jsonb_array_elements('[[], "22012", [22012], [""], [null, "22"]]') AS o;

-- Errors that end the call are never faults: on cannot name them, and except may.
SELECT problems('{"maxAttempts": 2, "on": ["40", "40001", "53", "57014", "58", "XX", "XX001", "55P03"]}');
SELECT problems('{"maxAttempts": 2, "on": ["55", "55000"], "except": ["40"]}');

-- In options it is the policy of activities that hold no others; there it is checked as well.
SELECT path, message FROM wf_validate('{"definitionId": "d", "options": {"retry": {"maxAttempts": 0}}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "d", "options": {"retry": {"maxAttempts": 2}}, "root": {"type": "Sql", "statement": "SELECT 1"}}');

-- In Elsa's form it stands among the custom properties.
SELECT path, message FROM wf_validate('{"definitionId": "d", "root": {"type": "Elsa.Event", "version": 1, "customProperties": {"retry": {"maxAttempts": "3"}},
    "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "Go"}}}}');

-- A registered type has no input of that name from now on. Where one has it already, and in a workflow that is used as an activity, the
-- input wins, and the author is told.
CREATE FUNCTION handle(context jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT jsonb_build_object(''outputs'', jsonb_build_object(''result'', context #> ''{inputs,retry}''))';
SELECT wf_register_activity('Acme.Call', 'handle(jsonb)', inputs => '[{"name": "retry"}]');
\echo :SQLSTATE
SELECT wf_register_activity('Acme.Call', 'handle(jsonb)', inputs => '[{"name": "Timeout"}]');
SELECT wf_register_activity('Acme.Call', 'handle(jsonb)', inputs => '[{"name": "url"}]');
UPDATE workflow.activity_types SET inputs = '[{"name": "retry"}]' WHERE type = 'Acme.Call';
SELECT path, message FROM wf_validate('{"definitionId": "d", "root": {"type": "Acme.Call", "retry": 7}}', 'warning');
SELECT * FROM wf_define('{"definitionId": "inputs", "name": "Inputs", "options": {"usableAsActivity": true}, "inputs": [{"name": "retry"}],
    "root": {"type": "WriteLine", "text": {"input": "retry"}}}');
SELECT path, message FROM wf_validate('{"definitionId": "d", "root": {"type": "Inputs", "retry": {"maxAttempts": 2}}}', 'warning');
SELECT * FROM wf_define('{"definitionId": "uses", "outputs": [{"name": "o"}], "root": {"type": "Acme.Call", "retry": 7, "result": {"output": "o"}}}');
SELECT r.output FROM wf_run('uses') AS r;
