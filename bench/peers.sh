# Sourced by bench/run: comparison with absurd, DBOS and pgmq, which scripts/lib/setup --peers installs. Each side has its own database.
# shellcheck shell=bash disable=SC2154

export BENCH_PEER_COUNT=${BENCH_PEER_COUNT:-2000}

# fresh SIDE [STATEMENT...]: empties its tables, except for what the statements insert.
fresh() {
    query "bench_$1" 'SET client_min_messages = warning' 'SET synchronous_commit = off' 'SELECT bench.empty()' "${@:2}" 'VACUUM (ANALYZE)' >/dev/null &&
        begin_segment
}

# client SIDE LINE [CLIENTS]: the microseconds printed by peers/with_SIDE.py.
client() {
    case $1-$2 in
        workflow-tasks | absurd-tasks) fresh "$1" "SELECT bench.tasks($BENCH_PEER_COUNT)" ;;
        workflow-event*) fresh "$1" "SELECT bench.events($BENCH_PEER_COUNT)" ;;
        *) fresh "$1" ;;
    esac || exit
    timeout 300 "$PEERS_DIR/bin/python" -B "peers/with_$1.py" "${@:2}"
}

# in_server SIDE: microseconds of a step in a loop of PL/pgSQL.
in_server() {
    fresh "$1" || exit
    query "bench_$1" "SELECT bench.steps($((BENCH_PEER_COUNT / 10)))"
}

# scripted SCRIPT CLIENTS EACH [WHAT]: microseconds per task or event; a run of the script handles EACH of them.
scripted() {
    local side=${1%-*} each=$(($2 * $3)) what=${4:-} count
    count=$((BENCH_PEER_COUNT / each * each))
    fresh "$side" ${what:+"SELECT bench.$what($count)"} || exit
    "$PGBIN/pgbench" -n -M prepared -c "$2" -j "$2" -t $((count / each)) -D n=0 -f "peers/$1.sql" "bench_$side" 2>"$scratch/pgbench.log" |
        awk -v each="$3" '/^tps = / { print 1e6 / $3 / each }' | grep . || { cat "$scratch/pgbench.log" >&2; exit 1; }
    [ "$(query "bench_$side" 'SELECT bench.undone()')" = 0 ] || { echo "$1 left something undone" >&2; exit 1; }
}

# logged SCRIPT: bytes of WAL, including commits, per task of a run of the script by one client.
logged() {
    local side=${1%-*} before
    fresh "$side" "SELECT bench.tasks($BENCH_PEER_COUNT)" || exit
    before=$(query "bench_$side" 'SELECT pg_current_wal_insert_lsn()')
    "$PGBIN/pgbench" -n -M prepared -t $((BENCH_PEER_COUNT / 10)) -D n=0 -f "peers/$1.sql" "bench_$side" >"$scratch/pgbench.log" 2>&1 ||
        { cat "$scratch/pgbench.log" >&2; exit 1; }
    [ "$(query "bench_$side" 'SELECT bench.undone()')" = 0 ] || { echo "$1 left something undone" >&2; exit 1; }
    query "bench_$side" "SELECT (pg_current_wal_insert_lsn() - '$before') / $BENCH_PEER_COUNT"
}

# make_peers: creates the databases with the functions of each side.
make_peers() {
    local side
    create_database bench_workflow
    for side in absurd dbos pgmq; do
        query postgres "DROP DATABASE IF EXISTS bench_$side" "CREATE DATABASE bench_$side" 2>/dev/null
    done
    "$PEERS_DIR/bin/absurdctl" init -d bench_absurd >/dev/null
    "$PEERS_DIR/bin/dbos" migrate -s "postgresql://$PGUSER@/bench_dbos?host=$PGHOST&port=$PGPORT" >"$scratch/file.out" 2>&1 ||
        { cat "$scratch/file.out"; exit 1; }
    file bench_pgmq "$PEERS_DIR/pgmq.sql"
    for side in workflow absurd dbos pgmq; do file "bench_$side" "peers/$side.sql"; done
}

peers() {
    local clients
    if [ ! -f "${PEERS_DIR:-}/installed" ]; then
        printf '\npeers: left out, because absurd, DBOS and pgmq could not be fetched\n'
        return
    fi
    make_peers
    title "A step of a workflow of 100, us, ours : theirs" ratio
    compare "absurd, in one transaction in the server" 3 '>=' "in_server workflow" "in_server absurd"
    compare "absurd, ctx.step : in one burst" 3 '>=' "client workflow burst" "client absurd steps"
    compare "DBOS, @DBOS.step : in one burst" 3 '>=' "client workflow burst" "client dbos steps"
    compare "absurd, ctx.step : a durable wf_resume" 1 '>=' "client workflow resumes" "client absurd steps"
    compare "DBOS, @DBOS.step : a durable wf_resume" 1 '>=' "client workflow resumes" "client dbos steps"
    title "A task claimed and completed, us, ours : theirs" ratio
    for clients in 1 4; do
        compare "absurd, by SQL, $clients at work" 1 '>=' "scripted workflow-tasks $clients 10 tasks" "scripted absurd-tasks $clients 10 tasks"
        compare "pgmq, read and archive, $clients at work" 1 '>=' "scripted workflow-tasks $clients 10 tasks" "scripted pgmq-archive $clients 10 tasks"
        compare "pgmq, read and delete, $clients at work" 1 '>=' "scripted workflow-tasks $clients 10 tasks" "scripted pgmq-delete $clients 10 tasks"
        compare "pgmq, read and archive : our rows by plain SQL, $clients at work" '' '' "scripted workflow-rows $clients 10 tasks" "scripted pgmq-archive $clients 10 tasks"
        compare "absurd, its worker, $clients at work" 1 '>=' "client workflow tasks $clients" "client absurd tasks $clients"
        compare "DBOS, its queue, $clients at work" 1 '>=' "client workflow tasks $clients" "client dbos tasks $clients"
    done
    title "WAL of a task claimed and completed, bytes, ours : theirs" ratio
    compare "pgmq, read and archive" '' '' "logged workflow-tasks" "logged pgmq-archive"
    compare "pgmq, read and archive : our rows by plain SQL" '' '' "logged workflow-rows" "logged pgmq-archive"
    title "From the sending to the going on, us, ours : theirs" ratio
    compare "absurd, its worker : wf_publish_event" 3 '>=' "client workflow event" "client absurd event"
    compare "DBOS, send and recv : wf_publish_event" 3 '>=' "client workflow event" "client dbos event"
    compare "pgmq, read_with_poll : wf_wait_tasks" 3 '>=' "client workflow message" "client pgmq poll"
    compare "pgmq, NOTIFY and read : wf_wait_tasks" 1 '>=' "client workflow message" "client pgmq notify"
    title "Events one after the other, us each, ours : theirs" ratio
    compare "absurd, by SQL : wf_publish_event" 1 '>=' "scripted workflow-events 1 1 events" "scripted absurd-events 1 1 events"
    compare "DBOS, send and recv : wf_publish_event" 1 '>=' "client workflow events" "client dbos events"
    compare "pgmq, a message : a task" 1 '>=' "scripted workflow-messages 1 1" "scripted pgmq-messages 1 1"
    query postgres 'DROP DATABASE bench_workflow' 'DROP DATABASE bench_absurd' 'DROP DATABASE bench_dbos' 'DROP DATABASE bench_pgmq'
}
