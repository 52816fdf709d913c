-- If, Switch, loops, forks, and the ways to leave them.
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

-- What cannot be: faults.
SET client_min_messages = error;
SELECT pg_temp.run('{"id": "zero", "type": "For", "start": 1, "end": 3, "step": 0, "body": {"type": "WriteLine", "text": "x"}}');
SELECT pg_temp.run('{"id": "null", "type": "ForEach", "items": {"input": "nobody"}, "body": {"type": "WriteLine", "text": "x"}}');
SELECT pg_temp.run('{"id": "text", "type": "If", "condition": {"js": "''perhaps''"}, "then": {"type": "WriteLine", "text": "x"}}');
SELECT activity_id, sqlstate, message FROM workflow.open_incidents ORDER BY created_at;
SELECT * FROM wf_check();
