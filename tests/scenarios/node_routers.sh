#!/usr/bin/env bash
# Clients that know no node: PL/Proxy sends each call to the node of its key, PgBouncer each tenant to its own. Early events,
# timers on both nodes, events for everybody, and a partition that moves under a proxy that has not heard of it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/nodes.sh"
routers=$RUN/routers
[ -x "$routers/usr/sbin/pgbouncer" ] || { echo "PL/Proxy and PgBouncer cannot be fetched here"; exit 75; }

make_nodes
on first query "SELECT wf_remove_partitions('{4,5,6,7}')" >/dev/null
on second query "SELECT wf_add_partitions('{4,5,6,7}', 8)" >/dev/null

# On each node the unit of work is a function: the business row and the workflow, in one transaction.
cat >"$WORKFLOW_TMP/node.sql" <<'SQL'
SET ROLE shop;
CREATE FUNCTION begin_order(order_id text) RETURNS uuid LANGUAGE sql AS $$
    INSERT INTO orders VALUES ($1);
    SELECT wf_start('order', '{"wait": "1 millisecond"}', correlation_id => $1);
$$;
CREATE FUNCTION pay_order(order_id text) RETURNS integer LANGUAGE sql AS $$
    UPDATE orders SET amount = amount + 1 WHERE id = $1;
    SELECT cardinality(resumed) FROM wf_publish_event('Paid', correlation_id => $1, keep_for => '1 hour');
$$;
CREATE FUNCTION tell_all(event text) RETURNS integer LANGUAGE sql AS $$ SELECT cardinality(resumed) FROM wf_publish_event($1) $$;
SQL
both psql -X -q -v ON_ERROR_STOP=1 -f "$WORKFLOW_TMP/node.sql"

# The proxy is a database of its own. Its map has more entries than there are nodes.
query "CREATE DATABASE proxy" postgres
proxy() { on first query "$1" proxy; }
on first psql -X -q -v ON_ERROR_STOP=1 -d proxy >/dev/null <<SQL
CREATE EXTENSION plproxy;
CREATE SERVER app FOREIGN DATA WRAPPER plproxy OPTIONS ($(for p in {0..7}; do
    printf "%sp%s 'host=%s port=%s dbname=workflow'" "$([ "$p" = 0 ] || echo ', ')" "$p" "$([ "$p" -lt 4 ] && echo "$first" || echo "$second")" "$PGPORT"
done));
CREATE USER MAPPING FOR PUBLIC SERVER app OPTIONS (user 'shop');
CREATE FUNCTION begin_order(order_id text) RETURNS uuid LANGUAGE plproxy AS \$\$ CLUSTER 'app'; RUN ON hashtext(order_id); \$\$;
CREATE FUNCTION pay_order(order_id text) RETURNS integer LANGUAGE plproxy AS \$\$ CLUSTER 'app'; RUN ON hashtext(order_id); \$\$;
CREATE FUNCTION tell_all(event text) RETURNS SETOF integer LANGUAGE plproxy AS \$\$ CLUSTER 'app'; RUN ON ALL; \$\$;
SQL

# The first ten are paid before they begin.
for n in {1..10}; do proxy "SELECT pay_order('order-$n')"; done >/dev/null 2>&1
for n in {1..40}; do proxy "SELECT begin_order('order-$n')"; done >/dev/null
for n in {11..40}; do proxy "SELECT pay_order('order-$n')"; done >/dev/null
is_shipped() { [ "$(sum "SELECT count(*) FROM steps")" = 40 ]; }
eventually is_shipped
both is t "SELECT count(*) > 5 FROM steps"
[ "$(sum "SELECT count(*) FROM workflow.instances")" = 40 ] || fail "there are not 40 orders"
both is 0 "$misplaced"
echo "ok: each call is run on the node of its key, early events and timers, too"

both query "SET ROLE shop; SELECT wf_define('{\"definitionId\": \"news\", \"root\": {\"id\": \"on\", \"type\": \"Event\", \"eventName\": \"News\"}}')" >/dev/null
for n in {1..20}; do
    partition=$(query "SELECT wf_partition('news-$n', 8)")
    on "$([ "$partition" -lt 4 ] && echo first || echo second)" query "SET ROLE shop; SELECT wf_start('news', correlation_id => 'news-$n')" >/dev/null
