-- This extension beside its peers: what peers.sh and with_workflow.py measure.
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

-- Microseconds of a step in so many workflows, in one transaction.
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
