-- absurd, whose schema absurdctl has created: like workflow.sql.
CREATE SCHEMA bench;
SELECT absurd.create_queue('bench');

CREATE FUNCTION bench.empty() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM absurd.drop_queue('bench');
    PERFORM absurd.create_queue('bench');
END $$;
CREATE FUNCTION bench.tasks(count integer, name text DEFAULT 'task') RETURNS bigint LANGUAGE sql
RETURN (SELECT count(s.task_id) FROM generate_series(1, count) AS n, absurd.spawn_task('bench', name, to_jsonb(n)) AS s);
-- This many waiting tasks, each for an event of its own.
CREATE FUNCTION bench.events(count integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    claimed record;
BEGIN
    PERFORM bench.tasks(count);
    FOR claimed IN SELECT * FROM absurd.claim_task('bench', 'worker', 600, count) LOOP
        PERFORM absurd.await_event('bench', claimed.task_id, claimed.run_id, '$awaitEvent', 'go-' || claimed.params::text);
    END LOOP;
END $$;
CREATE FUNCTION bench.undone() RETURNS bigint LANGUAGE sql AS $$SELECT count(*) FROM absurd.t_bench WHERE state <> 'completed'$$;

-- The lease is not extended at each step, which would create as many versions of one row in this transaction.
CREATE FUNCTION bench.steps(workflows integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
    claimed record;
BEGIN
    FOR i IN -1 .. workflows LOOP
        IF i = 1 THEN
            began := clock_timestamp();
        END IF;
        PERFORM absurd.spawn_task('bench', 'steps', 'null');
        SELECT * INTO STRICT claimed FROM absurd.claim_task('bench', 'worker', 600, 1);
        FOR step IN 1 .. 100 LOOP
            PERFORM absurd.set_task_checkpoint_state('bench', claimed.task_id, 'step' || step, to_jsonb(step), claimed.run_id);
        END LOOP;
        PERFORM absurd.complete_run('bench', claimed.run_id, 'null');
    END LOOP;
    RETURN extract(epoch FROM clock_timestamp() - began) * 1e6 / workflows / 100;
END $$;
