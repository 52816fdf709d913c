#!/usr/bin/env bash
# deploy.sh FILE: runs the statements of a file on all nodes, or on none.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
file=$1
undo() {
    local node
    for node in $(nodes); do ask "$node" "ROLLBACK PREPARED 'deploy'" >/dev/null 2>&1 || true; done
    die "$file was deployed on no node"
}

for node in $(nodes); do
    { echo "BEGIN;"; cat "$file"; echo "PREPARE TRANSACTION 'deploy';"; } | run "$node" >/dev/null || undo
done
# A node that is added later gets the same files in the same order.
mkdir -p "$SCALE_DIR/deployed"
cp "$file" "$SCALE_DIR/deployed/$(printf '%04d' "$(find "$SCALE_DIR/deployed" -type f | wc -l)")-$(basename "$file")"
for node in $(nodes); do ask "$node" "COMMIT PREPARED 'deploy'"; done
say "$(basename "$file") is deployed on $(nodes | paste -sd' ')"
