-- What a block of JSON on a page of documentation does. An activity alone, or a list of them, is the root of a definition "example".
CREATE FUNCTION pg_temp.define(example jsonb) RETURNS text LANGUAGE plpgsql SET client_min_messages = error AS $$
BEGIN
    IF NOT example ? 'definitionId' THEN example := jsonb_build_object('definitionId', 'example', 'root', example); END IF;
    PERFORM wf_define(example);
    RETURN example ->> 'definitionId';
END $$;

-- The lines that an instance wrote after a burst, then how it stands.
CREATE FUNCTION pg_temp.story(result wf_result, burst integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT data #>> '{}' FROM workflow.journal AS j
        WHERE j.instance_id = result.instance_id AND seq > burst AND event = 'Line' ORDER BY seq, number;
    RETURN NEXT concat('-- ', result.sub_status,
        ', waits at ' || (SELECT string_agg(b ->> 'activity_id', ', ' ORDER BY b ->> 'activity_id') FROM jsonb_array_elements(result.bookmarks) AS b),
        ': ' || (result.incidents -> 0 ->> 'message'), ', output ' || nullif(result.output, '{}')::text);
END $$;

-- The input is that of docs/activities.md; an example that declares its inputs gets those of them that are there.
CREATE FUNCTION pg_temp.run(example jsonb) RETURNS SETOF text LANGUAGE plpgsql SET client_min_messages = error AS $$
DECLARE
    given      jsonb := '{"name": "Ada", "days": 14, "number": 42, "Amount": "99.90", "amount": 10, "customer": "Ada", "order": {"total": 250, "customer": "Ada"}}';
    definition text  := pg_temp.define(example);
BEGIN
    RETURN QUERY SELECT pg_temp.story(wf_run(definition, (SELECT coalesce(jsonb_object_agg(name, value), '{}') FROM jsonb_each(given) AS g (name, value)
        WHERE NOT example ? 'inputs' OR example -> 'inputs' @> jsonb_build_array(jsonb_build_object('name', name)))), -1);
END $$;

-- Resumes the bookmark of an activity, the latest of several.
CREATE FUNCTION pg_temp.resume(activity text, input jsonb DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql SET client_min_messages = error AS $$
DECLARE
    bookmark workflow.waiting;
    burst    integer;
BEGIN
    SELECT * INTO STRICT bookmark FROM workflow.waiting AS w WHERE w.activity = resume.activity ORDER BY since DESC, bookmark_id LIMIT 1;
    SELECT max(seq) INTO burst FROM workflow.journal WHERE instance_id = bookmark.instance;
    RETURN NEXT concat('> ', activity, ' ' || input::text);
    RETURN QUERY SELECT pg_temp.story(wf_resume(bookmark.bookmark_id, input), burst);
END $$;
