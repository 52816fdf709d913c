CREATE TABLE workflow.bookmark_queue (
    id                   uuid        CONSTRAINT bookmark_queue_pkey PRIMARY KEY,
    shape                integer     NOT NULL,
    match_key            bigint      NOT NULL,
    sender               integer     NOT NULL,
    attempts             integer     NOT NULL DEFAULT 0,
    created_at           timestamptz NOT NULL,
    expires_at           timestamptz NOT NULL,
    not_before           timestamptz,
    deferred_for         uuid,
    bookmark_id          uuid,
    instance_id          uuid,
    activity_instance_id uuid,
    hash                 bytea,
    name                 text,
    correlation_id       text,
    uncorrelated         boolean     NOT NULL DEFAULT false,
    activity_type        text,
    activity_id          text,
    last_error           text,
    stimulus             jsonb,
    input                jsonb,
    login                integer,
    actor                text,
    momentary            boolean
);

COMMENT ON COLUMN workflow.bookmark_queue.momentary IS 'true: it is given up if nothing in its instance matches it when it is to be delivered';
COMMENT ON COLUMN workflow.bookmark_queue.login IS 'id in workflow.owners of the role of the session that sent it; NULL: a workflow sent it';
COMMENT ON COLUMN workflow.bookmark_queue.actor IS 'the actor who sent it';
COMMENT ON TABLE workflow.bookmark_queue IS 'stimuli that wait for a bookmark; the columns from bookmark_id to activity_id are the filter, NULL matches anything';
COMMENT ON COLUMN workflow.bookmark_queue.uncorrelated IS 'whether it is only for instances without a correlation id';
COMMENT ON COLUMN workflow.bookmark_queue.shape IS 'the columns from which the match key is computed';
COMMENT ON COLUMN workflow.bookmark_queue.match_key IS 'hash of those columns: a new bookmark finds the items for it without scanning the queue';
COMMENT ON COLUMN workflow.bookmark_queue.sender IS 'the role (workflow.owners) that sent it; it is delivered only where that role may resume';
COMMENT ON COLUMN workflow.bookmark_queue.not_before IS 'a failed delivery is not tried again before this time';
COMMENT ON COLUMN workflow.bookmark_queue.deferred_for IS 'the instance whose running burst it waits for; such a row is removed before its transaction ends';

-- Which queued stimuli match this new bookmark? The distinct shapes in the queue are read from the same index.
CREATE INDEX bookmark_queue_match_idx ON workflow.bookmark_queue (shape, match_key, sender, id);
CREATE INDEX bookmark_queue_deferred_for_idx ON workflow.bookmark_queue (deferred_for) WHERE deferred_for IS NOT NULL;
CREATE INDEX bookmark_queue_instance_id_idx ON workflow.bookmark_queue (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX bookmark_queue_expires_at_idx ON workflow.bookmark_queue (expires_at);
-- Queue items removed with an instance: those that name one of its bookmarks or executions, and those for its correlation id.
CREATE INDEX bookmark_queue_target_idx ON workflow.bookmark_queue ((COALESCE(bookmark_id, activity_instance_id)))
    WHERE instance_id IS NULL AND COALESCE(bookmark_id, activity_instance_id) IS NOT NULL;
CREATE INDEX bookmark_queue_correlation_id_idx ON workflow.bookmark_queue (correlation_id)
    WHERE correlation_id IS NOT NULL AND instance_id IS NULL;

CREATE TABLE workflow.dead_letters (
    id                   uuid        CONSTRAINT dead_letters_pkey PRIMARY KEY,
    reason               text        NOT NULL CONSTRAINT dead_letters_reason_check CHECK (reason IN ('Expired', 'Failed', 'Gone')),
    sender               integer     NOT NULL,
    attempts             integer     NOT NULL,
    created_at           timestamptz NOT NULL,
    dead_at              timestamptz NOT NULL,
    replayed_at          timestamptz,
    bookmark_id          uuid,
    instance_id          uuid,
    activity_instance_id uuid,
    hash                 bytea,
    name                 text,
    correlation_id       text,
    uncorrelated         boolean     NOT NULL DEFAULT false,
    activity_type        text,
    activity_id          text,
    last_error           text,
    stimulus             jsonb,
    input                jsonb,
    due_at               timestamptz,
    login                integer,
    actor                text
);

COMMENT ON COLUMN workflow.dead_letters.login IS 'id in workflow.owners of the role of the session that sent it; NULL: a workflow sent it';
COMMENT ON COLUMN workflow.dead_letters.actor IS 'the actor who sent it';
COMMENT ON TABLE workflow.dead_letters IS 'stimuli that expired, whose delivery failed three times or whose bookmark ended first, and due bookmarks that could not be fired';
COMMENT ON COLUMN workflow.dead_letters.uncorrelated IS 'whether it was only for instances without a correlation id';
COMMENT ON COLUMN workflow.dead_letters.due_at IS 'when the bookmark that could not be fired was due; NULL for a stimulus';
COMMENT ON COLUMN workflow.dead_letters.replayed_at IS 'when wf_replay retried it';

CREATE INDEX dead_letters_dead_at_idx ON workflow.dead_letters (dead_at);
-- Bookmarks with a dead letter: the view workflow.waiting, and wf_explain.
CREATE INDEX dead_letters_bookmark_id_idx ON workflow.dead_letters (bookmark_id) WHERE due_at IS NOT NULL AND replayed_at IS NULL;
-- Dead letters removed with an instance, as in the queue.
CREATE INDEX dead_letters_instance_id_idx ON workflow.dead_letters (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX dead_letters_target_idx ON workflow.dead_letters ((COALESCE(bookmark_id, activity_instance_id)))
    WHERE instance_id IS NULL AND COALESCE(bookmark_id, activity_instance_id) IS NOT NULL;
CREATE INDEX dead_letters_correlation_id_idx ON workflow.dead_letters (correlation_id)
    WHERE correlation_id IS NOT NULL AND instance_id IS NULL;
ALTER TABLE workflow.bookmark_queue SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
SELECT pg_catalog.pg_extension_config_dump('workflow.bookmark_queue', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.dead_letters', '');
