-- An activity type of one's own is a function f(context jsonb) RETURNS jsonb: what its context says, and what its result may say.
\pset null '(null)'

-- The context says where it runs and what it was given.
CREATE FUNCTION show_context(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('outputs', jsonb_build_object('seen', context #- '{activity,instanceId}'))
$$;
SELECT wf_register_activity('Acme.Show', 'show_context(jsonb)', inputs => '[{"name": "who", "type": "String"}, {"name": "more", "type": "Object"}]',
    outputs => '[{"name": "seen", "type": "Object"}]', description => 'Shows its context.');
SELECT * FROM wf_define('{"definitionId": "show", "name": "Show", "variables": {"Seen": null, "N": 1}, "root": [
    {"id": "s", "type": "Acme.Show", "who": {"js": "getInput(''name'')"}, "more": {"object": {"two": {"sql": "1 + 1"}}}, "seen": {"var": "Seen"}}]}');
SELECT wf_start('show', '{"name": "Ada"}', correlation_id => 'c', name => 'n', instance_id => '01900000-0000-7000-8000-000000000001');
SELECT jsonb_pretty(variables -> 'Seen') FROM workflow.instance_list WHERE instance_id = '01900000-0000-7000-8000-000000000001';
SELECT type, inputs, outputs, outcomes, description FROM wf_activities() WHERE type LIKE 'Acme.%';

-- The result: outputs, outcomes, variables, bookmarks, complete. Nothing at all completes the activity.
CREATE FUNCTION answer(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT context #> '{inputs,answer}' $$;
SELECT wf_register_activity('Acme.Answer', 'answer(jsonb)', inputs => '[{"name": "answer", "type": "Object"}]', outcomes => '{Left,Right}');
SELECT * FROM wf_define('{"definitionId": "answer", "variables": {"V": 0}, "root": {"type": "Flowchart",
    "activities": [{"id": "a", "type": "Acme.Answer", "answer": {"input": "answer"}},
        {"id": "l", "type": "WriteLine", "text": "left"}, {"id": "r", "type": "WriteLine", "text": "right"}, {"id": "d", "type": "WriteLine", "text": "done"}],
    "connections": [["a", "Left", "l"], ["a", "Right", "r"], ["a", "Done", "d"]]}}');
CREATE FUNCTION pg_temp.answer(answer jsonb) RETURNS TABLE (sub_status text, lines text, variables jsonb, incident text) LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    result := wf_run('answer', jsonb_build_object('answer', answer), instance_id => '01900000-0000-7000-8000-0000000000aa');
    RETURN QUERY SELECT result.sub_status,
        (SELECT string_agg(data #>> '{}', ', ' ORDER BY seq, number) FROM workflow.journal WHERE instance_id = result.instance_id AND event = 'Line'),
        i.variables, (result.incidents -> 0 ->> 'sqlstate') || ' ' || (result.incidents -> 0 ->> 'message')
        FROM workflow.instance_list AS i WHERE i.instance_id = result.instance_id;
    PERFORM wf_delete_instance(result.instance_id);
END $$;
SELECT * FROM pg_temp.answer('null');
SELECT * FROM pg_temp.answer('{}');
SELECT * FROM pg_temp.answer('{"outcomes": ["Left"]}');
SELECT * FROM pg_temp.answer('{"outcomes": ["Left", "Right"], "variables": {"V": 5}}');
SELECT * FROM pg_temp.answer('{"complete": true}');

-- complete: false and no bookmark: nothing could ever wake it, which is an error. So is every key that means nothing.
SELECT * FROM pg_temp.answer('{"complete": false}');
SELECT * FROM pg_temp.answer('{"outcome": "Left"}');
SELECT * FROM pg_temp.answer('{"outcomes": "Left"}');
SELECT * FROM pg_temp.answer('{"variables": {"Nobody": 1}}');
SELECT * FROM pg_temp.answer('{"outputs": {"nobody": 1}}');
SELECT * FROM pg_temp.answer('{"bookmarks": [{"nme": "x"}]}');
SELECT * FROM pg_temp.answer('[]');
SELECT * FROM pg_temp.answer('"text"');
