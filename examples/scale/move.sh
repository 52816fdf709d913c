#!/usr/bin/env bash
# move.sh PARTITION FROM TO: moves a partition from one node to another, with its business rows, by a two-phase commit.
# move.sh --prepare PARTITION FROM TO: up to the promise of both; --finish or --undo ends that, also after a crash of either.
# move.sh --end PARTITION FROM TO: finishes or undoes what a broken-off move has left.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
what=move
if [[ $1 == --* ]]; then
    what=${1#--}
    shift
fi
partition=$1 from=$2 to=$3
move="move $partition"

# A node that does not answer may have promised or committed: then nothing is decided.
is_one() { # NODE COMMAND
    local said
    said=$(ask "$1" "$2") || die "$1 does not say what it has promised"
    [ "$said" = 1 ]
}
has_committed() { is_one "$to" "SELECT count(*) FROM workflow.partitions WHERE partition = $partition"; }
promised() { is_one "$1" "SELECT count(*) FROM pg_prepared_xacts WHERE gid = '$move' AND database = current_database()"; }

# The old node. Clients change a business row before they call, so most rows go before the partition is taken, and the rest when no call
# uses it any more.
leave() {
    run "$from" <<SQL
BEGIN;
SET LOCAL my.partition = '$partition';
\o $bundle/orders.first
COPY (DELETE FROM orders WHERE wf_partition(id, $partitions) = $partition RETURNING *) TO STDOUT;
\o
SELECT wf_remove_partitions('{$partition}') \g /dev/null
\o $bundle/orders.last
COPY (DELETE FROM orders WHERE wf_partition(id, $partitions) = $partition RETURNING *) TO STDOUT;
\o $bundle/steps
COPY (DELETE FROM steps WHERE wf_partition(id, $partitions) = $partition RETURNING *) TO STDOUT;
\o $bundle/pieces
SELECT encode(piece, 'hex') FROM wf_export_instances(predicate => 'moves(text)', remove => true) AS piece;
\o
PREPARE TRANSACTION '$move';
SQL
}

# The new node.
arrive() {
    {
        echo "BEGIN; SELECT wf_add_partitions('{$partition}', $partitions) \\g /dev/null"
        echo "COPY orders FROM STDIN;"
        cat "$bundle/orders.first" "$bundle/orders.last"
        echo "\\."
        echo "COPY steps FROM STDIN;"
        cat "$bundle/steps"
        echo "\\."
        sed "s/.*/SELECT wf_import_instances(ARRAY[decode('&', 'hex')]) \\\\g \/dev\/null/" "$bundle/pieces"
        echo "PREPARE TRANSACTION '$move';"
    } | run "$to"
}

# The new node first: the old one holds its calls for the partition until it has committed, too.
finish() {
    promised "$to" || has_committed || die "$to has not promised to take partition $partition: move.sh --undo $partition $from $to"
    ! promised "$to" || ask "$to" "COMMIT PREPARED '$move'"
    ! promised "$from" || ask "$from" "COMMIT PREPARED '$move'"
    change_map "s/^$partition .*/$partition $to/"
}
undo() {
    local node
    ! has_committed || die "$to has taken partition $partition: move.sh --finish $partition $from $to"
    for node in "$to" "$from"; do
        ! promised "$node" || ask "$node" "ROLLBACK PREPARED '$move'"
    done
}
# A move that has committed on the new node, or is promised by both, goes on; any other one is taken back.
end() {
    if { promised "$from" && promised "$to"; } || has_committed; then
        finish
    else
        undo
    fi
}

prepare() {
    [ "$from" != "$to" ] || die "partition $partition would move from $from to itself"
    [ ! -e "$SCALE_DIR/map" ] || [ "$(node_of "$partition")" = "$from" ] || die "partition $partition is on $(node_of "$partition")"
    ! promised "$from" && ! promised "$to" || die "a move of partition $partition was broken off: move.sh --end $partition $from $to"
    bundle=$(mktemp -d "$SCALE_DIR/bundle.XXXXXX")
    trap 'rm -rf "$bundle"' EXIT
    leave && arrive
}

case $what in
    prepare | finish | undo | end) "$what" ;;
    move)
        if ! prepare; then
            undo
            die "partition $partition stays on $from"
        fi
        finish
        say "partition $partition is on $to"
        ;;
    *) die "move.sh does not know --$what" ;;
esac
