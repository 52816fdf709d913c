-- Elsa's resilience strategies are retry policies by name, from the options of a definition or from a setting.
SELECT wf_define('{"definitionId": "stock", "options": {"resilienceStrategies": {"patient": {"maxRetryAttempts": 2, "delay": "00:00:10", "backoffType": "Constant"}}},
    "root": [{"id": "call", "type": "SendHttpRequest", "url": "https://stock.example/7",
        "customProperties": {"resilienceStrategy": {"mode": "Identifier", "strategyId": "patient"}}}]}');
SELECT wf_export('stock') #> '{root,activities,0,customProperties,resilienceStrategy}' AS exported, wf_export('stock') #> '{options,resilienceStrategies}' AS options;

-- A transient answer is an attempt, as long as there are any. What a worker gives up for another reason is not tried again.
SET workflow.now = '2026-03-01 09:00:00+00';
SELECT wf_start('stock') AS instance \gset
SELECT task_id AS task, token, attempt, max_attempts FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset
SELECT :attempt AS attempt, :max_attempts AS max_attempts;
SELECT sub_status FROM wf_complete_task(:'task', '{"statusCode": 503}', token => :'token');
SELECT attempt, available_at, last_error FROM workflow.open_tasks;
SET workflow.now = '2026-03-01 09:00:10+00';
SELECT task_id AS task, token FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset
SELECT wf_fail_task(:'task', :'token', 'no secret of that name', code => 'secret_denied');
SELECT wf_cancel(:'instance');

-- A strategy that is not known: the activity runs without it, as in Elsa, and the author is told.
SELECT wf_define('{"definitionId": "other", "root": {"id": "call", "type": "SendHttpRequest", "url": "https://stock.example/7",
        "customProperties": {"resilienceStrategy": {"mode": "Identifier", "strategyId": "common"}}}}');
SELECT path, severity, message FROM wf_validate(wf_export('other'), 'warning');
SELECT wf_start('other') AS instance \gset
SELECT max_attempts FROM wf_claim_tasks('{Elsa.SendHttpRequest}');

-- The setting has strategies for all definitions; what is compiled and what waits follows it from the next call on.
SET workflow.resilience_strategies = '[{"id": "common", "displayName": "Common", "maxRetryAttempts": 5}]';
SELECT path, severity, message FROM wf_validate(wf_export('other'), 'warning');
SELECT wf_start('other') AS second \gset
SELECT max_attempts FROM wf_claim_tasks('{Elsa.SendHttpRequest}');
SET workflow.resilience_strategies = '{"common": {"maxRetryAttempts": 5, "backofType": "Linear"}, "never": {"maxRetryAttempts": -1}, "text": 7}';
SELECT path, severity, message FROM wf_validate(wf_export('other'), 'warning');
SET workflow.resilience_strategies = '"common"';
SELECT path, severity, message FROM wf_validate(wf_export('other'), 'warning');
SET workflow.resilience_strategies = 'common';
SELECT path, severity, message FROM wf_validate(wf_export('other'), 'warning');
RESET workflow.resilience_strategies;
SELECT wf_cancel(:'instance'), wf_cancel(:'second');

-- Only a superuser sets it: it decides for the definitions of others.
CREATE ROLE regress_resilience;
SET ROLE regress_resilience;
SET workflow.resilience_strategies = '[]';
\echo :SQLSTATE
RESET ROLE;
DROP ROLE regress_resilience;

-- Other activities have such a policy for every fault. The policy of the activity itself comes first.
SELECT wf_define('{"definitionId": "divide", "options": {"resilienceStrategies": [{"id": "once", "maxRetryAttempts": 1, "delay": "00:00:00"}]}, "root": [
    {"id": "divide", "type": "SetOutput", "outputName": "o", "outputValue": {"sql": "SELECT 1 / 0"},
     "customProperties": {"resilienceStrategy": {"mode": "Expression", "expression": {"type": "Literal", "value": "once"}}}}]}');
SET client_min_messages = error;
SELECT wf_start('divide') AS instance \gset
RESET client_min_messages;
SELECT event, data - 'due_at' AS data FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Retrying';

