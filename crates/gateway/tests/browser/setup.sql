-- Fixtures of the scenarios. Everything belongs to ada; ben may read and start the greeting, but not change it. The roles are those of
-- crates/wf/tests/wf/support.rs, which may have created them.
SELECT format('CREATE ROLE %I %s', name, attributes)
  FROM (VALUES ('workflow_gateway', $$LOGIN NOINHERIT PASSWORD 'gateway'$$), ('ada', $$LOGIN PASSWORD 'lovelace'$$),
               ('ben', $$LOGIN PASSWORD 'franklin'$$), ('dora', $$LOGIN PASSWORD 'nothing'$$), ('clerks', ''), ('web', '')) AS wanted (name, attributes)
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
GRANT ada, ben, dora, web TO workflow_gateway;
GRANT clerks TO ada;
SELECT wf_grant_usage('ada'), wf_grant_usage('ben'), wf_grant_usage('dora');
GRANT EXECUTE ON FUNCTION wf_begin_http_request, wf_take_http_responses TO web;
GRANT EXECUTE ON PROCEDURE wf_wait_http_responses TO web;

-- A page that reads the gateway as its visitor, if its script runs.
SELECT wf_define($json${"id": "hostile", "root": [
    {"type": "HttpEndpoint", "id": "in", "path": "hostile", "canStartWorkflow": true},
    {"type": "WriteHttpResponse", "contentType": "text/html", "content": {"js":
        "`<!doctype html><title>innocent</title><script>fetch('${getOutputFrom('in', 'QueryStringData').gateway}/elsa/api/workflow-definitions', {credentials: 'include'}).then((answer) => answer.text()).then((text) => { document.title = text }, () => { document.title = 'refused' })</script>`"}}]}$json$);

SET ROLE ada;
SELECT wf_define('{"id": "greeting", "name": "Greeting", "root": {"type": "Elsa.Flowchart", "id": "flow",
    "activities": [
        {"type": "Elsa.WriteLine", "id": "hello", "text": "Hello", "metadata": {"designer": {"position": {"x": 0, "y": 0}}}},
        {"type": "Elsa.RunTask", "id": "ask", "taskName": "Ask", "metadata": {"designer": {"position": {"x": 250, "y": 0}}}},
        {"type": "Elsa.WriteLine", "id": "bye", "text": "Bye", "metadata": {"designer": {"position": {"x": 500, "y": 0}}}}],
    "connections": [{"source": "hello", "target": "ask"}, {"source": "ask", "target": "bye"}]}}');
SELECT wf_grant('greeting', 'ben', '{start,read}');

-- ben may start it, but not read it.
SELECT wf_define('{"id": "petition", "name": "Petition", "root": [{"type": "RunTask", "id": "ask", "taskName": "Decide"}]}');
SELECT wf_grant('petition', 'ben', '{start}');
SET ROLE ben;
SELECT wf_start('petition', correlation_id => 'petition-1');
SET ROLE ada;

-- Edited by two users at once.
SELECT wf_define('{"id": "shared", "name": "Shared", "root": [{"type": "WriteLine", "id": "one", "text": "one"}]}');

-- Two versions.
SELECT wf_define('{"id": "history", "name": "History", "root": [{"type": "WriteLine", "id": "one", "text": "one"}]}');
SELECT wf_define('{"id": "history", "name": "History", "root": [{"type": "WriteLine", "id": "one", "text": "one"}, {"type": "WriteLine", "id": "two", "text": "two"}]}');

-- For actions on many at once: drafts, and waiting instances. Bulk 0 is published, and one of its instances runs.
SELECT wf_define(jsonb_build_object('id', 'bulk-' || n, 'name', 'Bulk ' || n, 'root', '[{"type": "WriteLine", "id": "say", "text": "said"}]'::jsonb), publish => false)
  FROM generate_series(1, 3) n;
SELECT wf_define('{"id": "bulk-0", "name": "Bulk 0", "root": [{"type": "RunTask", "id": "wait", "taskName": "Wait"}]}');
SELECT wf_start('bulk-0');
SELECT wf_define('{"id": "waiting", "name": "Waiting", "root": [{"type": "RunTask", "id": "wait", "taskName": "Wait"}]}');
SELECT wf_start('waiting', correlation_id => 'waiting-' || n) FROM generate_series(1, 3) n;

-- Tasks for a role, with a schema for the answer.
SELECT wf_define('{"id": "expense", "name": "Expense", "root": [
    {"type": "RunTask", "id": "approve", "taskName": "Approve expense", "payload": {"object": {"for": "a train to Turin"}}, "candidates": ["role:clerks"],
     "resultSchema": {"type": "object", "required": ["approved", "account"], "additionalProperties": false, "properties": {
        "approved": {"type": "boolean", "title": "Approve it?"}, "account": {"enum": ["travel", "training"], "title": "Account"},
        "amount": {"type": "integer", "title": "Amount", "minimum": 1, "maximum": 500}, "note": {"type": "string", "title": "Note", "minLength": 3}}}},
    {"type": "WriteLine", "id": "say", "text": {"js": "`${getLastResult().amount} for ${getLastResult().account}`"}}]}');
SELECT wf_start('expense', correlation_id => 'expense-' || n) FROM generate_series(1, 4) n;

