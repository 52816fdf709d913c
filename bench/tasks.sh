# Sourced by bench/run: workers outside, which claim tasks.
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
    opened bench_few 3000
    opened bench_many "$open_tasks"
    title "Claim of one task among few : among $open_tasks" ratio
    compare "first of one name" 1.2 '<=' claim_among_few claim_among_many
    query bench_many "UPDATE workflow.bookmarks SET available_at = 'tomorrow', lease_until = 'tomorrow', token = gen_random_uuid()
        WHERE id IN (SELECT id FROM workflow.bookmarks ORDER BY created_at LIMIT 100000)" 'VACUUM (ANALYZE)'
    compare "the same, behind 100,000 that are leased" 2 '<=' claim_among_few claim_among_many
    query postgres 'DROP DATABASE bench_few' 'DROP DATABASE bench_many'
    keyed bench_free
    keyed bench_full "SELECT bench.open_keyed(100000, 'full')" "SELECT count(*) FROM wf_claim_tasks('{keyed}', lease => '1 day')"
    title "Claim of one task of a name with one place for each customer" ratio
    compare "behind 100,000 of a customer whose place is taken : without them" 2 '<=' claim_free claim_behind_full
    query postgres 'DROP DATABASE bench_free' 'DROP DATABASE bench_full'
}
