-- Approve: votes are tasks for people, and decide together.
SET client_min_messages = error;
CREATE ROLE regress_author LOGIN;
CREATE ROLE regress_boss;
CREATE ROLE regress_hr;
CREATE ROLE regress_ann LOGIN IN ROLE regress_boss;
CREATE ROLE regress_ben LOGIN IN ROLE regress_boss, regress_hr;
CREATE ROLE regress_cy LOGIN IN ROLE regress_hr;
CREATE ROLE regress_app LOGIN;
SELECT wf_grant_usage(r) FROM unnest('{regress_author,regress_boss,regress_hr,regress_ann,regress_ben,regress_cy,regress_app}'::name[]) AS r \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_app;
-- The task of a person, and an answer to it.
CREATE FUNCTION task(voter text, name text DEFAULT NULL) RETURNS uuid LANGUAGE sql AS $$
    SELECT task_id FROM workflow.open_tasks AS t WHERE voter = ANY (t.candidates) AND (task.name IS NULL OR t.name = task.name) ORDER BY task_id DESC LIMIT 1
$$;
-- The error of a statement without its ids.
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN concat_ws(E'\n', SQLSTATE, SQLERRM, detail);
END $$;
\c - regress_author

-- Definitions that are refused.
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": [], "subject": "s"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": [{"each": "regress_boss"}], "subject": "s"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": ["role:"], "subject": "s"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": "ann", "subject": "s", "rule": 0}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": "ann", "subject": "s", "rule": "most"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": "ann", "subject": "s", "order": "random"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": "ann", "subject": "s", "onDeadline": "shout"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": "ann", "subject": "s", "deadline": "soon"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": "ann", "subject": "s", "abstain": {"js": "true"}}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": "ann", "subject": "s", "not": ["boss"]}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": "ann", "subject": "s", "startTimeout": "1 hour"}}');
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Flowchart", "activities": [{"id": "a", "type": "Approve", "by": "ann", "subject": "s"},
    {"id": "b", "type": "End"}], "connections": [["a", "Done", "b"]]}}');

-- Elsa's JSON, in which a designer writes lists as text, is the same activity.
SELECT * FROM wf_validate('{"definitionId": "right", "root": {"id": "a", "type": "Workflow.Approve", "version": 1,
    "by": {"typeName": "Object", "expression": {"type": "Object", "value": "[\"role:regress_boss\", {\"each\": \"role:regress_hr\"}]"}},
    "subject": {"typeName": "String", "expression": {"type": "Literal", "value": "s"}},
    "abstain": {"typeName": "Boolean", "expression": {"type": "Literal", "value": true}}}}');

-- One task for each vote. Everybody sees what it is about.
SELECT wf_define('{"definitionId": "leave", "outputs": [{"name": "Decision"}, {"name": "Votes"}], "root":
    {"id": "approve", "type": "Approve", "by": ["role:regress_boss", "role:regress_hr"], "not": ["starter"],
     "subject": {"js": "`${getInput(''days'')} days of leave`"}, "details": {"object": {"days": {"input": "days"}}},
     "result": {"output": "Decision"}, "votes": {"output": "Votes"}}}') \g /dev/null
SELECT wf_grant('leave', r, '{start}') FROM unnest('{regress_ann,regress_app}'::text[]) AS r \g /dev/null
SELECT wf_start('leave', '{"days": 3}', 'L-1') \g /dev/null
SELECT name, payload, assignee, candidates, form, priority FROM workflow.open_tasks ORDER BY task_id;
SELECT waits_for, activity FROM workflow.waiting ORDER BY bookmark_id;
SELECT task('role:regress_boss') AS boss, task('role:regress_hr') AS hr \gset

-- What is no answer is refused, and the task stays open.
\c - regress_ben
SELECT wf_complete_task(:'boss', '"yes"');
SELECT wf_complete_task(:'boss');
SELECT wf_complete_task(:'boss', '{"approved": "yes"}');
SELECT wf_complete_task(:'boss', '{"abstain": true}');
-- Nobody claims a vote.
SELECT wf_claim_task(:'boss');
SELECT count(*) FROM wf_claim_tasks();
CALL wf_wait_tasks('{approve}', '0');
SELECT workflow.task_calls(:'boss');
-- One person, one vote: Ben belongs to both groups.
SELECT sub_status FROM wf_complete_task(:'boss', '{"approved": true, "why": "fine"}');
SELECT excluded FROM workflow.open_tasks WHERE task_id = :'hr';
SELECT wf_complete_task(:'hr', 'true');
\echo :SQLSTATE
SET ROLE regress_hr;
SELECT wf_complete_task(:'hr', 'true');
RESET ROLE;
SELECT wf_assign_task(:'hr', 'role:regress_ben');
-- Those who are not asked have no vote, and an answered one is final.
\c - regress_ann
SELECT wf_complete_task(:'hr', 'true');
SELECT wf_complete_task(:'boss', 'false');
\c - regress_cy
SELECT sub_status FROM wf_complete_task(:'hr', 'true');
SELECT sub_status FROM wf_complete_task(:'hr', 'true');
\c - regress_author
SELECT output ->> 'Decision' AS decision, v ->> 'as' AS "as", v ->> 'by' AS by, v ->> 'vote' AS vote, v -> 'answer' AS answer, (v ->> 'at')::timestamptz <= now() AS at
FROM workflow.instance_list, jsonb_array_elements(output -> 'Votes') AS v WHERE correlation_id = 'L-1';
SELECT task_id = :'hr' AS hr, coalesce(actor, role) AS who, result, used FROM workflow.answers ORDER BY completed_at, task_id;

