-- Every example of docs/definitions.md, as it stands there: it is accepted, and this is what it does.
CREATE FUNCTION pg_temp.run(example jsonb) RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
DECLARE
    definition jsonb := CASE WHEN example ? 'definitionId' THEN example ELSE jsonb_build_object('definitionId', 'example', 'root', example) END;
    given      jsonb := '{"name": "Ada", "days": 14, "number": 42, "Amount": "99.90", "amount": 10, "customer": "Ada", "order": {"total": 250, "customer": "Ada"}}';
    result     wf_result;
BEGIN
    PERFORM wf_define(definition);
    -- An example that declares its inputs gets those.
    result := wf_run(definition ->> 'definitionId', (SELECT coalesce(jsonb_object_agg(name, value), '{}') FROM jsonb_each(given) AS g (name, value)
        WHERE NOT definition ? 'inputs' OR definition -> 'inputs' @> jsonb_build_array(jsonb_build_object('name', name))));
    RETURN QUERY SELECT data #>> '{}' FROM workflow.journal AS j WHERE j.instance_id = result.instance_id AND event = 'Line' ORDER BY seq, number;
    RETURN QUERY SELECT concat_ws(' ', '--', result.sub_status, nullif(result.output, '{}'),
        'waits at ' || (SELECT string_agg(b ->> 'activity_id', ', ' ORDER BY b ->> 'activity_id') FROM jsonb_array_elements(result.bookmarks) AS b),
        result.incidents -> 0 ->> 'message');
END $$;
SET client_min_messages = error;
\pset tuples_only on

-- The document
SELECT pg_temp.run($example${
    "definitionId": "greet",
    "name": "Greet",
    "description": "Says hello.",
    "variables": {"Greeting": "hello"},
    "root": [
        {"type": "WriteLine", "text": {"js": "`${getGreeting()}, ${getInput('name')}`"}}
    ]
}$example$);

-- Options
SELECT pg_temp.run($example${
    "definitionId": "one-per-order",
    "options": {
        "activationStrategy": "CorrelatedSingleton",
        "incidentStrategy": "ContinueWithIncidents",
        "security": "invoker",
        "retention": "90 days"
    },
    "root": {"type": "Event", "eventName": "Shipped"}
}$example$);

-- Variables, inputs, outputs
SELECT pg_temp.run($example${
    "definitionId": "discount",
    "variables": [{"name": "Rate", "type": "Decimal", "value": "0.10"}],
    "inputs": [{"name": "Amount", "type": "Decimal"}, {"name": "Customer", "type": "String", "defaultValue": "nobody"}],
    "outputs": [{"name": "Total", "type": "Decimal"}],
    "root": {"type": "SetOutput", "outputName": "Total",
        "outputValue": {"sql": "(input ->> 'Amount')::numeric * (1 - (variables ->> 'Rate')::numeric)"}}
}$example$);

-- What a start accepts
SELECT pg_temp.run($example${
    "definitionId": "order",
    "inputs": [
        {"name": "Amount", "type": "Decimal", "required": true},
        {"name": "Customer", "type": "String", "default": "nobody"},
        {"name": "Lines", "type": "List", "schema": {"minItems": 1, "items": {"type": "object", "required": ["sku"]}}}],
    "inputSchema": {"maxProperties": 3},
    "root": {"type": "WriteLine", "text": {"input": "Customer"}}
}$example$);

-- Expressions
SELECT pg_temp.run($example${"type": "WriteLine", "text": {"object": {"who": {"input": "name"}, "sum": {"js": "1 + 1"}, "raw": {"literal": {"js": "1 + 1"}}}}}$example$);

-- JavaScript
SELECT pg_temp.run($example${"type": "If", "condition": {"js": "const order = getInput('order'); return order.total > 100 && !isNullOrEmpty(order.customer);"},
    "then": {"type": "WriteLine", "text": "a large order"}}$example$);

