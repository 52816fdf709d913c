-- Scenarios of Elsa's own tests: flowcharts in both modes, in Elsa's JSON.
\i tests/regress/include/run.sql

-- A flow in Elsa's form: a line for each word (`d:Race` with a merge mode), other activities, connections as [from, port, to] or [from, to].
CREATE FUNCTION pg_temp.flow(lines text, others jsonb, connections jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('id', 'Flowchart1', 'nodeId', 'Workflow1:Flowchart1', 'type', 'Elsa.Flowchart', 'version', 1, 'metadata', '{}'::jsonb, 'customProperties', '{}'::jsonb,
        'activities', coalesce((SELECT jsonb_agg(jsonb_build_object('id', split_part(word, ':', 1), 'type', 'Elsa.WriteLine', 'version', 1, 'customProperties', jsonb_build_object('mergeMode', nullif(split_part(word, ':', 2), '')),
            'text', jsonb_build_object('typeName', 'String', 'expression', jsonb_build_object('type', 'Literal', 'value', split_part(word, ':', 1)))) ORDER BY n)
            FROM regexp_split_to_table(nullif(lines, ''), ' ') WITH ORDINALITY AS w (word, n)), '[]') || others,
        'connections', coalesce((SELECT jsonb_agg(jsonb_build_object('source', jsonb_build_object('activity', c -> 0, 'port', CASE WHEN jsonb_array_length(c) = 3 THEN c -> 1 ELSE '"Done"' END),
            'target', jsonb_build_object('activity', c -> -1, 'port', 'In')) ORDER BY n) FROM jsonb_array_elements(connections) WITH ORDINALITY AS e (c, n)), '[]'))
$$;
-- What it writes in each mode, given by the definition.
CREATE FUNCTION pg_temp.in_both(lines text, others jsonb, connections jsonb) RETURNS TABLE (mode text, written text) LANGUAGE sql AS $$
    SELECT m, string_agg(line, ' ') FROM unnest('{CounterBased,TokenBased}'::text[]) AS m,
        LATERAL pg_temp.run(pg_temp.flow(lines, others, connections), options => jsonb_build_object('flowchartMode', m)) AS line GROUP BY m ORDER BY m
$$;

-- Linear; no connections; nothing at all; an activity that nothing leads to.
SELECT * FROM pg_temp.in_both('A B C', '[]', '[["A", "B"], ["B", "C"]]');
SELECT * FROM pg_temp.in_both('A B', '[]', '[]');
SELECT * FROM pg_temp.in_both('', '[]', '[]');
SELECT * FROM pg_temp.in_both('A B alone', '[]', '[["A", "B"]]');

-- A decision, each way; with one way connected; two in a row that come together again.
SELECT * FROM pg_temp.in_both('yes no', '[{"id": "d", "type": "Elsa.FlowDecision", "condition": true}]', '[["d", "True", "yes"], ["d", "False", "no"]]');
SELECT * FROM pg_temp.in_both('yes', '[{"id": "d", "type": "Elsa.FlowDecision", "condition": false}]', '[["d", "True", "yes"]]');
SELECT * FROM pg_temp.in_both('TT TF F end', '[{"id": "d1", "type": "Elsa.FlowDecision", "condition": true}, {"id": "d2", "type": "Elsa.FlowDecision", "condition": false}]',
    '[["d1", "True", "d2"], ["d1", "False", "F"], ["d2", "True", "TT"], ["d2", "False", "TF"], ["TT", "end"], ["TF", "end"], ["F", "end"]]');

-- Diamonds, one behind the other.
SELECT * FROM pg_temp.in_both('A B C D E F G', '[]', '[["A", "B"], ["A", "C"], ["B", "D"], ["C", "D"], ["D", "E"], ["D", "F"], ["E", "G"], ["F", "G"]]');

-- Fork and join; several joins; a join of joins; of any and of all.
CREATE FUNCTION pg_temp.joins(shape text, others jsonb, connections jsonb) RETURNS TABLE (join_mode text, mode text, written text) LANGUAGE sql AS $$
    SELECT j, b.* FROM unnest('{WaitAny,WaitAll}'::text[]) AS j,
        LATERAL pg_temp.in_both('Start A B C End', (SELECT jsonb_agg(o || jsonb_build_object('mode', j)) FROM jsonb_array_elements(others) AS o), connections) AS b ORDER BY j, b.mode
$$;
SELECT * FROM pg_temp.joins('fork and join', '[{"id": "j", "type": "Elsa.FlowJoin"}]', '[["Start", "A"], ["Start", "B"], ["A", "j"], ["B", "j"], ["j", "End"]]');
SELECT * FROM pg_temp.joins('two joins', '[{"id": "j1", "type": "Elsa.FlowJoin"}, {"id": "j2", "type": "Elsa.FlowJoin"}]',
    '[["Start", "A"], ["Start", "B"], ["A", "j1"], ["B", "j1"], ["j1", "C"], ["j1", "j2"], ["C", "j2"], ["j2", "End"]]');
SELECT * FROM pg_temp.joins('a join of joins', '[{"id": "j1", "type": "Elsa.FlowJoin"}, {"id": "j2", "type": "Elsa.FlowJoin"}, {"id": "j3", "type": "Elsa.FlowJoin"}]',
    '[["Start", "A"], ["Start", "B"], ["Start", "C"], ["A", "j1"], ["B", "j1"], ["B", "j2"], ["C", "j2"], ["j1", "j3"], ["j2", "j3"], ["j3", "End"]]');

-- Merge modes, which counting ignores: at one end, at several, mixed.
SELECT merge, written FROM unnest('{None,Stream,Merge,Converge,Cascade,Race}'::text[]) WITH ORDINALITY AS m (merge, n), LATERAL pg_temp.in_both('A B C D:' || merge, '[]', '[["A", "B"], ["A", "C"], ["B", "D"], ["C", "D"]]') WHERE mode = 'TokenBased' ORDER BY n;
SELECT * FROM pg_temp.in_both('A B C D:Converge E:Converge', '[]', '[["A", "B"], ["A", "C"], ["B", "D"], ["C", "D"], ["B", "E"], ["C", "E"]]');
SELECT * FROM pg_temp.in_both('A B C D:Race E:Merge F:Cascade', '[]', '[["A", "B"], ["A", "C"], ["B", "D"], ["C", "D"], ["B", "E"], ["C", "E"], ["D", "F"], ["E", "F"]]');

-- Nested; End inside; a loop of three rounds; ParallelForEach on the way.
SELECT * FROM pg_temp.in_both('A Z', jsonb_build_array(pg_temp.flow('x y', '[]', '[["x", "y"]]') || '{"id": "inner"}'), '[["A", "inner"], ["inner", "Z"]]');
SELECT * FROM pg_temp.in_both('A B', '[{"id": "e", "type": "Elsa.End"}]', '[["A", "e"], ["e", "B"]]');
SELECT mode, written FROM unnest('{CounterBased,TokenBased}'::text[]) AS mode, LATERAL (SELECT string_agg(line, ' ') AS written FROM pg_temp.run(pg_temp.flow('work again done',
    '[{"id": "n", "type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}, {"id": "d", "type": "FlowDecision", "condition": {"js": "getN() < 3"}}]',
    '[["work", "n"], ["n", "d"], ["d", "True", "again"], ["again", "work"], ["d", "False", "done"]]'), '{"N": 0}', jsonb_build_object('flowchartMode', mode)) AS line) AS w;
SELECT * FROM pg_temp.in_both('A Z', '[{"id": "each", "type": "Elsa.ParallelForEach", "version": 1, "items": {"typeName": "Object", "expression": {"type": "Object", "value": "[1, 2]"}}, "body": {"id": "line", "type": "Elsa.WriteLine", "version": 1, "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "getCurrentValue()"}}}}]',
    '[["A", "each"], ["each", "Z"]]');

-- A fault in ParallelForEach: the others run, and what is behind it waits for a retry.
SET client_min_messages = error;
SELECT * FROM pg_temp.in_both('Z', '[{"id": "each", "type": "Elsa.ParallelForEach", "items": ["a", "b", "c"], "body": [{"type": "If", "condition": {"js": "getCurrentValue() === \"b\""}, "then": {"type": "Fault", "message": "bad b"}}, {"type": "WriteLine", "text": {"var": "CurrentValue"}}]}]',
    '[["each", "Z"]]');

-- What has no form in a database is refused, with what to use instead.
SELECT message FROM wf_validate('{"definitionId": "test", "root": [{"type": "ReadLine"}, {"type": "Inline"}, {"type": "Elsa.DynamicActivity"}]}');
SELECT * FROM wf_check();
