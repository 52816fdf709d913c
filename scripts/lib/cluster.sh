# Sourced after common.sh: private copies of PostgreSQL, and clusters that run from them.
# shellcheck shell=bash

# Clusters listen only on Unix sockets, each in a directory of its own, so ports cannot collide.
PORT=5432

# The only timeout of the tests: after this many seconds a test or a server start counts as hung. It is far more than any of them needs, so
# that none fails because the machine is slow or busy. To debug a hanging test, lower it.
export WORKFLOW_TEST_WATCHDOG=${WORKFLOW_TEST_WATCHDOG:-600}

use_prefix() { # DIR
    PREFIX=$1
    PGBIN=$PREFIX/lib/postgresql/$PG_MAJOR/bin
}

# put_file FROM TO: writes a new file and renames it. A server that has loaded the old one would crash if the file changed in place.
# shellcheck disable=SC2016
put_file() { as_server sh -c 'cat >"$1.new" && mv -f "$1.new" "$1"' - "$2" <"$1"; }

# Makes the copy of PostgreSQL that has the built extension.
make_prefix() { # DIR
    copy_server "$1"
    install_into_prefix
}

# PostgreSQL derives its paths from the location of its programs if these are real files in the layout they were compiled for; everything
# else may be links. An installed version of this extension is left out.
copy_server() { # DIR
    local lib=lib/postgresql/$PG_MAJOR share=share/postgresql/$PG_MAJOR
    use_prefix "$1"
    as_server mkdir -p "$PREFIX/$lib" "$PREFIX/$share"
    as_server cp -rs "$PG_ROOT/usr/$lib/." "$PREFIX/$lib"
    as_server cp -rs "$PG_ROOT/usr/$share/." "$PREFIX/$share"
    as_server rm -r "$PGBIN"
    as_server cp -r "$PG_ROOT/usr/$lib/bin" "$PGBIN"
    as_server find "$PREFIX" -type l -name 'workflow*' -delete
    [ "$(as_server "$PGBIN/pg_config" --pkglibdir)" = "$PREFIX/$lib/lib" ] || die "$PREFIX is not relocated"
}

# add_routers DIR: installs PL/Proxy into the private copy of PostgreSQL, and PgBouncer as DIR/pgbouncer, if scripts/lib/fetch-routers has
# fetched them.
add_routers() {
    is_of_this_release && [ -f "$CACHE_DIR/routers/.done" ] || return 0
    as_server mkdir -p "$1"
    tar -c -C "$CACHE_DIR/routers/usr" . | as_server tar -x -C "$1"
    tar -c -C "$CACHE_DIR/routers/usr" lib/postgresql share/postgresql | as_server tar -x -C "$PREFIX"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nLD_LIBRARY_PATH=$(echo %s/lib/*-linux-gnu) exec %s/sbin/pgbouncer "$@"\n' "$1" "$1" | as_server tee "$1/pgbouncer" >/dev/null
    as_server chmod +x "$1/pgbouncer"
}

# scale_step STEP [ARGUMENT...]: runs a script of examples/scale in the directory that scripts/user/scale has created.
scale_step() {
    use_prefix "$DEV_DIR/scale/prefix"
    as_server env PGBIN="$PGBIN" SCALE_DIR="$DEV_DIR/scale/servers" PGBOUNCER="$DEV_DIR/scale/routers/pgbouncer" "$DEV_DIR/scale/scale/$1.sh" "${@:2}"
}

install_into_prefix() {
    local from to
    find "$PACKAGE_DIR$PG_ROOT/usr" -type f | while read -r from; do
        to=$PREFIX/${from#"$PACKAGE_DIR$PG_ROOT/usr/"}
        cmp -s "$from" "$to" || put_file "$from" "$to"
    done
}

# init_cluster DIR [SETTING...]: DIR/data, DIR/log; DIR is also where the socket lies.
init_cluster() {
    local cluster=$1
    shift
    as_server mkdir -p "$cluster"
    as_server "$PGBIN/initdb" -D "$cluster/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N >/dev/null
    configure "$cluster" \
        "listen_addresses = ''" "port = $PORT" "shared_preload_libraries = 'workflow'" \
        "unix_socket_directories = '$cluster'" "log_line_prefix = '%m [%p] %q%u@%d '" "$@"
}

configure() { # CLUSTER SETTING...
    local cluster=$1
    shift
    printf '%s\n' "$@" | as_server tee -a "$cluster/data/postgresql.conf" >/dev/null
}

# clone_cluster FROM TO: copies a stopped cluster, which is cheaper than initdb and CREATE EXTENSION.
clone_cluster() {
    as_server mkdir -p "$2"
    as_server cp -a "$1/data" "$2/data"
    configure "$2" "unix_socket_directories = '$2'"
}

start_cluster() { # DIR
    as_server "$PGBIN/pg_ctl" -D "$1/data" -l "$1/log" -s -w -t "$WORKFLOW_TEST_WATCHDOG" start && return
    as_server tail -n 20 "$1/log" >&2
    return 1
}

stop_cluster() { # DIR [MODE]
    ! is_running "$1" || as_server "$PGBIN/pg_ctl" -D "$1/data" -m "${2:-fast}" -s -w -t "$WORKFLOW_TEST_WATCHDOG" stop
}

# Whether a service of `wf dev` runs. Its process id may have been reused.
service_runs() { # DIR NAME
    local pid
    pid=$(cat "$1/$2.pid" 2>/dev/null) && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = wf ]
}

# Stops a server, and the services beside it if there are some.
stop_studio() { # DIR
    local name pid
    for name in worker gateway; do
        if service_runs "$1" "$name"; then
            pid=$(cat "$1/$name.pid")
            kill "$pid"
            while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
        fi
        rm -f "$1/$name.pid"
    done
    stop_cluster "$1"
}

is_running() { as_server "$PGBIN/pg_ctl" -D "$1/data" status >/dev/null 2>&1; } # DIR

# sql CLUSTER DATABASE COMMAND [OPTION...]: prints values only; any error fails.
sql() {
    local cluster=$1 database=$2 command=$3
    shift 3
    as_server "$PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 -h "$cluster" -p "$PORT" -U postgres -d "$database" "$@" \
        -c "$command"
}

connection_string() { printf 'postgresql:///%s?host=%s&port=%s&user=postgres\n' "$2" "$1" "$PORT"; } # CLUSTER DATABASE

# begin_run NAME: creates a directory for servers that are stopped when this script ends, even if it is interrupted. First removes leftovers
# of a killed run.
begin_run() {
    local old
    prepare_dev_dir
    for old in "$DEV_DIR"/run/*; do
        if [ -d "$old" ] && ! kill -0 "${old##*.}" 2>/dev/null; then end_run "$old"; fi
    done
    RUN=$DEV_DIR/run/$1.$$
    as_server mkdir -p "$RUN"
    trap 'end_run "$RUN"' EXIT
    trap 'exit 130' INT TERM
}

# Any pg_ctl of the same version can stop any server; that of a half-removed run may be gone.
end_run() { # DIR
    local pid_file
    while read -r pid_file; do
        as_server "${SYSTEM_PG_CONFIG%_config}_ctl" -D "${pid_file%/*}" -m immediate -s stop 2>/dev/null || true
    done < <(find "$1" -name postmaster.pid 2>/dev/null)
    as_server rm -rf "$1"
}
