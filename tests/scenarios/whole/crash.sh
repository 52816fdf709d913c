#!/usr/bin/env bash
# Clients start and resume; at a random moment the whole server is killed, or one of its backends, which makes the postmaster terminate all
# others. After recovery:
#   - What a client was told is committed is there, and nothing that it was not.
#   - Each step happened at most once, and instance, bookmark, task, journal and the business row agree about it.
#   - wf_check() is empty, and whatever waits can go on.
# The power does not fail, so fsync is off.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

clients=4
rounds=$((WORKFLOW_TEST_SECONDS / 4))
[ "$rounds" -ge 3 ] || rounds=3

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
-- The business: what was requested, and each step of it, written beside each call in the same transaction.
CREATE TABLE requests (id text PRIMARY KEY, instance uuid NOT NULL UNIQUE);
CREATE TABLE steps (instance uuid NOT NULL, activity text NOT NULL, PRIMARY KEY (instance, activity));

SELECT wf_define('{"definitionId": "request", "variables": {"First": null}, "root": [
    {"id": "first", "type": "RunTask", "taskName": "first", "result": {"var": "First"}},
    {"id": "second", "type": "Event", "eventName": "Second"},
    {"id": "third", "type": "RunTask", "taskName": "third"}]}');

-- Says "done …" to the client only after the commit of what it names: an INFO leaves at once, not with the next result.
CREATE PROCEDURE client(name text) LANGUAGE plpgsql AS $$
DECLARE
    n integer := 0;
    request text;
    started uuid;
    open record;
    done text;
BEGIN
    LOOP
        n := n + 1;
        SELECT b.id, b.instance_id, b.activity_id INTO open
        FROM workflow.bookmarks AS b JOIN requests AS r ON r.instance = b.instance_id ORDER BY random() LIMIT 1;
        IF open IS NULL OR random() < 0.35 THEN
            request := name || '-' || n;
            started := wf_start('request', correlation_id => request);
            INSERT INTO requests VALUES (request, started);
            done := started || ' start';
        ELSE
            done := NULL;
            IF (wf_resume(open.id, to_jsonb(name || n), missing_ok => true)).instance_id IS NOT NULL THEN
                INSERT INTO steps VALUES (open.instance_id, open.activity_id);
                done := open.instance_id || ' ' || open.activity_id;
            END IF;
        END IF;
        IF random() < 0.1 THEN
            ROLLBACK;
        ELSE
            COMMIT;
            IF done IS NOT NULL THEN
                RAISE INFO 'done %', done;
            END IF;
        END IF;
    END LOOP;
END $$;
SQL

# Backends outlive a killed postmaster, so they are killed as well.
kill_all() {
    local postmaster children
    postmaster=$(head -n 1 "$PGDATA/postmaster.pid")
    children=$(pgrep -P "$postmaster")
    # A child may have ended.
    # shellcheck disable=SC2086
    kill -9 "$postmaster" $children 2>/dev/null || true
    while kill -0 "$postmaster" 2>/dev/null; do sleep 0.05; done
}

kill_one() {
    kill -9 "$(query "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL client%' ORDER BY random() LIMIT 1")"
}

# load ROUND: runs clients until the server is gone. Each logs the replies that it got in a file.
load() {
    local number
    for ((number = 1; number <= clients; number++)); do
        psql -X -q -c "SET client_min_messages = info" -c "CALL client('$1-$number')" >"$WORKFLOW_TMP/client.$number" 2>&1 &
    done
    # One that connects only after the crash would stay.
    await "$clients" "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CALL client%'"
    # From hardly started to well under way.
    sleep "$(awk "BEGIN { print 0.2 + $RANDOM / 32768 * 1.8 }")"
    if (($1 % 3)); then kill_all; else kill_one; fi
    wait
    if grep -h ERROR "$WORKFLOW_TMP"/client.*; then fail "a client had an error before the crash"; fi
    # The last line of a client may be incomplete.
    sed -n 's/^INFO:  done \([0-9a-f-]\{36\}\) \(start\|first\|second\|third\)$/\1|\2/p' "$WORKFLOW_TMP"/client.* >"$WORKFLOW_TMP/told"
}

