-- A definition that cannot be read keeps no other task from being claimed. The claim warns of it once, however many tasks it has.
CREATE ROLE regress_unreadable LOGIN SUPERUSER;
SELECT wf_define('{"definitionId": "broken", "root": [{"id": "ask", "type": "RunTask", "taskName": "Ask"}]}');
SELECT wf_define('{"definitionId": "sound", "root": [{"id": "ask", "type": "RunTask", "taskName": "Ask"}]}');
SELECT count(wf_start('broken')) FROM generate_series(1, 20);
SELECT wf_start('sound', correlation_id => 'sound') IS NOT NULL AS started;
UPDATE workflow.definitions SET numbering = '{}' WHERE definition_id = 'broken';
-- A session that has not read it before.
\connect - regress_unreadable
SELECT correlation_id FROM wf_claim_tasks(max => 10);
CALL wf_wait_tasks('{Ask}', '0');
\connect - postgres
UPDATE workflow.definitions SET numbering = (SELECT numbering FROM workflow.definitions WHERE definition_id = 'sound') WHERE definition_id = 'broken';
DROP OWNED BY regress_unreadable;
DROP ROLE regress_unreadable;
SELECT * FROM wf_check();