done
[ "$(proxy "SELECT sum(n) || ' on ' || count(*) FROM tell_all('News') AS n")" = "20 on 2" ] || fail "an event for everybody reached others"
echo "ok: an event for everybody reaches all nodes"

# A partition moves. The proxy has not heard of it, and says so to its client; with the new map the call goes on.
key=$(query "SELECT k FROM (SELECT 'late-' || n AS k FROM generate_series(1, 100) AS n) AS v WHERE wf_partition(k, 8) = 2 LIMIT 1")
proxy "SELECT begin_order('$key')" >/dev/null
move 2 first second
finish_move first second
if proxy "SELECT pay_order('$key')" 2>"$WORKFLOW_TMP/said"; then fail "the old node took the call"; fi
grep -q "belongs to another node" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
[ "$(proxy "DO \$\$ BEGIN PERFORM pay_order('$key'); EXCEPTION WHEN serialization_failure THEN RAISE NOTICE 'to be repeated'; END \$\$" 2>&1)" = "NOTICE:  to be repeated" ] ||
    fail "the proxy does not pass the SQLSTATE on"
proxy "ALTER SERVER app OPTIONS (SET p2 'host=$second port=$PGPORT dbname=workflow')"
[ "$(proxy "SELECT pay_order('$key')")" = 1 ] || fail "the event did not reach the order"
on second await 1 "SELECT count(*) FROM steps WHERE id = '$key'"
both is 0 "$misplaced"
echo "ok: a proxy with an old map is told so"

# PgBouncer: the name of the database is the tenant. A transaction of several statements is one.
bouncer=$WORKFLOW_TMP/bouncer
mkdir "$bouncer"
cat >"$bouncer/pgbouncer.ini" <<INI
[databases]
acme = host=$first port=$PGPORT dbname=workflow user=shop
bravo = host=$second port=$PGPORT dbname=workflow user=shop
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $bouncer
auth_type = any
pool_mode = transaction
logfile = $bouncer/log
pidfile = $bouncer/pid
INI
LD_LIBRARY_PATH=$(echo "$routers"/usr/lib/*-linux-gnu) "$routers/usr/sbin/pgbouncer" -q -d "$bouncer/pgbouncer.ini"
trap 'kill "$(cat "$bouncer/pid")"; on second stop_server immediate || true' EXIT
tenant() { psql -X -q -At -v ON_ERROR_STOP=1 -h "$bouncer" -p 6432 -U shop -d "$1"; }
# acme's keys are those of the first node here, bravo's those of the second one.
acme=$(query "SELECT k FROM (SELECT 'acme/' || n AS k FROM generate_series(1, 100) AS n) AS v WHERE wf_partition(k, 8) = 0 LIMIT 1")
bravo=$(query "SELECT k FROM (SELECT 'bravo/' || n AS k FROM generate_series(1, 100) AS n) AS v WHERE wf_partition(k, 8) = 7 LIMIT 1")
printf "BEGIN;\nSELECT begin_order('%s') \\g /dev/null\nROLLBACK;\nSELECT count(*) FROM orders WHERE id = '%s';\n" "$acme" "$acme" | tenant acme >"$WORKFLOW_TMP/said"
[ "$(cat "$WORKFLOW_TMP/said")" = 0 ] || fail "a rolled back order is there"
printf "BEGIN;\nSELECT begin_order('%s') \\g /dev/null\nSELECT pay_order('%s') \\g /dev/null\nCOMMIT;\n" "$acme" "$acme" | tenant acme
printf "BEGIN;\nSELECT begin_order('%s') \\g /dev/null\nSELECT pay_order('%s') \\g /dev/null\nCOMMIT;\n" "$bravo" "$bravo" | tenant bravo
on first await 1 "SELECT count(*) FROM steps WHERE id = '$acme'"
on second await 1 "SELECT count(*) FROM steps WHERE id = '$bravo'"
if echo "SELECT begin_order('$bravo');" | tenant acme 2>"$WORKFLOW_TMP/said"; then fail "a tenant's key was taken by another node"; fi
grep -q "belongs to another node" "$WORKFLOW_TMP/said" || fail "$(cat "$WORKFLOW_TMP/said")"
both is "" "SELECT * FROM wf_check()"
echo "ok: PgBouncer sends each tenant to its node"
