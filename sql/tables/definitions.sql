CREATE TABLE workflow.definitions (
    id            uuid        CONSTRAINT definitions_pkey PRIMARY KEY,
    definition_id text        NOT NULL,
    version       integer     NOT NULL CONSTRAINT definitions_version_check CHECK (version > 0),
    name          text,
    description   text,
    is_latest     boolean     NOT NULL,
    is_published  boolean     NOT NULL,
    security      text        NOT NULL CONSTRAINT definitions_security_check CHECK (security IN ('invoker', 'definer')),
    uses_sql      boolean     NOT NULL,
    owner         integer     NOT NULL,
    retention     bigint,
    created_at    timestamptz NOT NULL,
    deleted_at    timestamptz,
    document      jsonb       NOT NULL,
    activity_type text,
    links         jsonb,
    search_path   text,
    unknown_types jsonb,
    numbering     jsonb,
    migrates      boolean,
    is_draft      boolean,
    revision      bigint,
    saved_at      timestamptz,
    saved_by      integer,
    saved_session text,
    deletion_xid  bigint,
    child_owners  jsonb
);

COMMENT ON TABLE workflow.definitions IS 'workflow definitions, one row per version; a version that was published never changes';
COMMENT ON COLUMN workflow.definitions.id IS 'id of this version, never reused: backends cache the compiled form under it';
COMMENT ON COLUMN workflow.definitions.document IS 'the definition as it was passed';
COMMENT ON COLUMN workflow.definitions.uses_sql IS 'whether running it can run SQL or functions of users';
COMMENT ON COLUMN workflow.definitions.security IS 'whose rights that SQL has: the caller''s (invoker) or the owner''s (definer)';
COMMENT ON COLUMN workflow.definitions.retention IS 'microseconds for which finished instances are kept; NULL: as workflow.retention says';
COMMENT ON COLUMN workflow.definitions.activity_type IS 'its name as an activity type, if it is usable as an activity';
COMMENT ON COLUMN workflow.definitions.links IS 'the workflows that it uses as activities: each reference as written, and the id of the version to which it was fixed';
COMMENT ON COLUMN workflow.definitions.search_path IS 'search path of its SQL when it runs without a caller, as set in the session of wf_define; NULL: not needed';
COMMENT ON COLUMN workflow.definitions.unknown_types IS 'activity types that were unknown when it was stored; only types of its owner, or of a superuser, may stand for them later';
COMMENT ON COLUMN workflow.definitions.numbering IS 'the meaning of the numbers in the states of its instances: activities by number, each with the number of its parent and its id; connections by source, outcome and target; NULL: a draft that does not compile';
COMMENT ON COLUMN workflow.definitions.migrates IS 'whether publishing it migrates the instances of other versions to it; NULL in rows stored before 0.3.0';
COMMENT ON COLUMN workflow.definitions.is_draft IS 'true: the next save may overwrite it, while no instance runs on it; NULL: it never changes';
COMMENT ON COLUMN workflow.definitions.revision IS 'number of the save in it, counted over all saves of the definition; NULL in rows stored before 0.3.0';
COMMENT ON COLUMN workflow.definitions.saved_at IS 'when it was last saved as a draft';
COMMENT ON COLUMN workflow.definitions.saved_by IS 'the role (workflow.owners) that last saved it as a draft';
COMMENT ON COLUMN workflow.definitions.saved_session IS 'the session name that the caller of that save passed';
COMMENT ON COLUMN workflow.definitions.deletion_xid IS 'the next transaction id, with its epoch, when retention found it deleted; retention removes the version when all transactions before that have ended';
COMMENT ON COLUMN workflow.definitions.child_owners IS 'the definitions whose ids the document contains, each with its owner (workflow.owners) when the version was stored or last defined with the same content: {"pay": 7}; the definition may start another owner''s definition as a child only if it is listed here';
COMMENT ON COLUMN workflow.definitions.deleted_at IS 'when it was deleted; the row stays while instances refer to it';

-- A number can come back after its version was deleted.
CREATE UNIQUE INDEX definitions_definition_id_version_idx ON workflow.definitions (definition_id, version) WHERE deleted_at IS NULL;
-- Retention and imports: which versions are deleted? Partial, so that the planner does not use it for wf_start, which looks for
-- one of a thousand versions.
CREATE INDEX definitions_deleted_idx ON workflow.definitions (definition_id, created_at) WHERE deleted_at IS NOT NULL;
-- Retention: does any definition have its own? The shortest one determines how old an instance must be to be removed.
CREATE INDEX definitions_retention_idx ON workflow.definitions (retention) WHERE retention IS NOT NULL;
-- wf_start: which version is published?
CREATE UNIQUE INDEX definitions_published_idx ON workflow.definitions (definition_id) WHERE is_published;
-- wf_define: is the content new?
CREATE UNIQUE INDEX definitions_latest_idx ON workflow.definitions (definition_id) WHERE is_latest;

