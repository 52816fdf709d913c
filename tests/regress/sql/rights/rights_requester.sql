-- What a role may do with an instance that it started of another role's definition: see how it ends, and cancel it.
\pset null '(null)'
SET client_min_messages = warning;
CREATE ROLE regress_requester_deploy;
CREATE ROLE regress_requester_bob;
CREATE ROLE regress_requester_clerk;
CREATE ROLE regress_requester_worker;
CREATE ROLE regress_requester_starter;
CREATE ROLE regress_requester_resumer;
CREATE ROLE regress_requester_reader;
CREATE ROLE regress_requester_repairer;
SELECT wf_grant_usage(role)
FROM unnest('{regress_requester_deploy,regress_requester_bob,regress_requester_clerk,regress_requester_worker,regress_requester_starter,
              regress_requester_resumer,regress_requester_reader,regress_requester_repairer}'::name[]) AS role \g /dev/null

-- The superuser accepts for others, not for itself.
SELECT wf_accept_tasks('regress_requester_deploy', role)
FROM unnest('{regress_requester_clerk,regress_requester_worker,regress_requester_resumer}'::name[]) AS role \g /dev/null

SET ROLE regress_requester_deploy;
SELECT * FROM wf_define('{
    "definitionId": "request", "options": {"requesterEvents": ["Withdrawn"], "security": "definer"}, "variables": {"Amount": 1}, "outputs": [{"name": "Note"}],
    "root": [
        {"type": "SetOutput", "outputName": "Note", "outputValue": "filed"},
        {"type": "Parallel", "activities": [
            {"id": "check", "type": "RunTask", "taskName": "Check"},
            {"id": "approve", "type": "RunTask", "taskName": "Approve", "candidates": ["role:regress_requester_clerk"]},
            {"id": "withdrawn", "type": "Event", "eventName": "Withdrawn"},
            {"id": "paid", "type": "Event", "eventName": "Paid"},
            {"id": "fails", "type": "Fault", "code": "late", "message": "too late"}]}]}');
SELECT wf_grant('request', 'regress_requester_bob', '{start}');
SELECT wf_grant('request', 'regress_requester_starter', '{start}');
SELECT wf_grant('request', 'regress_requester_resumer', '{resume}');
SELECT wf_grant('request', 'regress_requester_reader', '{read}');
SELECT wf_grant('request', 'regress_requester_repairer', '{alter}');
SELECT wf_grant_worker('regress_requester_worker', '{Check}', 'request');

-- security.md#the-requester: a call returns the status, the outputs, and the code and the message of each incident
SET ROLE regress_requester_bob;
SELECT status, sub_status, output, bookmarks, incidents FROM wf_run('request', '{"for": "a journey"}', 'bob 1');
SELECT instance_id AS i FROM workflow.instance_list \gset
RESET ROLE;
SET client_min_messages = error;
SELECT max(bookmark_id::text) FILTER (WHERE activity_id = 'check') AS check, max(bookmark_id::text) FILTER (WHERE activity_id = 'approve') AS approve,
       max(bookmark_id::text) FILTER (WHERE activity_id = 'paid') AS paid
FROM workflow.open_bookmarks WHERE instance_id = :'i' \gset
SET ROLE regress_requester_bob;
SELECT definition_id, correlation_id, status, sub_status, input, output, variables, incident_count, owner FROM workflow.instance_list;
SELECT definition_id, activity_id, sqlstate, code, message, detail, context, attempts FROM workflow.open_incidents;
SELECT (SELECT count(*) FROM workflow.journal) AS journal, (SELECT count(*) FROM workflow.waiting) AS waiting, (SELECT count(*) FROM workflow.open_bookmarks) AS bookmarks,
       (SELECT count(*) FROM workflow.open_tasks) AS tasks, (SELECT count(*) FROM workflow.open_compensations) AS compensations,
       (SELECT count(*) FROM workflow.definition_list) AS definitions;
SELECT count(*) FROM workflow.instance_page();
RESET ROLE;

