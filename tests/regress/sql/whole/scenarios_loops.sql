-- Scenarios of Elsa's own tests: loops over items, and what changes meanwhile.
\i tests/regress/include/run.sql

-- One round per item; none for an empty list.
SELECT pg_temp.run('{"type": "ForEach", "items": ["Apple", "Banana", "Cherry"], "body": {"type": "WriteLine", "text": {"js": "`Current fruit: ${getCurrentValue()}`"}}}');
SELECT pg_temp.run('{"type": "ForEach", "items": ["only"], "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');
SELECT pg_temp.run('{"type": "ForEach", "items": [], "body": {"type": "WriteLine", "text": "never"}}');

-- Items of mixed types, null among them.
SELECT pg_temp.run('{"type": "ForEach", "items": [1, "two", null, true, 2.50], "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');

-- A collection that grows, shrinks or changes while it is walked.
SELECT pg_temp.run('{"type": "ForEach", "items": {"var": "L"}, "body": [{"type": "WriteLine", "text": {"var": "CurrentValue"}},
    {"type": "If", "condition": {"js": "getCurrentValue() === ''c''"}, "then": {"type": "SetVariable", "variable": "L", "value": {"js": "[...getL(), ''e'']"}}}]}', '{"L": ["a", "b", "c"]}');
SELECT pg_temp.run('{"type": "ForEach", "items": {"var": "L"}, "body": [{"type": "WriteLine", "text": {"var": "CurrentValue"}},
    {"type": "If", "condition": {"js": "getCurrentValue() === ''b''"}, "then": {"type": "SetVariable", "variable": "L", "value": {"js": "getL().slice(0, 2)"}}}]}', '{"L": ["a", "b", "c"]}');
SELECT pg_temp.run('{"type": "ForEach", "items": {"var": "L"}, "body": [{"type": "WriteLine", "text": {"var": "CurrentValue"}},
    {"type": "If", "condition": {"js": "getCurrentValue() === ''b''"}, "then": {"type": "SetVariable", "variable": "L", "value": {"js": "[''a'', ''b'', ''d'']"}}}]}', '{"L": ["a", "b", "c"]}');

-- The index counts from zero.
SELECT pg_temp.run('{"type": "ForEach", "items": ["a", "b"], "body": {"type": "WriteLine", "text": {"js": "`${getCurrentIndex()}${getCurrentValue()}`"}}}');

-- Nested loops have variables of their own.
SELECT pg_temp.run('{"type": "ForEach", "items": ["a", "b"], "body": {"type": "ForEach", "items": [1, 2], "body": {"type": "WriteLine", "text": {"js": "`${getOuter()}${getCurrentValue()}`"}}}}', '{"Outer": "-"}');

-- Counting up, down, by steps, not at all.
SELECT pg_temp.run('{"type": "For", "start": 0, "end": 2, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');
SELECT pg_temp.run('{"type": "For", "start": 2, "end": 0, "step": -1, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');
SELECT pg_temp.run('{"type": "For", "start": 0, "end": 10, "step": 5, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');
SELECT pg_temp.run('{"type": "For", "start": 0, "end": 0, "outerBoundInclusive": false, "body": {"type": "WriteLine", "text": "never"}}');

-- At the edge of integers it ends.
SELECT pg_temp.run('{"type": "For", "start": 9223372036854775806, "end": 9223372036854775807, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}');

-- A loop that waits in each round survives every wait.
SELECT pg_temp.run('{"type": "For", "start": 1, "end": 3, "body": [{"id": "wait", "type": "Event", "eventName": "Go"}, {"type": "WriteLine", "text": {"var": "CurrentValue"}}]}');
SELECT pg_temp.resume('wait');
SELECT pg_temp.resume('wait');
SELECT pg_temp.resume('wait');

-- A countdown over variables.
SELECT pg_temp.run('{"type": "While", "condition": {"js": "getCounter() > 0"}, "body": [{"type": "WriteLine", "text": {"js": "`Counter: ${getCounter()}`"}},
    {"type": "SetVariable", "variable": "Counter", "value": {"js": "getCounter() - 1"}}, {"id": "wait", "type": "Event", "eventName": "Tick"}]}', '{"Counter": 3}');
SELECT cardinality(resumed) FROM wf_publish_event('Tick');
SELECT cardinality(resumed) FROM wf_publish_event('Tick');
SELECT cardinality(resumed) FROM wf_publish_event('Tick');
SELECT sub_status, variables FROM workflow.instance_list WHERE variables ? 'Counter';

-- A fault in the body leaves the loop open, with what it did before.
SET client_min_messages = error;
SELECT pg_temp.run('{"id": "loop", "type": "ForEach", "items": ["a", "b", "c"], "body": [
    {"type": "WriteLine", "text": {"var": "CurrentValue"}}, {"type": "If", "condition": {"js": "getCurrentValue() === ''b''"}, "then": {"id": "bad", "type": "Fault", "message": "bad b"}}]}');
SELECT activity_id, message FROM workflow.open_incidents;

-- Items that are unset are none; items that turn out to be null are a fault.
SELECT pg_temp.run('{"id": "loop", "type": "ForEach", "items": null, "body": {"type": "WriteLine", "text": "never"}}');
SELECT pg_temp.run('{"id": "loop", "type": "ForEach", "items": {"js": "null"}, "body": {"type": "WriteLine", "text": "never"}}');
SELECT * FROM wf_check();