-- Liquid
SELECT pg_temp.run($example${"type": "WriteLine", "text": {"liquid": "{% for i in (1..3) %}{{ i }}. {{ Input.name | upcase }} {% endfor %}{{ Input.order.customer | default: 'nobody' }}"}}$example$);

-- SQL
SELECT pg_temp.run($example${"type": "SetName", "value": {"sql": "SELECT 'order of ' || (input ->> 'customer')"}}$example$);

-- SQL
SELECT pg_temp.run($example${"type": "SetName", "value": {"sql": "SELECT 'order of ' || {{Input.customer}} || ', ' || ({{Input.amount}} * 2)"}}$example$);

-- C# and Python
SELECT pg_temp.run($example${"type": "WriteLine", "text": {"typeName": "String", "expression": {"type": "CSharp", "value": "return $\"Hello {Inputs.name}\";"}}}$example$);

-- Sequence and flow
SELECT pg_temp.run($example${"type": "Sequence", "variables": {"Total": 0}, "activities": [
    {"type": "SetVariable", "variable": "Total", "value": 5},
    {"type": "WriteLine", "text": {"var": "Total"}}]}$example$);

-- Sequence and flow
SELECT pg_temp.run($example${"type": "If", "condition": {"js": "getInput('days') > 5"},
    "then": {"type": "WriteLine", "text": "long"},
    "else": {"type": "WriteLine", "text": "short"}}$example$);

-- Sequence and flow
SELECT pg_temp.run($example${"type": "Switch", "mode": "MatchFirst", "cases": [
    {"label": "long", "condition": {"js": "getInput('days') > 20"}, "activity": {"type": "WriteLine", "text": "very long"}},
    {"label": "short", "condition": {"js": "getInput('days') < 3"}, "activity": {"type": "WriteLine", "text": "very short"}}],
    "default": {"type": "WriteLine", "text": "usual"}}$example$);

-- Flowcharts
SELECT pg_temp.run($example${"type": "Flowchart",
    "activities": [
        {"id": "begin", "type": "Start"},
        {"id": "long", "type": "FlowDecision", "condition": {"js": "getInput('days') > 5"}},
        {"id": "ask", "type": "WriteLine", "text": "ask somebody"},
        {"id": "done", "type": "WriteLine", "text": "approved"}],
    "connections": [["begin", "long"], ["long", "True", "ask"], ["long", "False", "done"], ["ask", "done"]]}$example$);

-- Flowcharts
SELECT pg_temp.run($example${"type": "Flowchart",
    "activities": [
        {"id": "size", "type": "FlowSwitch", "cases": [
            {"label": "small", "condition": {"js": "getInput('days') < 3"}},
            {"label": "large", "condition": {"js": "getInput('days') > 20"}}]},
        {"id": "s", "type": "WriteLine", "text": "small"},
        {"id": "m", "type": "WriteLine", "text": "medium"},
        {"id": "l", "type": "WriteLine", "text": "large"}],
    "connections": [["size", "small", "s"], ["size", "Default", "m"], ["size", "large", "l"]]}$example$);

-- Flowcharts
SELECT pg_temp.run($example${"type": "Flowchart",
    "activities": [
        {"id": "fork", "type": "FlowFork", "branches": ["Stock", "Credit"]},
        {"id": "stock", "type": "WriteLine", "text": "check the stock"},
        {"id": "credit", "type": "WriteLine", "text": "check the credit"},
        {"id": "join", "type": "FlowJoin", "mode": "WaitAll"},
        {"id": "ship", "type": "WriteLine", "text": "ship"}],
    "connections": [["fork", "Stock", "stock"], ["fork", "Credit", "credit"], ["stock", "join"], ["credit", "join"], ["join", "ship"]]}$example$);

