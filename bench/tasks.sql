-- Tasks, and workers that claim them.
SELECT wf_define('{"definitionId": "work", "root": {"id": "work", "type": "RunTask", "taskName": {"js": "getInput(\"name\")"}, "retry": {"maxAttempts": 3}}}');

CREATE FUNCTION bench.open_tasks(count integer, name text DEFAULT 'work') RETURNS bigint LANGUAGE sql
RETURN (SELECT count(wf_start('work', jsonb_build_object('name', name))) FROM generate_series(1, count));

SELECT wf_define('{"definitionId": "keyed", "root": {"id": "work", "type": "RunTask", "taskName": "keyed", "payload": {"object": {"customer": {"input": "customer"}}}}}');

-- This many tasks of one customer or, without a name, of as many customers.
CREATE FUNCTION bench.open_keyed(count integer, customer text DEFAULT NULL) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(wf_start('keyed', jsonb_build_object('customer', coalesce(customer, n::text)))) FROM generate_series(1, count) AS n);

-- Claims ten tasks, and completes each in a separate transaction.
CREATE PROCEDURE bench.work_one_by_one() LANGUAGE plpgsql AS $$
DECLARE
    tasks uuid[];
    tokens uuid[];
BEGIN
    SELECT coalesce(array_agg(c.task_id), '{}'), array_agg(c.token) INTO tasks, tokens FROM wf_claim_tasks('{work}', max => 10) AS c;
    COMMIT;
    FOR i IN 1 .. cardinality(tasks) LOOP
        PERFORM wf_complete_task(tasks[i], token => tokens[i]);
        COMMIT;
    END LOOP;
END $$;

-- Claims ten tasks, and completes them in one call.
CREATE PROCEDURE bench.work_together() LANGUAGE plpgsql AS $$
DECLARE
    answers jsonb;
BEGIN
    SELECT jsonb_agg(jsonb_build_object('taskId', c.task_id, 'token', c.token)) INTO answers FROM wf_claim_tasks('{work}', max => 10) AS c;
    COMMIT;
    PERFORM count(*) FROM wf_complete_tasks(coalesce(answers, '[]'));
    COMMIT;
END $$;

-- Median of the microseconds to claim one task, of this many claims. The tasks are released again.
CREATE FUNCTION bench.claim_one(count integer, names text[] DEFAULT '{work}') RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
    held record;
    taken double precision[] = '{}';
BEGIN
    FOR i IN 1 .. count LOOP
        began := clock_timestamp();
        SELECT task_id, token INTO STRICT held FROM wf_claim_tasks(names);
        taken := taken || 1e6 * extract(epoch FROM clock_timestamp() - began)::double precision;
        PERFORM wf_complete_task(held.task_id, token => held.token);
    END LOOP;
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(taken) AS t);
END $$;

-- Completes this many tasks, a hundred at a time.
CREATE PROCEDURE bench.complete(count integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. count / 100 LOOP
        PERFORM wf_complete_task(c.task_id, token => c.token) FROM wf_claim_tasks('{work}', max => 100) AS c;
        COMMIT;
    END LOOP;
END $$;

-- Tasks whose commit has returned, and tasks that a waiter has claimed.
CREATE TABLE bench.committed (task uuid NOT NULL, at timestamptz NOT NULL);
CREATE TABLE bench.heard (task uuid NOT NULL, at timestamptz NOT NULL);
CREATE PROCEDURE bench.open_slowly(count integer) LANGUAGE plpgsql AS $$
DECLARE
    started uuid;
BEGIN
    FOR i IN 1 .. count LOOP
        started := wf_start('work', '{"name": "wake"}');
        COMMIT;
        INSERT INTO bench.committed SELECT t.id, clock_timestamp() FROM workflow.tasks AS t WHERE t.instance_id = started;
        COMMIT;
        -- The waiter falls asleep again.
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
