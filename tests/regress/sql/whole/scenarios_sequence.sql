-- Scenarios of Elsa's own tests: sequences and what ends them.
\i tests/regress/include/run.sql

-- Activities run in order; an empty sequence is finished.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Line 1"}, {"type": "WriteLine", "text": "Line 2"}, {"type": "WriteLine", "text": "Line 3"}]');
SELECT pg_temp.run('[]');
SELECT pg_temp.run((SELECT jsonb_agg(jsonb_build_object('type', 'WriteLine', 'text', 'Item ' || n)) FROM generate_series(1, 10) AS n));

-- Break ends a sequence.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Before Break"}, {"type": "Break"}, {"type": "WriteLine", "text": "After Break"}]');

-- Break under a condition, in a loop.
SELECT pg_temp.run('{"type": "While", "condition": {"js": "getN() < 5"}, "body": [
    {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}},
    {"type": "If", "condition": {"js": "getN() > 2"}, "then": {"type": "Break"}},
    {"type": "WriteLine", "text": {"js": "`Iteration ${getN()}`"}}]}', '{"N": 0}');

-- Break goes through nested sequences.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Outer: Start"},
    [{"type": "WriteLine", "text": "Inner: Activity 1"}, {"type": "Break"}, {"type": "WriteLine", "text": "Inner: Activity 2"}],
    {"type": "WriteLine", "text": "Outer: End"}]');

-- Complete ends the workflow.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Before Complete"}, {"type": "Complete"}, {"type": "WriteLine", "text": "After Complete"}]');

-- Variables are read and set along the way.
SELECT pg_temp.run('[{"type": "WriteLine", "text": {"js": "`Counter: ${getCounter()}, Name: ${getName()}`"}},
    {"type": "SetVariable", "variable": "Counter", "value": 10}, {"type": "SetVariable", "variable": "Name", "value": "Updated"},
    {"type": "WriteLine", "text": {"js": "`Counter: ${getCounter()}, Name: ${getName()}`"}}]', '{"Counter": 0, "Name": "Initial"}');

-- Break leaves ForEach, For and While.
SELECT pg_temp.run('[{"type": "ForEach", "items": ["C#", "Rust", "Go"], "body": [{"type": "WriteLine", "text": {"var": "CurrentValue"}}, {"type": "If", "condition": {"js": "getCurrentValue() === ''Rust''"}, "then": {"type": "Break"}}]}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.run('[{"type": "For", "start": 0, "end": 3, "body": [{"type": "WriteLine", "text": {"var": "CurrentValue"}}, {"type": "If", "condition": {"js": "getCurrentValue() === 1"}, "then": {"type": "Break"}}]}, {"type": "WriteLine", "text": "End"}]');
SELECT pg_temp.run('[{"type": "While", "condition": true, "body": [{"type": "WriteLine", "text": "1"}, {"type": "Break"}, {"type": "WriteLine", "text": "2"}]}, {"type": "WriteLine", "text": "End"}]');

-- Only the immediate loop is left.
SELECT pg_temp.run('{"type": "ForEach", "items": [1, 2], "body": [
    {"type": "ForEach", "items": ["a", "b"], "body": [{"type": "WriteLine", "text": {"var": "CurrentValue"}}, {"type": "Break"}]}, {"type": "WriteLine", "text": {"var": "CurrentValue"}}]}');

-- End ends the sequence at once.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "Line 1"}, {"type": "End"}, {"type": "WriteLine", "text": "Line 2"}]');

-- A sequence inside a sequence completes before the next activity.
SELECT pg_temp.run('[[{"type": "WriteLine", "text": "1"}, [{"type": "WriteLine", "text": "2"}]], {"type": "WriteLine", "text": "3"}]');

-- WriteLine writes what it is given: text as it is, nothing as an empty line, all else as JSON.
SELECT pg_temp.run('[{"type": "WriteLine", "text": "text"}, {"type": "WriteLine"}, {"type": "WriteLine", "text": null}, {"type": "WriteLine", "text": 1.10}, {"type": "WriteLine", "text": true}, {"type": "WriteLine", "text": {"a": [1, "b"]}}]');

-- With workflow.write_line_notice the client sees it, too.
SET workflow.write_line_notice = on;
SELECT pg_temp.run('[{"type": "WriteLine", "text": "seen by the client"}]');
RESET workflow.write_line_notice;
SELECT * FROM wf_check();
