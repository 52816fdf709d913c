-- Scenarios of Elsa's own tests: flowcharts, in Elsa's JSON as Studio writes it.
\i tests/regress/include/run.sql

-- A flow in Elsa's form from little: activities as id, type and inputs; connections as [from, port, to].
CREATE FUNCTION pg_temp.elsa(activities jsonb, connections jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('id', 'Flowchart1', 'nodeId', 'Workflow1:Flowchart1', 'type', 'Elsa.Flowchart', 'version', 1, 'metadata', '{}'::jsonb, 'variables', '[]'::jsonb,
        'customProperties', '{"notFoundConnections": [], "canStartWorkflow": false, "runAsynchronously": false}'::jsonb,
        'activities', (SELECT jsonb_agg(a || '{"version": 1, "customProperties": {"canStartWorkflow": false, "runAsynchronously": false}, "metadata": {"designer": {"position": {"x": 1.5, "y": 2}}}}') FROM jsonb_array_elements(activities) AS a),
        'connections', (SELECT jsonb_agg(jsonb_build_object('source', jsonb_build_object('activity', c -> 0, 'port', c -> 1), 'target', jsonb_build_object('activity', c -> 2, 'port', 'In'), 'vertices', '[]'::jsonb))
                          FROM jsonb_array_elements(connections) AS c))
$$;
CREATE FUNCTION pg_temp.line(id text, text text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('id', id, 'type', 'Elsa.WriteLine', 'text', jsonb_build_object('typeName', 'String', 'expression', jsonb_build_object('type', 'Literal', 'value', coalesce(text, id))))
$$;
CREATE FUNCTION pg_temp.join(id text, mode text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('id', id, 'type', 'Elsa.FlowJoin', 'mode', jsonb_build_object('typeName', 'Elsa.Workflows.Activities.Flowchart.Models.FlowJoinMode, Elsa.Workflows.Core',
        'expression', jsonb_build_object('type', 'Literal', 'value', mode)))
$$;

-- An explicit join of all: Start, both lines, End.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('Start'), pg_temp.line('Line 1'), pg_temp.line('Line 2'), pg_temp.join('join', 'WaitAll'), pg_temp.line('End')),
    '[["Start", "Done", "Line 1"], ["Start", "Done", "Line 2"], ["Line 1", "Done", "join"], ["Line 2", "Done", "join"], ["join", "Done", "End"]]'));

-- The same with an embedded flowchart.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('Start'), pg_temp.line('Line 1'), '{"id": "node", "type": "Elsa.FlowNode"}'::jsonb ||
    jsonb_build_object('body', pg_temp.elsa(jsonb_build_array(pg_temp.line('Line 2')), '[]')), pg_temp.join('join', 'WaitAll'), pg_temp.line('End')),
    '[["Start", "Done", "Line 1"], ["Start", "Done", "node"], ["Line 1", "Done", "join"], ["node", "Done", "join"], ["join", "Done", "End"]]'));

-- Joins of any, in a row: End is written once.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.join('j1', 'WaitAny'), pg_temp.join('j2', 'WaitAny'), pg_temp.join('j3', 'WaitAny'), pg_temp.line('Start'), pg_temp.line('End')),
    '[["Start", "Done", "j1"], ["Start", "Done", "j2"], ["j1", "Done", "j3"], ["j2", "Done", "j3"], ["j3", "Done", "End"]]'));

-- A loop back under a decision.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array('{"id": "Start1", "type": "Elsa.Start"}'::jsonb, pg_temp.line('work', 'Do something'), pg_temp.line('retry', 'Retry'), pg_temp.line('done', 'Done'),
    '{"id": "count", "type": "Elsa.SetVariable", "variable": {"id": "v1", "name": "Counter", "typeName": "Int32"}, "value": {"typeName": "Object", "expression": {"type": "JavaScript", "value": "getCounter() + 1"}, "memoryReference": {"id": "count:input-1"}}}'::jsonb,
    '{"id": "enough", "type": "Elsa.FlowDecision", "condition": {"typeName": "Boolean", "expression": {"type": "JavaScript", "value": "getCounter() > 1"}}}'::jsonb),
    '[["work", "Done", "count"], ["enough", "True", "done"], ["enough", "False", "retry"], ["Start1", "Done", "work"], ["retry", "Done", "work"], ["count", "Done", "enough"]]'),
    '[{"id": "v1", "name": "Counter", "typeName": "Int32", "isArray": false, "value": "0"}]');

