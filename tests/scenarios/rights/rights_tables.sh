#!/usr/bin/env bash
# Row-level security on the tables: a role that may read all data copies, dumps and replicates every row; a restore brings the policies
# back; and objects that an upgrade script creates get them as well, without what default privileges would add.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

ok() { echo "ok: $*"; }

tables() { query "SELECT relname FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND relkind = 'r' ORDER BY 1"; }

# contents DATABASE: everything, table by table, in a form that two databases can be compared by.
contents() {
    local name
    for name in $(tables); do
        echo "$name: $(query "SELECT count(*), md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM workflow.$name AS t" "$1")"
    done
}

query "CREATE ROLE reader LOGIN IN ROLE pg_read_all_data; CREATE ROLE keeper LOGIN BYPASSRLS IN ROLE pg_read_all_data;
       CREATE ROLE replicator LOGIN REPLICATION IN ROLE pg_read_all_data"
PGOPTIONS="-c client_min_messages=error" psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/fill.out" <<'SQL'
CREATE FUNCTION stamp(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Stamp', 'stamp(jsonb)');
SELECT wf_define('{"definitionId": "order", "root": [{"type": "RunTask", "taskName": "Check"}]}');
SELECT wf_define('{"definitionId": "broken", "root": [{"type": "Compensable"}, {"type": "Fault", "message": "no parcel"}]}');
SELECT wf_define('{"definitionId": "few", "options": {"maxConcurrency": {"max": 1}, "searchAttributes": {"word": {"input": "word"}}}, "root": [{"type": "Event", "eventName": "Never"}]}');
SELECT wf_pause(wf_start('few', '{"word": "ahem"}'));
SELECT wf_limit_tasks('Check', 1);
SELECT wf_grant_worker('reader', '{Check}');
SELECT wf_grant('order', 'reader', '{start}');
SELECT wf_grant_events('reader');
SELECT wf_grant_path('orders', 'reader');
INSERT INTO workflow.invoker_grants SELECT min(id), max(id) FROM workflow.owners;
INSERT INTO workflow.accepted_owners SELECT min(id), max(id), false FROM workflow.owners;
INSERT INTO workflow.substitutes SELECT 'ada', 'ben', min(id), true, now(), now() + interval '1 day' FROM workflow.owners;
SELECT wf_start('order', '{"secret": "ahem"}') FROM generate_series(1, 3);
SELECT wf_claim_tasks('{Check}');
SELECT wf_start('broken');
ALTER DATABASE workflow SET workflow.testing = on;
SET workflow.now = '2030-01-01 08:00:00+00';
SELECT wf_publish_event('Nobody', keep_for => '1 minute');
SET workflow.now = '2030-01-01 08:02:00+00';
SELECT wf_run_due();
SELECT wf_publish_event('Later', keep_for => '30 days');
SELECT wf_call('o1', 'm1', 'event', 'Nobody');
SELECT wf_define('{"definitionId": "later", "root": [
    {"type": "HttpEndpoint", "path": "later", "canStartWorkflow": true}, {"type": "Event", "eventName": "Never"}]}');
SELECT wf_begin_http_request('01a00000-0000-7000-8000-000000000001', 'server', 'GET', '/later');
SELECT wf_add_partitions('{0}', 2);
CREATE FUNCTION people(person text) RETURNS TABLE (name text, mail text, zone text, language text, manager text) STABLE LANGUAGE sql
    AS 'SELECT NULL, NULL, NULL, NULL, NULL';
SELECT wf_set_directory('people(text)');
SELECT wf_schedule('yearly', '0 0 1 1 *', 'SELECT 1');
SQL
# security.md#rights-on-the-tables: COPY by a member of pg_read_all_data gives every row
for name in $(tables); do
    # The cursor of wf_take_spans is in no dump.
    case $name in schema_* | pending_usage | imports | span_cursor) continue ;; esac
    is t "SELECT count(*) > 0 FROM workflow.$name"
    # Without a column list COPY omits generated columns, except if a policy turns it into a query.
    columns=$(query "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'workflow.$name'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''")
    diff <(query "COPY workflow.$name ($columns) TO STDOUT") <(PGUSER=reader query "COPY workflow.$name ($columns) TO STDOUT") || fail "COPY of $name by a reader"
