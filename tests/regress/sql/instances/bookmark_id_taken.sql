-- An id that a bookmark has already is a fault of the activity that asks for it. It was the end of the whole call, which kept others from
-- what reached them as well.
\pset null '(null)'
CREATE FUNCTION answer(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT context #> '{inputs,answer}' $$;
SELECT wf_register_activity('Acme.Answer', 'answer(jsonb)', inputs => '[{"name": "answer", "type": "Object"}]', outcomes => '{Left,Right}');
SELECT * FROM wf_define('{"definitionId": "bookmarks", "root": {"id": "a", "type": "Acme.Answer", "answer": {"input": "answer"}}}');

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
