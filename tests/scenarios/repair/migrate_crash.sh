#!/usr/bin/env bash
# 5,000 instances are migrated to another version of their definition, by its publication and by a session with a mapping, while clients
# publish events, claim, complete, fail and forget tasks, timers fire, and activities wait for their next attempts. The server crashes
# repeatedly. After each crash, and at the end:
#   - Each instance is wholly in one version: its row, its state, its bookmarks, tasks and incidents.
#   - What a client was told is committed is there, once: starts, events, answers, migrations.
#   - What an instance did behind its migration it did in the new version, and what it did before, in the old one.
#   - The publication and the session have moved each instance once, and count together as many as the journal.
#   - What cannot be moved stays, and is what is still counted as migrating.
#   - Every instance can be brought to its end.
# The power does not fail, so fsync is off.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
-- What the business has of each instance, and what its steps did. A step that happens twice fails, and shows as an incident.
CREATE TABLE asked (n integer PRIMARY KEY, instance uuid NOT NULL UNIQUE, kind text NOT NULL);
CREATE TABLE effects (instance uuid NOT NULL, step text NOT NULL, version integer NOT NULL, PRIMARY KEY (instance, step));
-- What the session has moved, what a worker holds for long, and what says how far the test is.
CREATE TABLE moved (instance uuid PRIMARY KEY);
CREATE TABLE held (task uuid PRIMARY KEY, token uuid NOT NULL);
CREATE TABLE phase (is_over boolean NOT NULL DEFAULT false, fails boolean NOT NULL DEFAULT true);
INSERT INTO phase DEFAULT VALUES;
CREATE SEQUENCE numbers;

