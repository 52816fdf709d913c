#!/usr/bin/env bash
# The counters of wf_metrics(), and the counts of its histograms, agree with a table that the same transactions write, while sessions commit,
# roll back to savepoints, prepare transactions and end them in other sessions. After a crash they begin at zero, and a transaction that was
# prepared before counts nothing.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

ok() { echo "ok: $*"; }
sessions=4 rounds=60
if [ "$WORKFLOW_TEST_SECONDS" -gt 10 ]; then rounds=1000; fi

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
SET client_min_messages = error;
SELECT wf_define(format('{"definitionId": "d%s", "root": {"id": "t", "type": "RunTask", "taskName": "t%s", "retry": {"maxAttempts": 10000, "delay": "00:00:00"}}}', n, n)::jsonb)
FROM generate_series(1, 3) AS n;
-- What committed transactions have done, by themselves.
CREATE TABLE done (what text, name text);
CREATE FUNCTION step() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    n text := 1 + floor(random() * 3)::integer;
    task uuid;
    token uuid;
    attempt integer;
BEGIN
    PERFORM wf_start('d' || n);
    INSERT INTO done VALUES ('definition_started_total', 'd' || n), ('definition_burst_seconds_count', 'd' || n);
    SELECT c.task_id, c.token, c.attempt INTO task, token, attempt FROM wf_claim_tasks(ARRAY['t' || n]) AS c;
    IF task IS NULL THEN RETURN; END IF;
    INSERT INTO done VALUES ('task_claims_total', 't' || n);
    IF attempt = 1 THEN INSERT INTO done VALUES ('task_claim_seconds_count', 't' || n); END IF;
    CASE floor(random() * 4)::integer
        WHEN 0 THEN
            PERFORM wf_fail_task(task, token, 'no');
            INSERT INTO done VALUES ('task_failures_total', 't' || n);
        WHEN 1 THEN
            PERFORM wf_cancel(instance_id) FROM workflow.open_tasks WHERE task_id = task;
            INSERT INTO done VALUES ('definition_cancelled_total', 'd' || n), ('definition_burst_seconds_count', 'd' || n);
        ELSE
            PERFORM wf_complete_task(task, token => token);
            INSERT INTO done VALUES ('task_answers_total', 't' || n), ('task_answer_seconds_count', 't' || n), ('definition_finished_total', 'd' || n),
                ('definition_resumed_total', 'd' || n), ('definition_burst_seconds_count', 'd' || n);
    END CASE;
END $$;
-- Some of it in blocks whose work is undone.
CREATE FUNCTION steps() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM step();
    BEGIN
        PERFORM step();
        BEGIN
            PERFORM step();
            IF random() < 0.3 THEN RAISE division_by_zero; END IF;
        EXCEPTION WHEN division_by_zero THEN PERFORM step();
        END;
        IF random() < 0.3 THEN RAISE division_by_zero; END IF;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
END $$;
SQL

counted="name ~ '_(definition|task)_.*_(total|seconds_count)\$'"
counters="SELECT count(*) FROM wf_metrics() WHERE $counted"
# What the table says and the counters do not, or the other way round.
difference="SELECT coalesce(d.name, m.name), d.count, m.value
    FROM (SELECT format('workflow_%s %s', what, name) AS name, count(*) FROM done GROUP BY 1) AS d
         FULL JOIN (SELECT format('%s %s', name, coalesce(labels ->> 'task', labels ->> 'definition')) AS name, value
                    FROM wf_metrics() WHERE $counted) AS m ON m.name = d.name
    WHERE coalesce(d.count, 0)::double precision <> coalesce(m.value, 0)"

# session NUMBER: the transactions of one session. Half of those that are prepared are ended by the next session.
session() {
    local round
    echo "SET client_min_messages = error;"
    echo "SET workflow.notify_tasks = off;"
    for ((round = 0; round < rounds; round++)); do
        echo "BEGIN; SELECT steps();"
        case $((RANDOM % 6)) in
            0) echo "ROLLBACK;" ;;
            1) echo "SAVEPOINT a; SELECT steps(); ROLLBACK TO a; SELECT steps(); COMMIT;" ;;
            2) echo "SAVEPOINT a; SELECT steps(); RELEASE a; COMMIT;" ;;
            3) echo "PREPARE TRANSACTION 'metrics $1'; COMMIT PREPARED 'metrics $1';" ;;
            4) echo "PREPARE TRANSACTION 'metrics $1'; ROLLBACK PREPARED 'metrics $1';" ;;
            5) echo "PREPARE TRANSACTION 'metrics $1'; \\connect
                     SET client_min_messages = error; SET workflow.notify_tasks = off; COMMIT PREPARED 'metrics $1';" ;;
        esac
    done
}

pids=()
for ((number = 0; number < sessions; number++)); do
    session "$number" | psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/session$number" 2>&1 &
    pids+=($!)
done
for number in "${!pids[@]}"; do wait "${pids[$number]}" || fail "session $number: $(tail -n 5 "$WORKFLOW_TMP/session$number")"; done
is "" "$difference"
is t "SELECT count(*) > 20 FROM done"
ok "$(query "SELECT count(*) FROM done") counts of $sessions sessions are those that were committed"

query "SET workflow.notify_tasks = off; BEGIN; SELECT wf_start('d1'); PREPARE TRANSACTION 'metrics crash'" >/dev/null
kill_server
start_server
is 0 "$counters"
query "COMMIT PREPARED 'metrics crash'"
is 0 "$counters"
started="SELECT labels ->> 'definition', value FROM wf_metrics() WHERE name = 'workflow_definition_started_total'"
query "SELECT wf_start('d1')" >/dev/null
is "d1|1" "$started"
# A backend that crashes makes the server begin with new shared memory.
holding "$PGDATABASE" "SELECT wf_start('d1')"
is "d1|2" "$started"
kill -9 "$(query "SELECT pid FROM pg_stat_activity WHERE application_name = 'holder'")"
wait "$holder" || true
await 0 "$counters"
query "SELECT wf_start('d1')" >/dev/null
is "d1|1" "$started"
ok "after a crash the counters begin at zero"

# Databases have counters of their own, and one that is dropped leaves its slots to others: together these have more names than there are
# slots.
query "CREATE DATABASE prototype TEMPLATE template0" postgres
query "CREATE EXTENSION workflow" prototype
query "SELECT count(wf_define(format('{\"definitionId\": \"d%s\", \"root\": []}', n)::jsonb)) FROM generate_series(1, 500) AS n" prototype >/dev/null
for number in {1..9}; do
    query "CREATE DATABASE copy TEMPLATE prototype" postgres
    query "SELECT count(wf_start('d' || n)) FROM generate_series(1, 500) AS n" copy >/dev/null
    got=$(query "SELECT count(*), sum(value) FROM wf_metrics() WHERE name = 'workflow_definition_started_total' AND labels ->> 'definition' <> 'other'" copy)
    [ "$got" = "500|500" ] || fail "copy $number has counted $got"
    query "DROP DATABASE copy" postgres
done
is "d1|1" "$started"
ok "each database has counters of its own, until it is dropped"
