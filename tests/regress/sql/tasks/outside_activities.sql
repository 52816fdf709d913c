-- Activities whose work a program outside does: SendHttpRequest, FlowSendHttpRequest, DownloadHttpFile, SendEmail. They open tasks with the
-- name of their type; the answer decides on the way on.
\set VERBOSITY default
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET workflow.write_line_notice = on;

SELECT wf_define('{"definitionId": "charge", "variables": {"Code": null, "Receipt": null}, "root": [
    {"id": "call", "type": "SendHttpRequest", "url": "https://bank.example/charges", "method": "POST", "contentType": "application/json",
        "content": {"object": {"amount": {"input": "amount"}}}, "authorization": {"object": {"secret": "bank"}},
        "requestHeaders": {"object": {"X-Shop": "1"}}, "retry": {"maxAttempts": 3, "delay": "PT1M"},
        "expectedStatusCodes": [{"statusCode": 201, "activity": {"type": "WriteLine", "text": "charged"}},
                                {"statusCode": 402, "activity": {"type": "WriteLine", "text": "declined"}}],
        "unmatchedStatusCode": {"type": "WriteLine", "text": "unmatched"}, "failedToConnect": {"type": "WriteLine", "text": "no connection"},
        "timeout": {"type": "WriteLine", "text": "no response"},
        "statusCode": {"var": "Code"}, "parsedContent": {"var": "Receipt"}},
    {"type": "WriteLine", "text": {"js": "`${getCode()} ${JSON.stringify(getReceipt())}`"}}]}');

-- The inputs go out by Elsa's names. A secret goes out as its name.
SELECT wf_start('charge', '{"amount": 60}') AS id \gset
SELECT task_id, token, name, jsonb_pretty(payload) AS payload, attempt, max_attempts FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset t_
\echo :t_name :t_attempt :t_max_attempts
\echo :t_payload
SELECT waits_for, activity FROM workflow.waiting WHERE instance_id = :'id';

-- What is no answer is refused, and the task stays open and held.
SELECT wf_complete_task(:'t_task_id', '"fine"', token => :'t_token');
SELECT wf_complete_task(:'t_task_id', '{"statusCode": "201"}', token => :'t_token');
SELECT wf_complete_task(:'t_task_id', '{"statusCode": 1000}', token => :'t_token');
SELECT wf_complete_task(:'t_task_id', '{"statusCode": 201, "headers": []}', token => :'t_token');
SELECT wf_complete_task(:'t_task_id', '{"error": "dns"}', token => :'t_token');
SELECT wf_complete_task(:'t_task_id', token => :'t_token');
SELECT outcome, message FROM wf_complete_tasks(jsonb_build_array(jsonb_build_object('taskId', :'t_task_id', 'token', :'t_token', 'result', 7)));
SELECT name, attempt, lease_until IS NOT NULL AS is_held FROM workflow.open_tasks;

-- An answer that may be another one later is a failed attempt while attempts are left.
SELECT sub_status FROM wf_complete_task(:'t_task_id', '{"statusCode": 503}', token => :'t_token');
SELECT attempt, available_at, last_error FROM workflow.open_tasks;
SELECT wf_complete_task(:'t_task_id', '{"statusCode": 503}', token => :'t_token');
SET workflow.now = '2026-03-01 09:01:00+00';
SELECT token, attempt FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset t_
SELECT sub_status FROM wf_complete_task(:'t_task_id', '{"error": "connect", "message": "connection refused"}', token => :'t_token');
SELECT attempt, available_at, last_error FROM workflow.open_tasks;
-- After the last attempt it takes its port.
SET workflow.now = '2026-03-01 09:02:00+00';
SELECT token, attempt FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset t_
\echo :t_attempt
SELECT sub_status FROM wf_complete_task(:'t_task_id', '{"statusCode": 503, "content": "busy"}', token => :'t_token');
-- The same answer again, whose COMMIT got lost.
SELECT sub_status FROM wf_complete_task(:'t_task_id', '{"statusCode": 503, "content": "busy"}', token => :'t_token');

