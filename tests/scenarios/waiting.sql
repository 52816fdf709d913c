-- One instance, or more, that waits at every kind of bookmark, and one that has faulted. Its correlation id is the activity that it
-- waits in. Each ends with its name 'done'. Nothing here may fire before it is asked to: workers are off.
SET client_min_messages = error;
CREATE ROLE clerk LOGIN;
SELECT wf_grant_usage('clerk');
CREATE TABLE public.notes (what text NOT NULL);
GRANT SELECT, INSERT ON public.notes TO clerk;

CREATE FUNCTION public.ask(context jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT '{"bookmarks": [{"name": "Acme.Ask", "payload": {"office": 1}, "metadata": {"floor": 2}, "callback": "public.answered"}]}'::jsonb $$;
CREATE FUNCTION public.answered(context jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('outputs', jsonb_build_object('by', context -> 'input' -> 'by'), 'complete', true) $$;
SELECT wf_register_activity('Acme.Ask', 'public.ask(jsonb)', outputs => '[{"name": "by", "type": "String"}]');
CREATE FUNCTION public.bells(context jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT '{"bell": 1}'::jsonb $$;
CREATE FUNCTION public.ring(context jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT '{"bookmarks": [{"name": "Acme.Bell", "payload": {"bell": 1}}]}'::jsonb WHERE NOT (context ->> 'isTrigger')::boolean
   UNION ALL SELECT '{}' WHERE (context ->> 'isTrigger')::boolean $$;
SELECT wf_register_activity('Acme.Bell', 'public.ring(jsonb)', kind => 'trigger', payloads => 'public.bells(jsonb)');

-- A dead letter. Before all that is due, because wf_run_due fires that as well.
SELECT set_config('workflow.now', (now() - interval '2 hours')::text, false);
SELECT wf_enqueue_bookmark(activity_id => 'kept', correlation_id => 'dead', keep_for => '1 hour');
RESET workflow.now;
SELECT wf_run_due();

-- waiting NAME ACTIVITY [OPTIONS]: a workflow that waits in this activity, between two others.
CREATE FUNCTION pg_temp.waiting(name text, activity jsonb, options jsonb DEFAULT '{}') RETURNS void LANGUAGE sql AS $$
    SELECT wf_define(jsonb_build_object('definitionId', name, 'options', options, 'variables', '{"Answer": null, "Items": ["a", "b"]}'::jsonb, 'root', jsonb_build_array(
        '{"type": "WriteLine", "text": "before"}'::jsonb, activity, '{"type": "SetName", "value": "done"}'::jsonb)));
    SELECT wf_start(name, correlation_id => name)
$$;
SELECT wf_define('{"definitionId": "child", "outputs": [{"name": "Result"}], "root": [
    {"id": "ask", "type": "RunTask", "taskName": "Child"}, {"type": "SetOutput", "outputName": "Result", "outputValue": {"js": "getOutputFrom(''ask'')"}},
    {"type": "SetName", "value": "done"}]}');
SELECT wf_define('{"definitionId": "part", "name": "Part", "options": {"usableAsActivity": true}, "root": [{"type": "Event", "eventName": "Part"}]}');

SELECT pg_temp.waiting(name, activity) FROM (VALUES
    ('Event', '{"type": "Event", "eventName": "Go", "result": {"var": "Answer"}}'::jsonb),
    ('RunTask', '{"type": "RunTask", "taskName": "Sign", "payload": {"object": {"of": "Ada"}}, "result": {"var": "Answer"}}'),
    ('Delay', '{"type": "Delay", "timeSpan": "00:00:00.001"}'),
    ('StartAt', '{"type": "StartAt", "dateTime": {"sql": "clock_timestamp() + interval ''1 ms''"}}'),
    ('Timer', '{"type": "Timer", "interval": "00:00:01"}'),
    ('Cron', '{"type": "Cron", "cronExpression": "* * * * * *"}'),
    ('HttpEndpoint', '{"type": "HttpEndpoint", "path": "sign", "supportedMethods": ["POST"]}'),
    ('ScheduledCommand', '{"type": "ScheduledCommand", "topLevel": true, "statement": "INSERT INTO public.notes VALUES (''command'')"}'),
    ('BackgroundActivity', '{"type": "Sql", "runAsynchronously": true, "statement": "INSERT INTO public.notes VALUES (''background'')"}'),
    ('ExecuteWorkflow', '{"type": "ExecuteWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true, "result": {"var": "Answer"}}'),
    ('DispatchWorkflow', '{"type": "DispatchWorkflow", "workflowDefinitionId": "child", "waitForCompletion": true}'),
    ('BulkDispatchWorkflows', '{"type": "BulkDispatchWorkflows", "workflowDefinitionId": "child", "items": {"var": "Items"}, "waitForCompletion": true}'),
    ('Acme.Ask', '{"type": "Acme.Ask", "by": {"var": "Answer"}}'),
    ('Acme.Bell', '{"type": "Acme.Bell"}'),
    ('WorkflowDefinitionActivity', '{"type": "Part"}'),
    ('Composite', '{"type": "Composite", "root": [{"type": "Event", "eventName": "Inside"}]}'),
    ('If', '{"type": "If", "condition": true, "then": {"type": "Event", "eventName": "Inside"}}'),
    ('Switch', '{"type": "Switch", "cases": [{"label": "one", "condition": true, "activity": {"type": "Event", "eventName": "Inside"}}]}'),
    ('While', '{"type": "While", "condition": {"js": "getAnswer() == null"}, "body": {"type": "Event", "eventName": "Inside", "result": {"var": "Answer"}}}'),
    ('For', '{"type": "For", "start": 1, "end": 1, "body": {"type": "Event", "eventName": "Inside"}}'),
    ('ForEach', '{"type": "ForEach", "items": ["only"], "body": {"type": "Event", "eventName": "Inside"}}'),
    ('ParallelForEach', '{"type": "ParallelForEach", "items": {"var": "Items"}, "body": {"type": "Event", "eventName": "Inside"}}'),
    ('Parallel', '{"type": "Parallel", "activities": [{"type": "Event", "eventName": "Inside"}, {"type": "Event", "eventName": "Go"}]}'),
    ('Fork', '{"type": "Fork", "joinMode": "WaitAny", "branches": [{"type": "Event", "eventName": "Inside"}, {"type": "Delay", "timeSpan": "1000.00:00:00"}]}'),
    ('Flowchart', '{"type": "Flowchart", "activities": [{"id": "fork", "type": "FlowFork", "branches": ["a", "b"]}, {"id": "a", "type": "Event", "eventName": "Inside"},
        {"id": "b", "type": "RunTask", "taskName": "Sign"}, {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}],
        "connections": [["fork", "a", "a"], ["fork", "b", "b"], ["a", "join"], ["b", "join"]]}'),
    ('FlowchartTokens', '{"type": "Flowchart", "mode": "TokenBased", "activities": [{"id": "a", "type": "Event", "eventName": "Inside"},
        {"id": "b", "type": "RunTask", "taskName": "Sign"}], "connections": [["a", "b"]]}'),
    ('StateMachine', '{"type": "StateMachine", "states": ["Open", "Closed"], "transitions": [{"from": "Open", "to": "Closed", "trigger": {"type": "Event", "eventName": "Inside"}}]}')
) AS v (name, activity);
SELECT pg_temp.waiting('Faulted', '{"type": "Sql", "statement": "SELECT 1 / count(*) FROM public.notes WHERE what = ''repaired''"}');

-- What came with 0.3.0. Whatever is due is due a second after it began to wait.
SELECT wf_define('{"definitionId": "next", "root": [{"type": "SetName", "value": "done"}]}');
SELECT pg_temp.waiting(name, activity, options) FROM (VALUES
    ('Retry', '{"type": "Sql", "statement": "SELECT 1 / count(*) FROM public.notes WHERE what = ''repaired''", "retry": {"maxAttempts": 9, "delay": "1 s"}}'::jsonb, '{}'::jsonb),
    ('Strategy', '{"type": "RunTask", "taskName": "Strategy", "customProperties": {"resilienceStrategy": {"mode": "Expression",
        "expression": {"type": "JavaScript", "value": "({maxRetryAttempts: getItems().length, delay: ''00:00:01''})"}}}}', '{}'),
    ('Timeout', '{"type": "Try", "body": {"type": "RunTask", "taskName": "Late", "timeout": "1 s"}, "catch": [{"on": ["timeout"], "body": {"type": "WriteLine", "text": "too late"}}]}', '{}'),
    ('StartTimeout', '{"type": "Try", "body": {"type": "RunTask", "taskName": "Late", "startTimeout": "1 s"}, "catch": [{"on": ["timeout"], "body": {"type": "WriteLine", "text": "too late"}}]}', '{}'),
    ('RunTimeout', '{"type": "Event", "eventName": "Inside"}', '{"timeout": "1000 days"}'),
    ('RunOver', '{"type": "Event", "eventName": "Never"}', '{"timeout": "1 s"}'),
    ('Leased', '{"type": "RunTask", "taskName": "Leased", "retry": {"maxAttempts": 3}}', '{}'),
    ('Lease', '{"type": "Try", "body": {"type": "RunTask", "taskName": "Last", "retry": {"maxAttempts": 1}}, "catch": [{"body": {"type": "WriteLine", "text": "lost"}}]}', '{}'),
    ('Answer', '{"type": "Sequence", "activities": [{"type": "RunTask", "taskName": "Answered", "result": {"var": "Answer"}},
        {"type": "Sql", "statement": "INSERT INTO public.notes VALUES (''answer'')"}]}', '{}'),
    ('Assigned', '{"type": "RunTask", "taskName": "Assigned", "assignee": "role:clerk", "resultSchema": {"type": "string"}, "result": {"var": "Answer"}}', '{}'),
    ('Approve', '{"id": "Approve", "type": "Approve", "by": ["role:clerk", "Bob"], "rule": "any", "subject": "Leave", "deadline": "30 days", "result": {"var": "Answer"}}', '{}'),
    ('Reminded', '{"type": "RunTask", "taskName": "Reminded", "candidates": ["role:clerk"], "notify": {"event": "Reminded"}, "reminders": ["20 days"],
        "deadline": "30 days", "onDeadline": "raise", "raiseTo": 5, "result": {"var": "Answer"}}', '{}'),
    ('Paused', '{"type": "Parallel", "activities": [{"type": "Event", "eventName": "Pause"}, {"type": "Delay", "timeSpan": "00:00:01"},
        [{"type": "RunTask", "taskName": "Paused"}, {"type": "WriteLine", "text": "answered"}]]}', '{}'),
    ('Compensation', '{"type": "Sequence", "activities": [{"type": "Compensable", "body": {"type": "WriteLine", "text": "booked"},
        "compensation": {"type": "Sql", "statement": "INSERT INTO public.notes VALUES (''compensation'')"}}, {"type": "Event", "eventName": "Never"}]}', '{}'),
    ('Compensate', '{"type": "Sequence", "activities": [{"type": "Compensable", "body": {"type": "WriteLine", "text": "booked"},
        "compensation": {"type": "Event", "eventName": "Inside"}}, {"type": "Compensate"}]}', '{}'),
    ('Compensable', '{"type": "Sequence", "activities": [{"type": "Compensable", "body": {"type": "Event", "eventName": "Inside"}, "cancellation": {"type": "WriteLine", "text": "dropped"}}]}', '{}'),
    ('CancellationScope', '{"type": "CancellationScope", "body": {"type": "Event", "eventName": "Inside"}, "cancellation": {"type": "WriteLine", "text": "dropped"}}', '{}'),
    ('ContinueAs', '{"type": "Sequence", "activities": [{"type": "Compensable", "body": {"type": "WriteLine", "text": "booked"}, "confirmation": {"type": "Event", "eventName": "Inside"}},
        {"type": "ContinueAs", "definitionId": "next", "confirm": true}]}', '{}'),
    ('Trimmed', '{"type": "While", "condition": {"js": "getAnswer() !== ''enough''"}, "body": {"type": "Event", "eventName": "Tick", "result": {"var": "Answer"}}}', '{"journal": {"keep": 5}}'),
    ('Try', '{"type": "Try", "body": {"type": "Event", "eventName": "Inside"}}', '{}'),
    ('Catch', '{"type": "Try", "body": {"type": "Fault", "message": "broken"}, "catch": [{"body": {"type": "Event", "eventName": "Inside"}}]}', '{}'),
    ('Finally', '{"type": "Try", "body": {"type": "WriteLine", "text": "tried"}, "finally": {"type": "Event", "eventName": "Inside"}}', '{}'),
    ('SendHttpRequest', '{"type": "SendHttpRequest", "url": "https://a.example", "enableResiliency": true, "statusCode": {"var": "Answer"},
        "expectedStatusCodes": [{"statusCode": 200, "activity": {"type": "Event", "eventName": "Received"}}]}', '{}'),
    ('FlowSendHttpRequest', '{"type": "Flowchart", "activities": [{"id": "call", "type": "FlowSendHttpRequest", "url": "https://a.example", "statusCode": {"var": "Answer"}},
        {"id": "ok", "type": "Event", "eventName": "Received"}], "connections": [["call", "200", "ok"]]}', '{}'),
    ('DownloadHttpFile', '{"type": "DownloadHttpFile", "url": "https://a.example/a.csv", "result": {"var": "Answer"}}', '{}'),
    ('SendEmail', '{"type": "SendEmail", "to": ["ada@example.com"], "subject": "Hello"}', '{}'),
    ('SubmitAlterationPlan', '{"type": "SubmitAlterationPlan", "params": {"alterations": [{"type": "Cancel"}], "filter": {"names": ["nobody"]}}, "result": {"var": "Answer"}}', '{}'),
    ('MigrateInstances', '{"type": "MigrateInstances", "definitionId": "next", "version": 1, "result": {"var": "Answer"}}', '{}')
) AS v (name, activity, options);
SELECT wf_limit_tasks('Leased', 1);
SELECT wf_claim_task(task_id, 'worker') FROM workflow.open_tasks WHERE name IN ('Leased', 'Last');
SELECT wf_publish_event('Tick', to_jsonb(n)) FROM generate_series(1, 45) AS n;
SELECT wf_cancel(id) FROM workflow.instances WHERE correlation_id = 'Compensation';
-- The answer of a worker lends no rights to the SQL that follows it.
SELECT wf_grant_worker('clerk', '{Answered}');
SET ROLE clerk;
SELECT wf_complete_task(task_id, '"yes"', token => token) FROM wf_claim_tasks('{Answered}');
RESET ROLE;
-- What comes for a paused instance waits with it.
SELECT task_id AS task, token FROM wf_claim_tasks('{Paused}') \gset
SELECT wf_pause(id, 'for the release') FROM workflow.instances WHERE correlation_id = 'Paused';
SELECT wf_complete_task(:'task', token => :'token');
-- One runs, and one waits for its turn.
SELECT wf_define('{"definitionId": "turns", "options": {"maxConcurrency": {"max": 1}}, "root": [{"type": "Event", "eventName": "Turn"}, {"type": "SetName", "value": "done"}]}'),
    wf_start('turns', correlation_id => 'Turn'), wf_start('turns', correlation_id => 'Limit');

