#!/usr/bin/env bash
# SQL that a background worker runs resolves names under the search path with which the workflow was defined, because there is no caller. It
# makes no difference whether the worker's session is the owner's, or runs with the rights of an owner who may not log in.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 <<'SQL' >/dev/null
CREATE ROLE app LOGIN;
ALTER ROLE app SET search_path = other;
CREATE ROLE deploy;
SELECT wf_grant_usage('app'), wf_grant_usage('deploy');
CREATE SCHEMA shop;
CREATE SCHEMA other;
CREATE SCHEMA open;
GRANT USAGE ON SCHEMA shop, other, open TO PUBLIC;
GRANT CREATE ON SCHEMA open TO PUBLIC;
CREATE TABLE shop.found AS SELECT 'shop' AS it;
CREATE TABLE other.found AS SELECT 'other' AS it;
CREATE TABLE open.found AS SELECT 'a trap' AS it;
GRANT SELECT ON shop.found, other.found, open.found TO PUBLIC;
SQL
setting "workflow.launch_workers = on"

# found ROLE NAME OPTIONS PATH: the object that a worker finds for an instance that this role has defined and started under this path.
found() {
    local instance
    instance=$(psql -X -q -At -v ON_ERROR_STOP=1 2>>"$WORKFLOW_TMP/notices" <<SQL
SET SESSION AUTHORIZATION $1;
SET search_path = $4;
SELECT public.wf_define('{"definitionId": "$2", "options": $3, "root": [
    {"id": "d", "type": "Delay", "timeSpan": "00:00:00.1"},
    {"id": "s", "type": "SetOutput", "outputName": "it", "outputValue": {"sql": "SELECT it FROM found"}}]}') IS NULL;
SELECT public.wf_start('$2');
SQL
    )
    instance=${instance##*$'\n'}
    await t "SELECT status = 'Finished' FROM workflow.instances WHERE id = '$instance'"
    query "SELECT coalesce(output ->> 'it', (SELECT n.message || ' / ' || n.hint FROM workflow.incidents n WHERE n.instance_id = i.id))
             FROM workflow.instances i WHERE i.id = '$instance'"
}

# expect VALUE ROLE NAME OPTIONS PATH
expect() {
    local got
    got=$(found "${@:2}")
    [ "$got" = "$1" ] || fail "expected '$1', got '$got' for ${*:2}"
}

# security.md#where-names-are-looked-up: a worker looks names up where the workflow was defined
for role in app deploy; do
    expect shop $role "one $role" '{}' 'shop, public'
    expect shop $role "two $role" '{}' '"$user", open, shop, public'
    expect other $role "three $role" '{"searchPath": ["other"]}' 'shop, public'
    # The same content from another path is the same version, and every session uses the new path.
    expect other $role "one $role" '{}' 'other, public'
done
grep -q 'does not look in schema "open"' "$WORKFLOW_TMP/notices" || fail "no warning: $(cat "$WORKFLOW_TMP/notices")"
echo "ok: names mean in a worker what they meant where the workflow was defined"

# With "caller", the path is that of the worker's session: the role's setting, or none if the role has no session.
expect other app "callers app" '{"searchPath": "caller"}' 'shop, public'
expect 'relation "found" does not exist / Names were looked up in pg_catalog, pg_temp, as role "deploy". To look elsewhere, set options.searchPath.' \
    deploy "callers deploy" '{"searchPath": "caller"}' 'shop, public'
expect 'relation "found" does not exist / Names were looked up in public, pg_temp, as role "app". To look elsewhere, set options.searchPath.' \
    app "lost" '{}' 'open, public'
echo "ok: what is not found says where it was looked up"
