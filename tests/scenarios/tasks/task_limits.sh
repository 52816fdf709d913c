#!/usr/bin/env bash
# Task workers claim tasks with limits, and complete, fail, release, extend, forget or roll back their claims, while the server crashes now
# and then.
#   - At no moment more leases run than the limits of their name and of their customer allow.
#   - In no period more claims are made than the rates allow.
#   - All tasks end, and then every place is free: no crash and no rollback has lost one.
# The power does not fail, so fsync is off.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

crashes=2 workers=4 tasks=240
if [ "$WORKFLOW_TEST_SECONDS" -gt 10 ]; then crashes=10 workers=8 tasks=2000; fi

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
SET client_min_messages = error;
SELECT wf_define('{"definitionId": "work", "root": {"id": "work", "type": "RunTask", "taskName": {"input": "name"},
    "payload": {"object": {"customer": {"input": "customer"}}}, "retry": {"maxAttempts": 10000}}}');
SELECT wf_limit_tasks('Held', 5), wf_limit_tasks('Held', 2, key => 'customer');
SELECT wf_limit_tasks('Begun', rate => 30, per => '0.5 s'), wf_limit_tasks('Begun', rate => 8, per => '0.5 s', key => 'customer');
-- Claims that were committed, and when each was made: a lease begins then.
CREATE TABLE claims (name text NOT NULL, customer text NOT NULL, at timestamptz NOT NULL);
CREATE PROCEDURE work() LANGUAGE plpgsql AS $$
DECLARE
    lease interval;
    given jsonb;
    one jsonb;
    act double precision;
BEGIN
    WHILE EXISTS (SELECT FROM workflow.tasks WHERE status = 'Open') LOOP
        lease := (50 + random() * 150) * interval '1 ms';
        SELECT coalesce(jsonb_agg(to_jsonb(c)), '[]') INTO given FROM wf_claim_tasks('{Held,Begun}', max => 1 + (random() * 3)::integer, lease => lease) AS c;
        INSERT INTO claims SELECT g ->> 'name', g -> 'payload' ->> 'customer', (g ->> 'lease_until')::timestamptz - lease FROM jsonb_array_elements(given) AS g;
        IF random() < 0.1 THEN
            PERFORM pg_sleep(random() * 0.02);
            ROLLBACK;
            CONTINUE;
        END IF;
        COMMIT;
        IF given = '[]' OR random() < 0.1 THEN PERFORM pg_sleep(0.01); END IF;
        FOR one IN SELECT * FROM jsonb_array_elements(given) LOOP
            act := random();
            BEGIN
                IF act < 0.5 THEN
                    PERFORM wf_complete_task((one ->> 'task_id')::uuid, token => (one ->> 'token')::uuid);
                ELSIF act < 0.6 THEN
                    PERFORM wf_fail_task((one ->> 'task_id')::uuid, (one ->> 'token')::uuid, 'no luck', retry_in => '20 ms');
                ELSIF act < 0.7 THEN
                    PERFORM wf_release_task((one ->> 'task_id')::uuid, (one ->> 'token')::uuid);
                ELSIF act < 0.85 THEN
                    PERFORM wf_extend_task((one ->> 'task_id')::uuid, (one ->> 'token')::uuid, (10 + random() * 290) * interval '1 ms');
                END IF;
            EXCEPTION
                -- Its lease has ended, and another worker has claimed it.
                WHEN SQLSTATE '55000' THEN NULL;
            END;
            IF random() < 0.1 THEN ROLLBACK; ELSE COMMIT; END IF;
        END LOOP;
    END LOOP;
