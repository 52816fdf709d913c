#!/usr/bin/env bash
# The twelve variants of docs/patterns-of-approval.md. Three instances of each take the same steps:
#   crash       before each step the server is killed while an open transaction has taken the step; then the step is taken again
#   pause       before each step the instance is paused and the step refused; a deadline that passes meanwhile acts after the pause
#   migration   before each step it moves to a new version of its definition
# Each step of each instance must have the result that the table says, and each instance must end with the same decision by the same votes.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
ALTER DATABASE workflow SET workflow.testing = on;
CREATE ROLE board;
CREATE ROLE auditors;
CREATE ROLE dora LOGIN IN ROLE board;
CREATE ROLE emil LOGIN IN ROLE board;
CREATE ROLE fay LOGIN IN ROLE board;
SELECT wf_grant_usage(r) FROM unnest('{board,dora,emil,fay}'::name[]) AS r;

-- The definition of a variant is an Approve with these inputs, after a check in that of four eyes.
CREATE TABLE variants (id text PRIMARY KEY, approve jsonb NOT NULL, decision text NOT NULL);
INSERT INTO variants VALUES
    ('parallel', '{"by": ["ada", "ben"]}', 'Approved'),
    ('serial', '{"by": ["ada", "ben"], "order": "serial"}', 'Approved'),
    ('two-of-three', '{"by": ["ada", "ben", "cy"], "rule": 2}', 'Approved'),
    ('veto', '{"by": ["ada", "ben", "cy"], "abstain": true}', 'Rejected'),
    ('escalation', '{"by": "ada", "deadline": "1 day", "onDeadline": "escalate", "escalateTo": "ben"}', 'Approved'),
    ('four-eyes', '{"by": "group:clerks", "not": ["starter", {"answered": "check"}]}', 'Approved'),
    ('delegation', '{"by": ["ada", "ben"]}', 'Approved'),
    ('expiry', '{"by": ["ada", "ben"], "deadline": "1 day"}', 'Expired'),
    ('changed-mind', '{"by": ["ada", "ben", "cy"], "rule": "majority", "changeable": true}', 'Approved'),
    ('shrinking', '{"by": ["role:board", "role:board"]}', 'Approved'),
    ('dropped', '{"by": ["role:auditors", "role:board"], "rule": "any"}', 'Approved'),
    ('instant', '{"by": ["ada", "ben"], "rule": "any"}', 'Approved');

-- Who does what in which round, and the result: the state afterwards, or a SQLSTATE. In the same round of an instance two people act at the
-- same time, and the results are in any order. "due" and "sql" happen once for all instances.
CREATE TABLE steps (variant text, round integer, who text, act text, argument text, result text);
INSERT INTO steps VALUES
    ('parallel', 1, 'ben', 'vote', 'true', 'Suspended'), ('parallel', 2, 'ada', 'vote', 'true', 'Finished'),
    ('serial', 1, 'ben', 'vote', 'true', 'no task'), ('serial', 2, 'ada', 'vote', 'true', 'Suspended'), ('serial', 3, 'ben', 'vote', 'true', 'Finished'),
    ('two-of-three', 1, 'ada', 'vote', 'true', 'Suspended'), ('two-of-three', 2, 'ben', 'vote', 'false', 'Suspended'),
    ('two-of-three', 3, 'cy', 'vote', 'true', 'Finished'),
    ('veto', 1, 'ada', 'vote', '{"abstain": true}', 'Suspended'), ('veto', 2, 'ben', 'vote', 'false', 'Finished'), ('veto', 3, 'cy', 'vote', 'true', '55000'),
    ('escalation', 3, 'ben', 'vote', 'true', 'Finished'),
    ('four-eyes', 1, 'ben', 'vote', '"correct"', 'Suspended'), ('four-eyes', 2, 'ada', 'vote', 'true', '42501'),
    ('four-eyes', 3, 'ben', 'vote', 'true', '42501'), ('four-eyes', 4, 'cy', 'vote', 'true', 'Finished'),
    ('delegation', 1, 'ada', 'assign', 'cy', 'true'), ('delegation', 2, 'cy', 'vote', 'true', 'Suspended'), ('delegation', 3, 'ben', 'vote', 'true', 'Finished'),
    ('expiry', 1, 'ada', 'vote', 'true', 'Suspended'), ('expiry', 3, 'ben', 'vote', 'true', '55000'),
    ('changed-mind', 1, 'ada', 'vote', 'false', 'Suspended'), ('changed-mind', 2, 'ada', 'vote', 'true', 'Suspended'),
    ('changed-mind', 3, 'ben', 'vote', 'true', 'Finished'),
    ('shrinking', 2, 'role:fay', 'vote', 'true', 'Faulted'), ('shrinking', 4, NULL, 'retry', NULL, 'Suspended'),
    ('shrinking', 5, 'role:fay', 'vote', 'true', 'Suspended'), ('shrinking', 6, 'role:dora', 'vote', 'true', 'Finished'),
    ('dropped', 4, 'role:dora', 'vote', 'true', 'Finished'),
    ('instant', 1, 'ada', 'vote', 'true', 'Finished'), ('instant', 1, 'ben', 'vote', 'true', '55000'),
    (NULL, 1, NULL, 'sql', 'REVOKE board FROM dora, emil', NULL), (NULL, 3, NULL, 'sql', 'GRANT board TO dora', NULL),
    (NULL, 1, NULL, 'sql', 'DROP ROLE auditors', NULL), (NULL, 2, NULL, 'due', '2030-01-02T09:00Z', NULL);