-- wf_define: which workflow is an activity of this type?
CREATE INDEX definitions_activity_type_idx ON workflow.definitions (activity_type) WHERE activity_type IS NOT NULL;
-- wf_delete_definition, wf_publish: which versions use this version?
CREATE INDEX definitions_links_idx ON workflow.definitions USING gin (links jsonb_path_ops) WHERE links IS NOT NULL;

-- The owner of each definition id, even after all versions are deleted and removed: schedules, parents and applications still
-- refer to the id, so no other role may take it over.
CREATE TABLE workflow.definition_ids (
    definition_id text COLLATE "C" CONSTRAINT definition_ids_pkey PRIMARY KEY,
    owner         integer NOT NULL,
    former_owners integer[]
);

COMMENT ON TABLE workflow.definition_ids IS 'owner of each id that a definition ever had; wf_set_owner gives an id to another role';
COMMENT ON COLUMN workflow.definition_ids.former_owners IS 'owners that it had before, under which open bookmarks may be stored';

-- Who owns definitions?
CREATE INDEX definition_ids_owner_idx ON workflow.definition_ids (owner);
CREATE INDEX definition_ids_former_owners_idx ON workflow.definition_ids (owner) WHERE former_owners IS NOT NULL;

CREATE TABLE workflow.grants (
    definition_id text    NOT NULL,
    role          integer NOT NULL,
    privilege     text    NOT NULL CONSTRAINT grants_privilege_check CHECK (privilege IN ('start', 'resume', 'read', 'alter')),
    grantor       integer NOT NULL,
    CONSTRAINT grants_pkey PRIMARY KEY (definition_id, role, privilege)
);

-- Who has granted a role a privilege, and on what?
CREATE INDEX grants_role_idx ON workflow.grants (role, privilege, grantor, definition_id);

COMMENT ON TABLE workflow.grants IS 'what roles other than the owner may do with a definition and its instances';
COMMENT ON COLUMN workflow.grants.grantor IS 'the role (workflow.owners) that granted it; a grant by a superuser is the consent of both sides to stimuli';

CREATE TABLE workflow.activity_types (
    type           text        CONSTRAINT activity_types_pkey PRIMARY KEY,
    handler        text        NOT NULL,
    handler_owner  integer     NOT NULL,
    kind           text        NOT NULL CONSTRAINT activity_types_kind_check CHECK (kind IN ('action', 'trigger')),
    payloads       text,
    payloads_owner integer,
    inputs         jsonb,
    outputs        jsonb,
    outcomes       text[],
    description    text,
    owner          integer     NOT NULL,
    created_at     timestamptz NOT NULL
);

COMMENT ON TABLE workflow.activity_types IS 'activity types written in SQL';
COMMENT ON COLUMN workflow.activity_types.handler IS 'qualified name of f(context jsonb) RETURNS jsonb';
COMMENT ON COLUMN workflow.activity_types.handler_owner IS 'owner of that function when the type was registered; a function of this name that another role owns is not called';
COMMENT ON COLUMN workflow.activity_types.payloads_owner IS 'the same for the payload function';
COMMENT ON COLUMN workflow.activity_types.payloads IS 'qualified name of f(context jsonb) RETURNS SETOF jsonb, for triggers';