CREATE FUNCTION effect(instance jsonb, step text, version integer) RETURNS void LANGUAGE sql AS $$
    INSERT INTO public.effects VALUES ((instance #>> '{}')::uuid, step, version)
$$;
CREATE FUNCTION attempt(instance jsonb, step text, version integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.effect(instance, step, version);
    IF (SELECT fails FROM public.phase) THEN RAISE 'not yet'; END IF;
END $$;

-- The two versions. Those activities that are to be renamed have other ids in the second one, which the mapping of the session names and
-- the publication does not know. Steps that were added before what waits shift the numbers of all activities.
CREATE FUNCTION id(name text, version integer) RETURNS text LANGUAGE sql
    RETURN name || CASE WHEN name ^@ 'renamed' AND version = 2 THEN '_2' ELSE '' END;
CREATE FUNCTION call(function text, name text, version integer) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object(
    'id', name || '_done', 'type', 'Sql', 'statement', format('SELECT public.%s($1, %L, %s)', function, name, version), 'parameters', '[{"js": "getWorkflowInstanceId()"}]'::jsonb);
-- steps: what waits, and what it is followed by.
CREATE FUNCTION steps(name text, version integer) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    kind text = substring(name FROM '[a-z]+$');
    waits jsonb = CASE kind
        WHEN 'event' THEN '{"type": "Event", "eventName": "Go"}'
        WHEN 'task' THEN '{"type": "RunTask", "taskName": "work", "retry": {"maxAttempts": 3, "delay": "0.1 s"}}'
        WHEN 'timer' THEN '{"type": "Delay", "timeSpan": {"input": "wait"}}'
        WHEN 'attempt' THEN call('attempt', name, version) || '{"retry": {"maxAttempts": 1000, "delay": "3 s", "jitter": 1}}'
        WHEN 'stuck' THEN '{"type": "Event", "eventName": "Stuck"}' END;
    added jsonb = CASE version WHEN 2 THEN '[{"type": "WriteLine", "text": "added"}]' ELSE '[]' END;
    done jsonb = CASE kind WHEN 'attempt' THEN '[]' ELSE jsonb_build_array(call('effect', name, version)) END;
BEGIN
    IF kind = 'parallel' THEN
        RETURN jsonb_build_object('id', id(name, version), 'type', 'Parallel', 'activities', (
            SELECT jsonb_agg(steps(name || '_' || branch, version)) FROM unnest('{event, task, timer}'::text[]) AS branch));
    END IF;
    RETURN jsonb_build_object('id', id(name || '_steps', version), 'type', 'Sequence', 'activities',
        added || jsonb_build_array(waits || jsonb_build_object('id', CASE name WHEN 'stuck' THEN 'stuck_' || version ELSE id(name, version) END)) || done);
END $$;
CREATE TABLE kinds AS SELECT * FROM (VALUES ('kept_event', 850), ('renamed_event', 850), ('kept_task', 850), ('renamed_task', 850), ('kept_parallel', 400), ('renamed_parallel', 400),
    ('kept_timer', 250), ('renamed_timer', 250), ('kept_attempt', 140), ('renamed_attempt', 140), ('stuck', 20)) AS k (kind, number);
CREATE FUNCTION document(version integer) RETURNS jsonb LANGUAGE sql RETURN (
    SELECT jsonb_build_object('definitionId', 'order', 'options', jsonb_build_object('migrate', 'auto'), 'root', jsonb_build_array(
        jsonb_build_object('id', 'kind', 'type', 'Switch', 'cases', jsonb_agg(jsonb_build_object('label', kind,
            'condition', jsonb_build_object('js', format('getInput("kind") === "%s"', kind)), 'activity', steps(kind, version)) ORDER BY number DESC)),
        call('effect', 'end', version)))
    FROM kinds);
CREATE FUNCTION mapping() RETURNS jsonb LANGUAGE sql RETURN (
    SELECT jsonb_object_agg(name, name || '_2')
    FROM unnest('{event, task, timer, attempt, parallel, parallel_event, parallel_task, parallel_timer}'::text[]) AS kind,
        LATERAL unnest(CASE kind WHEN 'parallel' THEN '{renamed_parallel}' ELSE ARRAY['renamed_' || kind, 'renamed_' || kind || '_steps'] END) AS name);

CREATE FUNCTION start(kind text) RETURNS uuid LANGUAGE sql AS $$
    WITH next AS MATERIALIZED (SELECT nextval('numbers') AS n)
    INSERT INTO asked
    SELECT n, wf_start('order', jsonb_build_object('kind', kind, 'wait', 1000 + (random() * 20000)::integer || ' ms'), correlation_id => n::text), kind FROM next
    RETURNING instance
$$;

-- The clients say "done …" only after the commit of what it names: an INFO leaves at once, not with the next result.
-- An event that reaches a busy instance is kept for it, and counts as well. A publisher holds several instances at a time, so that the
-- migrations meet some that are held.
CREATE PROCEDURE publisher() LANGUAGE plpgsql AS $$
DECLARE
    chosen record;
    reached uuid[];
    started uuid;
BEGIN
    WHILE NOT (SELECT is_over FROM phase) LOOP
        reached := '{}';
        started := NULL;
        FOR chosen IN SELECT * FROM asked WHERE kind ~ 'event|parallel' AND n >= (SELECT random() * last_value FROM numbers) ORDER BY n LIMIT 8 LOOP
            IF EXISTS (SELECT FROM workflow.bookmarks WHERE instance_id = chosen.instance AND activity_id ~ '_event') THEN
                PERFORM wf_publish_event('Go', correlation_id => chosen.n::text, keep_for => '0');
                reached := reached || chosen.instance;
            END IF;
        END LOOP;
        IF random() < 0.3 THEN
            started := start((ARRAY['kept_event', 'renamed_event', 'renamed_task'])[1 + floor(random() * 3)]);
        END IF;
        PERFORM pg_sleep(random() * 0.1);
        IF random() < 0.2 THEN
            ROLLBACK;
        ELSE
            COMMIT;
            FOR n IN 1 .. cardinality(reached) LOOP RAISE INFO 'done % event', reached[n]; END LOOP;
            IF started IS NOT NULL THEN RAISE INFO 'done % start', started; END IF;
        END IF;
    END LOOP;
END $$;
CREATE PROCEDURE worker() LANGUAGE plpgsql AS $$
DECLARE
    tasks record;
    task record;
    chance float;
    is_done boolean;
BEGIN
    WHILE NOT (SELECT is_over FROM phase) LOOP
        SELECT array_agg(t.task_id) AS ids, array_agg(t.token) AS tokens, array_agg(t.instance_id) AS instances INTO tasks FROM wf_claim_tasks('{work}', 'worker', 8, '2 s') AS t;
        COMMIT;
        PERFORM pg_sleep(random() * 0.05);
        FOR task IN SELECT * FROM unnest(tasks.ids, tasks.tokens, tasks.instances) AS t (id, token, instance) LOOP
            chance := random();
            is_done := false;
            -- The lease may be over.
            BEGIN
                IF chance < 0.6 THEN
                    PERFORM wf_complete_task(task.id, token => task.token);
                    is_done := true;
                ELSIF chance < 0.8 THEN
                    PERFORM wf_fail_task(task.id, task.token, 'no luck');
                ELSIF chance < 0.9 THEN
                    PERFORM wf_extend_task(task.id, task.token, '1 s');
                END IF;
            EXCEPTION WHEN object_not_in_prerequisite_state THEN is_done := false;
            END;
            COMMIT;
            IF is_done THEN RAISE INFO 'done % task', task.instance; END IF;
        END LOOP;
    END LOOP;
END $$;
CREATE PROCEDURE migrator() LANGUAGE plpgsql AS $$
DECLARE
    mapping jsonb = mapping();
    batch record;
    last uuid;
BEGIN
    WHILE NOT (SELECT is_over FROM phase) LOOP
        last := NULL;
        LOOP
            SELECT array_agg(m.instance_id ORDER BY m.instance_id) AS seen, array_agg(m.instance_id) FILTER (WHERE m.outcome = 'Migrated') AS moved INTO batch
            FROM wf_migrate_all('order', 1, 2, mapping, max => 40, after => last) AS m;
            EXIT WHEN batch.seen IS NULL;
            last := batch.seen[cardinality(batch.seen)];
            INSERT INTO moved SELECT unnest(batch.moved);
            IF random() < 0.1 THEN
                ROLLBACK;
            ELSE
                COMMIT;
                FOR n IN 1 .. coalesce(cardinality(batch.moved), 0) LOOP RAISE INFO 'done % moved', batch.moved[n]; END LOOP;
            END IF;
        END LOOP;
        PERFORM pg_sleep(0.02);
    END LOOP;
END $$;

SELECT wf_define(document(1));
SELECT count(start(kind)) FROM (SELECT kind FROM kinds, generate_series(1, number) ORDER BY random()) AS k;
INSERT INTO held SELECT task_id, token FROM wf_claim_tasks('{work}', 'holder', 200, '1 hour');
ANALYZE;
SQL
setting "workflow.launch_workers = on"
cd "$WORKFLOW_TMP" || exit

clients=(publisher publisher worker worker)
# Instances of the first version that can be migrated and have not ended; migrated instances.
left="SELECT count(*) FROM workflow.instances AS i JOIN asked AS a ON a.instance = i.id WHERE i.version = 1 AND i.sub_status NOT IN ('Finished', 'Cancelled') AND a.kind <> 'stuck'"
moved="SELECT count(*) FROM workflow.instances AS i JOIN asked AS a ON a.instance = i.id WHERE i.version = 2"

pids=()
# call PROCEDURE: a client.
call() {
    psql -X -q -c "SET client_min_messages = info" -c "CALL $1()" >"client.${#pids[@]}" 2>&1 &
    pids+=($!)
}
# called: waits until all clients have called: one that connects only after a crash would stay.
called() { await "${#clients[@]}" "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CALL%'"; }
load() {
    local client
    pids=()
    for client in "${clients[@]}"; do call "$client"; done
    called
}
# A client ends with the server, or when it is asked to.
look_after() {
    local number
    for number in "${!pids[@]}"; do
        kill -0 "${pids[number]}" 2>/dev/null || fail "${clients[number]} ended: $(grep -v done "client.$number" | head -n 5)"
    done
}
# listen: collects the clients' logs when they have ended. The last line of each may be incomplete.
listen() {
    [ "${#pids[@]}" -gt 0 ] || return 0
    wait
    if grep -h ERROR client.*; then fail "a client had an error"; fi
    sed -n 's/^INFO:  done \([0-9a-f-]\{36\}\) \(start\|event\|task\|moved\)$/\1|\2/p' client.* >>told
    pids=()
}

# crash: of the whole server, or of a session or background worker, which takes all others with it. A restarted server has no background
# workers before the next load, so that few instances are migrated without concurrent activity.
crashes=0
crash() {
    local recovers="all server processes terminated; reinitializing" before pid
    crashes=$((crashes + 1))
    if ((crashes % 3)); then
        query "ALTER SYSTEM SET workflow.launch_workers = off"
        stop_server immediate
        start_server
    else
        before=$(logged "$recovers")
        pid=$(query "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL%' OR backend_type = 'workflow executor' ORDER BY random() LIMIT 1")
        kill -9 "$pid"
        eventually has_logged $((before + 1)) "$recovers"
        eventually pg_isready -q
    fi
    listen
    whole
}

# whole: one snapshot shows no problem, even while workers run.
whole() {
    psql -X -q -At -v ON_ERROR_STOP=1 >problems <<'SQL'
BEGIN ISOLATION LEVEL REPEATABLE READ;
CREATE TEMPORARY VIEW here AS SELECT i.*, a.kind FROM workflow.instances AS i JOIN asked AS a ON a.instance = i.id;
SELECT 'version', i.id FROM here AS i JOIN workflow.definitions AS d ON d.id = i.definition_version_id WHERE d.version <> i.version OR i.version NOT IN (1, 2);
-- The names say the version, and the state has the same activities.
SELECT 'bookmark', i.id, i.version, b.activity_id FROM workflow.bookmarks AS b JOIN here AS i ON i.id = b.instance_id
WHERE i.kind <> 'stuck' AND b.activity_id <> id(regexp_replace(b.activity_id, '_2$', ''), i.version);
SELECT 'path', i.id, b.activity_id, b.node_id FROM workflow.bookmarks AS b JOIN here AS i ON i.id = b.instance_id
WHERE b.node_id !~ (':' || b.activity_id || '$') OR i.kind ^@ 'renamed' AND (b.node_id ~ '_steps_2:') <> (i.version = 2);
SELECT 'task', i.id, i.version, t.activity_id FROM workflow.tasks AS t JOIN here AS i ON i.id = t.instance_id
WHERE t.status = 'Open' AND t.activity_id <> id(regexp_replace(t.activity_id, '_2$', ''), i.version);
SELECT 'incident', i.id, i.version, c.activity_id FROM workflow.incidents AS c JOIN here AS i ON i.id = c.instance_id
WHERE c.resolved_at IS NULL AND c.activity_id <> id(regexp_replace(c.activity_id, '_2$', ''), i.version);
SELECT 'state', i.id, i.version, s.waiting, b.waiting FROM here AS i,
    LATERAL (SELECT array_agg(DISTINCT o ->> 'activity_id' ORDER BY o ->> 'activity_id') AS waiting
             FROM jsonb_array_elements(workflow.instance_state(i.id) -> 'open') AS o WHERE o -> 'bookmarks' > '0') AS s,
    LATERAL (SELECT array_agg(DISTINCT b.activity_id ORDER BY b.activity_id) AS waiting FROM workflow.bookmarks AS b WHERE b.instance_id = i.id) AS b
WHERE s.waiting IS DISTINCT FROM b.waiting;
SELECT 'incident', c.message, count(*) FROM workflow.incidents AS c WHERE c.message !~ '^(no luck|no worker answered)' GROUP BY c.message;
SELECT * FROM wf_check();
COMMIT;
SQL
    [ ! -s problems ] || fail "after $crashes crashes: $(head -n 20 problems)"
}

# The clients have started when the new version is published; the first crash happens during the first batches, or before.
load
await t "SELECT count(*) > 100 FROM effects"
query "SELECT version FROM wf_define(document(2))" >>setup.out
clients+=(migrator)
call migrator
called
sleep "0.$((RANDOM % 3))"
crash
# On a slow machine all may have been migrated between two looks: it crashes nevertheless.
while [ "$(query "$left")" -gt 0 ] || [ "$crashes" -lt 3 ]; do
    next=$(($(query "$moved") + 100 + RANDOM % 500))
    setting "workflow.launch_workers = on"
    load
    until [ "$(query "$moved")" -ge "$next" ] || [ "$(query "$left")" -eq 0 ]; do look_after; done
    if [ "$(query "$left")" -gt 0 ] || [ "$crashes" -lt 3 ]; then crash; fi
done
query "UPDATE phase SET is_over = true"
listen
setting "workflow.launch_workers = on"
[ "$crashes" -ge 3 ] || fail "the server crashed only $crashes times"

# The publication retries instances that it found locked; a call need not wait for that.
has_published() {
    query "SELECT wf_resume(b.id, missing_ok => true) FROM workflow.bookmarks AS b JOIN workflow.instances AS i ON i.id = b.instance_id
        WHERE i.definition_id = 'Workflow.MigrateInstances'" >>publication.out || fail "the publication"
    [ "$(query "SELECT sub_status FROM workflow.instances WHERE definition_id = 'Workflow.MigrateInstances'")" = Finished ]
}
eventually has_published
whole
is "2|20" "SELECT version, migrating FROM workflow.definition_list WHERE definition_id = 'order' AND is_published"
is "stuck|1|20" "SELECT a.kind, i.version, count(*) FROM asked AS a JOIN workflow.instances AS i ON i.id = a.instance WHERE i.version = 1 AND i.sub_status <> 'Finished' GROUP BY 1, 2"
is "1|20" "SELECT count(DISTINCT problems), count(*) FROM wf_migrate_all('order', dry_run => true, max => 10000) WHERE outcome = 'Refused'"
echo "ok: $crashes crashes, $(query "$moved") instances in the new version, $(query "SELECT count(*) FROM moved") of them by the session"

psql -X -q -v ON_ERROR_STOP=1 >>setup.out <<'SQL'
CREATE TABLE told (instance uuid, what text);
\copy told FROM 'told' (DELIMITER '|')
CREATE TABLE migrations AS SELECT instance_id AS instance, min(seq) AS seq, count(*) AS number FROM workflow.journal WHERE event = 'Migrated' GROUP BY 1;
SQL
# Workers may still have to deliver stored stimuli. For a faulted instance they stay stored until wf_retry.
await "" "SELECT t.* FROM told AS t WHERE NOT CASE what WHEN 'start' THEN EXISTS (SELECT FROM asked AS a WHERE a.instance = t.instance)
    WHEN 'moved' THEN EXISTS (SELECT FROM moved AS m WHERE m.instance = t.instance)
    ELSE EXISTS (SELECT FROM effects AS e WHERE e.instance = t.instance AND e.step ~ (what || '$'))
        OR what = 'event' AND EXISTS (SELECT FROM workflow.bookmark_queue AS q JOIN workflow.instances AS i ON i.id = q.instance_id
            WHERE q.instance_id = t.instance AND i.sub_status = 'Faulted') END LIMIT 5"
is "" "SELECT what, instance, count(*) FROM told WHERE what IN ('start', 'task', 'moved') GROUP BY 1, 2 HAVING count(*) > 1 LIMIT 5"
is "" "SELECT * FROM migrations WHERE number > 1 LIMIT 5"
is "" "SELECT i.id, i.version FROM workflow.instances AS i JOIN migrations AS m ON m.instance = i.id WHERE i.version <> 2 LIMIT 5"
is "" "SELECT instance FROM moved EXCEPT SELECT instance FROM migrations LIMIT 5"
is t "SELECT (output -> 'result' -> 'moved')::bigint + (SELECT count(*) FROM moved) = (SELECT count(*) FROM migrations) FROM workflow.instances WHERE definition_id = 'Workflow.MigrateInstances'"
echo "ok: $(query "SELECT string_agg(what || ' ' || n, ', ' ORDER BY what) FROM (SELECT what, count(*) AS n FROM told GROUP BY 1) AS t") acknowledged, none lost, none done twice"

# Tasks that were claimed before are completed with their tokens, and all instances are brought to their end.
query "UPDATE phase SET fails = false"
is "$(query "SELECT count(*) FROM held")" "SELECT count(*) FROM held, wf_complete_task(task, token => token)"
has_ended() {
    query "SELECT wf_publish_event(name, keep_for => '0') FROM unnest('{Go, Stuck}'::text[]) AS name" >>end.out || fail "events"
    query "SELECT wf_retry(id) FROM workflow.instances WHERE sub_status = 'Faulted'" >>end.out || fail "wf_retry"
    query "SELECT wf_complete_task(task_id, token => token) FROM wf_claim_tasks('{work}', 'last', 1000)" >>end.out || fail "tasks"
    query "SELECT wf_resume(id, missing_ok => true) FROM workflow.bookmarks WHERE name = 'Elsa.Delay'" >>end.out || fail "timers"
    [ "$(query "SELECT count(*) FROM workflow.instances WHERE sub_status <> 'Finished'")" -eq 0 ]
}
eventually has_ended
is "" "SELECT a.instance, a.kind, e.steps FROM asked AS a LEFT JOIN LATERAL (SELECT array_agg(step ORDER BY step) AS steps FROM effects AS e WHERE e.instance = a.instance) AS e ON true
    WHERE e.steps IS DISTINCT FROM CASE WHEN a.kind ~ 'parallel' THEN ARRAY['end', a.kind || '_event', a.kind || '_task', a.kind || '_timer']
        WHEN a.kind < 'end' THEN ARRAY[a.kind, 'end'] ELSE ARRAY['end', a.kind] END LIMIT 5"
psql -X -q -v ON_ERROR_STOP=1 <<'SQL'
CREATE TABLE ended AS SELECT instance_id AS instance, count(*) AS number FROM workflow.journal WHERE event = 'Workflow finished' GROUP BY 1;
CREATE TABLE ran AS SELECT instance_id AS instance, regexp_replace(activity, '(_2|_done)$', '') AS step, seq FROM workflow.journal
WHERE event = 'Completed' AND activity ~ '_(done|attempt|attempt_2)$';
ANALYZE;
SQL
is "" "SELECT a.*, e.number FROM asked AS a LEFT JOIN ended AS e USING (instance) WHERE e.number IS DISTINCT FROM 1 LIMIT 5"
# Each step belonged to the version that the instance had at that time.
is "" "SELECT e.*, r.seq, m.seq FROM effects AS e JOIN workflow.instances AS i ON i.id = e.instance
    LEFT JOIN ran AS r ON r.instance = e.instance AND r.step = e.step LEFT JOIN migrations AS m ON m.instance = e.instance
    WHERE r.seq IS NULL OR e.version <> CASE WHEN m.seq IS NULL THEN i.version WHEN r.seq < m.seq THEN 1 ELSE 2 END LIMIT 5"
# Both publishers may send an event to one bookmark. The second event, if it was stored, is a dead letter.
is "" "SELECT * FROM workflow.dead_letters
    WHERE reason <> 'Gone' OR instance_id NOT IN (SELECT instance FROM asked WHERE kind ~ 'event|parallel')"
is "" "SELECT * FROM wf_check()"
echo "ok: $(query "SELECT count(*) FROM asked") instances came to their end"
