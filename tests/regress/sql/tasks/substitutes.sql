-- Substitutes answer tasks for certain people in place of somebody absent.
SET client_min_messages = error;
CREATE ROLE regress_author LOGIN;
CREATE ROLE regress_heads;
CREATE ROLE regress_ann LOGIN IN ROLE regress_heads;
CREATE ROLE regress_ben LOGIN;
CREATE ROLE regress_cy LOGIN;
CREATE ROLE regress_app LOGIN;
CREATE ROLE regress_boss LOGIN;
GRANT regress_ann TO regress_boss WITH ADMIN OPTION;
SELECT wf_grant_usage(r) FROM unnest('{regress_author,regress_heads,regress_ann,regress_ben,regress_cy,regress_app,regress_boss}'::name[]) AS r \g /dev/null
GRANT SET ON PARAMETER workflow.actor TO regress_app;
CREATE FUNCTION task(request text, voter text DEFAULT NULL) RETURNS uuid LANGUAGE sql AS $$
    SELECT task_id FROM workflow.open_tasks AS t WHERE correlation_id = request AND (voter IS NULL OR voter = ANY (t.candidates)) ORDER BY task_id LIMIT 1
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
    RETURN concat_ws(E'\n', SQLSTATE, regexp_replace(SQLERRM, '[0-9a-f-]{36}', '<id>', 'g'), regexp_replace(detail, '[0-9a-f-]{36}', '<id>', 'g'));
END $$;
\c - regress_author
SELECT wf_define('{"definitionId": "leave", "outputs": [{"name": "Votes"}], "root": {"id": "approve", "type": "Approve", "by": ["role:regress_heads", "role:regress_cy"],
    "not": ["starter"], "subject": "Leave", "votes": {"output": "Votes"}}}') \g /dev/null
SELECT wf_grant('leave', r, '{start}') FROM unnest('{regress_ben,regress_cy,regress_ann}'::text[]) AS r \g /dev/null
SELECT wf_start('leave', correlation_id => 'L-1') \g /dev/null

-- What is refused.
\c - regress_ann
SELECT refusal($$SELECT wf_set_substitute('role:regress_ann', NULL, 'tomorrow')$$);
SELECT refusal($$SELECT wf_set_substitute('role:regress_ann', 'role:regress_ann', 'tomorrow')$$);
SELECT refusal($$SELECT wf_set_substitute('role:regress_ann', 'role:regress_nobody', 'tomorrow')$$);
SELECT refusal($$SELECT wf_set_substitute('role:regress_ann', 'role:regress_heads', 'tomorrow')$$);
SELECT refusal($$SELECT wf_set_substitute('role:regress_ann', 'ben', 'tomorrow')$$);
SELECT refusal($$SELECT wf_set_substitute('role:regress_ann', 'role:regress_ben', 'yesterday', '2000-01-01')$$);
SELECT refusal($$SELECT wf_set_substitute('role:regress_ann', 'role:regress_ben', 'yesterday')$$);
SELECT refusal($$SELECT wf_set_substitute('role:regress_ann', 'role:regress_ben', 'infinity')$$);
-- Only the person and who can grant the role: not for others, and no member for the whole group.
SELECT refusal($$SELECT wf_set_substitute('role:regress_cy', 'role:regress_ben', 'tomorrow')$$);
SELECT refusal($$SELECT wf_set_substitute('role:regress_heads', 'role:regress_ben', 'tomorrow')$$);
SET ROLE regress_heads;
SELECT refusal($$SELECT wf_set_substitute('role:regress_heads', 'role:regress_ben', 'tomorrow')$$);
SELECT refusal($$SELECT wf_remove_substitute('role:regress_cy', 'role:regress_ben')$$);
RESET ROLE;