-- Each way on. An answer without a token is that of a person, who does not try again.
SELECT wf_start('charge', '{"amount": 1}') AS id \gset
SELECT sub_status FROM workflow.tasks t, wf_complete_task(t.id, '{"statusCode": 201, "headers": {"X": "1"}, "content": {"receipt": 4}}') WHERE t.instance_id = :'id';
SELECT wf_start('charge', '{"amount": 1}') AS id \gset
SELECT sub_status FROM workflow.tasks t, wf_complete_task(t.id, '{"statusCode": 402}') WHERE t.instance_id = :'id';
SELECT wf_start('charge', '{"amount": 1}') AS id \gset
SELECT sub_status FROM workflow.tasks t, wf_complete_task(t.id, '{"error": "timeout", "message": "30 s"}') WHERE t.instance_id = :'id';
SELECT wf_start('charge', '{"amount": 1}') AS id \gset
SELECT sub_status FROM workflow.tasks t, wf_resume(t.id, '{"error": "connect"}') WHERE t.instance_id = :'id';
SELECT wf_start('charge', '{"amount": 1}') AS id \gset
SELECT wf_resume(t.id, '"fine"') FROM workflow.tasks t WHERE t.instance_id = :'id';

-- A worker that gives up: the fault of the activity.
SELECT task_id, token FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset
SELECT wf_fail_task(:'task_id', :'token', 'no secret "bank" for this host', code => 'secret_denied', retry => false);
SELECT activity_id, sqlstate, code, message FROM workflow.incidents WHERE instance_id = :'id';

-- In a flowchart.
SELECT wf_define('{"definitionId": "stock", "root": {"type": "Flowchart", "activities": [
    {"id": "ask", "type": "FlowSendHttpRequest", "url": "https://stock.example/7", "expectedStatusCodes": [200, 404], "enableResiliency": true},
    {"id": "there", "type": "WriteLine", "text": "in stock"}, {"id": "gone", "type": "WriteLine", "text": "sold out"},
    {"id": "done", "type": "WriteLine", "text": "done"}, {"id": "down", "type": "WriteLine", "text": "down"}],
    "connections": [["ask", "200", "there"], ["ask", "404", "gone"], ["ask", "Done", "done"], ["ask", "Failed to connect", "down"]]}}');
SELECT wf_start('stock') AS id \gset
SELECT task_id, token, max_attempts FROM wf_claim_tasks('{Elsa.FlowSendHttpRequest}') \gset
\echo :max_attempts
SELECT sub_status FROM wf_complete_task(:'task_id', '{"statusCode": 404}', token => :'token');
SELECT wf_start('stock') AS id \gset
SELECT sub_status FROM workflow.tasks t, wf_complete_task(t.id, '{"error": "connect"}') WHERE t.instance_id = :'id';

-- A file, and a message.
SELECT wf_define('{"definitionId": "prices", "variables": {"File": null}, "root": [
    {"id": "get", "type": "DownloadHttpFile", "url": "https://files.example/prices.csv", "result": {"var": "File"}},
    {"type": "WriteLine", "text": {"js": "JSON.stringify(getFile())"}},
    {"id": "mail", "type": "SendEmail", "to": ["ada@example.com", "ben@example.com"], "subject": "Prices", "body": "<p>Here they are.</p>",
        "attachments": {"js": "[getFile()]"}, "error": {"type": "WriteLine", "text": "no mail"}}]}');
