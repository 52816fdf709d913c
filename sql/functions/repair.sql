CREATE FUNCTION wf_pause(instance_id uuid, reason text DEFAULT NULL, children boolean DEFAULT false)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_pause';

COMMENT ON FUNCTION wf_pause(uuid, text, boolean) IS
    'pause an instance, and its children if wanted, until wf_unpause: nothing resumes it, and no task of it can be claimed; false if it was paused or had ended';

CREATE FUNCTION wf_unpause(instance_id uuid)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_unpause';

COMMENT ON FUNCTION wf_unpause(uuid) IS
    'end the pause of an instance and of those paused with it: stored answers and stimuli are delivered, then due timers fire';

CREATE FUNCTION wf_retry(instance_id uuid, activity_ids text[] DEFAULT NULL, on_fault text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_retry';

COMMENT ON FUNCTION wf_retry(uuid, text[], text) IS 'run the faulted activities of an instance again';

CREATE FUNCTION wf_set_variable(instance_id uuid, name text, value jsonb, activity_instance_id uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_variable';

COMMENT ON FUNCTION wf_set_variable(uuid, text, jsonb, uuid, text) IS 'set a variable of an instance; returns the former value';

CREATE FUNCTION wf_cancel_activity(instance_id uuid, activity_id text, activity_instance_id uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_cancel_activity';

COMMENT ON FUNCTION wf_cancel_activity(uuid, text, uuid, text) IS
    'cancel the open executions of an activity, or one of them; the instance continues after it';

CREATE FUNCTION wf_schedule_activity(instance_id uuid, activity_id text, activity_instance_id uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_schedule_activity';

COMMENT ON FUNCTION wf_schedule_activity(uuid, text, uuid, text) IS 'execute an activity out of order: repeat an open execution, or begin a new one';

CREATE FUNCTION wf_alter(alterations jsonb, filter jsonb, dry_run boolean DEFAULT false, max integer DEFAULT 1000, after uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS TABLE (instance_id uuid, outcome text, problems text[])
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_alter';

COMMENT ON FUNCTION wf_alter(jsonb, jsonb, boolean, integer, uuid, text) IS
    'make Elsa''s alterations in the instances that a filter selects, in order of id after the given one; in each instance all or none';

-- The same function under a name that does not depend on the extension's schema.
CREATE FUNCTION workflow._alter(alterations jsonb, filter jsonb, dry_run boolean, max integer, after uuid, reason text)
RETURNS TABLE (instance_id uuid, outcome text, problems text[])
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_alter';

COMMENT ON FUNCTION workflow._alter(jsonb, jsonb, boolean, integer, uuid, text) IS 'wf_alter, for the activity SubmitAlterationPlan';

CREATE FUNCTION wf_migrate(
    instance_id uuid,
    version     integer DEFAULT NULL,
    mapping     jsonb   DEFAULT '{}',
    timers      text    DEFAULT 'keep',
    dry_run     boolean DEFAULT false
)
RETURNS TABLE (path text, severity text, message text)
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_migrate';

COMMENT ON FUNCTION wf_migrate(uuid, integer, jsonb, text, boolean) IS
    'move an instance to another version of its definition; waiting activities keep waiting; dry_run only lists what prevents it';

CREATE FUNCTION wf_migrate_all(
    definition_id text,
    from_version  integer DEFAULT NULL,
    version       integer DEFAULT NULL,
    mapping       jsonb   DEFAULT '{}',
    timers        text    DEFAULT 'keep',
    max           integer DEFAULT 1000,
    after         uuid    DEFAULT NULL,
    dry_run       boolean DEFAULT false
)
RETURNS TABLE (instance_id uuid, outcome text, problems text[])
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_migrate_all';

COMMENT ON FUNCTION wf_migrate_all(text, integer, integer, jsonb, text, integer, uuid, boolean) IS
    'migrate instances of a definition, a batch in the order of their ids; repeat with the last id as after until there are no rows';

-- One batch of the migration that publishing with the option migrate starts.
CREATE FUNCTION workflow._migrate_batch(definition_id text, version integer, progress jsonb)
RETURNS TABLE (next jsonb, moved bigint, refused bigint, pause bigint)
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_migrate_batch';

COMMENT ON FUNCTION workflow._migrate_batch(text, integer, jsonb) IS 'migrates some instances to a published version, for the activity MigrateInstances; progress is next of the last batch';
