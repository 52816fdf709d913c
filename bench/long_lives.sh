# Sourced by bench/run: the cost of an event for an instance with many earlier events.
# shellcheck shell=bash disable=SC2154

# Each instance waits for an event of its own name, so only its own history can slow it down. An event is a transaction. The CPU time of the
# backend is measured: the disk does not depend on an instance's history.
prepare_lives() {
    query "$PGDATABASE" "CREATE OR REPLACE FUNCTION bench.ticks() RETURNS bigint LANGUAGE sql AS \$\$
            SELECT split_part(s, ' ', 14)::bigint + split_part(s, ' ', 15)::bigint FROM pg_read_file('/proc/self/stat') AS s \$\$" \
        "CREATE OR REPLACE PROCEDURE bench.events(name text, count integer, INOUT microseconds double precision DEFAULT NULL)
        LANGUAGE plpgsql AS \$\$
        DECLARE
            began bigint := bench.ticks();
        BEGIN
            FOR n IN 1 .. count LOOP
                IF cardinality((wf_publish_event(name)).resumed) <> 1 THEN
                    RAISE EXCEPTION 'no instance waits for \"%\"', name;
                END IF;
                COMMIT;
            END LOOP;
            microseconds := (bench.ticks() - began) * 1e6 / $(getconf CLK_TCK) / count;
        END \$\$" \
        "SELECT wf_define(jsonb_build_object('definitionId', 'life-' || kind, 'options', options, 'variables', '{\"Count\": 0}'::jsonb, 'root', '{
            \"type\": \"While\", \"condition\": true, \"body\": [
                {\"type\": \"Event\", \"eventName\": {\"input\": \"name\"}},
                {\"type\": \"SetVariable\", \"variable\": \"Count\", \"value\": {\"js\": \"getCount() + 1\"}}]}'::jsonb))
        FROM (VALUES ('full', '{}'::jsonb), ('kept', '{\"journal\": {\"level\": \"milestones\", \"keep\": 1000}}')) AS v (kind, options)" >/dev/null
}

# live KIND NAME EVENTS: an instance after this many events.
live() {
    query "$PGDATABASE" "SELECT wf_start('life-$1', jsonb_build_object('name', '$2'))" 'SET synchronous_commit = off' \
        "CALL bench.events('$2', $3)" >/dev/null
}

# Microseconds of CPU time per event.
events_of() { query "$PGDATABASE" 'SET synchronous_commit = off' "CALL bench.events('$1', 4000)"; }

# The young instance is a new one in each round, so that it stays young.
young_life() {
    live "$kind" "young-$kind-$BASHPID" 100
    vacuum "$PGDATABASE" >/dev/null
    events_of "young-$kind-$BASHPID"
}
old_life() {
    vacuum "$PGDATABASE" >/dev/null
    events_of "old-$kind"
}

long_lives() {
    local kind
    prepare_lives
    title "CPU time of an event, 100 behind it : 100,000 behind it" ratio
    for kind in full kept; do
        live "$kind" "old-$kind" "${BENCH_EVENTS:-100000}"
        events_of "old-$kind" >"$scratch/dead"
        report "journal $kind, old, before any vacuum: time" "$scratch/dead" us
        compare "journal $kind" 1.1 '<=' young_life old_life
    done
    title "Journal of an instance that keeps 1,000 rows" rows
    query "$PGDATABASE" "SELECT count(*) FROM workflow.execution_log AS l JOIN workflow.instances AS i ON i.id = l.instance_id
        WHERE i.input ->> 'name' = 'old-kept'" >"$scratch/rows"
    report "after ${BENCH_EVENTS:-100000} events" "$scratch/rows" '' 1021
}
