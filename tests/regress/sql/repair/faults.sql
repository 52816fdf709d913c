-- An error in an activity becomes an incident. What the activity did is undone, the instance is Faulted, and can be
-- retried, resumed or cancelled. The caller gets a WARNING.
CREATE TABLE account (owner text PRIMARY KEY, balance numeric CONSTRAINT never_negative CHECK (balance >= 0));
INSERT INTO account VALUES ('ada', 100), ('grace', 0);
SELECT * FROM wf_define('{"definitionId": "transfer", "variables": {"Step": "none"}, "root": [
    {"type": "SetVariable", "variable": "Step", "value": "before"},
    {"id": "give", "type": "Sql", "statement": "UPDATE account SET balance = balance + $1::int WHERE owner = ''grace''", "parameters": [{"input": "amount"}]},
    {"id": "take", "type": "Sql", "statement": "UPDATE account SET balance = balance - $1::int WHERE owner = ''ada''", "parameters": [{"input": "amount"}]},
    {"type": "SetVariable", "variable": "Step", "value": "after"}]}');

-- The fault is stored; the call itself succeeds. What the activities before it did stays.
SELECT sub_status, jsonb_path_query_array(incidents, '$[*].activity_id') AS at
  FROM wf_run('transfer', '{"amount": 150}', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT * FROM account ORDER BY owner;
SELECT status, sub_status, incident_count, variables, finished_at FROM workflow.instance_list WHERE instance_id = '01900000-0000-7000-8000-000000000001';
SELECT activity_id, activity_type, sqlstate, message, detail, hint, context FROM workflow.open_incidents \gx

-- wf_retry runs the faulted activity again, and the workflow goes on from there.
UPDATE account SET balance = 500 WHERE owner = 'ada';
SELECT status, sub_status FROM wf_retry('01900000-0000-7000-8000-000000000001');
SELECT * FROM account ORDER BY owner;
SELECT count(*) AS open_incidents FROM workflow.open_incidents;
SELECT incident_count, variables FROM workflow.instance_list WHERE instance_id = '01900000-0000-7000-8000-000000000001';
SELECT activity_id, sqlstate, resolved_at IS NOT NULL AS resolved FROM workflow.incidents;

-- A retry that faults again leaves another incident.
SELECT wf_start('transfer', '{"amount": 1000}', instance_id => '01900000-0000-7000-8000-000000000002');
SELECT sub_status FROM wf_retry('01900000-0000-7000-8000-000000000002');
SELECT count(*) AS incidents, count(resolved_at) AS resolved FROM workflow.incidents WHERE instance_id = '01900000-0000-7000-8000-000000000002';
SELECT wf_cancel('01900000-0000-7000-8000-000000000002');
SELECT count(resolved_at) AS resolved FROM workflow.incidents WHERE instance_id = '01900000-0000-7000-8000-000000000002';

-- on_fault => 'raise': the caller gets the error itself, and nothing has happened.
SELECT wf_start('transfer', '{"amount": 2000}', instance_id => '01900000-0000-7000-8000-000000000003', on_fault => 'raise');
\echo :SQLSTATE
SELECT count(*) FROM workflow.instance_list WHERE instance_id = '01900000-0000-7000-8000-000000000003';

-- Everything that belongs to an error comes through: private SQLSTATEs, detail, hint, the constraint.
CREATE FUNCTION refuse(code text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'refused' USING ERRCODE = code, DETAIL = 'The detail.', HINT = 'The hint.', CONSTRAINT = 'my_constraint', TABLE = 'my_table', SCHEMA = 'my_schema', COLUMN = 'my_column', DATATYPE = 'my_type';
END $$;
SELECT * FROM wf_define('{"definitionId": "refuse", "root": {"id": "call", "type": "Sql", "statement": "SELECT refuse($1 #>> ''{}'')", "parameters": [{"input": "code"}]}}');
DO $$
DECLARE
    code text; message text; detail text; hint text; con text; tab text; sch text; col text; typ text;
BEGIN
    PERFORM wf_start('refuse', '{"code": "WF042"}', on_fault => 'raise');
EXCEPTION WHEN SQLSTATE 'WF042' THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
        con = CONSTRAINT_NAME, tab = TABLE_NAME, sch = SCHEMA_NAME, col = COLUMN_NAME, typ = PG_DATATYPE_NAME;
    RAISE NOTICE '% % | % | % | % % % % %', code, message, detail, hint, con, tab, sch, col, typ;
END $$;

-- The same as an incident.
SELECT sub_status FROM wf_run('refuse', '{"code": "WF042"}', instance_id => '01900000-0000-7000-8000-000000000004');
SELECT sqlstate, message, detail, hint, context FROM workflow.open_incidents WHERE instance_id = '01900000-0000-7000-8000-000000000004' \gx

-- Cancel, lack of resources, serialization failures and internal errors never become incidents: the call ends with them.
SELECT wf_run('refuse', '{"code": "40001"}');
\echo :SQLSTATE
SELECT wf_run('refuse', '{"code": "57014"}');
\echo :SQLSTATE
SELECT wf_run('refuse', '{"code": "53200"}');
\echo :SQLSTATE
SELECT wf_run('refuse', '{"code": "55P03"}');
\echo :SQLSTATE
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'refuse';

-- The activity Fault makes one on purpose.
SELECT * FROM wf_define('{"definitionId": "fault", "root": [{"id": "f", "type": "Fault", "code": "E17", "category": "Business", "faultType": "Credit", "message": "no credit"}]}');
SELECT sub_status FROM wf_run('fault', instance_id => '01900000-0000-7000-8000-000000000005');
SELECT sqlstate, message, detail FROM workflow.open_incidents WHERE instance_id = '01900000-0000-7000-8000-000000000005';

-- Other branches that were already scheduled still run; then the instance is Faulted.
SELECT * FROM wf_define('{"definitionId": "branches", "options": {"incidentStrategy": "Fault"}, "root": {"type": "Parallel", "activities": [
    [{"type": "WriteLine", "text": "Start"}, {"id": "f", "type": "Fault", "message": "oops"}, {"type": "WriteLine", "text": "never"}],
    [{"type": "WriteLine", "text": "Step 2a"}, {"id": "wait", "type": "Event", "eventName": "Go"}]]}}');
