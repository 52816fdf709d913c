-- A definition that Elsa Studio exported, and its short form: two people approve a leave request, in the transactions that change it.
-- Run it in any database that has the extension:   psql -X -q < examples/studio-approval.sql
-- It makes a schema "leave" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS leave CASCADE;
-- What an earlier run of this file left.
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id = 'leave-approval' \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id = 'leave-approval') AS d \g /dev/null
RESET client_min_messages;
\set ECHO queries

\echo
\echo '== 1. The business: employees, and their leave requests ======================================'
\echo
\echo 'Nothing here knows of workflows. The status is what the business wants to see on the request.'
\echo
CREATE SCHEMA leave;
CREATE TABLE leave.employees (
    name       text PRIMARY KEY,
    supervisor text REFERENCES leave.employees
);
CREATE TABLE leave.requests (
    id        integer GENERATED ALWAYS AS IDENTITY (START WITH 1001) PRIMARY KEY,
    employee  text    NOT NULL REFERENCES leave.employees,
    first_day date    NOT NULL,
    last_day  date    NOT NULL,
    status    text    NOT NULL DEFAULT 'Draft'
);
INSERT INTO leave.employees VALUES ('Grace', NULL), ('Edsger', 'Grace'), ('Ada', 'Edsger');

\echo
\echo '== 2. The workflow: supervisor, then manager =================================================='
\echo
\echo 'This is what Elsa Studio exports, positions and all. A RunTask puts a task into an inbox and'
\echo 'waits at a bookmark; what the bookmark is resumed with becomes its result.'
\echo
SELECT * FROM wf_define($json$
{
  "$schema": "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json",
  "id": "5f1c0c3a9d0e4b7e", "definitionId": "leave-approval", "name": "Leave approval",
  "createdAt": "2026-01-15T09:30:00+00:00", "version": 1, "toolVersion": "3.6.0.0",
  "variables": [
    {"id": "d1a7", "name": "Decision", "typeName": "Object", "isArray": false,
     "storageDriverTypeName": "WorkflowInstanceStorageDriver"}
  ],
  "inputs": [], "outputs": [
    {"type": "Boolean", "name": "Approved", "displayName": "Approved", "description": "", "category": "Output"}
  ],
  "outcomes": [], "customProperties": {}, "isReadonly": false, "isSystem": false, "isLatest": true, "isPublished": false,
  "options": {"autoUpdateConsumingWorkflows": false},
  "root": {
    "id": "Flowchart1", "nodeId": "Workflow1:Flowchart1", "name": "Flowchart1", "type": "Elsa.Flowchart", "version": 1,
    "customProperties": {"notFoundConnections": [], "canStartWorkflow": false, "runAsynchronously": false},
    "metadata": {}, "variables": [],
    "activities": [
      {
        "id": "SupervisorApproval", "nodeId": "Workflow1:Flowchart1:SupervisorApproval", "name": "RunTask1",
        "type": "Elsa.RunTask", "version": 1,
        "taskName": {"typeName": "String", "expression": {"type": "Literal", "value": "Supervisor approval"}},
        "payload": {"typeName": "ObjectDictionary", "expression":
          {"type": "JavaScript", "value": "({ employee: getInput('employee'), days: getInput('days') })"}},
        "result": {"typeName": "Object", "memoryReference": {"id": "d1a7"}},
        "customProperties": {"canStartWorkflow": false, "runAsynchronously": false},
        "metadata": {"designer": {"position": {"x": -460, "y": 20}, "size": {"width": 168, "height": 50}}}
      },
      {
        "id": "SupervisorDecision", "nodeId": "Workflow1:Flowchart1:SupervisorDecision", "name": "FlowDecision1",
        "type": "Elsa.FlowDecision", "version": 1,
        "condition": {"typeName": "Boolean", "expression": {"type": "JavaScript", "value": "getDecision().approved"}},
        "customProperties": {"canStartWorkflow": false, "runAsynchronously": false},
        "metadata": {"designer": {"position": {"x": -220, "y": 20}, "size": {"width": 120, "height": 70}}}
      },
      {
        "id": "ManagerApproval", "nodeId": "Workflow1:Flowchart1:ManagerApproval", "name": "RunTask2",
        "type": "Elsa.RunTask", "version": 1,
        "taskName": {"typeName": "String", "expression": {"type": "Literal", "value": "Manager approval"}},
        "payload": {"typeName": "ObjectDictionary", "expression":
          {"type": "JavaScript", "value": "({ employee: getInput('employee'), days: getInput('days') })"}},
        "result": {"typeName": "Object", "memoryReference": {"id": "d1a7"}},
        "customProperties": {"canStartWorkflow": false, "runAsynchronously": false},
        "metadata": {"designer": {"position": {"x": -40, "y": -40}, "size": {"width": 168, "height": 50}}}
      },
      {
        "id": "ManagerDecision", "nodeId": "Workflow1:Flowchart1:ManagerDecision", "name": "FlowDecision2",
        "type": "Elsa.FlowDecision", "version": 1,
        "condition": {"typeName": "Boolean", "expression": {"type": "JavaScript", "value": "getDecision().approved"}},
        "customProperties": {"canStartWorkflow": false, "runAsynchronously": false},
        "metadata": {"designer": {"position": {"x": 190, "y": -40}, "size": {"width": 120, "height": 70}}}
      },
      {
        "id": "Approved", "nodeId": "Workflow1:Flowchart1:Approved", "name": "SetOutput1",
        "type": "Elsa.SetOutput", "version": 1,
        "outputName": {"typeName": "String", "expression": {"type": "Literal", "value": "Approved"}},
        "outputValue": {"typeName": "Object", "expression": {"type": "Literal", "value": true}},
        "customProperties": {"canStartWorkflow": false, "runAsynchronously": false},
        "metadata": {"designer": {"position": {"x": 380, "y": -80}, "size": {"width": 150, "height": 50}}}
      },
      {
        "id": "Rejected", "nodeId": "Workflow1:Flowchart1:Rejected", "name": "SetOutput2",
        "type": "Elsa.SetOutput", "version": 1,
        "outputName": {"typeName": "String", "expression": {"type": "Literal", "value": "Approved"}},
        "outputValue": {"typeName": "Object", "expression": {"type": "Literal", "value": false}},
        "customProperties": {"canStartWorkflow": false, "runAsynchronously": false},
        "metadata": {"designer": {"position": {"x": 380, "y": 80}, "size": {"width": 150, "height": 50}}}
      }
    ],
    "connections": [
      {"source": {"activity": "SupervisorApproval", "port": "Done"},  "target": {"activity": "SupervisorDecision", "port": "In"}, "vertices": []},
      {"source": {"activity": "SupervisorDecision", "port": "True"},  "target": {"activity": "ManagerApproval", "port": "In"}, "vertices": []},
      {"source": {"activity": "SupervisorDecision", "port": "False"}, "target": {"activity": "Rejected", "port": "In"}, "vertices": []},
      {"source": {"activity": "ManagerApproval", "port": "Done"},     "target": {"activity": "ManagerDecision", "port": "In"}, "vertices": []},
      {"source": {"activity": "ManagerDecision", "port": "True"},     "target": {"activity": "Approved", "port": "In"}, "vertices": []},
      {"source": {"activity": "ManagerDecision", "port": "False"},    "target": {"activity": "Rejected", "port": "In"}, "vertices": []}
    ]
  }
}
$json$);

