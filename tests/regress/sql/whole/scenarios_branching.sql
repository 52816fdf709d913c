-- Scenarios of Elsa's own tests: branches.
\i tests/regress/include/run.sql

-- Fork runs all branches with WaitAll, ends after the first with WaitAny, and at once without branches.
SELECT pg_temp.run('[{"type": "Fork", "joinMode": "WaitAll", "branches": [{"type": "WriteLine", "text": "Branch 1"}, {"type": "WriteLine", "text": "Branch 2"}, {"type": "WriteLine", "text": "Branch 3"}]}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.run('[{"type": "Fork", "joinMode": "WaitAny", "branches": [{"type": "WriteLine", "text": "Branch 1"}, {"id": "wait", "type": "Event", "eventName": "Never"}]}, {"type": "WriteLine", "text": "End"}]');
SELECT count(*) FROM workflow.waiting;
SELECT pg_temp.run('[{"type": "Fork", "joinMode": "WaitAll", "branches": []}, {"type": "WriteLine", "text": "End"}]');

-- If runs the branch of its condition, and completes after it.
SELECT pg_temp.run('[{"type": "If", "condition": {"js": "1 === 1"}, "then": {"type": "WriteLine", "text": "True!"}, "else": {"type": "WriteLine", "text": "False!"}}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.run('[{"type": "If", "condition": {"js": "return false;"}, "then": {"type": "WriteLine", "text": "True!"}, "else": {"type": "WriteLine", "text": "False!"}}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.run('[{"type": "If", "condition": true, "then": [{"type": "WriteLine", "text": "before"}, {"id": "wait", "type": "Event", "eventName": "Go"}, {"type": "WriteLine", "text": "after"}]}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.resume('wait');

-- Switch: first match, any match, default, no default, nested; it completes after all that it scheduled.
SELECT pg_temp.run('{"type": "Switch", "mode": "MatchFirst", "cases": [{"label": "1", "condition": false, "activity": {"type": "WriteLine", "text": "1"}}, {"label": "2", "condition": true, "activity": {"type": "WriteLine", "text": "2"}},
    {"label": "3", "condition": true, "activity": {"type": "WriteLine", "text": "3"}}], "default": {"type": "WriteLine", "text": "default"}}');
SELECT pg_temp.run('[{"type": "Switch", "mode": "MatchAny", "cases": [{"label": "1", "condition": false, "activity": {"type": "WriteLine", "text": "1"}}, {"label": "2", "condition": true, "activity": {"id": "w2", "type": "Event", "eventName": "Go"}},
    {"label": "3", "condition": true, "activity": {"type": "WriteLine", "text": "3"}}], "default": {"type": "WriteLine", "text": "default"}}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.resume('w2');
SELECT pg_temp.run('[{"type": "Switch", "cases": [{"label": "1", "condition": false, "activity": {"type": "WriteLine", "text": "1"}}], "default": {"type": "WriteLine", "text": "default"}}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.run('[{"type": "Switch", "cases": [{"label": "1", "condition": false, "activity": {"type": "WriteLine", "text": "1"}}]}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.run('{"type": "Switch", "cases": [{"label": "1", "condition": true, "activity": {"type": "Switch", "cases": [{"label": "a", "condition": true, "activity": {"type": "WriteLine", "text": "inner"}}]}}]}');
SELECT pg_temp.run('[{"type": "Switch", "cases": [{"label": "1", "condition": true}]}, {"type": "WriteLine", "text": "a case without activity"}]');

-- Parallel: empty; after all; nested.
SELECT pg_temp.run('[{"type": "Parallel", "activities": []}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.run('[{"type": "Parallel", "activities": [{"type": "WriteLine", "text": "1"}, {"type": "Parallel", "activities": [{"type": "WriteLine", "text": "2"}, {"type": "WriteLine", "text": "3"}]}, {"type": "WriteLine", "text": "4"}]}, {"type": "WriteLine", "text": "End"}]');

-- A child that faults leaves Parallel open while the others still run.
SET client_min_messages = error;
SELECT pg_temp.run('[{"type": "Parallel", "activities": [{"id": "bad", "type": "Fault", "message": "bad"}, {"type": "WriteLine", "text": "still printed"}]}, {"type": "WriteLine", "text": "never"}]');
RESET client_min_messages;

-- Fork inside Fork: the inner WaitAny does not end the outer WaitAll.
SELECT pg_temp.run('[{"type": "Fork", "joinMode": "WaitAll", "branches": [
    {"type": "Fork", "joinMode": "WaitAny", "branches": [{"id": "a", "type": "Event", "eventName": "A"}, {"id": "b", "type": "Event", "eventName": "B"}]}, {"id": "c", "type": "Event", "eventName": "C"}]}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.resume('a');
SELECT pg_temp.resume('c');

-- Two executions of one activity in parallel branches wait apart; completing one leaves the other.
SELECT pg_temp.run('{"type": "Fork", "joinMode": "WaitAll", "branches": [
    [{"id": "x", "type": "Event", "eventName": "Same"}, {"type": "WriteLine", "text": "first"}], [{"id": "x", "type": "Event", "eventName": "Same"}, {"type": "WriteLine", "text": "second"}]]}');
SELECT pg_temp.resume('x');
SELECT pg_temp.resume('x');
SELECT * FROM wf_check();
