#!/usr/bin/env bash
# Gives each of two tenants a database on a separate node, and starts PgBouncer in front of them: the name of the database is the tenant.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
pgbouncer=${PGBOUNCER:-pgbouncer}
tenants=("acme node1" "bravo node2")

directory=$SCALE_DIR/pgbouncer
mkdir "$directory"
cat >"$directory/pgbouncer.ini" <<INI
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $directory
auth_type = any
pool_mode = transaction
logfile = $directory/log
pidfile = $directory/pid

[databases]
INI
for one in "${tenants[@]}"; do
    read -r tenant node <<<"$one"
    ask "$node" "CREATE DATABASE $tenant" postgres
    run "$node" -d "$tenant" <<SQL
CREATE EXTENSION workflow;
CREATE FUNCTION is_here(key text) RETURNS boolean LANGUAGE sql RETURN split_part(key, '/', 1) = current_database();
ALTER DATABASE $tenant SET workflow.route_check = 'public.is_here';
SQL
    run "$node" -d "$tenant" -f "$here/shop.sql" >/dev/null
    echo "$tenant = host=$SCALE_DIR/$node port=$PGPORT dbname=$tenant user=shop" >>"$directory/pgbouncer.ini"
done
"$pgbouncer" -q -d "$directory/pgbouncer.ini"
# As a daemon it returns before it listens.
PGPORT=6432 PGUSER=shop await pgbouncer 1 "SELECT 1" acme
say "psql -h $directory -p 6432 -U shop acme: SELECT begin_order('acme/1', 'begin')"
