-- What has begun goes on in the new version: attempts, timeouts, what can be compensated, children; and whose rights its SQL has.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 08:00:00+00';
SET client_min_messages = error;
CREATE FUNCTION pg_temp.lines(id uuid) RETURNS text LANGUAGE sql
BEGIN ATOMIC
    SELECT string_agg(data #>> '{}', ', ' ORDER BY seq, number) FROM workflow.journal WHERE instance_id = id AND event = 'Line';
END;

-- Retry counts go on. Two of three attempts have failed in the old version: the third, in the new one, is the last. How many there may be
-- the new version says.
CREATE FUNCTION pay(version integer) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'no money in version %', version; END $$;
CREATE FUNCTION paying(id text, version integer, retry jsonb) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', 'paying', 'root', jsonb_build_array(
    jsonb_build_object('id', id, 'type', 'Sql', 'statement', format('SELECT public.pay(%s)', version), 'retry', retry)));
SELECT wf_define(paying('pay', 1, '{"maxAttempts": 3, "delay": "1 minute"}'));
SELECT wf_start('paying') AS same \gset
SELECT wf_start('paying') AS more \gset
SELECT wf_start('paying') AS fewer \gset
SET workflow.now = '2030-01-01 08:01:00+00';
SELECT wf_run_due();
SELECT wf_define(paying('charge', 2, '{"maxAttempts": 3, "delay": "1 hour"}'));
SELECT wf_define(paying('charge', 3, '{"maxAttempts": 5, "delay": "1 hour"}'));
SELECT wf_define(paying('charge', 4, '{"maxAttempts": 2, "delay": "1 hour"}'));
SELECT * FROM wf_migrate(:'same', 2, '{"pay": "charge"}');
SELECT * FROM wf_migrate(:'more', 3, '{"pay": "charge"}', timers => 'anew');
SELECT * FROM wf_migrate(:'fewer', 4, '{"pay": "charge"}');
-- The next attempt was planned in the old version, and comes when it was to come.
SELECT i.version, b.name, b.activity_id, b.due_at FROM workflow.bookmarks AS b JOIN workflow.instance_list AS i USING (instance_id) ORDER BY 1;
SET workflow.now = '2030-01-01 08:02:00+00';
SELECT wf_run_due();
SELECT i.version, i.sub_status, n.activity_id, n.message FROM workflow.instance_list AS i LEFT JOIN workflow.open_incidents AS n USING (instance_id) ORDER BY 1;
-- The one that may have five has the delay of its version from then on.
SELECT i.version, b.due_at FROM workflow.bookmarks AS b JOIN workflow.instance_list AS i USING (instance_id) ORDER BY 1;
SELECT i.version, j.activity, j.data ->> 'attempt' AS attempt, j.data ->> 'max_attempts' AS of, j.data ->> 'message' AS message
FROM workflow.journal AS j JOIN workflow.instance_list AS i USING (instance_id) WHERE j.event = 'Retrying' ORDER BY i.version, j.seq, j.number;
SET workflow.now = '2030-01-01 09:02:00+00';
SELECT wf_run_due();
SET workflow.now = '2030-01-01 10:02:00+00';
SELECT wf_run_due();
SELECT i.version, i.sub_status, n.message FROM workflow.instance_list AS i LEFT JOIN workflow.open_incidents AS n USING (instance_id) WHERE i.instance_id = :'more';
-- wf_retry begins with the first attempt, as always.
SELECT sub_status FROM wf_retry(:'same');
SELECT data ->> 'attempt' AS attempt FROM workflow.journal WHERE instance_id = :'same' AND event = 'Retrying' ORDER BY seq DESC LIMIT 1;
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE sub_status <> 'Cancelled';