-- security.md#who-may-call-what: every call as every kind of role; each is rolled back
CREATE FUNCTION pg_temp.try(who name, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SET LOCAL ROLE %I', who);
    EXECUTE call INTO result;
    RAISE SQLSTATE 'RB000' USING MESSAGE = coalesce(result, '');
EXCEPTION
    WHEN SQLSTATE 'RB000' THEN RETURN CASE WHEN SQLERRM IN ('f', 'false', '0') THEN '-' ELSE 'yes' END;
    WHEN OTHERS THEN RETURN CASE SQLSTATE WHEN '42501' THEN '-' ELSE SQLSTATE END;
END $$;
CREATE FUNCTION pg_temp.matrix(calls text[]) RETURNS TABLE (call text, requester text, candidate text, worker text, start text, resume text, read text, alter text, owner text, superuser text)
LANGUAGE sql AS $$
    SELECT regexp_replace(regexp_replace(c, '^SELECT ', ''), '''[0-9a-f-]{36}''', '…', 'g'), pg_temp.try('regress_requester_bob', c), pg_temp.try('regress_requester_clerk', c),
           pg_temp.try('regress_requester_worker', c), pg_temp.try('regress_requester_starter', c), pg_temp.try('regress_requester_resumer', c),
           pg_temp.try('regress_requester_reader', c), pg_temp.try('regress_requester_repairer', c), pg_temp.try('regress_requester_deploy', c),
           pg_temp.try(session_user, c)
    FROM unnest(calls) AS c
$$;
\pset format unaligned
SELECT * FROM pg_temp.matrix(ARRAY[
    'SELECT wf_start(''request'')',
    'SELECT wf_schedule_workflow(''nightly'', ''every 1 day'', ''request'')',
    format('SELECT wf_cancel(%L)', :'i'),
    format('SELECT wf_cancel(%L, force => true)', :'i'),
    format('SELECT wf_resume(%L)', :'paid'),
    format('SELECT wf_retry(%L)', :'i'),
    format('SELECT wf_pause(%L)', :'i'),
    format('SELECT wf_set_variable(%L, ''Amount'', ''2'')', :'i'),
    format('SELECT wf_cancel_activity(%L, ''approve'')', :'i'),
    format('SELECT wf_schedule_activity(%L, ''approve'')', :'i'),
    format('SELECT outcome = ''Altered'' FROM wf_alter(''[{"type": "Cancel"}]'', ''{"workflowInstanceIds": [%s]}'')', to_json(:'i'::text)),
    format('SELECT wf_migrate(%L, dry_run => true)', :'i'),
    'SELECT count(*) FROM wf_migrate_all(''request'', dry_run => true)',
    format('SELECT wf_delete_instance(%L)', :'i'),
    format('SELECT wf_set_owner(''instance'', %L, current_user)', :'i'),
    format('SELECT wf_explain(%L)', :'i'),
    format('SELECT wf_svg(instance => %L)', :'i'),
    format('SELECT workflow.instance_state(%L)', :'i'),
    format('SELECT count(*) FROM workflow.activity_executions(%L)', :'i'),
    'SELECT count(*) FROM workflow.instance_page()',
    'SELECT wf_diagram(''request'')',
    'SELECT wf_publish(''request'')',
    'SELECT wf_grant(''request'', ''regress_requester_bob'', ''{resume}'')']);

-- A faulted instance takes no answers. The next one has no fault.
SET ROLE regress_requester_deploy;
SELECT wf_cancel_activity(:'i', 'fails') \g /dev/null
RESET ROLE;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'i';
SELECT * FROM pg_temp.matrix(ARRAY[
    format('SELECT wf_complete_task(%L)', :'check'),
    format('SELECT count(*) FROM wf_claim_task(%L)', :'check'),
    'SELECT count(*) FROM wf_claim_tasks(''{Check}'')',
    format('SELECT wf_complete_task(%L)', :'approve'),
    format('SELECT count(*) FROM wf_claim_task(%L)', :'approve'),
    'SELECT count(*) FROM wf_claim_tasks(''{Approve}'')',
    format('SELECT wf_resume(%L)', :'approve'),
    format('SELECT wf_override_task(%L, ''the clerk is ill'')', :'approve'),
    format('SELECT wf_override_task(%L, ''no task for people'')', :'check'),
    format('SELECT wf_assign_task(%L, ''role:regress_requester_bob'')', :'approve'),
    format('SELECT wf_assign_task(%L, ''role:regress_requester_clerk'')', :'approve'),
    format('SELECT cardinality(resumed) FROM wf_publish_event(''Paid'', instance_id => %L)', :'i'),
    format('SELECT cardinality(resumed) FROM wf_publish_event(''Withdrawn'', instance_id => %L)', :'i'),
    'SELECT cardinality(resumed) FROM wf_publish_event(''Withdrawn'', correlation_id => ''bob 1'')',
    format('SELECT cardinality(resumed) FROM wf_enqueue_bookmark(bookmark_id => %L)', :'paid'),
    format('SELECT cardinality(resumed) FROM wf_enqueue_bookmark(bookmark_id => %L)', :'check'),
    format('SELECT (wf_call(''bob 1'', ''m'', ''event'', ''Paid'') ->> ''resumed'') <> ''[]''')]);
\pset format aligned

-- What a requester is told.
SET ROLE regress_requester_bob;
SELECT wf_delete_instance(:'i');
SELECT wf_retry(:'i');
SELECT * FROM wf_explain(:'i');
SELECT wf_set_variable(:'i', 'Amount', '2');
-- Events that are open to him arrive, those that are kept as well.
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Withdrawn', instance_id => :'i');
SELECT started, resumed, queued_id IS NULL AS is_not_kept FROM wf_publish_event('Paid', instance_id => :'i', keep_for => '0');
SELECT wf_cancel(:'i', reason => 'changed my mind');
SELECT sub_status, output FROM workflow.instance_list;

-- A child belongs to him, and he is not its requester: his cancel reaches it through the parent only.
SET ROLE regress_requester_deploy;
SELECT * FROM wf_define('{"definitionId": "part", "options": {"requesterEvents": true}, "root": {"type": "Event", "eventName": "Go"}}');
SELECT * FROM wf_define('{"definitionId": "whole", "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "part", "waitForCompletion": true}}');
SELECT * FROM wf_define('{"definitionId": "apart", "root": [{"type": "DispatchWorkflow", "workflowDefinitionId": "part", "waitForCompletion": false}, {"type": "Event", "eventName": "Never"}]}');
SELECT sum(wf_grant(id, 'regress_requester_bob', '{start}')) FROM unnest('{whole,part,apart}'::text[]) AS id;
SET ROLE regress_requester_bob;
SELECT wf_start('whole', correlation_id => 'w') AS w \gset
RESET ROLE;
SELECT instance_id AS child FROM workflow.instance_list WHERE parent_instance_id = :'w' \gset
SELECT bookmark_id AS report FROM workflow.open_bookmarks WHERE instance_id = :'w' \gset
SET ROLE regress_requester_bob;
SELECT definition_id FROM workflow.instance_list WHERE sub_status = 'Suspended';
SELECT wf_cancel(:'child');
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go', instance_id => :'child', keep_for => '0');
-- Nor can he report in its place, now or by what the queue keeps.
SELECT wf_resume(:'report', '{"Status": "Finished"}');
SELECT cardinality(resumed) AS resumed, queued_id FROM wf_enqueue_bookmark(bookmark_id => :'report', input => '{"forged": true}', keep_for => '1 day');
SELECT cardinality(resumed) AS resumed, queued_id FROM wf_enqueue_bookmark(name => 'Workflow.Cancel', instance_id => :'child', keep_for => '1 day');
SELECT wf_run_due() \g /dev/null
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'w';
RESET ROLE;
SELECT wf_run_due() \g /dev/null
SELECT definition_id, sub_status FROM workflow.instance_list WHERE instance_id IN (:'w', :'child') ORDER BY definition_id;
-- The report of the child arrives, at once or through the queue.
SET ROLE regress_requester_deploy;
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go', instance_id => :'child');
SET ROLE regress_requester_bob;
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'w';
SELECT wf_start('apart', correlation_id => 'a') AS a \gset
SELECT wf_cancel(:'a');
RESET ROLE;
SELECT definition_id, sub_status FROM workflow.instance_list WHERE instance_id = :'a' OR parent_instance_id = :'a' ORDER BY definition_id;

-- An event that is open to the requester is so at activities `Event`, and not at others that wait under the same name.
CREATE FUNCTION regress_requester_hear(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT CASE WHEN context ? 'bookmark' THEN '{}'::jsonb ELSE '{"bookmarks": [{"name": "Elsa.Event", "payload": {"EventName": "Told"}}]}'::jsonb END
$$;
SELECT wf_register_activity('Regress.Hear', 'regress_requester_hear(jsonb)');
SELECT * FROM wf_define('{"definitionId": "hears", "options": {"requesterEvents": ["Told"]}, "root": {"type": "Fork", "joinMode": "WaitAll", "branches": [
    {"id": "custom", "type": "Regress.Hear"}, {"id": "event", "type": "Event", "eventName": "Told"}]}}');
