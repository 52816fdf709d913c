-- workflow.instance_calls and workflow.task_calls name the functions that the current role may call. They ask what the functions
-- themselves ask, so that a page offers what is not refused.
SET client_min_messages = warning;
CREATE ROLE regress_calls_owner;
CREATE ROLE regress_calls_requester;
CREATE ROLE regress_calls_reader;
CREATE ROLE regress_calls_operator;
CREATE ROLE regress_calls_stranger;
CREATE ROLE regress_calls_managers;
CREATE ROLE regress_calls_manager IN ROLE regress_calls_managers;
GRANT regress_calls_managers TO regress_calls_requester;
SELECT wf_grant_usage(r) FROM unnest('{regress_calls_owner,regress_calls_requester,regress_calls_reader,regress_calls_operator,regress_calls_stranger,regress_calls_manager}'::name[]) AS r \g /dev/null
SET ROLE regress_calls_owner;
SELECT wf_define('{"definitionId": "travel", "root": [
    {"id": "approve", "type": "RunTask", "taskName": "approve", "candidates": ["role:regress_calls_managers"], "not": ["starter"]},
    {"id": "post", "type": "Sql", "statement": "SELECT 1"}, {"id": "book", "type": "RunTask", "taskName": "book"}]}') \g /dev/null
SELECT wf_grant('travel', 'regress_calls_requester', '{start}'), wf_grant('travel', 'regress_calls_reader', '{read}'),
       wf_grant('travel', 'regress_calls_operator', '{resume,read,alter}') \g /dev/null
SET ROLE regress_calls_requester;
SELECT wf_start('travel') AS instance \gset
RESET ROLE;
SELECT task_id AS task, definition_version_id AS version FROM workflow.open_tasks JOIN workflow.instance_list USING (instance_id) \gset

-- Of the instance. What decides about SQL that runs as the requester is for roles with its rights: neither the owner nor the operator
-- may set a variable, or move the instance to another version.
SET ROLE regress_calls_owner;
SELECT workflow.instance_calls(:'instance') AS owner;
SET ROLE regress_calls_requester;
SELECT workflow.instance_calls(:'instance') AS requester;
SET ROLE regress_calls_reader;
SELECT workflow.instance_calls(:'instance') AS reader;
SET ROLE regress_calls_operator;
SELECT workflow.instance_calls(:'instance') AS operator;
SET ROLE regress_calls_stranger;
SELECT workflow.instance_calls(:'instance') AS stranger;

-- Of the task, with whom it belongs to and whether it excludes the caller: it excludes the requester, who is a candidate.
SET ROLE regress_calls_manager;
SELECT definition_owner, excluded, workflow.task_calls(task_id) AS manager FROM workflow.open_tasks;
SET ROLE regress_calls_requester;
SELECT definition_owner, excluded, workflow.task_calls(task_id) AS requester FROM workflow.open_tasks;
SELECT wf_complete_task(:'task');
SELECT wf_claim_task(:'task');
SELECT wf_assign_task(:'task', 'role:regress_calls_requester');
SET ROLE regress_calls_reader;
SELECT definition_owner, excluded, workflow.task_calls(task_id) AS reader FROM workflow.open_tasks;
SELECT wf_complete_task(:'task');
SET ROLE regress_calls_operator;
SELECT definition_owner, excluded, workflow.task_calls(task_id) AS operator FROM workflow.open_tasks_by_priority;
SET ROLE regress_calls_stranger;
SELECT workflow.task_calls(:'task') AS stranger;
SELECT count(*) FROM workflow.open_tasks;

-- A manager who has taken it may give it back.
SET ROLE regress_calls_manager;
SELECT wf_assign_task(:'task', 'role:regress_calls_manager');
SELECT workflow.task_calls(:'task') AS assignee;

-- A role that the extension has never met gets no row by looking.
RESET ROLE;
CREATE ROLE regress_calls_new;
SET ROLE regress_calls_new;
SELECT workflow.task_calls(:'task') AS new, workflow._is_excluded(:'task', :'version') AS excluded;
RESET ROLE;
SELECT count(*) FROM workflow.owners WHERE name = 'regress_calls_new';

-- After the answer the next task is for whoever may resume the instance; what is not there has no calls.
SET ROLE regress_calls_manager;
SELECT sub_status FROM wf_complete_task(:'task');
SET ROLE regress_calls_requester;
SELECT wf_run_due() \g /dev/null
RESET ROLE;
SELECT name, excluded FROM workflow.open_tasks;
SELECT workflow.task_calls(:'task') AS answered, workflow.instance_calls(gen_random_uuid()) AS unknown;
SELECT workflow.instance_calls(NULL);
SELECT workflow.task_calls(NULL);
