#!/usr/bin/env bash
# Sets up the shop on a coordinator with Citus, in the database given by PGHOST, PGPORT, PGUSER and PGDATABASE, and runs each function once.
# Fails if a statement fails or a node reports a problem. Needs two nodes. Not run on Citus; our tests run it with stand-ins.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ask() { psql -X -q -At -v ON_ERROR_STOP=1 -c "$1"; }
die() {
    echo "$*" >&2
    exit 1
}
check() {
    local problems
    problems=$(ask "SELECT * FROM shop.check()")
    [ -z "$problems" ] || die "$problems"
}
[ "$(ask "SELECT to_regprocedure('create_distributed_function(regprocedure,text,text,boolean)') IS NOT NULL")" = t ] ||
    { echo "Citus is not installed in database \"${PGDATABASE:-$USER}\": CREATE EXTENSION citus, then CREATE EXTENSION workflow, and add the nodes" >&2; exit 75; }
for file in install deploy move add-node check repair rebalance; do
    psql -X -q -v ON_ERROR_STOP=1 -f "$here/$file.sql" >/dev/null
done

# A node that has no shard of shop.deployment yet.
calls=$(ask "SELECT format('CALL shop.add_node(%L, %s);', n.nodename, n.nodeport) FROM shop.nodes() AS n WHERE n.route IS NULL")
while read -r call; do [ -z "$call" ] || ask "$call"; done <<<"$calls"
ask "SELECT shop.deploy(\$\$SELECT public.wf_define('{\"definitionId\": \"order\", \"root\": {\"id\": \"paid\", \"type\": \"Event\", \"eventName\": \"OrderPaid\"}}')\$\$)"
check
for n in 1 2 3 4; do ask "SELECT shop.begin_order('A-$n', 'begin')"; done
# Two keys in one transaction, twice: the second time returns the first answers.
calls="BEGIN;
INSERT INTO shop.wf_call (key, message, kind, name) VALUES ('A-1', 'bank-1', 'event', 'OrderPaid') ON CONFLICT (key, message) DO UPDATE SET result = excluded.result RETURNING result;
INSERT INTO shop.wf_call (key, message, kind, name) VALUES ('A-2', 'bank-2', 'event', 'OrderPaid') ON CONFLICT (key, message) DO UPDATE SET result = excluded.result RETURNING result;
COMMIT"
first=$(ask "$calls")
again=$(ask "$calls")
[ "$first" = "$again" ] || die "a repeated message has another answer"
check
ask "SELECT shop.trim_calls()" >/dev/null
ask "CALL shop.repair()"

# A shard moves to another node, and its order is paid there.
shard=$(ask "SELECT get_shard_id_for_distribution_column('shop.orders', 'A-3'::text)")
move=$(ask "SELECT format('CALL shop.move_shard(%s, %L, %s)', $shard, n.nodename, n.nodeport) FROM shop.nodes() AS n
    WHERE n.groupid <> (SELECT p.groupid FROM pg_dist_placement AS p WHERE p.shardid = $shard) LIMIT 1")
[ -n "$move" ] || die "there is no second node"
ask "$move"
check
ask "SELECT shop.pay_order('A-3', 'bank-3', 200)"
ask "CALL shop.rebalance()"
ask "CALL shop.rebalance(dry_run => false)"
check
ask "SELECT shop.pay_order('A-4', 'bank-4', 200)"
check
echo "all nodes are well"
