#!/usr/bin/env bash
# A node is split: its replica is promoted, each of the two takes half of the partitions, and removes the rows of the other half. Nothing is
# lost or duplicated, and each timer fires once, on the node of its key.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/nodes.sh"

query "CREATE ROLE shop LOGIN" >/dev/null
open_shop first
follow second -R
trap 'on second stop_server immediate || true' EXIT

# No timer fires before the replica is a node of its own: what it did would be on both.
setting "workflow.enabled = off"
# Orders that wait for an event, for a time, and at a task; early events; a child; an instance from before the partitions were guarded.
count=40
for n in $(seq $count); do
    begin_order "order-$n" "2 seconds"
    [ $((n % 2)) = 0 ] || pay_order "order-$n"
done >"$WORKFLOW_TMP/orders.sql"
sed -i 's/$/;/' "$WORKFLOW_TMP/orders.sql"
psql -X -q -v ON_ERROR_STOP=1 -f "$WORKFLOW_TMP/orders.sql" >"$WORKFLOW_TMP/orders.out"
query "SET ROLE shop; SELECT count(wf_publish_event('Early', correlation_id => 'order-' || n, keep_for => '1 hour')) FROM generate_series(1, $count) AS n" >/dev/null 2>&1
query "SET workflow.route_check = ''; SET ROLE shop; SELECT wf_start('order', '{\"wait\": \"1 hour\"}')" >/dev/null

# The replica must not fire timers of the other half. From the second step on the node rejects the keys that leave.
echo "workflow.enabled = off" >>"$second_data/postgresql.conf"
on second query "SELECT pg_reload_conf()" >/dev/null
query "$(pay_order order-2)" >/dev/null
query "SELECT wf_remove_partitions('{4,5,6,7}')" >/dev/null
lsn=$(on first query "SELECT pg_current_wal_lsn()")
on second await t "SELECT pg_last_wal_replay_lsn() >= '$lsn'"
on second is t "SELECT pg_promote(wait_seconds => 600)"
on second await f "SELECT pg_is_in_recovery()"
on second query "BEGIN; SELECT wf_remove_partitions('{0,1,2,3}'); SELECT wf_add_partitions('{4,5,6,7}', 8); COMMIT" >/dev/null

# Both have all rows, and each serves its own keys only.
both is $((count + 1)) "SELECT count(*) FROM workflow.instances"
key() { query "SELECT k FROM (SELECT 'order-' || n AS k FROM generate_series(3, $count) AS n WHERE n % 2 = 0) AS v WHERE wf_partition(k, 8) / 4 = $1 LIMIT 1"; }
mine=$(key 0) theirs=$(key 1)
if on first query "$(pay_order "$theirs")" 2>"$WORKFLOW_TMP/said"; then fail "the first node took a key of the second one"; fi
grep -q "belongs to another node" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
on second query "$(pay_order "$theirs")" >/dev/null
on first query "$(pay_order "$mine")" >/dev/null
echo "ok: after the split each node serves its own keys alone"

# Timers fire on the node of their key before anything is removed; those of the other node are not fired.
sed -i '/workflow.enabled = off/d' "$second_data/postgresql.conf"
both setting "workflow.enabled = on"
shipped=$((count / 2 + 3))
is_shipped() { [ "$(sum "SELECT count(*) FROM steps")" -ge $shipped ]; }
eventually is_shipped
on first await t "SELECT count(*) > 0 FROM workflow.bookmarks WHERE due_at < now() - interval '1 second'"
eventually has_logged 1 'belongs to another node, or is moving'
both is 0 "SELECT count(*) FROM workflow.bookmarks WHERE attempts > 0"

# keep NODE: removes a few instances at a time until none is left to remove.
keep() {
    on "$1" query "DO \$\$ BEGIN WHILE wf_keep_instances(NULL, max => 7, max_percent => 100) > 0 LOOP NULL; END LOOP; END \$\$"
    on "$1" query "DELETE FROM orders WHERE wf_partition(id, 8) NOT IN (SELECT partition FROM workflow.partitions)"
    on "$1" query "DELETE FROM steps WHERE wf_partition(id, 8) NOT IN (SELECT partition FROM workflow.partitions)"
}
keep first
keep second
[ "$(sum "SELECT count(*) FROM orders")" = $count ] || fail "business rows were lost or doubled"
[ "$(sum "SELECT count(*) FROM steps")" = $shipped ] && [ "$(sum "SELECT count(DISTINCT id) FROM steps")" = $shipped ] || fail "some timers fired twice, or never"
# An instance without a key stays on both nodes, so only those with a key are counted.
[ "$(sum "SELECT count(*) FROM workflow.instances WHERE correlation_id IS NOT NULL")" = $count ] || fail "instances were lost or doubled"
[ "$(sum "SELECT count(*) FROM workflow.bookmark_queue WHERE name = 'Elsa.Event' AND correlation_id IS NOT NULL")" = $count ] || fail "kept events were lost or doubled"
both is 1 "SELECT count(*) FROM workflow.instances WHERE correlation_id IS NULL"
on second is 1 "SELECT wf_keep_instances(NULL, keyless => false, max_percent => 100)"
on first query "SET workflow.route_check = ''; SELECT wf_cancel(id) FROM workflow.instances WHERE correlation_id IS NULL; SELECT wf_delete_instance(id) FROM workflow.instances WHERE correlation_id IS NULL" >/dev/null
both is 0 "$misplaced"
both is "" "SELECT * FROM wf_check()"
on second check_storage
echo "ok: both keep what is theirs: no order is lost, none is on both, each timer has fired once"

# New owners have different numbers, so that instances can move between the two.
both query "CREATE ROLE late; GRANT late TO postgres; SELECT wf_grant_usage('late')" >/dev/null
[ "$(on first query "SELECT id FROM workflow.owners WHERE name = 'late'")" != "$(on second query "SELECT id FROM workflow.owners WHERE name = 'late'")" ] || fail "a role has the same number on both"
echo "ok: new owners have numbers of their own on each"
