-- A child that faults, and a child that cannot be started.
\i tests/regress/include/children.sql

-- A child that faults is an end, too, as in Elsa.
SELECT wf_define('{"definitionId": "broken", "root": {"type": "Fault", "message": "broken"}}');
SELECT wf_define('{"definitionId": "careful", "variables": {"R": null}, "root": [
    {"type": "ExecuteWorkflow", "workflowDefinitionId": "broken", "waitForCompletion": true, "result": {"var": "R"}},
    {"type": "WriteLine", "text": {"js": "`${getR().status}, ${getR().subStatus}`"}}]}');
\set VERBOSITY terse
SET client_min_messages = error;
SELECT sub_status FROM wf_run('careful');
SELECT * FROM pg_temp.lines();
SELECT pg_temp.forget();

-- What cannot be started is a fault of the activity: unknown, not published, an input that does not fit, a strategy that says no.
SELECT wf_define('{"definitionId": "draft", "root": []}', publish => false);
SELECT wf_define('{"definitionId": "one-at-a-time", "options": {"activationStrategy": "Singleton"}, "root": {"type": "RunTask", "taskName": "t"}}');
SELECT wf_define(format('{"definitionId": "calls", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": {"input": "which"},
    "input": {"input": "with"}, "waitForCompletion": true}}')::jsonb);
SELECT w.which, r.sub_status, r.incidents #>> '{0,sqlstate}' AS sqlstate, r.incidents #>> '{0,message}' AS message
FROM (VALUES ('nothing', '{}'), ('draft', '{}'), ('double', '{"n": "many"}'), ('double', '[1]'), ('one-at-a-time', '{}'), ('one-at-a-time', '{}')) AS w (which, input),
     LATERAL wf_run('calls', jsonb_build_object('which', w.which, 'with', w.input::jsonb)) AS r;
SELECT pg_temp.forget();
RESET client_min_messages;
