-- wf_take_spans: what an exporter of traces gets of the journal, each burst once, in batches.
CREATE ROLE regress_spans_exporter LOGIN IN ROLE pg_monitor;
CREATE ROLE regress_spans_stranger LOGIN;
CREATE TABLE taken AS SELECT * FROM wf_take_spans() WITH NO DATA;
GRANT SELECT, INSERT ON taken TO regress_spans_exporter;
SELECT wf_define('{"definitionId": "sent", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask"}}') \g /dev/null

-- The first call stores where the journal ends.
\connect - regress_spans_exporter
SELECT count(*) FROM wf_take_spans();
\connect - postgres
SELECT wf_start('sent', '{"note": "ahem"}', instance_id => '01900000-0000-7000-8000-000000000001') \g /dev/null
SELECT task_id AS task FROM workflow.open_tasks WHERE instance_id = '01900000-0000-7000-8000-000000000001' \gset
SELECT wf_complete_task(:'task', '{"note": "ahem"}') \g /dev/null

-- Other databases of the server may have transactions that began before: the bursts come when these have ended.
\connect - regress_spans_exporter
DO $$
BEGIN
    WHILE (SELECT count(*) FROM taken) < 2 LOOP
        INSERT INTO taken SELECT * FROM wf_take_spans(1);
        COMMIT;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
SELECT instance_id, definition_id, version, parent_instance_id, traceparent, at >= started_at AS in_order,
    events @> '[{"event": "Bookmark created", "activity": "ask"}]' AS waits, events @> jsonb_build_array(jsonb_build_object('event', 'Resumed', 'bookmark', :'task')) AS resumed,
    events @> '[{"event": "Workflow finished"}]' AS ends FROM taken ORDER BY seq;
-- security.md#what-the-administrator-should-know: pg_monitor reads names and times for traces, and no data
SELECT count(*) FROM taken WHERE taken::text ~ 'ahem';
SELECT count(*) FROM wf_take_spans();

-- A rollback returns what was taken.
\connect - postgres
SELECT wf_start('sent') \g /dev/null
\connect - regress_spans_exporter
DO $$
DECLARE
    number bigint := 0;
BEGIN
    WHILE number = 0 LOOP
        SELECT count(*) INTO number FROM wf_take_spans();
        ROLLBACK;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
SELECT count(*) FROM wf_take_spans();
SELECT count(*) FROM wf_take_spans();

-- What is refused.
\set VERBOSITY terse
SELECT count(*) FROM wf_take_spans(0);
\echo :SQLSTATE
SELECT count(*) FROM wf_take_spans(NULL);
\echo :SQLSTATE
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM wf_take_spans();
\echo :SQLSTATE
ROLLBACK;
\connect - regress_spans_stranger
SELECT count(*) FROM wf_take_spans();
\echo :SQLSTATE