-- One no ends it. A later answer learns the outcome, as far as the person was asked.
SELECT wf_start('leave', '{"days": 20}', 'L-2') \g /dev/null
SELECT task('role:regress_boss') AS boss, task('role:regress_hr') AS hr \gset
\c - regress_cy
SELECT sub_status FROM wf_complete_task(:'hr', '{"approved": false}');
\c - regress_ann
SELECT regexp_replace(problem, ' since .*', '') AS problem FROM refusal(format('SELECT wf_complete_task(%L, %L)', :'boss', 'true')) AS problem;
SELECT regexp_replace(problem, ' since .*', '') AS problem FROM refusal(format('SELECT wf_resume(%L, %L)', :'boss', 'true')) AS problem;
\c - regress_app
SELECT wf_complete_task(:'boss', 'true');
\c - postgres
SELECT status, result, completed_by FROM workflow.tasks WHERE id = :'boss';

-- The starter, who is a boss, does not approve her own request; an operator can vote in place of the others.
\c - regress_ann
SELECT wf_start('leave', '{"days": 1}', 'L-3') \g /dev/null
SELECT task('role:regress_boss') AS boss \gset
SELECT wf_complete_task(:'boss', 'true');
\c - regress_author
SELECT sub_status FROM wf_override_task(:'boss', 'the bosses are away', 'true');
SELECT wf_override_task(task('role:regress_hr'), 'twice', 'true');
SELECT wf_cancel(i.instance_id) FROM workflow.instance_list AS i WHERE i.correlation_id = 'L-3' \g /dev/null

-- People whom only the application knows vote with their names; a task with "not" requires them.
SELECT wf_define('{"definitionId": "board", "outputs": [{"name": "Decision"}, {"name": "Votes"}], "root":
    {"id": "vote", "name": "Vote of the board", "type": "Approve", "by": {"each": ["ada", "bob", "cleo"]}, "rule": "majority", "abstain": true, "subject": "Buy a ship",
     "result": {"output": "Decision"}, "votes": {"output": "Votes"}}}') \g /dev/null
SELECT wf_grant('board', 'regress_app', '{start,resume}') \g /dev/null
\c - regress_app
SELECT wf_start('board', correlation_id => 'B-1') \g /dev/null
\c - regress_author
SELECT name, candidates, form FROM workflow.open_tasks ORDER BY task_id;
SELECT task('ada') AS ada, task('bob') AS bob, task('cleo') AS cleo \gset
\c - regress_app
SELECT wf_complete_task(:'ada', 'true');
BEGIN;
SET LOCAL workflow.actor = 'ada';
SELECT sub_status FROM wf_complete_task(:'ada', 'true');
SELECT wf_complete_task(:'bob', 'true');
ROLLBACK;
BEGIN;
SET LOCAL workflow.actor = 'ada';
SELECT sub_status FROM wf_complete_task(:'ada', 'true');
SET LOCAL workflow.actor = 'bob';
SELECT sub_status FROM wf_complete_task(:'bob', '{"abstain": true}');
SET LOCAL workflow.actor = 'cleo';
SELECT sub_status, output ->> 'Decision' AS decision FROM wf_complete_task(:'cleo', 'true');
COMMIT;
\c - regress_author
SELECT v ->> 'as' AS "as", v ->> 'by' AS by, v ->> 'vote' AS vote FROM workflow.instance_list, jsonb_array_elements(output -> 'Votes') AS v WHERE correlation_id = 'B-1';

-- One after the other; everybody may change a vote until the outcome, and nobody that of others.
SELECT wf_define('{"definitionId": "serial", "outputs": [{"name": "Decision"}], "root":
    {"id": "s", "type": "Approve", "by": ["role:regress_boss", "role:regress_hr"], "order": "serial", "changeable": true, "subject": "s", "result": {"output": "Decision"}}}') \g /dev/null
SELECT wf_start('serial', correlation_id => 'S-1') \g /dev/null
SELECT candidates FROM workflow.open_tasks;
SELECT task('role:regress_boss') AS boss \gset
\c - regress_ann
SELECT sub_status FROM wf_complete_task(:'boss', 'true');
\c - regress_ben
SELECT candidates, excluded FROM workflow.open_tasks ORDER BY task_id;
SELECT wf_complete_task(task('role:regress_boss'), 'false');
\c - regress_ann
SELECT sub_status FROM wf_complete_task(task('role:regress_boss'), 'false');
\c - regress_author
SELECT output FROM workflow.instance_list WHERE correlation_id = 'S-1';
SELECT coalesce(actor, role) AS who, result, used FROM workflow.answers WHERE correlation_id = 'S-1' ORDER BY task_id;

-- A vote for each member that a role has now. The starter, who is one, is left out.
SELECT wf_define('{"definitionId": "each", "outputs": [{"name": "Decision"}], "root":
    {"id": "e", "type": "Approve", "by": [{"each": "role:regress_boss"}], "not": ["starter"], "subject": "s", "result": {"output": "Decision"}}}') \g /dev/null
SELECT wf_grant('each', 'regress_ann', '{start}') \g /dev/null
SELECT wf_start('each', correlation_id => 'E-1') \g /dev/null
SELECT candidates FROM workflow.open_tasks ORDER BY task_id;
SELECT wf_cancel(i.instance_id) FROM workflow.instance_list AS i WHERE i.correlation_id = 'E-1' \g /dev/null
\c - regress_ann
SELECT wf_start('each', correlation_id => 'E-2') \g /dev/null
\c - regress_author
SELECT candidates FROM workflow.open_tasks ORDER BY task_id;
SELECT wf_cancel(i.instance_id) FROM workflow.instance_list AS i WHERE i.correlation_id = 'E-2' \g /dev/null
\c - postgres
SELECT * FROM wf_check();
REVOKE SET ON PARAMETER workflow.actor FROM regress_app;
