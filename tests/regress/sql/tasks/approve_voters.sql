-- Approve: who has a vote, and who is left that could give one.
SET client_min_messages = error;
CREATE ROLE regress_author LOGIN;
CREATE ROLE regress_heads;
CREATE ROLE regress_personnel;
CREATE ROLE regress_nobody;
CREATE ROLE regress_ann LOGIN IN ROLE regress_heads;
CREATE ROLE regress_ben LOGIN IN ROLE regress_heads, regress_personnel;
CREATE ROLE regress_cy LOGIN IN ROLE regress_personnel;
CREATE ROLE regress_gateway LOGIN NOINHERIT;
CREATE ROLE regress_company ROLE regress_heads;
-- From PostgreSQL 16 on, the creator is a member that can only grant the role.
CREATE ROLE regress_creator LOGIN CREATEROLE;
SET ROLE regress_creator;
CREATE ROLE regress_created;
RESET ROLE;
SELECT wf_grant_usage(r) FROM unnest('{regress_author,regress_heads,regress_personnel,regress_nobody,regress_ann,regress_ben,regress_cy,regress_gateway}'::name[]) AS r \g /dev/null
CREATE FUNCTION task(voter text, instance text DEFAULT NULL) RETURNS uuid LANGUAGE sql AS $$
    SELECT task_id FROM workflow.open_tasks AS t WHERE voter = ANY (t.candidates) AND (instance IS NULL OR correlation_id = instance) ORDER BY task_id DESC LIMIT 1
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
-- ask: an approval by these voters; what it says besides.
CREATE FUNCTION ask(id text, by jsonb, more jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql SET client_min_messages = error AS $$
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', id, 'outputs', '[{"name": "Decision"}]'::jsonb, 'root',
        jsonb_build_object('id', 'ask', 'type', 'Approve', 'by', by, 'subject', 's', 'result', '{"output": "Decision"}'::jsonb) || more));
    RETURN (wf_run(id, correlation_id => id)).sub_status;
END $$;
CREATE FUNCTION problems(id text) RETURNS TABLE (sqlstate text, message text, detail text) LANGUAGE sql AS $$
    SELECT n.sqlstate, n.message, n.detail FROM workflow.open_incidents AS n JOIN workflow.instance_list AS i USING (instance_id) WHERE i.correlation_id = problems.id
$$;
CREATE VIEW asked AS SELECT correlation_id, array_agg(candidates[1] ORDER BY task_id) AS voters FROM workflow.open_tasks GROUP BY 1;
GRANT SELECT ON asked TO PUBLIC;
\c - regress_author
SET client_min_messages = error;

-- One person, one vote: nobody gets two tasks.
SELECT refusal($$SELECT ask('twice', '["ada", "ben", "ada"]')$$);
SELECT refusal($$SELECT ask('twice', '{"each": ["ada", "ada"]}')$$);
SELECT ask('two-roles', '[{"each": "role:regress_heads"}, {"each": "role:regress_personnel"}]');
SELECT ask('named', '[{"each": "role:regress_heads"}, "role:regress_ben"]');
SELECT ask('group', '["role:regress_heads", "role:regress_heads"]');
SELECT * FROM asked ORDER BY correlation_id;

-- Votes that nobody can give are found when the approval begins, if the rule cannot do without them.
SELECT ask('empty', '"role:regress_nobody"');
SELECT ask('created', '"role:regress_created"');
SELECT ask('nested', '"role:regress_company"');
SELECT ask('same-person', '["role:regress_ben", "role:regress_ben"]');
SELECT ask('any', '["role:regress_nobody", "role:regress_heads"]', '{"rule": "any"}');
SELECT ask('serial', '["role:regress_nobody", "role:regress_heads"]', '{"rule": "any", "order": "serial"}');
SELECT * FROM problems('empty') UNION ALL SELECT * FROM problems('same-person');
SELECT * FROM asked WHERE correlation_id IN ('any', 'serial') ORDER BY correlation_id;
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE sub_status IN ('Suspended', 'Faulted') \g /dev/null

-- The starter is the only one who could.
\c - postgres
SET client_min_messages = error;
REVOKE regress_heads FROM regress_ben;
\c - regress_author
SET client_min_messages = error;
SELECT ask('starter', '"role:regress_heads"', '{"not": ["starter"]}');
SELECT wf_grant('starter', 'regress_ann', '{start}'), wf_grant('starter', 'regress_heads', '{start}') \g /dev/null
\c - regress_ann
SET client_min_messages = error;
SELECT sub_status FROM wf_run('starter', correlation_id => 'started by Ann');
-- In whichever role.
SET ROLE regress_heads;
SELECT sub_status FROM wf_run('starter', correlation_id => 'started as a head');
RESET ROLE;
\c - regress_author
SET client_min_messages = error;
SELECT detail FROM problems('started by Ann') UNION ALL SELECT detail FROM problems('started as a head');
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE sub_status IN ('Suspended', 'Faulted') \g /dev/null
\c - postgres
GRANT regress_heads TO regress_ben;