\echo
\echo '== 3. Submit: the request and its workflow in one transaction ================================='
\echo
\echo 'The correlation id says which request an instance belongs to.'
\echo
BEGIN;
INSERT INTO leave.requests (employee, first_day, last_day, status)
VALUES ('Ada', '2026-12-21', '2026-12-23', 'Submitted') RETURNING id AS request \gset
SELECT wf_start('leave-approval', input => '{"employee": "Ada", "days": 3}', correlation_id => :'request') AS instance \gset
COMMIT;

\echo
\echo 'It waits for the supervisor. That is one row here, and one in the inbox.'
\echo
SELECT activity, correlation_id FROM workflow.waiting WHERE instance = :'instance';
SELECT name, payload FROM workflow.open_tasks WHERE instance_id = :'instance';

\echo
\echo '== 4. A rollback undoes both =================================================================='
\echo
\echo 'Edsger approves: the request changes, and next to it the workflow goes on.'
\echo
SELECT bookmark_id AS bookmark FROM workflow.waiting WHERE instance = :'instance' \gset
BEGIN;
UPDATE leave.requests SET status = 'Approved by supervisor' WHERE id = :request;
SELECT status, sub_status FROM wf_resume(:'bookmark', '{"approved": true, "by": "Edsger"}');
SELECT activity FROM workflow.waiting WHERE instance = :'instance';

\echo
\echo 'Then something goes wrong in his application.'
\echo
ROLLBACK;
SELECT status FROM leave.requests WHERE id = :request;
SELECT activity FROM workflow.waiting WHERE instance = :'instance';

\echo
\echo 'Request and workflow stand where they stood, together. Now for good:'
\echo
BEGIN;
UPDATE leave.requests SET status = 'Approved by supervisor' WHERE id = :request;
SELECT status, sub_status FROM wf_resume(:'bookmark', '{"approved": true, "by": "Edsger"}');
COMMIT;
SELECT activity, correlation_id FROM workflow.waiting WHERE instance = :'instance';

\echo
\echo '== 5. Nobody approves the same step twice ====================================================='
\echo
\echo 'The second approval is refused, and its UPDATE goes with it.'
\echo
-- The message names the bookmark and says when it was used; the code alone is the same in every run.
\set VERBOSITY sqlstate
BEGIN;
UPDATE leave.requests SET status = 'Approved by supervisor, again' WHERE id = :request;
SELECT * FROM wf_resume(:'bookmark', '{"approved": true, "by": "Edsger"}');
ROLLBACK;
\set VERBOSITY default
SELECT status FROM leave.requests WHERE id = :request;