-- Not before the period, and not after it.
\c - regress_ben
SELECT count(*) FROM workflow.open_tasks;
\c - regress_author
SELECT task('L-1', 'role:regress_heads') AS heads, task('L-1', 'role:regress_cy') AS cy \gset
\c - regress_ann
SELECT wf_set_substitute('role:regress_ann', 'role:regress_ben', now() + interval '2 days', now() + interval '1 day');
SELECT person, substitute, set_by, in_force, ends_at - starts_at AS time FROM workflow.substitute_list;
\c - regress_ben
SELECT count(*) FROM workflow.open_tasks;
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', :'heads', 'true'));
-- A call for the same two replaces the period. The substitute sees what the absent one may answer, and no more.
\c - regress_ann
SELECT wf_set_substitute('role:regress_ann', 'role:regress_ben', now() + interval '2 days');
\c - regress_ben
SELECT person, substitute, set_by, in_force FROM workflow.substitute_list;
SELECT name, assignee, candidates, excluded FROM workflow.open_tasks;
SELECT workflow.task_calls(:'heads'), workflow.task_calls(:'cy');
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', :'cy', 'true'));
SELECT refusal(format('SELECT wf_assign_task(%L, %L)', :'heads', 'role:regress_ben'));
-- No chains: a substitute's substitute gets nothing of the first person.
SELECT wf_set_substitute('role:regress_ben', 'role:regress_app', 'tomorrow');
\c - regress_app
SELECT person, in_force FROM workflow.substitute_list;
SELECT count(*) FROM workflow.open_tasks;
-- Who can grant a role sets its substitutes, too.
\c - regress_boss
SELECT wf_set_substitute('role:regress_ann', 'role:regress_app', 'tomorrow');
SELECT wf_remove_substitute('role:regress_ann', 'role:regress_app');
\c - regress_ben
-- The answer, on record for whom.
SELECT sub_status FROM wf_complete_task(:'heads', '{"approved": true, "why": "fine"}');
\c - regress_cy
SELECT sub_status FROM wf_complete_task(:'cy', 'true');
\c - regress_author
SELECT v ->> 'as' AS "as", v ->> 'by' AS by, v ->> 'for' AS for, v ->> 'vote' AS vote FROM workflow.instance_list, jsonb_array_elements(output -> 'Votes') AS v WHERE correlation_id = 'L-1';
SELECT role, in_place_of, result FROM workflow.answers WHERE correlation_id = 'L-1' ORDER BY completed_at;
SELECT kind, role, detail FROM workflow.audit WHERE correlation_id = 'L-1' AND kind = 'complete task' ORDER BY at;
\c - regress_ann
SELECT kind, role, detail - 'since' - 'until' AS detail FROM workflow.audit WHERE kind LIKE '%substitute' ORDER BY at;

-- One person, one vote: neither the substitute nor the absent one has a second one.
\c - regress_author
SELECT wf_define('{"definitionId": "two", "root": {"id": "vote", "type": "Approve", "by": ["role:regress_heads", "role:regress_heads", "role:regress_ben"], "rule": 1, "subject": "s"}}') \g /dev/null
SELECT wf_define('{"definitionId": "serial", "root": {"id": "vote", "type": "Approve", "by": ["role:regress_ann", "role:regress_ben"], "rule": "any", "subject": "s"}}') \g /dev/null
SELECT wf_start('two', correlation_id => 'T-1'), wf_start('serial', correlation_id => 'T-2') \g /dev/null
SELECT task('T-1', 'role:regress_ben') AS own, task('T-1', 'role:regress_heads') AS heads, task('T-2', 'role:regress_ann') AS ann, task('T-2', 'role:regress_ben') AS ben \gset
\c - regress_ben
SELECT sub_status FROM wf_complete_task(:'heads', 'false');
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', :'own', 'true'));
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', task('T-1', 'role:regress_heads'), 'true'));
SELECT excluded, candidates FROM workflow.open_tasks WHERE correlation_id = 'T-1' ORDER BY task_id;
SELECT sub_status FROM wf_complete_task(:'ben', 'false');
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', :'ann', 'true'));
\c - regress_ann
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', task('T-1', 'role:regress_heads'), 'true'));
SELECT sub_status FROM wf_complete_task(:'ann', 'true');

-- Neither of them may be in "not".
SELECT wf_start('leave', correlation_id => 'by Ann') \g /dev/null
\c - regress_ben
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', task('by Ann', 'role:regress_heads'), 'true'));
SELECT workflow.task_calls(task('by Ann', 'role:regress_heads'));
SELECT wf_start('leave', correlation_id => 'by Ben') \g /dev/null
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', task('by Ben', 'role:regress_heads'), 'true'));

-- A substitute of a superuser gets nothing of what superusers may do.
\c - postgres
SET client_min_messages = error;
SELECT wf_set_substitute('role:postgres', 'role:regress_app', 'tomorrow');
\c - regress_app
SELECT count(*) FROM workflow.open_tasks WHERE candidates <> '{role:regress_ben}';

-- The end.
\c - regress_ann
SELECT wf_remove_substitute('role:regress_ann', 'role:regress_ben'), wf_remove_substitute('role:regress_ann', 'role:regress_ben');
\c - regress_ben
SELECT count(*) FROM workflow.open_tasks WHERE correlation_id <> 'T-1';

-- People of an application. Without a substitute the application vouches for whom it names; the record says who acted.
\c - regress_author
SELECT wf_define('{"definitionId": "board", "outputs": [{"name": "Votes"}], "root": {"id": "vote", "type": "Approve", "by": ["ada", "bob", "cleo"], "rule": "all",
    "not": ["starter"], "subject": "s", "votes": {"output": "Votes"}}}') \g /dev/null
