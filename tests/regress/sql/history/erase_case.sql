-- wf_erase(correlation_id => …) removes everything of a case: afterwards no table has it.
SET client_min_messages = warning;
\i tests/regress/include/tables_with.sql
SELECT * FROM wf_define('{"definitionId": "letter", "root": {"id": "sign", "type": "RunTask", "taskName": "Sign", "payload": {"object": {"for": {"input": "customer"}}}}}');
SELECT * FROM wf_define('{"definitionId": "contract", "options": {"maxConcurrency": {"max": 5, "key": "customer"}}, "variables": [{"name": "Name"}], "root": [
    {"id": "note", "type": "SetVariable", "variable": "Name", "value": {"input": "customer"}},
    {"id": "send", "type": "ExecuteWorkflow", "workflowDefinitionId": "letter", "waitForCompletion": true, "input": {"object": {"customer": {"input": "customer"}}}},
    {"type": "SetOutput", "outputName": "Who", "outputValue": {"input": "customer"}}]}');
SELECT wf_limit_tasks('Sign', 3, 10, '1 ms', 'for') \g /dev/null

-- One instance that has ended, one that runs; with children, leases, stimuli, dead letters, an answer and a schedule. The child has
-- no correlation id.
SELECT wf_call('case-zelda', 'm1', 'start', 'contract', '{"customer": "Zelda Zapp"}') \g /dev/null
SELECT task_id, token FROM wf_claim_tasks('{Sign}') \gset
SELECT sub_status FROM wf_complete_task(:'task_id', '{"by": "Zelda Zapp"}', token => :'token');
SELECT wf_start('contract', '{"customer": "Zelda Zapp"}', correlation_id => 'case-zelda') AS running \gset
SELECT count(*) FROM wf_claim_tasks('{Sign}');
SELECT count(queued_id) FROM wf_publish_event('Later', '{"for": "Zelda Zapp"}', correlation_id => 'case-zelda', keep_for => '1 day');
SELECT count(queued_id) FROM wf_publish_event('Gone', '{"for": "Zelda Zapp"}', correlation_id => 'case-zelda', keep_for => '1 us');
SELECT count(queued_id) FROM wf_enqueue_bookmark(instance_id => :'running', activity_id => 'x', input => '{"for": "Zelda Zapp"}', keep_for => '1 us');
SELECT wf_schedule_workflow('remind', '0 3 * * *', 'contract', '{"customer": "Zelda Zapp"}', correlation_id => 'case-zelda') \g /dev/null
SELECT wf_pause(:'running', 'Zelda Zapp asked for it');
SELECT wf_run_due() \g /dev/null
-- Another case.
SELECT wf_start('contract', '{"customer": "Bob"}', correlation_id => 'case-bob') \g /dev/null
SELECT * FROM tables_with('Zelda Zapp');
SELECT * FROM tables_with('case-zelda');

SELECT * FROM wf_erase(correlation_id => 'case-zelda');
SELECT * FROM tables_with('Zelda Zapp');
SELECT * FROM tables_with('case-zelda');
-- When nothing is left there are no rows.
SELECT * FROM wf_erase(correlation_id => 'case-zelda');
SELECT * FROM wf_erase('no such case');

-- The audit keeps the time, the kind, the definition and the role.
SELECT kind, definition_id, instance_id, correlation_id, activity, task, bookmark_id, role IS NOT NULL AS role, login, actor, detail
FROM workflow.audit_log AS a ORDER BY kind, definition_id, at;

-- The other case goes on.
SELECT definition_id, sub_status FROM workflow.instances ORDER BY 1;
SELECT count(*) FROM wf_claim_tasks('{Sign}');

-- In batches: about so many instances in a call.
SELECT count(wf_start('letter', correlation_id => 'many')) FROM generate_series(1, 5);
SELECT * FROM wf_erase('many', max => 3);
SELECT * FROM wf_erase('many', max => 3);
SELECT * FROM wf_erase('many', max => 3);

