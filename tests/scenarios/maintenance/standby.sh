#!/usr/bin/env bash
# No background worker runs on a standby. After promotion due timers fire there, once. A physical copy that is started with workflow.enabled
# = off fires nothing.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

noted="SELECT count(*), count(DISTINCT instance) FROM happened"
primary=$PGHOST
standby=$WORKFLOW_TMP/standby
copy=$WORKFLOW_TMP/copy

# run DIRECTORY SETTING...: a server of its own beside the first.
run() {
    local directory=$1
    shift
    printf '%s\n' "unix_socket_directories = '$directory'" "$@" >>"$directory/data/postgresql.conf"
    pg_ctl -D "$directory/data" -l "$directory/log" -s -w start || fail "$(tail -n 5 "$directory/log")"
}
mkdir "$standby" "$copy"

time_books
# Set on the primary, so that every copy has it in its files as well.
setting "workflow.launch_workers = on"
start 5 noted "1 ms"
await "5|5" "$noted"
pg_basebackup -D "$standby/data" -R -X stream -c fast
run "$standby" "hot_standby = on"
trap 'pg_ctl -D "$standby/data" -s -m immediate stop; pg_ctl -D "$copy/data" -s -m immediate stop 2>/dev/null' EXIT

start 5 noted "100 ms"
await "10|10" "$noted"
# From here on, timers are left to the standby, whose own file does not disable firing.
setting "workflow.enabled = off"
start 20 noted "1 ms"
start 20 pure "1 ms"
start 4 pure "1 year"
query "SELECT wf_start('pure', '{\"wait\": \"1 year\"}', correlation_id => 'routed'), wf_add_partitions('{0}', 1)" >/dev/null
export PGHOST=$standby
await "10|10" "$noted"
is t "SELECT pg_is_in_recovery()"
said=$(query "SELECT wf_start('pure')" 2>&1) && fail "a start on a standby"
[[ $said == *"in a read-only transaction"* ]] || fail "$said"
# The guard of several servers takes a lock, which a standby does not have.
said=$(query "SET workflow.route_check = 'partitions'; SELECT wf_resume(id) FROM workflow.bookmarks WHERE correlation_id = 'routed'" 2>&1) && fail "a resume on a standby"
[[ $said == *"cannot execute a workflow call during recovery"* ]] || fail "$said"
# It can give no response out, and would find the same ones again and again.
said=$(query "CALL wf_wait_http_responses('one', '0 s')" 2>&1) && fail "a wait for responses on a standby"
[[ $said == *"cannot execute wf_wait_http_responses during recovery"* ]] || fail "$said"
is 0 "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
is 0 "SELECT count(*) FROM workflow.workers"
echo "ok: the standby follows, and no worker runs on it"

await 45 "SELECT count(*) FROM workflow.bookmarks"
PGHOST=$primary stop_server
await 0 "SELECT count(*) FROM pg_stat_wal_receiver"
# Due before a worker exists to fire it.
await_due 40
is 45 "SELECT count(*) FROM workflow.bookmarks"
is 0 "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
is t "SELECT pg_promote(wait_seconds => 600)"
await "30|30" "$noted"
await 5 "SELECT count(*) FROM workflow.bookmarks"
is "noted|30
pure|20" "SELECT definition_id, count(*) FROM workflow.instances WHERE sub_status = 'Finished' GROUP BY 1 ORDER BY 1"
is "" "SELECT * FROM wf_check()"
start 5 noted "1 ms"
await "35|35" "$noted"
check_storage
echo "ok: after promotion everything due fires there, once"

# A copy at this moment, like a restored backup. However long it takes, nothing fires before its end.
setting "workflow.enabled = off"
start 5 noted "2 seconds"
start 5 pure "2 seconds"
pg_basebackup -D "$copy/data" -X stream -c fast
setting "workflow.enabled = on"
await "40|40" "$noted"
export PGHOST=$copy
run "$copy" "workflow.enabled = off"
await_due 10
woken launcher
is "workflow launcher" "SELECT backend_type FROM pg_stat_activity WHERE backend_type LIKE 'workflow%'"
is "35|35" "$noted"
is 0 "SELECT wf_run_due()"
is 15 "SELECT count(*) FROM workflow.bookmarks"
turned_on=$(now)
query "ALTER SYSTEM SET workflow.enabled = on"
query "SELECT pg_reload_conf()" >/dev/null
await "40|40" "$noted"
await 5 "SELECT count(*) FROM workflow.bookmarks"
is 5 "SELECT count(*) FROM happened WHERE at > '$turned_on'"
check_storage
echo "ok: a physical copy with workflow.enabled = off fires nothing, until it is turned on"
