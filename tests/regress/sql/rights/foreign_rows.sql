-- What strangers store costs no other role anything: claims and stimuli read as many rows of our tables with many tasks, bookmarks, triggers and
-- kept stimuli of the same names in definitions of other roles as with a few.
SET client_min_messages = error;
CREATE ROLE regress_app;
CREATE ROLE regress_stranger;
SELECT wf_grant_usage('regress_app'), wf_grant_usage('regress_stranger') \g /dev/null

-- The rows and blocks of our tables that a statement reads. What a session caches is read before.
CREATE TABLE cost (act text, round integer, rows bigint, blocks bigint);
GRANT ALL ON cost TO PUBLIC;
CREATE FUNCTION read_so_far(OUT rows bigint, OUT blocks bigint) LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT sum(pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid)),
           sum(pg_stat_get_xact_blocks_fetched(c.oid)) FILTER (WHERE c.relkind = 'r')
    FROM pg_class AS c
    WHERE c.relnamespace = 'workflow'::regnamespace AND c.relkind IN ('r', 'i')
$$;
CREATE PROCEDURE measure(act text, round integer, query text) LANGUAGE plpgsql AS $$
DECLARE
    before record;
    after record;
BEGIN
    FOR i IN 1..8 LOOP
        BEGIN
            SELECT * INTO before FROM read_so_far();
            EXECUTE query;
            SELECT * INTO after FROM read_so_far();
            RAISE EXCEPTION USING ERRCODE = 'UW000';
        EXCEPTION WHEN SQLSTATE 'UW000' THEN
        END;
    END LOOP;
    INSERT INTO cost VALUES (act, round, after.rows - before.rows, after.blocks - before.blocks);
END
$$;
GRANT EXECUTE ON PROCEDURE measure TO PUBLIC;

-- The same workflows of both roles, but the stranger's tasks come first.
CREATE PROCEDURE define(prefix text, priority integer) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', prefix || (d ->> 0), 'root', d -> 1))
    FROM jsonb_array_elements(jsonb_set('[
        ["task", {"id": "t", "type": "RunTask", "taskName": "Charge"}],
        ["event", {"type": "Event", "eventName": "Paid"}],
        ["late", {"type": "Event", "eventName": "Late"}],
        ["started", {"type": "Event", "eventName": "Begun", "canStartWorkflow": true}]]', '{0, 1, priority}', to_jsonb(priority))) AS d;
END
$$;
GRANT EXECUTE ON PROCEDURE define TO PUBLIC;
SET ROLE regress_app;
CALL define('app ', 1);
SELECT count(wf_start('app task')) FROM generate_series(1, 10);
SELECT count(wf_start('app event', correlation_id => 'order 1')) FROM generate_series(1, 2);
SELECT count(wf_enqueue_bookmark('Elsa.Event', '{"EventName": "Late"}', keep_for => '1 hour')) FROM generate_series(1, 2);
SET ROLE regress_stranger;
CALL define('strange ', 9);
SELECT wf_start('strange task'), wf_start('strange event'), wf_start('strange event', correlation_id => 'order 1') \g /dev/null
SELECT count(wf_enqueue_bookmark('Elsa.Event', '{"EventName": "Late"}', keep_for => '1 hour'));
RESET ROLE;
VACUUM ANALYZE;

CREATE PROCEDURE measure_all(round integer) LANGUAGE plpgsql AS $$
BEGIN
    CALL measure('claim', round, $q$SELECT count(*) FROM wf_claim_tasks('{Charge}', 'w', 3)$q$);
    CALL measure('claim of any name', round, $q$SELECT count(*) FROM wf_claim_tasks(worker => 'w', max => 3)$q$);
    CALL measure('event', round, $q$SELECT wf_publish_event('Paid')$q$);
    CALL measure('event with a correlation id', round, $q$SELECT wf_publish_event('Paid', correlation_id => 'order 1')$q$);
    CALL measure('stimulus without a payload', round, $q$SELECT wf_send_stimulus('Elsa.Event')$q$);
    CALL measure('stimulus that is kept', round, $q$SELECT wf_enqueue_bookmark('Elsa.Event', '{"EventName": "Paid"}', keep_for => '1 hour')$q$);
    CALL measure('event that starts', round, $q$SELECT wf_publish_event('Begun')$q$);
    CALL measure('start that meets a kept stimulus', round, $q$SELECT wf_start('app late')$q$);
END
$$;
GRANT EXECUTE ON PROCEDURE measure_all TO PUBLIC;
-- A session that waits for tasks has transactions of its own, which are counted when they end.
CREATE FUNCTION read_ever() RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT sum(pg_stat_get_tuples_returned(c.oid) + pg_stat_get_tuples_fetched(c.oid))::bigint
    FROM pg_class AS c
    WHERE c.relnamespace = 'workflow'::regnamespace AND c.relkind IN ('r', 'i')
$$;

-- With a few rows of the stranger.
\c
SET client_min_messages = error;
SET ROLE regress_app;
CALL measure_all(1);
CALL wf_wait_tasks('{Charge}', '0');
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT read_ever() AS before \gset
CALL wf_wait_tasks('{Charge}', '0');
SELECT pg_stat_force_next_flush() \g /dev/null
INSERT INTO cost SELECT 'wait', 1, read_ever() - :before;

-- With many, which no plan and no statistics know of yet; and with plans that know of them.
SET ROLE regress_stranger;
SELECT count(wf_start('strange task')) + count(wf_start('strange event')) + count(wf_start('strange event', correlation_id => 'order 1'))
FROM generate_series(1, 3000);
SELECT count(wf_enqueue_bookmark('Elsa.Event', '{"EventName": "Late"}', keep_for => '1 hour')) FROM generate_series(1, 3000);
SELECT count(wf_define(jsonb_build_object('definitionId', 'strange ' || i, 'root', '{"type": "Event", "eventName": "Begun", "canStartWorkflow": true}'::jsonb)))
FROM generate_series(1, 500) AS i;
SET ROLE regress_app;
CALL measure_all(2);
RESET ROLE;
VACUUM ANALYZE;
\c
SET client_min_messages = error;
SET ROLE regress_app;
CALL measure_all(3);
CALL wf_wait_tasks('{Charge}', '0');
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT read_ever() AS before \gset
CALL wf_wait_tasks('{Charge}', '0');
SELECT pg_stat_force_next_flush() \g /dev/null
INSERT INTO cost SELECT 'wait', 3, read_ever() - :before;
-- No more are read; a few were left by the calls that were rolled back.
SELECT act, max(rows) FILTER (WHERE round > 1) <= min(rows) FILTER (WHERE round = 1) + 20 AS rows_stay,
       max(blocks) FILTER (WHERE round > 1) <= min(blocks) FILTER (WHERE round = 1) + 10 AS blocks_stay, min(rows) > 0 AS reads_some
FROM cost GROUP BY act ORDER BY act;
RESET ROLE;
SELECT * FROM wf_check();

-- security.md#what-others-store: of an owner that granted the sender something, ten bookmarks are read to be counted.
SET ROLE regress_stranger;
SELECT wf_grant('strange event', 'regress_app', '{resume}') \g /dev/null
SET ROLE regress_app;
SELECT cardinality(resumed) AS resumed, withheld FROM wf_publish_event('Paid');
RESET ROLE;
