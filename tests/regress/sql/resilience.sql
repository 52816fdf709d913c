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

-- What they cannot be.
SELECT path, message FROM wf_validate('{"definitionId": "d", "options": {"resilienceStrategies": {"a": {"delay": "soon"}, "b": 7}}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "d", "options": {"resilienceStrategies": [{"maxRetryAttempts": 3}]}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "d", "options": {"resilienceStrategy": {}}, "root": []}');