done
ok "COPY by a member of pg_read_all_data gives every row"

# security.md#rights-on-the-tables: such a role dumps with --enable-row-security or BYPASSRLS, and without either gets an error
said=$(PGUSER=reader pg_dump -f /dev/null "$PGDATABASE" 2>&1) && fail "pg_dump by a reader noticed nothing"
[[ $said == *"would be affected by row-level security policy"* ]] || fail "pg_dump by a reader said: $said"
PGUSER=reader pg_dump --enable-row-security -f "$WORKFLOW_TMP/reader.sql" "$PGDATABASE"
PGUSER=keeper pg_dump -f "$WORKFLOW_TMP/keeper.sql" "$PGDATABASE"
contents "$PGDATABASE" >"$WORKFLOW_TMP/before"
for who in reader keeper; do
    query "CREATE DATABASE restored" postgres
    psql -X -q -v ON_ERROR_STOP=1 -d restored -f "$WORKFLOW_TMP/$who.sql" >"$WORKFLOW_TMP/restore.out" 2>&1 ||
        fail "restore of what $who dumped: $(tail -n 5 "$WORKFLOW_TMP/restore.out")"
    contents restored | diff "$WORKFLOW_TMP/before" - || fail "what $who dumped is not what there was"
    [ "$(query "SELECT * FROM wf_check()" restored)" = "role that bypasses row-level security|keeper" ] || fail "wf_check of what $who dumped"
    unused restored
    query "DROP DATABASE restored" postgres
done
query "DROP ROLE keeper"
ok "pg_dump by such a role has every row, with --enable-row-security or BYPASSRLS; a restore has row-level security again"

# security.md#rights-on-the-tables: a subscription that connects as such a role gets every row
query "CREATE DATABASE subscriber" postgres
query "CREATE EXTENSION workflow" subscriber
query "ALTER SYSTEM SET wal_level = logical"
stop_server
start_server
query "CREATE PUBLICATION everything FOR ALL TABLES"
query "SELECT pg_create_logical_replication_slot('follow', 'pgoutput')" >/dev/null
query "CREATE SUBSCRIPTION follow CONNECTION 'host=$PGHOST dbname=$PGDATABASE user=replicator' PUBLICATION everything
       WITH (create_slot = false, slot_name = 'follow')" subscriber
await 0 "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'" subscriber
[ "$(query "SELECT count(*) FROM pg_subscription_rel" subscriber)" = "$(tables | wc -l)" ] || fail "not every table is followed"
contents subscriber | diff "$WORKFLOW_TMP/before" - || fail "the first copy is not what there was"
ok "the first copy of a subscription to all tables has every row"

# caught_up: waits until everything written by the publisher is applied.
caught_up() { await t "SELECT confirmed_flush_lsn >= '$(query "SELECT pg_current_wal_insert_lsn()")' FROM pg_replication_slots WHERE slot_name = 'follow'"; }

