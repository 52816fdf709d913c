#!/usr/bin/env bash
# move.sh PARTITION FROM TO: moves a partition from one node to another, with its business rows, by two-phase commit.
# move.sh --prepare PARTITION FROM TO: stops after both nodes have prepared; --finish or --undo completes or undoes the move, also after a
# crash of either node.
# move.sh --end PARTITION FROM TO: completes or undoes an interrupted move.
#
# The old node prepares wf_remove_partitions, wf_export_instances(…, remove => true) and the removal of the business rows; the new node
# prepares wf_add_partitions, wf_import_instances and the rows. If both are prepared, commit the new node, then the old one, then change the
# router; otherwise roll back both. The same rule ends a transaction that is found prepared later. Meanwhile calls for the partition wait.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
what=move
if [[ $1 == --* ]]; then
    what=${1#--}
    shift
fi
partition=$1 from=$2 to=$3
move="move $partition"

# A node that does not answer may have prepared or committed, so nothing is decided then.
is_one() { # NODE COMMAND
    local said
    said=$(ask "$1" "$2") || die "$1 does not say what it has promised"
    [ "$said" = 1 ]
}
has_committed() { is_one "$to" "SELECT count(*) FROM workflow.partitions WHERE partition = $partition"; }
promised() { is_one "$1" "SELECT count(*) FROM pg_prepared_xacts WHERE gid = '$move' AND database = current_database()"; }

# The old node sends statements for the new one, which imports some hundred orders while the next ones are packed. Clients change a business
# row before they call, so the rows are locked before the partition is taken.
leave() {
    run "$from" <<SQL
BEGIN;
SET LOCAL my.partition = '$partition';
SELECT count(*) FROM (SELECT FROM orders WHERE wf_partition(id, $partitions) = $partition FOR UPDATE) AS o \g /dev/null
SELECT wf_remove_partitions('{$partition}') \g /dev/null
SELECT 'BEGIN; SELECT wf_add_partitions(''{$partition}'', $partitions) \g /dev/null';
SELECT format('SELECT import_of(piece) FROM wf_export_instances(%L, remove => true) AS piece', array_agg(id))
FROM (SELECT id, row_number() OVER () / 500 AS part FROM orders WHERE wf_partition(id, $partitions) = $partition) AS o GROUP BY part
\gexec
-- What has no order, such as an event that came too early.
SELECT import_of(piece) FROM wf_export_instances(predicate => 'moves(text)', remove => true) AS piece;
SELECT 'COPY orders FROM STDIN;';
COPY (DELETE FROM orders WHERE wf_partition(id, $partitions) = $partition RETURNING *) TO STDOUT;
SELECT '\.';
SELECT 'COPY steps FROM STDIN;';
COPY (DELETE FROM steps WHERE wf_partition(id, $partitions) = $partition RETURNING *) TO STDOUT;
SELECT '\.';
PREPARE TRANSACTION '$move';
-- Without this, the new node does nothing.
SELECT 'PREPARE TRANSACTION ''$move'';';
SQL
}

# The new node first: the old one blocks calls for the partition until it has committed, too.
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
# A move that is committed on the new node, or prepared on both, is completed; any other is rolled back.
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
    leave | run "$to"
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
