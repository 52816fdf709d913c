-- What becomes of instants that passed without workers (misfire), and of those that meet a run that still goes on (overlap).
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
SELECT * FROM wf_define('{"definitionId": "note", "root": {"type": "WriteLine", "text": {"input": "ScheduledAt"}}}');
CREATE FUNCTION pg_temp.runs(schedule text) RETURNS TABLE (scheduled_at timestamptz, status text) LANGUAGE sql
AS $$ SELECT scheduled_at, status FROM workflow.schedule_runs WHERE name = schedule ORDER BY scheduled_at, instance_id $$;

-- Every hour; then nothing runs for five and a half hours. What is missed fires once (the default), not at all, or each of it.
SELECT count(*) FROM (VALUES ('once'), ('skip'), ('all')) AS m (policy), wf_schedule_workflow(policy, '@hourly', 'note', misfire => policy);
SELECT wf_schedule_workflow('capped', '@hourly', 'note', misfire => 'all', misfire_cap => 2) IS NOT NULL AS scheduled;
SET workflow.now = '2030-01-01 05:30:00+00';
SELECT wf_run_due();
SELECT * FROM pg_temp.runs('once');
SELECT * FROM pg_temp.runs('skip');
SELECT * FROM pg_temp.runs('all');
SELECT * FROM pg_temp.runs('capped');
SELECT name, missed, last_scheduled, next_run FROM workflow.schedules ORDER BY name;

-- What is a little late is not missed: workflow.misfire_grace says how little. It fires under every policy.
SHOW workflow.misfire_grace;
SET workflow.now = '2030-01-01 06:00:50+00';
SELECT wf_run_due();
SELECT count(*) FROM workflow.schedule_runs WHERE scheduled_at = '2030-01-01 06:00:00+00';
SET workflow.misfire_grace = '10s';
SET workflow.now = '2030-01-01 07:00:50+00';
SELECT wf_run_due();
SELECT name FROM workflow.schedule_runs WHERE scheduled_at = '2030-01-01 07:00:00+00' ORDER BY name;
RESET workflow.misfire_grace;

-- A year of every second is made up for in no time.
SELECT wf_schedule_workflow('second', '1 second', 'note') IS NOT NULL AS scheduled, wf_schedule_workflow('last', '1 second', 'note', misfire => 'all', misfire_cap => 3) IS NOT NULL AS scheduled;
SELECT count(*) FROM (VALUES ('once'), ('skip'), ('all'), ('capped')) AS m (policy), wf_unschedule(policy);
SET workflow.now = '2031-01-01 00:00:00+00';
SELECT wf_run_due();
SELECT * FROM pg_temp.runs('second');
SELECT * FROM pg_temp.runs('last');
SELECT name, missed, next_run FROM workflow.schedules ORDER BY name;
SELECT count(*) FROM (VALUES ('second'), ('last')) AS m (policy), wf_unschedule(policy);

-- Overlap. A run that waits for an event goes on and on; the next instants come all the same.
SELECT * FROM wf_define('{"definitionId": "long", "root": {"id": "end", "type": "Event", "eventName": "End"}}');
SET workflow.now = '2031-01-01 00:00:00+00';
SELECT count(*) FROM (VALUES ('allow'), ('skip'), ('queue')) AS o (policy), wf_schedule_workflow(policy, '@hourly', 'long', correlation_id => policy, overlap => policy);
SELECT count(wf_run_due()) FROM generate_series(1, 3) AS hour, set_config('workflow.now', (timestamptz '2031-01-01 00:00:00+00' + hour * interval '1 hour')::text, false);
SELECT * FROM pg_temp.runs('allow');
SELECT * FROM pg_temp.runs('skip');
SELECT * FROM pg_temp.runs('queue');
SELECT name, queued, skipped, next_run FROM workflow.schedules ORDER BY name;

-- What was skipped stands in the journal.
SELECT at, event, activity_type, data - 'running_instance_id' - 'schedule_id' AS data FROM workflow.journal WHERE event = 'Start refused' ORDER BY at;

-- When the run ends, what waits behind it is due at once, one after the other.
SET workflow.now = '2031-01-01 03:10:00+00';
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('End', correlation_id => 'queue');
SELECT queued, next_run FROM workflow.schedules WHERE name = 'queue';
SELECT wf_run_due();
SELECT * FROM pg_temp.runs('queue');
SELECT queued, next_run FROM workflow.schedules WHERE name = 'queue';

