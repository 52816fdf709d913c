-- Mallory has no grant on Alice's definition: every call that names it, its instance or its bookmark is refused.
\i tests/regress/include/security.sql

-- security.md#owners-and-grants: without a grant none of the rights of the table
-- Alice's definitions and instances.
\connect - regress_security_alice
SELECT * FROM wf_define('{"definitionId": "alice", "root": [{"id": "go", "type": "Event", "eventName": "Go"}, {"id": "task", "type": "RunTask", "taskName": "Secret"}]}');
SELECT wf_start('alice', '{"secret": "ahem"}', correlation_id => 'a1', instance_id => '01900000-0000-7000-8000-0000000000a1');
SELECT bookmark_id AS bookmark FROM workflow.waiting \gset
\connect - regress_security_mallory
\set VERBOSITY sqlstate
SELECT wf_start('alice');
SELECT wf_start('alice', instance_id => '01900000-0000-7000-8000-0000000000a1');
SELECT * FROM wf_resume(:'bookmark');
SELECT * FROM wf_resume(:'bookmark', missing_ok => true);
SELECT * FROM wf_complete_task(:'bookmark');
SELECT wf_cancel('01900000-0000-7000-8000-0000000000a1');
SELECT * FROM wf_retry('01900000-0000-7000-8000-0000000000a1');
SELECT wf_delete_instance('01900000-0000-7000-8000-0000000000a1');
SELECT wf_export('alice');
SELECT * FROM wf_define('{"definitionId": "alice", "root": []}');
SELECT wf_publish('alice');
SELECT wf_retract('alice');
SELECT * FROM wf_refresh('alice');
SELECT wf_delete_definition('alice');
SELECT wf_grant('alice', 'regress_security_mallory', '{start}');
SELECT workflow.instance_state('01900000-0000-7000-8000-0000000000a1');
\set VERBOSITY default
