-- What scripts/release/pictures adds to the database of wf dev: two requests for leave, one of them approved and one commented.
SET SESSION AUTHORIZATION demo;
SET client_min_messages = error;
SELECT wf_define($json${
    "definitionId": "absence", "name": "Leave of absence", "description": "Ask for days off. Your manager decides within two days.",
    "inputs": [{"name": "firstDay", "type": "String", "required": true, "displayName": "First day", "schema": {"format": "date"}},
               {"name": "days", "type": "Int32", "required": true, "displayName": "Number of days", "schema": {"minimum": 1, "maximum": 30}},
               {"name": "reason", "type": "String", "displayName": "Reason", "schema": {"maxLength": 1000}}],
    "outputs": [{"name": "Decision"}],
    "root": {"id": "Approve leave", "type": "Approve", "by": "role:demo", "abstain": true, "deadline": "2 days",
        "subject": {"js": "`${getInput('days')} days of leave from ${getInput('firstDay')}`"},
        "details": {"object": {"firstDay": {"input": "firstDay"}, "days": {"input": "days"}, "reason": {"input": "reason"}}},
        "result": {"output": "Decision"}}}$json$);
SELECT wf_start('absence', '{"firstDay": "2030-07-08", "days": 10, "reason": "The summer"}', 'Summer');
SELECT wf_start('absence', '{"firstDay": "2030-12-23", "days": 5, "reason": "Family"}', 'Winter');
SELECT wf_comment_task(task_id, 'Who is there for the end of the year?') FROM workflow.open_tasks WHERE correlation_id = 'Winter';
SELECT wf_complete_task(task_id, '{"approved": true}') FROM workflow.open_tasks WHERE correlation_id = 'Summer';
