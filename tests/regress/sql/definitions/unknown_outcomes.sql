-- A connection from an outcome that its activity never has leads nowhere: the run would end without what comes behind.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
CREATE FUNCTION pg_temp.flow(activity jsonb, port text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('definitionId', 'flow', 'root', jsonb_build_object('type', 'Flowchart',
        'activities', jsonb_build_array(activity || '{"id": "a"}', '{"id": "b", "type": "WriteLine", "text": "b"}'::jsonb),
        'connections', jsonb_build_array(jsonb_build_array('a', port, 'b'))))
$$;
CREATE FUNCTION pg_temp.problems(activity jsonb, port text) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(message, E'\n'), 'accepted') FROM wf_validate(pg_temp.flow(activity, port), 'warning')
$$;

SELECT port, pg_temp.problems(activity, port)
FROM (VALUES (1, '{"type": "FlowDecision", "condition": true}'::jsonb, 'Yes'),
             (2, '{"type": "FlowDecision", "condition": true}', 'true'),
             (3, '{"type": "RunTask", "taskName": "t"}', 'TimedOut'),
             (4, '{"type": "RunTask", "taskName": "t"}', 'Timeout'),
             (5, '{"type": "RunTask", "taskName": "t", "timeout": "1 hour"}', 'Timeout'),
             (6, '{"type": "RunTask", "taskName": "t", "timeout": "1 hour"}', 'TimedOut'),
             (7, '{"type": "FlowSwitch", "cases": [{"label": "Short", "condition": true}]}', 'Short'),
             (8, '{"type": "FlowSwitch", "cases": [{"label": "Short", "condition": true}]}', 'Shrot'),
             (9, '{"type": "FlowFork", "branches": ["Stock", "Credit"]}', 'Credit'),
             (10, '{"type": "FlowFork", "branches": ["Stock", "Credit"]}', 'Crdeit'),
             (11, '{"type": "FlowFork", "branches": {"js": "[''x'']"}}', 'x'),
             (12, '{"type": "FlowSendHttpRequest", "url": "https://x.example"}', '200'),
             (13, '{"type": "FlowSendHttpRequest", "url": "https://x.example", "expectedStatusCodes": [404]}', '200'),
             (14, '{"type": "RunJavaScript", "script": "setOutcome(''Long'')"}', 'Long'),
             (15, '{"type": "Composite", "root": {"type": "Complete", "outcomes": "Paid"}}', 'Paid')) AS c (n, activity, port)
ORDER BY n;

-- In Elsa's form, and in what was stored before, it is a warning.
SELECT wf_define(pg_temp.flow('{"type": "FlowDecision", "condition": true}', 'Yes'));
SELECT wf_define(pg_temp.flow('{"type": "Elsa.FlowDecision", "nodeId": "Workflow1:a", "condition": true}', 'Yes'));
SELECT wf_export('flow') AS exported \gset
SELECT wf_define(:'exported'::jsonb || '{"definitionId": "copy"}');

-- A content that an older version has can be defined again, whatever is refused now.
SELECT wf_define(pg_temp.flow('{"type": "FlowDecision", "condition": true}', 'True'));
UPDATE workflow.definitions SET document = pg_temp.flow('{"type": "FlowDecision", "condition": true}', 'Yes')
WHERE definition_id = 'flow' AND version = 1;
SELECT wf_define(pg_temp.flow('{"type": "FlowDecision", "condition": true}', 'Yes'));

-- A used workflow that loses an outcome which its consumer follows: the consumer stays with the version that has it.
SELECT wf_define('{"definitionId": "check", "name": "Check", "outcomes": ["Good", "Bad"], "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true},
    "root": {"type": "Complete", "outcomes": ["Bad"]}}');
SELECT wf_define('{"definitionId": "consumer", "root": {"type": "Flowchart", "activities": [{"id": "check", "type": "Check"}, {"id": "end", "type": "WriteLine", "text": "bad"}],
    "connections": [["check", "Bad", "end"]]}}');
SELECT wf_define('{"definitionId": "check", "name": "Check", "outcomes": ["Good"], "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true},
    "root": {"type": "Complete", "outcomes": ["Good"]}}');
SELECT definition_id, version FROM workflow.definition_list WHERE definition_id IN ('check', 'consumer') ORDER BY definition_id, version;
SELECT wf_start('consumer') AS consumer \gset
SELECT data FROM workflow.journal WHERE instance_id = :'consumer' AND event = 'Line';
