-- runAsynchronously: the activity waits for a transaction of its own, and is as if inline afterwards.
SET workflow.now = '2030-01-01 08:00:00+00';
CREATE TABLE pg_temp.report (text text);
SELECT * FROM wf_define('{"definitionId": "report", "variables": {"Rows": null}, "root": [
    {"id": "write", "type": "Sql", "runAsynchronously": true,
     "statement": "INSERT INTO pg_temp.report VALUES (''for '' || ($1 #>> ''{}''))", "parameters": [{"input": "who"}], "rowCount": {"var": "Rows"}},
    {"type": "WriteLine", "text": {"js": "`${getRows()} row, ${getOutputFrom(''write'', ''rowCount'')} row`"}}]}');

-- It is a bookmark that is due at once. Without a worker, a NOTICE says how to fire it.
SELECT sub_status, bookmarks -> 0 ->> 'name' AS name, bookmarks -> 0 ->> 'activity_id' AS activity FROM wf_run('report', '{"who": "Ada"}');
SELECT activity, due FROM workflow.waiting;
SELECT count(*) FROM pg_temp.report;
SELECT wf_run_due();
TABLE pg_temp.report;
SELECT event, activity, data FROM workflow.journal ORDER BY seq, number;

-- In a loop it waits in each round.
SELECT * FROM wf_define('{"definitionId": "rounds", "root": {"type": "ForEach", "items": ["a", "b"],
    "body": {"id": "say", "type": "WriteLine", "runAsynchronously": true, "text": {"var": "CurrentValue"}}}}');
SELECT wf_start('rounds') AS instance \gset
SELECT wf_run_due(1), wf_run_due(1);
SELECT data FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Line' ORDER BY seq;

-- What it waits for itself is an ordinary bookmark: the task is opened when it runs.
SELECT * FROM wf_define('{"definitionId": "task", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "runAsynchronously": true, "result": {"output": "Answer"}}}');
SELECT wf_start('task') AS instance \gset
SELECT count(*) FROM workflow.tasks;
SELECT wf_run_due();
SELECT id AS task, name, status FROM workflow.tasks \gset
SELECT sub_status, output FROM wf_complete_task(:'task', '42');

-- A fault is an incident of the activity; a retry runs it at once.
SELECT * FROM wf_define('{"definitionId": "faulty", "root": {"id": "divide", "type": "SetOutput", "runAsynchronously": true, "outputName": "X", "outputValue": {"sql": "1 / (SELECT count(*) FROM pg_temp.report WHERE text = ''ready'')"}}}');
SELECT wf_start('faulty') AS instance \gset
\set VERBOSITY terse
SELECT wf_run_due();
\set VERBOSITY default
SELECT activity_id, sqlstate, message FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT wf_run_due();
INSERT INTO pg_temp.report VALUES ('ready');
SELECT sub_status, output FROM wf_retry(:'instance');

-- Cancelling takes it away.
SELECT wf_start('rounds') AS instance \gset
SELECT wf_cancel(:'instance'), wf_run_due();

-- Export keeps the flag where Elsa has it. Triggers are never put off.
SELECT wf_export('task') -> 'root' -> 'customProperties' AS properties;
