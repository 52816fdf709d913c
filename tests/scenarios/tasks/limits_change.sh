#!/usr/bin/env bash
# Changing task limits against a model. In random order, limits are set, raised, lowered, given another key and removed, definitions change
# owner and are migrated, tasks are claimed, completed, released, extended (also too late), cancelled, and forgotten until their leases
# expire. The model holds the leases as the calls returned them, and the limits as they were set.
#   - A claim takes a task only if no more leases run afterwards than each of its limits allows.
#   - A claim leaves a task only if one of its limits is reached.
#   - wf_check finds a slot for each lease.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

steps=600
if [ "$WORKFLOW_TEST_SECONDS" -gt 10 ]; then steps=6000; fi
seed=${WORKFLOW_TEST_SEED:-$RANDOM}
echo "seed $seed: WORKFLOW_TEST_SEED=$seed repeats this run"

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
SET client_min_messages = error;
CREATE ROLE ann;
CREATE ROLE bob;
SELECT wf_grant_usage(r), wf_accept_tasks(r) FROM unnest('{ann,bob}'::name[]) AS r;
CREATE FUNCTION document(id text, version integer) RETURNS jsonb LANGUAGE sql RETURN
    jsonb_build_object('definitionId', id, 'description', version::text, 'root', jsonb_build_object('id', 'work', 'type', 'RunTask',
        'taskName', '{"input": "name"}'::jsonb, 'payload', '{"object": {"customer": {"input": "customer"}, "city": {"input": "city"}}}'::jsonb,
        'retry', '{"maxAttempts": 10000}'::jsonb));
SET SESSION AUTHORIZATION ann;
SELECT wf_define(public.document('one', 1));
SET SESSION AUTHORIZATION bob;
SELECT wf_define(public.document('two', 1));
RESET SESSION AUTHORIZATION;
CREATE TABLE limits (owner text, name text, key text, most integer);
CREATE TABLE leases (task uuid, token uuid PRIMARY KEY, until timestamptz);
CREATE TABLE versions (number integer);
INSERT INTO versions VALUES (1);
-- Open tasks, each with the limits that hold for it and the leases that run there at an instant.
CREATE FUNCTION places(at timestamptz) RETURNS TABLE (task uuid, most integer, running bigint) LANGUAGE sql STABLE AS $$
    WITH tasks AS MATERIALIZED (
        SELECT t.id, t.name, t.payload, pg_get_userbyid(o.role_oid) AS owner
        FROM workflow.tasks AS t JOIN workflow.instances AS i ON i.id = t.instance_id
        JOIN workflow.definitions AS d ON d.id = i.definition_version_id JOIN workflow.owners AS o ON o.id = d.owner
        WHERE t.status = 'Open')
    SELECT t.id, l.most, (SELECT count(*) FROM leases AS s JOIN tasks AS x ON x.id = s.task
        WHERE s.until > at AND x.owner = t.owner AND x.name = t.name AND (l.key IS NULL OR x.payload ->> l.key = t.payload ->> l.key))
    FROM tasks AS t JOIN limits AS l ON l.owner = t.owner AND l.name = t.name
$$;
CREATE PROCEDURE walk(steps integer, seed double precision) LANGUAGE plpgsql AS $$
DECLARE
    act double precision;
    who text;
    what text;
    wanted_key text;
    number integer;
    given integer;
    one record;
    began timestamptz;
    wrong record;
