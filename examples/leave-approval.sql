-- A leave request is approved by a supervisor and then by a manager, in the transactions that change it.
-- Run it in any database that has the extension:   psql -X -q < examples/leave-approval.sql
-- It makes a schema "holiday" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
-- Whether a server without workers says that nobody fires the deadline depends on the server.
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS holiday CASCADE;
-- What an earlier run of this file left.
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id = 'leave' \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id = 'leave') AS d \g /dev/null
\set ECHO queries

\echo
\echo '== 1. The business: a table of leave requests =================================================='
\echo
CREATE SCHEMA holiday;
CREATE TABLE holiday.requests (
    id       integer GENERATED ALWAYS AS IDENTITY (START WITH 1001) PRIMARY KEY,
    employee text    NOT NULL,
    days     integer NOT NULL,
    status   text    NOT NULL DEFAULT 'Submitted'
);

\echo
\echo '== 2. The workflow: six lines ==================================================================='
\echo
\echo 'Two people are asked, one after the other. One no ends it, and nobody approves their own leave.'
\echo
SELECT * FROM wf_define('{"definitionId": "leave", "outputs": [{"name": "Decision"}], "root":
    {"id": "Approval", "type": "Approve", "by": {"object": [{"input": "supervisor"}, "Grace"]}, "order": "serial", "not": ["starter"],
     "subject": {"liquid": "{{ Input.employee }} asks for {{ Input.days }} days of leave"},
     "deadline": "3 days",
     "result": {"output": "Decision"}}}');

\echo
\echo '== 3. Submit: the request and its workflow in one transaction =================================='
\echo
\echo 'The actor is the person for whom the application acts. The correlation id says which request it is.'
\echo
BEGIN;
SET LOCAL workflow.actor = 'Ada';
INSERT INTO holiday.requests (employee, days) VALUES ('Ada', 3) RETURNING id AS request \gset
SELECT wf_start('leave', '{"employee": "Ada", "days": 3, "supervisor": "Edsger"}', :'request') AS instance \gset
COMMIT;

\echo
\echo 'It waits for the supervisor: one row in the inbox.'
\echo
SELECT task_id AS task, payload ->> 'subject' AS subject, candidates FROM workflow.open_tasks WHERE correlation_id = :'request' \gset
SELECT :'subject' AS subject, :'candidates' AS candidates;

\echo
\echo '== 4. A rollback undoes both =================================================================='
\echo
\echo 'Edsger approves: the request changes, and the workflow continues. Then his application fails.'
\echo
BEGIN;
SET LOCAL workflow.actor = 'Edsger';
UPDATE holiday.requests SET status = 'Approved by Edsger' WHERE id = :request;
SELECT status, sub_status FROM wf_complete_task(:'task', 'true');
SELECT candidates FROM workflow.open_tasks WHERE correlation_id = :'request';
ROLLBACK;
SELECT r.status, t.candidates FROM holiday.requests AS r JOIN workflow.open_tasks AS t ON t.correlation_id = r.id::text;

\echo
\echo 'Request and workflow are as they were, together. Now again, with COMMIT:'
\echo
BEGIN;
SET LOCAL workflow.actor = 'Edsger';
UPDATE holiday.requests SET status = 'Approved by Edsger' WHERE id = :request;
SELECT status, sub_status FROM wf_complete_task(:'task', '{"approved": true, "comment": "have fun"}');
COMMIT;

\echo
\echo '== 5. Nobody approves twice ===================================================================='
\echo
\echo 'A second answer to the task is refused (SQLSTATE 55000), and the UPDATE before it is undone.'
\echo
-- The message names the task; the code alone is the same in every run.
\set VERBOSITY sqlstate
BEGIN;
SET LOCAL workflow.actor = 'Edsger';
UPDATE holiday.requests SET status = 'Approved by Edsger, again' WHERE id = :request;
SELECT * FROM wf_complete_task(:'task', 'true');
ROLLBACK;
\set VERBOSITY default
SELECT status FROM holiday.requests;

\echo
\echo '== 6. The manager approves, and the workflow ends =============================================='
\echo
BEGIN;
SET LOCAL workflow.actor = 'Grace';
UPDATE holiday.requests SET status = 'Approved' WHERE id = :request;
SELECT r.sub_status, r.output FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, 'true') AS r WHERE t.correlation_id = :'request';
COMMIT;

\echo
\echo 'Who did what is on record:'
\echo
SELECT actor, kind, activity FROM workflow.audit WHERE instance_id = :'instance' ORDER BY at;

\echo
\echo '== 7. One no ends it ==========================================================================='
\echo
\echo 'The next request: its starter cannot approve it, and a no of the supervisor is the decision.'
\echo
BEGIN;
SET LOCAL workflow.actor = 'Edsger';
INSERT INTO holiday.requests (employee, days) VALUES ('Edsger', 22) RETURNING id AS request \gset
SELECT wf_start('leave', '{"employee": "Edsger", "days": 22, "supervisor": "Barbara"}', :'request') AS instance \gset
COMMIT;
SELECT task_id AS task FROM workflow.open_tasks WHERE correlation_id = :'request' \gset
\set VERBOSITY sqlstate
BEGIN;
SET LOCAL workflow.actor = 'Edsger';
SELECT * FROM wf_complete_task(:'task', 'true');
ROLLBACK;
\set VERBOSITY default
BEGIN;
SET LOCAL workflow.actor = 'Barbara';
UPDATE holiday.requests SET status = 'Rejected' WHERE id = :request;
SELECT sub_status, output FROM wf_complete_task(:'task', '{"approved": false, "comment": "not in April"}');
COMMIT;

\echo
\echo '== 8. How it ended ============================================================================='
\echo
SELECT r.id, r.employee, r.status, i.sub_status, i.output
  FROM holiday.requests AS r JOIN workflow.instance_list AS i ON i.correlation_id = r.id::text AND i.definition_id = 'leave' ORDER BY r.id;