-- Token mode
SELECT pg_temp.run($example${"type": "Flowchart", "mode": "token",
    "activities": [
        {"id": "begin", "type": "Start"},
        {"id": "mail", "type": "Event", "eventName": "MailAnswered"},
        {"id": "call", "type": "WriteLine", "text": "the customer calls"},
        {"id": "answer", "type": "WriteLine", "text": "answered", "mergeMode": "Race"}],
    "connections": [["begin", "mail"], ["begin", "call"], ["mail", "answer"], ["call", "answer"]]}$example$);

-- Flowcharts
SELECT pg_temp.run($example${"type": "Flowchart", "activities": [{"type": "FlowNode", "body": {"type": "WriteLine", "text": "inside"}}]}$example$);

-- State machines
SELECT pg_temp.run($example${"type": "StateMachine", "initialState": "Requested",
    "states": [
        "Requested",
        {"name": "Approved", "entry": {"type": "WriteLine", "text": "enjoy your holidays"}},
        {"name": "Rejected", "entry": {"type": "WriteLine", "text": "not this time"}}],
    "transitions": [
        {"from": "Requested", "to": "Approved", "condition": {"js": "getInput('days') <= 5"}},
        {"from": "Requested", "to": "Approved", "trigger": {"id": "approve", "type": "RunTask", "taskName": "Approve"}, "condition": {"js": "getLastResult() === true"}},
        {"from": "Requested", "to": "Rejected", "trigger": {"id": "deadline", "type": "Delay", "timeSpan": "7 days"}}]}$example$);

-- Loops
SELECT pg_temp.run($example${"type": "Sequence", "variables": {"N": 0}, "activities": [
    {"type": "While", "condition": {"js": "getN() < 3"}, "body": [
        {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}},
        {"type": "WriteLine", "text": {"var": "N"}}]}]}$example$);

-- Loops
SELECT pg_temp.run($example${"type": "For", "start": 10, "end": 0, "step": -5, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}$example$);

-- Loops
SELECT pg_temp.run($example${"type": "ForEach", "items": ["tea", "milk"], "body": {"type": "WriteLine", "text": {"js": "`${getCurrentIndex()}: ${getCurrentValue()}`"}}}$example$);

-- Loops
SELECT pg_temp.run($example${"type": "ForEach", "items": [1, 2, 3], "body": [
    {"type": "If", "condition": {"js": "getCurrentValue() === 2"}, "then": {"type": "Break"}},
    {"type": "WriteLine", "text": {"var": "CurrentValue"}}]}$example$);

-- Side by side
SELECT pg_temp.run($example${"type": "Parallel", "activities": [
    {"type": "WriteLine", "text": "one"},
    [{"type": "WriteLine", "text": "two"}, {"type": "WriteLine", "text": "three"}]]}$example$);

-- Side by side
SELECT pg_temp.run($example${"type": "Fork", "joinMode": "WaitAny", "branches": [
    {"id": "paid", "type": "Event", "eventName": "Paid"},
    {"id": "withdrawn", "type": "Event", "eventName": "Withdrawn"}]}$example$);

-- Side by side
SELECT pg_temp.run($example${"type": "ParallelForEach", "items": ["Ada", "Grace", "Edsger"], "degreeOfParallelism": 2, "body": [
    {"id": "Approve", "type": "RunTask", "taskName": "Approve", "payload": {"object": {"by": {"var": "CurrentValue"}}}},
    {"type": "WriteLine", "text": {"js": "`${getCurrentValue()} has approved`"}}]}$example$);

-- Ends
SELECT pg_temp.run($example$[[{"type": "WriteLine", "text": "inside"}, {"type": "End"}, {"type": "WriteLine", "text": "never"}], {"type": "WriteLine", "text": "outside"}]$example$);

-- Ends
SELECT pg_temp.run($example${"type": "Parallel", "activities": [{"type": "Event", "eventName": "Never"}, {"type": "Finish"}]}$example$);

