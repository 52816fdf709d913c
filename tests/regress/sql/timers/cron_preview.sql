-- wf_cron_preview shows the next instants of a schedule: whatever wf_schedule and the activity Cron take.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE FUNCTION pg_temp.preview(expression text, timezone text DEFAULT NULL, after timestamptz DEFAULT NULL, n integer DEFAULT 3) RETURNS text LANGUAGE sql
AS $$ SELECT string_agg(to_char(at AT TIME ZONE coalesce(timezone, 'UTC'), 'Dy YYYY-MM-DD HH24:MI:SS'), ', ') FROM wf_cron_preview(expression, n, timezone, after) AS at $$;

-- Without more it is the next five from now on, in the time zone of the session.
SELECT * FROM wf_cron_preview('0 3 * * *');

-- Five fields as everybody writes them: names, ranges, steps, lists, Sunday as 0 or 7.
SELECT e, pg_temp.preview(e) FROM unnest(ARRAY['*/20 * * * *', '0 9-17/4 * * MON-FRI', '30 2 1,15 * *', '0 0 * JAN,jul 0', '0 0 * * 7', '5 4 * * sun']) AS e;

-- A day of the month or a day of the week, where both are restricted.
SELECT pg_temp.preview('0 0 13 * FRI', n => 5);

-- Six fields begin with seconds, as Elsa and Quartz write them.
SELECT e, pg_temp.preview(e) FROM unnest(ARRAY['*/15 * * * * *', '30 0 12 ? * MON-FRI']) AS e;

-- Last days, working days, the n-th of a weekday; $ is pg_cron's last day of the month.
SELECT e, pg_temp.preview(e) FROM unnest(ARRAY['0 0 L * *', '0 0 $ * *', '0 0 L-3 * *', '0 0 15W * *', '0 0 LW * *', '0 0 * * 5L', '0 0 * * MON#2', '0 0 29 2 *']) AS e;

-- Names, and intervals, which begin now.
SELECT e, pg_temp.preview(e) FROM unnest(ARRAY['@hourly', '@daily', '@weekly', '@monthly', '@yearly', '30 seconds', 'every 5 minutes', 'PT90M', '1 mon']) AS e;
SELECT count(*) FROM wf_cron_preview('@reboot');

-- Daylight saving in Berlin. A fixed time inside the gap of 31 March runs right after it, once; one inside the overlap of
-- 27 October runs once; what goes on every hour follows the clock on the wall.
SELECT pg_temp.preview('30 2 * * *', 'Europe/Berlin', '2030-03-29 12:00+00');
SELECT pg_temp.preview('30 2 * * *', 'Europe/Berlin', '2030-10-25 12:00+00');
SELECT at AS utc, at AT TIME ZONE 'Europe/Berlin' AS berlin FROM wf_cron_preview('30 * * * *', 4, 'Europe/Berlin', '2030-10-26 23:00+00') AS at;
SELECT at AS utc, at AT TIME ZONE 'Europe/Berlin' AS berlin FROM wf_cron_preview('30 * * * *', 3, 'Europe/Berlin', '2030-03-31 00:00+00') AS at;

-- The name of a zone is PostgreSQL's, in any letter case.
SELECT pg_temp.preview('0 12 * * *', 'america/new_york', '2030-07-01 00:00+00', 1), wf_cron_preview('0 12 * * *', 1, 'america/new_york', '2030-07-01 00:00+00');

-- What is wrong, and where.
SELECT wf_cron_preview('0 25 * * *');
\echo :SQLSTATE
SELECT wf_cron_preview('0 0 * FEBRUARY *');
SELECT wf_cron_preview('*/0 * * * *');
SELECT wf_cron_preview('* * * *');
SELECT wf_cron_preview('0 0 30 2 *');
SELECT wf_cron_preview('now and then');
SELECT wf_cron_preview('every -5 minutes');
SELECT wf_cron_preview('@hourly', timezone => 'Mars/Phobos');
\echo :SQLSTATE
SELECT wf_cron_preview('@hourly', -1);
SELECT wf_cron_preview(NULL);
\echo :SQLSTATE

-- Every role may ask.
CREATE ROLE regress_preview_nobody;
SET ROLE regress_preview_nobody;
SELECT * FROM wf_cron_preview('@daily', 1);
RESET ROLE;

-- From the year 1 to 9999.
SELECT * FROM wf_cron_preview('@daily', 1, 'UTC', '4713-01-01 00:00:00+00 BC');
\echo :SQLSTATE
SELECT * FROM wf_cron_preview('@daily', 1, 'UTC', 'infinity');
SELECT * FROM wf_cron_preview('@daily', 3, 'UTC', '9999-12-30 00:00:00+00');