\echo
\echo 'SQLSTATE 55000 means: this bookmark was already used. (42704 would mean: there never was one.)'
\echo
\echo '== 6. The manager approves, and the workflow ends =============================================='
\echo
BEGIN;
UPDATE leave.requests SET status = 'Approved' WHERE id = :request;
SELECT r.status, r.sub_status, r.output
  FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"approved": true, "by": "Grace"}') AS r
 WHERE w.correlation_id = :'request';
COMMIT;
SELECT sub_status, input, variables, output FROM workflow.instance_list WHERE instance_id = :'instance';

\echo
\echo 'The journal says what happened, in order.'
\echo
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'instance' ORDER BY seq, number;

\echo
\echo '== 7. An approval that comes too early is kept ================================================'
\echo
\echo 'The next request. Grace leaves for her own holiday and approves at once, although the supervisor'
\echo 'has not decided yet: nobody waits for her approval, so it is put into the queue.'
\echo
BEGIN;
INSERT INTO leave.requests (employee, first_day, last_day, status)
VALUES ('Ada', '2027-02-01', '2027-02-05', 'Submitted') RETURNING id AS request \gset
SELECT wf_start('leave-approval', input => '{"employee": "Ada", "days": 5}', correlation_id => :'request') AS instance \gset
COMMIT;
SET client_min_messages = warning;
SELECT cardinality(resumed) AS resumed, queued_id IS NOT NULL AS queued
  FROM wf_enqueue_bookmark(activity_id => 'ManagerApproval', correlation_id => :'request',
                           input => '{"approved": true, "by": "Grace"}');
RESET client_min_messages;
SELECT activity FROM workflow.waiting WHERE instance = :'instance';

\echo
\echo 'When the supervisor approves, the step comes into being, meets the approval that waits for it, and'
\echo 'the workflow runs to its end: in the same transaction.'
\echo
BEGIN;
UPDATE leave.requests SET status = 'Approved' WHERE id = :request;
SELECT r.status, r.sub_status, r.output
  FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"approved": true, "by": "Edsger"}') AS r
 WHERE w.correlation_id = :'request';
COMMIT;
SELECT sub_status, variables, output FROM workflow.instance_list WHERE instance_id = :'instance';

\echo
\echo '== 8. The same workflow as a person types it =================================================='
\echo
\echo 'Ada submits once more before the workflow changes.'
\echo
INSERT INTO leave.requests (employee, first_day, last_day, status)
VALUES ('Ada', '2027-04-01', '2027-04-02', 'Submitted') RETURNING id AS old_request \gset
SELECT wf_start('leave-approval', input => '{"employee": "Ada", "days": 2}', correlation_id => :'old_request') AS old_instance \gset

\echo
\echo 'The short form compiles to the same program. It is different content, so it is a new version.'
\echo
SELECT * FROM wf_define('{
    "definitionId": "leave-approval",
    "name": "Leave approval",
    "variables": {"Decision": null},
    "outputs": [{"name": "Approved", "type": "Boolean"}],
    "root": [
        {"id": "SupervisorApproval", "type": "RunTask", "taskName": "Supervisor approval",
         "payload": {"object": {"employee": {"input": "employee"}, "days": {"input": "days"}}},
         "result": {"var": "Decision"}},
        {"type": "If", "condition": {"js": "getDecision().approved"}, "then":
            {"id": "ManagerApproval", "type": "RunTask", "taskName": "Manager approval",
             "payload": {"object": {"employee": {"input": "employee"}, "days": {"input": "days"}}},
             "result": {"var": "Decision"}}},
        {"type": "SetOutput", "outputName": "Approved", "outputValue": {"js": "getDecision().approved"}}
    ]
}');

\echo
\echo 'New requests run on version 2; the one that runs already stays on version 1. A refusal ends both.'
\echo
INSERT INTO leave.requests (employee, first_day, last_day, status)
VALUES ('Edsger', '2027-04-01', '2027-04-30', 'Submitted') RETURNING id AS new_request \gset
SELECT wf_start('leave-approval', input => '{"employee": "Edsger", "days": 22}', correlation_id => :'new_request') AS new_instance \gset
SELECT correlation_id, version, sub_status FROM workflow.instance_list
 WHERE definition_id = 'leave-approval' ORDER BY correlation_id;

BEGIN;
UPDATE leave.requests SET status = 'Rejected' WHERE id IN (:old_request, :new_request);
SELECT w.correlation_id, r.sub_status, r.output
  FROM workflow.waiting AS w, wf_resume(w.bookmark_id, '{"approved": false, "by": "Grace"}') AS r
 WHERE w.correlation_id IN (:'old_request', :'new_request') ORDER BY w.correlation_id;
COMMIT;

\echo
\echo '== 9. How it ended ============================================================================='
\echo
SELECT r.id, r.employee, r.status, i.version, i.sub_status, i.output
  FROM leave.requests AS r JOIN workflow.instance_list AS i ON i.correlation_id = r.id::text
 WHERE i.definition_id = 'leave-approval' ORDER BY r.id;
SELECT count(*) AS still_waiting FROM workflow.waiting WHERE correlation_id IN (SELECT id::text FROM leave.requests);