count() {
    psql -X -q -v ON_ERROR_STOP=1 <<'SQL' >"$WORKFLOW_TMP/problems"
\pset tuples_only on
\pset format unaligned
CREATE TEMPORARY TABLE told (instance uuid, what text);
\copy told FROM 'told' (DELIMITER '|')
SELECT 'told and lost', t.* FROM told AS t
WHERE NOT EXISTS (SELECT FROM requests AS r WHERE r.instance = t.instance AND t.what = 'start')
  AND NOT EXISTS (SELECT FROM steps AS s WHERE s.instance = t.instance AND s.activity = t.what);
SELECT 'told twice', instance, what FROM told GROUP BY instance, what HAVING count(*) > 1;

CREATE TEMPORARY TABLE standing AS
SELECT r.instance, (SELECT count(*) FROM steps AS s WHERE s.instance = r.instance) AS steps FROM requests AS r;
SELECT 'request without instance', instance FROM standing WHERE NOT EXISTS (SELECT FROM workflow.instances AS i WHERE i.id = instance);
SELECT 'instance without request', i.id FROM workflow.instances AS i WHERE NOT EXISTS (SELECT FROM requests AS r WHERE r.instance = i.id);
SELECT 'a step without the one before', instance, activity FROM steps AS s
WHERE activity <> 'first' AND NOT EXISTS (SELECT FROM steps AS b WHERE b.instance = s.instance AND b.activity = CASE s.activity WHEN 'second' THEN 'first' ELSE 'second' END);
SELECT 'status', s.*, i.sub_status FROM standing AS s JOIN workflow.instances AS i ON i.id = s.instance
WHERE i.sub_status <> CASE WHEN s.steps = 3 THEN 'Finished' ELSE 'Suspended' END;
SELECT 'bookmark', s.*, b.activity_id FROM standing AS s LEFT JOIN workflow.bookmarks AS b ON b.instance_id = s.instance
WHERE b.activity_id IS DISTINCT FROM (ARRAY['first', 'second', 'third'])[s.steps + 1];
SELECT 'bursts', s.* FROM standing AS s WHERE s.steps + 1 <> (SELECT count(*) FROM workflow.execution_log AS l WHERE l.instance_id = s.instance);
SELECT 'tasks', s.* FROM standing AS s
WHERE (SELECT array_agg(t.activity_id || ' ' || t.status ORDER BY t.activity_id) FROM workflow.tasks AS t WHERE t.instance_id = s.instance)
   IS DISTINCT FROM CASE s.steps WHEN 0 THEN ARRAY['first Open'] WHEN 1 THEN ARRAY['first Completed'] WHEN 2 THEN ARRAY['first Completed', 'third Open']
                                 ELSE ARRAY['first Completed', 'third Completed'] END;
SELECT * FROM wf_check();
SQL
    [ ! -s "$WORKFLOW_TMP/problems" ] || fail "$(head -n 20 "$WORKFLOW_TMP/problems")"
}

cd "$WORKFLOW_TMP" || exit
for ((round = 1; round <= rounds; round++)); do
    load "$round"
    if ((round % 3)); then start_server; fi
    until pg_isready -q; do sleep 0.1; done
    count
    echo "ok: round $round, $(wc -l <told) calls acknowledged, $(query "SELECT count(*) FROM requests") requests, $(query "SELECT count(*) FROM steps") steps"
done

# Every waiting instance can be brought to its end.
query "DO \$\$ BEGIN FOR n IN 1 .. 3 LOOP PERFORM wf_resume(b.id) FROM workflow.bookmarks AS b; END LOOP; END \$\$"
is "0" "SELECT count(*) FROM workflow.instances WHERE sub_status <> 'Finished'"
is "" "SELECT * FROM wf_check()"
echo "ok: whatever was left waiting went on to its end"
