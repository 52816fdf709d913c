# Sourced by scenarios with two nodes: `first`, which the test runner has started, and `second`. They run the shop of examples/scale/, whose
# orders are business rows and instances of the same key; rows of `steps` record what a workflow has done.
# shellcheck shell=bash

scale=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../examples/scale" && pwd)
first=$PGHOST first_data=$PGDATA
second=$WORKFLOW_TMP/second second_data=$WORKFLOW_TMP/second/data
# Where the scripts of the examples look for servers.
export SCALE_DIR=$WORKFLOW_TMP/nodes
mkdir "$SCALE_DIR"
ln -s "$first" "$SCALE_DIR/first"
ln -s "$second" "$SCALE_DIR/second"

# on NODE COMMAND...: runs it with this server's connection and programs.
on() {
    local -n directory=$1 data=$1_data
    PGHOST=$directory PGDATA=$data "${@:2}"
}
both() {
    on first "$@"
    on second "$@"
}

# follow NODE COMMAND...: starts a copy of the first node, made by pg_basebackup with these options.
follow() {
    local -n directory=$1 data=$1_data
    mkdir "$directory"
    pg_basebackup -h "$first" -D "$data" -X stream -c fast "${@:2}"
    echo "unix_socket_directories = '$directory'" >>"$data/postgresql.conf"
    on "$1" start_server
}

# open_shop NODE...: guards partitions, enables background workers, and deploys the shop.
open_shop() {
    local node
    for node; do
        on "$node" setting "workflow.launch_workers = on"
        on "$node" query "ALTER DATABASE workflow SET workflow.route_check = 'partitions'"
        on "$node" psql -X -q -v ON_ERROR_STOP=1 -f "$scale/shop.sql" >"$WORKFLOW_TMP/setup.out"
    done
    on first query "SELECT wf_add_partitions('{0,1,2,3,4,5,6,7}', 8)" >/dev/null
}

# Two nodes; the first one has all eight partitions. The second one has the same roles and definitions, created in another order, so that
# their numbers differ.
make_nodes() {
    follow second
    trap 'on second stop_server immediate || true' EXIT
    on second query "DROP EXTENSION workflow; CREATE EXTENSION workflow" >/dev/null
    on first query "CREATE ROLE shop LOGIN; CREATE ROLE clerk LOGIN"
    on second query "CREATE ROLE other; CREATE ROLE clerk LOGIN; CREATE ROLE shop LOGIN; SELECT wf_grant_usage('clerk')" >/dev/null
    on second query "SELECT wf_define('{\"definitionId\": \"elsewhere\", \"root\": []}')" >/dev/null
    open_shop first second
}

# begin_order KEY WAIT, pay_order KEY: what a client sends.
begin_order() { echo "SET ROLE shop; BEGIN; INSERT INTO orders VALUES ('$1'); SELECT wf_start('order', '{\"wait\": \"$2\"}', correlation_id => '$1'); COMMIT"; }
pay_order() { echo "SET ROLE shop; BEGIN; UPDATE orders SET amount = amount + 1 WHERE id = '$1'; SELECT wf_publish_event('Paid', correlation_id => '$1', keep_for => '0'); COMMIT"; }

# move PARTITION FROM TO: prepares the move on both servers; finish_move or undo_move follows. The prepared transactions are named $move.
move() {
    move="move $1"
    "$scale/move.sh" --prepare "$@"
}
finish_move() { "$scale/move.sh" --finish "${move#move }" "$@"; } # FROM TO
undo_move() { "$scale/move.sh" --undo "${move#move }" "$@"; }

# sum COMMAND: the sum of the results of both nodes.
sum() { echo $(($(on first query "$1") + $(on second query "$1"))); }

# misplaced: instances, stored stimuli and business rows whose key does not belong to their node.
misplaced="SELECT count(*) FROM (SELECT correlation_id FROM workflow.instances UNION ALL SELECT correlation_id FROM workflow.bookmark_queue
    UNION ALL SELECT id FROM orders UNION ALL SELECT id FROM steps) AS v (key)
    WHERE key IS NULL OR wf_partition(key, 8) NOT IN (SELECT partition FROM workflow.partitions)"