-- An expression computes the strategy, or its name, when an attempt begins. A task keeps what was computed when it was opened.
SELECT wf_define('{"definitionId": "computed", "options": {"resilienceStrategies": {"once": {"maxRetryAttempts": 1, "delay": "00:00:10", "backoffType": "Constant"}}},
    "variables": {"Strategy": null}, "root": [
    {"type": "SetVariable", "variable": "Strategy", "value": {"input": "Strategy"}},
    {"id": "call", "type": "SendHttpRequest", "url": {"input": "Url"},
     "customProperties": {"resilienceStrategy": {"mode": "Expression", "expression": {"type": "JavaScript", "value": "getStrategy()"}}}}]}');
SELECT wf_export('computed') #> '{root,activities,1,customProperties,resilienceStrategy}' AS exported;
SELECT wf_start('computed', '{"Url": "a", "Strategy": "once"}') \g /dev/null
SELECT wf_start('computed', '{"Url": "b", "Strategy": {"MaxRetryAttempts": 4, "Delay": "00:01:00", "BackoffType": "Linear"}}') AS instance \gset
SELECT wf_start('computed', '{"Url": "c", "Strategy": "{\"maxRetryAttempts\": 8}"}') \g /dev/null
SELECT wf_start('computed', '{"Url": "d", "Strategy": "unknown"}') \g /dev/null
SELECT wf_start('computed', '{"Url": "e"}') \g /dev/null
CREATE TABLE claimed AS SELECT * FROM wf_claim_tasks('{Elsa.SendHttpRequest}', max => 10);
SELECT payload ->> 'Url' AS url, attempt, max_attempts FROM claimed ORDER BY url;
SELECT c.payload ->> 'Url' AS url, r.sub_status FROM claimed AS c, wf_complete_task(c.task_id, '{"statusCode": 503}', token => c.token) AS r ORDER BY url;
SELECT payload ->> 'Url' AS url, attempt, available_at - '2026-03-01 09:00:10+00' AS after, last_error FROM workflow.open_tasks ORDER BY url;
-- wf_set_variable changes what the next attempt of the activity computes, but not what the open task has.
SELECT wf_set_variable(:'instance', 'Strategy', 'null') \g /dev/null
SET workflow.now = '2026-03-01 09:30:00+00';
SELECT attempt, max_attempts FROM wf_claim_tasks('{Elsa.SendHttpRequest}', max => 10) ORDER BY max_attempts;
DROP TABLE claimed;

-- A value that is no strategy is the fault of the activity, and so is an expression that fails.
SET client_min_messages = error;
SELECT (wf_start('computed', '{"Url": "f", "Strategy": 7}')).sub_status;
SELECT (wf_start('computed', '{"Url": "g", "Strategy": {"delay": "soon"}}')).sub_status;
SELECT wf_define('{"definitionId": "failing", "root": [{"id": "call", "type": "SendHttpRequest", "url": "a",
     "customProperties": {"resilienceStrategy": {"mode": "Expression", "expression": {"sql": "SELECT 1 / 0"}}}}]}');
SELECT (wf_start('failing')).sub_status;
RESET client_min_messages;
SELECT definition_id, activity_id, sqlstate, message, context, attempts FROM workflow.open_incidents WHERE sqlstate <> 'WF001' ORDER BY created_at, message;

-- Another activity computes it anew for each attempt.
SELECT wf_define('{"definitionId": "fewer", "variables": {"Left": 2}, "root": [
    {"id": "divide", "type": "Sql", "statement": "SELECT 1 / $1", "parameters": [{"literal": 0}],
     "customProperties": {"resilienceStrategy": {"mode": "Expression", "expression": {"js": "({maxRetryAttempts: getLeft(), delay: \"00:01:00\"})"}}}}]}');
SELECT wf_start('fewer') AS instance \gset
SELECT wf_set_variable(:'instance', 'Left', '1') \g /dev/null
SET workflow.now = '2026-03-01 09:31:00+00';
SELECT wf_run_due();
SELECT sqlstate, message, attempts FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT event, data - 'due_at' AS data FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Retrying';
SELECT path, severity, message FROM wf_validate('{"definitionId": "d", "root": [{"type": "Event", "eventName": "e",
    "customProperties": {"resilienceStrategy": {"mode": "Expression", "expression": {"type": "CSharp", "value": "Pick(3)"}}}}]}', 'warning');

-- What they cannot be.
SELECT path, message FROM wf_validate('{"definitionId": "d", "options": {"resilienceStrategies": {"a": {"delay": "soon"}, "b": 7}}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "d", "options": {"resilienceStrategies": [{"maxRetryAttempts": 3}]}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "d", "options": {"resilienceStrategy": {}}, "root": []}');
