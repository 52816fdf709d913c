#!/usr/bin/env bash
# From PostgreSQL 17 on: the MAINTAIN privilege, and the role pg_maintain that has it on all tables. It gives access to no row, and no role
# has it unless an administrator grants it; a role that has it can rewrite the tables while calls use them, and can lock them.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

tables="SELECT c.oid::regclass FROM pg_class AS c WHERE c.relnamespace = 'workflow'::regnamespace AND c.relkind = 'r'"

query "CREATE ROLE keeper LOGIN; ALTER DEFAULT PRIVILEGES GRANT MAINTAIN ON TABLES TO keeper"
query "DROP EXTENSION workflow; CREATE EXTENSION workflow"
query "SELECT wf_define('{\"definitionId\": \"event\", \"root\": [{\"type\": \"Event\", \"eventName\": \"Go\"}]}')" >/dev/null
query "SELECT wf_start('event') FROM generate_series(1, 20)" >/dev/null
# security.md#default-access: no role has MAINTAIN, whatever default privileges there are
is 0 "SELECT count(*) FROM ($tables) AS t (id) WHERE has_table_privilege('keeper', id, 'MAINTAIN')"
echo "ok: default privileges give no MAINTAIN"

# security.md#rights-on-the-tables: MAINTAIN and pg_maintain give maintenance and LOCK TABLE, and no row
query "GRANT pg_maintain TO keeper"
export PGUSER=keeper
while read -r table; do
    query "ANALYZE $table; REINDEX TABLE $table"
    query "VACUUM (FULL) $table"
    query "REINDEX TABLE CONCURRENTLY $table"
    if query "SELECT FROM $table" 2>/dev/null; then fail "pg_maintain reads $table"; fi
    if query "TRUNCATE $table" 2>/dev/null; then fail "pg_maintain empties $table"; fi
    if query "ALTER TABLE $table DISABLE ROW LEVEL SECURITY" 2>/dev/null; then fail "pg_maintain alters $table"; fi
done < <(query "$tables")
query "CLUSTER workflow.instances USING instances_pkey"
PGUSER=postgres is 20 "SELECT cardinality(resumed) FROM wf_publish_event('Go')"
PGUSER=postgres is "Finished|20" "SELECT sub_status, count(*) FROM workflow.instances GROUP BY 1"
PGUSER=postgres holding workflow "SET ROLE keeper" BEGIN "LOCK TABLE workflow.instances"
if PGUSER=postgres PGOPTIONS="-c lock_timeout=100ms" query "SELECT wf_start('event')" 2>"$WORKFLOW_TMP/refused"; then fail "a call does not wait for LOCK TABLE"; fi
grep -q 'lock timeout' "$WORKFLOW_TMP/refused" || fail "$(cat "$WORKFLOW_TMP/refused")"
export PGUSER=postgres
let_go
is "" "SELECT * FROM wf_check()"
check_storage
echo "ok: pg_maintain maintains and locks, and neither reads nor writes"