SELECT wf_start('prices') AS id \gset
SELECT wf_complete_task(t.id, '{"statusCode": 200, "content": [1]}') FROM workflow.tasks t WHERE t.instance_id = :'id';
SELECT sub_status FROM workflow.tasks t, wf_complete_task(t.id, '{"statusCode": 200, "headers": {"Content-Type": "text/csv"}, "content": "YTtiCg=="}') WHERE t.instance_id = :'id';
SELECT jsonb_pretty(payload) AS payload FROM wf_claim_tasks('{Elsa.SendEmail}') \gset
\echo :payload
SET workflow.now = '2026-03-01 10:00:00+00';
SELECT wf_complete_task(t.id, '7') FROM workflow.tasks t WHERE t.instance_id = :'id' AND name = 'Elsa.SendEmail';
SELECT sub_status FROM workflow.tasks t, wf_complete_task(t.id, '{"error": "send", "message": "mailbox full"}') WHERE t.instance_id = :'id' AND name = 'Elsa.SendEmail';

-- A message is tried again after "send", but not after "refused".
SELECT wf_define('{"definitionId": "letter", "root": {"type": "SendEmail", "to": ["ada@example.com"], "retry": {"maxAttempts": 3, "delay": "PT1M"},
    "error": {"type": "WriteLine", "text": "no mail"}}}');
SELECT wf_start('letter') AS id \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.SendEmail}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"error": "send", "message": "mailbox full"}', token => :'token');
SET workflow.now = '2026-03-01 10:01:00+00';
SELECT task_id, token, attempt FROM wf_claim_tasks('{Elsa.SendEmail}') \gset
SELECT sub_status, :attempt AS attempt FROM wf_complete_task(:'task_id', '{"error": "refused", "message": "no such mailbox"}', token => :'token');

-- An instance that is cancelled takes its task along; a stimulus does not complete a task that is held.
SELECT wf_start('stock') AS id \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.FlowSendHttpRequest}') \gset
SELECT wf_cancel(:'id');
SELECT status FROM workflow.tasks WHERE id = :'task_id';
SELECT wf_complete_task(:'task_id', '{"statusCode": 200}', token => :'token');

-- A port runs after the answer, so neither the lease of the last attempt nor the time for the first claim ends it.
SELECT wf_define('{"definitionId": "after", "root": [{"id": "call", "type": "SendHttpRequest", "url": "https://a.example", "startTimeout": "1 hour",
    "retry": {"maxAttempts": 1}, "expectedStatusCodes": [{"statusCode": 200, "activity": {"id": "look", "type": "RunTask", "taskName": "look"}}]}]}') \g /dev/null
SELECT wf_start('after') AS id \gset
SELECT activity_id, name FROM workflow.bookmarks WHERE instance_id = :'id' ORDER BY name;
SELECT task_id, token FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset
SELECT activity_id, name FROM workflow.bookmarks WHERE instance_id = :'id' ORDER BY name;
SELECT sub_status FROM wf_complete_task(:'task_id', '{"statusCode": 200}', token => :'token');
SELECT activity_id, name FROM workflow.bookmarks WHERE instance_id = :'id' ORDER BY name;
SELECT wf_start('after') AS id \gset
SELECT sub_status FROM workflow.tasks t, wf_complete_task(t.id, '{"statusCode": 200}') WHERE t.instance_id = :'id';
SELECT activity_id, name FROM workflow.bookmarks WHERE instance_id = :'id' ORDER BY name;
-- A timeout that ends the port does not send the request again; a later attempt has a time for its first claim, too.
SELECT wf_define('{"definitionId": "late", "root": [{"id": "call", "type": "SendHttpRequest", "url": "https://a.example", "timeout": "2 hours",
    "startTimeout": "1 hour", "retry": {"maxAttempts": 3, "delay": "0 s"},
    "expectedStatusCodes": [{"statusCode": 402, "activity": {"id": "look", "type": "RunTask", "taskName": "look"}}]}]}') \g /dev/null
