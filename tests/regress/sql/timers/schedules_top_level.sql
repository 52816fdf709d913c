-- Commands that PostgreSQL refuses inside a transaction block are left to a worker; their text says which these are.
\i tests/regress/include/schedules.sql

-- What PostgreSQL refuses inside a transaction block runs outside of one, in a worker; wf_run_due leaves it to that.
SELECT wf_schedule('vacuum', '@daily', 'VACUUM sales') IS NOT NULL AS scheduled;
SELECT wf_schedule_run_now('vacuum') IS NOT NULL AS instance;
SELECT wf_run_due();
SELECT wf_run_due();
SELECT activity, payload FROM workflow.waiting JOIN workflow.open_bookmarks USING (bookmark_id);
SELECT status FROM workflow.schedule_runs WHERE name = 'vacuum';

-- What a worker does when it has run the command:
SELECT r.sub_status, r.output FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"rows": 0}') AS r;
SELECT status, rows FROM workflow.schedule_runs WHERE name = 'vacuum';
SELECT wf_schedule_run_now('vacuum') IS NOT NULL AS instance;
SELECT wf_run_due();
SELECT r.sub_status FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"error": {"sqlstate": "57P02", "message": "the server ended while the command was running"}}') AS r;
SELECT status, sqlstate, error FROM workflow.schedule_runs WHERE name = 'vacuum' ORDER BY instance_id;

-- Which commands those are is decided by their text, and can be said.
RESET ROLE;
CREATE FUNCTION pg_temp.is_apart(command text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wf_schedule('probe', '@yearly', command);
    RETURN (SELECT (input ->> 'topLevel')::boolean FROM workflow.triggers WHERE schedule_name = 'probe');
END $$;
SELECT c AS command, pg_temp.is_apart(c) AS top_level
  FROM unnest(ARRAY['VACUUM', 'ANALYZE', 'CREATE INDEX CONCURRENTLY ON sales (day)', 'CREATE INDEX ON sales (day)', 'DROP INDEX CONCURRENTLY i', 'DROP INDEX i',
                    'REINDEX TABLE CONCURRENTLY sales', 'REINDEX TABLE sales', 'REINDEX DATABASE workflow', 'CALL p()', 'CREATE DATABASE d', 'ALTER SYSTEM SET work_mem = 1', 'CLUSTER',
                    'CLUSTER sales', 'ALTER TABLE a DETACH PARTITION b CONCURRENTLY', 'ALTER TABLE a DETACH PARTITION b', 'DISCARD ALL', 'COMMIT PREPARED ''x''', 'DO $x$ BEGIN END $x$']) AS c;
SELECT wf_alter_schedule('probe', top_level => true) IS NOT NULL AS altered;
SELECT input FROM workflow.triggers WHERE schedule_name = 'probe';
SELECT wf_unschedule('probe');
