-- Flowcharts: outcomes choose connections, joins wait for what may still come.
\i tests/regress/include/run.sql

-- The start: the Start activity, else the first without inbound connection.
SELECT pg_temp.run('{"type": "Flowchart",
    "activities": [{"id": "b", "type": "WriteLine", "text": "b"}, {"id": "a", "type": "WriteLine", "text": "a"}, {"id": "s", "type": "Start"}],
    "connections": [["s", "a"], ["a", "b"]]}');
SELECT pg_temp.run('{"type": "Flowchart",
    "activities": [{"id": "b", "type": "WriteLine", "text": "b"}, {"id": "a", "type": "WriteLine", "text": "a"}], "connections": [["a", "b"]]}');

-- Without activities it is done; without connections only the first runs.
SELECT pg_temp.run('{"type": "Flowchart"}');
SELECT pg_temp.run('{"type": "Flowchart", "activities": [{"type": "WriteLine", "text": "first"}, {"type": "WriteLine", "text": "not connected"}]}');

-- An outcome without a connection ends that branch.
SELECT pg_temp.run('{"type": "Flowchart",
    "activities": [{"id": "d", "type": "FlowDecision", "condition": false}, {"id": "y", "type": "WriteLine", "text": "yes"}], "connections": [["d", "True", "y"]]}');

-- A diamond runs its end once, when both sides have come.
SELECT pg_temp.run('{"type": "Flowchart",
    "activities": [{"id": "a", "type": "WriteLine", "text": "a"}, {"id": "l", "type": "WriteLine", "text": "left"}, {"id": "r", "type": "WriteLine", "text": "right"}, {"id": "z", "type": "WriteLine", "text": "end"}],
    "connections": [["a", "l"], ["a", "r"], ["l", "z"], ["r", "z"]]}');

-- It waits for a side that waits.
SELECT pg_temp.run('{"type": "Flowchart",
    "activities": [{"id": "a", "type": "WriteLine", "text": "a"}, {"id": "wait", "type": "Event", "eventName": "Go"}, {"id": "r", "type": "WriteLine", "text": "right"}, {"id": "z", "type": "WriteLine", "text": "end"}],
    "connections": [["a", "wait"], ["a", "r"], ["wait", "z"], ["r", "z"]]}');
SELECT pg_temp.resume('wait');

-- It does not wait for a path that was not taken: dead paths are passed on.
SELECT pg_temp.run('{"type": "Flowchart",
    "activities": [{"id": "d", "type": "FlowDecision", "condition": true}, {"id": "y", "type": "WriteLine", "text": "yes"},
        {"id": "n", "type": "WriteLine", "text": "no"}, {"id": "n2", "type": "WriteLine", "text": "no, too"}, {"id": "z", "type": "WriteLine", "text": "end"}],
    "connections": [["d", "True", "y"], ["d", "False", "n"], ["n", "n2"], ["y", "z"], ["n2", "z"]]}');

-- FlowSwitch: the first case that matches, or all of them; else Default.
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "s", "type": "FlowSwitch", "cases": [{"label": "small", "condition": {"js": "getInput(''n'') < 10"}}, {"label": "even", "condition": {"js": "getInput(''n'') % 2 === 0"}}]},
        {"id": "a", "type": "WriteLine", "text": "small"}, {"id": "b", "type": "WriteLine", "text": "even"}, {"id": "c", "type": "WriteLine", "text": "other"}],
    "connections": [["s", "small", "a"], ["s", "even", "b"], ["s", "Default", "c"]]}', input => '{"n": 4}');
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "s", "type": "FlowSwitch", "mode": "MatchAny", "cases": [{"label": "small", "condition": {"js": "getInput(''n'') < 10"}}, {"label": "even", "condition": {"js": "getInput(''n'') % 2 === 0"}}]},
        {"id": "a", "type": "WriteLine", "text": "small"}, {"id": "b", "type": "WriteLine", "text": "even"}, {"id": "c", "type": "WriteLine", "text": "other"}],
    "connections": [["s", "small", "a"], ["s", "even", "b"], ["s", "Default", "c"]]}', input => '{"n": 4}');
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "s", "type": "FlowSwitch", "cases": [{"label": "small", "condition": {"js": "getInput(''n'') < 10"}}]},
        {"id": "a", "type": "WriteLine", "text": "small"}, {"id": "c", "type": "WriteLine", "text": "other"}],
    "connections": [["s", "small", "a"], ["s", "Default", "c"]]}', input => '{"n": 40}');

-- FlowFork has one outcome per branch.
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "f", "type": "FlowFork", "branches": ["A", "B"]}, {"id": "a", "type": "WriteLine", "text": "a"}, {"id": "b", "type": "WriteLine", "text": "b"},
        {"id": "j", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "z", "type": "WriteLine", "text": "joined"}],
    "connections": [["f", "A", "a"], ["f", "B", "b"], ["a", "j"], ["b", "j"], ["j", "z"]]}');

