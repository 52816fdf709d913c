# Sourced by scenarios with two nodes: `first`, which the test runner has started, and `second`. An order is a business row and an instance of the same key; what its workflow does is told by rows
# of `steps`.
# shellcheck shell=bash

first=$PGHOST first_data=$PGDATA
second=$WORKFLOW_TMP/second second_data=$WORKFLOW_TMP/second/data

# on NODE COMMAND...: with the servers' functions and programs.
on() {
    local -n directory=$1 data=$1_data
    PGHOST=$directory PGDATA=$data "${@:2}"
}
both() {
    on first "$@"
    on second "$@"
}

# follow NODE COMMAND...: a copy of the first node, made by pg_basebackup with these options, is started.
follow() {
    local -n directory=$1 data=$1_data
    mkdir "$directory"
    pg_basebackup -h "$first" -D "$data" -X stream -c fast "${@:2}"
    echo "unix_socket_directories = '$directory'" >>"$data/postgresql.conf"
    on "$1" start_server
}

# open_shop NODE...: partitions are guarded, workers run, and the shop has its tables and its workflow.
open_shop() {
    local node
    cat >"$WORKFLOW_TMP/node.sql" <<'SQL'
ALTER DATABASE workflow SET workflow.route_check = 'partitions';
SELECT wf_grant_usage('shop');
GRANT CREATE ON SCHEMA public TO shop;
SET ROLE shop;
CREATE TABLE orders (id text PRIMARY KEY, amount numeric NOT NULL DEFAULT 0);
CREATE TABLE steps (id text NOT NULL, step text NOT NULL);
SELECT wf_define('{"definitionId": "order", "root": [
    {"id": "paid", "type": "Event", "eventName": "Paid"},
    {"id": "wait", "type": "Delay", "timeSpan": {"input": "wait"}},
    {"id": "ship", "type": "Sql", "statement": "INSERT INTO public.steps VALUES ($1, ''shipped'')", "parameters": [{"js": "getCorrelationId()"}]},
    {"id": "check", "type": "RunTask", "taskName": "check"}]}');
RESET ROLE;
CREATE FUNCTION moves(key text) RETURNS boolean LANGUAGE sql RETURN public.wf_partition(key, 8)::text = current_setting('my.partition');
SQL
    for node; do
        on "$node" setting "workflow.launch_workers = on"
        on "$node" psql -X -q -v ON_ERROR_STOP=1 -f "$WORKFLOW_TMP/node.sql" >"$WORKFLOW_TMP/setup.out"
    done
    on first query "SELECT wf_add_partitions('{0,1,2,3,4,5,6,7}', 8)" >/dev/null
}

# Two nodes; the first one has all eight partitions. The second one has the same roles and definitions, made in another order:
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

# move PARTITION FROM TO: both servers promise it; finish_move or undo_move follows. Business rows go along: most before the
# partition is taken, as clients change them before they call, and the rest when no call uses the partition any more.
move() {
    local out=$WORKFLOW_TMP/bundle
    rm -f "$out".*
    on "$2" psql -X -q -At -v ON_ERROR_STOP=1 <<SQL
BEGIN;
SET LOCAL my.partition = '$1';
\o | cat >>$out.orders
COPY (DELETE FROM orders WHERE moves(id) RETURNING *) TO STDOUT;
\o
SELECT wf_remove_partitions('{$1}') \g /dev/null
\o | cat >>$out.orders
COPY (DELETE FROM orders WHERE moves(id) RETURNING *) TO STDOUT;
\o | cat >>$out.steps
COPY (DELETE FROM steps WHERE moves(id) RETURNING *) TO STDOUT;
\o $out.pieces
SELECT encode(b, 'hex') FROM wf_export_instances(predicate => 'moves(text)', remove => true) AS b;
\o
PREPARE TRANSACTION 'move';
SQL
    {
        echo "BEGIN; SELECT wf_add_partitions('{$1}', 8) \\g /dev/null"
        echo "COPY orders FROM STDIN;"
        cat "$out.orders"
        echo "\\."
        echo "COPY steps FROM STDIN;"
        cat "$out.steps"
        echo "\\."
        sed "s/.*/SELECT wf_import_instances(ARRAY[decode('&', 'hex')]) \\\\g \/dev\/null/" "$out.pieces"
        echo "PREPARE TRANSACTION 'move';"
    } | on "$3" psql -X -q -At -v ON_ERROR_STOP=1
}
finish_move() { # FROM TO
    on "$2" query "COMMIT PREPARED 'move'"
    on "$1" query "COMMIT PREPARED 'move'"
}
undo_move() { both query "ROLLBACK PREPARED 'move'"; }

# sum COMMAND: of the numbers of both nodes.
sum() { echo $(($(on first query "$1") + $(on second query "$1"))); }

# misplaced: instances, kept stimuli and business rows whose key does not belong to the node that has them.
misplaced="SELECT count(*) FROM (SELECT correlation_id FROM workflow.instances UNION ALL SELECT correlation_id FROM workflow.bookmark_queue
    UNION ALL SELECT id FROM orders UNION ALL SELECT id FROM steps) AS v (key)
    WHERE key IS NULL OR wf_partition(key, 8) NOT IN (SELECT partition FROM workflow.partitions)"
