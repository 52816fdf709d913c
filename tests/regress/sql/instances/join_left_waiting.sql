-- A join with WaitAll counts what each connection has followed since it last ran, also behind a way back.

SELECT wf_define('{"definitionId": "two-approvals", "root": {"type": "Flowchart", "activities": [
    {"id": "fork", "type": "FlowFork", "branches": ["A", "B"]},
    {"id": "a", "type": "RunTask", "taskName": "a"}, {"id": "b", "type": "RunTask", "taskName": "b"},
    {"id": "more", "type": "FlowDecision", "condition": {"js": "getLastResult() === true"}},
    {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "end", "type": "WriteLine", "text": "both approved"}],
    "connections": [["fork", "A", "a"], ["fork", "B", "b"], ["a", "more"], ["more", "False", "a"], ["more", "True", "join"],
        ["b", "join"], ["join", "end"]]}}');
SELECT wf_start('two-approvals') AS i \gset
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, 'false') WHERE t.instance_id = :'i' AND t.name = 'a';
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, 'true') WHERE t.instance_id = :'i' AND t.name = 'b';
-- The other branch has arrived, was kept in the stored state, and counts.
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, 'true') WHERE t.instance_id = :'i' AND t.name = 'a';
SELECT data FROM workflow.journal WHERE instance_id = :'i' AND event = 'Line';

-- Where the join can never run, the end of the flowchart says so.
SELECT wf_define('{"definitionId": "lost-approval", "root": {"type": "Flowchart", "activities": [
    {"id": "fork", "type": "FlowFork", "branches": ["A", "B"]},
    {"id": "choose", "type": "FlowDecision", "condition": false}, {"id": "b", "type": "WriteLine", "text": "b"},
    {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "end", "type": "WriteLine", "text": "both approved"}],
    "connections": [["fork", "A", "choose"], ["fork", "B", "b"], ["choose", "True", "join"], ["b", "join"], ["join", "end"]]}}');
SELECT wf_start('lost-approval', instance_id => '10000000-0000-0000-0000-000000000001') AS i \gset
SELECT event, data FROM workflow.journal WHERE instance_id = :'i' AND event IN ('Left waiting', 'Line') ORDER BY seq, number;
SELECT substr(line, 22) AS line FROM wf_explain(:'i') AS line WHERE line LIKE '%does not run%';