-- One that is late at once, and that a clerk may pass on to a colleague.
SELECT wf_define('{"id": "receipt", "name": "Receipts", "root": {"type": "RunTask", "id": "check", "taskName": "Check receipt", "candidates": ["role:clerks"],
    "payload": {"object": {"subject": "A receipt of a taxi, without its date"}}, "deadline": "1 ms", "reassignable": true}}');
SELECT wf_start('receipt', correlation_id => 'receipt-1');

-- A faulted instance, with the variable that caused the fault, and a newer version of its definition.
SELECT wf_define('{"id": "quote", "name": "Quote", "variables": [{"name": "Rate", "typeName": "Int32", "value": 0}], "root": [
    {"type": "WriteLine", "id": "price", "text": {"js": "if (getRate() === 0) throw new Error(\"no rate yet\"); \"Rate \" + getRate()"}},
    {"type": "RunTask", "id": "check", "taskName": "Check quote"}]}');
SELECT wf_start('quote', correlation_id => 'quote-1', on_fault => 'store');
SELECT wf_define('{"id": "quote", "name": "Quote", "variables": [{"name": "Rate", "typeName": "Int32", "value": 0}], "root": [
    {"type": "WriteLine", "id": "price", "text": {"js": "if (getRate() === 0) throw new Error(\"no rate yet\"); \"Rate \" + getRate()"}},
    {"type": "RunTask", "id": "check", "taskName": "Check quote"},
    {"type": "WriteLine", "id": "sent", "text": "sent"}]}');

-- Long names and values without a possible line break.
SELECT wf_define(jsonb_build_object('id', repeat('endless', 10), 'name', repeat('Endless', 10),
    'variables', jsonb_build_array(jsonb_build_object('name', repeat('Variable', 8), 'typeName', 'String', 'value', repeat('value', 60))),
    'root', jsonb_build_array(jsonb_build_object('type', 'RunTask', 'id', repeat('activity', 8), 'taskName', repeat('Task', 20),
        'payload', jsonb_build_object('object', jsonb_build_object('text', repeat('payload', 40))),
        'resultSchema', jsonb_build_object('type', 'object', 'title', repeat('Form', 20), 'properties', jsonb_build_object(
            'choice', jsonb_build_object('title', repeat('Choice', 15), 'enum', jsonb_build_array(repeat('choice', 15))),
            'list', jsonb_build_object('title', repeat('List', 15), 'type', 'array', 'items', jsonb_build_object('enum', jsonb_build_array(repeat('item', 20)))),
            'when', '{"type": "string", "format": "date-time"}'::jsonb, 'any', '{}'::jsonb, 'yes', '{"type": "boolean"}'::jsonb,
            'deep', '{"type": "object", "properties": {"deeper": {"type": "object", "properties": {"deepest": {"type": "string"}}}}}'::jsonb))))));
SELECT wf_start(repeat('endless', 10), correlation_id => repeat('correlation', 10));
SELECT wf_define(jsonb_build_object('id', 'fault', 'root', jsonb_build_array(jsonb_build_object('type', 'Fault', 'id', repeat('fault', 12),
    'code', repeat('code', 10), 'message', repeat('message', 30)))));
SELECT wf_start('fault', on_fault => 'store');

-- For those on duty: incidents with one cause, dead letters, a limit of tasks, and a schedule.
SELECT wf_define('{"id": "export", "name": "Export", "root": [{"type": "Sql", "id": "divide", "statement": "SELECT 1 / 0"}]}');
SELECT wf_start('export', on_fault => 'store') FROM generate_series(1, 3);
SELECT wf_publish_event('Paid', correlation_id => 'lost-' || n, keep_for => '1 day') FROM generate_series(1, 3) n;
RESET ROLE;
UPDATE workflow.bookmark_queue SET expires_at = created_at WHERE correlation_id LIKE 'lost-%';
SET ROLE ada;
SELECT wf_run_due();
SELECT wf_schedule('purge', '0 3 29 2 *', 'DELETE FROM log');
SELECT wf_limit_tasks('Pick', 2, 10, '1 minute', key => 'customer');

-- What people see: ben asks for leave, and ada decides. Dora has nothing to do.
SELECT wf_define('{"id": "leave", "name": "Leave of absence", "description": "Ask for days off. The clerks decide within two days.",
    "inputs": [{"name": "firstDay", "type": "String", "required": true, "displayName": "First day", "schema": {"format": "date"}},
               {"name": "days", "type": "Int32", "required": true, "displayName": "Number of days", "schema": {"minimum": 1, "maximum": 30}},
               {"name": "half", "type": "Boolean", "displayName": "The last one only half"},
               {"name": "why", "type": "String", "displayName": "Reason", "schema": {"maxLength": 1000}}],
    "outputs": [{"name": "Decision"}],
    "root": {"id": "Approve leave", "type": "Approve", "by": "role:clerks", "not": ["starter"], "abstain": true, "deadline": "2 days",
        "subject": {"js": "`${getInput(\"days\")} days of leave from ${getInput(\"firstDay\")}`"},
        "details": {"object": {"firstDay": {"input": "firstDay"}, "days": {"input": "days"}, "reason": {"input": "why"}}},
        "result": {"output": "Decision"}}}');
SELECT wf_grant('leave', 'ben', '{start}');
RESET ROLE;
SET ROLE ben;
SELECT wf_start('leave', jsonb_build_object('firstDay', '2030-07-0' || n, 'days', n + 1, 'why', 'The summer'), correlation_id => 'leave-' || n) FROM generate_series(1, 3) n;
SET ROLE ada;
