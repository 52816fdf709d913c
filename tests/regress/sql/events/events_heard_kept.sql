-- A stimulus that is kept is heard later by those whom its sender has admitted, not by another that waits first.
\i tests/regress/include/events_heard.sql

-- security.md#who-may-receive-a-stimulus: what is kept is heard by the same owners later
-- What is kept is for those whom its sender has admitted, too, and not for another that waits first.
SELECT * FROM wf_define('{"definitionId": "thief", "variables": {"P": null}, "root": [{"id": "wait", "type": "Event", "eventName": "Wire", "result": {"var": "P"}}]}');
SELECT wf_grant('thief', 'regress_events_bob', '{start,resume}');
\connect - regress_events_alice
SELECT * FROM wf_define('{"definitionId": "bank", "variables": {"P": null}, "root": [{"id": "wait", "type": "Event", "eventName": "Wire", "result": {"var": "P"}}]}');
SELECT wf_grant('bank', 'regress_events_bob', '{start,resume}');
\connect - regress_events_bob
SELECT wf_grant_events('regress_events_alice');
SELECT queued_id IS NOT NULL AS kept, withheld FROM wf_publish_event('Wire', '{"iban": "DE00BOB"}', keep_for => '1 hour');
\connect - regress_events_mallory
SELECT sub_status FROM wf_run('thief');
SELECT wf_run_due() >= 0 AS swept;
\connect - postgres
SELECT wf_run_due() >= 0 AS swept;
\connect - regress_events_alice
SELECT sub_status FROM wf_run('bank');
SELECT variables FROM workflow.instance_list WHERE definition_id = 'bank';
\connect - regress_events_mallory
SELECT sub_status, variables FROM workflow.instance_list WHERE definition_id = 'thief';