-- What waits without an instance.
SELECT wf_define('{"definitionId": "alarm", "root": [{"type": "Event", "eventName": "Alarm", "canStartWorkflow": true}, {"type": "SetName", "value": "done"}]}');
SELECT wf_define('{"definitionId": "site", "root": [{"type": "HttpEndpoint", "path": "site/{page}", "canStartWorkflow": true}, {"type": "WriteHttpResponse", "content": "Hello"},
    {"type": "SetName", "value": "done"}]}');
-- An instance that has received a request.
SELECT wf_define('{"definitionId": "requested", "root": [{"type": "HttpEndpoint", "path": "requested", "canStartWorkflow": true},
    {"type": "Event", "eventName": "Requested"}, {"type": "SetName", "value": "done"}]}');
SELECT status FROM wf_http_request('GET', '/requested', headers => '{"X-Correlation-ID": "Requested"}');
SELECT wf_define('{"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": [{"type": "Event", "eventName": "Single"}, {"type": "SetName", "value": "done"}]}'),
    wf_start('single', correlation_id => 'Singleton');
SELECT wf_enqueue_bookmark(activity_id => 'kept', correlation_id => 'to-come', input => '{"by": "early bird"}', keep_for => '100 years');
SELECT wf_define('{"definitionId": "report", "root": [{"type": "Sql", "statement": "INSERT INTO public.notes VALUES (''report'')"}]}');
-- Overdue whenever the dump is restored, and once only while it is restored: their instants are far apart.
SELECT set_config('workflow.now', (now() - interval '1500 days')::text, false);
SELECT wf_schedule('seldom', 'every 1000 days', 'INSERT INTO public.notes VALUES (''seldom'')');
SELECT wf_schedule_workflow('report', 'every 1000 days', 'report');
RESET workflow.now;
SELECT wf_grant('alarm', 'clerk', '{start,read}');
SELECT wf_grant_events('clerk');
SET ROLE clerk;
SELECT wf_define('{"definitionId": "clerk''s", "root": [{"type": "Event", "eventName": "Clerk"}, {"type": "Sql", "statement": "INSERT INTO public.notes VALUES (current_user)"},
    {"type": "SetName", "value": "done"}]}'), wf_start('clerk''s', correlation_id => 'Clerk');
RESET ROLE;
-- What has ended.
SELECT wf_define('{"definitionId": "past", "root": [{"type": "RunTask", "taskName": "Past"}, {"type": "SetName", "value": "done"}]}'),
    wf_start('past', correlation_id => 'past');
SELECT wf_complete_task(id, '"yes"') FROM workflow.tasks WHERE name = 'Past';
-- An older version, in which the instance continues.
SELECT wf_define('{"definitionId": "Event", "root": []}');
