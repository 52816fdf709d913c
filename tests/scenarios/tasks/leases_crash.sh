#!/usr/bin/env bash
# Task workers claim tasks for short leases. They complete them once, twice, late or in a transaction that is rolled back, fail them, extend
# or release their leases, forget them, or are killed, and workers without a task wait for one (leases_worker.py).
# Tasks come in waves. In the storm of a wave the workers' sessions are terminated and the server crashes; in the calm that follows, workers
# are killed only by themselves. At its end all workers wait, and a visitor adds a few more tasks, one at a time.
# A watcher (leases_watcher.py) checks all the time whether a session sleeps although there is work.
# When no task is open, the workers' logs are compared with the database:
#   - An answer whose commit was acknowledged counts. Each task has one answer at most, by the token of its last claim.
#   - An answer whose reply was lost is mostly given again. It is accepted then if the database holds it.
#   - An attempt is no longer answered once another worker was told that it holds the task.
#   - No claim gives a task while a lease of it runs of which a worker was told, and which it has not ended itself.
#   - A task has four attempts at most, and a claim that was released is none.
# - A task ends once. Its instance continues with that result or with that fault.
#   - In a calm each task is claimed again, or ends, within two leases of the last kill, or of the last call that gave or took a lease.
#   - No wake-up is lost.
# The logs are files outside the server, so no crash and no lost commit affects them.
# The power does not fail, so fsync is off.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
here=$(dirname "${BASH_SOURCE[0]}")

# Hundreds of tasks per wave, tasks that end between two crashes, and visits.
workers=4 waves=1 hundreds=6 apart=480 visits=4
if [ "$WORKFLOW_TEST_SECONDS" -gt 10 ]; then workers=8 waves=5 hundreds=40 apart=2000 visits=12; fi
of_wave=$((hundreds * 100)) total=$((waves * (hundreds * 100 + visits)))

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
-- No unique key: an error would be an incident, and hide what is looked for.
CREATE TABLE noted (instance uuid NOT NULL);
-- The result of an activity is in the variable of its name, the fault in one of its own.
CREATE FUNCTION task(id text, name text) RETURNS jsonb LANGUAGE sql RETURN format('{
    "id": "%1$s", "type": "RunTask", "taskName": "%2$s", "priority": {"input": "priority"}, "result": {"var": "%1$s"},
    "retry": {"maxAttempts": 4, "delay": "10 ms"}}', id, name)::jsonb;
CREATE FUNCTION caught(id text) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object(
    'type', 'Try', 'body', task(id, 'Work'), 'catch', jsonb_build_array(jsonb_build_object('variable', id || '_fault')));
