#!/usr/bin/env bash
# People vote in approvals with all rules, in parallel, one after the other and with changed votes, while deadlines of a few seconds pass.
# Their sessions are terminated, and the server is killed, again and again. SQL follows some of the approvals, so that answers wait for a
# session of the owner. At the end:
#   - Each approval has one outcome.
#   - It is what the recorded votes imply, or what the author wants at the deadline, where the votes decided nothing.
#   - Those votes are the answers that count, one of each person, the last one.
#   - A vote whose commit was acknowledged is on record as it was given.
#   - What follows an approval happened once.
# The power does not fail, so fsync is off.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

clients=3 rounds=1 crashes=3
if [ "$WORKFLOW_TEST_SECONDS" -gt 10 ]; then clients=6 rounds=10 crashes=20; fi

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
CREATE ROLE author LOGIN;
CREATE ROLE app LOGIN;
SELECT wf_grant_usage('author'), wf_grant_usage('app');
GRANT SET ON PARAMETER workflow.actor TO app;
CREATE TABLE phase (is_over boolean NOT NULL);
INSERT INTO phase VALUES (false);
CREATE TABLE followed (instance uuid PRIMARY KEY);
GRANT INSERT ON followed TO author;
GRANT SELECT ON phase TO app;

-- Each rule with each end by the deadline, in each order. SQL follows those in parallel.
CREATE TABLE kinds AS SELECT concat_ws('-', rule, act, kind) AS id, rule, act, kind
    FROM unnest('{all,any,2,majority}'::text[]) AS rule, unnest('{expire,approve,reject,escalate}'::text[]) AS act,
        unnest('{parallel,serial,changeable}'::text[]) AS kind;
CREATE FUNCTION document(k kinds) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object('definitionId', k.id,
    'outputs', '[{"name": "Decision"}, {"name": "Votes"}, {"name": "By"}]'::jsonb, 'root', jsonb_build_array(jsonb_build_object('id', 'ask', 'type', 'Approve',
        'by', '["p1", "p2", "p3", "p4"]'::jsonb, 'rule', k.rule, 'order', CASE k.kind WHEN 'serial' THEN 'serial' ELSE 'parallel' END,
        'changeable', k.kind = 'changeable', 'subject', 's', 'deadline', '{"input": "deadline"}'::jsonb, 'onDeadline', k.act, 'escalateTo', CASE k.act WHEN 'escalate' THEN '["q1", "q2"]'::jsonb END,
        'result', '{"output": "Decision"}'::jsonb, 'votes', '{"output": "Votes"}'::jsonb, 'decidedBy', '{"output": "By"}'::jsonb))
    || CASE k.kind WHEN 'parallel' THEN '[{"type": "Sql", "statement": "INSERT INTO public.followed VALUES (($1 #>> ''{}'')::uuid)",
        "parameters": [{"js": "getWorkflowInstanceId()"}]}]'::jsonb ELSE '[]' END);
GRANT SELECT ON kinds TO author;

-- A task to vote at, of those that are open.
CREATE FUNCTION next_vote(OUT task uuid, OUT person text) LANGUAGE sql SECURITY DEFINER AS $$
    SELECT task_id, candidates[1] FROM workflow.open_tasks ORDER BY random() LIMIT 1
$$;
-- The client says what it has done only after the commit: an INFO leaves at once, not with the next result.
CREATE PROCEDURE vote() LANGUAGE plpgsql AS $$
DECLARE
    at record;
    approves boolean;
    was_accepted boolean;
BEGIN
    LOOP
        SELECT * INTO at FROM public.next_vote();
        EXIT WHEN (SELECT is_over FROM public.phase);
        IF at.task IS NULL OR random() < 0.5 THEN
            PERFORM pg_sleep(0.05);
            COMMIT;
            CONTINUE;
        END IF;
        approves = random() < 0.6;
        was_accepted = true;
        BEGIN
            PERFORM set_config('workflow.actor', at.person, true);
            PERFORM wf_complete_task(at.task, to_jsonb(approves));
        EXCEPTION WHEN object_not_in_prerequisite_state OR insufficient_privilege OR no_data_found OR undefined_object THEN
            -- Somebody else was earlier, or the approval has ended.
            was_accepted = false;
        END;
        COMMIT;
        IF was_accepted THEN
            RAISE INFO 'done % %', at.task, approves;
        END IF;
    END LOOP;
END $$;
SET ROLE author;
SELECT count(wf_define(public.document(k))) FROM public.kinds AS k;
SELECT count(wf_grant(id, 'app', '{resume}')) FROM public.kinds;
SQL

# start: an approval of each kind, some with a deadline that passes soon.
start() {
    psql -X -q -U author >/dev/null -c "SET client_min_messages = error" \
        -c "SELECT count(wf_start(id, jsonb_build_object('deadline', 200 + (random() * 2000)::integer || ' ms'))) FROM public.kinds"
}
voter() { # NUMBER
    while [ ! -e "$WORKFLOW_TMP/over" ]; do
        psql -X -q -U app -v ON_ERROR_STOP=1 -c "SET client_min_messages = error" -c "CALL vote()" >>"$WORKFLOW_TMP/votes.$1" 2>&1 || true
        sleep 0.1
    done
}