SELECT sub_status, jsonb_path_query_array(bookmarks, '$[*].activity_id') AS waits_at FROM wf_run('branches', instance_id => '01900000-0000-7000-8000-000000000006');
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = '01900000-0000-7000-8000-000000000006' AND event = 'Line' ORDER BY seq, number;

-- A faulted instance keeps its bookmarks and can be resumed; it is Faulted as long as the faulted activity is.
SELECT r.status, r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id) AS r WHERE w.instance = '01900000-0000-7000-8000-000000000006';

-- With ContinueWithIncidents the other branches go on, and the instance waits for a retry.
SELECT * FROM wf_define('{"definitionId": "continue", "options": {"incidentStrategy": "ContinueWithIncidents"}, "root": {"type": "Parallel", "activities": [
    [{"type": "WriteLine", "text": "Start"}, {"id": "f", "type": "Fault", "message": "oops"}, {"type": "WriteLine", "text": "never"}],
    [{"type": "WriteLine", "text": "Step 2a"}, {"type": "WriteLine", "text": "Step 2b"}]]}}');
SELECT status, sub_status FROM wf_run('continue', instance_id => '01900000-0000-7000-8000-000000000007');
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = '01900000-0000-7000-8000-000000000007' AND event = 'Line' ORDER BY seq, number;

-- Only the activities that are named.
SELECT * FROM wf_retry('01900000-0000-7000-8000-000000000007', '{nobody}');
\echo :SQLSTATE
SELECT sub_status FROM wf_retry('01900000-0000-7000-8000-000000000007', '{f}');

-- A fault of an expression is a fault of its activity.
SELECT * FROM wf_define('{"definitionId": "division", "root": {"id": "w", "type": "WriteLine", "text": {"sql": "1 / 0"}}}');
SELECT sub_status FROM wf_run('division', instance_id => '01900000-0000-7000-8000-000000000008');
SELECT activity_id, sqlstate, message, context FROM workflow.open_incidents WHERE instance_id = '01900000-0000-7000-8000-000000000008' \gx

-- Errors of wf_retry.
SELECT wf_start('transfer', '{"amount": 1}') AS finished \gset
\set VERBOSITY sqlstate
SELECT * FROM wf_retry(:'finished');
\set VERBOSITY default
SELECT * FROM wf_retry('01900000-0000-7000-8000-00000000dead');
\echo :SQLSTATE
SELECT * FROM wf_retry(NULL);
\echo :SQLSTATE
SELECT * FROM wf_retry('01900000-0000-7000-8000-000000000008', '{}');
\echo :SQLSTATE
SELECT * FROM wf_retry('01900000-0000-7000-8000-000000000008', '{NULL}');
\echo :SQLSTATE
SELECT * FROM wf_retry('01900000-0000-7000-8000-000000000008', on_fault => 'raise');
\echo :SQLSTATE
SELECT * FROM wf_check();

-- A row that was removed by hand is missed.
BEGIN;
DELETE FROM workflow.instances;
SELECT DISTINCT problem FROM wf_check() ORDER BY problem;
ROLLBACK;
