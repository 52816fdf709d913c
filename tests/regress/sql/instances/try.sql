-- Try takes faults below its body: no incident, no error of the call, and nothing of what the body did before is undone.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
CREATE TABLE payments (id integer PRIMARY KEY, amount integer);
INSERT INTO payments VALUES (1, 10);
SELECT * FROM wf_define('{
    "definitionId": "pay", "variables": {"What": null},
    "root": [
        {"id": "try", "type": "Try",
         "body": [
            {"id": "note", "type": "Sql", "statement": "INSERT INTO payments VALUES (100 + $1, 0)", "parameters": [{"input": "id"}]},
            {"id": "pay", "type": "Sql", "statement": "INSERT INTO payments VALUES ($1, 10 / $2)", "parameters": [{"input": "id"}, {"input": "parts"}]}],
         "catch": [
            {"on": ["23505"], "variable": "What", "body": {"id": "twice", "type": "WriteLine", "text": "it was paid before"}},
            {"on": ["22012"], "body": {"id": "ask", "type": "RunTask", "taskName": "Correct"}}],
         "finally": {"id": "close", "type": "WriteLine", "text": "closed"}},
        {"id": "after", "type": "WriteLine", "text": "after"}]
}');

SELECT r.sub_status, r.incidents FROM wf_run('pay', '{"id": 1, "parts": 1}', on_fault => 'raise') AS r;
SELECT * FROM payments ORDER BY id;
SELECT variables FROM workflow.instances;
SELECT event, activity, data FROM workflow.journal ORDER BY seq, number;
SELECT line FROM workflow.instance_list AS i, wf_explain(i.instance_id) AS line WHERE line ~ 'fault';

-- A catch may wait. What it waits for is a bookmark of the instance like any other.
SELECT wf_start('pay', '{"id": 2, "parts": 0}') AS instance \gset
SELECT sub_status, incident_count FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) AS r;
SELECT data FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Line' ORDER BY seq, number;

-- A fault that no catch names goes on after finally: it is the fault of Try.
SELECT r.sub_status, r.incidents -> 0 ->> 'activity_id' AS activity, r.incidents -> 0 ->> 'sqlstate' AS sqlstate
FROM wf_run('pay', '{"id": 3, "parts": "none"}', on_fault => 'store') AS r;
SELECT wf_run('pay', '{"id": 4, "parts": "none"}', on_fault => 'raise');
\echo :SQLSTATE

-- Errors that are never faults are not taken: they end the call.
SELECT * FROM wf_define('{
    "definitionId": "never",
    "root": {"type": "Try", "body": {"type": "Sql", "statement": "DO $$ BEGIN RAISE ''again'' USING ERRCODE = ''40001''; END $$"}, "catch": [{}]}
}');
SELECT wf_run('never');
\echo :SQLSTATE

-- What waits below the body is cancelled when a fault there is taken: a task that was open is.
SELECT * FROM wf_define('{
    "definitionId": "beside",
    "root": {"id": "try", "type": "Try",
        "body": {"type": "Parallel", "activities": [
            {"id": "sign", "type": "RunTask", "taskName": "Sign"},
            [{"type": "Event", "eventName": "Go"}, {"id": "divide", "type": "SetOutput", "outputName": "o", "outputValue": {"sql": "SELECT 1 / 0"}}]]},
        "catch": [{"body": {"id": "repair", "type": "Event", "eventName": "Repaired"}}]}
}');
SELECT wf_start('beside') AS instance \gset
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go');
SELECT status FROM workflow.tasks WHERE instance_id = :'instance';
SELECT activity FROM workflow.waiting WHERE instance = :'instance';
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Repaired');
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'instance';

-- The picture shows the ways through it.
SELECT line FROM regexp_split_to_table(wf_diagram('pay'), E'\n') AS line WHERE line ~ '-->';
