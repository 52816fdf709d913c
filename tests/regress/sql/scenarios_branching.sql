-- Scenarios of Elsa's own tests: branches.
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
