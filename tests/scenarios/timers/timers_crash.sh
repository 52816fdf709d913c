#!/usr/bin/env bash
# Hundreds of timers are due, some of them with user SQL that writes a row, and activities with failed attempts wait for the next, while
# clients resume instances; at a random moment the whole server is killed, or only the postmaster, or an executor. After recovery and in
# bounded time, every timer has fired exactly once, every instance is where it should be, and nothing is left over. The power does not fail,
# so fsync is off.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

rounds=3
clients=2
time_books
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
-- What the business has of each: when it was asked for, by a row of its own, in the same transaction.
CREATE TABLE asked (instance uuid PRIMARY KEY, definition text NOT NULL);
-- A unique key: what happens twice fails, and shows as an incident.
CREATE TABLE written (instance uuid NOT NULL, step text NOT NULL, PRIMARY KEY (instance, step));
CREATE FUNCTION write(instance jsonb, step text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO public.written VALUES ((instance #>> '{}')::uuid, step)
$$;
-- Time, then SQL, then time again, then a session resumes it, then SQL.
SELECT wf_define('{"definitionId": "mixed", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}},
    {"type": "Sql", "statement": "SELECT public.write($1, ''first'')", "parameters": [{"js": "getWorkflowInstanceId()"}]},
    {"type": "Delay", "timeSpan": "00:00:00.05"},
    {"type": "Sql", "statement": "SELECT public.write($1, ''second'')", "parameters": [{"js": "getWorkflowInstanceId()"}]},
    {"id": "event", "type": "Event", "eventName": "Go"},
    {"type": "Sql", "statement": "SELECT public.write($1, ''third'')", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
-- Time only: these share transactions.
SELECT wf_define('{"definitionId": "twice", "root": [
    {"type": "Delay", "timeSpan": {"input": "wait"}}, {"type": "SetName", "value": "once"},
    {"type": "Delay", "timeSpan": "00:00:00.05"}, {"type": "SetName", "value": "twice"}]}');
-- Half of its attempts fail, after they have written.
CREATE FUNCTION unreliable(instance jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.written VALUES ((instance #>> '{}')::uuid, 'at last');
    IF random() < 0.5 THEN RAISE 'not yet'; END IF;
END $$;
SELECT wf_define('{"definitionId": "failing", "root": {"type": "Sql", "statement": "SELECT public.unreliable($1)", "parameters": [{"js": "getWorkflowInstanceId()"}],
    "retry": {"maxAttempts": 1000, "delay": "0.2 s", "jitter": 1}}}');
CREATE PROCEDURE ask(n integer) LANGUAGE sql AS $$
    INSERT INTO asked SELECT wf_start('failing'), 'failing' FROM generate_series(1, n);
    INSERT INTO asked SELECT wf_start('mixed', jsonb_build_object('wait', 1 + (random() * 1000)::integer || ' ms')), 'mixed' FROM generate_series(1, n);
    INSERT INTO asked SELECT wf_start('twice', jsonb_build_object('wait', 1 + (random() * 1000)::integer || ' ms')), 'twice' FROM generate_series(1, n);
$$;
CREATE PROCEDURE client() LANGUAGE plpgsql AS $$
DECLARE mark uuid;
BEGIN
    LOOP
        SELECT b.id INTO mark FROM workflow.bookmarks b WHERE b.activity_id = 'event' ORDER BY random() LIMIT 1;
        IF mark IS NULL OR random() < 0.2 THEN
            CALL ask(1);
        ELSE
            PERFORM wf_resume(mark, missing_ok => true);
        END IF;
        IF random() < 0.1 THEN ROLLBACK; ELSE COMMIT; END IF;
    END LOOP;
END $$;
SQL
setting "workflow.launch_workers = on"

# Processes of this cluster: all have the data directory as their working directory.
processes() {
    local directory
    for directory in /proc/[0-9]*/cwd; do
        if [ "$(readlink "$directory" 2>/dev/null)" = "$PGDATA" ]; then echo "$directory" | cut -d / -f 3; fi
    done
}

# kill_rest: everything that has outlived the postmaster: a backend that never waits does not notice, nor does one that waits for a lock of
# a killed one.
kill_rest() {
    local left
    while left=$(processes) && [ -n "$left" ]; do
        # shellcheck disable=SC2086
        kill -9 $left 2>/dev/null || true
        sleep 0.05
    done
}

kill_postmaster() { kill -9 "$(head -n 1 "$PGDATA/postmaster.pid")"; }
is_gone() { ! kill -0 "$1" 2>/dev/null; } # PID

# kill_executor: if there is one. The postmaster then has ended all others, and starts recovery.
kill_executor() {
    local pid before recovers="all server processes terminated; reinitializing"
    before=$(logged "$recovers")
    pid=$(query "SELECT pid FROM workflow.workers WHERE worker = 'executor' ORDER BY state = 'firing' DESC, random() LIMIT 1") || true
    if [ -n "$pid" ] && kill -9 "$pid" 2>/dev/null; then eventually has_logged $((before + 1)) "$recovers"; fi
}

# crash ROUND
crash() {
    local number launcher
    await 1 "SELECT count(*) FROM workflow.workers WHERE worker = 'launcher'"
    launcher=$(query "SELECT pid FROM workflow.workers WHERE worker = 'launcher'")
    query "CALL ask(150)"
    for ((number = 1; number <= clients; number++)); do
        psql -X -q -c "CALL client()" >"$WORKFLOW_TMP/client.$number" 2>&1 &
    done
    sleep "$(awk "BEGIN { print 0.1 + $RANDOM / 32768 * 2 }")"
    case $(($1 % 3)) in
        0) kill_executor; kill_postmaster ;;
        # The workers that sleep notice.
        1) kill_postmaster; eventually is_gone "$launcher" ;;
        2) kill_postmaster ;;
    esac
    kill_rest
    wait
    if grep -h ERROR "$WORKFLOW_TMP"/client.*; then fail "a client had an error before the crash"; fi
    start_server
}

# Checks, once nothing is due, that each instance has made all its steps.
count() {
    await 0 "SELECT count(*) FROM workflow.bookmarks WHERE due_at IS NOT NULL"
    is 0 "SELECT count(*) FROM workflow.dead_letters"
    is "" "SELECT i.definition_id, i.sub_status, n.sqlstate, n.message FROM workflow.incidents n JOIN workflow.instances i ON i.id = n.instance_id LIMIT 5"
    is "" "SELECT 'lost', a.* FROM asked a WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = a.instance) LIMIT 5"
    is "" "SELECT 'not asked for', i.id FROM workflow.instances i WHERE NOT EXISTS (SELECT FROM asked a WHERE i.id = a.instance) LIMIT 5"
    is "" "SELECT 'twice', i.id, i.sub_status, i.name FROM workflow.instances i WHERE definition_id = 'twice' AND (sub_status, name) IS DISTINCT FROM ('Finished', 'twice') LIMIT 5"
    is "" "SELECT 'mixed', i.id, i.sub_status, s.steps, b.marks FROM workflow.instances i,
               LATERAL (SELECT coalesce(array_agg(w.step ORDER BY w.step), '{}') AS steps FROM written w WHERE w.instance = i.id) AS s,
               LATERAL (SELECT coalesce(array_agg(b.activity_id), '{}') AS marks FROM workflow.bookmarks b WHERE b.instance_id = i.id) AS b
           WHERE definition_id = 'mixed' AND (i.sub_status, s.steps, b.marks) NOT IN
               (('Suspended', ARRAY['first', 'second'], ARRAY['event']), ('Finished', ARRAY['first', 'second', 'third'], '{}')) LIMIT 5"
    is "" "SELECT 'failing', i.id, i.sub_status FROM workflow.instances i
           WHERE definition_id = 'failing' AND NOT (i.sub_status = 'Finished' AND EXISTS (SELECT FROM written w WHERE w.instance = i.id)) LIMIT 5"
    # One line for the start, and one for each resumption: after each failed attempt, and at the time of each timer.
    is "" "SELECT i.id, i.definition_id, i.sub_status, l.bursts FROM workflow.instances i,
               LATERAL (SELECT count(*) AS bursts FROM workflow.execution_log l WHERE l.instance_id = i.id) AS l
           WHERE l.bursts <> CASE WHEN i.definition_id = 'failing' THEN 1 + (SELECT count(*) FROM workflow.journal j WHERE j.instance_id = i.id AND j.event = 'Retrying')
               WHEN i.definition_id = 'mixed' AND i.sub_status = 'Finished' THEN 4 ELSE 3 END LIMIT 5"
    is "" "SELECT b.id FROM workflow.bookmarks b WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = b.instance_id)"
    is "" "SELECT * FROM wf_check()"
}

round=0
# A long run has fifty crashes, or as many as fit into the time that the runner gives.
while [ "$round" -lt "$rounds" ] || { [ "$WORKFLOW_TEST_SECONDS" -gt 10 ] && [ "$round" -lt 50 ] && [ "$SECONDS" -lt "$((WORKFLOW_TEST_SECONDS * 3 + 200))" ]; }; do
    round=$((round + 1))
    crash "$round"
    count
    echo "ok: round $round, $(query "SELECT count(*) FROM asked") timers, $(query "SELECT count(*) FROM written") writes"
done
query "SELECT wf_resume(id) FROM workflow.bookmarks" >/dev/null
is Finished "SELECT DISTINCT sub_status FROM workflow.instances"
is t "SELECT count(*) = (SELECT sum(CASE definition WHEN 'mixed' THEN 3 WHEN 'failing' THEN 1 ELSE 0 END) FROM asked) FROM written"
echo "ok: everything came to its end"
