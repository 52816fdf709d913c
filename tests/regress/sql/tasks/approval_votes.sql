-- Those who are asked in an approval see the votes of the others, and other roles do not.
SET client_min_messages = error;
CREATE ROLE regress_author LOGIN;
CREATE ROLE regress_heads;
CREATE ROLE regress_ann LOGIN;
CREATE ROLE regress_ben LOGIN IN ROLE regress_heads;
CREATE ROLE regress_cy LOGIN IN ROLE regress_heads;
CREATE ROLE regress_dan LOGIN;
CREATE ROLE regress_eve LOGIN;
SELECT wf_grant_usage(r) FROM unnest('{regress_author,regress_heads,regress_ann,regress_ben,regress_cy,regress_dan,regress_eve}'::name[]) AS r \g /dev/null
CREATE FUNCTION task(request text, voter text) RETURNS uuid LANGUAGE sql AS $$
    SELECT task_id FROM workflow.open_tasks AS t WHERE correlation_id = request AND voter = ANY (t.candidates) ORDER BY task_id DESC LIMIT 1
$$;
\c - regress_author
SELECT wf_define('{"definitionId": "wrong", "root": {"type": "Approve", "by": ["role:regress_ann", "role:regress_heads"], "subject": "s", "secretVotes": {"js": "true"}}}');
SELECT wf_define('{"definitionId": "both", "root": {"type": "Approve", "by": ["role:regress_ann", "role:regress_heads"], "subject": "s", "abstain": true}}') \g /dev/null
SELECT wf_define('{"definitionId": "secret", "root": {"type": "Approve", "by": ["role:regress_ann", "role:regress_heads"], "subject": "s", "secretVotes": true}}') \g /dev/null
SELECT wf_define('{"definitionId": "rounds", "root": {"type": "ForEach", "items": [1, 2], "body": {"type": "Approve", "by": ["role:regress_ann", "role:regress_heads"], "subject": "s", "rule": "any"}}}') \g /dev/null
SELECT wf_grant('both', 'regress_dan', '{start}') \g /dev/null
SELECT wf_start('secret', correlation_id => 'S'), wf_start('rounds', correlation_id => 'R') \g /dev/null
\c - regress_dan
SELECT wf_start('both', correlation_id => 'B') \g /dev/null
\c - regress_author
SELECT task('B', 'role:regress_ann') AS ann, task('B', 'role:regress_heads') AS heads, task('S', 'role:regress_ann') AS secret \gset
\c - regress_ann
SELECT sub_status FROM wf_complete_task(:'ann', '{"approved": true, "why": "cheap"}');
SELECT sub_status FROM wf_complete_task(:'secret', 'true');

-- A member of a group that is asked.
\c - regress_ben
SELECT task_id = :'heads' AS own, vote_task_id = :'ann' AS hers, voter, role, actor, in_place_of, vote, completed_at <= now() AS at, used FROM workflow.approval_votes;
-- Neither the requester nor a role that is not asked.
\c - regress_dan
SELECT count(*) FROM workflow.approval_votes;
\c - regress_eve
SELECT count(*) FROM workflow.approval_votes;
-- A substitute, as long as the task is open, and after voting.
\c - regress_cy
SELECT wf_set_substitute('role:regress_cy', 'role:regress_eve', 'tomorrow') \g /dev/null
\c - regress_eve
SELECT voter, role, vote FROM workflow.approval_votes;
SELECT sub_status FROM wf_complete_task(:'heads', '{"abstain": true}');
\c - regress_cy
SELECT wf_remove_substitute('role:regress_cy', 'role:regress_eve') \g /dev/null
\c - regress_eve
SELECT voter, role, in_place_of, vote, used FROM workflow.approval_votes ORDER BY vote_task_id;
-- After the end: those who were asked, and who may read the definition.
\c - regress_ann
SELECT voter, role, vote FROM workflow.approval_votes WHERE task_id = :'ann' ORDER BY vote_task_id;
\c - regress_ben
SELECT voter, role, vote FROM workflow.approval_votes WHERE task_id = :'heads' ORDER BY vote_task_id;
\c - regress_author
SELECT voter, role, vote FROM workflow.approval_votes WHERE task_id = :'ann' ORDER BY vote_task_id;
\c - regress_dan
SELECT count(*) FROM workflow.approval_votes;

-- Each execution has its own votes.
\c - regress_author
SELECT task('R', 'role:regress_ann') AS ann, task('R', 'role:regress_heads') AS heads \gset
\c - regress_ann
SELECT sub_status FROM wf_complete_task(:'ann', 'false');
\c - regress_ben
SELECT sub_status FROM wf_complete_task(:'heads', 'true');
SELECT task('R', 'role:regress_heads') AS next \gset
SELECT count(*) FROM workflow.approval_votes WHERE task_id = :'next';
SELECT voter, role, vote FROM workflow.approval_votes WHERE task_id = :'heads' ORDER BY vote_task_id;
-- A vote that the outcome made needless shows them, too.
\c - regress_ann
SELECT sub_status FROM wf_complete_task(task('R', 'role:regress_ann'), 'true');
\c - regress_ben
SELECT voter, role, vote FROM workflow.approval_votes WHERE task_id = :'next';

-- Secret votes are only in the views for those who may read the definition.
\c - regress_ann
SELECT count(*) FROM workflow.approval_votes WHERE vote_task_id = :'secret';
\c - regress_author
SELECT count(*) FROM workflow.approval_votes WHERE vote_task_id = :'secret';
SELECT role, result FROM workflow.answers WHERE task_id = :'secret';
DELETE FROM workflow.approval_votes;
\c - postgres
SELECT * FROM wf_check();
