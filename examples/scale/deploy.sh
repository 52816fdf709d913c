#!/usr/bin/env bash
# deploy.sh FILE: runs the statements of a file on all nodes, or on none. First ends whatever an earlier deployment has left.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
file=$1
[ -r "$file" ] || die "$file cannot be read"
mkdir -p "$SCALE_DIR/deployed"

# When all nodes have prepared a file, that is recorded, and then the file is committed; before that it is rolled back.
for node in $(nodes); do
    for number in $(ask "$node" "SELECT substr(gid, 8) FROM pg_prepared_xacts WHERE gid LIKE 'deploy %' AND database = current_database()"); do
        if compgen -G "$SCALE_DIR/deployed/$number-*" >/dev/null; then word=COMMIT; else word=ROLLBACK; fi
        ask "$node" "$word PREPARED 'deploy $number'"
    done
done

# A node that is added later gets the same files in the same order.
number=$(printf '%04d' "$(find "$SCALE_DIR/deployed" -type f | wc -l)")
promised=()
for node in $(nodes); do
    if ! { echo "BEGIN;"; cat "$file"; echo "PREPARE TRANSACTION 'deploy $number';"; } | run "$node" >/dev/null; then
        for node in "${promised[@]}"; do ask "$node" "ROLLBACK PREPARED 'deploy $number'"; done
        die "$file was deployed on no node"
    fi
    promised+=("$node")
done
cp "$file" "$SCALE_DIR/deployed/$number-$(basename "$file")"
for node in $(nodes); do ask "$node" "COMMIT PREPARED 'deploy $number'"; done
say "$(basename "$file") is deployed on $(nodes | paste -sd' ')"
