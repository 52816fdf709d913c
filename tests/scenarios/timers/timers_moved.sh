#!/usr/bin/env bash
# A timer is due and waits for an executor, as a fire without users' SQL. Meanwhile its instance is migrated to a version with SQL of the
# caller's rights: the executor that gets the fire leaves it to a session of the owner, and no attempt counts as failed.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

time_books
query "CREATE ROLE ann LOGIN"
query "SELECT wf_grant_usage('ann')" >/dev/null
setting "workflow.launch_workers = on" "workflow.max_executors = 1"

# as_ann COMMAND
as_ann() { PGUSER=ann query "SET client_min_messages = error; $1"; }
wait='{"id": "wait", "type": "Delay", "timeSpan": "1 ms"}'
sql='{"id": "note", "type": "Sql", "statement": "INSERT INTO public.happened VALUES (($1 #>> '"''{}''"')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}'

# The only executor is busy.
start 1 held "1 ms"
await 1 "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND backend_type = 'workflow executor'"

# The scheduler has read the timer: it waits for an executor of the engine itself.
as_ann "SELECT wf_define('{\"definitionId\": \"moves\", \"root\": [$wait]}'); SELECT wf_start('moves')" >/dev/null
await t "SELECT oldest_due IS NOT NULL FROM workflow.workers WHERE worker = 'scheduler' AND database = current_database()"
as_ann "SELECT wf_define('{\"definitionId\": \"moves\", \"root\": [$wait, $sql]}')" >/dev/null
[ "$(as_ann "SELECT severity FROM workflow.instance_list AS i, wf_migrate(i.instance_id) WHERE i.definition_id = 'moves' AND severity = 'error'")" = "" ] || fail "it is not migrated"
query "UPDATE public.gate SET is_open = true"

await "ann|ann" "SELECT owner, session FROM happened WHERE owner = 'ann'"
is "0" "SELECT failed FROM workflow.workers WHERE worker = 'scheduler' AND database = current_database()"
is "" "SELECT * FROM wf_check()"
echo "ok: a fire whose instance needs another session since is left to that session, and is not counted as failed"
