-- A definition in the short form that would do nothing, or fault where it is reached, is refused when it comes in.
-- How it was searched: the catalogue says which members a type has, so each member that is not one of them is refused, and so
-- are inputs that a type needs, and names and types that are declared nowhere. Open is what only running tells: SQL warns.
CREATE FUNCTION pg_temp.define(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    version integer;
    message text; detail text; hint text;
BEGIN
    SELECT d.version INTO version FROM wf_define(('{"definitionId": "x", ' || definition || '}')::jsonb) AS d;
    RETURN 'version ' || version;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', SQLSTATE, detail, hint);
END $$;
\pset tuples_only on
\pset format unaligned

-- Members that mean nothing.
SELECT pg_temp.define('"root": {"type": "Parallel", "branches": [{"type": "RunTask", "taskName": "t"}]}');
SELECT pg_temp.define('"root": {"type": "Fork", "activities": [{"type": "RunTask", "taskName": "t"}]}');
SELECT pg_temp.define('"root": {"type": "While", "condition": true, "activities": []}');
SELECT pg_temp.define('"root": {"type": "If", "condition": true, "do": {"type": "WriteLine", "text": "x"}}');
SELECT pg_temp.define('"root": {"type": "Delay", "duration": "5s"}');
SELECT pg_temp.define('"root": {"type": "RunTask", "taskName": "t", "deadline": "5s", "retries": 3, "retryPolicy": {}, "assignee": "bob", "queue": "q"}');
SELECT pg_temp.define('"options": {"retries": 3, "timeout": "5s"}, "root": []');
SELECT pg_temp.define('"root": {"type": "Event", "eventName": "e", "resutl": {"var": "R"}}, "variables": {"R": null}');

-- Inputs that are needed.
SELECT pg_temp.define('"root": {"type": "Event", "name": "Paid"}');
SELECT pg_temp.define('"root": {"type": "RunTask", "name": "approve"}');
SELECT pg_temp.define('"root": [{"type": "Delay"}, {"type": "Timer"}, {"type": "Cron"}, {"type": "StartAt"}, {"type": "PublishEvent"}, {"type": "SetOutput"},
    {"type": "ExecuteWorkflow"}, {"type": "HttpEndpoint"}, {"type": "SqlQuery"}, {"type": "While"}, {"type": "ForEach"}, {"type": "RunJavaScript"}]');
SELECT pg_temp.define('"root": {"type": "RunTask", "taskName": ""}');

-- Names and types that are declared nowhere.
SELECT pg_temp.define('"inputs": [{"name": "amount", "type": "bigint"}], "root": []');
SELECT pg_temp.define('"inputs": [{"name": "amount"}], "root": {"type": "WriteLine", "text": {"input": "undeclared"}}');
SELECT pg_temp.define('"inputs": [{"name": "amount"}], "root": {"type": "WriteLine", "text": {"js": "getNope() + getVariable(''Nope'')"}}');
SELECT pg_temp.define('"root": {"type": "ForEach", "items": [1], "body": {"type": "SetVariable", "variable": "Nope", "value": {"var": "CurrentValue"}}}');

-- SQL that this server's parser refuses is a warning; nothing of it is run or looked up.
SELECT pg_temp.define('"root": [{"type": "Sql", "statement": "selct 1"}, {"type": "SetName", "value": {"sql": "1 +"}}, {"type": "Sql", "statement": "SELECT 1; SELECT 2"},
    {"type": "Sql", "statement": "SELECT * FROM not_there($1)", "parameters": [1]}, {"type": "SqlQuery", "query": "SELECT {{Input.x}} FROM"}]');
SELECT path || ' | ' || severity || ' | ' || message FROM wf_validate('{"definitionId": "y", "root": [{"type": "Sql", "statement": "selct 1"}, {"type": "WriteLine", "text": {"js": "getNope()"}}]}', 'warning');
SELECT count(*) FROM wf_validate('{"definitionId": "y", "root": [{"type": "Sql", "statement": "selct 1"}, {"type": "WriteLine", "text": {"js": "getNope()"}}]}');
SELECT path || ' | ' || severity || ' | ' || message FROM wf_validate('{"definitionId": "y", "root": [{"type": "Sql", "statement": "selct 1", "rows": 1}]}', 'warning');
SELECT count(*) FROM wf_validate('{"definitionId": "y", "root": []}', 'notice');
SELECT count(*) FROM wf_validate('{"definitionId": "y", "root": []}', NULL);

-- The same in Elsa's form is accepted as it is.
SELECT pg_temp.define('"toolVersion": "3.8.0", "unheardOf": 1, "inputs": [{"name": "o", "type": "Order"}], "root": {"type": "Elsa.RunTask", "timeout": "5s"}');
SELECT pg_temp.define('"root": {"type": "Elsa.Delay", "id": "d", "version": 1, "duration": "5s", "customProperties": {"retry": {"maxAttempts": 3}, "resilienceStrategy": {}}}');

-- Equal content gives its version before anything is checked, and what is stored is read as it was. (The row is what an
-- earlier release stored.)
SELECT definition_id, version FROM wf_define('{"definitionId": "old", "root": {"type": "Sequence", "activities": [{"type": "WriteLine", "text": "one"}, {"type": "Delay", "timeSpan": "00:00:05"}]}}');
UPDATE workflow.definitions SET document = '{"definitionId": "old", "retries": 3, "root": {"type": "Sequence", "activities": [{"type": "WriteLine", "text": "one", "assignee": "bob"}, {"type": "Delay", "duration": "5s"}]}}'
    WHERE definition_id = 'old';
\c
\pset tuples_only on
\pset format unaligned
SELECT definition_id, version FROM wf_define('{"definitionId": "old", "retries": 3, "root": {"type": "Sequence", "activities": [{"type": "WriteLine", "text": "one", "assignee": "bob"}, {"type": "Delay", "duration": "5s"}]}}');
SELECT count(*) FROM wf_validate('{"definitionId": "old", "retries": 3, "root": {"type": "Sequence", "activities": [{"type": "WriteLine", "text": "one", "assignee": "bob"}, {"type": "Delay", "duration": "5s"}]}}');
SELECT sub_status FROM wf_run('old');
SELECT path FROM wf_validate('{"definitionId": "old", "retries": 4, "root": {"type": "Sequence", "activities": [{"type": "WriteLine", "text": "one", "assignee": "bob"}, {"type": "Delay", "duration": "5s"}]}}') ORDER BY path COLLATE "C";
