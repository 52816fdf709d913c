-- The side of this extension: what peers.sh and with_workflow.py measure.
SELECT wf_define(jsonb_build_object('definitionId', 'steps', 'variables', '{"Last": 0}'::jsonb, 'root', jsonb_agg(
    jsonb_build_object('id', 'step' || n, 'type', 'SetVariable', 'variable', 'Last', 'value', n) ORDER BY n))) FROM generate_series(1, 100) AS n;
SELECT wf_define(jsonb_build_object('definitionId', 'waits', 'variables', '{"Last": 0}'::jsonb, 'root', jsonb_agg(
    jsonb_build_object('id', 'step' || n, 'type', 'Event', 'eventName', 'Step ' || n, 'result', '{"var": "Last"}'::jsonb) ORDER BY n))) FROM generate_series(1, 100) AS n;
SELECT wf_define('{"definitionId": "event", "variables": {"Last": 0}, "root": [{"type": "Event", "eventName": "Go", "result": {"var": "Last"}}]}');
SELECT wf_define('{"definitionId": "job", "root": {"id": "job", "type": "RunTask", "taskName": "job", "retry": {"maxAttempts": 5}}}');

CREATE FUNCTION bench.empty() RETURNS void LANGUAGE sql AS
    'TRUNCATE workflow.instances, workflow.bookmarks, workflow.bookmark_queue, workflow.tasks, workflow.execution_log';
CREATE FUNCTION bench.tasks(count integer) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(wf_start('job')) FROM generate_series(1, count));
CREATE FUNCTION bench.events(count integer) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(wf_start('event', correlation_id => 'go-' || n)) FROM generate_series(1, count) AS n);
CREATE FUNCTION bench.undone() RETURNS bigint LANGUAGE sql RETURN (SELECT count(*) FROM workflow.bookmarks);

-- Microseconds per step in this many workflows, in one transaction.
CREATE FUNCTION bench.steps(workflows integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
BEGIN
    FOR i IN -1 .. workflows LOOP
        IF i = 1 THEN
            began := clock_timestamp();
        END IF;
        IF (wf_run('steps')).sub_status IS DISTINCT FROM 'Finished' THEN
            RAISE EXCEPTION 'the steps did not end';
        END IF;
    END LOOP;
    RETURN extract(epoch FROM clock_timestamp() - began) * 1e6 / workflows / 100;
END $$;

-- The writes of wf_claim_tasks and wf_complete_tasks for ten tasks, each as one statement: the same rows and index entries without the
-- engine. `state` and `events` are those of an instance that the engine has ended.
SELECT wf_start('job') \g /dev/null
SELECT wf_complete_task(id) FROM workflow.tasks \g /dev/null
CREATE TABLE bench.ended AS SELECT i.state, l.seq, l.events FROM workflow.instances i JOIN workflow.execution_log l ON l.instance_id = i.id ORDER BY l.seq DESC LIMIT 1;
CREATE FUNCTION bench.claim_rows() RETURNS SETOF uuid LANGUAGE sql AS $$
    UPDATE workflow.bookmarks b SET claims = 1, available_at = now() + '5 min', lease_until = now() + '5 min', token = gen_random_uuid()
    FROM (SELECT id FROM workflow.bookmarks WHERE activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND payload ->> 'TaskName' = 'job' AND available_at IS NULL
          ORDER BY coalesce(priority, 0) DESC, created_at LIMIT 10 FOR UPDATE SKIP LOCKED) AS next
    WHERE b.id = next.id RETURNING b.id
$$;
CREATE FUNCTION bench.complete_rows(ids uuid[]) RETURNS void LANGUAGE sql AS $$
    WITH burned AS (DELETE FROM workflow.bookmarks WHERE id = ANY (ids) AND lease_until > now() RETURNING id, instance_id, token),
         done AS (UPDATE workflow.tasks t SET status = 'Completed', completed_at = now(), token = b.token FROM burned AS b WHERE t.id = b.id),
         ended AS (UPDATE workflow.instances i SET status = 'Finished', sub_status = 'Finished', updated_at = now(), finished_at = now(),
                   state = e.state FROM burned AS b, bench.ended AS e WHERE i.id = b.instance_id)
    INSERT INTO workflow.execution_log (instance_id, seq, created_at, events) SELECT instance_id, e.seq, now(), e.events FROM burned, bench.ended AS e
$$;