# Updates and deletes rows of every table.
PGOPTIONS="-c client_min_messages=error" psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/change.out" <<'SQL'
SELECT wf_adopt_database();
SELECT wf_complete_task(task_id) FROM (SELECT task_id FROM workflow.open_tasks LIMIT 1) AS t;
SELECT wf_unpause(instance_id) FROM workflow.instance_list WHERE paused_at IS NOT NULL;
SELECT wf_delete_instance(instance) FROM (SELECT instance FROM workflow.waiting LIMIT 1) AS w;
SELECT wf_retry(instance_id) FROM workflow.open_incidents;
SELECT wf_replay(dead_letter_id) FROM workflow.dead_letter_list;
SELECT wf_revoke('order', 'reader', '{start}');
SELECT wf_alter_schedule('yearly', active => false);
SELECT wf_unschedule('yearly');
SELECT wf_define('{"definitionId": "order", "root": []}');
SELECT wf_delete_definition('broken') FROM (SELECT wf_delete_instance(instance_id, force => true) FROM workflow.instance_list WHERE definition_id = 'broken' OFFSET 0) AS d;
BEGIN;
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('UPDATE workflow.%1$I SET %2$I = %2$I', name, (SELECT attname FROM pg_attribute
            WHERE attrelid = format('workflow.%I', name)::regclass AND attnum > 0 AND attidentity = '' AND NOT attisdropped ORDER BY attnum LIMIT 1));
        EXECUTE format('DELETE FROM workflow.%I', name);
    END LOOP;
END $$;
ROLLBACK;
SQL
caught_up
contents "$PGDATABASE" >"$WORKFLOW_TMP/after"
diff -q "$WORKFLOW_TMP/before" "$WORKFLOW_TMP/after" >/dev/null && fail "nothing has changed"
contents subscriber | diff "$WORKFLOW_TMP/after" - || fail "the subscriber does not follow"
query "DROP SUBSCRIPTION follow" subscriber 2>/dev/null
query "DROP PUBLICATION everything"
unused subscriber
query "DROP DATABASE subscriber" postgres
ok "every table can be changed under such a publication, adoption included, and the subscriber follows"

# security.md#default-access: an update gives no rights on tables either, whatever default privileges there are
# A simulated upgrade script: it creates an object of each kind and ends as the install script does.
extension=$(pg_config --sharedir)/extension
version=$(query "SELECT extversion FROM pg_extension WHERE extname = 'workflow'")
script=$extension/workflow--$version--later.sql
trap 'rm -f "$script"' EXIT
cat >"$script" <<'SQL'
CREATE TABLE workflow.later (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE VIEW workflow.later_list AS SELECT count(*) FROM workflow.later;
CREATE TYPE workflow.later_type AS (id bigint);
CREATE FUNCTION workflow.later() RETURNS integer LANGUAGE sql RETURN 1;
CALL workflow._set_rights();
SQL
query "CREATE ROLE app; CREATE ROLE stray; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO stray; ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO stray;
       ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO stray; ALTER DEFAULT PRIVILEGES GRANT ALL ON TYPES TO stray"
query "SELECT wf_grant_usage('app'); GRANT SELECT ON workflow.grants TO app; REVOKE SELECT ON workflow.workers FROM PUBLIC" >/dev/null
rights="SELECT target, part, held FROM workflow._objects() WHERE target !~ 'later' ORDER BY 1, 2"
# The initial privileges, which pg_dump compares with to dump only manual grants.
initial="SELECT target, part, initial FROM workflow._objects() WHERE target !~ 'later' ORDER BY 1, 2"
query "$rights" >"$WORKFLOW_TMP/rights"
query "$initial" >"$WORKFLOW_TMP/initial"
query "ALTER EXTENSION workflow UPDATE TO later"
query "$rights" | diff "$WORKFLOW_TMP/rights" - || fail "the update changed rights on what there was"
query "$initial" | diff "$WORKFLOW_TMP/initial" - || fail "the update changed what pg_dump compares with"
is "ROUTINE workflow.later()|
SEQUENCE workflow.later_id_seq|
TABLE workflow.later|
TABLE workflow.later_list|
TYPE workflow.later_type|" "SELECT target, string_agg(a.privilege_type, ' ') FROM workflow._objects() o LEFT JOIN LATERAL (
    SELECT * FROM aclexplode(held) WHERE grantee <> owner) AS a ON true WHERE target ~ 'later' GROUP BY 1 ORDER BY 1"
is "" "SELECT * FROM wf_check()"
query "DROP OWNED BY app, stray; DROP ROLE app, stray"
ok "an upgrade script ends with the same rights, and leaves what was granted by hand"