-- So do the attempts of workers. One has failed, one has a lease that runs.
SELECT wf_define('{"definitionId": "mail", "root": [{"id": "send", "type": "RunTask", "taskName": "Send", "retry": {"maxAttempts": 3, "delay": "1 minute"}}, {"id": "end", "type": "WriteLine", "text": "sent"}]}');
SELECT wf_start('mail') AS mail \gset
SELECT task_id AS task, token AS first FROM wf_claim_tasks('{Send}') \gset
SELECT wf_fail_task(:'task', :'first', 'the line is busy');
SET workflow.now = '2030-01-01 10:03:00+00';
SELECT token AS second FROM wf_claim_tasks('{Send}', 'ben', lease => '10 min') \gset
SELECT wf_define('{"definitionId": "mail", "root": [{"id": "post", "type": "RunTask", "taskName": "Send", "retry": {"maxAttempts": 3, "delay": "1 hour"}}, {"id": "end", "type": "WriteLine", "text": "posted"}]}');
SELECT * FROM wf_migrate(:'mail', mapping => '{"send": "post"}');
SELECT activity_id, attempt, worker, lease_until, last_error FROM workflow.open_tasks;
-- The token is worth as much as before. The policy is that of the new version.
SELECT wf_extend_task(:'task', :'second', '5 min');
SELECT wf_fail_task(:'task', :'second', 'the line is busy');
SELECT activity_id, attempt, available_at FROM workflow.open_tasks;
SET workflow.now = '2030-01-01 11:03:00+00';
SELECT activity_id, attempt, max_attempts, token AS third FROM wf_claim_tasks('{Send}') \gset
\echo :activity_id :attempt of :max_attempts
SELECT wf_fail_task(:'task', :'third', 'the line is busy');
SELECT activity_id, message FROM workflow.open_incidents;
SELECT sub_status FROM wf_retry(:'mail');
SELECT task_id AS task FROM workflow.open_tasks \gset
SELECT r.sub_status FROM wf_complete_task(:'task') AS r;
SELECT pg_temp.lines(:'mail');
-- The lease of the last attempt ends in the new version, as a fault of its activity there.
SELECT wf_start('mail', version => 1) AS mail \gset
SELECT wf_fail_task(task_id, token, 'the line is busy', retry_in => '0 s') FROM wf_claim_tasks('{Send}');
SELECT wf_fail_task(task_id, token, 'the line is busy', retry_in => '0 s') FROM wf_claim_tasks('{Send}');
SELECT attempt, max_attempts FROM wf_claim_tasks('{Send}', lease => '10 min');
SELECT * FROM wf_migrate(:'mail', mapping => '{"send": "post"}', timers => 'anew');
SELECT name, activity_id, due_at, lease_until FROM workflow.bookmarks WHERE instance_id = :'mail' ORDER BY 1;
SET workflow.now = '2030-01-01 11:13:00+00';
SELECT wf_run_due();
SELECT activity_id, code, message FROM workflow.open_incidents WHERE instance_id = :'mail';
-- Where the new version allows fewer attempts than there were, the open task can be claimed once more, and that lease is the last.
SELECT wf_start('mail', version => 1) AS mail \gset
SELECT wf_fail_task(task_id, token, 'the line is busy', retry_in => '0 s') FROM wf_claim_tasks('{Send}');
SELECT task_id AS task, token AS second FROM wf_claim_tasks('{Send}', lease => '10 min') \gset
SELECT wf_define('{"definitionId": "mail", "root": [{"id": "post", "type": "RunTask", "taskName": "Send", "retry": {"maxAttempts": 1}}]}');
SELECT * FROM wf_migrate(:'mail', mapping => '{"send": "post"}');
SET workflow.now = '2030-01-01 11:23:00+00';
SELECT activity_id, attempt, max_attempts FROM wf_claim_tasks('{Send}', lease => '10 min');
SET workflow.now = '2030-01-01 11:33:00+00';
SELECT wf_run_due();
SELECT activity_id, code, message FROM workflow.open_incidents WHERE instance_id = :'mail';
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE definition_id = 'mail' AND sub_status = 'Faulted';

