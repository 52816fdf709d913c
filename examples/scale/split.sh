#!/usr/bin/env bash
# split.sh NODE NEW: divides a node with all its data. Its replica becomes a separate node with half of the partitions, and each removes
# what belongs to the other. Calls for moved keys are refused (40001) between the first step and the last one, and have to be sent again.
#
# The replica has workflow.enabled = off until it has its own partitions. After the split, wf_keep_instances(NULL, dry_run => true) says on
# each node what it will remove; with max_percent => 100 it is repeated until it returns 0. Pause transactions that write business rows
# without a call: no guard rejects them. Instances without a correlation id stay on both nodes.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
node=$1 new=$2
mine=() theirs=()
for partition in $(partitions_of "$node"); do
    if [ "${#mine[@]}" -gt "${#theirs[@]}" ]; then theirs+=("$partition"); else mine+=("$partition"); fi
done
[ "${#theirs[@]}" -gt 0 ] || die "$node has one partition, or none"
list() { local IFS=,; echo "{$*}"; }
# A prepared transaction would be on both, and locks its keys.
[ "$(ask "$node" "SELECT count(*) FROM pg_prepared_xacts")" = 0 ] || die "$node has promised a transaction: end it first"

say "$new follows $node"
follow "$node" "$new"
# It must not fire what is due for the other half.
echo "workflow.enabled = off" >>"$SCALE_DIR/$new/data/postgresql.conf"
ask "$new" "SELECT pg_reload_conf()" postgres >/dev/null

say "$node gives up partitions $(list "${theirs[@]}")"
ask "$node" "SET lock_timeout = '${patience}s'; SELECT wf_remove_partitions('$(list "${theirs[@]}")')" >/dev/null
# Until the replica is promoted, everything can be undone.
trap 'ask "$node" "SELECT wf_add_partitions('"'$(list "${theirs[@]}")'"', $partitions)" >/dev/null; echo "$node keeps its partitions" >&2' EXIT
position=$(ask "$node" "SELECT pg_current_wal_lsn()")
await "$new" t "SELECT pg_last_wal_replay_lsn() >= '$position'"
trap - EXIT
promote "$new"
# The other databases of the server stay on the old node.
for database in $(ask "$new" "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname NOT IN ('postgres', '$PGDATABASE')" postgres); do
    ask "$new" "DROP DATABASE $database WITH (FORCE)" postgres
done
ask "$new" "BEGIN; SELECT wf_remove_partitions('$(list "${mine[@]}")'); SELECT wf_add_partitions('$(list "${theirs[@]}")', $partitions); COMMIT" >/dev/null
sed -i '/^workflow.enabled = off/d' "$SCALE_DIR/$new/data/postgresql.conf"
ask "$new" "SELECT pg_reload_conf()" postgres >/dev/null
echo "$new" >>"$SCALE_DIR/nodes"
for partition in "${theirs[@]}"; do change_map "s/^$partition .*/$partition $new/"; done

say "each removes what belongs to the other"
for one in "$node" "$new"; do
    run "$one" <<SQL
DO \$\$ BEGIN WHILE wf_keep_instances(NULL, max_percent => 100) > 0 LOOP COMMIT; END LOOP; END \$\$;
DELETE FROM orders WHERE wf_partition(id, $partitions) NOT IN (SELECT partition FROM workflow.partitions);
DELETE FROM steps WHERE wf_partition(id, $partitions) NOT IN (SELECT partition FROM workflow.partitions);
SQL
done
say "$new has partitions $(list "${theirs[@]}")"
