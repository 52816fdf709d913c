#!/usr/bin/env bash
# Who owns what after a dump, a pg_upgrade and a failover to a logical replica. Roles are renamed and dropped, and others get their names:
# nothing may become the property of a namesake. Covered: each way in which the rows reach another server (dump, replica, pg_upgrade), with
# each change of a role before it (renamed, dropped, its name reused). No role may get a definition, an instance or an id by a name.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

first=$PGHOST
PGDATA_FIRST=$PGDATA

# server NAME SETTING...: starts another cluster; PGHOST and PGDATA refer to it from then on.
server() {
    local directory=$WORKFLOW_TMP/$1
    shift
    mkdir "$directory"
    initdb -D "$directory/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N >/dev/null
    cat "$PGDATA/postgresql.conf" >>"$directory/data/postgresql.conf"
    export PGHOST=$directory PGDATA=$directory/data
    printf '%s\n' "unix_socket_directories = '$directory'" "$@" >>"$PGDATA/postgresql.conf"
    start_server
}

# as ROLE COMMAND [DATABASE]: what the role sees. It may call the functions.
as() { query "SET ROLE $1; $2" "${3:-}"; }
sees() { # EXPECTED ROLE [DATABASE]
    local got
    got=$(as "$2" "SELECT coalesce(string_agg(DISTINCT definition_id, ',' ORDER BY definition_id), '-') FROM workflow.definition_list" "${3:-}")
    got+=" $(as "$2" "SELECT coalesce(string_agg(DISTINCT input ->> 'secret', ',' ORDER BY input ->> 'secret'), '-') FROM workflow.instance_list" "${3:-}")"
    [ "$got" = "$1" ] || fail "$2 sees '$got' and not '$1'"
}

# Carol is renamed and Dave is dropped after their last call, and others get their names. Erin is unchanged, Frank takes a name and gives it
# up again.
query "ALTER SYSTEM SET wal_level = logical" postgres
stop_server
start_server
for role in carol dave erin; do
    query "CREATE ROLE $role LOGIN" >/dev/null
    query "SELECT wf_grant_usage('$role')" >/dev/null
    as $role "SELECT wf_define('{\"definitionId\": \"of_$role\", \"options\": {\"security\": \"definer\"}, \"root\": [{\"type\": \"Event\", \"eventName\": \"Go\"}]}'),
        wf_start('of_$role', '{\"secret\": \"$role\"}')" >/dev/null
done
query "ALTER ROLE carol RENAME TO caroline; DROP OWNED BY dave; DROP ROLE dave; CREATE ROLE carol LOGIN; CREATE ROLE dave LOGIN"
query "SELECT wf_grant_usage('carol'), wf_grant_usage('dave')" >/dev/null
sees "- -" carol
sees "- -" dave
sees "of_carol carol" caroline
pg_dump -f "$WORKFLOW_TMP/dump.sql" workflow

# security.md#renamed-and-dropped-roles: inside one cluster the oid decides
# In the cluster where the dump was made OIDs decide.
query "CREATE DATABASE again" postgres
psql -X -q -v ON_ERROR_STOP=1 -d again -f "$WORKFLOW_TMP/dump.sql" >"$WORKFLOW_TMP/again.out" 2>&1 || fail "$(tail -n 5 "$WORKFLOW_TMP/again.out")"
sees "- -" carol again
sees "- -" dave again
sees "of_carol carol" caroline again
sees "of_erin erin" erin again
echo "ok: a dump that is restored where it was made goes by oid"

# security.md#renamed-and-dropped-roles: in another cluster the name of the dump decides, and an owner that was gone is no role there
# In another cluster the names at the time of the dump decide.
server second
query "CREATE ROLE other; CREATE ROLE carol LOGIN; CREATE ROLE dave LOGIN; CREATE ROLE erin LOGIN; CREATE ROLE caroline LOGIN" postgres
query "CREATE DATABASE workflow" postgres
psql -X -q -v ON_ERROR_STOP=1 -d workflow -f "$WORKFLOW_TMP/dump.sql" >"$WORKFLOW_TMP/second.out" 2>&1 || fail "$(tail -n 5 "$WORKFLOW_TMP/second.out")"
for role in carol caroline dave erin; do query "SELECT wf_grant_usage('$role')" >/dev/null; done
sees "- -" carol
sees "- -" dave
sees "of_carol carol" caroline
sees "of_erin erin" erin
if as carol "SELECT wf_define('{\"definitionId\": \"of_carol\", \"root\": []}')" >/dev/null 2>&1; then fail "a namesake defines another's workflow anew"; fi
if as dave "SELECT wf_define('{\"definitionId\": \"of_dave\", \"root\": []}')" >/dev/null 2>&1; then fail "a namesake defines another's workflow anew"; fi
echo "ok: one that is restored elsewhere goes by the names of that moment; a role that was gone then is nobody"

stop_server
export PGHOST=$first PGDATA=$PGDATA_FIRST