-- Ends
SELECT pg_temp.run($example$[{"type": "Complete", "outcomes": ["Approved"]}, {"type": "WriteLine", "text": "never"}]$example$);

-- Ends
SELECT pg_temp.run($example${"id": "TooOld", "type": "Fault", "code": "42", "category": "Business", "faultType": "Business", "message": "the order is too old"}$example$);

-- Workflows as activities
SELECT pg_temp.run($example${
    "definitionId": "add-numbers",
    "name": "Add numbers",
    "options": {"usableAsActivity": true},
    "inputs": [{"name": "a", "type": "Int32"}, {"name": "b", "type": "Int32", "defaultValue": 1}],
    "outputs": [{"name": "sum", "type": "Int32"}],
    "root": {"type": "SetOutput", "outputName": "sum", "outputValue": {"js": "getInput('a') + getInput('b')"}}
}$example$);

-- Workflows as activities
SELECT pg_temp.run($example${"type": "Sequence", "variables": {"Sum": 0}, "activities": [
    {"type": "AddNumbers", "a": 40, "sum": {"var": "Sum"}},
    {"type": "WorkflowDefinitionActivity", "workflowDefinitionId": "add-numbers", "a": {"var": "Sum"}, "b": 1, "sum": {"var": "Sum"}},
    {"type": "WriteLine", "text": {"var": "Sum"}}]}$example$);

-- Workflows as activities
SELECT pg_temp.run($example${"type": "Sequence", "variables": {"Total": 0}, "activities": [
    {"type": "Composite", "variables": {"Sum": 1}, "resultVariable": "Sum", "result": {"var": "Total"}, "root": [
        {"type": "SetVariable", "variable": "Sum", "value": {"js": "getSum() + 4"}},
        {"type": "Complete"},
        {"type": "WriteLine", "text": "never"}]},
    {"type": "WriteLine", "text": {"var": "Total"}}]}$example$);

-- Data
SELECT pg_temp.run($example${"type": "Sequence", "variables": [{"name": "Days", "type": "Int32"}], "activities": [
    {"type": "SetVariable", "variable": "Days", "value": "14"},
    {"type": "WriteLine", "text": {"js": "getDays() + 1"}}]}$example$);

-- Data
SELECT pg_temp.run($example${"type": "SetOutput", "outputName": "Decision", "outputValue": {"object": {"approved": true, "by": {"input": "name"}}}}$example$);

-- Data
SELECT pg_temp.run($example$[{"type": "SetName", "value": {"js": "`request of ${getInput('name')}`"}}, {"type": "Correlate", "correlationId": {"input": "number"}}]$example$);

-- Data
SELECT pg_temp.run($example${"type": "WriteLine", "text": "hello"}$example$);

-- Waiting and telling
SELECT pg_temp.run($example${"id": "Paid", "type": "Event", "eventName": "OrderPaid", "canStartWorkflow": true, "result": {"output": "Payment"}}$example$);

-- Waiting and telling
SELECT pg_temp.run($example${"type": "PublishEvent", "eventName": "OrderShipped", "correlationId": {"js": "getCorrelationId()"}, "payload": {"object": {"order": {"input": "number"}}}}$example$);

-- Waiting and telling
SELECT pg_temp.run($example${"id": "Check", "type": "RunTask", "taskName": "Check invoice", "payload": {"object": {"amount": {"input": "amount"}}}, "result": {"output": "Answer"}}$example$);

-- Child workflows
SELECT pg_temp.run($example${"id": "Call", "type": "ExecuteWorkflow", "workflowDefinitionId": "greet", "input": {"object": {"name": {"input": "name"}}}, "correlationId": {"input": "number"}, "waitForCompletion": true, "result": {"output": "Greeting"}}$example$);

-- Child workflows
SELECT pg_temp.run($example${"id": "Leave", "type": "DispatchWorkflow", "workflowDefinitionId": "greet", "input": {"name": "Ada"}, "waitForCompletion": true, "result": {"output": "Greeting"}}$example$);

