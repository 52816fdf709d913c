#!/usr/bin/env bash
# Stops all servers, and removes them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ ! -e "$SCALE_DIR/pgbouncer/pid" ] || kill "$(cat "$SCALE_DIR/pgbouncer/pid")"
for data in "$SCALE_DIR"/*/data; do
    if "$PGBIN/pg_ctl" -D "$data" status >/dev/null 2>&1; then "$PGBIN/pg_ctl" -D "$data" -s -w -m immediate stop; fi
done
rm -rf "$SCALE_DIR"
