-- What each kind of burst locks and writes, in order: the order of locks, and that in which follow-ups run. A change of these lines
-- is a change of docs/internals/locking.md, or of which call comes first.
-- The order is that of the write-ahead log, so it has each row that is locked, inserted, updated or deleted, whatever statement or
-- writer of rows does it, in subtransactions, too. It does not show what is only read, locks of tables and object locks
-- (pg_locks), and what is reported to background workers at the commit.
\i tests/regress/include/burst_trace.sql
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = error;
-- The first call of a session adds the role to workflow.owners.
SELECT wf_define('{"definitionId": "order", "root": [
    {"id": "paid", "type": "Event", "eventName": "Paid"},
    {"id": "pack", "type": "RunTask", "taskName": "Pack"},
    {"type": "WriteLine", "text": "packed"}]}') \g /dev/null

-- A start. The first task or due time of a database claims its identity.
CALL pg_temp.begin_trace();
SELECT wf_start('order', correlation_id => 'o1') AS o1 \gset
SELECT * FROM pg_temp.trace();

-- An event that a call resumes by its bookmark, and one that is published.
SELECT bookmark_id AS paid FROM workflow.waiting WHERE instance = :'o1' \gset
CALL pg_temp.begin_trace();
SELECT sub_status FROM wf_resume(:'paid');
SELECT * FROM pg_temp.trace();
SELECT wf_start('order', correlation_id => 'o2') AS o2 \gset
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Paid', correlation_id => 'o2');
SELECT * FROM pg_temp.trace();

-- An event that came before its instance: the queue keeps it, and the burst that makes the bookmark is followed by its delivery.
CALL pg_temp.begin_trace();
SELECT queued_id IS NOT NULL AS queued FROM wf_publish_event('Paid', correlation_id => 'o3', keep_for => '1 day');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT wf_start('order', correlation_id => 'o3') AS o3 \gset
SELECT * FROM pg_temp.trace();

-- A task: a claim, an answer with the token, an answer without.
CALL pg_temp.begin_trace();
SELECT task_id, token FROM wf_claim_tasks('{Pack}', 'w1') \gset
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT sub_status FROM wf_complete_task(:'task_id', token => :'token');
SELECT * FROM pg_temp.trace();
SELECT task_id FROM workflow.open_tasks WHERE instance_id = :'o2' \gset
CALL pg_temp.begin_trace();
SELECT sub_status FROM wf_complete_task(:'task_id');
SELECT * FROM pg_temp.trace();

-- A cancel ends a task.
CALL pg_temp.begin_trace();
SELECT wf_cancel(:'o3');
SELECT * FROM pg_temp.trace();

-- The winner of a race removes the bookmarks and tasks of the other branches.
SELECT wf_define('{"definitionId": "race", "root": [{"type": "Fork", "joinMode": "WaitAny", "branches": [
    {"id": "go", "type": "Event", "eventName": "Go"}, {"id": "ask", "type": "RunTask", "taskName": "Ask"}, {"id": "late", "type": "Delay", "timeSpan": "1 hour"}]},
    {"id": "then", "type": "Event", "eventName": "Then"}]}') \g /dev/null
SELECT wf_start('race') AS race \gset
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go');
SELECT * FROM pg_temp.trace();

-- A new correlation id goes to the bookmarks and tasks that stay, and asks the queue again.
SELECT wf_define('{"definitionId": "named", "root": {"type": "Parallel", "activities": [
    {"id": "ask", "type": "RunTask", "taskName": "Ask"}, {"id": "paid", "type": "Event", "eventName": "Invoice"},
    [{"id": "name", "type": "Event", "eventName": "Name"}, {"type": "Correlate", "correlationId": {"input": "id"}}]]}}') \g /dev/null
SELECT wf_start('named') AS named \gset
SELECT wf_publish_event('Invoice', correlation_id => 'n1', keep_for => '1 day') \g /dev/null
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Name', '{"id": "n1"}');
SELECT * FROM pg_temp.trace();

-- A burst that publishes an event, which starts one instance and resumes another.
SELECT wf_define('{"definitionId": "heard", "root": [{"id": "trigger", "type": "Event", "eventName": "News", "canStartWorkflow": true}, {"type": "Finish"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "hears", "root": {"id": "news", "type": "Event", "eventName": "News"}}') \g /dev/null
SELECT wf_define('{"definitionId": "tells", "root": [{"type": "PublishEvent", "eventName": "News"}, {"id": "wait", "type": "Event", "eventName": "Wait"}]}') \g /dev/null
SELECT wf_start('hears') AS hears \gset
CALL pg_temp.begin_trace();
SELECT wf_start('tells') AS tells \gset
SELECT * FROM pg_temp.trace();

-- Children: one that ends at once and one that waits, each with its report to the parent.
SELECT wf_define('{"definitionId": "short", "root": {"type": "WriteLine", "text": "short"}}') \g /dev/null
SELECT wf_define('{"definitionId": "long", "root": {"id": "end", "type": "Event", "eventName": "End"}}') \g /dev/null
SELECT wf_define('{"definitionId": "parent", "root": {"type": "Parallel", "activities": [
    {"id": "one", "type": "ExecuteWorkflow", "workflowDefinitionId": "short", "waitForCompletion": true},
    {"id": "two", "type": "ExecuteWorkflow", "workflowDefinitionId": "long", "waitForCompletion": true}]}}') \g /dev/null