BEGIN
    PERFORM setseed(seed);
    PERFORM set_config('client_min_messages', 'error', false);
    FOR step IN 1 .. steps LOOP
        act := random();
        who := (ARRAY['ann', 'bob'])[1 + floor(random() * 2)];
        what := (ARRAY['A', 'B'])[1 + floor(random() * 2)];
        SELECT * INTO one FROM leases ORDER BY random() LIMIT 1;
        IF act < 0.15 OR (SELECT count(*) FROM workflow.tasks WHERE status = 'Open') < 8 THEN
            PERFORM wf_start((ARRAY['one', 'two'])[1 + floor(random() * 2)], jsonb_build_object('name', what,
                'customer', 'customer ' || floor(random() * 3), 'city', CASE WHEN random() < 0.8 THEN 'city ' || floor(random() * 2) END));
        ELSIF act < 0.30 THEN
            wanted_key := (ARRAY[NULL, 'customer', 'city'])[1 + floor(random() * 3)];
            number := nullif(floor(random() * 5)::integer, 0);
            PERFORM set_config('role', who, true);
            PERFORM wf_limit_tasks(what, number, key => wanted_key);
            PERFORM set_config('role', 'none', true);
            -- A limit with another key replaces the one with a key; none without a number is there afterwards.
            IF number IS NULL THEN
                DELETE FROM limits WHERE owner = who AND name = what AND key IS NOT DISTINCT FROM wanted_key;
            ELSE
                DELETE FROM limits WHERE owner = who AND name = what AND (key IS NULL) = (wanted_key IS NULL);
                INSERT INTO limits VALUES (who, what, wanted_key, number);
            END IF;
        ELSIF act < 0.34 THEN
            PERFORM wf_set_owner('definition', (ARRAY['one', 'two'])[1 + floor(random() * 2)], who);
        ELSIF act < 0.36 THEN
            UPDATE versions SET number = versions.number + 1 RETURNING versions.number INTO number;
            who := (SELECT pg_get_userbyid(o.role_oid) FROM workflow.definitions AS d JOIN workflow.owners AS o ON o.id = d.owner
                WHERE d.definition_id = 'one' AND d.is_published);
            PERFORM set_config('role', who, true);
            PERFORM wf_define(public.document('one', number));
            PERFORM set_config('role', 'none', true);
            PERFORM wf_migrate(i.id) FROM workflow.instances AS i
                WHERE i.definition_id = 'one' AND i.status = 'Running' AND random() < 0.5;
        ELSIF act < 0.60 THEN
            began := clock_timestamp();
            given := (ARRAY[1, 2, 100])[1 + floor(random() * 3)];
            DROP TABLE IF EXISTS pg_temp.claimed;
            CREATE TEMP TABLE claimed AS SELECT task_id, token, lease_until FROM wf_claim_tasks(ARRAY[what], max => given,
                lease => CASE WHEN random() < 0.3 THEN '20 ms' ELSE '1 hour' END::interval);
            INSERT INTO leases SELECT task_id, token, lease_until FROM claimed;
            SELECT p.*, clock_timestamp() AS now INTO wrong FROM places(clock_timestamp()) AS p JOIN claimed AS c ON c.task_id = p.task
                WHERE p.running > p.most LIMIT 1;
            IF FOUND THEN RAISE EXCEPTION 'step %: % leases run where % may', step, wrong.running, wrong.most; END IF;
            IF (SELECT count(*) FROM claimed) < given THEN
                SELECT t.id INTO wrong FROM workflow.tasks AS t WHERE t.status = 'Open' AND t.name = what
                    AND NOT EXISTS (SELECT FROM leases AS s WHERE s.task = t.id AND s.until > began)
                    AND NOT EXISTS (SELECT FROM places(began) AS p WHERE p.task = t.id AND p.running >= p.most) LIMIT 1;
                IF FOUND THEN RAISE EXCEPTION 'step %: task % was left although its limits are not reached', step, wrong.id; END IF;
            END IF;
        ELSIF one.token IS NOT NULL AND act < 0.95 THEN
            BEGIN
                IF act < 0.68 THEN
                    PERFORM wf_complete_task(one.task, token => one.token);
                ELSIF act < 0.74 THEN
                    PERFORM wf_fail_task(one.task, one.token, 'no luck', retry_in => '0');
                ELSIF act < 0.80 THEN
                    PERFORM wf_release_task(one.task, one.token);
                ELSIF act < 0.84 THEN
                    PERFORM wf_cancel(t.instance_id) FROM workflow.tasks AS t WHERE t.id = one.task;
                ELSE
                    UPDATE leases SET until = extended FROM wf_extend_task(one.task, one.token, '1 hour') AS e (extended)
                        WHERE token = one.token AND extended IS NOT NULL;
                    one.token := NULL;
                END IF;
                DELETE FROM leases WHERE token = one.token;
            EXCEPTION
                -- Its lease has ended, and another claim has got the task.
                WHEN SQLSTATE '55000' OR SQLSTATE '42704' THEN DELETE FROM leases WHERE token = one.token AND until < clock_timestamp();
            END;
        ELSE
            PERFORM pg_sleep(0.02);
        END IF;
        COMMIT;
        -- A lease that has ended may be prolonged as long as no other has the task.
        DELETE FROM leases AS s WHERE NOT EXISTS (SELECT FROM workflow.bookmarks AS b WHERE b.id = s.task AND b.token = s.token);
        SELECT * INTO wrong FROM wf_check() LIMIT 1;
        IF FOUND THEN RAISE EXCEPTION 'step %: wf_check says %', step, to_jsonb(wrong); END IF;
        COMMIT;
    END LOOP;
END $$;
SQL
query "CALL walk($steps, $seed / 32768.0)" 2>"$WORKFLOW_TMP/walk.out" || fail "seed $seed: $(cat "$WORKFLOW_TMP/walk.out")"
is t "SELECT count(*) > 0 FROM workflow.tasks WHERE status = 'Completed'"
echo "ok: $steps steps; $(query "SELECT count(*) FROM workflow.tasks WHERE status = 'Completed'") tasks completed"
