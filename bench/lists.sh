# Sourced by bench/run: lists of instances.
# shellcheck shell=bash disable=SC2154

list_runs=${BENCH_LIST_RUNS:-10}

# Nothing is analyzed: the plans must not depend on statistics.
lists() {
    local role filter p50 p99 total
    create_database bench_lists
    file bench_lists lists.sql -v "rows=$instances"
    query bench_lists CHECKPOINT
    for role in all some few; do
        query bench_lists "SET ROLE bench_lists_$role" 'CALL bench.measure_lists(1)' 'RESET ROLE' 'TRUNCATE bench.list_times' >/dev/null
        query bench_lists "SET ROLE bench_lists_$role" "CALL bench.measure_lists($list_runs)" >/dev/null
        title "lists of $instances instances, for a role that sees $role: p99 of 4 orders and 3 pages" time
        while IFS='|' read -r filter p50 p99 total; do
            printf '%s\n' "$p50" "$p99" "$p99" >"$scratch/list"
            report "$filter ($total)" "$scratch/list" ms 50
        done < <(query bench_lists "SELECT filter, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), percentile_cont(0.99) WITHIN GROUP (ORDER BY ms),
            coalesce(max(total), 0) || CASE WHEN bool_and(is_exact) THEN '' ELSE '+' END FROM bench.list_times GROUP BY filter ORDER BY 3 DESC")
    done
    # These starts give 50 definitions counters and histograms.
    query bench_lists "SELECT count(wf_start('listed-' || n)) FROM generate_series(0, 49) AS n" 'CALL bench.measure_metrics(10)' 'TRUNCATE bench.list_times' \
        'CALL bench.measure_metrics(100)' >/dev/null
    title "wf_metrics() on $instances instances, with counters of 50 definitions: p99 of 100 calls" time
    IFS='|' read -r p50 p99 < <(query bench_lists 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) FROM bench.list_times')
    printf '%s\n' "$p50" "$p99" "$p99" >"$scratch/list"
    report 'wf_metrics()' "$scratch/list" ms 10
    query postgres 'DROP DATABASE bench_lists' 'DROP ROLE bench_lists_all, bench_lists_some, bench_lists_few, bench_lists_many'
}
