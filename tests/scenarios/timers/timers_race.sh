#!/usr/bin/env bash
# Clients that call wf_run_due() compete with background workers for due rows: each fires once. A stimulus and its bookmark, written by two
# transactions that cannot see each other, are matched, whichever commits first, without any call of a client.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

time_books
setting "workflow.launch_workers = on" "workflow.max_executors = 3"

query "CREATE PROCEDURE drive(until timestamptz) LANGUAGE plpgsql AS \$\$
BEGIN
    WHILE clock_timestamp() < until AND EXISTS (SELECT FROM workflow.bookmarks WHERE due_at IS NOT NULL) LOOP
        PERFORM wf_run_due(1 + floor(random() * 40)::integer);
        COMMIT;
        PERFORM pg_sleep(random() * 0.05);
    END LOOP;
END \$\$"

# Due one after the other, while the clients pause now and then, so that workers and clients each come first for some. In a round on a busy
# machine, one side may come first for all.
each=0
by_workers=0
while [ "$by_workers" -eq 0 ] || [ "$by_workers" -ge $((2 * each)) ]; do
    each=$((each + 1000))
    for definition in noted pure; do
        query "SELECT count(wf_start('$definition', jsonb_build_object('wait', (2000 + 3 * n) || ' ms'))) FROM generate_series(1, 1000) n" >/dev/null
    done
    pids=()
    for number in 1 2 3 4 5 6 7 8; do
        psql -X -q -v ON_ERROR_STOP=1 -c "CALL drive(now() + '60 seconds')" >"$WORKFLOW_TMP/driver.$number" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || fail "a client ended: $(cat "$WORKFLOW_TMP"/driver.*)"; done
    await 0 "SELECT count(*) FROM workflow.bookmarks"
    # The counters are updated after the commit: a late one makes another round.
    by_workers=$(query "SELECT fired FROM workflow.workers WHERE worker = 'scheduler'")
done
is "$each|$each" "SELECT count(*), count(DISTINCT instance) FROM happened"
is "noted|Finished|$each
pure|Finished|$each" "SELECT definition_id, sub_status, count(*) FROM workflow.instances GROUP BY 1, 2 ORDER BY 1"
# The start, and one fire.
is 0 "SELECT count(*) FROM workflow.instances i WHERE (SELECT count(*) FROM workflow.execution_log l WHERE l.instance_id = i.id) <> 2"
is 0 "SELECT count(*) FROM workflow.incidents"
echo "ok: eight clients and three executors on the same $((2 * each)) rows, each fired once ($by_workers by workers)"

# Both transactions are open before either commits; which one commits first, and how long after the other, is random.
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SELECT wf_define('{"definitionId": "meet", "root": [{"id": "here", "type": "Event", "eventName": "Meet"}, {"type": "SetName", "value": "met"}]}');
-- A round begins at the same instant on both sides, so that both are open at the same time.
CREATE PROCEDURE meet(side text, rounds integer, base timestamptz) LANGUAGE plpgsql AS $$
BEGIN
    FOR n IN 1 .. rounds LOOP
        PERFORM pg_sleep(extract(epoch FROM base + n * interval '20 ms' - clock_timestamp()));
        IF side = 'bookmark' AND n % 10 = 0 THEN
            -- What is rolled back was never there: the next one is found.
            PERFORM wf_start('meet', correlation_id => 'm' || n);
            ROLLBACK;
        END IF;
        IF side = 'bookmark' THEN
            PERFORM wf_start('meet', correlation_id => 'm' || n);
        ELSE
            PERFORM wf_enqueue_bookmark(activity_id => 'here', correlation_id => 'm' || n);
        END IF;
        PERFORM pg_sleep(random() * 0.01);
        COMMIT;
    END LOOP;
END $$;
SQL
base=$(query "SELECT clock_timestamp() + interval '0.5 seconds'")
psql -X -q -v ON_ERROR_STOP=1 -c "CALL meet('bookmark', 200, '$base')" >"$WORKFLOW_TMP/left" 2>&1 &
left=$!
psql -X -q -v ON_ERROR_STOP=1 -c "CALL meet('stimulus', 200, '$base')" >"$WORKFLOW_TMP/right" 2>&1 || fail "$(cat "$WORKFLOW_TMP/right")"
wait "$left" || fail "$(cat "$WORKFLOW_TMP/left")"
met="SELECT count(*) FROM workflow.instances WHERE definition_id = 'meet' AND sub_status = 'Finished' AND name = 'met'"
await 200 "$met"
is 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: two hundred stimuli and the bookmarks for them, written at the same time: all met, nobody asked"

