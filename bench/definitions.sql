-- More definitions to measure with.

-- 50 activities. `fifty` uses no JavaScript before the first wait, `fifty-js` does.
SELECT wf_define(jsonb_build_object(
    'definitionId', name,
    'variables', '{"Total": 0, "Text": ""}'::jsonb,
    'root', '[]'::jsonb || first || '{"id": "wait", "type": "Event", "eventName": "Go"}'::jsonb || (
        SELECT jsonb_agg(CASE n % 4
            WHEN 0 THEN jsonb_build_object('id', 'line' || n, 'type', 'WriteLine', 'text', 'line ' || n)
            WHEN 1 THEN jsonb_build_object('id', 'set' || n, 'type', 'SetVariable', 'variable', 'Total', 'value', '{"js": "getTotal() + 1"}'::jsonb)
            WHEN 2 THEN jsonb_build_object('id', 'event' || n, 'type', 'Event', 'eventName', 'Event ' || n)
            ELSE jsonb_build_object('id', 'task' || n, 'type', 'RunTask', 'taskName', 'Task ' || n, 'payload', '{"object": {"total": {"var": "Total"}}}'::jsonb)
            END ORDER BY n)
        FROM generate_series(1, 47) AS n)))
FROM (VALUES
    ('fifty', '{"id": "first", "type": "SetVariable", "variable": "Text", "value": "begun"}'::jsonb),
    ('fifty-js', '{"id": "first", "type": "SetVariable", "variable": "Text", "value": {"js": "`begun by ${getInput(''by'')}`"}}')) AS v (name, first);

-- 100 different approvals as Studio would draw them, including decisions in JavaScript.
SELECT count(wf_define(jsonb_build_object(
    'definitionId', 'hundred-' || n,
    'variables', '{"Decision": null}'::jsonb,
    'outputs', '[{"name": "Approved", "type": "Boolean"}]'::jsonb,
    'root', jsonb_build_object(
        'type', 'Flowchart',
        'activities', jsonb_build_array(
            jsonb_build_object('id', 'supervisor', 'type', 'RunTask', 'taskName', 'Supervisor approval ' || n, 'result', '{"var": "Decision"}'::jsonb,
                'payload', '{"object": {"employee": {"input": "employee"}, "days": {"input": "days"}}}'::jsonb),
            jsonb_build_object('id', 'supervisorAgrees', 'type', 'FlowDecision', 'condition', jsonb_build_object('js', 'getDecision().approved && ' || n || ' > 0')),
            jsonb_build_object('id', 'manager', 'type', 'RunTask', 'taskName', 'Manager approval ' || n, 'result', '{"var": "Decision"}'::jsonb,
                'payload', '{"object": {"employee": {"input": "employee"}, "days": {"input": "days"}}}'::jsonb),
            jsonb_build_object('id', 'managerAgrees', 'type', 'FlowDecision', 'condition', jsonb_build_object('js', 'getDecision().approved && ' || n || ' > 0')),
            '{"id": "approved", "type": "SetOutput", "outputName": "Approved", "outputValue": true}'::jsonb,
            '{"id": "rejected", "type": "SetOutput", "outputName": "Approved", "outputValue": false}'::jsonb),
        'connections', '[["supervisor", "supervisorAgrees"], ["supervisorAgrees", "True", "manager"], ["supervisorAgrees", "False", "rejected"],
            ["manager", "managerAgrees"], ["managerAgrees", "True", "approved"], ["managerAgrees", "False", "rejected"]]'::jsonb)))) AS definitions
FROM generate_series(1, 100) AS n;

-- Runs each of them to its end, so that this backend has compiled all of them.
CREATE OR REPLACE FUNCTION bench.run_hundred() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    result wf_result;
BEGIN
    FOR n IN 1 .. 100 LOOP
        result := wf_run('hundred-' || n, '{"employee": "Ada", "days": 3}');
        result := wf_resume((result.bookmarks #>> '{0,id}')::uuid, '{"approved": true}');
        result := wf_resume((result.bookmarks #>> '{0,id}')::uuid, '{"approved": true}');
        IF result.sub_status <> 'Finished' THEN
            RAISE EXCEPTION 'the approval did not end: %', result;
        END IF;
    END LOOP;
END $$;

-- Loops in one burst: the cost of a condition in JavaScript, of a loop ten times as long, and of a decision.
SELECT wf_define(jsonb_build_object(
    'definitionId', 'loop-' || kind || '-' || n,
    'variables', '{"Index": 0}'::jsonb,
    'root', jsonb_build_array(jsonb_build_object(
        'type', 'For', 'start', 1, 'end', n, 'step', 1, 'currentValue', '{"var": "Index"}'::jsonb,
        'body', jsonb_build_object('type', 'If', 'condition', condition)))))
FROM (VALUES ('literal', 10000, 'true'::jsonb), ('literal', 100000, 'true'), ('js', 10000, '{"js": "getVariable(''Index'') >= 0"}')) AS v (kind, n, condition);

-- Microseconds per activity of a burst.
CREATE OR REPLACE FUNCTION bench.loop(kind text, n integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
    result wf_result;
BEGIN
    result := wf_run('loop-literal-10000');
    began := clock_timestamp();
    result := wf_run('loop-' || kind || '-' || n);
    IF result.sub_status <> 'Finished' THEN
        RAISE EXCEPTION 'the loop did not end: %', result;
    END IF;
    RETURN extract(epoch FROM clock_timestamp() - began) * 1e6 / n;
END $$;
