#!/usr/bin/env bash
# Stops all servers, and removes them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ -e "$SCALE_DIR/nodes" ] || die "there are no nodes in $SCALE_DIR"
# Another process may have this number by now.
pid=$(cat "$SCALE_DIR/pgbouncer/pid" 2>/dev/null) || pid=
if [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = pgbouncer ]; then kill "$pid"; fi
for data in "$SCALE_DIR"/*/data; do
    if "$PGBIN/pg_ctl" -D "$data" status >/dev/null 2>&1; then "$PGBIN/pg_ctl" -D "$data" -s -w -m immediate stop; fi
done
rm -rf "$SCALE_DIR"
