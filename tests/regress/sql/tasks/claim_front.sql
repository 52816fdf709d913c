-- The front of the inbox: tasks that were completed leave dead entries there. A claim that has read past many of them begins
-- behind them for a second.
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "job", "inputs": [{"name": "p"}], "root": {"type": "RunTask", "taskName": "Job", "priority": {"input": "p"}}}');
SELECT * FROM wf_define('{"definitionId": "named", "inputs": [{"name": "n"}, {"name": "p"}], "root": {"type": "RunTask", "taskName": {"input": "n"}, "priority": {"input": "p"}}}');
CREATE FUNCTION start_jobs(count integer, priority integer DEFAULT 0) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(wf_start('job', jsonb_build_object('p', priority), correlation_id => priority || '/' || n)) FROM generate_series(1, count) AS n);
CREATE PROCEDURE complete(count integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. count / 500 LOOP
        PERFORM wf_complete_task(c.task_id, token => c.token) FROM wf_claim_tasks('{Job}', max => 500) AS c;
    END LOOP;
END $$;
-- Claims tasks of these names and gives them back, until it gets the one of this correlation id.
CREATE PROCEDURE claim_until(wanted text, names text[]) LANGUAGE plpgsql AS $$
DECLARE
    claimed record;
BEGIN
    LOOP
        SELECT task_id, token, correlation_id INTO claimed FROM wf_claim_tasks(names);
        EXIT WHEN claimed.correlation_id = wanted;
        PERFORM wf_release_task(claimed.task_id, claimed.token);
        PERFORM pg_sleep(0.02);
    END LOOP;
END $$;
-- Waits until no lease of tasks of this name runs.
CREATE PROCEDURE await_end_of_lease(name text) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 100000 LOOP
        IF NOT EXISTS (
            SELECT FROM workflow.bookmarks b JOIN workflow.tasks t USING (id)
            WHERE t.name = await_end_of_lease.name AND b.lease_until > clock_timestamp())
        THEN RETURN; END IF;
        PERFORM pg_sleep(0.001);
    END LOOP;
    RAISE EXCEPTION 'the lease does not end';
END $$;
-- Pages that a claim of one task reads.
CREATE FUNCTION pages() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, FORMAT json) SELECT FROM wf_claim_tasks(''{Job}'')' INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks';
END $$;

-- In one transaction no entry can be removed.
BEGIN;
SELECT start_jobs(7000);
CALL complete(6000);
-- A claim reads past them, and those that follow do not.
DO $$
BEGIN
    ASSERT pages() > 200;
    FOR i IN 1 .. 100 LOOP
        IF pages() < 150 THEN RETURN; END IF;
    END LOOP;
    RAISE EXCEPTION 'all claims read many pages';
END $$;
-- They give the tasks in the order of the inbox. Those of a higher priority come first.
SELECT regexp_replace(correlation_id, '1\d{4}', 'N') AS task FROM wf_claim_tasks('{Job}', max => 2);
SELECT start_jobs(1, 5), start_jobs(1, -5);
SELECT regexp_replace(correlation_id, '1\d{4}', 'N') AS task FROM wf_claim_tasks('{Job}', max => 2);
-- A task that is given back is claimed again within about a second, although it is before the front.
SELECT task_id AS older, token, correlation_id FROM wf_claim_tasks('{Job}') \gset
CALL complete(500);
SELECT count(pages()) FROM generate_series(1, 2);
SELECT wf_release_task(:'older', :'token');
CALL claim_until(:'correlation_id', '{Job}');
-- All others are claimed as well, those of a lower priority last.
SELECT count(*) > 400 AS many, count(*) FILTER (WHERE correlation_id = '-5/1') AS low FROM wf_claim_tasks('{Job}', max => 1000);
SELECT count(*) FROM workflow.open_tasks WHERE available_at IS NULL;
ROLLBACK;

-- Ends of leases leave dead entries as well, which the claims of a second read once.
BEGIN;
SELECT start_jobs(7000);
DO $$ BEGIN
    FOR i IN 1 .. 12 LOOP
        PERFORM wf_complete_task(c.task_id, token => c.token) FROM wf_claim_tasks('{Job}', max => 500, lease => '1 ms') AS c;
    END LOOP;
END $$;
DO $$
BEGIN
    FOR i IN 1 .. 100 LOOP
        IF pages() < 150 THEN RETURN; END IF;
    END LOOP;
    RAISE EXCEPTION 'all claims read many pages';
END $$;
-- The only task of its name whose lease ends is claimed at once.
SELECT wf_start('named', '{"n": "Only", "p": 0}') IS NOT NULL AS started;
SELECT count(*) FROM wf_claim_tasks('{Only}', lease => '1 ms');
CALL await_end_of_lease('Only');
SELECT count(*) FROM wf_claim_tasks('{Only}');
-- Where there are others a lease that ends meanwhile is noticed within about a second.
SELECT correlation_id AS ended FROM wf_claim_tasks('{Job}', lease => '1 ms') \gset
CALL claim_until(:'ended', '{Job}');
ROLLBACK;

