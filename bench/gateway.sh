# Sourced by bench/run: the gateway in front of the database, on loopback.
# shellcheck shell=bash disable=SC2154

gateway_program=../target/gateway/program/wf
gateway_load=../target/gateway/program/examples/load

# start_gateway: sets gateway_url, gateway_key and gateway_pid. The gateway's role is a member of the roles that send requests.
start_gateway() {
    local port
    port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    gateway_url=http://127.0.0.1:$port
    gateway_key=$("$gateway_program" key add --api-keys "$scratch/keys.toml" --role bench_worker)
    "$gateway_program" serve --listen "127.0.0.1:$port" --api-keys "$scratch/keys.toml" --studio "$STUDIO_DIR" \
        --database "host=$PGHOST port=$PGPORT user=bench_gateway dbname=$1" 2>"$scratch/gateway.log" &
    gateway_pid=$!
    for _ in {1..100}; do
        curl -fs "$gateway_url/readyz" >/dev/null && return
        sleep 0.1
    done
    cat "$scratch/gateway.log"
    exit 1
}

resident_mb() { awk '/^VmRSS:/ { print $2 / 1024 }' "/proc/$gateway_pid/status"; }

# loaded NAME... : runs the load, and writes the numbers of each printed name to a file of that name.
loaded() {
    rm -f "$scratch"/load.*
    "$gateway_load" "$@" >"$scratch/load" || exit 1
    while read -r name number; do echo "$number" >>"$scratch/load.$name"; done <"$scratch/load"
}

gateway() {
    create_database bench_gateway
    query bench_gateway 'CREATE ROLE bench_worker' 'CREATE ROLE bench_gateway LOGIN NOINHERIT' 'GRANT bench_worker TO bench_gateway' \
        "SELECT wf_grant_usage('bench_worker')" 'SET ROLE bench_worker' \
        "SELECT wf_define('{\"definitionId\": \"bench-task\", \"root\": {\"id\": \"t\", \"type\": \"RunTask\", \"taskName\": \"check\"}}')" >/dev/null
    [ -f "$STUDIO_DIR/_framework/blazor.webassembly.js" ] || "$gateway_program" studio fetch --studio "$STUDIO_DIR" >/dev/null
    start_gateway bench_gateway
    title "The gateway, on loopback" value
    resident_mb >"$scratch/idle"
    report "memory when it has served nothing" "$scratch/idle" MB 20
    loaded tasks "$gateway_url" "$gateway_key" "host=$PGHOST port=$PGPORT user=$PGUSER dbname=bench_gateway"
    report "completion of a task, p50, direct" "$scratch/load.direct_p50" ms
    report "through the gateway, p50, more" "$scratch/load.extra" ms 0.25
    report "completions of 16 clients, direct : through the gateway" "$scratch/load.ratio" x 0.6 '>='
    loaded get "$gateway_url" "$gateway_key" /elsa/api/descriptors/activities
    report "descriptors, p50" "$scratch/load.p50" ms 20
    pages_of_ours
    boot_set
    loaded saves "$gateway_url" "$gateway_key" "${BENCH_SAVES:-10000}" 1
    resident_mb >"$scratch/saved"
    report "memory after ${BENCH_SAVES:-10000} saves of 1 MB" "$scratch/saved" MB 100
    hubs_open
    kill "$gateway_pid"
    wait "$gateway_pid" || true
}

# The completions before have left thousands of instances with tasks; a hundred more wait.
pages_of_ours() {
    local instance path
    query bench_gateway 'SET ROLE bench_worker' "SELECT count(wf_start('bench-task')) FROM generate_series(1, 100)" >/dev/null
    instance=$(query bench_gateway "SELECT instance_id FROM workflow.tasks WHERE status = 'Open' LIMIT 1")
    for path in '/inbox?whose=all' "/instances/$instance" /incidents /definitions; do
        loaded get "$gateway_url" "$gateway_key" "$path"
        report "page ${path/$instance/{id\}}, p99" "$scratch/load.p99" ms 100
    done
}

# Everything that Studio may request at its start, which is more than it needs.
boot_set() {
    (cd "$STUDIO_DIR" && find _framework _content -type f ! -name '*.br' ! -name '*.gz' ! -name '*.map' | sed 's|^|/|') >"$scratch/files"
    loaded files "$gateway_url" "$gateway_key" <"$scratch/files"
    report "all files of Studio, warm" "$scratch/load.files" ms 300
    report "their size" "$scratch/load.megabytes" MB
}

hubs_open() {
    local hubs
    coproc hubs { "$gateway_load" hubs "$gateway_url" "$gateway_key" 1000; }
    read -r -u "${hubs[0]}" _
    # By then the gateway is idle, and the hubs are still open: without a handshake they end after ten seconds.
    sleep 3
    resident_mb >"$scratch/hubs"
    report "memory with 1,000 open hubs" "$scratch/hubs" MB 100
    # shellcheck disable=SC2154
    kill "$hubs_PID"
}
