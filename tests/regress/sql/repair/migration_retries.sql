-- Attempts go on in the new version: those of the engine, and those of workers.
\i tests/regress/include/migration.sql

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
DROP FUNCTION pay, paying;
SELECT * FROM wf_check();
