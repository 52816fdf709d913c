# Sourced by bench/run: external workers, which claim tasks.
# shellcheck shell=bash disable=SC2154

open_tasks=${BENCH_TASKS:-1000000}

# answered PROCEDURE: tasks per second of 4 workers among 100,000 open ones, each call durable.
answered() {
    local before after
    query "$PGDATABASE" 'TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.execution_log' \
        'SET synchronous_commit = off' 'SELECT bench.open_tasks(100000)' >/dev/null
    vacuum "$PGDATABASE"
    begin_segment
    before=$(query "$PGDATABASE" 'SELECT clock_timestamp()')
    "$PGBIN/pgbench" -n -M prepared -c 4 -j 2 -T "$pgbench_seconds" -f <(echo "CALL bench.$1();") "$PGDATABASE" >"$scratch/pgbench.log" 2>&1 ||
        { cat "$scratch/pgbench.log" >&2; exit 1; }
    after="SELECT count(*) / extract(epoch FROM max(completed_at) - '$before') FROM workflow.tasks WHERE status = 'Completed'"
    query "$PGDATABASE" "$after"
}

# opened DATABASE COUNT
opened() {
    create_database "$1"
    file "$1" tasks.sql
    query "$1" 'SET synchronous_commit = off' "SELECT bench.open_tasks($2)" >/dev/null
    query "$1" 'VACUUM (ANALYZE)'
}
# keyed DATABASE STATEMENT...: tasks of a limited name, 20 of each of 100 customers, behind what the statements make.
keyed() {
    local database=$1
    shift
    create_database "$database"
    file "$database" tasks.sql
    query "$database" 'SET synchronous_commit = off' "SELECT wf_limit_tasks('keyed', 1, key => 'customer')" "$@" \
        'SELECT count(bench.open_keyed(100)) FROM generate_series(1, 20)' >/dev/null
    query "$database" 'VACUUM (ANALYZE)'
}
claim_free() { measured bench_free "bench.claim_one(200, '{keyed}')"; }
claim_behind_full() { measured bench_full "bench.claim_one(200, '{keyed}')"; }
claim_behind_completed() { measured bench_old 'bench.claim_one(200)'; }
claim_of_any_name() { measured bench_names 'bench.claim_one(200, NULL)'; }
claim_among_few() { measured bench_few 'bench.claim_one(200)'; }
claim_among_many() { measured bench_many 'bench.claim_one(200)'; }

tasks() {
    local round
    title "4 workers claim 10 of 100,000 tasks at a time, durable" rate
    rm -f "$scratch"/{one,many}
    for ((round = 0; round < rounds; round++)); do
        answered work_one_by_one >>"$scratch/one"
        answered work_together >>"$scratch/many"
    done
    report "answers one by one" "$scratch/one" /s 5000 '>='
    report "answers by wf_complete_tasks" "$scratch/many" /s 10000 '>='
    # Each of four lines takes 200 away in each round.
    opened bench_few $((1000 + 800 * rounds))
    opened bench_many "$open_tasks"
    title "Claim of one task among few : among $open_tasks" ratio
    compare "first of one name" 1.2 '<=' claim_among_few claim_among_many
    query bench_many "UPDATE workflow.bookmarks SET available_at = 'tomorrow', lease_until = 'tomorrow', token = gen_random_uuid()
        WHERE id IN (SELECT id FROM workflow.bookmarks ORDER BY created_at LIMIT 100000)" 'VACUUM (ANALYZE)'
    compare "the same, behind 100,000 that are leased" 2 '<=' claim_among_few claim_among_many
    query postgres 'DROP DATABASE bench_many'
    opened bench_old $((100000 + 400 * rounds))
    # Its snapshot keeps the completed tasks' dead entries in the index.
    coproc snapshot { psql -X -q -At -d bench_old; }
    echo 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM workflow.tasks;' >&"${snapshot[1]}"
    read -r -u "${snapshot[0]}"
    query bench_old 'SET synchronous_commit = off' 'CALL bench.complete(100000)'
    compare "the same, after 100,000 were completed under an open snapshot" 2 '<=' claim_among_few claim_behind_completed
    exec {snapshot[1]}>&-
    wait "$snapshot_PID" || true
    query postgres 'DROP DATABASE bench_old'
    create_database bench_names
    file bench_names tasks.sql
    query bench_names "SELECT sum(bench.open_tasks(3, 'work ' || n)) FROM generate_series(1, 1000) AS n" 'VACUUM (ANALYZE)' >/dev/null
    compare "the same, of any of 1,000 names" 2 '<=' claim_among_few claim_of_any_name
    query postgres 'DROP DATABASE bench_few' 'DROP DATABASE bench_names'
    keyed bench_free
    keyed bench_full "SELECT bench.open_keyed(100000, 'full')" "SELECT count(*) FROM wf_claim_tasks('{keyed}', lease => '1 day')"
    title "Claim of one task of a name with one place for each customer" ratio
    compare "behind 100,000 of a customer whose place is taken : without them" 2 '<=' claim_free claim_behind_full
    query postgres 'DROP DATABASE bench_free' 'DROP DATABASE bench_full'
}