SELECT wf_start('late') AS id \gset
SET workflow.now = '2026-03-01 11:05:00+00';
SELECT wf_run_due() \g /dev/null
SELECT activity_id, name FROM workflow.bookmarks WHERE instance_id = :'id' ORDER BY name;
SELECT sub_status FROM workflow.tasks t, wf_complete_task(t.id, '{"statusCode": 402}') WHERE t.instance_id = :'id' AND t.status = 'Open';
SELECT activity_id, name FROM workflow.bookmarks WHERE instance_id = :'id' ORDER BY name;
SET workflow.now = '2026-03-01 16:00:00+00';
SELECT wf_run_due() \g /dev/null
SELECT name, status FROM workflow.tasks WHERE instance_id = :'id' ORDER BY id;
SELECT sub_status FROM workflow.instances WHERE id = :'id';
-- While the instance is paused the answer is stored, and ends both as well.
SELECT wf_start('after') AS id \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset
SELECT wf_pause(:'id') \g /dev/null
SELECT sub_status FROM wf_complete_task(:'task_id', '{"statusCode": 200}', token => :'token');
SELECT activity_id, name FROM workflow.bookmarks WHERE instance_id = :'id' ORDER BY name;
SELECT wf_unpause(:'id') \g /dev/null
SELECT wf_run_due() \g /dev/null
SELECT activity_id, name FROM workflow.bookmarks WHERE instance_id = :'id' ORDER BY name;

-- The last failure that a policy permits is a fault where nothing is said of it, and wf_retry sends the request again.
SELECT wf_define('{"definitionId": "flaky", "root": [{"id": "call", "type": "SendHttpRequest", "url": "https://a.example", "retry": {"maxAttempts": 1},
    "failedToConnect": {"type": "WriteLine", "text": "no connection"}}, {"type": "WriteLine", "text": "after"}]}') \g /dev/null
SELECT wf_start('flaky') AS id \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"statusCode": 503, "content": "busy"}', token => :'token');
SELECT sub_status FROM wf_complete_task(:'task_id', '{"statusCode": 503, "content": "busy"}', token => :'token');
SELECT wf_complete_task(:'task_id', '{"statusCode": 200}', token => :'token');
SELECT status, result FROM workflow.tasks WHERE id = :'task_id';
SELECT activity_id, message, code FROM workflow.incidents WHERE instance_id = :'id';
SELECT sub_status FROM wf_retry(:'id');
SELECT task_id, token FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"error": "connect"}', token => :'token');
-- Both are shown as failures: the one that faulted, and the one that a port handles.
SELECT substr(line, 22) AS story FROM wf_explain(:'id') AS line WHERE line LIKE '%attempt%' OR line LIKE '%faulted:%';
-- In a flowchart a connection for it says so.
SELECT wf_define('{"definitionId": "flow", "root": {"type": "Flowchart", "activities": [
    {"id": "call", "type": "FlowSendHttpRequest", "url": "https://a.example", "retry": {"maxAttempts": 1}}, {"id": "after", "type": "WriteLine", "text": "after"},
    {"id": "late", "type": "WriteLine", "text": "late"}], "connections": [["call", "after"], ["call", "Timeout", "late"]]}}') \g /dev/null
SELECT wf_start('flow') AS id \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.FlowSendHttpRequest}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"error": "timeout"}', token => :'token');
SELECT wf_start('flow') AS id \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.FlowSendHttpRequest}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"statusCode": 503}', token => :'token');
-- Without expected codes none is unmatched, as in Elsa.
SELECT wf_define('{"definitionId": "none", "root": {"type": "Flowchart", "activities": [
    {"id": "call", "type": "FlowSendHttpRequest", "url": "https://a.example", "expectedStatusCodes": [], "retry": {"maxAttempts": 1}},
    {"id": "else", "type": "WriteLine", "text": "else"}], "connections": [["call", "Unmatched status code", "else"]]}}') \g /dev/null
SELECT wf_start('none') AS id \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.FlowSendHttpRequest}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"statusCode": 503}', token => :'token');
SELECT wf_define('{"definitionId": "posted", "root": [{"id": "mail", "type": "SendEmail", "to": ["a@example.com"], "subject": "s", "body": "b", "retry": {"maxAttempts": 1}}]}') \g /dev/null
SELECT wf_start('posted') AS id \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.SendEmail}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"error": "send", "message": "greylisted"}', token => :'token');