CALL pg_temp.begin_trace();
SELECT wf_start('parent') AS parent \gset
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('End');
SELECT * FROM pg_temp.trace();

-- A child that its parent abandons is cancelled after the burst of the parent.
SELECT wf_define('{"definitionId": "leaves", "root": {"type": "Try", "body":
    {"id": "run", "type": "ExecuteWorkflow", "workflowDefinitionId": "long", "waitForCompletion": true, "timeout": "1 min"},
    "catch": [{"body": {"id": "wait", "type": "Event", "eventName": "Wait"}}]}}') \g /dev/null
SELECT wf_start('leaves') AS leaves \gset
SET workflow.now = '2026-03-01 09:01:00+00';
CALL pg_temp.begin_trace();
SELECT wf_run_due();
SELECT * FROM pg_temp.trace();

-- An instance that continues as another one, in which something was kept for it. The parent hears of the end of the last one only.
SELECT wf_define('{"definitionId": "meter", "inputs": [{"name": "n", "type": "Int32"}], "root": [{"id": "tick", "type": "Event", "eventName": "Tick"},
    {"type": "If", "condition": {"js": "getInput(\"n\") > 0"}, "then": {"type": "ContinueAs", "input": {"js": "({n: getInput(\"n\") - 1})"}}}]}') \g /dev/null
SELECT wf_define('{"definitionId": "reads", "root": {"id": "read", "type": "ExecuteWorkflow", "workflowDefinitionId": "meter", "input": {"n": 1}, "waitForCompletion": true}}') \g /dev/null
SELECT wf_start('reads') AS reads \gset
SELECT i.instance_id AS meter FROM workflow.instance_list AS i WHERE definition_id = 'meter' \gset
SELECT wf_publish_event('Other', instance_id => :'meter', keep_for => '1 day') \g /dev/null
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Tick');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Tick');
SELECT * FROM pg_temp.trace();

-- A timer, fired by a pass.
SELECT wf_define('{"definitionId": "timer", "root": [{"id": "delay", "type": "Delay", "timeSpan": "10 min"}, {"id": "wait", "type": "Event", "eventName": "Wait"}]}') \g /dev/null
SELECT wf_start('timer') AS timer \gset
SET workflow.now = '2026-03-01 09:11:00+00';
CALL pg_temp.begin_trace();
SELECT wf_run_due();
SELECT * FROM pg_temp.trace();

-- A fault that is an incident, and its retry. The bookmark that the burst resumed is used up.
CREATE TABLE service (up boolean);
INSERT INTO service VALUES (false);
SELECT wf_define('{"definitionId": "fails", "root": [{"id": "go", "type": "Event", "eventName": "Fail"},
    {"id": "call", "type": "If", "condition": {"sql": "SELECT 1 / up::integer = 1 FROM service"}},
    {"id": "wait", "type": "Event", "eventName": "Wait"}]}') \g /dev/null
SELECT wf_start('fails') AS fails \gset
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Fail');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT sub_status FROM wf_retry(:'fails');
SELECT * FROM pg_temp.trace();
UPDATE service SET up = true;
CALL pg_temp.begin_trace();
SELECT sub_status FROM wf_retry(:'fails');
SELECT * FROM pg_temp.trace();

-- A fault that is followed by another attempt, and the bookmark of that.
UPDATE service SET up = false;
SELECT wf_define('{"definitionId": "again", "root": [
    {"id": "call", "type": "If", "condition": {"sql": "SELECT 1 / up::integer = 1 FROM service"}, "retry": {"maxAttempts": 2, "delay": "1 min"}}]}') \g /dev/null
CALL pg_temp.begin_trace();
SELECT wf_start('again') AS again \gset
SELECT * FROM pg_temp.trace();
UPDATE service SET up = true;
SET workflow.now = '2026-03-01 09:12:00+00';
CALL pg_temp.begin_trace();
SELECT wf_run_due();
SELECT * FROM pg_temp.trace();

-- An activation strategy: the row is inserted before the burst, and the end of the instance frees its key.
SELECT wf_define('{"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": {"id": "done", "type": "Event", "eventName": "Done"}}') \g /dev/null
CALL pg_temp.begin_trace();
SELECT wf_start('single') AS single \gset
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Done');
SELECT * FROM pg_temp.trace();

-- Admission: one instance runs, another waits, and begins when the first has ended.
SELECT wf_define('{"definitionId": "turn", "options": {"maxConcurrency": {"max": 1}}, "root": {"id": "turn", "type": "Event", "eventName": "Turn"}}') \g /dev/null
CALL pg_temp.begin_trace();
SELECT wf_start('turn') AS turn \gset
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT wf_start('turn') AS next \gset
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Turn', instance_id => :'turn');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT wf_run_due();
SELECT * FROM pg_temp.trace();

