-- A team shares an inbox: who takes a task, who passes it on, and what is late.
-- It sets the clock: run it as a superuser, in a database that was marked with ALTER DATABASE … SET workflow.testing = on:   psql -X -q < examples/team-inbox.sql
-- It makes roles "inbox_…" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id IN ('complaint') \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id IN ('complaint')) AS d \g /dev/null
SELECT count(wf_revoke_usage(rolname)) FROM pg_roles WHERE rolname IN ('inbox_service', 'inbox_ada', 'inbox_ben', 'inbox_lead') \g /dev/null
DROP ROLE IF EXISTS inbox_ada, inbox_ben, inbox_lead, inbox_service;
SET TIME ZONE 'UTC';
SET workflow.now = '2026-03-02 09:00:00+00';
\set ECHO queries

\echo
\echo '== 1. The team: two people and their lead ======================================================='
\echo
CREATE ROLE inbox_service;
CREATE ROLE inbox_ada IN ROLE inbox_service;
CREATE ROLE inbox_ben IN ROLE inbox_service;
CREATE ROLE inbox_lead;
SELECT count(wf_grant_usage(role)) FROM unnest('{inbox_service,inbox_ada,inbox_ben,inbox_lead}'::text[]) AS role;

\echo
\echo '== 2. The workflow: a complaint is answered within two days, a large one by Ben ================='
\echo
\echo 'The candidates are the team. The form is for the page that shows the task; the schema refuses an answer'
\echo 'with which the workflow could not go on.'
\echo
SELECT * FROM wf_define($json${
    "definitionId": "complaint", "name": "Complaint",
    "inputs": [{"name": "customer"}, {"name": "amount", "type": "Decimal"}],
    "outputs": [{"name": "Refund"}], "variables": {"Answer": null},
    "root": [
        {"id": "Answer", "type": "RunTask", "taskName": "Answer complaint",
         "payload": {"object": {"customer": {"input": "customer"}, "amount": {"input": "amount"}}},
         "assignee": {"js": "getInput('amount') > 1000 ? 'role:inbox_ben' : null"},
         "candidates": ["role:inbox_service"], "deadline": "2 days",
         "form": {"type": "object", "title": "Complaint",
                  "properties": {"refund": {"type": "number", "title": "How much do we pay back?"}}},
         "resultSchema": {"type": "object", "required": ["refund"], "properties": {"refund": {"type": "number", "minimum": 0}}},
         "result": {"var": "Answer"}},
        {"type": "SetOutput", "outputName": "Refund", "outputValue": {"js": "getAnswer().refund"}}
    ]
}$json$);
SELECT wf_grant('complaint', 'inbox_lead', '{read,alter}');

\echo
\echo '== 3. Three complaints come in =================================================================='
\echo
SELECT count(wf_start('complaint', jsonb_build_object('customer', customer, 'amount', amount), correlation_id => customer))
  FROM (VALUES ('Grace', 40), ('Edsger', 1500), ('Alan', 15)) AS c (customer, amount);

\echo
\echo '== 4. Ada looks into the inbox, and takes the oldest without an assignee ========================'
\echo
SET ROLE inbox_ada;
SELECT payload ->> 'customer' AS customer, assignee, candidates, deadline FROM workflow.open_tasks;
SELECT wf_assign_task(task_id, 'role:inbox_ada') FROM workflow.open_tasks WHERE assignee IS NULL LIMIT 1;
SELECT payload ->> 'customer' AS customer, form #>> '{properties,refund,title}' AS question
  FROM workflow.open_tasks WHERE assignee = 'role:inbox_ada';

\echo
\echo '== 5. She mistypes the answer, and then does not ================================================'
\echo
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '{"refnud": 40}') AS r WHERE t.assignee = 'role:inbox_ada';
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '{"refund": 40}') AS r WHERE t.assignee = 'role:inbox_ada';
RESET ROLE;

\echo
\echo '== 6. Three days later: the lead sees what is late, and gives it to Ada =========================='
\echo
SET workflow.now = '2026-03-05 09:00:00+00';
SET ROLE inbox_lead;
SELECT payload ->> 'customer' AS customer, assignee, timestamptz '2026-03-05 09:00' - deadline AS late
  FROM workflow.open_tasks WHERE deadline < '2026-03-05 09:00' ORDER BY deadline, task_id;
SELECT wf_assign_task(task_id, 'role:inbox_ada') FROM workflow.open_tasks WHERE deadline < '2026-03-05 09:00';

\echo
\echo '== 7. Ada answers both; the story says who had the task ========================================='
\echo
SET ROLE inbox_ada;
SELECT t.payload ->> 'customer' AS customer, r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '{"refund": 10}') AS r;
RESET ROLE;
SELECT line FROM workflow.instance_list AS i, wf_explain(i.instance_id) AS line WHERE i.correlation_id = 'Edsger';
SELECT correlation_id, output FROM workflow.instance_list WHERE definition_id = 'complaint' ORDER BY created_at, correlation_id;
