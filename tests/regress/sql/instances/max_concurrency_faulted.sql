-- Which instances hold a place of maxConcurrency: those that can still run. One that a retry can continue keeps its place; one that a fault has
-- ended for good gives it back. finished_at says which is which, for all that asks.
SET workflow.now = '2026-03-01 09:00:00+00';
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE VIEW runs AS SELECT definition_id, correlation_id AS run, sub_status, finished_at FROM workflow.instance_list ORDER BY instance_id;
SELECT wf_define('{"definitionId": "timed", "options": {"maxConcurrency": {"max": 1}, "timeout": "1 day"}, "root": [{"id": "ask", "type": "RunTask", "taskName": "Ask"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "strict", "options": {"maxConcurrency": {"max": 1}, "compensateOn": ["cancel", "fault"]}, "root": [
    {"type": "Event", "eventName": "Go"}, {"type": "Fault", "message": "torn"}]}') \g /dev/null
SELECT wf_define('{"definitionId": "torn", "options": {"maxConcurrency": {"max": 1}}, "root": [
    {"type": "Event", "eventName": "Go"}, {"type": "Fault", "message": "torn"}]}') \g /dev/null
SELECT count(wf_start(d, correlation_id => d || n)) FROM unnest('{timed,strict,torn}'::text[]) AS d, generate_series(1, 2) AS n;
SELECT * FROM runs;

-- A fault that ends the run, and one that a retry can continue.
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go');
SELECT wf_run_due();
SELECT * FROM runs WHERE definition_id <> 'timed';
SELECT wf_retry(instance_id) FROM workflow.instance_list WHERE correlation_id = 'strict1';
\echo :SQLSTATE
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE correlation_id = 'torn1';
SELECT wf_run_due();
SELECT * FROM runs WHERE definition_id = 'torn';

-- The time of a run is over. The next one begins, and has a time of its own.
SET workflow.now = '2026-03-02 09:00:00+00';
SELECT wf_run_due();
SELECT * FROM runs WHERE definition_id = 'timed';
SELECT wf_pause(instance_id) FROM workflow.instance_list WHERE correlation_id = 'timed1';
SELECT wf_migrate(instance_id) FROM workflow.instance_list WHERE correlation_id = 'timed1';
\echo :SQLSTATE
SELECT problem FROM wf_check();

-- It does not keep its version, and retention removes it.
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE correlation_id IN ('strict2');
SELECT wf_delete_definition('torn');
\echo :SQLSTATE
SELECT wf_delete_definition('strict');
SET workflow.retention = '1d';
SET workflow.now = '2026-03-02 20:00:00+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-03 08:00:00+00';
SELECT wf_run_due();
SELECT * FROM runs;
SET workflow.now = '2026-03-03 12:00:00+00';
SELECT wf_run_due();
SELECT * FROM runs;
RESET workflow.retention;

-- Whose start fails stands in nobody's way: neither while it is tried again, nor when it was given up.
SELECT wf_define('{"definitionId": "turn", "options": {"maxConcurrency": {"max": 1}}, "root": [{"type": "Event", "eventName": "Turn"}]}') \g /dev/null
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$;
CREATE TRIGGER refuse BEFORE UPDATE ON workflow.instances FOR EACH ROW WHEN (new.correlation_id = 'bad') EXECUTE FUNCTION refuse();
SELECT count(wf_start('turn', correlation_id => c)) FROM unnest('{first,bad,second}'::text[]) AS c;
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Turn', correlation_id => 'first');
SET client_min_messages = warning;
SELECT wf_run_due();
SELECT wf_run_due();
SELECT run, sub_status FROM runs WHERE definition_id = 'turn';
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Turn', correlation_id => 'second');
SET workflow.now = '2026-03-03 12:00:30+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-03 12:01:00+00';
SELECT wf_run_due();
SET client_min_messages = error;
SELECT reason, correlation_id FROM workflow.dead_letter_list;
SELECT wf_start('turn', correlation_id => 'new') IS NOT NULL AS started;
SELECT run, sub_status FROM runs WHERE definition_id = 'turn';
DROP TRIGGER refuse ON workflow.instances;
DROP FUNCTION refuse();

-- Nor one whose owner is a role that does not exist any more.
CREATE ROLE leaver;
SELECT wf_grant_usage('leaver');
SELECT wf_grant('turn', 'leaver', '{start}');
SET ROLE leaver;
SELECT wf_start('turn', correlation_id => 'orphan') IS NOT NULL AS started;
RESET ROLE;
SELECT wf_start('turn', correlation_id => 'last') IS NOT NULL AS started;
SELECT wf_revoke_usage('leaver');
DROP ROLE leaver;
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Turn', correlation_id => 'new');
SELECT wf_run_due();
SELECT run, sub_status FROM runs WHERE definition_id = 'turn';
SELECT problem FROM wf_check();

-- A schedule whose run waits for its turn does not start another one beside it.
SELECT wf_define('{"definitionId": "nightly", "options": {"maxConcurrency": {"max": 1}}, "root": [{"type": "Event", "eventName": "Night"}]}') \g /dev/null
SELECT wf_start('nightly', correlation_id => 'by hand') IS NOT NULL AS started;
SELECT wf_schedule_workflow('nights', '1 hour', 'nightly', overlap => 'skip') \g /dev/null
SET workflow.now = '2026-03-03 13:10:00+00';
SELECT wf_run_due();
SET workflow.now = '2026-03-03 14:10:00+00';
SELECT wf_run_due();
SELECT run, sub_status FROM runs WHERE definition_id = 'nightly';
SELECT name, skipped FROM workflow.schedules WHERE name = 'nights';

-- Removing it cancels the run that has not begun.
SELECT wf_unschedule('nights');
SELECT run, sub_status FROM runs WHERE definition_id = 'nightly';
SELECT * FROM wf_check();