SELECT wf_define(jsonb_build_object('definitionId', 'plain', 'variables', '{"work": null}'::jsonb, 'root', task('work', 'Work')));
SELECT wf_define(jsonb_build_object('definitionId', 'doomed', 'variables', '{"work": null}'::jsonb, 'root', task('work', 'Doomed')));
SELECT wf_define(jsonb_build_object('definitionId', 'caught', 'variables', '{"work": null, "work_fault": null}'::jsonb,
    'root', jsonb_build_array(caught('work'), '{"type": "Sql", "statement": "INSERT INTO public.noted VALUES (($1 #>> ''{}'')::uuid)",
        "parameters": [{"js": "getWorkflowInstanceId()"}]}'::jsonb)));
SELECT wf_define(jsonb_build_object('definitionId', 'pair', 'variables', '{"left": null, "left_fault": null, "right": null, "right_fault": null}'::jsonb,
    'root', jsonb_build_object('type', 'Parallel', 'activities', jsonb_build_array(caught('left'), caught('right')))));
SQL

# start_hundred: a hundred tasks. No worker completes the `doomed` ones. They are claimed first, so that their leases expire while there is
# other work.
start_hundred() {
    query "SELECT count(wf_start(d, jsonb_build_object('priority', CASE d WHEN 'doomed' THEN 9 ELSE n % 3 END)))
        FROM (VALUES ('plain', 40), ('caught', 30), ('pair', 12), ('doomed', 6)) AS s (d, number), generate_series(1, number) AS n" >/dev/null
}
open_tasks() { query "SELECT count(*) FROM workflow.tasks WHERE status = 'Open'"; }
# phase NAME: begins now, by the clock of the workers' logs.
phase() { python3 -c "import time; print('$1', time.monotonic_ns(), sep='|')" >>"$WORKFLOW_TMP/phases"; }
# look_after: fails if the watcher or a worker has ended.
look_after() {
    local pid
    kill -0 "$watcher" 2>/dev/null || fail "the watcher ended: $(tail -n 25 "$WORKFLOW_TMP/watcher")"
    for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || fail "a worker ended: $(tail -q -n 2 "$WORKFLOW_TMP"/worker.*)"; done
}

setting "workflow.launch_workers = on"
pids=() visitor=
trap 'kill $visitor "${pids[@]}" 2>/dev/null || true' EXIT
PGAPPNAME=watcher python3 "$here/leases_watcher.py" "$WORKFLOW_TMP/seen" "$WORKFLOW_TMP/looks" "$WORKFLOW_TMP/over" >"$WORKFLOW_TMP/watcher" 2>&1 &
watcher=$!
pids+=("$watcher")
for ((number = 1; number <= workers; number++)); do
    PGAPPNAME=worker python3 "$here/leases_worker.py" "$number" "$WORKFLOW_TEST_WATCHDOG" "$WORKFLOW_TMP/log.$number" \
        "$WORKFLOW_TMP/over" 2>"$WORKFLOW_TMP/worker.$number" &
    pids+=($!)
done

terminate() { # NUMBER
    query "SELECT pg_terminate_backend(pid)
        FROM (SELECT pid FROM pg_stat_activity WHERE application_name = 'worker' ORDER BY random() LIMIT $1) AS w" >/dev/null
}
# storm: the tasks of a wave arrive gradually, so that workers run out of work. It ends when all have arrived and four fifths have ended.
crashes=0
storm() {
    local left=$hundreds crash=$((RANDOM % apart)) most=$((of_wave * 4 / 5)) ended=0 number
    phase storm
    while [ "$left" -gt 0 ] || [ "$ended" -lt "$most" ]; do
        for ((number = RANDOM % 3 + 1; number > 0 && left > 0; number--, left--)); do start_hundred; done
        sleep "0.$((RANDOM % 3 + 1))"
        ended=$(((hundreds - left) * 100 - $(open_tasks)))
        if [ "$ended" -ge "$crash" ]; then
            stop_server immediate
            start_server
            crashes=$((crashes + 1)) crash=$((crash + apart))
        else
            terminate 1
        fi
        look_after
    done
}
# calm: nobody is killed, until no task is open. Then the visitor starts.
calm() {
    local number=$((workers + wave))
    phase calm
    eventually none_is_open
    PGAPPNAME=visitor python3 "$here/leases_worker.py" "$number" "$WORKFLOW_TEST_WATCHDOG" "$WORKFLOW_TMP/log.$number" visit "$visits" 2>"$WORKFLOW_TMP/visitor" &
    visitor=$!
    while kill -0 "$visitor" 2>/dev/null; do
        look_after
        sleep 0.1
    done
    wait "$visitor" || fail "$(cat "$WORKFLOW_TMP/visitor")"
}
none_is_open() {
    look_after
    [ "$(open_tasks)" -eq 0 ]
}
for ((wave = 1; wave <= waves; wave++)); do
    storm
    calm
done
touch "$WORKFLOW_TMP/over"
while [ -n "$(jobs -rp)" ]; do
    # The waiting ones.
    terminate "$workers"
    sleep 0.1
done
wait "$watcher" || fail "the watcher ended: $(tail -n 25 "$WORKFLOW_TMP/watcher")"
for pid in "${pids[@]}"; do wait "$pid" || fail "a worker ended: $(tail -q -n 2 "$WORKFLOW_TMP"/worker.*)"; done
trap - EXIT

cd "$WORKFLOW_TMP" || exit
cat log.* >told
psql -X -q -v ON_ERROR_STOP=1 >>setup.out <<'SQL'
CREATE TABLE told (worker integer NOT NULL, sent bigint NOT NULL, returned bigint, call text NOT NULL, task uuid, token uuid,
    attempt integer, answer text, outcome text NOT NULL);
\copy told FROM 'told' (DELIMITER '|', NULL '')
CREATE INDEX ON told (task);
CREATE INDEX ON told (token);
ANALYZE told;
CREATE TABLE phases (name text NOT NULL, since bigint NOT NULL);
\copy phases FROM 'phases' (DELIMITER '|')
-- When the watcher saw a task open for the last time.
CREATE TABLE seen (task uuid NOT NULL, at bigint NOT NULL);
\copy seen FROM 'seen' (DELIMITER '|')
-- When it looked, four times a second on a quick machine.
CREATE TABLE looks (at bigint PRIMARY KEY);
\copy looks FROM 'looks'
-- Claims and calls of which a worker was told that they are committed.
CREATE VIEW claims AS SELECT * FROM told WHERE call = 'claim' AND outcome = 'claimed';
CREATE VIEW accepted AS SELECT * FROM told WHERE call NOT IN ('start', 'claim', 'wait') AND outcome IN ('Completed', 'Failed', 'Open', 't');
SQL
echo "told: $(query "SELECT string_agg(format('%s %s %s', call, outcome, n), ', ' ORDER BY call, outcome)
    FROM (SELECT call, outcome, count(*) AS n FROM told GROUP BY 1, 2) AS t")"

# never WHAT QUERY: the query must return no rows. The first column is a task, whose lines in the workers' logs are printed.
never() {
    local got
    got=$(query "$2 LIMIT 5")
    [ -z "$got" ] || fail "$1:
$got
worker|sent|returned|call|attempt|token|answer|outcome
$(query "SELECT worker, sent, returned, call, attempt, token, answer, outcome FROM told WHERE task::text = '${got%%|*}' ORDER BY sent")"
}

never "a call had an outcome that no call may have" "SELECT task, worker, call, outcome FROM told
    WHERE outcome NOT IN ('claimed', 'Completed', 'Failed', 'Open', 't', 'f', 'refused', 'unknown', 'undone')"
is "$total" "SELECT count(*) FROM workflow.tasks"
never "a task has not ended" "SELECT id, status FROM workflow.tasks WHERE status NOT IN ('Completed', 'Failed') OR completed_at IS NULL"
echo "ok: $total tasks ended, $crashes crashes"

never "an acknowledged answer is lost" "SELECT a.task, a.answer, a.outcome, t.status, t.token, t.result FROM accepted AS a
    LEFT JOIN workflow.tasks AS t ON t.id = a.task
    WHERE a.outcome IN ('Completed', 'Failed')
        AND ((t.status, t.token) IS DISTINCT FROM (a.outcome, a.token)
            OR t.result ->> 'answer' IS DISTINCT FROM CASE a.outcome WHEN 'Completed' THEN a.answer END)"
never "a task has a result that no worker gave with its token" "SELECT t.id, t.token, t.result FROM workflow.tasks AS t
    WHERE t.status = 'Completed' AND NOT EXISTS (
        SELECT FROM told AS a WHERE a.task = t.id AND a.token = t.token AND a.call = 'complete' AND a.outcome IN ('Completed', 'unknown')
            AND t.result = jsonb_build_object('token', a.token, 'answer', a.answer))"
never "a task was given up by no worker that held its token" "SELECT t.id, t.token, t.result FROM workflow.tasks AS t
    WHERE t.status = 'Failed' AND (t.result IS NOT NULL OR t.token IS NOT NULL AND NOT EXISTS (
        SELECT FROM told AS a WHERE a.task = t.id AND a.token = t.token AND a.call = 'fail' AND a.outcome IN ('Failed', 'unknown')))"
never "an answer was refused when it was given again" "SELECT b.task, b.answer FROM accepted AS a
    JOIN told AS b ON b.answer = a.answer AND b.sent > a.returned
    WHERE a.outcome IN ('Completed', 'Failed') AND b.outcome = 'refused'"
again="FROM told AS a JOIN told AS b ON b.answer = a.answer AND b.sent > a.sent JOIN workflow.tasks AS t ON t.token = a.token
    WHERE a.call = 'complete' AND a.outcome = 'unknown' AND t.result ->> 'answer' = a.answer"
never "an answer that counts was refused when it was given again after its reply was lost" "SELECT b.task, b.answer $again AND b.outcome = 'refused'"
echo "ok: answers that were acknowledged count, and no others do; \
$(query "SELECT count(DISTINCT b.answer) $again AND b.outcome = 'Completed'") were given again after their reply was lost"

never "a token counted whose claim was not committed" "SELECT a.task, a.call, a.answer FROM accepted AS a
    WHERE NOT EXISTS (SELECT FROM claims AS c WHERE c.token = a.token AND c.task = a.task)"
never "a call counted after another worker had claimed the task" "SELECT a.task, a.worker, a.call, a.answer, later.worker AS later FROM accepted AS a
    JOIN claims AS own ON own.token = a.token
    JOIN claims AS later ON later.task = a.task AND later.sent > own.returned AND later.returned < a.sent"
# By the clock of the server. A lease ends early if its worker failed or released the attempt, and a heartbeat can shorten it; the effect of
# a heartbeat without a reply is unknown.
never "two claims gave a task at the same time" "SELECT own.task, own.worker, own.answer, later.worker AS later, later.answer FROM claims AS own
    JOIN claims AS later ON later.task = own.task AND split_part(later.answer, ' ', 2)::bigint > split_part(own.answer, ' ', 2)::bigint
    WHERE split_part(later.answer, ' ', 2)::bigint < split_part(own.answer, ' ', 1)::bigint
        AND NOT EXISTS (SELECT FROM told AS e WHERE e.token = own.token AND e.call IN ('extend', 'fail', 'release')
            AND e.outcome NOT IN ('refused', 'undone', 'f'))"
never "a task was claimed while a heartbeat held it" "SELECT later.task, later.worker, later.answer, own.worker AS holder, own.answer AS until FROM told AS later
    CROSS JOIN LATERAL (
        SELECT * FROM told AS e WHERE e.task = later.task AND e.call = 'extend' AND e.outcome IN ('t', 'unknown') AND e.token <> later.token
            AND e.sent < later.sent ORDER BY e.sent DESC LIMIT 1) AS own
    WHERE later.call = 'claim' AND own.outcome = 't' AND own.returned < later.sent AND split_part(later.answer, ' ', 2)::bigint < own.answer::bigint
        AND NOT EXISTS (SELECT FROM told AS e WHERE e.token = own.token AND e.call IN ('fail', 'release') AND e.outcome NOT IN ('refused', 'f'))"
never "a task ended with the token of a claim before its last" "SELECT t.id, t.status, t.token FROM workflow.tasks AS t
    JOIN claims AS own ON own.token = t.token
    JOIN claims AS later ON later.task = t.id AND later.sent > own.returned"
never "a task ended with the token of an attempt that had ended" "SELECT t.id, t.status, a.call, a.answer FROM workflow.tasks AS t
    JOIN accepted AS a ON a.token = t.token AND (a.outcome = 'Open' OR a.call = 'release')"
never "a claim has a wrong number" "SELECT task, attempt FROM told WHERE call = 'claim' AND attempt NOT BETWEEN 1 AND 4"
never "a task was claimed too often" "SELECT * FROM (
        SELECT task, count(*) FILTER (WHERE call = 'claim' AND outcome = 'claimed') AS claims,
            count(DISTINCT attempt) FILTER (WHERE call = 'claim' AND outcome = 'claimed') AS attempts,
            count(DISTINCT token) FILTER (WHERE call = 'release' AND outcome IN ('t', 'unknown')) AS releases
        FROM told WHERE task IS NOT NULL GROUP BY task) AS t
    WHERE claims - releases > 4 OR claims - attempts > releases"
echo "ok: a task was held by one worker at a time, for four attempts at most"

# The watcher has found no lost wake-up; this checks that it had something to find.
is t "SELECT count(*) > 0 FROM told WHERE call = 'wait' AND outcome = 't'"
never "a wait was over before its time" "SELECT task, worker, answer, returned - sent AS nanoseconds FROM told
    WHERE call = 'wait' AND outcome = 'f' AND returned - sent < split_part(answer, ' ', 2)::bigint * 1000000"
# Events are: a task arrived; a worker got the reply to a claim, heartbeat, failure or release; the task was seen open. A claim without a
# reply belongs to a session that was killed, so it precedes the calm. A forgotten task gets a claim for each lease. So in a calm at most
# one lease, of 600 ms, lies before each event, counted from the previous event or from the last kill. Permitted are two, and ten seconds
# in which the watcher looked as often as on a quick machine: a worker that is not woken sleeps for thirty. For tasks of a visitor the count
# begins with their start.
never "in a calm a task was left alone for longer than two leases" "WITH events AS (
        SELECT task, sent, returned, call = 'start' AS is_start FROM told
        WHERE call = 'claim' AND outcome = 'claimed' OR call IN ('start', 'extend', 'fail', 'release') AND outcome IN ('t', 'Open')
        UNION ALL SELECT task, at, at, false FROM seen)
    SELECT e.task, p.name, (e.sent - greatest(p.since, e.before, e.started)) / 1000000 AS milliseconds
    FROM (SELECT *, max(returned) OVER (PARTITION BY task ORDER BY sent ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before,
            max(returned) FILTER (WHERE is_start) OVER (PARTITION BY task) AS started FROM events) AS e
    CROSS JOIN LATERAL (SELECT * FROM phases WHERE since < e.sent ORDER BY since DESC LIMIT 1) AS p
    WHERE p.name = 'calm' AND e.sent - greatest(p.since, e.before, e.started) > (2 * 600 + 10000) * 1000000::bigint
        AND (SELECT count(*) FROM looks AS l WHERE l.at > greatest(p.since, e.before, e.started) AND l.at < e.sent) > 45"
echo "ok: after the last kill no task was left alone, and no wake-up was lost: $(tail -n 1 watcher)"

# A fault is an incident, or is stored in the variable of the Try.
never "an instance did not go on with the end of its task" "SELECT t.id, i.definition_id, i.sub_status, t.status, f.code, f.message, t.token
    FROM workflow.tasks AS t JOIN workflow.instances AS i ON i.id = t.instance_id
    LEFT JOIN workflow.incidents AS n ON n.instance_id = i.id
    CROSS JOIN LATERAL (SELECT i.variables -> (t.activity_id || '_fault') AS caught) AS v
    CROSS JOIN LATERAL (SELECT coalesce(n.code, v.caught ->> 'code') AS code, coalesce(n.message, v.caught ->> 'message') AS message) AS f
    WHERE i.sub_status IS DISTINCT FROM CASE WHEN t.status = 'Failed' AND i.definition_id IN ('plain', 'doomed') THEN 'Faulted' ELSE 'Finished' END
        OR (n.id IS NOT NULL) IS DISTINCT FROM (i.sub_status = 'Faulted')
        OR CASE WHEN t.status = 'Completed' THEN f.code IS NOT NULL OR i.variables -> t.activity_id IS DISTINCT FROM t.result
            WHEN t.token IS NULL THEN f.code IS DISTINCT FROM 'lease_expired'
            ELSE f.code IS DISTINCT FROM 'no_luck' OR NOT EXISTS (
                SELECT FROM told AS a WHERE a.task = t.id AND a.token = t.token AND a.call = 'fail' AND a.answer = f.message
                    AND a.outcome IN ('Failed', 'unknown')) END"
never "a task that no worker answered did not fail by its last lease" "SELECT t.id, t.status, t.token FROM workflow.tasks AS t
    JOIN workflow.instances AS i ON i.id = t.instance_id
    WHERE i.definition_id = 'doomed' AND (t.status <> 'Failed' OR t.token IS NOT NULL)"
is "" "SELECT instance_id, count(*) FROM workflow.incidents GROUP BY 1 HAVING count(*) > 1 LIMIT 5"
# One row for the start, one for the end of each task, and besides those of failed attempts, which are no bursts.
is "" "SELECT i.id, i.definition_id, l.bursts FROM workflow.instances AS i,
        LATERAL (SELECT count(DISTINCT j.seq) AS bursts FROM workflow.journal AS j WHERE j.instance_id = i.id AND j.event <> 'Retrying') AS l
    WHERE l.bursts <> CASE i.definition_id WHEN 'pair' THEN 3 ELSE 2 END LIMIT 5"
is "$((waves * hundreds * 30))|$((waves * hundreds * 30))" "SELECT count(*), count(DISTINCT instance) FROM noted"
is 0 "SELECT count(*) FROM workflow.bookmarks"
is 0 "SELECT count(*) FROM workflow.dead_letters"
is "" "SELECT * FROM wf_check()"
echo "ok: each instance went on once, $(query "SELECT count(*) FROM workflow.tasks WHERE status = 'Failed' AND token IS NULL") after a last lease"
