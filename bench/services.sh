# Sourced by bench/run: `wf work`, in front of a service on loopback.
# shellcheck shell=bash disable=SC2154

requests_program=../target/gateway/program/examples/requests

# loads MODE ARGUMENT...: runs the load in a database of its own, and writes the numbers of each printed name to a file of that name.
loads() {
    create_database bench_services
    rm -f "$scratch"/service.*
    "$requests_program" "$1" "host=$PGHOST port=$PGPORT user=$PGUSER dbname=bench_services" "$gateway_program" "${@:2}" >"$scratch/services" || exit 1
    while read -r name number; do echo "$number" >>"$scratch/service.$name"; done <"$scratch/services"
}

services() {
    title "Requests to a service on loopback, 100 in flight" ratio
    loads rates 50 6000 100
    rates plain ratio "a program without a database : wf work, after 50 ms" 0.9
    loads rates 0 20000 100
    rates plain ratio "the same, the service answers at once" ''
    rates sql ratio_sql "claims and answers by SQL alone : wf work" 0.4
    title "wf work" value
    loads wakeup 300
    report "from the commit of a task to its request, p50" "$scratch/service.p50" ms
    report "p99" "$scratch/service.p99" ms 10
    loads memory 1000
    report "memory when it has sent nothing" "$scratch/service.idle" MB
    report "memory with 1,000 requests in flight" "$scratch/service.in_flight" MB 100
}

rates() { # LEFT RATIO NAME BUDGET
    report "$3" "$scratch/service.$2" x "$4" '>='
    printf '%-58s %9s %15s\n' "" "" "$(printf '(%.4g : %.4g)' "$(median "$scratch/service.$1")" "$(median "$scratch/service.work")")"
}
