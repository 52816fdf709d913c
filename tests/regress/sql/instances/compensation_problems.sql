-- What a definition may not ask of compensation.
SELECT path, message FROM wf_validate('{"definitionId": "x", "root": [
    {"id": "Book", "type": "Compensable", "compensation": [{"type": "WriteLine", "text": "a"}, {"id": "Inner", "type": "Compensable"}]},
    {"type": "CancellationScope", "cancellation": {"type": "Compensable"}},
    {"type": "Compensate", "target": "Bok"},
    {"type": "Confirm", "target": "nothing like it"}]}') ORDER BY path;
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"compensateOn": "fault"}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"compensateOn": ["failure"]}, "root": []}');
SELECT path, message FROM wf_validate('{"definitionId": "x", "options": {"compensateOn": ["fault"], "incidentStrategy": "ContinueWithIncidents"}, "root": []}');

-- A computed target that names no Compensable is a fault.
SELECT * FROM wf_define('{"definitionId": "x", "root": {"type": "Compensate", "target": {"js": "''nobody''"}}}');
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message, incidents -> 0 ->> 'hint' AS hint FROM wf_run('x');

-- So is a Compensable that a handler reaches inside a workflow used as an activity.
SELECT * FROM wf_define('{"definitionId": "Used", "options": {"usableAsActivity": true}, "root": {"id": "In", "type": "Compensable"}}');
SELECT * FROM wf_define('{"definitionId": "y", "root": [{"type": "Compensable", "compensation": {"type": "WorkflowDefinitionActivity", "workflowDefinitionId": "Used"}}, {"type": "Compensate"}]}');
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message, incidents -> 0 ->> 'detail' AS detail FROM wf_run('y');

-- Whether by force or not must be said.
SELECT wf_cancel('01900000-0000-7000-8000-000000000001', force => NULL);
SELECT wf_delete_instance('01900000-0000-7000-8000-000000000001', force => NULL);
