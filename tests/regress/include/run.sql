\set ECHO none
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
\set ECHO all
