#!/usr/bin/env bash
# No role gets more rights through a background worker than it has: not by a database setting that makes sessions another role, not by a
# role that a user's SQL sets, not by anything that SQL leaves behind in the engine's own session.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"


# The checks here run as the superuser, whatever the database's settings are.
export PGOPTIONS="-c role=none"
query "CREATE ROLE dbo LOGIN"
query "CREATE ROLE low LOGIN"
query "SELECT wf_grant_usage('dbo'), wf_grant_usage('low')" >/dev/null
query "CREATE TABLE ran (what text, who text DEFAULT current_user, session text DEFAULT session_user)"
query "GRANT INSERT ON ran TO PUBLIC"
query "ALTER DATABASE $PGDATABASE OWNER TO dbo"

# define_as ROLE: reads definitions, one per line.
define_as() {
    local line
    while read -r line; do
        psql -X -q -At -v ON_ERROR_STOP=1 -v line="$line" >/dev/null <<SQL
SET SESSION AUTHORIZATION $1;
SELECT wf_define(:'line'::jsonb);
SQL
    done
}
start_as() { query "SET SESSION AUTHORIZATION $1; SET client_min_messages = error; SELECT wf_start('$2')" >/dev/null; }
status() { echo "SELECT sub_status FROM workflow.instances WHERE definition_id = '$1'"; }
superusers="SELECT string_agg(rolname, ' ') FROM pg_roles WHERE rolsuper"

# security.md#invoker-the-default: a worker's session is only one of the role that it was connected as
# Instances that run SQL while they are resumed; the timers that resume them run none, and are fired by the engine's own session.
define_as dbo <<'EOF'
{"definitionId": "climb", "root": [{"type": "Event", "eventName": "Climb"}, {"type": "Sql", "statement": "SELECT set_config('role', 'none', false)"}, {"type": "Sql", "statement": "INSERT INTO public.ran VALUES ('climb')"}, {"type": "Sql", "statement": "ALTER ROLE dbo SUPERUSER"}]}
{"definitionId": "wake", "root": [{"type": "Delay", "timeSpan": "00:00:00.1"}, {"type": "PublishEvent", "eventName": "Climb"}]}
EOF
start_as dbo climb
query "ALTER DATABASE $PGDATABASE SET role = 'dbo'"
setting "workflow.launch_workers = on" "workflow.worker_idle_timeout = '1h'"
start_as dbo wake
await Faulted "$(status climb)"
is postgres "$superusers"
is "climb|dbo|dbo" "SELECT * FROM ran"
echo "ok: the role of a database's setting is not the role of its workers"

query "TRUNCATE ran"
query "ALTER DATABASE $PGDATABASE RESET role"
query "ALTER DATABASE $PGDATABASE SET session_authorization = 'dbo'"
query "SELECT pg_terminate_backend(pid) FROM workflow.workers WHERE worker = 'executor'" >/dev/null
define_as dbo <<'EOF'
{"definitionId": "impersonate", "root": [{"type": "Event", "eventName": "Impersonate"}, {"type": "Sql", "statement": "INSERT INTO public.ran VALUES ('impersonate')"}, {"type": "Sql", "statement": "SET SESSION AUTHORIZATION postgres"}, {"type": "Sql", "statement": "ALTER ROLE dbo SUPERUSER"}]}
{"definitionId": "wake it", "root": [{"type": "Delay", "timeSpan": "00:00:00.1"}, {"type": "PublishEvent", "eventName": "Impersonate"}]}
EOF
start_as dbo impersonate
start_as dbo "wake it"
await Faulted "$(status impersonate)"
is postgres "$superusers"
is "impersonate|dbo|dbo" "SELECT * FROM ran"
query "ALTER DATABASE $PGDATABASE RESET session_authorization"
echo "ok: nor is its session authorization"

# security.md#invoker-the-default: the engine's own session is no owner's
# A superuser's SQL sets another role and leaves it set; SQL that runs later in that session could reset it.
query "TRUNCATE ran"
define_as postgres <<'EOF'
{"definitionId": "step down", "root": [{"type": "Delay", "timeSpan": "00:00:00.1"}, {"type": "Sql", "statement": "SET ROLE low"}, {"type": "PublishEvent", "eventName": "Down"}]}
{"definitionId": "reached", "root": [{"type": "Event", "eventName": "Up"}, {"type": "Sql", "statement": "SET ROLE low"}]}
{"definitionId": "reaching", "root": [{"type": "Delay", "timeSpan": "00:00:00.1"}, {"type": "PublishEvent", "eventName": "Up"}]}
EOF
define_as low <<'EOF'
{"definitionId": "down", "root": [{"type": "Event", "eventName": "Down"}, {"type": "Sql", "statement": "INSERT INTO public.ran VALUES ('down')"}, {"type": "Sql", "statement": "RESET ROLE"}, {"type": "Sql", "statement": "ALTER ROLE low SUPERUSER"}]}
{"definitionId": "later", "root": [{"type": "Event", "eventName": "Later"}, {"type": "Sql", "statement": "INSERT INTO public.ran VALUES ('later')"}, {"type": "Sql", "statement": "RESET ROLE"}, {"type": "Sql", "statement": "ALTER ROLE low SUPERUSER"}]}
{"definitionId": "wake later", "root": [{"type": "Delay", "timeSpan": "00:00:00.1"}, {"type": "PublishEvent", "eventName": "Later"}]}
EOF
# Roles that the superuser admits receive the events of its instances.
query "SELECT wf_grant_events('low')" >/dev/null
start_as low down
start_as low later
start_as postgres "step down"
await Faulted "$(status down)"
start_as postgres reached
start_as postgres reaching
await Finished "$(status reached)"
start_as low "wake later"
await Faulted "$(status later)"
is postgres "$superusers"
is "down|low|low
later|low|low" "SELECT * FROM ran"
echo "ok: a role that SQL takes in a worker's session is no other role's way up"

# SQL that runs with an owner's rights in the engine's own session leaves nothing there.
define_as low <<'EOF'
{"definitionId": "lock", "options": {"security": "definer"}, "root": [{"type": "Delay", "timeSpan": "00:00:00.1"}, {"type": "Sql", "statement": "SELECT pg_advisory_lock(815)"}]}
EOF
start_as low lock
await Finished "$(status lock)"
await 0 "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 815"
await t "SELECT count(*) > 0 FROM workflow.workers WHERE worker = 'executor' AND role IS NULL"
echo "ok: locks of a definer's SQL end with its fire"