CREATE TABLE results (request text, round integer, who text, result text);

CREATE FUNCTION document(v variants, number integer) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', v.id,
    'outputs', '[{"name": "Decision"}, {"name": "Votes"}]'::jsonb, 'root', CASE v.id WHEN 'four-eyes'
        THEN '[{"id": "check", "type": "RunTask", "taskName": "Check", "candidates": ["ben"]}]'::jsonb ELSE '[]' END
    || jsonb_build_array(jsonb_build_object('id', 'approve', 'type', 'Approve', 'subject', 'Version ' || number,
        'result', '{"output": "Decision"}'::jsonb, 'votes', '{"output": "Votes"}'::jsonb) || v.approve));
CREATE FUNCTION kinds() RETURNS SETOF text LANGUAGE sql RETURN unnest('{crash,pause,migration}'::text[]);
CREATE FUNCTION instance(request text) RETURNS uuid LANGUAGE sql RETURN (SELECT instance_id FROM workflow.instance_list WHERE correlation_id = request);

-- The task that a person answers: one that names the person, or a group. Ended ones tell the outcome.
CREATE FUNCTION task_of(request text, who text) RETURNS uuid LANGUAGE sql AS $$
    SELECT id FROM workflow.tasks AS t LEFT JOIN workflow.open_tasks AS o ON o.task_id = t.id
    WHERE t.correlation_id = request AND (t.status = 'Open' OR t.result #>> '{}' IN ('Approved', 'Rejected', 'Expired'))
        AND CASE WHEN o.task_id IS NULL THEN ARRAY(SELECT jsonb_array_elements_text(t.candidates)) ELSE o.candidates || o.assignee END && ARRAY[who, 'group:clerks']
    ORDER BY t.status = 'Open' DESC, id LIMIT 1
$$;
CREATE FUNCTION take(request text, who text, act text, argument text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    task uuid;
    result text;
BEGIN
    IF act = 'retry' THEN
        RETURN (wf_retry(instance(request))).sub_status;
    ELSIF who LIKE 'role:%' THEN
        PERFORM set_config('role', substr(who, 6), true);
        SELECT task_id INTO task FROM workflow.open_tasks WHERE correlation_id = request AND NOT excluded ORDER BY task_id LIMIT 1;
    ELSE
        task := task_of(request, who);
        PERFORM set_config('workflow.actor', who, true);
    END IF;
    IF task IS NULL THEN
        RETURN 'no task';
    ELSIF act = 'assign' THEN
        RETURN wf_assign_task(task, argument)::text;
    END IF;
    result := (wf_complete_task(task, argument::jsonb)).sub_status;
    RESET role;
    RETURN result;
EXCEPTION WHEN insufficient_privilege OR object_not_in_prerequisite_state THEN
    RETURN SQLSTATE;
END $$;
-- The steps of a round, those of one of the people who act at the same time.
CREATE PROCEDURE take_round(number integer, half integer, kind text DEFAULT '%') LANGUAGE plpgsql AS $$
DECLARE
    step record;
BEGIN
    FOR step IN
        SELECT concat(s.variant, '/', k) AS request, s.* FROM kinds() AS k,
            (SELECT *, row_number() OVER (PARTITION BY variant, round ORDER BY who) AS place FROM steps WHERE variant IS NOT NULL) AS s
        WHERE k LIKE kind AND s.round = number AND s.place = half ORDER BY request
    LOOP
        INSERT INTO results VALUES (step.request, number, step.who, take(step.request, step.who, step.act, step.argument));
        COMMIT;
    END LOOP;
END $$;
SELECT count(wf_define(document(v, 1))) FROM variants AS v;
SQL

# The clock of all sessions, as the steps move it.
clock() { export PGOPTIONS="-c client_min_messages=error -c workflow.now=$1"; }
# The steps of a round that happen once: their statements, or the timers that have become due.
once() { query "SELECT argument FROM steps WHERE round = $1 AND act = 'sql'" | while read -r statement; do query "$statement"; done; }
fire() { query "SELECT wf_run_due()" >/dev/null; }

clock 2030-01-01T09:00Z
query "SELECT count(wf_start(v.id, correlation_id => concat(v.id, '/', k))) FROM wf_set_actor('ada'), variants AS v, kinds() AS k" >/dev/null
rounds=$(query "SELECT max(round) FROM steps")
for ((round = 1; round <= rounds; round++)); do
    waiting="(SELECT instance_id AS id, correlation_id, definition_id, split_part(correlation_id, '/', 2) AS kind FROM workflow.instance_list WHERE sub_status = 'Suspended') AS i"
    once "$round"

    # What an open transaction has done is gone after the crash.
    PGAPPNAME=voter psql -X -q -c BEGIN -c "SELECT take(concat(variant, '/crash'), who, act, argument) FROM steps WHERE round = $round AND variant IS NOT NULL" \
        -c "SELECT pg_sleep(600)" >/dev/null 2>&1 &
    await 1 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'voter' AND wait_event = 'PgSleep'"
    kill_server
    start_server
    wait

    # A paused instance refuses its step, and its deadline waits.
    query "SELECT count(wf_pause(i.id)) FROM $waiting WHERE i.kind = 'pause'" >/dev/null
    due=$(query "SELECT argument FROM steps WHERE round = $round AND act = 'due'")
    if [ -n "$due" ]; then
        clock "$due"
        fire
        is 2 "SELECT count(*) FROM $waiting WHERE i.correlation_id IN ('expiry/pause', 'escalation/pause')"
    fi
    is "" "SELECT request, took FROM (SELECT concat(variant, '/pause') AS request, take(concat(variant, '/pause'), who, act, argument) AS took
        FROM steps JOIN $waiting ON i.correlation_id = concat(variant, '/pause') WHERE round = $round AND act = 'vote') AS t WHERE took NOT IN ('55000', '42501', 'no task')"
    query "SELECT count(wf_unpause(i.id)) FROM $waiting WHERE i.kind = 'pause'" >/dev/null
    [ -z "$due" ] || fire

    query "SELECT count(wf_define(document(v, $round + 1))) FROM variants AS v" >/dev/null
    query "SELECT wf_migrate(i.id) FROM $waiting WHERE i.kind = 'migration'" >/dev/null
    is "" "SELECT correlation_id FROM workflow.instance_list AS l WHERE sub_status = 'Suspended' AND correlation_id LIKE '%/migration' AND version <> $round + 1"

    query "CALL take_round($round, 1)" &
    query "CALL take_round($round, 2)" &
    wait
done

is "" "SELECT request, round, array_agg(result ORDER BY result), wanted FROM results AS r JOIN LATERAL (
    SELECT array_agg(s.result ORDER BY s.result) AS wanted FROM steps AS s WHERE s.variant = split_part(r.request, '/', 1) AND s.round = r.round) AS w ON true
    GROUP BY request, round, wanted HAVING array_agg(result ORDER BY result) <> wanted ORDER BY round"
is "$(query "SELECT count(*) * 3 FROM steps WHERE variant IS NOT NULL")" "SELECT count(*) FROM results"
is "" "SELECT i.correlation_id, i.sub_status, i.output FROM workflow.instance_list AS i JOIN variants AS v ON v.id = i.definition_id
    WHERE i.sub_status <> 'Finished' OR i.output ->> 'Decision' IS DISTINCT FROM v.decision"
# The same votes of the same people, but for whoever was first.
is "" "SELECT definition_id, count(DISTINCT votes) FROM (
        SELECT i.definition_id, i.id, jsonb_agg(v.vote - 'at' ORDER BY v.vote ->> 'as', v.vote ->> 'by') AS votes
        FROM workflow.instances AS i, jsonb_array_elements(i.output -> 'Votes') AS v (vote) WHERE i.definition_id <> 'instant' GROUP BY 1, 2) AS t
    GROUP BY 1 HAVING count(DISTINCT votes) <> 1 OR count(*) NOT IN (0, 3)"
is 0 "SELECT count(*) FROM workflow.bookmarks"
is "" "SELECT * FROM wf_check()"
echo "ok: $(query "SELECT count(*) FROM variants") variants, $(query "SELECT count(*) FROM results") steps"
