# Sourced by bench/run: migration of instances to another version of their definition.
# shellcheck shell=bash disable=SC2154

migrated_instances=${BENCH_MIGRATED:-10000}

# migrated DRY_RUN FROM TO: instances per second of one session that migrates all waiting ones, a thousand in each durable transaction.
migrated() {
    local before after
    vacuum "$PGDATABASE"
    begin_segment
    before=$(query "$PGDATABASE" 'SELECT clock_timestamp()')
    query "$PGDATABASE" "CALL bench.migrate($1, $2, $3)" >/dev/null
    after="SELECT $migrated_instances / extract(epoch FROM clock_timestamp() - '$before')"
    query "$PGDATABASE" "$after"
}

migration() {
    local round
    title "migration of $migrated_instances waiting instances, per second" "median"
    query "$PGDATABASE" 'TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.execution_log' \
        'SET synchronous_commit = off' "SELECT bench.open_moving($migrated_instances)" >/dev/null
    query "$PGDATABASE" 'VACUUM (ANALYZE)'
    rm -f "$scratch"/{dry,moved,renamed}
    for ((round = 1; round <= rounds; round++)); do
        migrated true 1 2 >>"$scratch/dry"
        migrated false 1 2 >>"$scratch/moved"
        migrated false 2 3 >>"$scratch/renamed"
        query "$PGDATABASE" 'CALL bench.migrate(false, 3, 1)' >/dev/null
    done
    report 'dry run' "$scratch/dry" '' 10000 '>='
    report 'to a version with the same ids' "$scratch/moved" '' 3000 '>='
    report 'to a version in which the tasks have other ids' "$scratch/renamed" '' 3000 '>='
}
