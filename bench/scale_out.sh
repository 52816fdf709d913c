# shellcheck shell=bash
# The cost of several nodes: the guard, moves, PL/Proxy; and the capacity of one node. Sourced by bench/run.

# guarded NAME SETTING [BUDGET]: how much longer an approval takes with this value of workflow.route_check.
guarded() {
    local round
    rm -f "$scratch/guarded"
    for ((round = 0; round < rounds; round++)); do
        vacuum "$PGDATABASE"
        query "$PGDATABASE" "SELECT bench.guard('$2', 5)" "SELECT bench.guard('$2', $((approvals / 20)))" | tail -n 1 >>"$scratch/guarded"
    done
    report "$1" "$scratch/guarded" x "${@:3}"
}

# moving WHAT: microseconds per instance.
moving() { query "$PGDATABASE" "SELECT count(bench.nodes('$1', 100))" "SELECT bench.nodes('$1', $approvals)" | tail -n 1; }
starting() { moving start; }
exporting() { moving export; }
importing() { moving import; }

# calling DATABASE: microseconds of this machine per call, by 8 clients, which use all processors: no commit waits for the disk.
calling() {
    vacuum "$PGDATABASE"
    "$PGBIN/pgbench" -n -M prepared -c 8 -j 2 -T "$pgbench_seconds" -f pgbench/begin.sql "$1" 2>"$scratch/pgbench.log" |
        sed -n 's/^tps = \([0-9.]*\) .*/\1/p' | awk '{ print 1e6 / $1 }' | grep . || { cat "$scratch/pgbench.log" >&2; exit 1; }
}
directly() { calling "$PGDATABASE"; }
proxied() { calling bench_proxy; }

proxy() {
    title "A start, of 8 clients without waits for the disk, directly : proxied" time
    if [ "$(query "$PGDATABASE" "SELECT count(*) FROM pg_available_extensions WHERE name = 'plproxy'")" = 0 ]; then
        echo "  left out: PL/Proxy cannot be fetched here"
        return
    fi
    query postgres "ALTER DATABASE $PGDATABASE SET synchronous_commit = off"
    query postgres 'CREATE DATABASE bench_proxy'
    query bench_proxy 'CREATE EXTENSION plproxy' 'CREATE SCHEMA bench' \
        "CREATE SERVER app FOREIGN DATA WRAPPER plproxy OPTIONS (p0 'host=$PGHOST port=$PGPORT dbname=$PGDATABASE')" \
        "CREATE USER MAPPING FOR CURRENT_USER SERVER app OPTIONS (user '$PGUSER')" \
        "CREATE FUNCTION bench.begin(key text) RETURNS uuid LANGUAGE plproxy AS \$\$ CLUSTER 'app'; RUN ON hashtext(key); \$\$"
    compare "by PL/Proxy" 3 '<=' directly proxied
    query postgres 'DROP DATABASE bench_proxy' "ALTER DATABASE $PGDATABASE RESET synchronous_commit"
}

# node: the values of this machine for bench/arithmetic. Bytes are the same on every machine, so they have to equal those of one_node, from
# which docs/scale.md has its figures.
node() {
    local before waiting indexes name value wal wait
    title "What one node holds, as bench/one_node says : here" ratio
    create_database bench_bytes
    query bench_bytes 'CREATE EXTENSION pgstattuple'
    file bench_bytes baseline.sql
    file bench_bytes bytes.sql
    before=$(stored bench_bytes) indexes=$(stored bench_bytes "'i'")
    query bench_bytes "SELECT bench.start_all('approval-task', $approvals)" >/dev/null
    waiting=$(stored bench_bytes) indexes=$(($(stored bench_bytes "'i'") - indexes))
    query bench_bytes 'SELECT bench.resume_all()' >/dev/null
    query "$PGDATABASE" 'CREATE EXTENSION IF NOT EXISTS pg_walinspect'
    wal=$(written task | cut -d' ' -f1)
    wait=$(median "$scratch/waits")
    cat >"$scratch/node" <<END
open_bytes=$(((waiting - before) / approvals))
index_bytes=$((indexes / approvals))
ended_bytes=$((($(stored bench_bytes) - before) / approvals))
wal_bytes=$(printf '%.0f' "$wal")
approvals_per_second=$(printf '%.0f' "$(clients_task)")
processors=$(nproc)
move_microseconds=$(awk "BEGIN { printf \"%.0f\", $wait * 10 }")
END
    query postgres 'DROP DATABASE bench_bytes'
    for name in open_bytes index_bytes ended_bytes wal_bytes; do
        value=$(sed -n "s/^$name=//p" one_node)
        awk -F= -v name=$name -v said="$value" '$1 == name { d = $2 / said - 1; print d < 0 ? -d : d }' "$scratch/node" >"$scratch/difference"
        report "$name, difference" "$scratch/difference" "" 0.1
    done
    cat "$scratch/node"
    ./arithmetic "$scratch/node"
}

scale_out() {
    local round
    query "$PGDATABASE" "SELECT wf_add_partitions(ARRAY(SELECT generate_series(0, 1023)), 1024)" >/dev/null
    title "An approval by name and correlation id, any key : guarded" ratio
    guarded "by the list of partitions" partitions 1.03
    guarded "by a function in PL/pgSQL" bench.is_here
    query "$PGDATABASE" "SELECT wf_remove_partitions(ARRAY(SELECT generate_series(0, 1023)))" >/dev/null
    title "$approvals starts of an instance with two bookmarks : the move of one" time
    compare "export" 1 '<=' starting exporting
    compare "import" 2 '<=' starting importing
    rm -f "$scratch/waits"
    for ((round = 0; round < rounds; round++)); do moving wait | awk '{ print $1 / 10 }' >>"$scratch/waits"; done
    report "a key waits for 100 instances" "$scratch/waits" ms 10
    proxy
    node
}
