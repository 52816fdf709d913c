-- What `make studio` loads in addition to the examples, as shown in docs/studio.md: requests in progress, a failed one, and a task with a
-- form. It needs only the role demo: the instances that examples/team-inbox.sql started without its own roles are deleted.
SET SESSION AUTHORIZATION demo;
-- The failed request is an example: no warning about it.
SET client_min_messages = error;
SELECT wf_delete_instance(instance_id) FROM workflow.instance_list WHERE definition_id IN ('complaint', 'purchase-approval');
SELECT wf_define($json${
    "definitionId": "complaint", "name": "Complaint", "inputs": [{"name": "customer"}, {"name": "amount", "type": "Decimal"}],
    "root": [
        {"id": "Answer", "type": "RunTask", "taskName": "Answer complaint", "deadline": "2 days", "priority": 1,
         "candidates": ["role:demo"],
         "payload": {"object": {"customer": {"input": "customer"}, "amount": {"input": "amount"}}},
         "form": {"type": "object", "title": "Complaint", "required": ["refund"],
                  "properties": {"refund": {"type": "number", "title": "How much do we pay back?"},
                                 "reason": {"type": "string", "title": "Reason", "enum": ["Damaged", "Late", "Other"]},
                                 "note": {"type": "string", "title": "Note for the customer", "maxLength": 500}}}},
        {"id": "Refund", "type": "Sql", "statement": "SELECT 100 / ($1)::numeric", "parameters": [{"input": "amount"}]}
    ]}$json$);
SELECT wf_start('complaint', jsonb_build_object('customer', customer, 'amount', amount), correlation_id => customer)
  FROM (VALUES ('Grace', 40), ('Edsger', 1500), ('Alan', 0)) AS c (customer, amount);
SELECT wf_define($json${
    "definitionId": "purchase-approval", "name": "Purchase approval", "inputs": [{"name": "item"}, {"name": "amount", "type": "Decimal"}],
    "variables": {"Decision": null},
    "root": {"id": "flow", "type": "Flowchart",
        "activities": [
            {"id": "Ask", "type": "RunTask", "taskName": "Approve purchase", "candidates": ["role:demo"], "metadata": {"displayText": "Ask the manager"},
             "payload": {"object": {"item": {"input": "item"}, "amount": {"input": "amount"}}}, "result": {"var": "Decision"},
             "form": {"type": "object", "required": ["approved"], "properties": {"approved": {"type": "boolean", "title": "Approve it?"}}}},
            {"id": "Decide", "type": "FlowDecision", "condition": {"js": "getDecision().approved"}, "metadata": {"displayText": "Approved?"}},
            {"id": "Order", "type": "RunTask", "taskName": "Order goods", "metadata": {"displayText": "Order the goods"}},
            {"id": "Refuse", "type": "WriteLine", "text": "refused", "metadata": {"displayText": "Tell who asked"}}],
        "connections": [
            {"source": "Ask", "target": "Decide"},
            {"source": {"activity": "Decide", "port": "True"}, "target": {"activity": "Order", "port": "In"}},
            {"source": {"activity": "Decide", "port": "False"}, "target": {"activity": "Refuse", "port": "In"}}]}}$json$);
SELECT wf_start('purchase-approval', jsonb_build_object('item', item, 'amount', amount), correlation_id => item)
  FROM (VALUES ('A desk for Ada', 350), ('A train to Turin', 120)) AS p (item, amount);
SELECT wf_complete_task(task_id, '{"approved": true}') FROM workflow.open_tasks WHERE correlation_id = 'A desk for Ada';
SELECT wf_complete_task(task_id, '{"refund": 0}') FROM workflow.open_tasks WHERE correlation_id = 'Alan';