SELECT wf_grant('hears', 'regress_requester_bob', '{start}');
SET ROLE regress_requester_bob;
SELECT wf_start('hears', correlation_id => 'h') AS h \gset
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Told', instance_id => :'h', keep_for => '0');
RESET ROLE;
SELECT activity_id FROM workflow.open_bookmarks WHERE instance_id = :'h';
SELECT wf_cancel(:'h');

-- What an instance says to itself arrives, whoever started it.
SET ROLE regress_requester_deploy;
SELECT * FROM wf_define('{"definitionId": "loud", "root": {"type": "Parallel", "activities": [
    {"type": "Event", "eventName": "Ping"}, {"type": "PublishEvent", "eventName": "Ping", "isLocalEvent": true}]}}');
SELECT wf_grant('loud', 'regress_requester_bob', '{start}');
SET ROLE regress_requester_bob;
SELECT sub_status FROM wf_run('loud');

-- security.md#published-versions: start is the right to the published version, in every way in
SET ROLE regress_requester_deploy;
SELECT * FROM wf_define('{"definitionId": "hole", "root": {"type": "WriteLine", "text": "open"}}');
SELECT wf_grant('hole', 'regress_requester_bob', '{start}');
SELECT * FROM wf_define('{"definitionId": "hole", "root": {"type": "Event", "eventName": "Mended"}}');
SELECT * FROM wf_define('{"definitionId": "hole", "root": {"type": "WriteLine", "text": "not yet"}}', publish => false);
SET ROLE regress_requester_bob;
SELECT wf_start('hole', version => 1);
SELECT wf_start('hole', version => 3);
SELECT sub_status FROM wf_run('hole', version => 2);
SELECT instance_id AS h FROM workflow.instance_list WHERE definition_id = 'hole' \gset
SELECT * FROM wf_migrate(:'h', version => 1);
SELECT * FROM wf_migrate_all('hole');
SET ROLE regress_requester_deploy;
SELECT wf_retract('hole');
-- wf_call, schedules and events know only what is published.
SET ROLE regress_requester_bob;
SELECT wf_start('hole', version => 2);
SET ROLE regress_requester_deploy;
SELECT sub_status FROM wf_run('hole', version => 1);

