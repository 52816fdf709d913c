-- If, Switch, loops, forks, and the ways to leave them.
\i tests/regress/include/run.sql

-- If: one branch; a missing one is nothing to do. Its condition is its result.
SELECT pg_temp.run('[{"type": "If", "condition": {"input": "yes"}, "then": {"type": "WriteLine", "text": "then"}, "else": {"type": "WriteLine", "text": "else"}}, {"type": "WriteLine", "text": "after"}]', input => '{"yes": true}');
SELECT pg_temp.run('[{"type": "If", "condition": {"input": "yes"}, "then": {"type": "WriteLine", "text": "then"}, "result": {"var": "R"}}, {"type": "WriteLine", "text": {"var": "R"}}]', '{"R": null}', '{"yes": false}');

-- It completes only when its branch does.
SELECT pg_temp.run('[{"type": "If", "condition": true, "then": {"id": "wait", "type": "Event", "eventName": "Go"}}, {"type": "WriteLine", "text": "after"}]');
SELECT pg_temp.resume('wait');

-- Switch: the first case that matches, or all; else the default.
SELECT pg_temp.run('{"type": "Switch", "cases": [
    {"label": "a", "condition": {"js": "getInput(''n'') > 1"}, "activity": {"type": "WriteLine", "text": "more than one"}},
    {"label": "b", "condition": {"js": "getInput(''n'') > 2"}, "activity": {"type": "WriteLine", "text": "more than two"}}], "default": {"type": "WriteLine", "text": "few"}}', input => '{"n": 3}');
SELECT pg_temp.run('{"type": "Switch", "mode": "MatchAny", "cases": [
    {"label": "a", "condition": {"js": "getInput(''n'') > 1"}, "activity": {"type": "WriteLine", "text": "more than one"}},
    {"label": "b", "condition": {"js": "getInput(''n'') > 2"}, "activity": {"type": "WriteLine", "text": "more than two"}}]}', input => '{"n": 3}');
SELECT pg_temp.run('{"type": "Switch", "cases": [{"label": "a", "condition": false, "activity": {"type": "WriteLine", "text": "a"}}], "default": {"type": "WriteLine", "text": "few"}}');
SELECT pg_temp.run('[{"type": "Switch", "cases": []}, {"type": "WriteLine", "text": "after"}]');

-- While asks its condition before each round.
SELECT pg_temp.run('{"type": "While", "condition": {"js": "getN() < 3"}, "body": [{"type": "WriteLine", "text": {"var": "N"}}, {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}]}', '{"N": 0}');
SELECT pg_temp.run('[{"type": "While", "condition": false, "body": {"type": "WriteLine", "text": "never"}}, {"type": "WriteLine", "text": "after"}]');

-- For: bounds included or not, down as well as up; without a body there is nothing to do.
SELECT pg_temp.run('{"type": "For", "start": 1, "end": 3, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');
SELECT pg_temp.run('{"type": "For", "start": 1, "end": 3, "outerBoundInclusive": false, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');
SELECT pg_temp.run('{"type": "For", "start": 5, "end": 1, "step": -2, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');
SELECT pg_temp.run('{"type": "For", "start": 3, "end": 1, "body": {"type": "WriteLine", "text": "never"}}');
SELECT pg_temp.run('[{"type": "For", "start": 1, "end": 3}, {"type": "WriteLine", "text": "after"}]');

-- ForEach: one round per item. The items are read anew in each round.
SELECT pg_temp.run('{"type": "ForEach", "items": ["a", 2, null, {"b": [3]}], "body": {"type": "WriteLine", "text": {"js": "`${getCurrentIndex()}: ${toJson(getCurrentValue())}`"}}}');
SELECT pg_temp.run('[{"type": "ForEach", "items": [], "body": {"type": "WriteLine", "text": "never"}}, {"type": "WriteLine", "text": "after"}]');
SELECT pg_temp.run('{"type": "ForEach", "items": {"var": "L"}, "body": [{"type": "WriteLine", "text": {"var": "CurrentValue"}},
    {"type": "If", "condition": {"js": "getCurrentValue() === ''a''"}, "then": {"type": "SetVariable", "variable": "L", "value": {"js": "[...getL(), ''c'']"}}}]}', '{"L": ["a", "b"]}');

