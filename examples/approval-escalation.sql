-- Approval with a deadline: who does not answer in three days is passed over.
-- It sets the clock: run it as a superuser, in a database that was marked with ALTER DATABASE … SET workflow.testing = on:   psql -X -q < examples/approval-escalation.sql
-- It makes a schema "expense" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id IN ('expense-report') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('expense-report')) AS d \g /dev/null
DROP SCHEMA IF EXISTS expense CASCADE;
SET TIME ZONE 'UTC';
\set ECHO queries

\echo
\echo '== 1. The business: expense reports, and who approves whose ===================================='
\echo
CREATE SCHEMA expense;
CREATE TABLE expense.employees (
    name       text PRIMARY KEY,
    supervisor text REFERENCES expense.employees
);
CREATE TABLE expense.reports (
    id          integer GENERATED ALWAYS AS IDENTITY (START WITH 501) PRIMARY KEY,
    employee    text    NOT NULL REFERENCES expense.employees,
    amount      numeric NOT NULL CHECK (amount > 0),
    status      text    NOT NULL DEFAULT 'Submitted' CHECK (status IN ('Submitted', 'Approved', 'Rejected')),
    decided_by  text    REFERENCES expense.employees,
    CHECK ((status = 'Submitted') = (decided_by IS NULL))
);
INSERT INTO expense.employees VALUES ('Grace', NULL), ('Edsger', 'Grace'), ('Ada', 'Edsger');

\echo
\echo '== 2. The workflow: a task races a clock ======================================================='
\echo
\echo 'A Fork with WaitAny goes on with the branch that is first; the others are cancelled, and with them the'
\echo 'task in the inbox. If it was the clock, the next in line is asked. Nobody passes Grace over.'
\echo
SELECT * FROM wf_define($json${
    "definitionId": "expense-report", "name": "Expense report",
    "variables": {"Approver": null, "Decision": null},
    "root": [
        {"type": "SetVariable", "variable": "Approver",
         "value": {"sql": "SELECT supervisor FROM expense.employees WHERE name = input ->> 'employee'"}},
        {"id": "Undecided", "type": "While", "condition": {"js": "getDecision() === null"}, "body": [
            {"id": "Race", "type": "Fork", "joinMode": "WaitAny", "branches": [
                {"id": "Approve", "type": "RunTask", "taskName": "Approve expense report",
                 "payload": {"object": {"report": {"input": "report"}, "approver": {"var": "Approver"}}},
                 "result": {"var": "Decision"}},
                [{"id": "Deadline", "type": "Delay", "timeSpan": "3 days"},
                 {"id": "Escalate", "type": "SetVariable", "variable": "Approver",
                  "value": {"sql": "SELECT coalesce(supervisor, name) FROM expense.employees WHERE name = variables ->> 'Approver'"}}]]}]},
        {"id": "Record", "type": "Sql",
         "statement": "UPDATE expense.reports SET status = CASE WHEN ($2)::boolean THEN 'Approved' ELSE 'Rejected' END, decided_by = $3 #>> '{}' WHERE id = ($1)::integer",
         "parameters": [{"input": "report"}, {"js": "getDecision().approved"}, {"js": "getDecision().by"}]}
    ]
}$json$);

\echo
\echo '== 3. Ada hands in a report ===================================================================='
\echo
SET workflow.now = '2026-11-23 09:00:00+00';
BEGIN;
INSERT INTO expense.reports (employee, amount) VALUES ('Ada', 120.50) RETURNING id AS report \gset
SELECT wf_start('expense-report', jsonb_build_object('employee', 'Ada', 'report', :report), correlation_id => :'report') AS instance \gset
COMMIT;
SELECT name, payload FROM workflow.open_tasks WHERE instance_id = :'instance';
SELECT activity, due FROM workflow.waiting WHERE instance = :'instance' ORDER BY activity;

\echo
\echo '== 4. Edsger does not answer ==================================================================='
\echo
\echo 'A worker fires what is due; without workers wf_run_due() does. Here the clock is set, and it is called.'
\echo
SET workflow.now = '2026-11-26 09:00:01+00';
SELECT wf_run_due();
SELECT name, payload FROM workflow.open_tasks WHERE instance_id = :'instance';
SELECT status, payload ->> 'approver' AS approver FROM workflow.tasks WHERE instance_id = :'instance' ORDER BY created_at;

\echo
\echo '== 5. Grace does ==============================================================================='
\echo
SELECT r.sub_status
  FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '{"approved": true, "by": "Grace"}') AS r
 WHERE t.correlation_id = :'report';
SELECT * FROM expense.reports;

\echo
\echo 'What happened, in words.'
\echo
SELECT line FROM wf_explain(:'instance') AS line;
