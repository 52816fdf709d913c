#!/usr/bin/env bash
# The data of several nodes in one place: examples/scale/publish.sql and report.sql, by logical replication, with moves and retention; and
# union.sql, which queries the nodes.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/nodes.sh"
examples=$(dirname "${BASH_SOURCE[0]}")/../../../examples/scale

make_nodes
for node in first second; do
    on $node setting "wal_level = logical" "max_logical_replication_workers = 4" "wal_retrieve_retry_interval = '100ms'"
    on $node stop_server
    on $node start_server
    on $node psql -X -q -v ON_ERROR_STOP=1 -f "$examples/publish.sql"
done
# The reporting database is a third one, on the second server; a subscription to its own server needs an existing slot.
on second query "CREATE DATABASE report" postgres
report() { on second query "$1" report; }
sees() { on second await "$1" "$2" report; }
on second psql -X -q -v ON_ERROR_STOP=1 -d report -f "$examples/report.sql"
report "CREATE SUBSCRIPTION node1 CONNECTION 'host=$first dbname=workflow' PUBLICATION workflow_report"
on second query "SELECT pg_create_logical_replication_slot('node2', 'pgoutput')" >/dev/null
report "CREATE SUBSCRIPTION node2 CONNECTION 'host=$second dbname=workflow' PUBLICATION workflow_report WITH (create_slot = false)"

for n in {1..20}; do on first query "$(begin_order "order-$n" "1 millisecond"); $(pay_order "order-$n")"; done >/dev/null
sees 20 "SELECT count(*) FROM inbox"
is_here="SELECT count(*) FROM inbox WHERE name = 'check' AND correlation_id LIKE 'order-%' AND definition_id = 'order'"
[ "$(report "$is_here")" = 20 ] || fail "the inbox has $(report "$is_here")"
[ "$(report "SELECT sub_status, count FROM running")" = "Suspended|20" ] || fail "running: $(report "SELECT * FROM running")"
echo "ok: the reporting database has the tasks of a node"

move 3 first second
finish_move first second
moved=$(on second query "SELECT count(*) FROM workflow.instances")
[ "$moved" -gt 0 ] || fail "nothing moved"
on second query "SET ROLE shop; SELECT count(*) FROM workflow.open_tasks AS t, wf_complete_task(t.task_id)" >/dev/null
sees $((20 - moved)) "SELECT count(*) FROM inbox"
sees "$moved" "SELECT count(*) FROM instance_list WHERE sub_status = 'Finished' AND finished_at IS NOT NULL"
sees 20 "SELECT count(*) FROM instance_list"
echo "ok: it follows a move, and answers on both nodes"

on second setting "workflow.retention = 0"
on second query "SET ROLE shop; SELECT wf_run_due()" >/dev/null
sees $((20 - moved)) "SELECT count(*) FROM workflow.instances"
sees $((20 - moved)) "SELECT count(*) FROM workflow.tasks"
echo "ok: what retention removes goes there, too"

report "CREATE EXTENSION postgres_fdw; CREATE SERVER node1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$first', port '$PGPORT', dbname 'workflow');
    CREATE SERVER node2 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$second', port '$PGPORT', dbname 'workflow');
    CREATE USER MAPPING FOR CURRENT_USER SERVER node1 OPTIONS (user 'postgres'); CREATE USER MAPPING FOR CURRENT_USER SERVER node2 OPTIONS (user 'postgres')"
on second psql -X -q -v ON_ERROR_STOP=1 -d report -f "$examples/union.sql"
[ "$(report "SELECT node, count(*) FROM all_instances WHERE definition_id = 'order' GROUP BY 1")" = "node1|$((20 - moved))" ] || fail "union: $(report "SELECT node, count(*) FROM all_instances GROUP BY 1")"
echo "ok: a view asks all nodes"
report "ALTER SUBSCRIPTION node1 DISABLE; ALTER SUBSCRIPTION node2 DISABLE"