-- FlowJoin WaitAny goes on with the first that comes, and cancels the others: their bookmarks go.
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "f", "type": "FlowFork", "branches": ["A", "B"]}, {"id": "a", "type": "Event", "eventName": "A"}, {"id": "b", "type": "Event", "eventName": "B"},
        {"id": "j", "type": "FlowJoin", "mode": "WaitAny"}, {"id": "z", "type": "WriteLine", "text": "joined"}],
    "connections": [["f", "A", "a"], ["f", "B", "b"], ["a", "j"], ["b", "j"], ["j", "z"]]}');
SELECT pg_temp.resume('b');
SELECT count(*) FROM workflow.waiting;

-- WaitAny is the default; WaitAll wants all of them to be followed.
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "d", "type": "FlowDecision", "condition": true}, {"id": "y", "type": "WriteLine", "text": "yes"}, {"id": "n", "type": "WriteLine", "text": "no"},
        {"id": "any", "type": "FlowJoin"}, {"id": "all", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "active", "type": "FlowJoin", "mode": "WaitAllActive"},
        {"id": "z1", "type": "WriteLine", "text": "any"}, {"id": "z2", "type": "WriteLine", "text": "all"}, {"id": "z3", "type": "WriteLine", "text": "active"}],
    "connections": [["d", "True", "y"], ["d", "False", "n"], ["y", "any"], ["n", "any"], ["y", "all"], ["n", "all"], ["y", "active"], ["n", "active"],
        ["any", "z1"], ["all", "z2"], ["active", "z3"]]}');

-- Loops: a connection backward starts another round.
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "s", "type": "Start"}, {"id": "w", "type": "WriteLine", "text": {"js": "`round ${getN()}`"}}, {"id": "i", "type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}},
        {"id": "d", "type": "FlowDecision", "condition": {"js": "getN() < 3"}}, {"id": "z", "type": "WriteLine", "text": "end"}],
    "connections": [["s", "w"], ["w", "i"], ["i", "d"], ["d", "True", "w"], ["d", "False", "z"]]}', '{"N": 0}');

-- A loop with a join inside, and one that waits in each round.
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "s", "type": "Start"}, {"id": "a", "type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}, {"id": "l", "type": "WriteLine", "text": "left"}, {"id": "r", "type": "WriteLine", "text": "right"},
        {"id": "j", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "d", "type": "FlowDecision", "condition": {"js": "getN() < 2"}}],
    "connections": [["s", "a"], ["a", "l"], ["a", "r"], ["l", "j"], ["r", "j"], ["j", "d"], ["d", "True", "a"]]}', '{"N": 0}');
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "s", "type": "Start"}, {"id": "ask", "type": "RunTask", "taskName": "ask", "result": {"var": "R"}}, {"id": "d", "type": "FlowDecision", "condition": {"js": "getR() === ''again''"}}, {"id": "z", "type": "WriteLine", "text": "end"}],
    "connections": [["s", "ask"], ["ask", "d"], ["d", "True", "ask"], ["d", "False", "z"]]}', '{"R": null}');
SELECT pg_temp.resume('ask', '"again"');
SELECT pg_temp.resume('ask', '"again"');
SELECT pg_temp.resume('ask', '"enough"');

-- A connection backward must come from where every path went through its target.
SET client_min_messages = error;
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "s", "type": "Start"}, {"id": "a", "type": "WriteLine", "text": "a"}, {"id": "b", "type": "WriteLine", "text": "b"}, {"id": "c", "type": "WriteLine", "text": "c"}],
    "connections": [["s", "a"], ["s", "b"], ["a", "c"], ["b", "c"], ["c", "a"]]}');
SELECT message FROM workflow.open_incidents;
RESET client_min_messages;

-- A flowchart inside another, and an embedded activity (FlowNode).
SELECT pg_temp.run('{"type": "Flowchart", "activities": [
        {"id": "inner", "type": "Flowchart", "activities": [{"id": "a", "type": "WriteLine", "text": "inner a"}, {"id": "b", "type": "WriteLine", "text": "inner b"}], "connections": [["a", "b"]]},
        {"id": "node", "type": "FlowNode", "body": {"type": "WriteLine", "text": "embedded"}}, {"id": "z", "type": "WriteLine", "text": "end"}],
    "connections": [["inner", "node"], ["node", "z"]]}');

-- End ends the flowchart at once, whatever else is scheduled or waits in it.
SELECT pg_temp.run('[{"type": "Flowchart", "activities": [
        {"id": "s", "type": "Start"}, {"id": "wait", "type": "Event", "eventName": "Go"}, {"id": "e", "type": "End"}, {"id": "w", "type": "WriteLine", "text": "never"}],
    "connections": [["s", "wait"], ["s", "e"], ["e", "w"]]}, {"type": "WriteLine", "text": "after"}]');
SELECT count(*) FROM workflow.waiting;

-- A connection that occurs twice counts once.
SELECT pg_temp.run('{"type": "Flowchart", "activities": [{"id": "a", "type": "WriteLine", "text": "a"}, {"id": "b", "type": "WriteLine", "text": "b"}], "connections": [["a", "b"], ["a", "b"]]}');
SELECT * FROM wf_check();
