CREATE TYPE wf_result AS (
    instance_id uuid,
    status      text,
    sub_status  text,
    output      jsonb,
    bookmarks   jsonb,
    incidents   jsonb,
    is_new      boolean
);

COMMENT ON TYPE wf_result IS
    'state of an instance after a call; bookmarks are [{id, name, activity_id, payload}], incidents the open ones; is_new: this call created it';

CREATE FUNCTION wf_start(
    definition          text,
    input               jsonb   DEFAULT '{}',
    correlation_id      text    DEFAULT NULL,
    name                text    DEFAULT NULL,
    instance_id         uuid    DEFAULT NULL,
    version             integer DEFAULT NULL,
    trigger_activity_id text    DEFAULT NULL,
    on_fault            text    DEFAULT NULL
) RETURNS uuid LANGUAGE c AS 'MODULE_PATHNAME', 'wf_start';

COMMENT ON FUNCTION wf_start(text, jsonb, text, text, uuid, integer, text, text) IS
    'start an instance and run it until every branch waits or has ended; returns its id';

CREATE FUNCTION wf_run(
    definition          text,
    input               jsonb   DEFAULT '{}',
    correlation_id      text    DEFAULT NULL,
    name                text    DEFAULT NULL,
    instance_id         uuid    DEFAULT NULL,
    version             integer DEFAULT NULL,
    trigger_activity_id text    DEFAULT NULL,
    on_fault            text    DEFAULT NULL
) RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_run';

COMMENT ON FUNCTION wf_run(text, jsonb, text, text, uuid, integer, text, text) IS
    'start an instance like wf_start and return its state';

CREATE FUNCTION wf_resume(
    bookmark_id uuid,
    input       jsonb   DEFAULT NULL,
    missing_ok  boolean DEFAULT false,
    on_fault    text    DEFAULT NULL
) RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_resume';

COMMENT ON FUNCTION wf_resume(uuid, jsonb, boolean, text) IS 'resume an instance at a bookmark, which is used up';

CREATE FUNCTION wf_cancel(instance_id uuid, reason text DEFAULT NULL, force boolean DEFAULT false)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_cancel';

COMMENT ON FUNCTION wf_cancel(uuid, text, boolean) IS 'cancel an instance and its descendants; false if it had already ended';

CREATE FUNCTION wf_delete_instance(instance_id uuid, force boolean DEFAULT false)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_delete_instance';

COMMENT ON FUNCTION wf_delete_instance(uuid, boolean) IS
    'cancel an instance and remove it with everything that belongs to it; false if there is none';

CREATE FUNCTION wf_index_instances(
    definition_id text,
    max           integer DEFAULT 1000,
    after         uuid    DEFAULT NULL,
    OUT indexed   integer,
    OUT last_id   uuid
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_index_instances';

COMMENT ON FUNCTION wf_index_instances(text, integer, uuid) IS
    'store the values of search attributes of older instances, a batch in the order of their ids; repeat with last_id as after until it is NULL';

CREATE FUNCTION workflow.instance_calls(instance_id uuid)
RETURNS text[] LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_instance_calls';

COMMENT ON FUNCTION workflow.instance_calls(uuid) IS 'functions that change an instance and that the current role may call, whatever state the instance is in';

CREATE FUNCTION wf_call(key text, message text, kind text, name text, body jsonb DEFAULT NULL)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_call';

COMMENT ON FUNCTION wf_call(text, text, text, text, jsonb) IS
    'start, event, task, stimulus or http for a correlation id, once for each message: the same message again returns the same result and does nothing';