CREATE TABLE workflow.triggers (
    id                    uuid        CONSTRAINT triggers_pkey PRIMARY KEY,
    definition_id         text        NOT NULL,
    definition_version_id uuid        NOT NULL,
    version               integer     NOT NULL,
    activity_id           text        NOT NULL,
    node_id               text        NOT NULL,
    activity_type         text        NOT NULL,
    name                  text        NOT NULL,
    hash                  bytea       NOT NULL CONSTRAINT triggers_hash_check CHECK (pg_catalog.octet_length(hash) OPERATOR(pg_catalog.=) 32),
    hash_key              bigint      NOT NULL,
    payload               jsonb,
    created_at            timestamptz NOT NULL,
    next_fire_at          timestamptz,
    scheduled_at          timestamptz,
    schedule              jsonb,
    active                boolean     NOT NULL DEFAULT true,
    schedule_name         text,
    owner                 integer,
    input                 jsonb,
    correlation_id        text,
    last_fire_at          timestamptz,
    last_instance_id      uuid,
    queued                integer     NOT NULL DEFAULT 0,
    skipped               bigint      NOT NULL DEFAULT 0,
    missed                bigint      NOT NULL DEFAULT 0,
    attempts              integer     NOT NULL DEFAULT 0,
    last_error            text,
    made_actor            text,
    made_by               integer,
    made_login            integer,
    definition_owner      integer,
    CONSTRAINT triggers_definition_id_node_id_hash_key UNIQUE (definition_id, node_id, hash),
    CONSTRAINT triggers_schedule_check CHECK (schedule_name IS NULL OR (owner IS NOT NULL AND schedule IS NOT NULL))
);

COMMENT ON TABLE workflow.triggers IS 'what starts the published definitions: one row per trigger activity and payload';
COMMENT ON COLUMN workflow.triggers.next_fire_at IS 'when it is due next: at the scheduled time, later by its jitter, or earlier for a fire that waited';
COMMENT ON COLUMN workflow.triggers.scheduled_at IS 'the next time of its schedule, regardless of jitter and waiting fires';
COMMENT ON COLUMN workflow.triggers.schedule IS 'the times at which it fires, their time zone, and the policies for missed and overlapping runs';
COMMENT ON COLUMN workflow.triggers.active IS 'whether it fires by time; a paused schedule keeps its settings';
COMMENT ON COLUMN workflow.triggers.schedule_name IS 'name of a schedule made by wf_schedule; NULL for a trigger of a definition';
COMMENT ON COLUMN workflow.triggers.owner IS 'owner of a named schedule, and of the instances that it starts; otherwise the definition''s';
COMMENT ON COLUMN workflow.triggers.made_actor IS 'of a named schedule: the actor who created it, or last changed its command, input or owner';
COMMENT ON COLUMN workflow.triggers.made_by IS 'id in workflow.owners of the role that did this; NULL: not recorded';
COMMENT ON COLUMN workflow.triggers.made_login IS 'id in workflow.owners of the role of that session, if it is another one';
COMMENT ON COLUMN workflow.triggers.definition_owner IS 'owner of the definition; NULL for a named schedule, which no stimulus starts';
COMMENT ON COLUMN workflow.triggers.input IS 'input of the instances of a named schedule';
COMMENT ON COLUMN workflow.triggers.correlation_id IS 'correlation id of the instances of a named schedule';
COMMENT ON COLUMN workflow.triggers.last_fire_at IS 'the scheduled time that was fired last';
COMMENT ON COLUMN workflow.triggers.queued IS 'fires that wait for the last instance to end';
COMMENT ON COLUMN workflow.triggers.skipped IS 'fires that started nothing: a run had not ended, or an activation strategy forbade it';
COMMENT ON COLUMN workflow.triggers.missed IS 'missed times that were not made up for';
COMMENT ON COLUMN workflow.triggers.attempts IS 'how often firing failed since the last success';

-- Which triggers does a stimulus start?
CREATE INDEX triggers_hash_key_idx ON workflow.triggers (hash_key, definition_owner);
-- A stimulus without a payload starts all triggers with its name.
CREATE INDEX triggers_name_idx ON workflow.triggers (name, definition_owner);
-- As for bookmarks; and one workflow for each path and method.
CREATE INDEX triggers_route_idx ON workflow.triggers ((payload OPERATOR(pg_catalog.->>) 'Route') COLLATE "C")
    WHERE activity_type IS NOT DISTINCT FROM 'Elsa.HttpEndpoint';
CREATE UNIQUE INDEX triggers_endpoint_idx ON workflow.triggers (hash) WHERE name OPERATOR(pg_catalog.=) 'Elsa.HttpEndpoint';
-- A schedule by name.
CREATE UNIQUE INDEX triggers_owner_schedule_name_idx ON workflow.triggers (owner, schedule_name) WHERE schedule_name IS NOT NULL;
-- What fires next?
CREATE INDEX triggers_next_fire_at_idx ON workflow.triggers (next_fire_at) WHERE next_fire_at IS NOT NULL;
SELECT pg_catalog.pg_extension_config_dump('workflow.definitions', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.definition_ids', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.grants', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.activity_types', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.triggers', '');
