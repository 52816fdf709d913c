#!/usr/bin/env bash
# Random clients on shared instances: resume, publish, enqueue, cancel, delete, start, wf_run_due, each call a transaction of its own, some
# rolled back. Whatever the order was, afterwards:
#   - no error but those that such calls may give, above all no deadlock;
#   - every resume that was reported happened, exactly once, and none else;
#   - every kept stimulus was delivered once, or is still in the queue, or went with the instance that it was for;
#   - wf_check() is empty.
# The workflow itself records its resumes: in its burst it writes the tag of each stimulus that resumes it into a table.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

clients=6

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
-- What each instance saw. No unique constraint: an error would be an incident, and hide what is looked for.
CREATE TABLE seen (instance uuid NOT NULL, tag text NOT NULL);
-- What each client was told.
CREATE TABLE told (tag text PRIMARY KEY, call text NOT NULL, target uuid, resumed uuid[], queued uuid);
CREATE TABLE errors (call text NOT NULL, sqlstate text NOT NULL, message text NOT NULL);
CREATE TABLE deleted (instance uuid PRIMARY KEY);

SELECT wf_define('{"definitionId": "counter", "variables": {"N": 0, "Tag": null}, "root": {"type": "Flowchart",
    "activities": [
        {"id": "tick", "type": "Event", "eventName": "Tick", "result": {"var": "Tag"}},
        {"id": "note", "type": "Sql", "statement": "INSERT INTO public.seen VALUES (($1 #>> ''{}'')::uuid, $2 #>> ''{}'')",
         "parameters": [{"js": "getWorkflowInstanceId()"}, {"var": "Tag"}]},
        {"id": "count", "type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}],
    "connections": [["tick", "note"], ["note", "count"], ["count", "tick"]]}}');

CREATE PROCEDURE client(number integer, seconds double precision) LANGUAGE plpgsql AS $$
DECLARE
    until CONSTANT timestamptz := clock_timestamp() + make_interval(secs => seconds);
    tag text;
    n integer := 0;
    dice integer;
    call text;
    target record;
    delivery wf_delivery;
BEGIN
    PERFORM setseed(number / 100.0);
    PERFORM set_config('client_min_messages', 'error', false);
    WHILE clock_timestamp() < until LOOP
        n := n + 1;
        tag := number || '-' || n;
        dice := floor(random() * 100);
        SELECT b.id, b.instance_id, b.correlation_id INTO target FROM workflow.bookmarks AS b ORDER BY random() LIMIT 1;
        BEGIN
            delivery := NULL;
            IF target IS NULL OR dice < 10 THEN
                call := 'start';
                PERFORM wf_start('counter', correlation_id => 'c' || floor(random() * 5));
            ELSIF dice < 50 THEN
                call := 'resume';
                delivery.resumed := ARRAY[(wf_resume(target.id, to_jsonb(tag))).instance_id];
            ELSIF dice < 60 THEN
                call := 'resume missing_ok';
                delivery.resumed := array_remove(ARRAY[(wf_resume(target.id, to_jsonb(tag), missing_ok => true)).instance_id], NULL);
            ELSIF dice < 72 THEN
                call := 'publish';
                delivery := wf_publish_event('Tick', to_jsonb(tag), correlation_id => target.correlation_id);
            ELSIF dice < 84 THEN
                call := 'enqueue';
                delivery := wf_enqueue_bookmark(activity_id => 'tick', instance_id => target.instance_id, input => to_jsonb(tag));
            ELSIF dice < 90 THEN
                call := 'enqueue bookmark';
                delivery := wf_enqueue_bookmark(bookmark_id => target.id, input => to_jsonb(tag));
            ELSIF dice < 94 THEN
                call := 'cancel';
                PERFORM wf_cancel(target.instance_id);
            ELSIF dice < 96 THEN
                call := 'delete';
                IF wf_delete_instance(target.instance_id) THEN
                    INSERT INTO deleted VALUES (target.instance_id);
                END IF;
            ELSE
                call := 'sweep';
                PERFORM wf_run_due();
            END IF;
            INSERT INTO told VALUES (tag, call, target.instance_id, delivery.resumed, delivery.queued_id);
        EXCEPTION WHEN OTHERS THEN
            INSERT INTO errors VALUES (call, SQLSTATE, SQLERRM);
        END;
        -- One call per transaction: an application that locks two instances in two calls orders them itself.
        IF random() < 0.1 THEN
            ROLLBACK;
        ELSE
            COMMIT;
        END IF;
    END LOOP;
END $$;

SELECT count(wf_start('counter', correlation_id => 'c' || n % 5)) FROM generate_series(1, 10) AS n;
SQL

pids=()
for ((number = 1; number <= clients; number++)); do
    psql -X -q -v ON_ERROR_STOP=1 -c "CALL client($number, $WORKFLOW_TEST_SECONDS)" >"$WORKFLOW_TMP/client.$number" 2>&1 &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a client ended: $(cat "$WORKFLOW_TMP"/client.*)"; done
echo "ok: $(query "SELECT count(*) FROM told") calls, $(query "SELECT count(*) FROM seen") resumes, $(query "SELECT count(*) FROM errors") refused"

# Bookmarks used and instances deleted by other clients are the only permitted errors.
is "" "SELECT DISTINCT call, sqlstate, regexp_replace(message, '[0-9a-f-]{36}', '…') FROM errors WHERE (sqlstate, call) NOT IN (('55000', 'resume'), ('42704', 'resume'), ('42704', 'cancel')) LIMIT 10"
echo "ok: no unexpected error, no deadlock"

# No other client is active any more: queued stimuli that can be delivered are delivered now. If an instance waits again, each delivery
# makes room for the next.
PGOPTIONS="-c client_min_messages=error"
export PGOPTIONS
while [ "$(query "SELECT wf_run_due()")" != 0 ]; do :; done
is "" "SELECT * FROM wf_check()"
echo "ok: wf_check() is empty"

is "" "SELECT instance, tag FROM seen GROUP BY 1, 2 HAVING count(*) > 1 LIMIT 10"
is "" "SELECT tag, call FROM told, unnest(resumed) AS instance WHERE NOT EXISTS (SELECT FROM seen AS s WHERE s.tag = told.tag AND s.instance = instance) LIMIT 10"
echo "ok: every reported resume happened, once"

is "" "SELECT s.tag FROM seen AS s WHERE NOT EXISTS (SELECT FROM told AS t WHERE t.tag = s.tag AND (s.instance = ANY (t.resumed) OR t.queued IS NOT NULL)) LIMIT 10"
echo "ok: nothing was resumed by a call that failed, was rolled back or said otherwise"

is "" "SELECT * FROM (
           SELECT t.tag, t.call, t.target, t.resumed, t.queued, (SELECT count(*) FROM seen AS s WHERE s.tag = t.tag) AS seen,
               (SELECT count(*) FROM workflow.bookmark_queue AS q WHERE q.input #>> '{}' = t.tag) AS kept
           FROM told AS t WHERE call LIKE 'enqueue%') AS stimulus
       WHERE seen + kept <> 1
           AND NOT (seen + kept = 0 AND EXISTS (SELECT FROM deleted AS d WHERE d.instance = stimulus.target)) LIMIT 10"
echo "ok: every kept stimulus was delivered once or is still kept, unless what it was for was deleted"

is "" "SELECT i.id, i.variables ->> 'N' FROM workflow.instances AS i WHERE (i.variables ->> 'N')::bigint <> (SELECT count(*) FROM seen AS s WHERE s.instance = i.id) LIMIT 10"
is "0" "SELECT count(*) FROM workflow.bookmark_queue AS q WHERE q.bookmark_id IS NOT NULL AND q.name IS NULL AND NOT EXISTS (SELECT FROM workflow.bookmarks AS b WHERE b.id = q.bookmark_id)
        AND NOT EXISTS (SELECT FROM told WHERE call = 'enqueue bookmark' AND queued = q.id)"
echo "ok: each instance counted what it saw, and nothing is left over for bookmarks that are gone"