-- The time of an activity, and that of the run, follow the timers. The time to the first claim of a task and a lease do not.
CREATE FUNCTION bounded(hours integer) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', 'bounded', 'options', jsonb_build_object('timeout', 10 * hours || ' hours'),
    'root', jsonb_build_object('id', 'both', 'type', 'Parallel', 'activities', jsonb_build_array(
        jsonb_build_object('id', 'ask', 'type', 'RunTask', 'taskName', 'Ask', 'timeout', hours || ' hours', 'startTimeout', 20 * hours || ' hours'),
        jsonb_build_object('id', 'wait', 'type', 'Delay', 'timeSpan', 2 * hours || ':00:00'),
        jsonb_build_object('id', 'pay', 'type', 'RunTask', 'taskName', 'Pay', 'retry', jsonb_build_object('maxAttempts', 2, 'delay', '5 hours')))));
CREATE VIEW due AS SELECT i.correlation_id, b.name, b.activity_id, coalesce(b.due_at, b.available_at, b.lease_until) - '2030-01-02 00:00:00+00' AS after
    FROM workflow.bookmarks AS b JOIN workflow.instance_list AS i USING (instance_id) WHERE i.definition_id = 'bounded';
SET workflow.now = '2030-01-02 00:00:00+00';
SELECT wf_define(bounded(1));
SELECT wf_start('bounded', correlation_id => 'keep') AS keep \gset
SELECT wf_start('bounded', correlation_id => 'anew') AS anew \gset
SELECT count(wf_fail_task(task_id, token, 'busy')) FROM wf_claim_tasks('{Pay}', max => 2);
SELECT * FROM due WHERE correlation_id = 'keep' ORDER BY after, name;
SET workflow.now = '2030-01-02 00:30:00+00';
SELECT wf_define(bounded(3));
SELECT * FROM wf_migrate(:'keep') ORDER BY 1, 3;
SELECT * FROM wf_migrate(:'anew', timers => 'anew') ORDER BY 1, 3;
SELECT * FROM due ORDER BY correlation_id DESC, after, name;
-- They end what they are of, in the new version.
SET workflow.now = '2030-01-02 01:00:00+00';
SELECT wf_run_due();
SELECT i.correlation_id, n.activity_id, n.code FROM workflow.open_incidents AS n JOIN workflow.instance_list AS i USING (instance_id);
SET workflow.now = '2030-01-02 03:30:00+00';
SELECT wf_run_due();
SELECT i.correlation_id, n.activity_id, n.code FROM workflow.open_incidents AS n JOIN workflow.instance_list AS i USING (instance_id) ORDER BY 1;
SELECT count(wf_cancel(instance_id, force => true)) FROM workflow.instance_list WHERE definition_id = 'bounded';
-- A version without bounds: with keep those of before stay, and anew there are none.
SET workflow.now = '2030-01-02 00:00:00+00';
SELECT wf_start('bounded', correlation_id => 'keep') AS keep \gset
SELECT wf_start('bounded', correlation_id => 'anew') AS anew \gset
SELECT wf_define(bounded(3) #- '{options}' #- '{root,activities,0,timeout}' #- '{root,activities,0,startTimeout}');
SELECT * FROM wf_migrate(:'keep');
SELECT * FROM wf_migrate(:'anew', timers => 'anew');
SELECT * FROM due ORDER BY correlation_id DESC, after, name;
SELECT count(wf_cancel(instance_id, force => true)) FROM workflow.instance_list WHERE sub_status NOT IN ('Finished', 'Cancelled');

-- What has completed and what is interrupted can be compensated in the new version, with its handlers and the values of then.
CREATE FUNCTION trip(book text, word text) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', 'trip', 'variables', '{"Seat": 0}'::jsonb, 'root', jsonb_build_array(
    jsonb_build_object('id', 'each', 'type', 'ForEach', 'items', '[1, 2]'::jsonb, 'body', jsonb_build_object('id', 'steps', 'type', 'Sequence', 'activities', jsonb_build_array(
        jsonb_build_object('id', 'seat', 'type', 'SetVariable', 'variable', 'Seat', 'value', '{"js": "getCurrentValue() + 10"}'::jsonb),
        jsonb_build_object('id', book, 'type', 'Compensable', 'body', '{"id": "booked", "type": "WriteLine", "text": "booked"}'::jsonb,
            'compensation', jsonb_build_object('id', 'undo', 'type', 'WriteLine', 'text', jsonb_build_object('js', format('`%s ${getSeat()}`', word))))))),
    jsonb_build_object('id', 'hotel', 'type', 'Compensable', 'body', '{"id": "ask", "type": "RunTask", "taskName": "Ask the hotel"}'::jsonb,
        'compensation', '{"id": "leave", "type": "WriteLine", "text": "left"}'::jsonb,
        'cancellation', jsonb_build_object('id', 'forget', 'type', 'WriteLine', 'text', 'forgotten by ' || word))));
