# Sourced by bench/run: the cost of the workers, and their delays.
# shellcheck shell=bash disable=SC2154

# The workers keep running, warm, and fire nothing while this is off.
firing() { query postgres "ALTER SYSTEM SET workflow.enabled = $1" 'SELECT pg_reload_conf()' >/dev/null; }

# await QUESTION: waits until the answer is 't'.
await() {
    local i
    for ((i = 0; i < 6000; i++)); do
        [ "$(query "$PGDATABASE" "SELECT $1")" != t ] || return 0
        sleep 0.05
    done
    echo "never came true: $1"
    return 1
}

# lateness KIND COUNT: the delays of this many timers at random instants within ten seconds; prints p50 and p99 in ms.
lateness() {
    query "$PGDATABASE" "SELECT bench.wait_for('late', $2, '2 s', '10 s', '$1')" >/dev/null
    sleep 12
    await "count(*) >= $2 FROM bench.lateness WHERE kind = '$1'"
    query "$PGDATABASE" "SELECT percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY 1000 * seconds) FROM bench.lateness WHERE kind = '$1'" |
        tr -d '{}' | tr ',' ' '
}

# fires COUNT: a backlog of this many due timers; prints fires per second, counted from when firing is turned on.
fires() {
    firing off
    sleep 0.5
    query "$PGDATABASE" 'TRUNCATE workflow.instances, workflow.bookmarks, workflow.execution_log' 'SET synchronous_commit = off' \
        "SELECT bench.wait_for('due', $1, interval '40 ms' * ($1 / 100), '1 ms', '')" 'VACUUM ANALYZE workflow.instances' 'VACUUM ANALYZE workflow.bookmarks' >/dev/null
    await "coalesce(max(due_at) < clock_timestamp(), true) FROM workflow.bookmarks"
    local began
    began=$(query "$PGDATABASE" 'SELECT clock_timestamp()')
    firing on
    await "NOT EXISTS (SELECT FROM workflow.bookmarks)"
    query "$PGDATABASE" "SELECT count(*) / extract(epoch FROM max(finished_at) - '$began') FROM workflow.instances WHERE sub_status = 'Finished'"
}

backlog() {
    local count snapshot
    title "A backlog, all due at once: fires per second" rate
    # Warms up: the first fires after a start are made carefully, one by one.
    fires 500 >/dev/null
    for count in 1000 10000 100000; do
        fires "$count" >"$scratch/fires"
        report "$count due bookmarks" "$scratch/fires" /s 5000 '>='
    done
    psql -X -q -d "$PGDATABASE" -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c 'SELECT 1' -c 'SELECT pg_sleep(3600)' >/dev/null 2>&1 &
    snapshot=$!
    fires 100000 >"$scratch/fires"
    report "100000 under an open snapshot" "$scratch/fires" /s 5000 '>='
    query postgres "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(3600)'" >/dev/null
    wait "$snapshot" || true
}

# From the dispatch, which is a client's transaction, to the end of the parent.
children() {
    local count=10000 round began
    title "$count child workflows of one parent, dispatched and completed: children per second" rate
    firing on
    for ((round = 0; round <= rounds; round++)); do
        query "$PGDATABASE" 'TRUNCATE workflow.instances, workflow.bookmarks, workflow.bookmark_queue, workflow.execution_log' >/dev/null
        began=$(query "$PGDATABASE" 'SELECT clock_timestamp()')
        query "$PGDATABASE" "SELECT wf_start('children', jsonb_build_object('items', (SELECT jsonb_agg(g) FROM generate_series(1, $count) AS g)))" >/dev/null
        await "bool_and(sub_status = 'Finished') FROM workflow.instances"
        query "$PGDATABASE" "SELECT $count / extract(epoch FROM max(updated_at) - '$began') FROM workflow.instances" >>"$scratch/children"
    done
    # The first round warms up.
    tail -n +2 "$scratch/children" >"$scratch/one"
    report "dispatched, run and reported" "$scratch/one" /s 3000 '>='
    query "$PGDATABASE" 'TRUNCATE workflow.instances, workflow.bookmarks, workflow.bookmark_queue, workflow.execution_log'
}

# cpu SECONDS: CPU time of the workers during that time, in ms.
cpu() {
    local before after
    before=$(worker_ticks)
    sleep "$1"
    after=$(worker_ticks)
    awk "BEGIN { print ($after - $before) * 1000 / $(getconf CLK_TCK) }"
}
worker_ticks() {
    query postgres "SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'workflow %'" |
        while read -r pid; do cat "/proc/$pid/stat"; done | awk '{ ticks += $14 + $15 } END { print ticks + 0 }'
}

