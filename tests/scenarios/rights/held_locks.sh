#!/usr/bin/env bash
# A role with no right except usage holds every lock that it can take, in transactions that stay open. The timers, claims, limits, events
# and deliveries of others continue, and so do its own that do not need the held rows.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# A call that waits for one of these locks fails instead of hanging. No call of this test waits for any other lock.
export PGOPTIONS="-c lock_timeout=5min"

psql -X -q -v ON_ERROR_STOP=1 >"$WORKFLOW_TMP/setup.out" <<'SQL'
SET client_min_messages = error;
CREATE ROLE eve LOGIN;
CREATE ROLE eve2 LOGIN;
CREATE ROLE joe LOGIN;
GRANT eve2 TO eve;
SELECT wf_grant_usage(r) FROM unnest('{eve,eve2,joe}'::name[]) AS r;
CREATE FUNCTION public.books(prefix text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY[
        '{"definitionId": "timed", "root": [{"type": "Delay", "timeSpan": "300 milliseconds"}, {"id": "work", "type": "RunTask", "taskName": "Work"}]}',
        '{"definitionId": "work", "root": {"id": "work", "type": "RunTask", "taskName": "Work"}}',
        '{"definitionId": "waits", "root": {"type": "Event", "eventName": "Go"}}',
        '{"definitionId": "spare", "root": {"type": "Event", "eventName": "Spare"}}',
        '{"definitionId": "one", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "One"}}',
        '{"definitionId": "alone", "options": {"activationStrategy": "CorrelatedSingleton"}, "root": {"type": "Event", "eventName": "Alone"}}']
    LOOP
        PERFORM wf_define(jsonb_set(one::jsonb, '{definitionId}', to_jsonb(prefix || (one::jsonb ->> 'definitionId'))));
    END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION public.books TO PUBLIC;
CREATE FUNCTION public.eve_does(context jsonb) RETURNS jsonb LANGUAGE sql RETURN '{}'::jsonb;
ALTER FUNCTION public.eve_does OWNER TO eve;
SET SESSION AUTHORIZATION joe;
SELECT public.books('joe ');
SELECT wf_limit_tasks('Work', 20), wf_limit_tasks('Other', 20);
SELECT count(wf_start('joe work')) FROM generate_series(1, 5);
SET SESSION AUTHORIZATION eve;
SELECT public.books('eve ');
SELECT wf_limit_tasks('Other', 20);
SELECT count(wf_start('eve work')) FROM generate_series(1, 5);
SELECT wf_start('eve waits', correlation_id => 'paused');
SELECT wf_schedule_workflow('eve', '1 day', 'eve waits');
SELECT wf_register_activity('Eve.Does', 'public.eve_does(jsonb)');
SQL
setting "workflow.launch_workers = on" "workflow.max_executors = 4"
as() { psql -X -q -At -v ON_ERROR_STOP=1 -c "SET client_min_messages = error" -c "SET SESSION AUTHORIZATION $1" -c "$2"; }
# is_as ROLE EXPECTED STATEMENT
is_as() {
    local got
    got=$(as "$1" "$3")
    [ "$got" = "$2" ] || fail "expected '$2', got '$got' from: $3"
}

# hold STATEMENT: in a transaction of its own, as eve. Some wait for another of these transactions, which holds a lock as well.
held=0
hold() {
    held=$((held + 1))
    begin "hold$held" "SET LOCAL client_min_messages = error\\; SET LOCAL lock_timeout = 0\\; SET LOCAL ROLE eve\\; $1"
}
hold "SELECT wf_limit_tasks('Work', 1)"
hold "SELECT wf_limit_tasks('Work', 1, key => 'customer')"
hold "SELECT wf_set_owner('definition', 'eve spare', 'eve2')"
hold "SELECT count(*) FROM wf_claim_tasks('{Work}', max => 2)"
hold "SELECT public.books('eve ')"
hold "SELECT wf_define('{\"definitionId\": \"eve new\", \"root\": {\"type\": \"Event\", \"eventName\": \"Go\"}}')"
hold "SELECT wf_delete_definition('eve alone')"
hold "SELECT wf_start('eve one'), wf_start('eve alone', correlation_id => 'x')"
hold "SELECT wf_publish_event('Go', correlation_id => 'joe 1', keep_for => '1 day'), wf_enqueue_bookmark('Event', '{\"EventName\": \"Go\"}', correlation_id => 'joe 2', keep_for => '1 day')"
hold "SELECT wf_call('joe 1', 'm', 'start', 'eve waits')"
hold "SELECT wf_pause(instance_id) FROM workflow.instance_list WHERE correlation_id = 'paused'"
hold "SELECT wf_alter_schedule('eve', schedule => '2 days')"
hold "SELECT wf_schedule('eve command', '1 day', 'SELECT 1')"
hold "SELECT wf_register_activity('Eve.Does', 'public.eve_does(jsonb)', description => 'does')"
hold "SELECT wf_grant('eve waits', 'joe', '{start}'), wf_grant_events('joe')"
hold "SELECT wf_grant_worker('joe', '{Work}')"
hold "SELECT wf_run_due()"
hold "SELECT count(*) FROM workflow.instance_list, workflow.open_tasks"
await "$held" "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'hold%' AND (state = 'idle in transaction' OR wait_event_type = 'Lock')"

is_as joe 5 "SELECT count(*) FROM wf_claim_tasks('{Work}', max => 10)"
is 5 "SELECT count(*) FROM workflow.bookmarks WHERE token IS NOT NULL"
echo "ok: claims of another owner continue, of a name whose limit is being changed"

as joe "SELECT count(wf_start('joe timed')) FROM generate_series(1, 20)" >/dev/null
as eve "SELECT count(wf_start('eve timed')) FROM generate_series(1, 20)" >/dev/null
await 40 "SELECT count(*) FROM workflow.tasks AS t JOIN workflow.instances AS i ON i.id = t.instance_id WHERE i.definition_id LIKE '% timed'"
echo "ok: timers that open such tasks fire, those of the role that changes the limit as well"

as joe "SELECT wf_limit_tasks('Work', 3)" >/dev/null
as joe "SELECT wf_limit_tasks('Work', 12)" >/dev/null
is_as joe 7 "SELECT count(*) FROM wf_claim_tasks('{Work}', max => 100)"
as joe "CALL wf_wait_tasks('{Work}', timeout => '1 ms')" >/dev/null
as joe "SELECT wf_limit_tasks('Work', 13)" >/dev/null
as joe "CALL wf_wait_tasks('{Work}', timeout => '1 hour')" >/dev/null
is_as joe 1 "SELECT count(*) FROM wf_claim_tasks('{Work}', max => 100)"
echo "ok: another owner changes limits of the same name, and waits for its tasks"

as joe "SELECT wf_start('joe waits', correlation_id => 'joe 1'), wf_start('joe waits', correlation_id => 'joe 2'), wf_start('joe one'), wf_start('joe alone', correlation_id => 'x')" >/dev/null
as joe "SELECT wf_publish_event('Go', correlation_id => 'joe 1'), wf_publish_event('One'), wf_publish_event('Alone')" >/dev/null
await Finished "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'joe 1' AND definition_id = 'joe waits'"
begin late "SET LOCAL ROLE joe\\; SELECT wf_start('joe waits', correlation_id => 'late')"
as joe "SELECT wf_enqueue_bookmark('Event', '{\"EventName\": \"Go\"}', correlation_id => 'late', keep_for => '1 day')" >/dev/null
finish late COMMIT
await Finished "SELECT sub_status FROM workflow.instances WHERE correlation_id = 'late'"
as joe "SELECT public.books('joe '), wf_delete_definition('joe spare'), wf_schedule_workflow('joe', '1 second', 'joe waits')" >/dev/null
await t "SELECT count(*) > 0 FROM workflow.instances WHERE schedule_id IS NOT NULL AND definition_id = 'joe waits'"
echo "ok: starts, events, kept stimuli, definitions and schedules of another owner continue"

# All locks of eve are still held.
is "$held" "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'hold%' AND (state = 'idle in transaction' OR wait_event_type = 'Lock')"
query "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name LIKE 'hold%'" >/dev/null
await t "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name LIKE 'hold%'"
is "" "SELECT problem FROM wf_check()"