-- Child workflows
SELECT pg_temp.run($example${"id": "Bulk", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "greet", "items": ["Ada", {"name": "Grace"}], "defaultItemInputKey": "name", "correlationIdFunction": {"js": "`greeting of ${getItem().name ?? getItem()}`"}, "childFaulted": {"type": "WriteLine", "text": {"js": "`${getChildInstanceId()} failed`"}}}$example$);

-- HTTP
SELECT pg_temp.run($example${"id": "Ordered", "type": "HttpEndpoint", "path": "orders/{number:int}", "supportedMethods": ["POST"], "canStartWorkflow": true, "routeData": {"output": "Route"}, "parsedContent": {"output": "Order"}}$example$);

-- HTTP
SELECT pg_temp.run($example${"type": "WriteHttpResponse", "statusCode": "Created", "content": {"object": {"order": {"input": "number"}}}, "responseHeaders": {"Cache-Control": "no-store"}}$example$);

-- Time
SELECT pg_temp.run($example${"id": "Pause", "type": "Delay", "timeSpan": "1 day 12 hours"}$example$);

-- Time
SELECT pg_temp.run($example${"id": "Launch", "type": "StartAt", "dateTime": "2199-01-01 09:00", "timeZone": "Europe/Berlin"}$example$);

-- Time
SELECT pg_temp.run($example${"id": "Quarter", "type": "Timer", "interval": "00:15:00", "canStartWorkflow": true, "overlap": "skip"}$example$);

-- Time
SELECT pg_temp.run($example${"id": "Evening", "type": "Cron", "cronExpression": "0 18 * * MON-FRI", "timeZone": "Europe/Berlin", "canStartWorkflow": true}$example$);

-- Running a script
SELECT pg_temp.run($example${"type": "Flowchart",
    "activities": [
        {"id": "sort", "type": "RunJavaScript", "script": "setOutcome(getInput('days') > 5 ? 'Long' : 'Short')", "possibleOutcomes": ["Long", "Short"]},
        {"id": "l", "type": "WriteLine", "text": "a long absence"},
        {"id": "s", "type": "WriteLine", "text": "a short absence"}],
    "connections": [["sort", "Long", "l"], ["sort", "Short", "s"]]}$example$);

-- Running SQL
SELECT pg_temp.run($example${"type": "Sql", "statement": "SELECT n, n * ($1)::numeric AS amount FROM generate_series(1, 2) AS n", "parameters": [{"sql": "1.10"}], "result": {"output": "Rows"}, "rowCount": {"output": "Count"}}$example$);

-- Running SQL
SELECT pg_temp.run($example${"type": "SqlQuery", "query": "SELECT n, n * {{Input.amount}} AS amount FROM generate_series(1, 2) AS n", "results": {"output": "Rows"}}$example$);

-- Running SQL
SELECT pg_temp.run($example${"type": "SqlCommand", "client": "PostgreSql", "command": "SELECT set_config('app.user', {{Input.name}}, true)", "result": {"output": "Count"}}$example$);

-- Running SQL
SELECT pg_temp.run($example${"type": "SqlSingleValue", "command": "SELECT upper({{Input.name}})", "result": {"output": "Name"}}$example$);

-- Code of other hosts
SELECT pg_temp.run($example${"type": "RunCSharp", "script": "return $\"Hello {Inputs.name}\";", "result": {"output": "Greeting"}}$example$);

-- Code of other hosts
SELECT pg_temp.run($example${"type": "RunPython", "script": "return input.get('days')", "result": {"output": "Days"}}$example$);

-- In the background
SELECT pg_temp.run($example$[{"id": "write", "type": "Sql", "runAsynchronously": true, "statement": "REFRESH MATERIALIZED VIEW sales"},
    {"type": "WriteLine", "text": "done"}]$example$);
SELECT * FROM wf_check();
