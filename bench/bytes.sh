# shellcheck shell=bash
# The cost of an approval in bytes: WAL, and what stays. Sourced by bench/run.

# written SCRIPT: bytes of WAL without full-page images, and index entries, per approval; each call is a transaction.
written() {
    local from to
    vacuum "$PGDATABASE"
    from=$(query "$PGDATABASE" 'SELECT pg_current_wal_insert_lsn()')
    "$PGBIN/pgbench" -n -M prepared -c 1 -t "$approvals" -f "pgbench/$1.sql" "$PGDATABASE" >"$scratch/pgbench.log" 2>&1 ||
        { cat "$scratch/pgbench.log" >&2; exit 1; }
    # Only flushed WAL can be read.
    to=$(query "$PGDATABASE" 'SELECT pg_switch_wal()')
    query "$PGDATABASE" "SELECT sum(record_size) / $approvals, coalesce(sum(count) FILTER (WHERE \"resource_manager/record_type\" LIKE 'Btree/INSERT%'), 0) / $approvals
        FROM pg_get_wal_stats('$from', '$to', true)" | tr '|' ' '
}

# least_written NAME BUDGET SCRIPT: the lowest value of all rounds, relative to the baseline. Other activity on the server only adds to it.
least_written() {
    local name=$1 budget=$2 script=$3 round bytes entries
    rm -f "$scratch"/{bytes,entries}
    for ((round = 1; round <= rounds; round++)); do
        read -r bytes entries < <(written "$script")
        echo "$bytes" >>"$scratch/bytes"
        echo "$entries" >>"$scratch/entries"
    done
    bytes=$(sort -g "$scratch/bytes" | head -n 1) entries=$(sort -g "$scratch/entries" | head -n 1)
    [ -n "${hand:-}" ] || hand=$bytes
    awk "BEGIN { print $bytes / $hand }" >"$scratch/ratio"
    report "$name" "$scratch/ratio" x "$budget"
    printf '%-58s %9s %15s\n' "" "$(printf '%.0f B' "$bytes")" "$(printf '%.1f entries' "$entries")"
}

# stored DATABASE [KINDS]: bytes of live tuples and of index entries in everything that approvals write.
stored() {
    vacuum "$1"
    query "$1" "SELECT sum((pgstattuple(c.oid)).tuple_len) FROM pg_class c
        WHERE c.relnamespace::regnamespace::text IN ('approval', 'workflow') AND c.relkind IN (${2:-'r', 'i'}) AND c.relam IN (SELECT oid FROM pg_am WHERE amname IN ('heap', 'btree'))"
}

# kept NAME BUDGET-OPEN BUDGET-FINISHED START FINISH: the bytes kept for waiting approvals, and for finished ones.
kept() {
    local name=$1 start=$4 finish=$5 before waiting ended
    before=$(stored bench_bytes)
    query bench_bytes "$start" >/dev/null
    waiting=$(stored bench_bytes)
    query bench_bytes "$finish" >/dev/null
    ended=$(stored bench_bytes)
    awk "BEGIN { print ($waiting - $before) / $approvals }" >"$scratch/open"
    awk "BEGIN { print ($ended - $before) / $approvals }" >"$scratch/ended"
    [ -n "${open_by_hand:-}" ] || { open_by_hand=$(cat "$scratch/open") ended_by_hand=$(cat "$scratch/ended"); }
    awk "BEGIN { print $(cat "$scratch/open") / $open_by_hand }" >"$scratch/ratio"
    report "$name, open" "$scratch/ratio" x "$2"
    awk "BEGIN { print $(cat "$scratch/ended") / $ended_by_hand }" >"$scratch/ratio"
    report "$name, finished" "$scratch/ratio" x "$3"
    printf '%-58s %9s %15s\n' "" "" "$(printf '(%.0f, %.0f B)' "$(cat "$scratch/open")" "$(cat "$scratch/ended")")"
}

bytes() {
    local hand='' open_by_hand='' ended_by_hand=''
    query "$PGDATABASE" 'CREATE EXTENSION IF NOT EXISTS pg_walinspect'
    title "WAL of an approval, without full-page images, by hand : engine" bytes
    least_written "by hand" '' baseline
    least_written "Event" 1.1 event
    least_written "RunTask" 1.4 task
    least_written "Event, with actors of 20 bytes" 1.1 event_actor
    least_written "RunTask, with actors of 20 bytes" 1.4 task_actor
    create_database bench_bytes
    query bench_bytes 'CREATE EXTENSION pgstattuple'
    file bench_bytes baseline.sql
    file bench_bytes bytes.sql
    title "What stays of an approval, rows and index entries" bytes
    kept "by hand" '' '' "SELECT bench.submit_all($approvals)" 'SELECT bench.approve_all()'
    kept "Event" 1.4 1.4 "SELECT bench.start_all('approval-event', $approvals)" 'SELECT bench.resume_all()'
    kept "RunTask" 1.7 1.7 "SELECT bench.start_all('approval-task', $approvals)" 'SELECT bench.resume_all()'
    query postgres 'DROP DATABASE bench_bytes'
}
