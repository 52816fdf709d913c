# Sourced by scenarios in bash (not executable, so not run as one). They find a server of their own, running, through
# PGHOST, PGPORT, PGUSER and PGDATABASE (`workflow`, with the extension), its data in PGDATA, its programs on the PATH
# (PGBIN), a directory for themselves in WORKFLOW_TMP, and in WORKFLOW_TEST_SECONDS how long random tests may take.
# shellcheck shell=bash
set -euo pipefail

fail() {
    echo "FAILED: $*"
    exit 1
}

# query COMMAND [DATABASE]: values only, fields separated by "|".
query() { psql -X -q -At -v ON_ERROR_STOP=1 -d "${2:-$PGDATABASE}" -c "$1"; }

# is EXPECTED COMMAND: the command's values are these.
is() {
    local got
    got=$(query "$2")
    [ "$got" = "$1" ] || fail "expected '$1', got '$got' from: $2"
}

# As when the machine loses power, but for what the disk had not yet got.
kill_server() {
    local pid
    pid=$(head -n 1 "$PGDATA/postmaster.pid")
    kill -9 "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

stop_server() { pg_ctl -D "$PGDATA" -s -w -m "${1:-fast}" stop; }

# Waits for the children of a killed server as well: while one lives, the new server refuses to start.
start_server() {
    for _ in {1..100}; do
        pg_ctl -D "$PGDATA" -l "$PGHOST/log" -s -w -t 60 start 2>>"$WORKFLOW_TMP/start.log" && return
        sleep 0.1
    done
    fail "the server does not start: $(tail -n 3 "$PGHOST/log")"
}