SELECT wf_define(trip('book', 'old'));
SELECT wf_start('trip') AS moved \gset
SELECT wf_start('trip') AS stays \gset
SELECT wf_define(trip('reserve', 'new'));
SELECT * FROM wf_migrate(:'moved', dry_run => true);
SELECT * FROM wf_migrate(:'moved', mapping => '{"book": "reserve"}');
SELECT instance_id = :'moved' AS moved, activity_id, number FROM workflow.open_compensations ORDER BY 1, 3;
SELECT wf_cancel(:'moved'), wf_cancel(:'stays');
SELECT wf_run_due();
SELECT sub_status FROM workflow.instance_list WHERE instance_id = :'moved';
SELECT pg_temp.lines(:'stays') AS stays, pg_temp.lines(:'moved') AS moved;
-- Handlers that are due run in the version in which the instance is then.
SELECT wf_start('trip', version => 1) AS moved \gset
SELECT wf_cancel(:'moved');
SELECT * FROM wf_migrate(:'moved', mapping => '{"book": "reserve"}');
SELECT wf_run_due();
SELECT sub_status, version FROM workflow.instance_list WHERE instance_id = :'moved';
SELECT pg_temp.lines(:'moved');

-- Children report to the activity that stands for the one which began them, also if they moved themselves.
SELECT wf_define('{"definitionId": "child", "inputs": [{"name": "Item"}], "root": [{"id": "go", "type": "Event", "eventName": "Go"}, {"id": "fail", "type": "If", "condition": {"js": "getInput(\"Item\") === 3"}, "then": {"type": "Fault", "message": "three"}}]}');
SELECT wf_define('{"definitionId": "parent", "variables": {"Good": 0, "Bad": 0}, "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "all", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "child", "items": [1, 2, 3, 4],
     "childCompleted": {"id": "good", "type": "SetVariable", "variable": "Good", "value": {"js": "getGood() + 1"}}, "childFaulted": {"id": "bad", "type": "SetVariable", "variable": "Bad", "value": {"js": "getBad() + 1"}}}]}}');
SELECT wf_start('parent') AS parent \gset
SELECT wf_run_due() > 0 AS ran;
SELECT instance_id AS first, correlation_id FROM workflow.instance_list WHERE definition_id = 'child' ORDER BY 1 LIMIT 1 \gset
-- One child has reported before.
SELECT cardinality(resumed) FROM wf_publish_event('Go', instance_id => :'first');
SELECT wf_run_due() > 0 AS ran;
SELECT variables FROM workflow.instance_list WHERE instance_id = :'parent';
SELECT wf_define('{"definitionId": "child", "inputs": [{"name": "Item"}], "root": [{"id": "hello", "type": "WriteLine", "text": "new"}, {"id": "go", "type": "Event", "eventName": "Go"}, {"id": "fail", "type": "If", "condition": {"js": "getInput(\"Item\") === 3"}, "then": {"type": "Fault", "message": "three in version 2"}}]}');
SELECT wf_define('{"definitionId": "parent", "variables": {"Good": 0, "Bad": 0}, "root": {"id": "main", "type": "Sequence", "activities": [
    {"id": "before", "type": "WriteLine", "text": "before"},
    {"id": "everyone", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "child", "items": [1, 2, 3, 4],
     "childCompleted": {"id": "good", "type": "SetVariable", "variable": "Good", "value": {"js": "getGood() + 100"}}, "childFaulted": {"id": "bad", "type": "SetVariable", "variable": "Bad", "value": {"js": "getBad() + 100"}}},
    {"id": "end", "type": "WriteLine", "text": {"js": "`${getGood()} good, ${getBad()} bad`"}}]}}');
