-- Flowcharts in token mode: a token travels along each connection that is taken, and merge modes say who waits for whom.
\i tests/regress/include/run.sql

-- Two reviews and a decision; how the decision takes the tokens of both is up to it.
CREATE FUNCTION pg_temp.reviews(merge_mode text, mode text DEFAULT 'token') RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('type', 'Flowchart', 'mode', mode,
        'activities', jsonb_build_array('{"id": "begin", "type": "Start"}'::jsonb, '{"id": "legal", "type": "Event", "eventName": "Legal"}'::jsonb,
            '{"id": "money", "type": "Event", "eventName": "Money"}'::jsonb, jsonb_build_object('id', 'decide', 'type', 'WriteLine', 'text', 'decided', 'mergeMode', merge_mode)),
        'connections', '[["begin", "legal"], ["begin", "money"], ["legal", "decide"], ["money", "decide"]]'::jsonb)
$$;

-- Merge, and Stream where both are right before it: the decision waits for both reviews.
SELECT pg_temp.run(pg_temp.reviews('Merge'));
SELECT pg_temp.resume('money');
SELECT pg_temp.resume('legal');
SELECT pg_temp.run(pg_temp.reviews('Stream'));
SELECT pg_temp.resume('money');
SELECT pg_temp.resume('legal');

-- Cascade: one decision for each review.
SELECT pg_temp.run(pg_temp.reviews('Cascade'));
SELECT pg_temp.resume('money');
SELECT pg_temp.resume('legal');

-- Race: the first review decides, and the other is cancelled with its bookmark.
SELECT pg_temp.run(pg_temp.reviews('Race'));
SELECT pg_temp.resume('money');

-- Ways of different length: Stream does not wait for the longer one, Merge does. Counting always does.
CREATE FUNCTION pg_temp.braid(merge_mode text, mode text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('type', 'Flowchart', 'mode', mode,
        'activities', (SELECT jsonb_agg(jsonb_build_object('id', id, 'type', 'WriteLine', 'text', id, 'mergeMode', merge_mode)) FROM unnest('{a,short,long,longer,end}'::text[]) AS id),
        'connections', '[["a", "short"], ["a", "long"], ["long", "longer"], ["short", "end"], ["longer", "end"]]'::jsonb)
$$;
SELECT merge_mode, mode, string_agg(line, ' ') FROM (VALUES ('Stream', 'token'), ('Merge', 'token'), ('Stream', 'counter')) AS v (merge_mode, mode), LATERAL pg_temp.run(pg_temp.braid(merge_mode, mode)) AS line GROUP BY merge_mode, mode ORDER BY mode DESC, merge_mode;

-- A branch that was not taken: Stream goes on without it, Merge never runs.
CREATE FUNCTION pg_temp.choice(merge_mode text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('type', 'Flowchart', 'mode', 'token',
        'activities', jsonb_build_array('{"id": "large", "type": "FlowDecision", "condition": true}'::jsonb, '{"id": "ask", "type": "WriteLine", "text": "ask"}'::jsonb,
            '{"id": "skip", "type": "WriteLine", "text": "skip"}'::jsonb, jsonb_build_object('id', 'pay', 'type', 'WriteLine', 'text', 'pay', 'mergeMode', merge_mode)),
        'connections', '[["large", "True", "ask"], ["large", "False", "skip"], ["ask", "pay"], ["skip", "pay"]]'::jsonb)
$$;
SELECT pg_temp.run(pg_temp.choice('Stream'));
SELECT pg_temp.run(pg_temp.choice('Merge'));

-- FlowJoin: WaitAny is a race, everything else a merge.
SELECT mode, string_agg(line, ' ') FROM unnest('{WaitAny,WaitAll,WaitAllActive}'::text[]) AS mode, LATERAL pg_temp.run(jsonb_build_object('type', 'Flowchart', 'mode', 'token',
    'activities', jsonb_build_array('{"id": "begin", "type": "Start"}'::jsonb, '{"id": "a", "type": "WriteLine", "text": "a"}'::jsonb, '{"id": "b", "type": "WriteLine", "text": "b"}'::jsonb,
        jsonb_build_object('id', 'join', 'type', 'FlowJoin', 'mode', mode), '{"id": "end", "type": "WriteLine", "text": "end"}'::jsonb),
    'connections', '[["begin", "a"], ["begin", "b"], ["a", "join"], ["b", "join"], ["join", "end"]]'::jsonb)) AS line GROUP BY mode ORDER BY mode;

-- Loops need nothing special. Here one waits in each round.
SELECT pg_temp.run('{"type": "Flowchart", "mode": "token", "activities": [
        {"id": "begin", "type": "Start"},
        {"id": "answer", "type": "Event", "eventName": "Answer"},
        {"id": "ok", "type": "FlowDecision", "condition": {"js": "getInput(''ok'') === true"}},
        {"id": "again", "type": "WriteLine", "text": "once more"},
        {"id": "thanks", "type": "WriteLine", "text": "thank you"}],
    "connections": [["begin", "answer"], ["answer", "ok"], ["ok", "False", "again"], ["again", "answer"], ["ok", "True", "thanks"]]}');
SELECT pg_temp.resume('answer', '{"ok": false}');
SELECT pg_temp.resume('answer', '{"ok": false}');
SELECT pg_temp.resume('answer', '{"ok": true}');

-- The mode of the definition is that of flowcharts which say nothing; Elsa's names, in any letter case, say the same.
SELECT pg_temp.run(pg_temp.braid('Stream', NULL), options => '{"flowchartMode": "TokenBased"}');
SELECT pg_temp.run(pg_temp.braid('Stream', NULL) || '{"customProperties": {"Flowchart:ExecutionMode": "tokenbased"}}');
SELECT path, message FROM wf_validate('{"definitionId": "test", "options": {"flowchartMode": "fast"}, "root": {"type": "Flowchart", "mode": "petri", "activities": [{"type": "WriteLine", "mergeMode": "sometimes"}]}}');

-- Exported, modes are where Elsa looks for them.
SELECT wf_define('{"definitionId": "modes", "root": {"type": "Flowchart", "mode": "token", "activities": [{"id": "a", "type": "WriteLine", "mergeMode": "race"}]}}');
SELECT wf_export('modes') #> '{root,customProperties,Flowchart:ExecutionMode}', wf_export('modes') #> '{root,activities,0,customProperties,mergeMode}';
SELECT * FROM wf_check();
