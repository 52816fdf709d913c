#!/usr/bin/env bash
# The scripts of examples/scale/ as a user runs them: three nodes behind PL/Proxy and PgBouncer. Clients that know no node continue while a
# node is added, partitions move, a node is split, and one fails. Afterwards each order is on one node, that of its key, and was shipped
# once.
# Long: `make test` leaves it to `make test-all`.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
scale=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../examples/scale" && pwd)
export PGBOUNCER=$RUN/routers/pgbouncer
[ -x "$PGBOUNCER" ] || { echo "PL/Proxy and PgBouncer cannot be fetched here"; exit 75; }
unset PGHOST PGDATA PGDATABASE
export SCALE_DIR=$WORKFLOW_TMP/s SCALE_PATIENCE=$WORKFLOW_TEST_WATCHDOG
trap 'touch "$WORKFLOW_TMP/enough"; "$scale/stop.sh"' EXIT

step() { "$scale/$1.sh" "${@:2}" || fail "$*"; }
# node NAME COMMAND, proxy COMMAND
node() { PGHOST=$SCALE_DIR/$1 query "$2" app; }
proxy() { PGHOST=$SCALE_DIR/proxy query "$1" proxy; }
node_of() { sed -n "s/^$(node node1 "SELECT wf_partition('$1', 8)") //p" "$SCALE_DIR/map"; }
# refused COMMAND...: fails because the key belongs to another node.
refused() {
    if "$@" >"$WORKFLOW_TMP/said" 2>&1; then fail "$* took a key of another node"; fi
    grep -q "belongs to another node" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
}

step start
step proxy
step run 20 first
# Events that arrive before their order.
for n in {1..10}; do
    proxy "SELECT pay_order('early-$n', 'pay', 1)" >/dev/null 2>&1
    proxy "SELECT begin_order('early-$n', 'begin')" >/dev/null
    proxy "SELECT pay_order('early-$n', 'pay', 1)" >/dev/null
    echo "early-$n" >>"$SCALE_DIR/orders"
done
step check
for one in node1 node2 node3; do [ "$(node $one "SELECT count(*) > 3 FROM steps")" = t ] || fail "$one has shipped nothing"; done
echo "ok: each call, early event and timer is on the node of its key"

echo "SET workflow.notify_triggers = off; SET ROLE shop; SELECT wf_define('{\"definitionId\": \"news\", \"root\": {\"id\": \"on\", \"type\": \"Event\", \"eventName\": \"News\"}}'); RESET ROLE;" >"$WORKFLOW_TMP/news.sql"
step deploy "$WORKFLOW_TMP/news.sql"
for n in {1..20}; do node "$(node_of "news-$n")" "SET ROLE shop; SELECT wf_start('news', correlation_id => 'news-$n')" >/dev/null; done
[ "$(proxy "SELECT sum(n) || ' on ' || count(*) FROM tell_all('News') AS n")" = "20 on 3" ] || fail "an event for everybody reached others"
# A deployment that one node rejects is deployed on none.
node node3 "SET ROLE shop; CREATE TABLE here_only ()"
echo "SET ROLE shop; CREATE TABLE here_only ();" >"$WORKFLOW_TMP/bad.sql"
if "$scale/deploy.sh" "$WORKFLOW_TMP/bad.sql" 2>"$WORKFLOW_TMP/said"; then fail "half a deployment succeeded"; fi
grep -q "was deployed on no node" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
[ "$(node node1 "SELECT to_regclass('here_only') IS NULL")" = t ] || fail "half a deployment is left"
# An interrupted deployment is finished by the next one: rolled back if not all nodes had prepared it, otherwise committed.
node node2 "BEGIN; CREATE TABLE half (); PREPARE TRANSACTION 'deploy 0002'"
node node3 "BEGIN; CREATE TABLE noted (); PREPARE TRANSACTION 'deploy 0001'"
echo "CREATE TABLE later ();" >"$WORKFLOW_TMP/later.sql"
step deploy "$WORKFLOW_TMP/later.sql"
[ "$(node node2 "SELECT to_regclass('half') IS NULL AND to_regclass('later') IS NOT NULL")" = t ] || fail "half a deployment went on"
[ "$(node node3 "SELECT to_regclass('noted') IS NOT NULL AND to_regclass('later') IS NOT NULL")" = t ] || fail "a promised deployment was taken back"
echo "ok: an event for everybody reaches all nodes, and a deployment all or none"

step pgbouncer
tenant() { PGHOST=$SCALE_DIR/pgbouncer PGPORT=6432 PGUSER=shop query "$2" "$1"; }
tenant acme "BEGIN; SELECT begin_order('acme/1', 'begin'); ROLLBACK" >/dev/null
[ "$(tenant acme "SELECT count(*) FROM orders")" = 0 ] || fail "an order that was rolled back is there"
for one in acme bravo; do
    tenant $one "BEGIN; SELECT begin_order('$one/1', 'begin'); SELECT pay_order('$one/1', 'pay', 1); COMMIT" >/dev/null