timers() {
    local middle
    title "1,000 timers within ten seconds, due to the first statement" time
    # Warms up: an executor that has just started connects and plans first.
    lateness warm 50 >/dev/null
    lateness idle 1000 >"$scratch/late"
    awk '{ print $1 }' "$scratch/late" >"$scratch/one"
    report "p50, idle server" "$scratch/one" ms
    awk '{ print $2 }' "$scratch/late" >"$scratch/one"
    report "p99, idle server" "$scratch/one" ms 5
    middle=$(cpu 5)
    query "$PGDATABASE" "SELECT bench.sleepers($instances)" 'VACUUM ANALYZE' CHECKPOINT >/dev/null
    lateness warm 50 >/dev/null
    lateness full 1000 >"$scratch/late"
    awk '{ print $2 }' "$scratch/late" >"$scratch/one"
    report "p99, beside $instances bookmarks due next year" "$scratch/one" ms 5
    echo "$middle" >"$scratch/one"
    report "CPU of all workers in five idle seconds" "$scratch/one" ms 20
    cpu 5 >"$scratch/one"
    report "the same beside $instances bookmarks" "$scratch/one" ms 20
    query "$PGDATABASE" 'TRUNCATE workflow.instances, workflow.bookmarks, workflow.execution_log'
}

# p99 KIND: the delay of 1,000 timers at random instants within ten seconds, in ms.
p99() { lateness "$1" 1000 | awk '{ print $2 }'; }

# first_fire KIND: the delay of the first timer after the workers of this database have been ended, in ms.
first_fire() {
    query postgres "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE backend_type IN ('workflow scheduler', 'workflow executor')" >/dev/null
    query "$PGDATABASE" "SELECT bench.wait_for('late', 1, '50 ms', '0', '$1')" >/dev/null
    await "count(*) = 1 FROM bench.lateness WHERE kind = '$1'"
    query "$PGDATABASE" "SELECT 1000 * seconds FROM bench.lateness WHERE kind = '$1'"
}

# Each side is measured once per round; the stimuli are inserted in between.
kept_stimuli() {
    local side round snapshot
    title "100,000 kept stimuli and an open snapshot : none" ratio
    firing on
    lateness warm 50 >/dev/null
    for side in none kept; do
        if [ "$side" = kept ]; then
            psql -X -q -d "$PGDATABASE" -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c 'SELECT count(*) FROM pg_class' -c 'SELECT pg_sleep(3600)' >/dev/null 2>&1 &
            snapshot=$!
            await "count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            query "$PGDATABASE" "DO \$\$ BEGIN FOR i IN 1 .. 100000 LOOP
                PERFORM wf_enqueue_bookmark('Event', '{\"EventName\": \"Kept\"}', correlation_id => 'kept ' || i, keep_for => '1 day');
                IF i % 20 = 0 THEN COMMIT; END IF; END LOOP; END \$\$" 'VACUUM ANALYZE workflow.bookmark_queue' CHECKPOINT
            await "count(*) = 100000 FROM workflow.bookmark_queue"
            sleep 2
            cpu 5 >"$scratch/idle"
        fi
        for ((round = 0; round < rounds; round++)); do
            first_fire "first $side $round" >>"$scratch/first $side"
        done
        lateness "warm $side" 50 >/dev/null
        for round in 1 2 3; do p99 "p99 $side $round" >>"$scratch/p99 $side"; done
    done
    for side in none kept; do
        report "p99 of 1,000 timers, $side" "$scratch/p99 $side" ms
        report "first fire after a start, $side" "$scratch/first $side" ms
    done
    awk "BEGIN { print $(median "$scratch/p99 kept") / $(median "$scratch/p99 none") }" >"$scratch/one"
    report "p99 of 1,000 timers" "$scratch/one" x 1.5
    awk "BEGIN { print $(median "$scratch/first kept") / $(median "$scratch/first none") }" >"$scratch/one"
    report "first fire after a start" "$scratch/one" x 1.5
    report "CPU of all workers in five idle seconds, kept" "$scratch/idle" ms 20
    query postgres "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(3600)'" >/dev/null
    wait "$snapshot" || true
    query "$PGDATABASE" 'TRUNCATE workflow.instances, workflow.bookmarks, workflow.bookmark_queue, workflow.execution_log'
}

# Private memory of the largest worker, minus that of a plain backend.
worker_memory() {
    local plain round
    title "Memory of a worker over a plain backend" memory
    # As in memory().
    sync
    plain=$(private_memory SELECT)
    for round in first second; do
        fires 50000 >/dev/null
        query postgres "SELECT pid FROM pg_stat_activity WHERE backend_type IN ('workflow scheduler', 'workflow executor')" |
            while read -r pid; do
                awk '/^[0-9a-f]+-[0-9a-f]+ / { shared = $2 ~ /s$/ } /^Private_Dirty:/ && !shared { kb += $2 } END { print kb / 1024 }' "/proc/$pid/smaps"
            done | sort -g | tail -n 1 | awk "{ print \$1 - $plain }" >"$scratch/worker"
        report "the largest one after 50,000 fires, $round time" "$scratch/worker" MB 15
    done
}
