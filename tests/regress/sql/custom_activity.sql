-- An activity type of one's own is a function f(context jsonb) RETURNS jsonb, registered under a type name.
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

-- Bookmarks: every field.
SELECT * FROM wf_define('{"definitionId": "bookmarks", "root": {"id": "a", "type": "Acme.Answer", "answer": {"input": "answer"}}}');
SELECT wf_start('bookmarks', '{"answer": {"bookmarks": [
    {"id": "01900000-0000-7000-8000-0000000000b1", "name": "Approval", "payload": {"b": 1, "a": 1.0}, "metadata": {"for": "Ada"}, "callback": "answer_again", "autoBurn": false},
    {"id": "01900000-0000-7000-8000-0000000000b2"},
    {"id": "01900000-0000-7000-8000-0000000000b3", "payload": {"a": 1, "b": 1.00}, "autoComplete": false, "includeActivityInstanceId": true}]}}') AS instance \gset
SELECT bookmark_id, name, payload, metadata, callback, auto_burn, auto_complete FROM workflow.open_bookmarks WHERE instance_id = :'instance' ORDER BY bookmark_id;

-- On resume the callback gets what the resume gave, and the bookmark. This one is not used up (autoBurn false).
CREATE FUNCTION answer_again(context jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'input % bookmark %', context -> 'input', context -> 'bookmark';
    RETURN '{"complete": false}';
END $$;
SELECT sub_status, jsonb_array_length(bookmarks) AS bookmarks FROM wf_resume('01900000-0000-7000-8000-0000000000b1', '"one"');
SELECT sub_status, jsonb_array_length(bookmarks) AS bookmarks FROM wf_resume('01900000-0000-7000-8000-0000000000b1', '"two"');

-- Payloads that are equal as jsonb match, whatever they look like; the activity instance in the hash keeps others out.
SELECT cardinality(resumed) AS resumed FROM wf_enqueue_bookmark(name => 'Approval', stimulus => '{"a": 1, "b": 1.0}', keep_for => '0');
SELECT cardinality(resumed) AS resumed FROM wf_enqueue_bookmark(name => 'Acme.Answer', stimulus => '{"a": 1, "b": 1}', keep_for => '0');
SELECT cardinality(r.resumed) AS resumed FROM workflow.open_bookmarks AS b, wf_enqueue_bookmark(name => 'Acme.Answer', stimulus => '{"a": 1, "b": 1}',
    activity_instance_id => b.activity_instance_id, keep_for => '0') AS r WHERE b.bookmark_id = '01900000-0000-7000-8000-0000000000b3';

-- autoComplete false and no callback: the bookmark is used, the activity goes on waiting at the others.
SELECT bookmark_id FROM workflow.open_bookmarks WHERE instance_id = :'instance' ORDER BY bookmark_id;

-- Without a callback a resume completes the activity, and its other bookmarks go.
SELECT sub_status, bookmarks FROM wf_resume('01900000-0000-7000-8000-0000000000b2');
SELECT count(*) AS bookmarks FROM workflow.open_bookmarks WHERE instance_id = :'instance';

-- A callback that is not there is a fault of the activity; the bookmark stays, so that it can be resumed again.
SELECT wf_start('bookmarks', '{"answer": {"bookmarks": [{"id": "01900000-0000-7000-8000-0000000000b4", "callback": "gone"}]}}', instance_id => '01900000-0000-7000-8000-000000000002');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, jsonb_array_length(bookmarks) AS bookmarks FROM wf_resume('01900000-0000-7000-8000-0000000000b4');
CREATE FUNCTION gone(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT sub_status FROM wf_resume('01900000-0000-7000-8000-0000000000b4');

-- An id that a bookmark has already is a fault of the activity, of this burst or of another instance, and does not keep others
-- from what reaches them as well.
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('bookmarks',
    '{"answer": {"bookmarks": [{"id": "01900000-0000-7000-8000-0000000000b5"}, {"id": "01900000-0000-7000-8000-0000000000b5"}]}}');
SELECT wf_define('{"definitionId": "same id", "root": [{"type": "Event", "eventName": "Same"},
    {"type": "Acme.Answer", "answer": {"literal": {"bookmarks": [{"id": "01900000-0000-7000-8000-0000000000b6"}]}}}]}') \g /dev/null
SELECT wf_start('same id') FROM generate_series(1, 2) \g /dev/null
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Same');
SELECT sub_status, incident_count FROM workflow.instances WHERE definition_id = 'same id' ORDER BY id;
SELECT sub_status FROM wf_resume('01900000-0000-7000-8000-0000000000b6');
SELECT (wf_retry(id)).sub_status FROM workflow.instances WHERE definition_id = 'same id' AND sub_status = 'Faulted';

-- One that completes nothing and calls nobody back must not be the last.
SELECT sub_status FROM wf_run('bookmarks', '{"answer": {"bookmarks": [{"id": "01900000-0000-7000-8000-0000000000b7", "autoComplete": false},
    {"id": "01900000-0000-7000-8000-0000000000b8", "autoComplete": false}]}}');
