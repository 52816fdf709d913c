-- Activation strategies say which instances may run beside each other. They hold on every way to start.

-- Singleton: one running instance of the definition.
SELECT * FROM wf_define('{"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": {"id": "go", "type": "Event", "eventName": "Go"}}');
SELECT wf_start('single', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT wf_start('single');
\echo :SQLSTATE
SELECT * FROM wf_run('single', correlation_id => 'another');
\echo :SQLSTATE
SELECT wf_cancel('01900000-0000-7000-8000-000000000001');
SELECT wf_start('single', instance_id => '01900000-0000-7000-8000-000000000002');
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go');
SELECT wf_start('single', instance_id => '01900000-0000-7000-8000-000000000003');

-- One that ends in its first burst excludes no other.
SELECT * FROM wf_define('{"definitionId": "quick", "options": {"activationStrategy": "Singleton"}, "root": []}');
SELECT wf_start('quick') IS NOT NULL AS first, wf_start('quick') IS NOT NULL AS second;

-- CorrelatedSingleton: one running instance of the definition with the same correlation id. Without one nothing conflicts.
SELECT * FROM wf_define('{"definitionId": "per-order", "options": {"activationStrategy": "CorrelatedSingleton"}, "root": {"type": "Event", "eventName": "Go"}}');
SELECT wf_start('per-order', correlation_id => 'a', instance_id => '01900000-0000-7000-8000-00000000000a');
SELECT wf_start('per-order', correlation_id => 'b') IS NOT NULL AS started;
SELECT wf_start('per-order') IS NOT NULL AS first, wf_start('per-order') IS NOT NULL AS second;
SELECT wf_start('per-order', correlation_id => 'a');
\echo :SQLSTATE

-- Correlated: one running instance with the same correlation id, of any definition with this strategy.
SELECT * FROM wf_define('{"definitionId": "c1", "options": {"activationStrategy": "Correlated"}, "root": {"type": "Event", "eventName": "Go"}}');
SELECT * FROM wf_define('{"definitionId": "c2", "options": {"activationStrategyType": "Elsa.Workflows.Runtime.ActivationValidators.CorrelationStrategy, Elsa.Workflows.Runtime"},
    "root": {"type": "Event", "eventName": "Go"}}');
SELECT wf_start('c1', correlation_id => 'x', instance_id => '01900000-0000-7000-8000-00000000000c');
SELECT wf_start('c2', correlation_id => 'x');
\echo :SQLSTATE
SELECT wf_start('c2', correlation_id => 'a') IS NOT NULL AS started;

-- A start by a stimulus is skipped, and journaled.
SELECT * FROM wf_define('{"definitionId": "one-alarm", "options": {"activationStrategy": "Singleton"}, "root": [
    {"id": "alarm", "type": "Event", "eventName": "Alarm", "canStartWorkflow": true}, {"id": "handled", "type": "RunTask", "taskName": "Handle the alarm"}]}');
SELECT cardinality(started) AS started FROM wf_publish_event('Alarm');
SELECT cardinality(started) AS started FROM wf_publish_event('Alarm');
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'one-alarm';
SELECT event, activity, data FROM workflow.journal WHERE event = 'Start refused';

-- Correlate into a taken id is a fault of that activity.
SELECT * FROM wf_define('{"definitionId": "joiner", "options": {"activationStrategy": "Correlated"}, "root": {"id": "join", "type": "Correlate", "correlationId": "x"}}');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message
  FROM wf_run('joiner', instance_id => '01900000-0000-7000-8000-00000000000d');

-- A faulted instance does not count; when it is taken up again uniqueness is asked again.
SELECT * FROM wf_define('{"definitionId": "shaky", "options": {"activationStrategy": "Singleton"}, "root": [
    {"id": "check", "type": "If", "condition": {"js": "getInput(''ok'')"}, "else": {"id": "fail", "type": "Fault", "message": "not ok"}},
    {"type": "Event", "eventName": "Go"}]}');
SELECT wf_start('shaky', instance_id => '01900000-0000-7000-8000-00000000000e');
SELECT wf_start('shaky', '{"ok": true}', instance_id => '01900000-0000-7000-8000-00000000000f');
SELECT * FROM wf_retry('01900000-0000-7000-8000-00000000000e');
\echo :SQLSTATE
SELECT sub_status FROM workflow.instance_list WHERE instance_id = '01900000-0000-7000-8000-00000000000e';

-- In one transaction, too: what it started counts, what was rolled back does not.
SELECT wf_cancel('01900000-0000-7000-8000-000000000003');
BEGIN;
SAVEPOINT s;
SELECT wf_start('single', instance_id => '01900000-0000-7000-8000-000000000004');
ROLLBACK TO s;
SELECT wf_start('single', instance_id => '01900000-0000-7000-8000-000000000005');
SELECT wf_start('single');
ROLLBACK;
SELECT * FROM wf_check();