SELECT * FROM wf_migrate(:'parent', mapping => '{"all": "everyone"}');
SELECT outcome, count(*) FROM wf_migrate_all('child', max => 2) GROUP BY 1;
SELECT version, count(*) FROM workflow.instance_list WHERE definition_id = 'child' GROUP BY 1 ORDER BY 1;
SELECT cardinality(resumed) FROM wf_publish_event('Go');
SELECT wf_run_due() > 0 AS ran;
SELECT sub_status, variables FROM workflow.instance_list WHERE instance_id = :'parent';
SELECT pg_temp.lines(:'parent');
SELECT count(wf_cancel(instance_id)) FROM workflow.instance_list WHERE sub_status NOT IN ('Finished', 'Cancelled');

-- security.md#whose-rights-sql-in-a-workflow-has: whose rights the SQL of an instance has, the version says in which it is. Ann owns the definition, Ben the instances.
CREATE ROLE regress_mig_ann;
CREATE ROLE regress_mig_ben;
SELECT wf_grant_usage(role) FROM unnest('{regress_mig_ann, regress_mig_ben}'::name[]) AS role;
CREATE FUNCTION waiting(options jsonb, step jsonb) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', 'whose', 'options', options, 'variables', '{"Who": null}'::jsonb, 'root', jsonb_build_array(
    '{"id": "wait", "type": "Delay", "timeSpan": "1:00:00"}'::jsonb, step));
\set who '{"id": "who", "type": "Sql", "statement": "SELECT current_user AS who", "result": {"var": "Who"}}'
SET workflow.now = '2030-01-03 00:00:00+00';
SET ROLE regress_mig_ann;
SELECT wf_define(waiting('{}', '{"id": "who", "type": "SetVariable", "variable": "Who", "value": "no SQL"}'));
SELECT wf_grant('whose', 'regress_mig_ben', '{start, read}');
SET ROLE regress_mig_ben;
SELECT count(wf_start('whose', correlation_id => name)) FROM unnest('{plain, invoker, definer, back}'::text[]) AS name;
SET ROLE regress_mig_ann;
SELECT wf_define(waiting('{}', :'who'));
SELECT wf_define(waiting('{"security": "definer"}', :'who'));
SET ROLE regress_mig_ben;
SELECT count(*) FROM workflow.instance_list AS i, wf_migrate(i.instance_id, CASE i.correlation_id WHEN 'definer' THEN 3 ELSE 2 END) WHERE i.correlation_id <> 'plain';
SELECT count(*) FROM workflow.instance_list AS i, wf_migrate(i.instance_id, 1) WHERE i.correlation_id = 'back';
SELECT correlation_id, version FROM workflow.instance_list WHERE definition_id = 'whose' ORDER BY 1;
-- No session of Ann's runs what is Ben's now, nor the other way round.
RESET ROLE;
SET workflow.now = '2030-01-03 01:00:00+00';
SET ROLE regress_mig_ann;
SELECT wf_run_due();
SELECT correlation_id, sub_status, variables FROM workflow.instance_list WHERE definition_id = 'whose' ORDER BY 1;
SET ROLE regress_mig_ben;
SELECT wf_run_due();
SELECT correlation_id, sub_status, variables FROM workflow.instance_list WHERE definition_id = 'whose' ORDER BY 1;
RESET ROLE;
DROP OWNED BY regress_mig_ann, regress_mig_ben;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id = 'whose';
SELECT wf_delete_definition('whose') > 0 AS deleted;
DROP ROLE regress_mig_ann, regress_mig_ben;
DROP VIEW due;
DROP FUNCTION pay, paying, bounded, trip, waiting;
SELECT * FROM wf_check();
