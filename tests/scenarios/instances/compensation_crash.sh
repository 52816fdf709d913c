#!/usr/bin/env bash
# Journeys book three things, wait, and then complete or fail, unless a client has cancelled them before. Their bookings are compensated
# step by step, with timers between the steps and attempts that fail. At a random moment the server crashes. After recovery and in bounded
# time, each booking was compensated once, the latest first, or confirmed once, or released because its body was interrupted; and the
# journal agrees.
# The power does not fail, so fsync is off.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

rounds=3
clients=2
psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
-- What was asked for, in the same transaction.
CREATE TABLE asked (instance uuid PRIMARY KEY);
-- Nothing is unique: what happens twice is to be seen.
CREATE TABLE noted (at bigint GENERATED ALWAYS AS IDENTITY, instance uuid NOT NULL, number integer NOT NULL, what text NOT NULL);
CREATE FUNCTION note(instance jsonb, number jsonb, what text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO public.noted (instance, number, what) VALUES ((instance #>> '{}')::uuid, number::integer, what)
$$;
-- A third of its attempts fail, after they have written.
CREATE FUNCTION take_back(instance jsonb, number jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.note(instance, number, 'taken back');
    IF random() < 0.33 THEN RAISE 'not yet'; END IF;
END $$;
CREATE FUNCTION noting(what text) RETURNS jsonb LANGUAGE sql RETURN jsonb_build_object(
    'type', 'Sql', 'statement', format('SELECT public.note($1, $2, %L)', what),
    'parameters', '[{"js": "getWorkflowInstanceId()"}, {"var": "CurrentValue"}]'::jsonb);
SELECT wf_define(jsonb_build_object('definitionId', 'journey', 'options', '{"compensateOn": ["cancel", "fault"]}'::jsonb, 'root', jsonb_build_array(
    jsonb_build_object('type', 'ForEach', 'items', '[1, 2, 3]'::jsonb, 'body', jsonb_build_object(
        'id', 'Book', 'type', 'Compensable',
        'body', jsonb_build_array(noting('booked'), '{"type": "Delay", "timeSpan": {"input": "wait"}}'::jsonb),
        'compensation', '[
            {"type": "Delay", "timeSpan": "00:00:00.05"},
            {"type": "Sql", "statement": "SELECT public.take_back($1, $2)", "parameters": [{"js": "getWorkflowInstanceId()"}, {"var": "CurrentValue"}],
             "retry": {"maxAttempts": 1000, "delay": "0.05 s"}},
            {"type": "Delay", "timeSpan": "00:00:00.05"}]'::jsonb,
        'confirmation', jsonb_build_array('{"type": "Delay", "timeSpan": "00:00:00.02"}'::jsonb, noting('confirmed')),
        'cancellation', jsonb_build_array(noting('released')))),
    '{"type": "Delay", "timeSpan": {"input": "wait"}}'::jsonb,
    '{"type": "If", "condition": {"input": "fails"}, "then": {"type": "Fault", "message": "no visa"}}'::jsonb)));
CREATE PROCEDURE ask(n integer) LANGUAGE sql AS $$
    INSERT INTO asked SELECT wf_start('journey', jsonb_build_object('wait', 1 + (random() * 300)::integer || ' ms', 'fails', random() < 0.5))
    FROM generate_series(1, n);
$$;
-- The locks of a crash are gone with it, and so is a cancel that was not committed.
CREATE PROCEDURE client() LANGUAGE plpgsql AS $$
DECLARE journey uuid;
BEGIN
    LOOP
        SELECT l.instance_id INTO journey FROM workflow.instance_list AS l WHERE l.sub_status = 'Suspended' ORDER BY random() LIMIT 1;
        IF journey IS NULL OR random() < 0.4 THEN
            CALL ask(1);
        ELSE
            PERFORM wf_cancel(journey, 'it rains');
        END IF;
        IF random() < 0.1 THEN ROLLBACK; ELSE COMMIT; END IF;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
SQL
setting "workflow.launch_workers = on"

# crash: of the whole server, under load. Adds to `halfway` the number of journeys that were between two compensating steps.
halfway=0
crash() {
    local number
    query "CALL ask(60)"
    for ((number = 1; number <= clients; number++)); do
        psql -X -q -c "CALL client()" >"$WORKFLOW_TMP/client.$number" 2>&1 &
    done
    sleep "$(awk "BEGIN { print 0.3 + $RANDOM / 32768 * 2 }")"
    stop_server immediate
    wait
    if grep -h ERROR "$WORKFLOW_TMP"/client.*; then fail "a client had an error before the crash"; fi
    start_server
    number=$(query "SELECT count(DISTINCT o.instance_id) FROM workflow.open_compensations AS o JOIN noted AS n ON n.instance = o.instance_id AND n.what = 'taken back'")
    halfway=$((halfway + number))
}

count() {
    await 0 "SELECT count(*) FROM workflow.bookmarks"
    is "" "SELECT 'lost', a.* FROM asked AS a WHERE NOT EXISTS (SELECT FROM workflow.instances AS i WHERE i.id = a.instance) LIMIT 5"
    is "" "SELECT 'not asked for', i.id FROM workflow.instances AS i WHERE NOT EXISTS (SELECT FROM asked AS a WHERE i.id = a.instance) LIMIT 5"
    is "" "SELECT * FROM workflow.open_compensations LIMIT 5"
    is "" "SELECT i.instance_id, i.message FROM workflow.incidents AS i WHERE i.message <> 'no visa' LIMIT 5"
    is "" "SELECT instance, number, array_agg(what ORDER BY at) FROM noted GROUP BY instance, number
        HAVING array_agg(what ORDER BY at) NOT IN (ARRAY['booked', 'taken back'], ARRAY['booked', 'confirmed'], ARRAY['booked', 'released']) LIMIT 5"
    is "" "SELECT * FROM (
            SELECT i.id, i.sub_status, string_agg(n.what || ' ' || n.number, ', ' ORDER BY n.at) FILTER (WHERE n.what <> 'booked') AS ends
            FROM workflow.instances AS i LEFT JOIN noted AS n ON n.instance = i.id GROUP BY i.id, i.sub_status) AS e
        WHERE NOT CASE sub_status
            WHEN 'Finished' THEN ends = 'confirmed 1, confirmed 2, confirmed 3'
            WHEN 'Faulted' THEN ends = 'taken back 3, taken back 2, taken back 1'
            -- In the body of a booking, between them and the end, or while the end confirms them.
            WHEN 'Cancelled' THEN ends IN ('released 1', 'released 2, taken back 1', 'released 3, taken back 2, taken back 1',
                'taken back 3, taken back 2, taken back 1', 'confirmed 1, taken back 3, taken back 2', 'confirmed 1, confirmed 2, taken back 3')
            ELSE false END LIMIT 5"
    is "" "SELECT * FROM (
            SELECT i.id, (SELECT array_agg(n.what ORDER BY n.at) FROM noted AS n WHERE n.instance = i.id AND n.what <> 'booked') AS noted,
                (SELECT array_agg(CASE j.event WHEN 'Compensated' THEN 'taken back' WHEN 'Confirmed' THEN 'confirmed' ELSE 'released' END ORDER BY j.seq, j.number)
                 FROM workflow.journal AS j WHERE j.instance_id = i.id AND j.event IN ('Compensated', 'Confirmed', 'Cancellation handled')) AS said
            FROM workflow.instances AS i) AS b
        WHERE noted IS DISTINCT FROM said LIMIT 5"
    is "" "SELECT * FROM wf_check()"
}

# covered: a crash came between two steps that take back, and journeys have ended in each way.
covered() { [ "$halfway" -gt 0 ] && [ "$(query "SELECT count(DISTINCT sub_status) FROM workflow.instances")" -eq 3 ]; }

round=0
while [ "$round" -lt "$rounds" ] || ! covered || { [ "$WORKFLOW_TEST_SECONDS" -gt 10 ] && [ "$SECONDS" -lt "$WORKFLOW_TEST_SECONDS" ]; }; do
    round=$((round + 1))
    crash
    count
    echo "ok: round $round, $(query "SELECT string_agg(format('%s %s', number, sub_status), ', ') FROM (
        SELECT sub_status, count(*) AS number FROM workflow.instances GROUP BY 1 ORDER BY 1) AS s"), $halfway met half-way"
done
