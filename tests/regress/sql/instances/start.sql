-- wf_start runs a new instance until every branch waits or ends, and returns its id. wf_run returns what happened.
SELECT * FROM wf_define('{"definitionId": "hello", "outputs": [{"name": "Greeting", "type": "String"}], "root":
    {"type": "SetOutput", "outputName": "Greeting", "outputValue": {"js": "`hello ${getInput(''name'')}`"}}}');
SELECT * FROM wf_define('{"definitionId": "wait", "root": {"id": "go", "type": "Event", "eventName": "Go"}}');
SELECT pg_typeof(wf_start('hello', '{"name": "Ada"}'));
SELECT status, sub_status, output, bookmarks, incidents FROM wf_run('hello', '{"name": "Ada"}');

-- What it waits for stands in the result.
SELECT status, sub_status, output, jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits_at, bookmarks -> 0 ->> 'name' AS name,
       bookmarks -> 0 -> 'payload' AS payload
  FROM wf_run('wait');

-- The input is an object; without one it is empty.
SELECT wf_start('hello', '{"name": "Grace", "more": [1, 1.10]}') AS with_input \gset
SELECT wf_start('hello') AS without_input \gset
SELECT input, output FROM workflow.instance_list WHERE instance_id IN (:'with_input', :'without_input') ORDER BY input;

-- Correlation id and name are for finding instances again.
SELECT wf_start('wait', correlation_id => 'order-1', name => 'the first') AS instance \gset
SELECT definition_id, version, correlation_id, name, status, sub_status, finished_at FROM workflow.instance_list WHERE instance_id = :'instance';

-- An id of one's own makes a start repeatable: the second call runs nothing and returns the id.
SELECT wf_start('wait', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT wf_start('wait', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT count(*) FROM workflow.waiting WHERE instance = '01900000-0000-7000-8000-000000000001';
SELECT sub_status FROM wf_run('wait', instance_id => '01900000-0000-7000-8000-000000000001');

-- For another definition it is taken.
SELECT wf_start('hello', instance_id => '01900000-0000-7000-8000-000000000001');
\echo :SQLSTATE

-- The published version, or the one that is named.
SELECT * FROM wf_define('{"definitionId": "hello", "outputs": [{"name": "Greeting", "type": "String"}], "root":
    {"type": "SetOutput", "outputName": "Greeting", "outputValue": "hi"}}');
SELECT output FROM wf_run('hello', '{"name": "Ada"}');
SELECT output FROM wf_run('hello', '{"name": "Ada"}', version => 1);

-- A definition that begins with a trigger waits there, and says so; trigger_activity_id runs it as if that had fired.
SELECT * FROM wf_define('{"definitionId": "triggered", "root": [
    {"id": "paid", "type": "Event", "eventName": "Paid", "canStartWorkflow": true},
    {"type": "SetName", "value": "was paid"}]}');
SELECT sub_status FROM wf_run('triggered');
SELECT sub_status FROM wf_run('triggered', trigger_activity_id => 'paid');
SELECT wf_start('triggered', trigger_activity_id => 'nobody');
\echo :SQLSTATE
SELECT wf_start('hello', trigger_activity_id => 'SetOutput1');
\echo :SQLSTATE

-- A start that is rolled back never was.
BEGIN;
SELECT wf_start('wait', instance_id => '01900000-0000-7000-8000-000000000002');
SAVEPOINT s;
SELECT wf_start('wait', instance_id => '01900000-0000-7000-8000-000000000003');
ROLLBACK TO s;
COMMIT;
SELECT instance_id FROM workflow.instance_list WHERE instance_id IN ('01900000-0000-7000-8000-000000000002', '01900000-0000-7000-8000-000000000003');

-- Errors.
SELECT wf_start('nobody');
\echo :SQLSTATE
SELECT wf_start('hello', version => 99);
\echo :SQLSTATE
SELECT wf_start('hello', '[]');
\echo :SQLSTATE
SELECT wf_start('hello', '"text"');
SELECT wf_start('hello', 'null');
SELECT wf_start('hello', '{"name":');
\echo :SQLSTATE
SELECT wf_start('hello', on_fault => 'ignore');
\echo :SQLSTATE
SELECT wf_start('hello', instance_id => 'not a uuid');
\echo :SQLSTATE

-- NULL is an error where it makes no sense; for the optional arguments it is the default.
SELECT wf_start(NULL);
\echo :SQLSTATE
SELECT wf_start('hello', NULL);
\echo :SQLSTATE
SELECT wf_run(NULL);
\echo :SQLSTATE
SELECT sub_status FROM wf_run('hello', correlation_id => NULL, name => NULL, instance_id => NULL, version => NULL, trigger_activity_id => NULL, on_fault => NULL);
SELECT * FROM wf_check();
