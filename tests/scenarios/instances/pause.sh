#!/usr/bin/env bash
# Instances are paused and unpaused while background workers run: no worker fires a timer of a paused instance, and the scheduler sleeps
# although all of them are overdue. If the end of a pause is left to a session of the owner, the workers end it, in order. A crash of the
# server changes nothing.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SET client_min_messages = error;
CREATE ROLE clerk LOGIN;
CREATE ROLE boss LOGIN;
SELECT wf_grant_usage(role) FROM unnest('{clerk, boss}'::name[]) AS role;
SELECT wf_accept_tasks('clerk');
CREATE TABLE public.said (id bigint GENERATED ALWAYS AS IDENTITY, instance uuid, who name DEFAULT CURRENT_USER, what text);
GRANT INSERT, SELECT ON public.said TO clerk;
SET ROLE clerk;
SELECT wf_define('{"definitionId": "story", "root": {"type": "Parallel", "activities": [
    [{"type": "Delay", "timeSpan": "00:00:01"}, {"type": "Sql", "statement": "INSERT INTO public.said (instance, what) SELECT $1, ''timer''", "parameters": [{"js": "getWorkflowInstanceId()"}]}],
    [{"type": "Event", "eventName": "Tell"}, {"type": "Sql", "statement": "INSERT INTO public.said (instance, what) SELECT $1, ''event''", "parameters": [{"js": "getWorkflowInstanceId()"}]}],
    [{"type": "RunTask", "taskName": "Write"}, {"type": "Sql", "statement": "INSERT INTO public.said (instance, what) SELECT $1, ''answer''", "parameters": [{"js": "getWorkflowInstanceId()"}]}]]}}');
SELECT wf_grant('story', 'boss', '{alter, read}');
SELECT count(wf_start('story')) FROM generate_series(1, 20);
SELECT count(wf_pause(instance_id, 'wait')) FROM workflow.instance_list;
SQL
setting "workflow.launch_workers = on"

# Workers have nothing to do: overdue timers of paused instances are in none of the indexes that they scan.
await t "SELECT min(due) < clock_timestamp() - interval '1 second' FROM workflow.waiting WHERE due IS NOT NULL"
is 0 "SELECT count(*) FROM workflow.bookmarks WHERE due_at IS NOT NULL"
is 0 "SELECT count(*) FROM public.said"

# Events are stored. A session of another role ends the pauses; sessions of the owner deliver the events, before the timers.
query "SET ROLE clerk; SELECT cardinality(resumed) FROM wf_publish_event('Tell', keep_for => '0')" >>"$WORKFLOW_TMP/publish.out"
is 20 "SELECT count(*) FROM workflow.bookmark_queue"
kill_server
start_server
is 0 "SELECT count(*) FROM public.said"
query "SET ROLE boss; SELECT count((wf_unpause(instance_id)).sub_status) FROM workflow.instance_list" >>"$WORKFLOW_TMP/unpause.out"
await 40 "SELECT count(*) FROM public.said"
await 0 "SELECT count(*) FROM workflow.pauses"
is 20 "SELECT count(*) FROM public.said e JOIN public.said t USING (instance) WHERE e.what = 'event' AND t.what = 'timer' AND e.id < t.id"
is clerk "SELECT string_agg(DISTINCT who, ', ') FROM public.said"
echo "ok: what was kept came before what was due, once, with the rights of the owner"

# No task worker can claim tasks of paused instances; after the pause one can.
query "SELECT count(wf_pause(instance_id)) FROM workflow.instance_list" >>"$WORKFLOW_TMP/unpause.out"
is 0 "SELECT count(*) FROM wf_claim_tasks(max => 100)"
psql -X -q -At -c "CALL wf_wait_tasks(timeout => '1 day')" >"$WORKFLOW_TMP/wait.out" &
await 1 "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Extension' AND query LIKE 'CALL wf_wait_tasks%'"
query "SELECT count((wf_unpause(instance_id)).sub_status) FROM workflow.instance_list" >>"$WORKFLOW_TMP/unpause.out"
wait $!
[ "$(cat "$WORKFLOW_TMP/wait.out")" = t ] || fail "the session that waited for a task was not woken"
is 20 "SELECT count(*) FROM wf_claim_tasks(max => 100)"
echo "ok: the end of a pause wakes who waits for tasks"
