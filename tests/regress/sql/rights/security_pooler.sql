-- One session, several roles, as a pooler has it: what one has cached is not another's.
\i tests/regress/include/security.sql

\connect - regress_security_alice
SELECT * FROM wf_define('{"definitionId": "alice", "root": [{"id": "go", "type": "Event", "eventName": "Go"}, {"id": "task", "type": "RunTask", "taskName": "Secret"}]}');

-- One session, several roles (a pooler): what one has cached is not another's.
\connect - postgres
SET ROLE regress_security_alice;
SELECT wf_start('alice', correlation_id => 'pooled') IS NOT NULL AS started;
SET ROLE regress_security_mallory;
SELECT wf_start('alice');
\echo :SQLSTATE
SELECT count(*) FROM workflow.waiting WHERE correlation_id = 'pooled';
RESET ROLE;
SELECT * FROM wf_check();