-- Cancelled counts as ended, and so does faulted.
SELECT wf_cancel(instance_id) FROM workflow.schedule_runs WHERE name = 'queue' AND status = 'running';
SELECT wf_run_due();
SELECT * FROM pg_temp.runs('queue');
SELECT queued, next_run FROM workflow.schedules WHERE name = 'queue';
SELECT * FROM wf_define('{"definitionId": "fails", "root": [{"type": "Event", "eventName": "Go"}, {"type": "Fault", "message": "no"}]}');
SELECT wf_schedule_workflow('fails', '@hourly', 'fails', overlap => 'queue') IS NOT NULL AS scheduled;
SELECT count(wf_run_due()) FROM generate_series(4, 5) AS hour, set_config('workflow.now', (timestamptz '2031-01-01 00:00:00+00' + hour * interval '1 hour')::text, false);
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Go');
SELECT wf_run_due();
SELECT status, error FROM workflow.schedule_runs WHERE name = 'fails' ORDER BY instance_id;

-- A queue holds as much as misfire_cap says; what is more is skipped.
SELECT wf_schedule_workflow('short', '@hourly', 'long', correlation_id => 'short', overlap => 'queue', misfire_cap => 2) IS NOT NULL AS scheduled;
SELECT count(wf_run_due()) FROM generate_series(6, 10) AS hour, set_config('workflow.now', (timestamptz '2031-01-01 00:00:00+00' + hour * interval '1 hour')::text, false);
SELECT queued, skipped FROM workflow.schedules WHERE name = 'short';

-- Another policy forgets the queue; a pause keeps it.
SELECT wf_alter_schedule('short', active => false) IS NOT NULL AS paused;
SELECT active, queued, next_run FROM workflow.schedules WHERE name = 'short';
SELECT wf_alter_schedule('short', active => true) IS NOT NULL AS resumed;
SELECT active, queued, next_run FROM workflow.schedules WHERE name = 'short';
SELECT wf_run_due();
SELECT active, queued, next_run FROM workflow.schedules WHERE name = 'short';
SELECT wf_alter_schedule('short', overlap => 'allow') IS NOT NULL AS altered;
SELECT queued FROM workflow.schedules WHERE name = 'short';

-- An activation strategy that refuses is a skip as well.
SELECT * FROM wf_define('{"definitionId": "single", "options": {"activationStrategy": "Singleton"}, "root": [
    {"id": "tick", "type": "Timer", "interval": "01:00:00", "canStartWorkflow": true}, {"type": "Event", "eventName": "End"}]}');
SELECT count(wf_run_due()) FROM generate_series(11, 13) AS hour, set_config('workflow.now', (timestamptz '2031-01-01 00:00:00+00' + hour * interval '1 hour')::text, false);
SELECT skipped, last_scheduled FROM workflow.schedules WHERE definition_id = 'single';
SELECT event, activity, data ->> 'definition_id' AS definition FROM workflow.journal WHERE data ->> 'definition_id' = 'single';

-- Jitter: each fire is later by a random time, the instants stay those of the schedule.
SELECT wf_schedule_workflow('jitter', '@hourly', 'note', jitter => '10 minutes') IS NOT NULL AS scheduled;
SELECT scheduled_at, next_fire_at BETWEEN scheduled_at AND scheduled_at + interval '10 minutes' AS in_range FROM workflow.triggers WHERE schedule_name = 'jitter';
SET workflow.now = '2031-01-01 14:10:00+00';
SELECT count(wf_run_due());
SELECT * FROM pg_temp.runs('jitter');

-- No instant ran twice.
SELECT scheduled_at, name, count(*) FROM workflow.schedule_runs WHERE name NOT IN ('queue', 'short', 'fails') GROUP BY scheduled_at, name HAVING count(*) > 1;
SELECT * FROM wf_check();

-- A run whose start is given up, after three attempts, holds up no other: a dead letter keeps it, the next hour runs.
SELECT count(wf_unschedule(name)) FROM workflow.schedules WHERE name IS NOT NULL;
CREATE FUNCTION public.busy() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'somebody has it' USING ERRCODE = 'lock_not_available'; END $$;
SELECT * FROM wf_define('{"definitionId": "stuck", "root": {"type": "Sql", "statement": "SELECT public.busy()"}}');
SET workflow.now = '2032-01-01 00:00:00+00';
SELECT wf_schedule_workflow('stuck', '@hourly', 'stuck', overlap => 'skip') IS NOT NULL AS scheduled;
SET client_min_messages = error;
SELECT count(wf_run_due()) FROM generate_series(60, 63) AS minute, set_config('workflow.now', (timestamptz '2032-01-01 00:00:00+00' + minute * interval '1 minute')::text, false);
SELECT reason, attempts, last_error FROM workflow.dead_letter_list WHERE name = 'Workflow.Start';
SELECT count(wf_run_due()) FROM generate_series(120, 120) AS minute, set_config('workflow.now', (timestamptz '2032-01-01 00:00:00+00' + minute * interval '1 minute')::text, false);
SELECT * FROM pg_temp.runs('stuck');
SELECT skipped FROM workflow.schedules WHERE name = 'stuck';