-- Limited tasks: each claim takes a slot. The burst that opens one gives it a lane, and no update is needed to free a slot.
SELECT wf_define('{"definitionId": "mail", "root": {"id": "send", "type": "RunTask", "taskName": "Send", "retry": {"maxAttempts": 2, "delay": "10 s"}}}') \g /dev/null
SELECT wf_limit_tasks('Send', 1);
CALL pg_temp.begin_trace();
SELECT wf_start('mail') AS mail \gset
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT task_id, token FROM wf_claim_tasks('{Send}', 'w1') \gset
SELECT * FROM pg_temp.trace();
-- A report of a failure, and another claim.
CALL pg_temp.begin_trace();
SELECT wf_fail_task(:'task_id', :'token', 'refused');
SELECT * FROM pg_temp.trace();
SET workflow.now = '2026-03-01 09:13:00+00';
CALL pg_temp.begin_trace();
SELECT task_id, token FROM wf_claim_tasks('{Send}', 'w1', lease => '1 min') \gset
SELECT * FROM pg_temp.trace();
-- The lease ends, and with it the last attempt.
SET workflow.now = '2026-03-01 09:15:00+00';
CALL pg_temp.begin_trace();
SELECT wf_run_due();
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT sub_status FROM wf_retry(:'mail');
SELECT * FROM pg_temp.trace();

-- A paused instance: what comes is kept, and meets it when the pause ends. What a burst makes meanwhile is held.
SELECT wf_define('{"definitionId": "paused", "root": {"type": "Parallel", "activities": [
    [{"id": "go", "type": "Event", "eventName": "Move"}, {"id": "ask", "type": "RunTask", "taskName": "Move it"}],
    {"id": "delay", "type": "Delay", "timeSpan": "10 min"},
    [{"id": "begun", "type": "RunTask", "taskName": "Begun"}, {"id": "more", "type": "RunTask", "taskName": "More"}]]}}') \g /dev/null
SELECT wf_start('paused') AS paused \gset
SELECT task_id, token FROM wf_claim_tasks('{Begun}', 'w1', lease => '1 hour') \gset
CALL pg_temp.begin_trace();
SELECT wf_pause(:'paused');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT sub_status FROM wf_complete_task(:'task_id', token => :'token');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Move', instance_id => :'paused');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT sub_status FROM wf_unpause(:'paused');
SELECT * FROM pg_temp.trace();

-- A schedule starts an instance. The end of that is noted at the schedule, where another run waits for it.
SELECT wf_schedule_workflow('every-minute', '* * * * *', 'hears', overlap => 'queue') \g /dev/null
SET workflow.now = '2026-03-01 09:16:00+00';
CALL pg_temp.begin_trace();
SELECT wf_run_due();
SELECT * FROM pg_temp.trace();
SET workflow.now = '2026-03-01 09:17:00+00';
SELECT wf_run_due();
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('News');
SELECT * FROM pg_temp.trace();
SELECT wf_unschedule('every-minute') \g /dev/null

-- Compensation: what has completed is a row, which the cancel leaves to the pass that compensates.
SELECT wf_define('{"definitionId": "trip", "root": [
    {"id": "book", "type": "Compensable", "body": {"type": "WriteLine", "text": "booked"}, "compensation": {"id": "undo", "type": "WriteLine", "text": "undone"}},
    {"id": "leave", "type": "Event", "eventName": "Depart"}]}') \g /dev/null
CALL pg_temp.begin_trace();
SELECT wf_start('trip') AS trip \gset
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT wf_cancel(:'trip');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT wf_run_due();
SELECT * FROM pg_temp.trace();

-- An HTTP request that waits: the burst that responds stores the response in its row.
SELECT wf_define('{"definitionId": "later", "root": [{"id": "in", "type": "HttpEndpoint", "path": "later", "canStartWorkflow": true},
    {"id": "ask", "type": "RunTask", "taskName": "Ask later"}, {"id": "out", "type": "WriteHttpResponse", "content": "later"}]}') \g /dev/null
CALL pg_temp.begin_trace();
SELECT status, wait_until FROM wf_begin_http_request('01a00000-0000-7000-8000-000000000001', 'server', 'GET', '/later');
SELECT * FROM pg_temp.trace();
SELECT task_id AS ask FROM workflow.open_tasks WHERE name = 'Ask later' \gset
CALL pg_temp.begin_trace();
SELECT sub_status FROM wf_complete_task(:'ask');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT status FROM wf_take_http_responses('server');
SELECT * FROM pg_temp.trace();

-- Search attributes: the first burst stores the values, and a later one what it has changed.
SELECT wf_define('{"definitionId": "found", "options": {"searchAttributes": {"state": {"var": "State"}}}, "variables": {"State": "new"}, "root": [
    {"id": "pay", "type": "Event", "eventName": "Pay"}, {"type": "SetVariable", "variable": "State", "value": "paid"},
    {"id": "send", "type": "Event", "eventName": "Send"}]}') \g /dev/null
CALL pg_temp.begin_trace();
SELECT wf_start('found') AS found \gset
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Pay');
SELECT * FROM pg_temp.trace();
CALL pg_temp.begin_trace();
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Send');
SELECT * FROM pg_temp.trace();
