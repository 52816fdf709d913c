-- wf_register_activity: who may replace a handler, what a handler must look like, and what becomes of one that is dropped.
\pset null '(null)'
CREATE FUNCTION answer(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT context #> '{inputs,answer}' $$;
SELECT wf_register_activity('Acme.Answer', 'answer(jsonb)', inputs => '[{"name": "answer", "type": "Object"}]', outcomes => '{Left,Right}');
SELECT * FROM wf_define('{"definitionId": "answer", "variables": {"V": 0}, "root": {"type": "Flowchart",
    "activities": [{"id": "a", "type": "Acme.Answer", "answer": {"input": "answer"}},
        {"id": "l", "type": "WriteLine", "text": "left"}, {"id": "r", "type": "WriteLine", "text": "right"}, {"id": "d", "type": "WriteLine", "text": "done"}],
    "connections": [["a", "Left", "l"], ["a", "Right", "r"], ["a", "Done", "d"]]}}');
CREATE FUNCTION answer_again(context jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'input % bookmark %', context -> 'input', context -> 'bookmark';
    RETURN '{"complete": false}';
END $$;

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

-- Names that people would read as another one are refused: fullwidth letters, characters that are not seen.
CREATE FUNCTION public.look_alike(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity(U&'\FF32un\FF34ask', 'public.look_alike(jsonb)');
SELECT wf_register_activity(U&'Run\200BTask', 'public.look_alike(jsonb)');
SELECT wf_register_activity(U&'Acme.Pay\00A0now', 'public.look_alike(jsonb)');
SELECT wf_register_activity(U&'Acme.P\202Eyap', 'public.look_alike(jsonb)');
SELECT wf_register_activity('Acme.Zahlung größer 支払い', 'public.look_alike(jsonb)');
DROP FUNCTION public.look_alike;
