#!/usr/bin/env bash
# split.sh NODE NEW: divides a node with all its data. Its replica becomes a node of its own with half of the partitions, and each removes
# what belongs to the other. Calls for keys that leave are refused (40001) between the first step and the last one, and sent again.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
node=$1 new=$2
mine=() theirs=()
for partition in $(sed -n "s/ $node$//p" "$SCALE_DIR/map"); do
    if [ "${#mine[@]}" -gt "${#theirs[@]}" ]; then theirs+=("$partition"); else mine+=("$partition"); fi
done
[ "${#theirs[@]}" -gt 0 ] || die "$node has one partition, or none"
list() { local IFS=,; echo "{$*}"; }

say "$new follows $node"
follow "$node" "$new"
# It is not to fire what is due for the other half.
echo "workflow.enabled = off" >>"$SCALE_DIR/$new/data/postgresql.conf"
ask "$new" "SELECT pg_reload_conf()" postgres >/dev/null

say "$node gives up partitions $(list "${theirs[@]}")"
ask "$node" "SELECT wf_remove_partitions('$(list "${theirs[@]}")')" >/dev/null
position=$(ask "$node" "SELECT pg_current_wal_lsn()")
await "$new" t "SELECT pg_last_wal_replay_lsn() >= '$position'"
promote "$new"
ask "$new" "BEGIN; SELECT wf_remove_partitions('$(list "${mine[@]}")'); SELECT wf_add_partitions('$(list "${theirs[@]}")', $partitions); COMMIT" >/dev/null
sed -i '/^workflow.enabled = off/d' "$SCALE_DIR/$new/data/postgresql.conf"
ask "$new" "SELECT pg_reload_conf()" postgres >/dev/null
for partition in "${theirs[@]}"; do change_map "s/^$partition .*/$partition $new/"; done

say "each removes what belongs to the other"
for one in "$node" "$new"; do
    run "$one" <<'SQL'
DO $$ BEGIN WHILE wf_keep_instances(NULL) > 0 LOOP COMMIT; END LOOP; END $$;
DELETE FROM orders WHERE wf_partition(id, 8) NOT IN (SELECT partition FROM workflow.partitions);
DELETE FROM steps WHERE wf_partition(id, 8) NOT IN (SELECT partition FROM workflow.partitions);
SQL
done
say "$new has partitions $(list "${theirs[@]}")"
