-- Waiting for time, and being started by it. The clock is set by workflow.now, and wf_run_due fires what is due then.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 08:00:00+00';

-- Delay waits for a while: from milliseconds to years, in .NET's notation, in ISO 8601 or as a PostgreSQL interval.
SELECT * FROM wf_define('{"definitionId": "delay", "inputs": [{"name": "Span", "type": "String"}], "root": [
    {"id": "pause", "type": "Delay", "timeSpan": {"input": "Span"}},
    {"type": "WriteLine", "text": "go on"}]}');
SELECT span, sub_status, bookmarks -> 0 -> 'payload' AS payload
  FROM unnest(ARRAY['00:00:00.5', '1.02:30:00', 'P1M', '100 years', '1 mon 2 days', '01:30']) AS span, wf_run('delay', jsonb_build_object('Span', span));
SELECT due FROM workflow.waiting WHERE definition_id = 'delay' ORDER BY due;

-- A month is a month of the calendar, a day one of the time zone: the clocks change on 31 March.
SELECT * FROM wf_define('{"definitionId": "zone", "root": {"type": "Delay", "timeSpan": "3 months", "timeZone": "Europe/Berlin"}}');
SELECT b ->> 'payload' AS payload FROM wf_run('zone'), jsonb_array_elements(bookmarks) AS b;

-- What is not due yet does not fire; what is due fires once.
SELECT wf_run_due();
SET workflow.now = '2030-01-01 08:00:00.5+00';
SELECT wf_run_due();
SELECT wf_run_due();
SELECT at, event, activity, data FROM workflow.journal JOIN workflow.instance_list USING (instance_id) WHERE sub_status = 'Finished' ORDER BY seq, number;

-- A hundred years later all of them are done. Nothing was looked at in between.
SET workflow.now = '2130-01-02 00:00:00+00';
SELECT wf_run_due();
SELECT sub_status, count(*) FROM workflow.instance_list WHERE definition_id IN ('delay', 'zone') GROUP BY sub_status;

-- StartAt waits for an instant; without an offset it is meant in the time zone. One that is past does not wait.
SET workflow.now = '2030-01-01 08:00:00+00';
SELECT * FROM wf_define('{"definitionId": "at", "root": [
    {"id": "past", "type": "StartAt", "dateTime": "2029-12-31"},
    {"id": "noon", "type": "StartAt", "dateTime": "2030-07-01 12:00", "timeZone": "America/New_York"}]}');
SELECT wf_start('at') AS instance \gset
SELECT activity, due FROM workflow.waiting WHERE instance = :'instance';
SELECT event, activity, data FROM workflow.journal WHERE instance_id = :'instance' ORDER BY seq, number;

-- A Timer or a Cron in the middle waits for one instant, once.
SELECT * FROM wf_define('{"definitionId": "middle", "root": [
    {"id": "timer", "type": "Timer", "interval": "00:10:00"},
    {"id": "cron", "type": "Cron", "cronExpression": "0 0 12 * * MON-FRI"}]}');
SELECT wf_start('middle') AS instance \gset
SELECT activity, due FROM workflow.waiting WHERE instance = :'instance';
SET workflow.now = '2030-01-04 13:00:00+00';
SELECT wf_run_due();
SELECT activity, due FROM workflow.waiting WHERE instance = :'instance';
SELECT wf_cancel(:'instance');

-- As a trigger, each of them starts a new instance. The trigger of its own run does not wait again.
SET workflow.now = '2030-01-01 08:00:00+00';
SELECT * FROM wf_define('{"definitionId": "every", "root": [
    {"id": "tick", "type": "Timer", "interval": "00:15:00", "canStartWorkflow": true},
    {"type": "WriteLine", "text": {"js": "`${getInput(''ScheduledAt'')} first ${getInput(''StartAt'')} every ${getInput(''Interval'')}`"}}]}');
SELECT * FROM wf_define('{"definitionId": "monthly", "root": [
    {"id": "first", "type": "Cron", "cronExpression": "30 6 1 * *", "timeZone": "Europe/Berlin", "canStartWorkflow": true},
    {"type": "WriteLine", "text": {"js": "`${getInput(''ScheduledAt'')} ${getInput(''CronExpression'')}`"}}]}');
SELECT * FROM wf_define('{"definitionId": "once", "root": [
    {"id": "launch", "type": "StartAt", "dateTime": "2030-01-01 09:00:00+00", "canStartWorkflow": true},
    {"type": "WriteLine", "text": {"js": "`${getInput(''ScheduledAt'')} ${getInput(''ExecuteAt'')}`"}}]}');
