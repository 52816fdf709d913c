-- Scenarios of Elsa's own tests: waiting, and leaving what waits.
\i tests/regress/include/run.sql

-- An activity that waits blocks its successor; resuming its bookmark runs it.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Start"}, {"id": "block", "type": "Event", "eventName": "Go"}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.resume('block');

-- Fork WaitAll with two blocking branches ends when both have gone on.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Start"},
    {"type": "Fork", "joinMode": "WaitAll", "branches": [
        [{"type": "WriteLine", "text": "Branch 1"}, {"id": "b1", "type": "Event", "eventName": "E1"}, {"type": "WriteLine", "text": "Branch 1 - Resumed"}],
        [{"type": "WriteLine", "text": "Branch 2"}, {"id": "b2", "type": "Event", "eventName": "E2"}, {"type": "WriteLine", "text": "Branch 2 - Resumed"}]]},
    {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.resume('b1');
SELECT pg_temp.resume('b2');

-- Fork WaitAny ends with the first; the other bookmark is gone.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Start"},
    {"type": "Fork", "joinMode": "WaitAny", "branches": [
        [{"type": "WriteLine", "text": "Branch 1"}, {"id": "b1", "type": "Event", "eventName": "E1"}, {"type": "WriteLine", "text": "Branch 1 - Resumed"}],
        [{"type": "WriteLine", "text": "Branch 2"}, {"id": "b2", "type": "Event", "eventName": "E2"}, {"type": "WriteLine", "text": "Branch 2 - Resumed"}]]},
    {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.resume('b1');
SELECT count(*) FROM workflow.waiting;

-- Break inside a Fork inside a While ends the loop; no bookmark remains.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Start"},
    {"type": "While", "condition": true, "body": {"type": "Fork", "joinMode": "WaitAny", "branches": [
        [{"type": "WriteLine", "text": "Branch 1"}, {"id": "b1", "type": "Event", "eventName": "E1"}, {"type": "WriteLine", "text": "Branch 1 - Resumed"}, {"type": "Break"}],
        [{"type": "WriteLine", "text": "Branch 2"}, {"id": "b2", "type": "Event", "eventName": "E2"}, {"type": "WriteLine", "text": "Branch 2 - Resumed"}]]}},
    {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.resume('b2');
SELECT pg_temp.resume('b1');
SELECT count(*) FROM workflow.waiting;

-- Finish ends the workflow from a branch, with everything that was scheduled or waits.
SELECT pg_temp.run('[{"type": "Parallel", "activities": [
        {"id": "b1", "type": "Event", "eventName": "E1"}, {"id": "task", "type": "RunTask", "taskName": "never done"},
        [{"id": "b2", "type": "Event", "eventName": "E2"}, {"type": "WriteLine", "text": "finishing"}, {"type": "Finish"}, {"type": "WriteLine", "text": "never"}]]},
    {"type": "WriteLine", "text": "never"}]');
SELECT pg_temp.resume('b2');
SELECT count(*) FROM workflow.waiting;

-- Finish in a loop, in a nested sequence, in a flowchart, alone.
SELECT pg_temp.run('[{"type": "While", "condition": true, "body": [{"type": "WriteLine", "text": "once"}, {"type": "Finish"}]}, {"type": "WriteLine", "text": "never"}]');
SELECT pg_temp.run('[[[{"type": "Finish"}], {"type": "WriteLine", "text": "never"}], {"type": "WriteLine", "text": "never"}]');
SELECT pg_temp.run('{"type": "Flowchart", "activities": [{"id": "a", "type": "WriteLine", "text": "a"}, {"id": "f", "type": "Finish"}, {"id": "b", "type": "WriteLine", "text": "never"}], "connections": [["a", "f"], ["f", "b"]]}');
SELECT pg_temp.run('{"type": "Finish"}');

-- Cancelling a suspended workflow.
SELECT pg_temp.run('[{"id": "block", "type": "Event", "eventName": "Go"}, {"type": "WriteLine", "text": "never"}]');
SELECT wf_cancel(instance) FROM workflow.waiting;
SELECT count(*) FROM workflow.waiting;

-- Several bookmarks of one instance, resumed until none is left.
SELECT pg_temp.run('{"type": "Fork", "joinMode": "WaitAll", "branches": [
    [{"id": "a1", "type": "Event", "eventName": "E"}, {"id": "a2", "type": "Event", "eventName": "E"}], {"id": "b1", "type": "Event", "eventName": "E"}]}');
SELECT cardinality(resumed) FROM wf_publish_event('E');
SELECT cardinality(resumed) FROM wf_publish_event('E');
SELECT sub_status FROM workflow.instance_list ORDER BY instance_id DESC LIMIT 1;
SELECT * FROM wf_check();
