#!/usr/bin/env bash
# Compares all nodes with the clients' records: each order is on one node, the node of its key, and was shipped once.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
collect() { # COMMAND: of all nodes
    local node
    for node in $(nodes); do ask "$node" "$1" || exit 1; done | sort -n
}
same() { # TITLE COMMAND
    local said end=$((SECONDS + patience))
    until said=$(diff <(sort -n "$SCALE_DIR/orders") <(collect "$2")); do
        [ "$SECONDS" -lt "$end" ] || die "$1: < is lost, > is doubled:
$said"
        sleep 0.2
    done
}

# Timers of the last orders have yet to fire.
same "shipped" "SELECT id FROM steps"
same "orders" "SELECT id FROM orders WHERE amount > 0"
same "instances" "SELECT correlation_id FROM workflow.instances WHERE definition_id = 'order'"
same "open tasks" "SELECT correlation_id FROM workflow.open_tasks"
elsewhere=$(collect "SELECT key FROM (SELECT correlation_id FROM workflow.instances UNION ALL SELECT id FROM orders UNION ALL SELECT id FROM steps) AS v (key)
    WHERE wf_partition(key, $partitions) NOT IN (SELECT partition FROM workflow.partitions)")
[ -z "$elsewhere" ] || die "on the wrong node: $elsewhere"
problems=$(collect "SELECT * FROM wf_check()")
[ -z "$problems" ] || die "wf_check(): $problems"
[ "$(collect "SELECT partition FROM workflow.partitions")" = "$(seq 0 $((partitions - 1)))" ] || die "a partition is on no node, or on two"
for node in $(nodes); do echo "   $node: partitions $(partitions_of "$node" | paste -sd,), $(ask "$node" "SELECT count(*) FROM orders") orders"; done
say "none of $(wc -l <"$SCALE_DIR/orders") orders is lost, doubled or on the wrong node; each was shipped once"