-- An instance with work to compensate is left out, unless it is erased by force. It keeps nothing else from being erased.
SELECT wf_define('{"definitionId": "trip", "root": [
    {"id": "book", "type": "Compensable", "body": {"type": "WriteLine", "text": "booked"}, "compensation": {"type": "WriteLine", "text": "cancelled"}},
    {"type": "RunTask", "taskName": "Travel"}]}') \g /dev/null
SELECT wf_start('trip', correlation_id => 'trip-1'), wf_start('letter', correlation_id => 'trip-1') \g /dev/null
SELECT * FROM wf_erase('trip-1');
SELECT definition_id, status FROM workflow.instances WHERE correlation_id = 'trip-1';
SELECT * FROM wf_erase('trip-1', force => true);

-- So is one whose deletion fails: here its definition requires an actor. Its acts stay on record.
SELECT wf_define('{"definitionId": "strict", "options": {"actor": "required"}, "root": {"type": "RunTask", "taskName": "Strict"}}') \g /dev/null
SELECT wf_start('strict', correlation_id => 'trip-2') FROM wf_set_actor('ada') \g /dev/null
SELECT wf_start('letter', correlation_id => 'trip-2') \g /dev/null
SELECT * FROM wf_erase('trip-2');
SELECT definition_id, started_actor FROM workflow.instances WHERE correlation_id = 'trip-2';
SELECT e.* FROM wf_set_actor('ada'), wf_erase('trip-2') AS e;

-- security.md#who-may-call-what: it erases what is the caller's, and leaves the rest
CREATE ROLE regress_erase_owner;
CREATE ROLE regress_erase_other;
CREATE ROLE regress_erase_both IN ROLE regress_erase_owner, regress_erase_other;
SELECT wf_grant_usage('regress_erase_owner'), wf_grant_usage('regress_erase_other'), wf_grant_usage('regress_erase_both') \g /dev/null
SET ROLE regress_erase_other;
SELECT wf_define('{"definitionId": "theirs", "root": {"type": "RunTask", "taskName": "Check"}}') \g /dev/null
SELECT wf_grant('theirs', 'regress_erase_owner', '{start}');
SELECT wf_start('theirs', correlation_id => 'shared') \g /dev/null
SELECT count(queued_id) FROM wf_publish_event('Theirs', correlation_id => 'shared', keep_for => '1 day');
SET ROLE regress_erase_owner;
SELECT wf_define('{"definitionId": "ours", "root": {"type": "RunTask", "taskName": "Check"}}') \g /dev/null
SELECT wf_start('ours', correlation_id => 'shared') \g /dev/null
SELECT wf_start('theirs', correlation_id => 'shared') \g /dev/null
SELECT wf_call('shared', 'm', 'event', 'Ours') \g /dev/null
-- Of the two instances of the other role it may know one: it has started that one.
SELECT * FROM wf_erase('shared');
RESET ROLE;
SELECT definition_id, correlation_id FROM workflow.instances WHERE correlation_id = 'shared' ORDER BY 1;
SELECT correlation_id FROM workflow.bookmark_queue;
SET ROLE regress_erase_both;
SELECT * FROM wf_erase('shared');
RESET ROLE;
SELECT * FROM tables_with('shared');

-- What is refused.
SELECT * FROM wf_erase();
\echo :SQLSTATE
SELECT * FROM wf_erase('a', 'b');
SELECT * FROM wf_erase('');
SELECT * FROM wf_erase('a', max => 0);
SELECT * FROM wf_erase('a', pseudonym => 'x');
SELECT * FROM wf_erase(actor => 'erased-a', pseudonym => 'erased-a');
SELECT * FROM wf_erase(actor => 'a', pseudonym => E'a\nb');
SELECT * FROM wf_erase(actor => 'a', force => true);
SELECT * FROM wf_erase(actor => ' ');
SELECT * FROM wf_erase('a', max => NULL);
SELECT problem FROM wf_check();
SELECT wf_limit_tasks('Sign', key => 'for') \g /dev/null
DROP FUNCTION tables_with;
