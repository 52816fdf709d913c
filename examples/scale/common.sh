# Sourced by the scripts of this directory. SCALE_DIR has a directory for each server, with its data, its socket and its log. The file
# `nodes` there lists the nodes, and `map` says which partition is on which node.
# shellcheck shell=bash
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SCALE_DIR=${SCALE_DIR:-/tmp/workflow-scale}
PGBIN=${PGBIN:-$(pg_config --bindir)}
export PGPORT=${PGPORT:-5432} PGUSER=${PGUSER:-postgres} PGDATABASE=${PGDATABASE:-app}
partitions=8
# Seconds to wait for an answer.
patience=${SCALE_PATIENCE:-60}

say() { echo "== $*"; }
die() {
    echo "$*" >&2
    exit 1
}

# ask NODE COMMAND [DATABASE]: prints values only, fields separated by "|".
ask() { "$PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -h "$SCALE_DIR/$1" -d "${3:-$PGDATABASE}" -c "$2"; }

# run NODE [OPTION...]: runs psql with its standard input.
run() { "$PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -h "$SCALE_DIR/$1" "${@:2}"; }

# await NODE EXPECTED COMMAND [DATABASE]
await() {
    local said end=$((SECONDS + patience))
    until said=$(ask "$1" "$3" "${4:-}" 2>&1) && [ "$said" = "$2" ]; do
        [ "$SECONDS" -lt "$end" ] || die "$1: waited for \"$2\", got \"$said\" from: $3"
        sleep 0.1
    done
}

# new_server NAME [SETTING...]: it listens only on its socket.
new_server() {
    local server=$SCALE_DIR/$1
    [ ! -e "$server" ] || die "there is a server \"$1\" already"
    mkdir "$server"
    "$PGBIN/initdb" -D "$server/data" -U "$PGUSER" -A trust -E UTF8 --locale=C.UTF-8 >"$server/initdb.log"
    printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$server'" "port = $PGPORT" "shared_buffers = 32MB" "${@:2}" >>"$server/data/postgresql.conf"
    start_server "$1"
}
start_server() { "$PGBIN/pg_ctl" -D "$SCALE_DIR/$1/data" -l "$SCALE_DIR/$1/log" -s -w start || die "$1 does not start: $(tail -n 3 "$SCALE_DIR/$1/log")"; }

# new_node NAME: a server with the extension, the guard, and everything deployed on the other nodes, but no partition yet.
new_node() {
    local file
    new_server "$1" "shared_preload_libraries = 'workflow'" "max_prepared_transactions = 10"
    ask "$1" "CREATE DATABASE $PGDATABASE" postgres
    ask "$1" "CREATE EXTENSION workflow; ALTER DATABASE $PGDATABASE SET workflow.route_check = 'partitions'; CREATE ROLE shop LOGIN"
    for file in "$SCALE_DIR"/deployed/*; do
        [ ! -e "$file" ] || run "$1" -f "$file" >/dev/null
    done
    echo "$1" >>"$SCALE_DIR/nodes"
}

# node_of PARTITION, partitions_of NODE
nodes() { cat "$SCALE_DIR/nodes"; }
node_of() { sed -n "s/^$1 //p" "$SCALE_DIR/map"; }
partitions_of() { sed -n "s/ $1$//p" "$SCALE_DIR/map"; }

# change_map COMMAND-OF-SED: changes the map, also in the proxy if there is one. The guard refuses calls from a proxy that does not know the
# change yet.
change_map() {
    [ ! -e "$SCALE_DIR/map" ] || sed -i "$1" "$SCALE_DIR/map"
    if [ -e "$SCALE_DIR/proxy" ]; then
        # Each backend of PL/Proxy reads the options again when they have changed.
        ask proxy "ALTER SERVER app OPTIONS ($(proxy_map "SET "))" proxy
    fi
}
proxy_map() { # WORD
    local partition node separator=
    while read -r partition node; do
        printf "%s%sp%s 'host=%s port=%s dbname=%s'" "$separator" "$1" "$partition" "$SCALE_DIR/$node" "$PGPORT" "$PGDATABASE"
        separator=', '
    done <"$SCALE_DIR/map"
}

# follow NODE NAME: a streaming replica of a node.
follow() {
    local server=$SCALE_DIR/$2
    [ ! -e "$server" ] || die "there is a server \"$2\" already"
    mkdir "$server"
    "$PGBIN/pg_basebackup" -h "$SCALE_DIR/$1" -D "$server/data" -R -X stream -c fast
    printf '%s\n' "unix_socket_directories = '$server'" "cluster_name = '$2'" >>"$server/data/postgresql.conf"
    start_server "$2"
    await "$1" 1 "SELECT count(*) FROM pg_stat_replication WHERE application_name = '$2' AND state = 'streaming'"
}

# promote REPLICA: returns when it serves. It has no replica of its own yet, so it does not wait for one.
promote() {
    ask "$1" "SELECT pg_promote()" postgres >/dev/null
    await "$1" f "SELECT pg_is_in_recovery()" postgres
    ask "$1" "ALTER SYSTEM RESET synchronous_standby_names" postgres
    ask "$1" "SELECT pg_reload_conf()" postgres >/dev/null
}
