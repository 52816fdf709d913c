\set ECHO none
-- Gives the value of a script, or its incident: for the sessions about JavaScript.
\pset null '(null)'
CREATE FUNCTION pg_temp.js(script text, input jsonb DEFAULT '{}') RETURNS TABLE (value jsonb, incident text) LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', 'js', 'name', 'Scripts',
        'variables', '{"Counter": 1, "Name": "Ada", "theSum": 10, "List": ["a", "b"], "Child": {"Output": {"Result": 42}}}'::jsonb,
        'outputs', '[{"name": "V"}]'::jsonb, 'root', jsonb_build_array(
            jsonb_build_object('id', 'rows', 'name', 'Rows1', 'type', 'Sql', 'statement', 'SELECT 1 AS one'),
            jsonb_build_object('id', 'v', 'type', 'SetOutput', 'outputName', 'V', 'outputValue', jsonb_build_object('js', script)))));
    result := wf_run('js', input, correlation_id => 'corr', name => 'inst', instance_id => '01900000-0000-7000-8000-000000000001');
    PERFORM wf_delete_instance(result.instance_id);
    RETURN QUERY SELECT result.output -> 'V', (result.incidents -> 0 ->> 'sqlstate') || ' ' || (result.incidents -> 0 ->> 'message');
END $$;
SET client_min_messages = error;
\set ECHO all