-- A loop survives waiting in its body.
SELECT pg_temp.run('{"type": "ForEach", "items": ["a", "b"], "body": [{"id": "ask", "type": "RunTask", "taskName": {"var": "CurrentValue"}}, {"type": "WriteLine", "text": {"js": "`${getCurrentValue()} done`"}}]}');
SELECT pg_temp.resume('ask');
SELECT pg_temp.resume('ask');

-- Break leaves the innermost loop.
SELECT pg_temp.run('[{"type": "ForEach", "items": [1, 2], "body": [
    {"type": "For", "start": 1, "end": 9, "body": [{"type": "WriteLine", "text": {"js": "`inner ${getCurrentValue()}`"}}, {"type": "If", "condition": {"js": "getCurrentValue() === 2"}, "then": {"type": "Break"}}, {"type": "WriteLine", "text": "more"}]},
    {"type": "WriteLine", "text": "outer"}]}, {"type": "WriteLine", "text": "after"}]');

-- Fork: all branches, or the first; the others are cancelled.
SELECT pg_temp.run('[{"type": "Fork", "joinMode": "WaitAll", "branches": [{"type": "WriteLine", "text": "one"}, {"type": "WriteLine", "text": "two"}]}, {"type": "WriteLine", "text": "after"}]');
SELECT pg_temp.run('[{"type": "Fork", "joinMode": "WaitAny", "branches": [{"id": "one", "type": "Event", "eventName": "One"}, {"id": "two", "type": "Event", "eventName": "Two"}]}, {"type": "WriteLine", "text": "after"}]');
SELECT pg_temp.resume('two');
SELECT count(*) FROM workflow.waiting;
SELECT pg_temp.run('[{"type": "Fork", "branches": []}, {"type": "WriteLine", "text": "after"}]');

-- Parallel: all at once; branches take turns, one activity each.
SELECT pg_temp.run('[{"type": "Parallel", "activities": [
    [{"type": "WriteLine", "text": "a1"}, {"type": "WriteLine", "text": "a2"}], [{"type": "WriteLine", "text": "b1"}, {"type": "WriteLine", "text": "b2"}]]}, {"type": "WriteLine", "text": "after"}]');

-- End ends the sequence that it stands in; Finish ends the workflow, from anywhere.
SELECT pg_temp.run('[[{"type": "WriteLine", "text": "inner"}, {"type": "End"}, {"type": "WriteLine", "text": "never"}], {"type": "WriteLine", "text": "outer"}]');
SELECT pg_temp.run('{"type": "Parallel", "activities": [{"id": "wait", "type": "Event", "eventName": "Go"}, [[{"type": "WriteLine", "text": "a"}, {"type": "Finish"}], {"type": "WriteLine", "text": "never"}], {"type": "WriteLine", "text": "b"}]}');
SELECT count(*) FROM workflow.waiting;

-- Complete ends the workflow with outcomes.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "before"}, {"type": "Complete", "outcomes": ["Good"]}, {"type": "WriteLine", "text": "never"}]');

-- With workflow.write_line_notice the client sees what WriteLine writes, too.
SET workflow.write_line_notice = on;
SELECT pg_temp.run('[{"type": "WriteLine", "text": "seen by the client"}]');
RESET workflow.write_line_notice;

-- What cannot be: faults.
SET client_min_messages = error;
SELECT pg_temp.run('{"id": "zero", "type": "For", "start": 1, "end": 3, "step": 0, "body": {"type": "WriteLine", "text": "x"}}');
SELECT pg_temp.run('{"id": "null", "type": "ForEach", "items": {"input": "nobody"}, "body": {"type": "WriteLine", "text": "x"}}');
SELECT pg_temp.run('{"id": "text", "type": "If", "condition": {"js": "''perhaps''"}, "then": {"type": "WriteLine", "text": "x"}}');
SELECT activity_id, sqlstate, message FROM workflow.open_incidents ORDER BY created_at;
SELECT * FROM wf_check();
