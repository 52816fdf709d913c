#!/usr/bin/env bash
# Starts three nodes, deploys the shop on all of them, and gives each its partitions.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ "$(id -u)" -ne 0 ] || die "PostgreSQL does not run as root: call this as another user"
[ ! -e "$SCALE_DIR" ] || die "there is a $SCALE_DIR: ./stop.sh removes it"
mkdir -m 700 "$SCALE_DIR"
touch "$SCALE_DIR/nodes"

for node in node1 node2 node3; do
    say "starting $node"
    new_node "$node"
done
printf '%s\n' '0 node1' '1 node1' '2 node1' '3 node2' '4 node2' '5 node2' '6 node3' '7 node3' >"$SCALE_DIR/map"
"$here/deploy.sh" "$here/shop.sql"
for node in $(nodes); do
    ask "$node" "SELECT wf_add_partitions('{$(partitions_of "$node" | paste -sd,)}', $partitions)" >/dev/null
done
say "the partitions are on: $(paste -sd, "$SCALE_DIR/map")"