-- {"each"} leaves out whom the tasks exclude, also by the login role of the session.
\c - regress_author
SET client_min_messages = error;
SELECT ask('each', '{"each": "role:regress_heads"}', '{"not": ["starter"]}');
SELECT wf_grant('each', 'regress_heads', '{start}') \g /dev/null
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE sub_status = 'Suspended' \g /dev/null
\c - regress_ann
SET client_min_messages = error;
SET ROLE regress_heads;
SELECT sub_status FROM wf_run('each', correlation_id => 'each of the others');
RESET ROLE;
\c - regress_author
SET client_min_messages = error;
SELECT * FROM asked;
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE sub_status = 'Suspended' \g /dev/null

-- Who has voted is nobody who could give another vote.
\c - postgres
SET client_min_messages = error;
REVOKE regress_personnel FROM regress_cy;
\c - regress_author
SET client_min_messages = error;
SELECT ask('overlap', '["role:regress_heads", "role:regress_personnel"]');
\c - regress_ben
SET client_min_messages = error;
SELECT refusal(format('SELECT wf_complete_task(%L, %L, on_fault => %L)', task('role:regress_heads'), 'true', 'raise'));
-- Another person takes that vote, and there are enough.
\c - regress_ann
SET client_min_messages = error;
SELECT sub_status FROM wf_complete_task(task('role:regress_heads'), 'true');
\c - regress_ben
SET client_min_messages = error;
SELECT sub_status, output FROM wf_complete_task(task('role:regress_personnel'), 'true');
-- A login role that can act for many people is no obstacle.
\c - postgres
SET client_min_messages = error;
GRANT regress_personnel TO regress_gateway;
\c - regress_author
SET client_min_messages = error;
SELECT wf_start('overlap', correlation_id => 'gateway') \g /dev/null
\c - regress_ben
SET client_min_messages = error;
SELECT sub_status FROM wf_complete_task(task('role:regress_heads'), 'true');
\c - regress_gateway
SET client_min_messages = error;
SET ROLE regress_personnel;
SELECT sub_status FROM wf_complete_task(task('role:regress_personnel'), 'true');
RESET ROLE;
\c - postgres
SET client_min_messages = error;
REVOKE regress_personnel FROM regress_gateway;
GRANT regress_personnel TO regress_cy;

-- At a deadline, too: it is an incident, and no outcome.
\c - regress_author
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "escalate", "outputs": [{"name": "Decision"}], "root": {"id": "ask", "type": "Approve", "by": ["role:regress_heads", "ada"], "subject": "s",
    "deadline": "1 day", "onDeadline": "escalate", "escalateTo": "role:regress_ben", "result": {"output": "Decision"}}}') \g /dev/null
\c - postgres
SET client_min_messages = error;
SET workflow.now = '2030-01-01 09:00+00';
SELECT wf_start('escalate', correlation_id => 'escalate') \g /dev/null
SET ROLE regress_ben;
SELECT sub_status FROM wf_complete_task(task('role:regress_heads'), 'true');
RESET ROLE;
SET workflow.now = '2030-01-02 09:00+00';
SELECT wf_run_due();
SELECT sub_status, output FROM workflow.instance_list WHERE correlation_id = 'escalate';
SELECT message FROM problems('escalate');
SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE correlation_id = 'escalate' \g /dev/null

-- A migration that renames the activity changes nothing about who has voted.
\c - regress_author
SET client_min_messages = error;
SELECT ask('moved', '["role:regress_heads", "role:regress_personnel"]', '{"changeable": true}');
\c - regress_ben
SET client_min_messages = error;
SELECT sub_status FROM wf_complete_task(task('role:regress_heads'), 'true');
\c - regress_author
SET client_min_messages = error;
SELECT version FROM wf_define('{"definitionId": "moved", "outputs": [{"name": "Decision"}], "root":
    {"id": "decide", "type": "Approve", "by": ["role:regress_heads", "role:regress_personnel"], "subject": "s", "changeable": true, "result": {"output": "Decision"}}}');
