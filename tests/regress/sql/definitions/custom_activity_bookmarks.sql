-- An activity type of one's own makes bookmarks: every field of them, and what resuming one calls back and completes.
\pset null '(null)'
CREATE FUNCTION answer(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT context #> '{inputs,answer}' $$;
SELECT wf_register_activity('Acme.Answer', 'answer(jsonb)', inputs => '[{"name": "answer", "type": "Object"}]', outcomes => '{Left,Right}');

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

-- A bookmark that completes nothing and has no callback must not be the last.
SELECT sub_status FROM wf_run('bookmarks', '{"answer": {"bookmarks": [{"id": "01900000-0000-7000-8000-0000000000b7", "autoComplete": false},
    {"id": "01900000-0000-7000-8000-0000000000b8", "autoComplete": false}]}}');
SELECT sub_status FROM wf_resume('01900000-0000-7000-8000-0000000000b7');
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_resume('01900000-0000-7000-8000-0000000000b8');

-- An instant is one that PostgreSQL can store.
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message
FROM unnest('{-9999-01-01 00:00:00+00,+294277-01-01 00:00:00+00}'::text[]) AS at,
     wf_run('bookmarks', jsonb_build_object('answer', jsonb_build_object('bookmarks', jsonb_build_array(jsonb_build_object('dueAt', at)))));