setting "workflow.launch_workers = on"
trap 'touch "$WORKFLOW_TMP/over"' EXIT
for ((number = 1; number <= clients; number++)); do voter "$number" & done
for ((round = 1; round <= rounds; round++)); do
    start
    for ((crash = 1; crash <= crashes / rounds; crash++)); do
        sleep "0.$((RANDOM % 8 + 1))"
        query "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app' ORDER BY random() LIMIT 1" >/dev/null
        sleep "0.$((RANDOM % 8 + 1))"
        kill_server
        start_server
    done
done
total=$((rounds * $(query "SELECT count(*) FROM kinds")))
await "$total" "SELECT count(*) FROM workflow.instances WHERE status = 'Finished'"
query "UPDATE phase SET is_over = true"
touch "$WORKFLOW_TMP/over"
wait
trap - EXIT

cd "$WORKFLOW_TMP" || exit
sed -n 's/^INFO:  done \([0-9a-f-]*\) \([tf]\)$/\1|\2/p' votes.* >told
psql -X -q -v ON_ERROR_STOP=1 >>setup.out <<'SQL'
CREATE TABLE told (task uuid NOT NULL, approves boolean NOT NULL);
\copy told FROM 'told' (DELIMITER '|')
CREATE VIEW ended AS
    SELECT i.id, k.rule, k.act, k.kind, i.output ->> 'Decision' AS outcome, i.output ->> 'By' AS decided_by, i.output -> 'Votes' AS votes,
        -- After an escalation those who had voted, and the others.
        CASE WHEN EXISTS (SELECT FROM workflow.tasks AS t WHERE t.instance_id = i.id AND t.result = '"Escalated"') THEN v.early + 2 ELSE 4 END AS voters,
        v.approvals, v.rejections
    FROM workflow.instances AS i JOIN kinds AS k ON k.id = i.definition_id,
        LATERAL (SELECT count(*) FILTER (WHERE e ->> 'as' LIKE 'p%') AS early, count(*) FILTER (WHERE e ->> 'vote' = 'Approved') AS approvals,
            count(*) FILTER (WHERE e ->> 'vote' = 'Rejected') AS rejections FROM jsonb_array_elements(i.output -> 'Votes') AS e) AS v;
-- What the votes of an approval imply; NULL: further votes could decide.
CREATE VIEW implied AS SELECT e.*, CASE WHEN approvals >= needed THEN 'Approved' WHEN voters - rejections < needed THEN 'Rejected' END AS implied
    FROM ended AS e, LATERAL (SELECT CASE rule WHEN 'all' THEN voters WHEN 'any' THEN 1 WHEN 'majority' THEN voters / 2 + 1 ELSE 2 END AS needed) AS n;
SQL

# never WHAT QUERY: the query must return no rows.
never() {
    local got
    got=$(query "$2 LIMIT 5")
    [ -z "$got" ] || fail "$1:
$got"
}
never "an approval has failed" "SELECT instance_id, message, detail FROM workflow.incidents"
never "an approval has not one outcome" "SELECT e.id, e.outcome FROM ended AS e
    WHERE e.outcome IS NULL OR (SELECT count(*) FROM workflow.journal AS j WHERE j.instance_id = e.id AND j.activity = 'ask' AND j.event = 'Completed') <> 1"
never "an outcome is not what its votes imply" "SELECT id, rule, act, kind, voters, outcome, implied, votes FROM implied
    WHERE decided_by = 'votes' AND outcome IS DISTINCT FROM implied"
never "a deadline decided otherwise, or against the votes" "SELECT id, rule, act, kind, voters, outcome, implied, votes FROM implied
    WHERE decided_by <> 'votes' AND (implied IS NOT NULL
        OR outcome <> CASE act WHEN 'approve' THEN 'Approved' WHEN 'reject' THEN 'Rejected' ELSE 'Expired' END)"
never "the votes are not the answers that count" "SELECT e.id, e.votes, a.answers FROM ended AS e, LATERAL (
        SELECT jsonb_object_agg(actor, result) AS answers FROM (
            SELECT DISTINCT ON (actor) actor, result FROM workflow.answers WHERE instance_id = e.id AND used ORDER BY actor, completed_at DESC, task_id DESC) AS last) AS a,
        LATERAL (SELECT jsonb_object_agg(v ->> 'by', v -> 'answer') AS votes, count(*) AS number FROM jsonb_array_elements(e.votes) AS v) AS v
    WHERE v.votes IS DISTINCT FROM a.answers OR v.number <> (SELECT count(*) FROM jsonb_object_keys(v.votes))"
never "an acknowledged vote is not on record" "SELECT t.task, t.approves, a.result FROM told AS t LEFT JOIN workflow.answers AS a ON a.task_id = t.task
    WHERE a.result IS DISTINCT FROM to_jsonb(t.approves)"
is "$((total / 3))" "SELECT count(*) FROM followed"
is 0 "SELECT count(*) FROM workflow.bookmarks"
is "" "SELECT * FROM wf_check()"
echo "ok: $total approvals, $(query "SELECT count(*) FROM told") votes that were acknowledged, $(query "SELECT string_agg(format('%s %s by %s', n, outcome, decided_by), ', ')
    FROM (SELECT outcome, decided_by, count(*) AS n FROM ended GROUP BY 1, 2 ORDER BY 1, 2) AS o")"