SELECT wf_migrate(instance_id, mapping => '{"ask": "decide"}') FROM workflow.instance_list WHERE correlation_id = 'moved';
\c - regress_ben
SET client_min_messages = error;
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', task('role:regress_personnel'), 'true'));
\c - regress_ann
SET client_min_messages = error;
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', task('role:regress_heads'), 'false'));
\c - regress_cy
SET client_min_messages = error;
SELECT sub_status, output FROM wf_complete_task(task('role:regress_personnel'), 'true');
-- Nor about who has answered another activity.
\c - regress_author
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "checked", "root": [{"id": "check", "type": "RunTask", "taskName": "Check", "candidates": ["role:regress_heads"]},
    {"id": "approve", "type": "RunTask", "taskName": "Approve", "candidates": ["role:regress_heads"], "not": [{"answered": "check"}]}]}') \g /dev/null
SELECT wf_start('checked', correlation_id => 'checked') \g /dev/null
\c - regress_ann
SET client_min_messages = error;
SELECT sub_status FROM wf_complete_task(task('role:regress_heads', 'checked'), 'true');
\c - regress_author
SET client_min_messages = error;
SELECT version FROM wf_define('{"definitionId": "checked", "root": [{"id": "inspect", "type": "RunTask", "taskName": "Check", "candidates": ["role:regress_heads"]},
    {"id": "approve", "type": "RunTask", "taskName": "Approve", "candidates": ["role:regress_heads"], "not": [{"answered": "inspect"}]}]}');
SELECT wf_migrate(instance_id, mapping => '{"check": "inspect"}') FROM workflow.instance_list WHERE correlation_id = 'checked';
SELECT activity_id, used FROM workflow.answers WHERE correlation_id = 'checked';
\c - regress_ann
SET client_min_messages = error;
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', task('role:regress_heads', 'checked'), 'true'));
\c - regress_ben
SET client_min_messages = error;
SELECT sub_status FROM wf_complete_task(task('role:regress_heads', 'checked'), 'true');

-- A vote is refused if the list of all votes could become too large, so that it never keeps the approval from being decided.
\c - regress_author
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "large", "outputs": [{"name": "Votes"}], "root":
    {"id": "ask", "type": "Approve", "by": ["role:regress_ann", "role:regress_cy"], "subject": "s", "votes": {"output": "Votes"}}}') \g /dev/null
SELECT wf_start('large', correlation_id => 'large') \g /dev/null
\c - postgres
SET client_min_messages = error;
SET workflow.max_nodes = 100;
SET ROLE regress_ann;
SELECT refusal(format('SELECT wf_complete_task(%L, %L)', task('role:regress_ann'), jsonb_build_object('approved', true, 'list', array_fill(0, '{80}'))));
SELECT sub_status FROM wf_complete_task(task('role:regress_ann'), jsonb_build_object('approved', true, 'list', array_fill(0, '{8}')));
SET ROLE regress_cy;
SELECT sub_status FROM wf_complete_task(task('role:regress_cy'), '{"approved": true, "why": "fine"}');
RESET ROLE;
RESET workflow.max_nodes;
SELECT v ->> 'as' AS "as", v -> 'answer' AS answer FROM workflow.instance_list, jsonb_array_elements(output -> 'Votes') AS v WHERE correlation_id = 'large';

-- A vote that was accepted before the deadline counts, also if carrying it out fails at first.
\c - regress_author
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "in-time", "outputs": [{"name": "Decision"}], "root": [
    {"id": "ask", "type": "Approve", "by": "role:regress_ann", "subject": "s", "deadline": "1 day", "result": {"output": "Decision"}}, {"type": "Sql", "statement": "SELECT 1"}]}') \g /dev/null
\c - postgres
SET client_min_messages = error;
SET workflow.now = '2031-01-01 09:00+00';
SET ROLE regress_author;
SELECT wf_start('in-time', correlation_id => 'in time') \g /dev/null
RESET ROLE;
SET workflow.now = '2031-01-02 08:59:59.9+00';
SET ROLE regress_ann;
SELECT sub_status FROM wf_complete_task(task('role:regress_ann', 'in time'), 'true');
RESET ROLE;
CREATE SEQUENCE failures;
CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('public.failures') = 1 THEN
        RAISE EXCEPTION 'not now';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fail_once BEFORE UPDATE ON workflow.instances FOR EACH ROW EXECUTE FUNCTION fail_once();
GRANT USAGE ON SEQUENCE failures TO PUBLIC;
SET workflow.now = '2031-01-02 09:00+00';
SET ROLE regress_author;
SELECT wf_run_due();
RESET ROLE;
SELECT sub_status FROM workflow.instance_list WHERE correlation_id = 'in time';
SET workflow.now = '2031-01-02 09:00:10+00';
SET ROLE regress_author;
SELECT wf_run_due();
RESET ROLE;
SELECT sub_status, output FROM workflow.instance_list WHERE correlation_id = 'in time';
DROP TRIGGER fail_once ON workflow.instances;
DROP FUNCTION fail_once;
DROP SEQUENCE failures;
SELECT * FROM wf_check();