# Prepared transactions cannot see each other either, and have no session when they end.
prepare() { # SIDE NUMBER
    case $1 in
        bookmark) query "BEGIN; SELECT wf_start('meet', correlation_id => 'p$2'); PREPARE TRANSACTION '$1$2'" ;;
        stimulus) query "BEGIN; SELECT wf_enqueue_bookmark(activity_id => 'here', correlation_id => 'p$2'); PREPARE TRANSACTION '$1$2'" ;;
    esac >/dev/null
}
for number in 1 2 3 4; do
    prepare bookmark "$number"
    prepare stimulus "$number"
done
for number in 1 2; do
    query "COMMIT PREPARED 'bookmark$number'"
    query "COMMIT PREPARED 'stimulus$number'"
done
for number in 3 4; do
    query "COMMIT PREPARED 'stimulus$number'"
    query "COMMIT PREPARED 'bookmark$number'"
done
await 204 "$met"
is 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: prepared transactions meet as well"

# Due work of a prepared transaction fires once another session has committed it, here after a crash; a rolled-back one does not.
query "CREATE TABLE public.steps (instance uuid)"
query "SELECT wf_define('{\"definitionId\": \"child\", \"root\": [{\"type\": \"Sql\", \"statement\": \"INSERT INTO public.steps VALUES ((\$1 #>> ''{}'')::uuid)\", \"parameters\": [{\"js\": \"getWorkflowInstanceId()\"}]}]}')" >/dev/null
query "SELECT wf_define('{\"definitionId\": \"parent\", \"root\": [{\"type\": \"DispatchWorkflow\", \"workflowDefinitionId\": \"child\", \"waitForCompletion\": true}]}')" >/dev/null
for fate in kept undone; do
    query "BEGIN; SELECT wf_start('noted', '{\"wait\": \"1 ms\"}', correlation_id => '$fate'), wf_start('parent', correlation_id => '$fate');
        SELECT wf_enqueue_bookmark(activity_id => 'here', correlation_id => '$fate'); PREPARE TRANSACTION '$fate'" >/dev/null
done
kill_server
start_server
is 2 "SELECT count(*) FROM pg_prepared_xacts"
is 0 "SELECT count(*) FROM workflow.instances WHERE correlation_id IN ('kept', 'undone')"
query "ROLLBACK PREPARED 'undone'"
query "COMMIT PREPARED 'kept'"
await "noted|Finished
parent|Finished" "SELECT definition_id, sub_status FROM workflow.instances WHERE correlation_id = 'kept' ORDER BY 1"
is "$((each + 1))|1" "SELECT (SELECT count(*) FROM happened), (SELECT count(*) FROM steps)"
query "SELECT wf_start('meet', correlation_id => 'kept'), wf_start('meet', correlation_id => 'undone')" >/dev/null
await "kept|Finished
undone|Suspended" "SELECT correlation_id, sub_status FROM workflow.instances WHERE definition_id = 'meet' AND correlation_id IN ('kept', 'undone') ORDER BY 1"
query "SELECT wf_cancel(id) FROM workflow.instances WHERE correlation_id = 'undone'" >/dev/null
echo "ok: what a prepared transaction left behind is delivered when another session commits it"

# A long-stored stimulus, and a transaction open all the time that then writes its bookmark.
begin late "SELECT wf_start('meet', correlation_id => 'late')"
before=$(now)
query "SELECT wf_enqueue_bookmark(activity_id => 'here', correlation_id => 'late')" >/dev/null
await t "SELECT state = 'idle' AND state_change > '$before' FROM pg_stat_activity WHERE backend_type = 'workflow scheduler'"
# A timer fires after that.
start 1 pure "1 second"
await $((each + 1)) "SELECT count(*) FROM workflow.instances WHERE definition_id = 'pure' AND sub_status = 'Finished'"
is 1 "SELECT count(*) FROM workflow.bookmark_queue"
finish late COMMIT
await 206 "$met"
is 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: a stimulus is not settled while a transaction is open that may write its bookmark"