-- security.md#repair-and-the-starters-rights: an operator does not steer SQL that runs with the starter's rights
SELECT * FROM wf_define('{"definitionId": "as-caller", "variables": {"Text": "1"}, "root": [{"id": "wait", "type": "Event", "eventName": "On"},
    {"type": "Sql", "statement": "SELECT $1", "parameters": [{"var": "Text"}]}]}');
SELECT wf_grant('as-caller', 'regress_requester_bob', '{start}');
SELECT wf_grant('as-caller', 'regress_requester_repairer', '{alter}');
SET ROLE regress_requester_bob;
SELECT wf_start('as-caller') AS c \gset
SET ROLE regress_requester_repairer;
SELECT wf_set_variable(:'c', 'Text', '"2"');
SELECT wf_pause(:'c');
SET ROLE regress_requester_deploy;
SELECT wf_cancel_activity(:'c', 'wait');
SELECT * FROM wf_alter('[{"type": "ScheduleActivity", "activityId": "wait"}]', jsonb_build_object('workflowInstanceIds', jsonb_build_array(:'c')));
RESET ROLE;
SELECT wf_set_variable(:'c', 'Text', '"2"');

-- The person who files a request does not approve it.
CREATE TABLE requester_ledger (who name, amount integer);
GRANT INSERT ON requester_ledger TO regress_requester_deploy;
SET ROLE regress_requester_deploy;
SELECT * FROM wf_define('{"definitionId": "expense", "options": {"security": "definer", "searchPath": ["public"]}, "variables": {"Amount": 0, "Approved": false}, "root": [
    {"type": "SetVariable", "variable": "Amount", "value": {"input": "amount"}},
    {"id": "approve", "type": "RunTask", "taskName": "Approve", "assignee": "role:regress_requester_clerk", "result": {"var": "Approved"}},
    {"type": "If", "condition": {"var": "Approved"}, "then": {"type": "Sql", "statement": "INSERT INTO requester_ledger VALUES (current_user, $1)", "parameters": [{"var": "Amount"}]}}]}');
