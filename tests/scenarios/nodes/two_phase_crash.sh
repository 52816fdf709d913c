#!/usr/bin/env bash
# Each call of tests/regress/sql/nodes/two_phase.sql is prepared; then the server crashes, and the prepared transactions are committed. The
# result is the same as without a crash, and consistent.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
tests=$(dirname "${BASH_SOURCE[0]}")/../../regress

sed '/^-- What expires/,$d' "$tests/sql/nodes/two_phase.sql" >"$WORKFLOW_TMP/setup.sql"
query "ALTER DATABASE workflow SET workflow.testing = on"
psql -X -q -f "$WORKFLOW_TMP/setup.sql" >"$WORKFLOW_TMP/setup.out" 2>&1
# Settings of the test's session.
query "ALTER DATABASE workflow SET workflow.notify_triggers = off; ALTER DATABASE workflow SET client_min_messages = error;
    ALTER DATABASE workflow SET workflow.now = '2030-01-01 00:00:00+00'"

# crash: kills one process, so that the server terminates all others and recovers from its WAL, as after a power loss, except that cached
# pages still reach the disk.
crash() {
    local writer="SELECT pid FROM pg_stat_activity WHERE backend_type = 'background writer'"
    # After a recovery the server accepts connections before it has started all its processes.
    await t "SELECT count(*) = 1 FROM ($writer) AS w"
    kill -9 "$(query "$writer")"
    eventually has_recovered
}
has_recovered() { query "SELECT 1" >/dev/null 2>&1 && [ "$(logged "database system is ready")" -gt "$recoveries" ] && recoveries=$(logged "database system is ready"); }
recoveries=$(logged "database system is ready")

calls=0
while IFS='|' read -r number name arguments; do
    query "BEGIN; SELECT count(*) FROM $name($arguments); PREPARE TRANSACTION 'two phases'" >"$WORKFLOW_TMP/said" 2>&1 || fail "$number $name: $(cat "$WORKFLOW_TMP/said")"
    [ "$(head -n 1 "$WORKFLOW_TMP/said")" != 0 ] || fail "$name gives no row"
    crash
    is "two phases" "SELECT gid FROM pg_prepared_xacts"
    query "COMMIT PREPARED 'two phases'"
    [ "$name" != wf_schedule_run_now ] || query "ALTER DATABASE workflow SET workflow.now = '2030-01-01 02:00:00+00'"
    calls=$((calls + 1))
done < <(query "SELECT number, name, arguments FROM calls ORDER BY number")
[ "$calls" -gt 60 ] || fail "only $calls calls"

took_effect=$(sed -n '/^-- What was called has taken effect/,/;$/p' "$tests/sql/nodes/two_phase.sql")
said=$(psql -X -q -c "$took_effect")
[ -n "$said" ] || fail "nothing was asked"
[[ $(cat "$tests/expected/nodes/two_phase.out") == *"$said"* ]] || fail "without a crash it is another end: $said"
is "" "SELECT * FROM wf_check()"
check_storage
echo "ok: $calls calls, each prepared, and committed after a crash"
