/*
 * The functions of workflow. They are in the schema chosen at CREATE EXTENSION, so that wf_start(…) needs no
 * qualification; internal objects are in the schema workflow.
 *
 * All of them are VOLATILE and PARALLEL UNSAFE unless they only read. None is STRICT: an invalid NULL raises an error
 * that names the argument, instead of returning NULL.
 */

CREATE FUNCTION wf_define(
    definition    jsonb,
    publish       boolean DEFAULT true,
    allow_unknown boolean DEFAULT false,
    OUT definition_id text,
    OUT version       integer
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_define';

COMMENT ON FUNCTION wf_define(jsonb, boolean, boolean) IS
    'store a workflow definition, in Elsa''s JSON or the short form; unchanged content keeps its version';

CREATE FUNCTION wf_save_draft(
    definition jsonb,
    revision   bigint DEFAULT NULL,
    session    text   DEFAULT NULL,
    OUT definition_id text,
    OUT version       integer,
    OUT version_id    uuid,
    OUT revision      bigint,
    OUT problems      jsonb
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_save_draft';

COMMENT ON FUNCTION wf_save_draft(jsonb, bigint, text) IS
    'store an unfinished definition as a draft, which the next save overwrites; returns its problems';

CREATE FUNCTION wf_publish(definition_id text, version integer DEFAULT NULL)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_publish';

COMMENT ON FUNCTION wf_publish(text, integer) IS 'publish a version, by default the latest, and index its triggers';

CREATE FUNCTION wf_retract(definition_id text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_retract';

COMMENT ON FUNCTION wf_retract(text) IS 'unpublish a definition: no new instances start, running ones continue';

CREATE FUNCTION wf_export(definition_id text, version integer DEFAULT NULL)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_export';

COMMENT ON FUNCTION wf_export(text, integer) IS 'a definition as Elsa 3 JSON';

CREATE FUNCTION wf_export_version(version_id uuid, arrange boolean DEFAULT false)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_export_version';

COMMENT ON FUNCTION wf_export_version(uuid, boolean) IS 'a version as Elsa 3 JSON, by its id; also a deleted one';

CREATE FUNCTION workflow._validate(definition jsonb, severity text)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_validate_json';

COMMENT ON FUNCTION workflow._validate(jsonb, text) IS 'problems of a definition as a JSON array, for wf_validate';

CREATE FUNCTION wf_validate(definition jsonb, severity text DEFAULT 'error')
RETURNS TABLE (path text, severity text, message text)
LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT problem.path, problem.severity, problem.message
    FROM pg_catalog.jsonb_to_recordset(workflow._validate($1, $2)) AS problem (path text, severity text, message text);
END;

COMMENT ON FUNCTION wf_validate(jsonb, text) IS
    'problems of a definition of at least the given severity, each with its path; without errors wf_define accepts it';

CREATE FUNCTION wf_delete_definition(definition_id text, version integer DEFAULT NULL)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_delete_definition';

COMMENT ON FUNCTION wf_delete_definition(text, integer) IS
    'delete a version, or all of them, unless an instance can still run on it; returns the number of versions';

CREATE FUNCTION wf_refresh(definition_id text, OUT added integer, OUT removed integer, OUT unchanged integer)
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_refresh';

COMMENT ON FUNCTION wf_refresh(text) IS 'compute the triggers of the published version again';

CREATE FUNCTION workflow._activities()
RETURNS jsonb LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_activities_json';

COMMENT ON FUNCTION workflow._activities() IS 'the built-in activities as a JSON array, for wf_activities';

CREATE FUNCTION wf_register_activity(
    type        text,
    handler     regprocedure,
    kind        text         DEFAULT 'action',
    payloads    regprocedure DEFAULT NULL,
    inputs      jsonb        DEFAULT NULL,
    outputs     jsonb        DEFAULT NULL,
    outcomes    text[]       DEFAULT NULL,
    description text         DEFAULT NULL
) RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_register_activity';

COMMENT ON FUNCTION wf_register_activity(text, regprocedure, text, regprocedure, jsonb, jsonb, text[], text) IS
    'register an activity type whose behaviour is f(context jsonb) RETURNS jsonb';

CREATE FUNCTION workflow._grant(definition_id text, role text, privileges text[])
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant';

COMMENT ON FUNCTION workflow._grant(text, text, text[]) IS 'stores grants, for wf_grant';

CREATE FUNCTION workflow._revoke(definition_id text, role text, privileges text[])
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_revoke';

COMMENT ON FUNCTION workflow._revoke(text, text, text[]) IS 'removes grants, for wf_revoke';

CREATE FUNCTION wf_grant(definition_id text, role name, privileges text[])
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant(definition_id, role::text, privileges);
END;

COMMENT ON FUNCTION wf_grant(text, name, text[]) IS
    'let a role start, resume, read or alter a definition and its instances; returns the number of privileges that are new, or get a superuser as grantor';

CREATE FUNCTION wf_revoke(definition_id text, role name, privileges text[])
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke(definition_id, role::text, privileges);
END;

COMMENT ON FUNCTION wf_revoke(text, name, text[]) IS 'revoke privileges; returns how many there were';