SELECT wf_grant('expense', 'regress_requester_bob', '{start}');
SET ROLE regress_requester_bob;
SELECT wf_start('expense', '{"amount": 10}') AS x \gset
RESET ROLE;
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = :'x' \gset
SET ROLE regress_requester_bob;
SELECT wf_set_variable(:'x', 'Amount', '1000000');
SELECT wf_set_variable(:'x', 'Approved', 'true');
SELECT wf_cancel_activity(:'x', 'approve');
SELECT wf_assign_task(:'task', 'role:regress_requester_bob');
SELECT wf_complete_task(:'task', 'true');
SELECT wf_override_task(:'task', 'it is mine', 'true');
-- An operator is no clerk: it says that it answers in the clerk's place, and why.
SET ROLE regress_requester_deploy;
SELECT wf_complete_task(:'task', 'true');
SELECT wf_override_task(:'task', ' ');
SELECT wf_override_task(:'task', NULL);
BEGIN;
SELECT sub_status FROM wf_override_task(:'task', 'the clerk is ill', 'false');
SELECT data FROM workflow.journal WHERE instance_id = :'x' AND event = 'Altered';
SELECT substr(line, 22) AS line FROM wf_explain(:'x') AS line WHERE line LIKE '%in place of%';
ROLLBACK;
SET ROLE regress_requester_clerk;
SELECT sub_status FROM wf_complete_task(:'task', 'true');
RESET ROLE;
SELECT * FROM requester_ledger;

-- Deployments. A single application role owns its definitions, and is their operator.
SET ROLE regress_requester_starter;
SELECT * FROM wf_define('{"definitionId": "own", "root": {"id": "t", "type": "RunTask", "taskName": "Own"}}');
SELECT wf_start('own') AS o \gset
SELECT wf_pause(:'o') \g /dev/null
SELECT sub_status FROM wf_unpause(:'o');
SELECT sub_status, bookmarks -> 0 ->> 'name' AS waits_for FROM wf_complete_task((SELECT task_id FROM workflow.open_tasks WHERE instance_id = :'o'));
SELECT wf_delete_instance(:'o');
-- security.md#before-an-upgrade-from-020: with the grants that the query names, an application does what it did.
SET ROLE regress_requester_deploy;
SELECT * FROM wf_define('{"definitionId": "shop", "root": {"type": "Parallel", "activities": [
    {"type": "RunTask", "taskName": "Check"}, {"type": "Event", "eventName": "Paid"}, {"type": "Event", "eventName": "Sent"}]}}');
SELECT wf_grant('shop', 'regress_requester_bob', '{start,resume,read}');
SET ROLE regress_requester_bob;
SELECT instance_id AS i, bookmarks IS NOT NULL AS sees_bookmarks FROM wf_run('shop') \gset
SELECT :'sees_bookmarks' AS sees_bookmarks;
SELECT sub_status FROM wf_complete_task((SELECT task_id FROM workflow.open_tasks WHERE instance_id = :'i' AND name = 'Check'));
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Paid', instance_id => :'i');
SELECT wf_cancel(:'i', force => true);
-- Repair and removal stay the operator's.
SELECT wf_delete_instance(:'i');
SELECT wf_pause(:'i');
