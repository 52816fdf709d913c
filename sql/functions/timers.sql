CREATE FUNCTION wf_run_due(max integer DEFAULT 1000)
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_run_due';

COMMENT ON FUNCTION wf_run_due(integer) IS
    'fire due work of the current role, deliver queued stimuli, expire what is too old; returns the number of fires';

CREATE FUNCTION wf_schedule(
    name        text,
    schedule    text,
    command     text,
    timezone    text     DEFAULT NULL,
    misfire     text     DEFAULT 'once',
    misfire_cap integer  DEFAULT 100,
    overlap     text     DEFAULT 'allow',
    jitter      interval DEFAULT NULL,
    active      boolean  DEFAULT true,
    top_level   boolean  DEFAULT NULL,
    retry       boolean  DEFAULT false
) RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_schedule';

COMMENT ON FUNCTION wf_schedule(text, text, text, text, text, integer, text, interval, boolean, boolean, boolean) IS
    'run a SQL command on a schedule; the same name of the same role again changes the schedule; returns its id';

CREATE FUNCTION wf_schedule_workflow(
    name           text,
    schedule       text,
    definition     text,
    input          jsonb    DEFAULT '{}',
    correlation_id text     DEFAULT NULL,
    timezone       text     DEFAULT NULL,
    misfire        text     DEFAULT 'once',
    misfire_cap    integer  DEFAULT 100,
    overlap        text     DEFAULT 'allow',
    jitter         interval DEFAULT NULL,
    active         boolean  DEFAULT true
) RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_schedule_workflow';

COMMENT ON FUNCTION wf_schedule_workflow(text, text, text, jsonb, text, text, text, integer, text, interval, boolean) IS
    'start a workflow on a schedule, in the version that is then published; returns the schedule''s id';

CREATE FUNCTION wf_alter_schedule(
    name        text,
    schedule    text     DEFAULT NULL,
    command     text     DEFAULT NULL,
    active      boolean  DEFAULT NULL,
    timezone    text     DEFAULT NULL,
    misfire     text     DEFAULT NULL,
    misfire_cap integer  DEFAULT NULL,
    overlap     text     DEFAULT NULL,
    jitter      interval DEFAULT NULL,
    input       jsonb    DEFAULT NULL,
    top_level   boolean  DEFAULT NULL,
    retry       boolean  DEFAULT NULL
) RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_alter_schedule';

COMMENT ON FUNCTION wf_alter_schedule(text, text, text, boolean, text, text, integer, text, interval, jsonb, boolean, boolean) IS
    'change the given properties of a schedule; active => false pauses it; returns its id';

CREATE FUNCTION wf_unschedule(name text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_unschedule';

COMMENT ON FUNCTION wf_unschedule(text) IS 'remove a schedule; runs that have begun continue; false if there is none';

CREATE FUNCTION wf_schedule_run_now(name text)
RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_schedule_run_now';

COMMENT ON FUNCTION wf_schedule_run_now(text) IS
    'start an additional run of a schedule; returns the instance, which is due now';

CREATE FUNCTION workflow._cron_preview(expression text, n integer, timezone text, after timestamptz)
RETURNS jsonb LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_cron_preview_json';

COMMENT ON FUNCTION workflow._cron_preview(text, integer, text, timestamptz) IS 'times of a schedule as a JSON array, for wf_cron_preview';

CREATE FUNCTION wf_cron_preview(
    expression text,
    n          integer     DEFAULT 5,
    timezone   text        DEFAULT NULL,
    after      timestamptz DEFAULT NULL
) RETURNS SETOF timestamptz LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT (instant.at)::pg_catalog.timestamptz
    FROM pg_catalog.jsonb_array_elements_text(workflow._cron_preview(expression, n, timezone, after)) AS instant (at);
END;

COMMENT ON FUNCTION wf_cron_preview(text, integer, text, timestamptz) IS
    'the next times of any schedule that wf_schedule accepts';
