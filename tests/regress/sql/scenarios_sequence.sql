-- Scenarios of Elsa's own tests: sequences and what ends them.
-- Runs a definition and gives the lines that it wrote, then how it stands.
CREATE FUNCTION pg_temp.run(root jsonb, variables jsonb DEFAULT '{}', input jsonb DEFAULT '{}', options jsonb DEFAULT '{}')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'test', 'variables', variables, 'options', options, 'root', root));
    result := wf_run('test', input);
    RETURN QUERY SELECT data #>> '{}' FROM workflow.journal WHERE instance_id = result.instance_id AND event = 'Line' ORDER BY seq, number;
    RETURN NEXT '-- ' || result.sub_status || coalesce(', waits at ' || (
        SELECT string_agg(b ->> 'activity_id', ', ' ORDER BY b ->> 'activity_id') FROM jsonb_array_elements(result.bookmarks) AS b), '');
END $$;

-- Resumes the bookmark of an activity and gives the lines that were written since.
CREATE FUNCTION pg_temp.resume(activity text, input jsonb DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    result   wf_result;
    bookmark workflow.waiting;
    burst    integer;
BEGIN
    SELECT * INTO STRICT bookmark FROM workflow.waiting AS w WHERE w.activity = resume.activity ORDER BY since DESC, bookmark_id LIMIT 1;
    SELECT max(seq) INTO burst FROM workflow.journal WHERE instance_id = bookmark.instance;
    result := wf_resume(bookmark.bookmark_id, input);
    RETURN QUERY SELECT data #>> '{}' FROM workflow.journal WHERE instance_id = result.instance_id AND seq > burst AND event = 'Line' ORDER BY seq, number;
    RETURN NEXT '-- ' || result.sub_status || coalesce(', waits at ' || (
        SELECT string_agg(b ->> 'activity_id', ', ' ORDER BY b ->> 'activity_id') FROM jsonb_array_elements(result.bookmarks) AS b), '');
END $$;
\pset tuples_only on

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
