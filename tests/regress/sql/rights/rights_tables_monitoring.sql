-- What a role that watches reads: counts and wf_check(), not contents.
-- (docs/security.md: "What the administrator should know")
\i tests/regress/include/rights_tables.sql

-- What is due has fired, and one role may read everything.
\connect - postgres
SET client_min_messages = error;
SET workflow.now = '2030-01-01 11:30:00+00';
SELECT wf_run_due() > 0 AS fired;
GRANT pg_read_all_data TO regress_tables_plain;
\connect - postgres

-- security.md#what-the-administrator-should-know: pg_monitor reads counts and wf_check(), not contents; other roles neither
-- Monitoring: counts of everything without contents, and an error instead of a zero for others.
SET workflow.now = '2020-01-01 08:00:00+00';
SELECT wf_define('{"definitionId": "late", "root": [{"type": "Delay", "timeSpan": "00:00:01"}]}') \g /dev/null
SELECT wf_start('late') IS NOT NULL AS waits;
RESET workflow.now;
\connect - regress_tables_monitor
SELECT open_incidents, latest_incident, dead_letters, latest_dead_letter, failed_schedules, oldest_due FROM workflow.health;
SELECT * FROM wf_check();
SELECT count(*) FROM workflow.open_incidents;
SELECT count(*) FROM workflow.incidents;
\connect - regress_tables_plain
SELECT open_incidents FROM workflow.health;
\connect - postgres
REVOKE pg_read_all_data FROM regress_tables_plain;
\connect - regress_tables_plain
SELECT open_incidents FROM workflow.health;
SELECT * FROM wf_check();
\connect - postgres
SELECT (SELECT count(*) FROM workflow.open_incidents) = open_incidents AS incidents,
       (SELECT count(*) FROM workflow.dead_letter_list WHERE replayed_at IS NULL) = dead_letters AS dead_letters,
       (SELECT count(*) FROM workflow.schedules WHERE last_status IN ('failed', 'interrupted')) = failed_schedules AS schedules FROM workflow.health;
SELECT wf_retry(instance_id) IS NOT NULL AS again, wf_cancel(instance_id) AS cancelled FROM workflow.open_incidents WHERE definition_id = 'broken';
SELECT wf_replay(dead_letter_id) FROM workflow.dead_letter_list;
SELECT wf_unschedule('failing');
SELECT open_incidents, dead_letters, failed_schedules FROM workflow.health;
