#!/usr/bin/env bash
# Slow work of one owner does not delay the timers of others, whether it is SQL or a script, and however much of it is due.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

query "CREATE ROLE slow LOGIN"
query "CREATE ROLE other LOGIN"
query "SELECT wf_grant_usage('slow'), wf_grant_usage('other')" >/dev/null
time_books

# as ROLE COMMAND: printed is nothing.
as() { psql -X -q -v ON_ERROR_STOP=1 -c "SET SESSION AUTHORIZATION $1" -c "SET client_min_messages = error" -c "$2" >>"$WORKFLOW_TMP/as.out"; }
own=$(cat <<'SQL'
SELECT wf_define('{"definitionId": "of other", "root": [{"type": "Delay", "timeSpan": "00:00:00.1"}, {"type": "SetName", "value": "fired"}]}')
SQL
)
as other "$own"
as slow "SELECT wf_define('{\"definitionId\": \"sql\", \"root\": [
    {\"type\": \"Delay\", \"timeSpan\": \"00:00:00.1\"}, {\"type\": \"Sql\", \"statement\": \"SELECT public.gate()\"}]}')"
as slow "SELECT wf_define('{\"definitionId\": \"script\", \"variables\": {\"V\": null}, \"root\": [
    {\"type\": \"Delay\", \"timeSpan\": \"00:00:00.1\"},
    {\"type\": \"While\", \"condition\": true, \"body\":
        {\"type\": \"SetVariable\", \"variable\": \"V\", \"value\": {\"js\": \"for (let i = 0; i < 1e7; i++); 1\"}}}]}')"

firing="SELECT count(*) FROM workflow.workers WHERE worker = 'executor' AND state = 'firing'"
fired="SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'of other' AND status = 'Finished'"

# No fire of `other` may count as long, however slow the machine is, and no script may run into its limit.
setting "workflow.long_fire = '1h'" "workflow.javascript_timeout = '1h'" "workflow.launch_workers = on"
as slow "SELECT wf_start('sql') FROM generate_series(1, 500)"
await 3 "$firing"
as other "SELECT wf_start('of other') FROM generate_series(1, 5)"
await 5 "$fired"
is 3 "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'workflow executor' AND usename = 'slow' AND state = 'active'"
echo "ok: one owner's SQL takes all executors but one, however much is due"
query "UPDATE gate SET is_open = true"
await 500 "SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'sql' AND status = 'Finished'"
echo "ok: all of that fires when it can"

# In the engine's own sessions, next to work of others that is due at the same time.
as slow "SELECT wf_start('script') FROM generate_series(1, 10)" &
as other "SELECT wf_start('of other') FROM generate_series(1, 50)"
wait
await 55 "$fired"
await 3 "$firing"
as other "SELECT wf_start('of other') FROM generate_series(1, 5)"
await 60 "$fired"
is "0" "SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'script' AND status <> 'Running'"
echo "ok: neither do its scripts in the engine's own sessions"
setting "workflow.enabled = off"
query "SELECT count(pg_terminate_backend(pid, 10000)) FROM workflow.workers WHERE worker = 'executor'" >/dev/null
as slow "SELECT wf_cancel(instance_id) FROM workflow.instance_list WHERE definition_id = 'script'"

# Several roles with slow fires share an executor, as soon as they are known to be slow.
query "SELECT count(pg_terminate_backend(pid, 10000)) FROM workflow.workers WHERE worker = 'executor'" >/dev/null
as slow "SELECT wf_define('{\"definitionId\": \"short\", \"root\": [{\"type\": \"Delay\", \"timeSpan\": \"00:00:00.1\"}]}')"
setting "workflow.long_fire = '100ms'" "workflow.enabled = on"
for role in slow2 slow3; do
    query "CREATE ROLE $role LOGIN"
    query "SELECT wf_grant_usage('$role')" >/dev/null
    as "$role" "SELECT wf_define('{\"definitionId\": \"sql $role\", \"root\": [
        {\"type\": \"Delay\", \"timeSpan\": \"00:00:00.1\"}, {\"type\": \"Sql\", \"statement\": \"SELECT public.gate()\"}]}')"
    query "UPDATE gate SET is_open = false"
    as "$role" "SELECT wf_start('sql $role')"
    await 1 "$firing"
    # It is recognized as slow when an executor is given other work.
    before=$(query "SELECT clock_timestamp()")
    await t "SELECT clock_timestamp() > '$before'::timestamptz + interval '100 ms'"
    as slow "SELECT wf_start('short')"
    query "UPDATE gate SET is_open = true"
    await 0 "SELECT count(*) FROM workflow.instance_list WHERE status = 'Running' AND definition_id IN ('sql $role', 'short')"
done
setting "workflow.long_fire = '1h'"
# The scheduler has seen that when it has had other work.
as slow "SELECT wf_start('short')"
await 0 "SELECT count(*) FROM workflow.instance_list WHERE status = 'Running' AND definition_id = 'short'"
query "UPDATE gate SET is_open = false"
as slow2 "SELECT count(wf_start('sql slow2')) FROM generate_series(1, 10)"
as slow3 "SELECT count(wf_start('sql slow3')) FROM generate_series(1, 10)"
await 3 "$firing"
fired_before=$(query "$fired")
as other "SELECT wf_start('of other') FROM generate_series(1, 5)"
await $((fired_before + 5)) "$fired"
is 3 "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'workflow executor' AND usename LIKE 'slow_' AND state = 'active'"
query "UPDATE gate SET is_open = true"
await 22 "SELECT count(*) FROM workflow.instance_list WHERE definition_id LIKE 'sql slow_' AND status = 'Finished'"
echo "ok: several roles whose fires are long leave an executor together"
setting "workflow.long_fire = '1s'" "workflow.enabled = off"

# The scheduler copies the input of an instance that a schedule starts.
as slow "SELECT wf_define('{\"definitionId\": \"large\", \"root\": []}')"
as slow "SELECT wf_schedule_workflow('large ' || n, '1 second', 'large', input)
    FROM generate_series(1, 10) AS n, (SELECT jsonb_build_object('x', jsonb_agg(i)) AS input FROM generate_series(1, 400000) AS i) AS large"
as other "SELECT wf_schedule_workflow('small', '1 second', 'of other')"
await 11 "SELECT count(*) FROM workflow.schedules WHERE next_run < now()"
setting "workflow.enabled = on"
await t "SELECT count(*) >= 3 FROM workflow.instances WHERE schedule_id = (SELECT schedule_id FROM workflow.schedules WHERE name = 'small')"
# All fires of one pass have the same time.
is t "SELECT max(n) BETWEEN 1 AND 9 FROM (SELECT count(*) AS n FROM workflow.instances WHERE definition_id = 'large' GROUP BY created_at) AS looks"
echo "ok: nor do schedules that it takes long to fire"