# security.md#renamed-and-dropped-roles: on a logical replica the replicated name decides
# A logical replica has the rows, but not the state of sequences. The changes arrive in binary form.
PGHOST=$first query "CREATE PUBLICATION everything FOR ALL TABLES"
export PGDATA=$PGDATA_FIRST
server replica
query "CREATE ROLE erin LOGIN; CREATE ROLE caroline LOGIN; CREATE ROLE carol LOGIN; CREATE ROLE dave LOGIN; CREATE ROLE newcomer LOGIN" postgres
query "CREATE DATABASE workflow" postgres
query "CREATE EXTENSION workflow"
query "CREATE SUBSCRIPTION everything CONNECTION 'host=$first port=$PGPORT user=postgres dbname=workflow' PUBLICATION everything WITH (binary = true)" 2>/dev/null
await 0 "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'"
is 3 "SELECT count(*) FROM workflow.definitions"
PGHOST=$first query "CREATE ROLE heidi LOGIN"
PGHOST=$first query "SELECT wf_grant_usage('heidi')" >/dev/null
PGHOST=$first as heidi "SELECT wf_define('{\"definitionId\": \"of_heidi\", \"root\": []}')" >/dev/null
await 4 "SELECT count(*) FROM workflow.definitions"
query "ALTER SUBSCRIPTION everything DISABLE; ALTER SUBSCRIPTION everything SET (slot_name = NONE); DROP SUBSCRIPTION everything"
query "CREATE ROLE heidi LOGIN"
for role in carol caroline dave erin heidi; do query "GRANT USAGE ON SCHEMA public TO $role" >/dev/null; done
sees "- -" carol
sees "- -" dave
sees "of_carol carol" caroline
sees "of_heidi -" heidi
query "SELECT wf_adopt_database()" >/dev/null
query "SELECT wf_grant_usage('newcomer')" >/dev/null
is t "SET ROLE newcomer; SELECT wf_define('{\"definitionId\": \"of_newcomer\", \"root\": []}') IS NOT NULL"
is "" "SELECT * FROM wf_check()"
check_storage
echo "ok: a logical replica knows its owners, and after adoption has ids for new ones"
stop_server
export PGHOST=$first PGDATA=$PGDATA_FIRST

# security.md#renamed-and-dropped-roles: after pg_upgrade the oid decides
# pg_upgrade keeps OIDs, and copies the tables unchanged: the stored name is still carol.
# The replica may have left only just now.
await 0 "SELECT count(*) FROM pg_replication_slots WHERE active"
query "DROP PUBLICATION everything; SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots" >/dev/null
unused again
query "DROP DATABASE again" postgres
query "DROP DATABASE IF EXISTS workflow_template" postgres
query "ALTER SYSTEM RESET wal_level" postgres
stop_server
new=$WORKFLOW_TMP/new
initdb -D "$new" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -N >/dev/null
cat "$PGDATA/postgresql.conf" >>"$new/postgresql.conf"
(cd "$WORKFLOW_TMP" && pg_upgrade -b "$PGBIN" -B "$PGBIN" -d "$PGDATA" -D "$new" -U postgres -s "$WORKFLOW_TMP" >"$WORKFLOW_TMP/upgrade.out" 2>&1) ||
    fail "$(tail -n 30 "$WORKFLOW_TMP/upgrade.out")"
export PGDATA=$new
start_server
sees "- -" carol
sees "- -" dave
sees "of_carol carol" caroline
sees "of_erin erin" erin
echo "ok: after pg_upgrade owners are who they were"
is "" "SELECT * FROM wf_check()"

# A dump of the cluster after its upgrade contains the roles' current names as well, and wf_adopt_database decides what names cannot: here a
# role that was dropped, and two owners for one role.
query "ALTER ROLE erin RENAME TO erica"
pg_dump -f "$WORKFLOW_TMP/dump2.sql" workflow
stop_server
server third
# A dump also restores the rights that roles had on functions.
for role in carol caroline dave erica heidi heir; do query "CREATE ROLE $role LOGIN" postgres; done
query "CREATE DATABASE workflow" postgres
psql -X -q -v ON_ERROR_STOP=1 -d workflow -f "$WORKFLOW_TMP/dump2.sql" >"$WORKFLOW_TMP/third.out" 2>&1 || fail "$(tail -n 5 "$WORKFLOW_TMP/third.out")"
gone=$(query "SELECT owner FROM wf_adopt_database(dry_run => true) WHERE owner LIKE '%:%' AND instances = 1")
[ -n "$gone" ] || fail "the owner without a name is not listed"
is "caroline|caroline|1
erica|erica|1" "SELECT owner, role, instances FROM wf_adopt_database(dry_run => true) WHERE owner IN ('caroline', 'erica') ORDER BY 1"
is "" "SELECT owner FROM wf_adopt_database(dry_run => true, owners => '{\"$gone\": \"heir\"}') WHERE owner = '$gone' AND role IS DISTINCT FROM 'heir'"
query "SELECT wf_adopt_database(owners => '{\"$gone\": \"heir\", \"caroline\": \"heir\"}')" >/dev/null
query "SELECT wf_grant_usage('heir'), wf_grant_usage('caroline'), wf_grant_usage('erica')" >/dev/null
sees "of_carol,of_dave carol,dave" heir
sees "- -" caroline
sees "of_erin erin" erica
is t "SET ROLE heir; SELECT wf_define('{\"definitionId\": \"of_carol\", \"root\": []}') IS NOT NULL"
is "" "SELECT * FROM wf_check()"
query "DROP OWNED BY caroline; DROP ROLE caroline; ALTER ROLE heir RENAME TO caroline"
sees "of_carol,of_dave carol,dave" caroline
check_storage
echo "ok: wf_adopt_database says whose things are whose"
stop_server