# heartbeats: bytes of WAL of ten heartbeats, each a transaction.
heartbeats() {
    local before i beats=()
    for ((i = 0; i < 10; i++)); do beats+=("SELECT FROM wf_extend_task('$1', '$2')"); done
    before=$(query "$PGDATABASE" 'SELECT pg_current_wal_insert_lsn()')
    query "$PGDATABASE" "${beats[@]}" "SELECT pg_current_wal_insert_lsn() - '$before'"
}

# A waiting session claims each task as it appears. The other session records when its commit returns.
waking() {
    local count=300 session
    query "$PGDATABASE" 'TRUNCATE bench.heard, bench.committed'
    { for ((i = 0; i < count; i++)); do echo "CALL wf_wait_tasks('{wake}', '1 min'); INSERT INTO bench.heard SELECT task_id, clock_timestamp() FROM wf_claim_tasks('{wake}');"; done; } |
        psql -X -q -d "$PGDATABASE" >"$scratch/waker.log" 2>&1 &
    session=$!
    query "$PGDATABASE" "CALL bench.open_slowly($count)"
    wait "$session"
    query "$PGDATABASE" "SELECT 1000 * percentile_cont(0.99) WITHIN GROUP (ORDER BY greatest(0, extract(epoch FROM h.at - c.at))) FROM bench.heard AS h JOIN bench.committed AS c USING (task) HAVING count(*) = $count"
}

# idle_minute: transaction ids assigned while a session waits for a task that an open transaction has claimed, and whether its call returned
# within the minute.
idle_minute() {
    local before holder ready
    query "$PGDATABASE" "SELECT bench.open_tasks(1, 'held')" >/dev/null
    coproc holder { psql -X -q -At -d "$PGDATABASE"; }
    echo "BEGIN; SELECT count(*) FROM wf_claim_tasks('{held}');" >&"${holder[1]}"
    read -r -u "${holder[0]}"
    before=$(query "$PGDATABASE" 'SELECT pg_snapshot_xmax(pg_current_snapshot())')
    ready=$(query "$PGDATABASE" "CALL wf_wait_tasks('{held}', '1 min')")
    echo "$(query "$PGDATABASE" "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint - $before") $([ "$ready" = f ] && echo 0 || echo 1)"
    exec {holder[1]}>&-
    wait "$holder_PID" || true
}

leases() {
    local held round
    title "Leases" ""
    held=$(query "$PGDATABASE" "SELECT bench.open_tasks(1, 'beat')" "SELECT task_id, token FROM wf_claim_tasks('{beat}')" | tail -n 1)
    rm -f "$scratch"/{wal,wake}
    for ((round = 0; round < rounds; round++)); do
        heartbeats "${held%|*}" "${held#*|}" | tail -n 1 >>"$scratch/wal"
        waking >>"$scratch/wake"
    done
    sort -g "$scratch/wal" | head -n 1 >"$scratch/least"
    report "WAL of ten heartbeats, the lowest of all rounds" "$scratch/least" B 3000
    report "from the commit of a task to the claim of a waiter, p99 of 300" "$scratch/wake" ms 5
    idle_minute >"$scratch/idle"
    awk '{ print $1 }' "$scratch/idle" >"$scratch/one"
    report "transaction ids of a minute beside an uncommitted claim" "$scratch/one" "" 0
    awk '{ print $2 }' "$scratch/idle" >"$scratch/one"
    report "calls of wf_wait_tasks that return in it" "$scratch/one" "" 0
}

index_bytes() { query "$PGDATABASE" "SELECT pg_indexes_size('workflow.bookmarks')"; }

# Four workers open ten tasks and complete ten, with autovacuum at its defaults.
growth() {
    local minutes=${BENCH_MINUTES:-10} minute
    query postgres 'ALTER SYSTEM RESET autovacuum' 'SELECT pg_reload_conf()' >/dev/null
    query "$PGDATABASE" 'TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.execution_log' 'SELECT bench.open_tasks(1000)' >/dev/null
    rm -f "$scratch"/{size,rate}
    for ((minute = 1; minute <= minutes; minute++)); do
        "$PGBIN/pgbench" -n -M prepared -c 4 -j 2 -T 60 -f <(echo 'SELECT bench.open_tasks(10); CALL bench.work_together();') "$PGDATABASE" 2>"$scratch/pgbench.log" |
            sed -n 's/^tps = \([0-9.]*\) .*/\1/p' >>"$scratch/rate"
        index_bytes >>"$scratch/size"
    done
    query postgres 'ALTER SYSTEM SET autovacuum = off' 'SELECT pg_reload_conf()' >/dev/null
    title "4 workers, $minutes minutes: the last minute : the first" ratio
    awk 'NR == 1 { first = $1 } END { print $1 / first }' "$scratch/size" >"$scratch/ratio"
    report "bytes of the indexes on bookmarks" "$scratch/ratio" x 2
    awk 'NR == 1 { first = $1 } END { print $1 / first }' "$scratch/rate" >"$scratch/ratio"
    report "tasks opened and completed" "$scratch/ratio" x
}