-- Claims of tasks of any of many names give them in the order of the inbox.
BEGIN;
DO $$ BEGIN
    FOR n IN 1 .. 120 LOOP PERFORM wf_start('named', jsonb_build_object('n', 'Job ' || n % 40, 'p', (n = 77)::integer), correlation_id => n::text); END LOOP;
END $$;
SELECT string_agg(c.correlation_id, ' ' ORDER BY n) FROM generate_series(1, 50) AS n, wf_claim_tasks(worker => n::text) AS c;
SELECT string_agg(correlation_id, ' ') FROM wf_claim_tasks(max => 10);
SELECT string_agg(correlation_id, ' ') FROM wf_claim_tasks(max => 10);
SELECT string_agg(correlation_id, ' ') FROM wf_claim_tasks(max => 20);
-- A task that is first from now on is claimed within about a second, of a name that is new as well.
SELECT wf_start('named', '{"n": "New", "p": 9}', correlation_id => 'new') IS NOT NULL AS started;
CALL claim_until('new', NULL);
SELECT count(*) FROM wf_claim_tasks(max => 100);
ROLLBACK;
-- Names whose tasks have ended are not asked for again: claims go on to the next ones.
BEGIN;
DO $$
DECLARE
    number integer = 0;
    claimed record;
BEGIN
    FOR n IN 1 .. 60 LOOP PERFORM wf_start('named', jsonb_build_object('n', 'Short ' || n), correlation_id => n::text); END LOOP;
    LOOP
        SELECT task_id, token, correlation_id INTO claimed FROM wf_claim_tasks();
        EXIT WHEN NOT FOUND;
        number := number + 1;
        ASSERT claimed.correlation_id = number::text;
        PERFORM wf_complete_task(claimed.task_id, token => claimed.token);
    END LOOP;
    ASSERT number = 60;
END $$;
ROLLBACK;

-- A role gets no task that it may not work on, wherever they begin.
CREATE ROLE regress_front_worker;
SELECT wf_grant_worker('regress_front_worker', names => '{Other}') IS NOT NULL AS granted;
BEGIN;
SELECT start_jobs(7000);
CALL complete(6000);
SELECT count(pages()) FROM generate_series(1, 2);
SET LOCAL ROLE regress_front_worker;
SELECT count(*) FROM wf_claim_tasks('{Job}', max => 10);
ROLLBACK;
SELECT wf_revoke_worker('regress_front_worker', names => '{Other}') IS NOT NULL AS revoked;
DROP ROLE regress_front_worker;

-- Behind the tasks of a key whose place is taken come the first tasks of the other keys, in the order of the inbox.
SELECT * FROM wf_define('{"definitionId": "keyed", "inputs": [{"name": "k"}, {"name": "p"}], "root": {"type": "RunTask", "taskName": "Keyed", "priority": {"input": "p"}, "payload": {"object": {"k": {"input": "k"}}}}}');
SELECT wf_limit_tasks('Keyed', 1, key => 'k');
CREATE FUNCTION start_keyed(k text, count integer, p integer DEFAULT 0) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(wf_start('keyed', jsonb_build_object('k', k, 'p', p), correlation_id => k || n)) FROM generate_series(1, count) AS n);
BEGIN;
SELECT start_keyed('a', 1000);
SELECT count(start_keyed('k' || n, 2)) FROM generate_series(1, 30) AS n;
SELECT correlation_id FROM wf_claim_tasks('{Keyed}');
SELECT string_agg(c.correlation_id, ' ' ORDER BY n) FROM generate_series(1, 12) AS n, wf_claim_tasks('{Keyed}', worker => n::text) AS c;
SELECT string_agg(correlation_id, ' ') FROM wf_claim_tasks('{Keyed}', max => 10);
-- A place that is free again is taken by the next task of its key.
SELECT wf_complete_task(t.id, token => b.token) IS NOT NULL AS completed
FROM workflow.tasks t JOIN workflow.bookmarks b USING (id) JOIN workflow.instances i ON i.id = t.instance_id WHERE i.correlation_id = 'k31';
SELECT string_agg(correlation_id, ' ') FROM wf_claim_tasks('{Keyed}', max => 100);
-- A key that is new has its first task claimed when there is no other.
SELECT start_keyed('new', 2);
SELECT string_agg(correlation_id, ' ') FROM wf_claim_tasks('{Keyed}', max => 100);
SELECT count(*) FROM wf_claim_tasks('{Keyed}', max => 100);
ROLLBACK;
-- A new key whose task is the first is claimed within about a second.
BEGIN;
SELECT start_keyed('a', 50);
SELECT count(start_keyed('k' || n, 1)) FROM generate_series(1, 30) AS n;
SELECT count(*) FROM wf_claim_tasks('{Keyed}', max => 2);
SELECT start_keyed('new', 1, 9);
CALL claim_until('new1', '{Keyed}');
SELECT count(*) FROM wf_claim_tasks('{Keyed}', max => 100);
ROLLBACK;
SELECT wf_limit_tasks('Keyed', key => 'k');
