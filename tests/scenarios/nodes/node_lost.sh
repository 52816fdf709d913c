#!/usr/bin/env bash
# A node fails under load, and its synchronous replica replaces it. A client that got no answer repeats its call: each call has taken effect
# once, each timer fires once, and prepared transactions survive.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/nodes.sh"

query "CREATE ROLE shop LOGIN" >/dev/null
open_shop first
follow second -R
trap 'on second stop_server immediate || true' EXIT
setting "synchronous_standby_names = '*'" "synchronous_commit = on"
await sync "SELECT DISTINCT sync_state FROM pg_stat_replication"

# The move of a partition is prepared and not yet finished.
held=$(query "SELECT k FROM (SELECT 'held-' || n AS k FROM generate_series(1, 100) AS n) AS v WHERE wf_partition(k, 8) = 7 LIMIT 1")
query "$(begin_order "$held" "1 second")" >/dev/null
query "BEGIN; SELECT wf_remove_partitions('{7}'); SELECT count(*) FROM wf_export_instances(ARRAY['$held'], remove => true); PREPARE TRANSACTION 'move'" >/dev/null

# client NUMBER: sends calls, each until it is answered; a file says where the node is.
echo first >"$WORKFLOW_TMP/node"
client() {
    local n=0 key
    while [ ! -e "$WORKFLOW_TMP/enough" ]; do
        n=$((n + 1)) key=client-$1-$n
        [ "$(query_node "SELECT wf_partition('$key', 8)")" != 7 ] || continue
        query_node "SET ROLE shop; SELECT wf_call('$key', 'begin', 'start', 'order', '{\"wait\": \"1 second\"}')" >/dev/null
        query_node "SET ROLE shop; SELECT wf_call('$key', 'pay', 'event', 'Paid')" >/dev/null
        echo "$key" >>"$WORKFLOW_TMP/client.$1"
    done
}
query_node() {
    until on "$(cat "$WORKFLOW_TMP/node")" query "$1" 2>>"$WORKFLOW_TMP/lost.$BASHPID"; do sleep 0.05; done
}
clients=()
for number in {1..4}; do
    client "$number" &
    clients+=($!)
done
has_begun() { [ "$(cat "$WORKFLOW_TMP"/client.* 2>/dev/null | wc -l)" -ge 20 ]; }
eventually has_begun
kill_server
on second is t "SELECT pg_promote(wait_seconds => 600)"
on second setting "synchronous_standby_names = ''"
echo second >"$WORKFLOW_TMP/node"
before=$(cat "$WORKFLOW_TMP"/client.* | wc -l)
has_gone_on() { [ "$(cat "$WORKFLOW_TMP"/client.* | wc -l)" -ge $((before + 20)) ]; }
eventually has_gone_on
touch "$WORKFLOW_TMP/enough"
for client in "${clients[@]}"; do wait "$client" || fail "a client gave up"; done
export PGHOST=$second PGDATA=$second_data

orders=$(cat "$WORKFLOW_TMP"/client.* | wc -l)
is "$orders|$orders" "SELECT count(*), count(DISTINCT correlation_id) FROM workflow.instances WHERE correlation_id LIKE 'client-%'"
await "$orders|$orders" "SELECT count(*), count(DISTINCT id) FROM steps WHERE id LIKE 'client-%'"
is "$orders" "SELECT count(*) FROM workflow.bookmarks WHERE activity_id = 'check'"
is 0 "SELECT count(*) FROM workflow.bookmark_queue WHERE correlation_id LIKE 'client-%'"
grep -qs "." "$WORKFLOW_TMP"/lost.* || fail "no client noticed anything"
echo "ok: $orders orders before and after the loss, each call and each timer once"

# The prepared transaction survives there: the key waits, and is unchanged when it is rolled back.
is move "SELECT gid FROM pg_prepared_xacts"
if query "SET lock_timeout = '200ms'; $(pay_order "$held")" 2>"$WORKFLOW_TMP/said"; then fail "the key was not held"; fi
grep -q "lock timeout" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
query "ROLLBACK PREPARED 'move'"
query "$(pay_order "$held")" >/dev/null
await 1 "SELECT count(*) FROM steps WHERE id = '$held'"
is "" "SELECT * FROM wf_check()"
check_storage
echo "ok: what was prepared is still promised after the loss"