done
for one in "acme node1" "bravo node2"; do
    read -r who where <<<"$one"
    PGHOST=$SCALE_DIR/$where await "$who/1" "SELECT id FROM steps" "$who"
done
refused tenant acme "SELECT begin_order('bravo/2', 'begin')"
echo "ok: PgBouncer sends each tenant to its node"

# From here on clients run without a pause.
load() {
    local round=0
    while [ ! -e "$WORKFLOW_TMP/enough" ]; do "$scale/run.sh" 5 "load-$1-$((++round))" || return; done
}
clients=()
for number in 1 2 3; do
    load $number >"$WORKFLOW_TMP/load.$number" 2>&1 &
    clients+=($!)
done
step add-node node4
step move 0 node1 node4
step move 7 node3 node4
# A prepared transaction would be on both.
node node2 "BEGIN; PREPARE TRANSACTION 'open'"
if "$scale/split.sh" node2 node5 2>"$WORKFLOW_TMP/said"; then fail "a node was split with a promised transaction"; fi
grep -q "has promised a transaction" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
node node2 "ROLLBACK PREPARED 'open'"
step split node2 node5
[ "$(PGHOST=$SCALE_DIR/node5 query "SELECT count(*) FROM pg_database WHERE datname = 'bravo'" postgres)" = 0 ] || fail "the database of a tenant is on two servers"
step replica node3
step lose node3
has_orders() { [ "$(wc -l <"$SCALE_DIR/orders")" -ge "$1" ]; }
eventually has_orders $(($(wc -l <"$SCALE_DIR/orders") + 10))
touch "$WORKFLOW_TMP/enough"
for client in "${clients[@]}"; do wait "$client" || fail "a client gave up: $(tail -n 3 "$WORKFLOW_TMP"/load.*)"; done
step check
[ "$(cut -d' ' -f2 "$SCALE_DIR/map" | paste -sd' ')" = "node4 node1 node1 node2 node5 node2 node3-replica node4" ] || fail "$(cat "$SCALE_DIR/map")"
grep -hq "sent again: [1-9]" "$WORKFLOW_TMP"/load.* || fail "no client noticed anything"
echo "ok: nothing is lost or doubled while nodes are added, split and lost"

# A proxy with an outdated map gets an error, and so does its client.
key=$(node node4 "SELECT k FROM (SELECT 'late-' || n AS k FROM generate_series(1, 100) AS n) AS v WHERE wf_partition(k, 8) = 0 LIMIT 1")
proxy "ALTER SERVER app OPTIONS (SET p0 'host=$SCALE_DIR/node1 port=$PGPORT dbname=app')"
refused proxy "SELECT begin_order('$key', 'begin')"
[ "$(proxy "DO \$\$ BEGIN PERFORM begin_order('$key', 'begin'); EXCEPTION WHEN serialization_failure THEN RAISE NOTICE 'to be repeated'; END \$\$" 2>&1)" = "NOTICE:  to be repeated" ] ||
    fail "the proxy does not pass the SQLSTATE on"

# An interrupted move is finished: committed if both have prepared it, otherwise rolled back.
step move --prepare 1 node1 node2
if "$scale/move.sh" 1 node1 node2 2>"$WORKFLOW_TMP/said"; then fail "a move began upon another"; fi
grep -q "was broken off" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
step move --end 1 node1 node2
if "$scale/move.sh" --undo 1 node1 node2 2>"$WORKFLOW_TMP/said"; then fail "a move that is whole was undone"; fi
grep -q "has taken partition" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
if "$scale/move.sh" 1 node1 node2 2>"$WORKFLOW_TMP/said"; then fail "a partition moved from where it is not"; fi
grep -q "is on node2" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
step move --prepare 2 node1 node2
node node2 "ROLLBACK PREPARED 'move 2'"
if "$scale/move.sh" --finish 2 node1 node2 2>"$WORKFLOW_TMP/said"; then fail "half a move was finished"; fi
grep -q "has not promised" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
if PGPORT=1 "$scale/move.sh" --end 2 node1 node2 2>"$WORKFLOW_TMP/said"; then fail "a move was ended without its nodes"; fi
grep -q "does not say what it has promised" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
step move --end 2 node1 node2
step run 10 last
step check
[ "$(sed -n '2,3p' "$SCALE_DIR/map" | paste -sd' ')" = "1 node2 2 node1" ] || fail "$(cat "$SCALE_DIR/map")"
echo "ok: a move that was broken off is ended"