SELECT definition_id, activity_id, schedule, time_zone, next_run, last_run FROM workflow.schedules ORDER BY next_run;
SET workflow.now = '2030-01-01 08:15:00.25+00';
SELECT wf_run_due();
SET workflow.now = '2030-01-01 09:00:00+00';
SELECT wf_run_due();
SELECT definition_id, scheduled_at, started_at, status FROM workflow.schedule_runs ORDER BY scheduled_at, definition_id;
SELECT definition_id, data #>> '{}' AS line FROM workflow.journal JOIN workflow.instance_list USING (instance_id) WHERE event = 'Line' AND definition_id IN ('every', 'once', 'monthly') ORDER BY at, definition_id;

-- A timer does not move when its definition is published again, nor does a StartAt that has fired fire again.
SET workflow.now = '2030-01-01 09:05:00+00';
SELECT wf_publish('every'), wf_publish('once');
SELECT * FROM wf_define('{"definitionId": "every", "root": [
    {"id": "tick", "type": "Timer", "interval": "00:15:00", "canStartWorkflow": true},
    {"type": "WriteLine", "text": "version two"}]}');
SELECT definition_id, next_run, last_scheduled FROM workflow.schedules ORDER BY definition_id;
SELECT wf_run_due();

-- Other settings of the same trigger take effect, another interval begins anew.
SELECT * FROM wf_define('{"definitionId": "every", "root": [{"id": "tick", "type": "Timer", "interval": "00:15:00", "canStartWorkflow": true, "overlap": "skip", "misfire": "skip"}]}');
SELECT schedule, misfire, overlap, next_run, last_scheduled FROM workflow.schedules WHERE definition_id = 'every';
SELECT * FROM wf_define('{"definitionId": "every", "root": [{"id": "tick", "type": "Timer", "interval": "01:00:00", "canStartWorkflow": true}]}');
SELECT schedule, misfire, overlap, next_run, last_scheduled FROM workflow.schedules WHERE definition_id = 'every';

-- A StartAt that is past when it is published says so and never fires.
SELECT * FROM wf_define('{"definitionId": "late", "root": {"id": "launch", "type": "StartAt", "dateTime": "2029-06-01", "canStartWorkflow": true}}');
SELECT next_run FROM workflow.schedules WHERE definition_id = 'late';
SELECT wf_retract('every'), wf_retract('once'), wf_retract('late');
SELECT count(*) FROM workflow.schedules WHERE definition_id <> 'monthly';

-- A year of a monthly cron.
SELECT count(wf_run_due()) FROM generate_series(1, 12) AS month, set_config('workflow.now', (timestamptz '2030-01-01 08:00:00+00' + month * interval '1 month')::text, false);
SELECT scheduled_at, scheduled_at AT TIME ZONE 'Europe/Berlin' AS in_berlin, status FROM workflow.schedule_runs WHERE definition_id = 'monthly' ORDER BY scheduled_at;

-- Time that goes backwards fires nothing twice.
SET workflow.now = '2030-02-01 08:00:00+00';
SELECT wf_run_due();
SELECT count(*) FROM workflow.schedule_runs WHERE definition_id = 'monthly';

-- security.md#renamed-and-dropped-roles: a schedule of a dropped role says so in last_error
-- A trigger that fails stops nothing else, and the next instant is the next chance: here, by an owner who is gone.
CREATE ROLE regress_timers_gone LOGIN;
SELECT wf_grant_usage('regress_timers_gone');
SET ROLE regress_timers_gone;
SELECT * FROM wf_define('{"definitionId": "orphan", "root": {"id": "tick", "type": "Cron", "cronExpression": "0 * * * *", "canStartWorkflow": true}}');
RESET ROLE;
SELECT wf_revoke_usage('regress_timers_gone');
DROP ROLE regress_timers_gone;
SET workflow.now = '2031-01-01 09:00:00+00';
SELECT wf_run_due();
SELECT definition_id, next_run, attempts, last_status, last_error FROM workflow.schedules WHERE definition_id = 'orphan';

-- Mistakes are found when the definition is stored.
SELECT * FROM wf_validate('{"definitionId": "x", "root": [
    {"type": "Cron", "cronExpression": "61 * * * *"}, {"type": "Timer", "interval": "-5 min"}, {"type": "Delay", "timeSpan": "soon"}, {"type": "Timer", "interval": "1 hour", "misfire": "never"}]}');
SELECT * FROM wf_define('{"definitionId": "x", "root": {"type": "Timer", "interval": "1 hour", "canStartWorkflow": true, "timeZone": "Mars/Phobos"}}');
\echo :SQLSTATE
SELECT * FROM wf_check();

-- What an owner who may not log in leaves to workers runs restricted, and wf_define says so.
CREATE ROLE regress_timers_nightly NOLOGIN;
SELECT wf_grant_usage('regress_timers_nightly');
SET ROLE regress_timers_nightly;
SELECT definition_id FROM wf_define('{"definitionId": "nightly", "root": [{"type": "Delay", "timeSpan": "1 day"}, {"type": "Sql", "statement": "SELECT 1"}]}');
RESET ROLE;
