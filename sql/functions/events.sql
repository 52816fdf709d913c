CREATE TYPE wf_delivery AS (
    started   uuid[],
    resumed   uuid[],
    queued_id uuid,
    withheld  integer
);

COMMENT ON TYPE wf_delivery IS
    'effect of a stimulus: instances started and resumed, the queue item that stores it, and the number of matches whose owners may not receive stimuli of its sender';

CREATE FUNCTION wf_enqueue_bookmark(
    name                 text     DEFAULT NULL,
    stimulus             jsonb    DEFAULT NULL,
    instance_id          uuid     DEFAULT NULL,
    correlation_id       text     DEFAULT NULL,
    activity_instance_id uuid     DEFAULT NULL,
    bookmark_id          uuid     DEFAULT NULL,
    activity_type        text     DEFAULT NULL,
    activity_id          text     DEFAULT NULL,
    hash                 bytea    DEFAULT NULL,
    input                jsonb    DEFAULT NULL,
    keep_for             interval DEFAULT NULL
) RETURNS wf_delivery LANGUAGE c AS 'MODULE_PATHNAME', 'wf_enqueue_bookmark';

COMMENT ON FUNCTION wf_enqueue_bookmark(text, jsonb, uuid, text, uuid, uuid, text, text, bytea, jsonb, interval) IS
    'resume whatever matches now, or store the stimulus until a matching bookmark appears or it expires; NULL matches anything';

CREATE FUNCTION wf_send_stimulus(
    name           text,
    stimulus       jsonb    DEFAULT NULL,
    input          jsonb    DEFAULT NULL,
    correlation_id text     DEFAULT '*',
    instance_id    uuid     DEFAULT NULL,
    keep_for       interval DEFAULT '0'
) RETURNS wf_delivery LANGUAGE c AS 'MODULE_PATHNAME', 'wf_send_stimulus';

COMMENT ON FUNCTION wf_send_stimulus(text, jsonb, jsonb, text, uuid, interval) IS
    'start the triggers and resume the bookmarks that match; stored only if it did neither; correlation_id: * is all, NULL those without one';

CREATE FUNCTION wf_publish_event(
    name           text,
    payload        jsonb    DEFAULT NULL,
    correlation_id text     DEFAULT '*',
    instance_id    uuid     DEFAULT NULL,
    keep_for       interval DEFAULT '0'
) RETURNS wf_delivery LANGUAGE c AS 'MODULE_PATHNAME', 'wf_publish_event';

COMMENT ON FUNCTION wf_publish_event(text, jsonb, text, uuid, interval) IS
    'publish an event: wf_send_stimulus with the name Elsa.Event; correlation_id: * is all, NULL those without one';

CREATE FUNCTION wf_replay(dead_letter_id uuid)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_replay';

COMMENT ON FUNCTION wf_replay(uuid) IS
    'retry a dead letter; true if it was delivered at once, false if it waits in the queue or for a background worker';

CREATE FUNCTION workflow._grant_events(listener text, publisher text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant_events';

COMMENT ON FUNCTION workflow._grant_events(text, text) IS 'stores which role may receive events of which, for wf_grant_events';

CREATE FUNCTION workflow._revoke_events(listener text, publisher text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_revoke_events';

COMMENT ON FUNCTION workflow._revoke_events(text, text) IS 'removes which role may receive events of which, for wf_revoke_events';

CREATE FUNCTION wf_grant_events(listener name, publisher name DEFAULT NULL)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant_events(listener::text, publisher::text);
END;

COMMENT ON FUNCTION wf_grant_events(name, name) IS
    'let the workflows of a role receive what another role, by default the current one, publishes; false if they did already';

CREATE FUNCTION wf_revoke_events(listener name, publisher name DEFAULT NULL)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke_events(listener::text, publisher::text);
END;

COMMENT ON FUNCTION wf_revoke_events(name, name) IS 'revoke a grant of wf_grant_events; false if there was none';
