-- The 60-second session of README.md, word for word (the documentation and this file change together).
SELECT * FROM wf_define('{
    "definitionId": "order",
    "variables": {"Payment": null},
    "root": [
        {"type": "WriteLine", "text": {"js": "`order of ${getInput(''customer'')}`"}},
        {"id": "Paid", "type": "Event", "eventName": "OrderPaid", "result": {"var": "Payment"}},
        {"type": "If", "condition": {"js": "getPayment().amount >= 100"},
            "then": {"id": "Check", "type": "RunTask", "taskName": "Check large order"}},
        {"type": "WriteLine", "text": "ship it"}
    ]
}');

-- Start it, together with whatever else the transaction does.
BEGIN;
SELECT wf_start('order', '{"customer": "Ada"}', correlation_id => 'order-42') AS instance \gset
COMMIT;
SELECT activity, correlation_id FROM workflow.waiting WHERE instance = :'instance';

-- The payment arrives: the instance that waits for this event, for this order, goes on.
SELECT cardinality(resumed) AS resumed
  FROM wf_publish_event('OrderPaid', '{"amount": 250}', correlation_id => 'order-42');

-- It was large, so there is a task in an inbox.
SELECT name, correlation_id FROM workflow.open_tasks WHERE instance_id = :'instance';

-- A rollback takes back what the workflow did with everything else.
BEGIN;
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'instance';
ROLLBACK;
SELECT activity FROM workflow.waiting WHERE instance = :'instance';

-- Now for good.
SELECT sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id) WHERE t.instance_id = :'instance';

-- What happened?
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'instance' ORDER BY seq, number;