-- What a port runs is not repeated by the policy of the request.
SELECT wf_define('{"definitionId": "declined", "root": [{"id": "call", "type": "SendHttpRequest", "url": "https://a.example", "retry": {"maxAttempts": 3, "delay": "0 s"},
    "expectedStatusCodes": [{"statusCode": 402, "activity": {"id": "no", "type": "Fault", "message": "the card was declined"}}]}]}') \g /dev/null
SELECT wf_start('declined') AS id \gset
SELECT task_id, token FROM wf_claim_tasks('{Elsa.SendHttpRequest}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"statusCode": 402}', token => :'token');
SELECT activity_id, message FROM workflow.incidents WHERE instance_id = :'id';
SELECT count(*) FROM workflow.tasks WHERE instance_id = :'id';

SET workflow.now = '2026-03-01 10:01:00+00';

-- Elsa's form: what Studio exports runs, and is exported as it came.
SELECT wf_define('{"definitionId": "elsa", "root": {"id": "flow", "nodeId": "Workflow1:flow", "type": "Elsa.Flowchart", "version": 1, "activities": [
    {"id": "call", "nodeId": "Workflow1:flow:call", "type": "Elsa.SendHttpRequest", "version": 1, "customProperties": {"canStartWorkflow": false},
     "url": {"typeName": "Uri", "expression": {"type": "Literal", "value": "https://a.example"}},
     "method": {"typeName": "String", "expression": {"type": "Literal", "value": "PUT"}},
     "authorization": {"typeName": "String", "expression": {"type": "Literal", "value": "Bearer x"}},
     "requestHeaders": {"typeName": "Elsa.Http.Models.HttpHeaders, Elsa.Http", "expression": {"type": "Literal", "value": "{\"X-Shop\": \"1\"}"}},
     "enableResiliency": {"typeName": "Boolean", "expression": {"type": "Literal", "value": true}},
     "content": null, "contentType": null, "disableAuthorizationHeaderValidation": null, "parsedContent": null, "responseHeaders": null, "result": null,
     "statusCode": {"typeName": "Int32", "memoryReference": {"id": "v1"}},
     "expectedStatusCodes": [{"statusCode": 200, "activity": {"id": "ok", "nodeId": "Workflow1:flow:call:ok", "type": "Elsa.WriteLine", "version": 1,
        "text": {"typeName": "String", "expression": {"type": "Literal", "value": "ok"}}}}],
     "unmatchedStatusCode": null, "failedToConnect": null,
     "timeout": {"id": "late", "nodeId": "Workflow1:flow:call:late", "type": "Elsa.WriteLine", "version": 1,
        "text": {"typeName": "String", "expression": {"type": "Literal", "value": "late"}}}}], "connections": []},
    "variables": [{"id": "v1", "name": "Status", "typeName": "Int32"}]}');
SELECT wf_start('elsa') AS id \gset
SELECT payload, max_attempts FROM wf_claim_tasks('{Elsa.SendHttpRequest}');
SET workflow.now = '2026-03-01 11:00:00+00';
SELECT sub_status FROM workflow.tasks t, wf_complete_task(t.id, '{"statusCode": 200}') WHERE t.instance_id = :'id';
SELECT jsonb_pretty(wf_export('elsa') #> '{root,activities,0,expectedStatusCodes}') AS codes, wf_export('elsa') #>> '{root,activities,0,timeout,id}' AS timeout;

-- Wrong definitions.
SELECT path, message FROM wf_validate('{"definitionId": "x", "root": [{"type": "SendHttpRequest"}, {"type": "SendHttpRequest", "url": "a", "timeout": 30},
    {"type": "SendHttpRequest", "url": "a", "expectedStatusCodes": [{"statusCode": "200"}, {"code": 200}, 200]}, {"type": "SendEmail", "too": ["a"]},
    {"type": "FlowSendHttpRequest", "url": "a", "expectedCodes": [200]}, {"type": "DownloadHttpFile", "uri": "a"}]}');