SELECT refusal($$SELECT wf_set_substitute('ada', 'dan', 'tomorrow')$$);
\c - regress_app
SELECT refusal($$SELECT wf_set_substitute('ada', 'dan', 'tomorrow')$$);
\c - regress_author
SELECT wf_grant('board', 'regress_app', '{start,resume,read}') \g /dev/null
\c - regress_app
SELECT refusal($$SELECT wf_set_substitute('ada', 'dan', 'tomorrow')$$);
SELECT refusal($$SELECT wf_set_substitute('ada', 'dan', 'tomorrow') FROM wf_set_actor('bob')$$);
SELECT refusal($$SELECT wf_set_substitute('group:board', 'dan', 'tomorrow') FROM wf_set_actor('ada')$$);
SELECT wf_set_substitute('ada', 'dan', 'tomorrow') FROM wf_set_actor('ada');
SELECT wf_set_substitute('bob', 'dan', 'tomorrow') FROM wf_set_actor('bob');
SELECT person, substitute, set_by, in_force FROM workflow.substitute_list ORDER BY person;
SELECT wf_start('board', correlation_id => 'B-1') FROM wf_set_actor('eve') \g /dev/null
SELECT task('B-1', 'ada') AS ada, task('B-1', 'bob') AS bob, task('B-1', 'cleo') AS cleo \gset
SELECT sub_status FROM wf_set_actor('dan'), wf_complete_task(:'ada', 'true');
SELECT refusal(format('SELECT wf_complete_task(%L, %L) FROM wf_set_actor(%L)', :'bob', 'true', 'dan'));
SELECT refusal(format('SELECT wf_complete_task(%L, %L) FROM wf_set_actor(%L)', :'bob', 'true', 'ada'));
SELECT sub_status FROM wf_set_actor('bob'), wf_complete_task(:'bob', 'true');
SELECT sub_status FROM wf_set_actor('cleo'), wf_complete_task(:'cleo', 'true');
SELECT actor, in_place_of FROM workflow.answers WHERE correlation_id = 'B-1' ORDER BY completed_at;
SELECT v ->> 'as' AS "as", v ->> 'by' AS by, v ->> 'for' AS for FROM workflow.instance_list, jsonb_array_elements(output -> 'Votes') AS v WHERE correlation_id = 'B-1';
SELECT wf_start('board', correlation_id => 'B-2') FROM wf_set_actor('ada') \g /dev/null
SELECT refusal(format('SELECT wf_complete_task(%L, %L) FROM wf_set_actor(%L)', task('B-2', 'ada'), 'true', 'dan'));

-- Whoever resumes the bookmark of the task acts in the same way.
SELECT wf_start('board', correlation_id => 'B-3') FROM wf_set_actor('eve') \g /dev/null
SELECT task('B-3', 'ada') AS ada, task('B-3', 'bob') AS bob \gset
SELECT sub_status FROM wf_set_actor('dan'), wf_resume(:'bob', 'true');
SELECT refusal(format('SELECT wf_resume(%L, %L) FROM wf_set_actor(%L)', :'ada', 'true', 'bob'));
SELECT actor, in_place_of FROM workflow.answers WHERE correlation_id = 'B-3';
-- A substitute with a vote of its own would leave nobody for it.
SELECT wf_set_substitute('ada', 'cleo', 'tomorrow') FROM wf_set_actor('ada');
SELECT refusal(format('SELECT wf_complete_task(%L, %L) FROM wf_set_actor(%L)', :'ada', 'true', 'cleo'));
-- What an operator sets counts for what this role may alter.
\c - regress_author
SELECT wf_grant('board', 'regress_cy', '{start,resume,read}') \g /dev/null
\c - regress_cy
SELECT wf_define('{"definitionId": "own", "root": {"type": "Event", "eventName": "e"}}') \g /dev/null
SELECT wf_set_substitute('cleo', 'zoe', 'tomorrow');
\c - regress_app
SELECT task('B-3', 'cleo') AS cleo \gset
SELECT sub_status FROM wf_set_actor('zoe'), wf_complete_task(:'cleo', 'true');
SELECT actor, in_place_of FROM workflow.answers WHERE correlation_id = 'B-3' ORDER BY completed_at;
-- A workflow of another role does not appoint substitutes of whoever starts it.
\c - regress_author
SELECT wf_define('{"definitionId": "appoints", "root": {"type": "SqlQuery", "query": "SELECT wf_set_substitute(''role:regress_ann'', ''role:regress_ben'', ''tomorrow'')"}}') \g /dev/null
SELECT wf_grant('appoints', 'regress_ann', '{start}') \g /dev/null
\c - regress_ann
SELECT refusal($$SELECT wf_start('appoints')$$);

-- An erasure of the actor removes its substitutions, and the pseudonym is in the answers.
\c - postgres
SET client_min_messages = error;
SELECT table_name, erased FROM wf_erase(actor => 'ada', pseudonym => 'erased-1') WHERE table_name IN ('substitutes', 'tasks') ORDER BY 1;
SELECT person, substitute FROM workflow.substitute_list ORDER BY person;
SELECT actor, in_place_of FROM workflow.answers WHERE correlation_id = 'B-1' AND in_place_of IS NOT NULL;
SELECT * FROM wf_check();
REVOKE SET ON PARAMETER workflow.actor FROM regress_app;
