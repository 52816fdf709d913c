#!/usr/bin/env bash
# lose.sh NODE: kills a node, and promotes its replica, as Patroni would. Meanwhile its keys are not served; those of other nodes are.
# Nothing that was committed is lost if the replica is synchronous (replica.sh). Clients repeat a wf_call that returned no result.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
node=$1 replica=$1-replica
[ -e "$SCALE_DIR/$replica" ] || die "$node has no replica: replica.sh $node"

pid=$(head -n 1 "$SCALE_DIR/$node/data/postmaster.pid")
kill -9 "$pid"
say "$node is lost"
promote "$replica"
# A returning node becomes a replica of the new one, and never a second node with the same keys.
mv "$SCALE_DIR/$node" "$SCALE_DIR/$node.lost"
sed -i "s/^$node$/$replica/" "$SCALE_DIR/nodes"
change_map "s/ $node$/ $replica/"
say "$replica has its place; promised there: $(ask "$replica" "SELECT coalesce(string_agg(gid, ', '), 'nothing') FROM pg_prepared_xacts")"