-- Linear; both branches; no connections; a diamond; joins in a row.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), pg_temp.line('B'), pg_temp.line('C')), '[["A", "Done", "B"], ["B", null, "C"]]'));
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), pg_temp.line('B'), pg_temp.line('C')), '[["A", "Done", "B"], ["A", "Done", "C"]]'));
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), pg_temp.line('B')), '[]'));
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), pg_temp.line('B'), pg_temp.line('C'), pg_temp.line('D')), '[["A", "Done", "B"], ["A", "Done", "C"], ["B", "Done", "D"], ["C", "Done", "D"]]'));
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), pg_temp.line('B'), pg_temp.line('C'), pg_temp.line('D'), pg_temp.line('E'), pg_temp.line('F'), pg_temp.line('G')),
    '[["A", "Done", "B"], ["A", "Done", "C"], ["B", "Done", "D"], ["C", "Done", "D"], ["D", "Done", "E"], ["D", "Done", "F"], ["E", "Done", "G"], ["F", "Done", "G"]]'));

-- Only the connection of the outcome that was produced is followed.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array('{"id": "d", "type": "Elsa.FlowDecision", "condition": {"typeName": "Boolean", "expression": {"type": "Literal", "value": "false"}}}'::jsonb, pg_temp.line('yes'), pg_temp.line('no')),
    '[["d", "True", "yes"], ["d", "False", "no"]]'));

-- Decisions in a row, one path connected, paths that come together again.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array('{"id": "d1", "type": "Elsa.FlowDecision", "condition": true}'::jsonb, '{"id": "d2", "type": "Elsa.FlowDecision", "condition": false}'::jsonb, pg_temp.line('TT'), pg_temp.line('TF'), pg_temp.line('F'), pg_temp.line('end')),
    '[["d1", "True", "d2"], ["d1", "False", "F"], ["d2", "True", "TT"], ["d2", "False", "TF"], ["TT", "Done", "end"], ["TF", "Done", "end"], ["F", "Done", "end"]]'));

-- A join of any while another branch waits: what follows the join runs, the branch is cancelled.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('Start'), pg_temp.line('fast'), '{"id": "slow", "type": "Elsa.Event", "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "Never"}}}'::jsonb, pg_temp.join('join', 'WaitAny'), pg_temp.line('End')),
    '[["Start", "Done", "slow"], ["Start", "Done", "fast"], ["slow", "Done", "join"], ["fast", "Done", "join"], ["join", "Done", "End"]]'));
SELECT count(*) FROM workflow.waiting;

-- Start says where to begin; "start" in the document of older exports does not.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), pg_temp.line('B'), '{"id": "s", "type": "Elsa.Start"}'::jsonb), '[["s", "Done", "B"]]'));
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), pg_temp.line('B')), '[["A", "Done", "B"]]') || '{"start": "B"}');

-- End inside a flowchart inside a sequence.
SELECT pg_temp.run(jsonb_build_array(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), '{"id": "e", "type": "Elsa.End"}'::jsonb, pg_temp.line('B')), '[["A", "Done", "e"], ["e", "Done", "B"]]'), pg_temp.line('after')));

-- Braids: branches that cross over complete.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), pg_temp.line('L1'), pg_temp.line('R1'), pg_temp.line('L2'), pg_temp.line('R2'), pg_temp.line('Z')),
    '[["A", "Done", "L1"], ["A", "Done", "R1"], ["L1", "Done", "L2"], ["L1", "Done", "R2"], ["R1", "Done", "L2"], ["R1", "Done", "R2"], ["L2", "Done", "Z"], ["R2", "Done", "Z"]]'));

-- Completed, although one branch ends in a decision that goes nowhere and another in an event.
SELECT pg_temp.run(pg_temp.elsa(jsonb_build_array(pg_temp.line('A'), '{"id": "d", "type": "Elsa.FlowDecision", "condition": false}'::jsonb, pg_temp.line('never'), '{"id": "wait", "type": "Elsa.Event", "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "Go"}}}'::jsonb),
    '[["A", "Done", "d"], ["A", "Done", "wait"], ["d", "True", "never"]]'));
SELECT pg_temp.resume('wait');
SELECT * FROM wf_check();