END $$;
-- Leases that run, and those of the customer that has the most, for as long as there are tasks. What is read has been committed, and a
-- lease whose end came meanwhile is not counted, so this is never too much.
CREATE TABLE looks (together bigint NOT NULL, of_one bigint NOT NULL);
CREATE PROCEDURE look() LANGUAGE plpgsql AS $$
BEGIN
    WHILE EXISTS (SELECT FROM workflow.tasks WHERE status = 'Open') LOOP
        INSERT INTO looks SELECT coalesce(sum(n), 0), coalesce(max(n), 0) FROM (
            SELECT count(*) AS n FROM workflow.bookmarks AS b JOIN workflow.tasks AS t USING (id)
            WHERE t.name = 'Held' AND b.token IS NOT NULL AND b.lease_until > clock_timestamp() GROUP BY t.payload ->> 'customer') AS c;
        COMMIT;
        PERFORM pg_sleep(0.003);
    END LOOP;
END $$;
SQL
# open NUMBER CUSTOMERS: opens this number of tasks, half of each name, for this number of customers.
open() {
    query "SET client_min_messages = error;
        SELECT count(wf_start('work', jsonb_build_object('name', (ARRAY['Held', 'Begun'])[1 + n % 2], 'customer', 'customer ' || (n / 2) % $2)))
        FROM generate_series(1, $1) AS n" >/dev/null
}
open "$tasks" 5
setting "workflow.launch_workers = on"

# load: workers and an observer, until no task is open or the server is gone.
load() {
    local number
    for ((number = 1; number <= workers; number++)); do
        PGAPPNAME=worker psql -X -q -v ON_ERROR_STOP=1 -c "CALL work()" >"$WORKFLOW_TMP/worker.$number" 2>&1 &
    done
    psql -X -q -v ON_ERROR_STOP=1 -c "CALL look()" >"$WORKFLOW_TMP/worker.0" 2>&1 &
}
for ((crash = 1; crash <= crashes; crash++)); do
    load
    sleep "$(awk "BEGIN { print 0.3 + $RANDOM / 32768 }")"
    stop_server immediate
    wait
    if grep -h ERROR "$WORKFLOW_TMP"/worker.*; then fail "a worker had an error before the crash"; fi
    start_server
    echo "ok: crash $crash, with $(query "SELECT count(*) FROM workflow.tasks WHERE status = 'Open'") of $tasks tasks open"
done
load
wait
if grep -h . "$WORKFLOW_TMP"/worker.*; then fail "a worker had an error"; fi

is "$tasks" "SELECT count(*) FROM workflow.tasks WHERE status = 'Completed'"
is "t|t|t" "SELECT max(together) > 0, max(together) <= 5, max(of_one) <= 2 FROM looks"
is "t|t|t" "SELECT count(*) > $tasks / 2, max(together) <= 30, max(of_one) <= 8 FROM (
    SELECT (SELECT count(*) FROM claims AS o WHERE o.name = c.name AND o.at > c.at - interval '0.5 s' AND o.at <= c.at) AS together,
        (SELECT count(*) FROM claims AS o WHERE o.name = c.name AND o.customer = c.customer AND o.at > c.at - interval '0.5 s' AND o.at <= c.at) AS of_one
    FROM claims AS c WHERE name = 'Begun') AS r"
echo "ok: $(query "SELECT count(*) FROM claims") claims; at most $(query "SELECT max(together), max(of_one) FROM looks") leases at a time, together and of a customer"

# claimed: how many tasks one claim gets, by name.
claimed() {
    query "SELECT string_agg(format('%s %s', n, name), ', ' ORDER BY name)
        FROM (SELECT name, count(*) AS n FROM wf_claim_tasks('{Held,Begun}', max => 100, lease => '1 hour') GROUP BY name) AS c"
}
await t "SELECT max(at) < clock_timestamp() - interval '0.5 s' FROM claims"
open 40 1
got=$(claimed)
[ "$got" = "8 Begun, 2 Held" ] || fail "of one customer: $got"
# Held tasks have their slots, and the others are free again when the period is over.
await t "SELECT max(lease_until) < clock_timestamp() + interval '1 hour' - interval '0.5 s' FROM workflow.bookmarks"
open 100 5
got=$(claimed)
[ "$got" = "30 Begun, 3 Held" ] || fail "of five customers: $got"
echo "ok: every place is free at the end"
