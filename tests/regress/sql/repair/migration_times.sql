-- The time of an activity, and that of the run, follow the timers. The time to the first claim of a task and a lease do not.
\i tests/regress/include/migration.sql
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
DROP VIEW due;
DROP FUNCTION bounded;
SELECT * FROM wf_check();
