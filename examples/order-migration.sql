-- A version change with 100 orders in flight: a dry run first, two orders that are refused, and what is done about them.
-- Run it in any database that has the extension:   psql -X -q < examples/order-migration.sql
-- It can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id = 'web-order' \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id = 'web-order') AS d \g /dev/null
\set ECHO queries

\echo
\echo '== 1. Version 1: pay, check by hand, ship ======================================================='
\echo
SELECT * FROM wf_define('{"definitionId": "web-order", "inputs": [{"name": "number", "type": "Int32"}], "root":
    {"id": "steps", "type": "Sequence", "activities": [
        {"id": "payment", "type": "Event", "eventName": "Paid"},
        {"id": "check", "type": "RunTask", "taskName": "check-order"},
        {"id": "parcel", "type": "RunTask", "taskName": "pack"}]}}');
SELECT count(wf_start('web-order', jsonb_build_object('number', n), n::text)) AS orders FROM generate_series(1, 100) AS n;

-- Ten are paid, and eight of these were checked.
SELECT sum(cardinality(resumed)) AS paid FROM generate_series(1, 10) AS n, wf_publish_event('Paid', correlation_id => n::text);
SELECT count(*) AS checked FROM (SELECT task_id FROM workflow.open_tasks WHERE name = 'check-order' ORDER BY correlation_id::int LIMIT 8) AS t,
    wf_complete_task(t.task_id);

\echo
\echo '== 2. Version 2: no person checks any more, and the customer gets a mail ========================'
\echo
SELECT * FROM wf_define('{"definitionId": "web-order", "inputs": [{"name": "number", "type": "Int32"}], "root":
    {"id": "steps", "type": "Sequence", "activities": [
        {"id": "paid", "type": "Event", "eventName": "Paid"},
        {"id": "pack", "type": "RunTask", "taskName": "pack"},
        {"id": "mail", "type": "WriteLine", "text": {"js": "`order ${getNumber()} is on its way`"}}]}}');

\echo
\echo '== 3. A dry run says what would become of each =================================================='
\echo
-- Ids have changed: without a mapping nothing could go on.
SELECT outcome, count(*) FROM wf_migrate_all('web-order', dry_run => true) GROUP BY 1 ORDER BY 1;
SELECT outcome, problems, count(*)
  FROM wf_migrate_all('web-order', mapping => '{"payment": "paid", "parcel": "pack"}', dry_run => true)
 GROUP BY 1, 2 ORDER BY 1, 3;

\echo
\echo '== 4. For real: 98 go over, two wait for a check that version 2 does not have ==================='
\echo
SELECT outcome, count(*) FROM wf_migrate_all('web-order', mapping => '{"payment": "paid", "parcel": "pack"}') GROUP BY 1 ORDER BY 1;
SELECT i.version, t.name, t.activity_id, count(*)
  FROM workflow.open_tasks AS t JOIN workflow.instance_list AS i USING (instance_id) WHERE i.definition_id = 'web-order' GROUP BY 1, 2, 3 ORDER BY 1, 2;

\echo
\echo '== 5. One of the two is checked in the old version, the other one is spared it =================='
\echo
SELECT r.sub_status FROM (SELECT task_id FROM workflow.open_tasks WHERE name = 'check-order' ORDER BY correlation_id::int LIMIT 1) AS t,
    wf_complete_task(t.task_id) AS r;
SELECT outcome, problems, count(*)
  FROM wf_migrate_all('web-order', from_version => 1, mapping => '{"payment": "paid", "parcel": "pack", "check": null}') GROUP BY 1, 2;
SELECT version, count(*) FROM workflow.instance_list WHERE definition_id = 'web-order' GROUP BY 1;

\echo
\echo '== 6. Everything goes on in version 2 ==========================================================='
\echo
SELECT sum(cardinality(resumed)) AS paid FROM generate_series(11, 12) AS n, wf_publish_event('Paid', correlation_id => n::text);
SELECT r.sub_status, count(*) FROM (SELECT task_id FROM workflow.open_tasks WHERE name = 'pack') AS t, wf_complete_task(t.task_id) AS r GROUP BY 1;
SELECT i.correlation_id, j.data #>> '{}' AS line FROM workflow.instance_list AS i JOIN workflow.journal AS j USING (instance_id)
 WHERE i.definition_id = 'web-order' AND j.event = 'Line' ORDER BY i.correlation_id::int LIMIT 3;