SELECT sub_status FROM wf_resume('01900000-0000-7000-8000-0000000000b7');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_resume('01900000-0000-7000-8000-0000000000b8');

-- An instant is one that PostgreSQL can store.
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message
FROM unnest('{-9999-01-01 00:00:00+00,+294277-01-01 00:00:00+00}'::text[]) AS at,
     wf_run('bookmarks', jsonb_build_object('answer', jsonb_build_object('bookmarks', jsonb_build_array(jsonb_build_object('dueAt', at)))));

-- A bookmark that is due and stays is resumed by time once: one that does not burn, and one whose callback fails where incidents
-- stop nobody.
CREATE FUNCTION recur(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('bookmarks', jsonb_build_array(jsonb_build_object('dueAt', '2020-01-01T00:00:00+00:00', 'autoBurn', false, 'callback', 'public.recurs'))) $$;
CREATE FUNCTION recurs(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"complete": false}'::jsonb $$;
CREATE FUNCTION fail_later(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('bookmarks', jsonb_build_array(jsonb_build_object('dueAt', '2020-01-01T00:00:00+00:00', 'callback', 'public.fails'))) $$;
CREATE FUNCTION fails(context jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
SELECT wf_register_activity('Acme.Recur', 'recur(jsonb)'), wf_register_activity('Acme.FailLater', 'fail_later(jsonb)');
SELECT wf_define('{"definitionId": "recur", "root": {"type": "Acme.Recur"}}') \g /dev/null
SELECT wf_define('{"definitionId": "fail later", "options": {"incidentStrategy": "ContinueWithIncidents"}, "root": {"type": "Acme.FailLater"}}') \g /dev/null
SELECT wf_start(d) FROM unnest('{recur,fail later}'::text[]) AS d \g /dev/null
SET client_min_messages = error;
-- Somebody else comes first, which time does not take for its own.
SELECT r.sub_status FROM workflow.open_bookmarks AS b, wf_resume(b.bookmark_id) AS r WHERE b.definition_id = 'recur';
SELECT wf_run_due();
SELECT wf_run_due();
RESET client_min_messages;
SELECT i.definition_id, i.sub_status, i.incident_count, b.due_at FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id
WHERE i.definition_id IN ('recur', 'fail later') ORDER BY 1;

-- A type that was unknown is known to this session as soon as it is registered.
SELECT count(*) AS versions FROM wf_define('{"definitionId": "unknown yet", "root": {"type": "Acme.Yet"}}', allow_unknown => true);
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('unknown yet', instance_id => '01900000-0000-7000-8000-0000000000c1');
SELECT wf_register_activity('Acme.Yet', 'recurs(jsonb)');
CREATE OR REPLACE FUNCTION recurs(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT sub_status FROM wf_retry('01900000-0000-7000-8000-0000000000c1');

-- Registering: the owner may replace a handler; the shape of the function is checked.
SELECT wf_register_activity('Acme.Answer', 'answer_again(jsonb)');
SELECT wf_register_activity('Acme.Answer', 'answer(jsonb)', inputs => '[{"name": "answer", "type": "Object"}]', outcomes => '{Left,Right}');
CREATE FUNCTION wrong(context text) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Acme.Wrong', 'wrong(text)');
\echo :SQLSTATE
SELECT wf_register_activity('Acme.Wrong', 'nobody(jsonb)');
\echo :SQLSTATE
SELECT wf_register_activity('Elsa.WriteLine', 'answer(jsonb)');
\echo :SQLSTATE
SELECT wf_register_activity('', 'answer(jsonb)');
\echo :SQLSTATE
SELECT wf_register_activity('Acme.Wrong', 'answer(jsonb)', kind => 'other');
\echo :SQLSTATE
SELECT wf_register_activity('Acme.Wrong', 'answer(jsonb)', kind => 'action', payloads => 'answer(jsonb)');
\echo :SQLSTATE
SELECT wf_register_activity('Acme.Wrong', 'answer(jsonb)', inputs => '{"not": "a list"}');
\echo :SQLSTATE
SELECT wf_register_activity(NULL, 'answer(jsonb)');
\echo :SQLSTATE
SELECT wf_register_activity('Acme.Wrong', NULL);
\echo :SQLSTATE

-- A handler whose function is dropped is a fault where it is reached.
DROP FUNCTION answer(jsonb);
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message
  FROM wf_run('answer', '{"answer": {}}', instance_id => '01900000-0000-7000-8000-000000000003');
SELECT * FROM wf_check();
