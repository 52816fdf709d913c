/*
 * The tables of workflow.
 *
 * A definition is a versioned document. Publishing a version indexes its triggers. Starting it makes an
 * instance, pinned to that version. The engine runs an instance in the caller's transaction until every
 * branch waits or ends; a branch waits at a bookmark. A stimulus (name and payload, hashed) finds the
 * triggers that it starts and the bookmarks that it resumes; one that no instance waits for may be kept in the
 * queue until a matching bookmark appears or it expires.
 *
 *   definition_ids --< definitions          an id keeps its owner after its versions are gone
 *   definitions --< triggers                what a stimulus or a due time starts
 *   definitions --< instances --< bookmarks what an instance waits for
 *                   instances --< tasks     work for the outside; a task's id is its bookmark's id
 *                   instances --< incidents, execution_log
 *                   instances --< compensations what can be taken back
 *                   instances --- pauses        who paused it, and why
 *   limits --< slots                        how many tasks workers may hold, and who holds them
 *   bookmark_queue, dead_letters            stimuli that no instance waited for yet, or that failed
 *   messages                                calls that were answered
 *   partitions                              whose correlation ids this node has
 *   imports                                 what the running transaction has taken in
 *
 * There are no foreign keys on what a call writes, and no CHECK constraints: one foreign key costs more than ten
 * per cent of the throughput, and PostgreSQL reads and compiles the checks of a table for each statement. Only
 * the engine writes these tables. wf_check() names every row that breaks a rule, and the tests run it after
 * each session.
 *
 * Everything here belongs to the extension's owner. No other role has rights on a table, and row-level security (see
 * sql/exposure.sql) stops most of what a right that was given all the same would allow: functions check rights, views
 * show each role its own. Each table has a primary key: without a replica identity a publication of all tables would
 * refuse what changes or deletes its rows. Lock order: the instance's row first, see src/store.
 */

CREATE SCHEMA workflow;

COMMENT ON SCHEMA workflow IS 'tables and views of the extension workflow';

-- Its name is the number of this schema, and what a library looks for; see src/pg/schema_number.rs. An upgrade script
-- after which an older library must not go on, or without which a newer one cannot, begins by giving it the next number:
-- ALTER TABLE workflow.schema_2 RENAME TO schema_3.
-- Constraints have names without the number, which the next one keeps (from PostgreSQL 18 on, NOT NULL has one as well).
CREATE TABLE workflow.schema_2 (
    number integer CONSTRAINT schema_number_not_null NOT NULL CONSTRAINT schema_number_pkey PRIMARY KEY
);

COMMENT ON TABLE workflow.schema_2 IS 'number of the schema, by its name; calls hold a lock on it, so that an upgrade script that renames it waits for them';

-- A role as a row remembers it: the cluster, the oid, the name. Its text is made when it is read out, from
-- pg_authid: a dump names the role as it is called then, and a role that is gone has no name. What comes in is kept.
-- A value of this cluster means the role of its oid; one of another cluster means a name.
CREATE TYPE workflow.stored_role;

CREATE FUNCTION workflow._stored_role_in(cstring)
RETURNS workflow.stored_role LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_stored_role_in';

CREATE FUNCTION workflow._stored_role_out(workflow.stored_role)
RETURNS cstring LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_stored_role_out';

CREATE FUNCTION workflow._stored_role_recv(internal)
RETURNS workflow.stored_role LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_stored_role_recv';

CREATE FUNCTION workflow._stored_role_send(workflow.stored_role)
RETURNS bytea LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_stored_role_send';

CREATE TYPE workflow.stored_role (
    INPUT = workflow._stored_role_in, OUTPUT = workflow._stored_role_out,
    RECEIVE = workflow._stored_role_recv, SEND = workflow._stored_role_send,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = plain
);

COMMENT ON TYPE workflow.stored_role IS 'a role that keeps its meaning in a dump: system identifier, oid and present name';
COMMENT ON FUNCTION workflow._stored_role_in(cstring) IS 'input of workflow.stored_role';
COMMENT ON FUNCTION workflow._stored_role_out(workflow.stored_role) IS 'output of workflow.stored_role';
COMMENT ON FUNCTION workflow._stored_role_recv(internal) IS 'binary input of workflow.stored_role';
COMMENT ON FUNCTION workflow._stored_role_send(workflow.stored_role) IS 'binary output of workflow.stored_role';

CREATE FUNCTION workflow._stored_role_oid(workflow.stored_role)
RETURNS oid LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_stored_role_oid';

COMMENT ON FUNCTION workflow._stored_role_oid(workflow.stored_role) IS 'oid of a role of this cluster, NULL for a role of another cluster';

CREATE FUNCTION workflow._stored_role_name(workflow.stored_role)
RETURNS text LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_stored_role_name';

COMMENT ON FUNCTION workflow._stored_role_name(workflow.stored_role) IS 'name of the role when the value was written, NULL if the role no longer existed';

-- Who owns what. Rows refer to an id, not to a role: a renamed role keeps its rows, a dropped one (or a new one of the
-- same name) matches nothing, and a dump that is restored into another cluster, where oids mean other roles, goes by
-- the names that the roles had when it was made. The engine reads the computed columns.
CREATE TABLE workflow.owners (
    id       integer              GENERATED ALWAYS AS IDENTITY CONSTRAINT owners_pkey PRIMARY KEY,
    role     workflow.stored_role NOT NULL,
    same_as  integer,
    role_oid oid                  GENERATED ALWAYS AS (workflow._stored_role_oid(role)) STORED,
    name     text                 GENERATED ALWAYS AS (workflow._stored_role_name(role)) STORED
);

-- Ids of different databases differ: a row that came from another database, by a subscription or by hand, finds no owner
-- instead of the role that has the same number here.
SELECT pg_catalog.setval('workflow.owners_id_seq', 1 OPERATOR(pg_catalog.+) pg_catalog.trunc(pg_catalog.random() OPERATOR(pg_catalog.*) 1000000000)::bigint);

COMMENT ON TABLE workflow.owners IS 'roles that own definitions and instances, or hold grants';
COMMENT ON COLUMN workflow.owners.role IS 'the role; its text names it as it is called when it is read out';
COMMENT ON COLUMN workflow.owners.same_as IS 'the row to which wf_adopt_database gave what this row owned; its own id: a further row of the role, for acts on record while another transaction made the first one';
COMMENT ON COLUMN workflow.owners.role_oid IS 'oid of the role, NULL for a role of another cluster';
COMMENT ON COLUMN workflow.owners.name IS 'name of the role when the row was last written; it identifies a role of another cluster';

-- Which row is this role's? One, however many sessions make it at once.
CREATE UNIQUE INDEX owners_role_oid_idx ON workflow.owners (role_oid) WHERE same_as IS NULL;
-- Is a name of another cluster ambiguous?
CREATE INDEX owners_name_idx ON workflow.owners (name);

-- Which physical database the due times belong to; a copy of a database must not fire them twice.
CREATE TABLE workflow.identity (
    system_identifier bigint NOT NULL,
    database          oid    NOT NULL,
    CONSTRAINT identity_pkey PRIMARY KEY (system_identifier, database)
);

COMMENT ON TABLE workflow.identity IS 'the cluster and database that fire the due times stored here; at most one row';

CREATE UNIQUE INDEX identity_single_idx ON workflow.identity ((true));

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
COMMENT ON COLUMN workflow.definitions.id IS 'id of this version, never used again: backends keep the compiled form under it';
COMMENT ON COLUMN workflow.definitions.document IS 'the definition as it was given';
COMMENT ON COLUMN workflow.definitions.uses_sql IS 'whether running it can run SQL or functions of users';
COMMENT ON COLUMN workflow.definitions.security IS 'whose rights that SQL has: the caller''s (invoker) or the owner''s (definer)';
COMMENT ON COLUMN workflow.definitions.retention IS 'microseconds for which finished instances are kept; NULL leaves it to workflow.retention';
COMMENT ON COLUMN workflow.definitions.activity_type IS 'the activity type that its name is, if it is usable as an activity';
COMMENT ON COLUMN workflow.definitions.links IS 'the workflows that it uses as activities: each reference as written, and the id of the version that it was settled to mean';
COMMENT ON COLUMN workflow.definitions.search_path IS 'search path of its SQL when it runs without a caller, as wf_define found it, beside the content; NULL: not needed';
COMMENT ON COLUMN workflow.definitions.unknown_types IS 'activity types that were unknown when it was stored; only types of its owner, or of a superuser, may stand for them later';
COMMENT ON COLUMN workflow.definitions.numbering IS 'what the numbers in the states of its instances stand for: activities by number, each with the number of its parent and its id; connections by source, outcome and target; NULL: a draft that does not compile';
COMMENT ON COLUMN workflow.definitions.migrates IS 'whether publishing it moves the instances of other versions to it; NULL in what was stored before 0.3.0';
COMMENT ON COLUMN workflow.definitions.is_draft IS 'true: the next save may overwrite it, while no instance runs on it; NULL: it never changes';
COMMENT ON COLUMN workflow.definitions.revision IS 'number of the save that it holds, among all of the definition; NULL in what was stored before 0.3.0';
COMMENT ON COLUMN workflow.definitions.saved_at IS 'when it was last saved as a draft';
COMMENT ON COLUMN workflow.definitions.saved_by IS 'the role (workflow.owners) that last saved it as a draft';
COMMENT ON COLUMN workflow.definitions.saved_session IS 'what the caller of that save called its session';
COMMENT ON COLUMN workflow.definitions.deletion_xid IS 'the next transaction id, with its epoch, when retention found it deleted; retention removes the version when all transactions before that have ended';
COMMENT ON COLUMN workflow.definitions.child_owners IS 'the definitions whose ids stand in the document, each with its owner (workflow.owners) when the version was stored or last defined with the same content: {"pay": 7}; as a child it may start another owner''s definition only if it is named here';
COMMENT ON COLUMN workflow.definitions.deleted_at IS 'when it was deleted; the row stays while instances refer to it';

-- A number can come back after its version was deleted.
CREATE UNIQUE INDEX definitions_definition_id_version_idx ON workflow.definitions (definition_id, version) WHERE deleted_at IS NULL;
-- Retention and imports: which versions are deleted? Partial, so that the planner does not take it for wf_start, which
-- wants one of a thousand versions.
CREATE INDEX definitions_deleted_idx ON workflow.definitions (definition_id, created_at) WHERE deleted_at IS NOT NULL;
-- Retention: does any definition have its own? The shortest retention says how far back there may be instances to remove.
CREATE INDEX definitions_retention_idx ON workflow.definitions (retention) WHERE retention IS NOT NULL;
-- wf_start: which version is published?
CREATE UNIQUE INDEX definitions_published_idx ON workflow.definitions (definition_id) WHERE is_published;
-- wf_define: is the content new?
CREATE UNIQUE INDEX definitions_latest_idx ON workflow.definitions (definition_id) WHERE is_latest;

-- wf_define: which workflow is an activity of this type?
CREATE INDEX definitions_activity_type_idx ON workflow.definitions (activity_type) WHERE activity_type IS NOT NULL;
-- wf_delete_definition, wf_publish: which versions use this version?
CREATE INDEX definitions_links_idx ON workflow.definitions USING gin (links jsonb_path_ops) WHERE links IS NOT NULL;

-- Whose an id is, also after all versions are deleted and removed: schedules, parents and applications go on naming it,
-- and no other role may become what they name.
CREATE TABLE workflow.definition_ids (
    definition_id text COLLATE "C" CONSTRAINT definition_ids_pkey PRIMARY KEY,
    owner         integer NOT NULL
);

COMMENT ON TABLE workflow.definition_ids IS 'owner of each id that a definition ever had; wf_set_owner gives an id to another role';

CREATE TABLE workflow.grants (
    definition_id text    NOT NULL,
    role          integer NOT NULL,
    privilege     text    NOT NULL CONSTRAINT grants_privilege_check CHECK (privilege IN ('start', 'resume', 'read', 'alter')),
    grantor       integer NOT NULL,
    CONSTRAINT grants_pkey PRIMARY KEY (definition_id, role, privilege)
);

COMMENT ON TABLE workflow.grants IS 'what roles other than the owner may do with a definition and its instances';
COMMENT ON COLUMN workflow.grants.grantor IS 'the role (workflow.owners) that granted it; a grant by a superuser is the consent of both sides to stimuli';

CREATE TABLE workflow.event_grants (
    publisher integer NOT NULL,
    listener  integer NOT NULL,
    CONSTRAINT event_grants_pkey PRIMARY KEY (publisher, listener)
);

COMMENT ON TABLE workflow.event_grants IS 'which roles (workflow.owners) hear the stimuli of which others';

CREATE TABLE workflow.invoker_grants (
    lender   integer NOT NULL,
    borrower integer NOT NULL,
    CONSTRAINT invoker_grants_pkey PRIMARY KEY (lender, borrower)
);

COMMENT ON TABLE workflow.invoker_grants IS 'which roles (workflow.owners) lend their rights to the definitions of which others';

CREATE TABLE workflow.accepted_owners (
    worker      integer NOT NULL,
    owner       integer NOT NULL,
    for_members boolean NOT NULL,
    CONSTRAINT accepted_owners_pkey PRIMARY KEY (worker, owner)
);

COMMENT ON TABLE workflow.accepted_owners IS 'which roles (workflow.owners) claim tasks of definitions of which others';
COMMENT ON COLUMN workflow.accepted_owners.for_members IS 'whether it counts for the members of the worker: a superuser accepted. A member itself must not decide for the others';

-- Which tasks roles that only work may claim and answer. The columns that are NULL mean all.
CREATE TABLE workflow.task_grants (
    id            uuid    CONSTRAINT task_grants_pkey PRIMARY KEY,
    role          integer NOT NULL,
    grantor       integer NOT NULL,
    definition_id text,
    name          text
);

COMMENT ON TABLE workflow.task_grants IS 'tasks that roles may claim and answer by wf_grant_worker, without any other right';
COMMENT ON COLUMN workflow.task_grants.grantor IS 'the role (workflow.owners) that granted it; the grant counts for the definitions that this role may manage now';
COMMENT ON COLUMN workflow.task_grants.definition_id IS 'the definition whose tasks they are; NULL: of each that the grantor may manage';
COMMENT ON COLUMN workflow.task_grants.name IS 'name of the tasks; NULL: of any name';

-- May a role work on this task? Four probes: with and without definition and name.
CREATE UNIQUE INDEX task_grants_definition_id_name_idx ON workflow.task_grants (definition_id, name, role, grantor) NULLS NOT DISTINCT;
-- A claim: which tasks may this role have?
CREATE INDEX task_grants_role_idx ON workflow.task_grants (role);

-- Owners of HTTP paths, by first segment. A role whose workflow is published, or waits, at a free segment takes it:
-- the primary key decides between two transactions that take it at once.
CREATE TABLE workflow.paths (
    segment text COLLATE "C" CONSTRAINT paths_pkey PRIMARY KEY,
    owner   integer NOT NULL
);

COMMENT ON TABLE workflow.paths IS 'whose definitions may have endpoints below the first segment of an HTTP path';
COMMENT ON COLUMN workflow.paths.segment IS 'in lower case; empty means the root, * means the paths that begin with a parameter';

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

-- A burst writes only the columns that changed, and none of them is indexed unless the definition has an
-- activation strategy: the update is HOT. The columns that change are the last ones: of a heap-only update the WAL
-- has the bytes from the first to the last that differ.
CREATE TABLE workflow.instances (
    id                    uuid        CONSTRAINT instances_pkey PRIMARY KEY,
    definition_version_id uuid        NOT NULL,
    created_at            timestamptz NOT NULL,
    owner                 integer     NOT NULL,
    version               integer     NOT NULL,
    definition_id         text        NOT NULL,
    parent_instance_id    uuid,
    parent_bookmark_id    uuid,
    schedule_id           uuid,
    correlation_id        text,
    name                  text,
    activation_key        text,
    input                 jsonb       NOT NULL,
    status                text        NOT NULL,
    sub_status            text        NOT NULL,
    incident_count        integer     NOT NULL DEFAULT 0,
    updated_at            timestamptz NOT NULL,
    finished_at           timestamptz,
    state                 bytea       NOT NULL,
    variables             jsonb       NOT NULL,
    output                jsonb,
    cancelling_at         timestamptz,
    continued_from        uuid,
    paused_at             timestamptz,
    started_by            integer,
    started_actor         text
) WITH (fillfactor = 70);

COMMENT ON TABLE workflow.instances IS 'workflow instances, one row per run of a definition';
COMMENT ON COLUMN workflow.instances.status IS 'Running or Finished; follows from sub_status';
COMMENT ON COLUMN workflow.instances.sub_status IS 'Pending, Executing, Suspended, Finished, Faulted or Cancelled; a faulted instance can go on';
COMMENT ON COLUMN workflow.instances.definition_version_id IS 'the definition version that this instance is pinned to';
COMMENT ON COLUMN workflow.instances.variables IS 'variables of the workflow, by name';
COMMENT ON COLUMN workflow.instances.state IS 'the engine''s own state; workflow.instance_state(id) shows it';
COMMENT ON COLUMN workflow.instances.parent_instance_id IS 'the instance that started this one as its child';
COMMENT ON COLUMN workflow.instances.parent_bookmark_id IS 'the bookmark of the parent that is resumed when this instance ends';
COMMENT ON COLUMN workflow.instances.schedule_id IS 'the trigger that time fired to start it';
COMMENT ON COLUMN workflow.instances.activation_key IS 'key by which this instance excludes others while it runs, from its activation strategy';
COMMENT ON COLUMN workflow.instances.cancelling_at IS 'when it was cancelled, if handlers had to run before it ended';
COMMENT ON COLUMN workflow.instances.continued_from IS 'the instance that ended so that this one goes on in its place';
COMMENT ON COLUMN workflow.instances.paused_at IS 'since when it is paused; workflow.pauses says by whom and why';
COMMENT ON COLUMN workflow.instances.started_by IS 'id in workflow.owners of the role that started it, if that is not the owner';
COMMENT ON COLUMN workflow.instances.started_actor IS 'the actor who started it';
COMMENT ON COLUMN workflow.instances.finished_at IS 'when it ended for good: it finished, was cancelled, or faulted so that no retry can continue it; NULL: it can continue';

-- "All instances of order 42": a stimulus with a correlation id and no payload, and people.
CREATE INDEX instances_correlation_id_idx ON workflow.instances (correlation_id) WHERE correlation_id IS NOT NULL;
-- wf_delete_definition: does anything run on this version? Lists: the newest instances that a role may read, by version and owner.
CREATE INDEX instances_definition_version_id_idx ON workflow.instances (definition_version_id, owner, id);
-- wf_cancel reaches the children.
CREATE INDEX instances_parent_instance_id_idx ON workflow.instances (parent_instance_id) WHERE parent_instance_id IS NOT NULL;
-- What goes on in place of an instance? One at most.
CREATE UNIQUE INDEX instances_continued_from_idx ON workflow.instances (continued_from) WHERE continued_from IS NOT NULL;
-- The runs of a schedule, newest first: ids are in the order of time.
CREATE INDEX instances_schedule_id_idx ON workflow.instances (schedule_id, id) WHERE schedule_id IS NOT NULL;
-- The runs of commands, which retention looks for.
CREATE INDEX instances_command_idx ON workflow.instances (schedule_id, id) WHERE definition_id OPERATOR(pg_catalog.=) 'Workflow.ScheduledCommand';
-- Activation strategies, on every start path and under any concurrency.
CREATE UNIQUE INDEX instances_activation_key_idx ON workflow.instances (activation_key) WHERE activation_key IS NOT NULL;

CREATE TABLE workflow.bookmarks (
    id                   uuid        CONSTRAINT bookmarks_pkey PRIMARY KEY,
    instance_id          uuid        NOT NULL,
    activity_instance_id uuid        NOT NULL,
    hash_key             bigint,
    created_at           timestamptz NOT NULL,
    due_at               timestamptz,
    auto_burn            boolean     NOT NULL DEFAULT true,
    auto_complete        boolean     NOT NULL DEFAULT true,
    hash                 bytea,
    activity_id          text        NOT NULL,
    node_id              text        NOT NULL,
    activity_type        text        NOT NULL,
    name                 text        NOT NULL,
    correlation_id       text,
    callback             text,
    callback_owner       integer,
    payload              jsonb,
    metadata             jsonb,
    attempts             integer,
    priority             integer,
    claims               integer,
    available_at         timestamptz,
    lease_until          timestamptz,
    token                uuid,
    worker               text,
    progress             jsonb,
    last_error           text,
    assignee             text,
    candidates           jsonb,
    result_schema        jsonb,
    lane                 text        COLLATE "C",
    paused_at            timestamptz,
    due_when_paused      timestamptz
);

COMMENT ON TABLE workflow.bookmarks IS 'where instances wait, and nothing else says so; a row is deleted when it is used up';
COMMENT ON COLUMN workflow.bookmarks.activity_instance_id IS 'the execution of the activity that waits';
COMMENT ON COLUMN workflow.bookmarks.hash IS 'SHA-256 of the stimulus: name, payload and, if included, activity instance; NULL for a task, which is met by its id, and for what no stimulus meets';
COMMENT ON COLUMN workflow.bookmarks.hash_key IS 'first eight bytes of the hash; the index key';
COMMENT ON COLUMN workflow.bookmarks.payload IS 'payload of the stimulus; of a task without its id, which is the bookmark''s';
COMMENT ON COLUMN workflow.bookmarks.callback IS 'function that a resume calls; without it the activity''s own handler runs';
COMMENT ON COLUMN workflow.bookmarks.callback_owner IS 'owner of that function when the bookmark was made; a function of this name that another role owns is not called';
COMMENT ON COLUMN workflow.bookmarks.auto_burn IS 'whether a resume uses the bookmark up';
COMMENT ON COLUMN workflow.bookmarks.auto_complete IS 'whether a resume without callback completes the activity';
COMMENT ON COLUMN workflow.bookmarks.due_at IS 'when it is due';
COMMENT ON COLUMN workflow.bookmarks.attempts IS 'how often firing it failed without an outcome; the third failure makes a dead letter';
COMMENT ON COLUMN workflow.bookmarks.priority IS 'of a task: workers claim a higher one first; NULL is 0';
COMMENT ON COLUMN workflow.bookmarks.claims IS 'of a task: number of its attempts, which the claims of workers count';
COMMENT ON COLUMN workflow.bookmarks.available_at IS 'of a task: NULL if it can be claimed, -infinity if it can be claimed within the limits of its lane, else the earliest instant at which it could be; infinity: a worker makes the last attempt';
COMMENT ON COLUMN workflow.bookmarks.lease_until IS 'of a task: until when a worker holds it; a heartbeat moves it; NULL beside a token: another task has its slot';
COMMENT ON COLUMN workflow.bookmarks.token IS 'of a task: what the worker that claimed it last proves it with';
COMMENT ON COLUMN workflow.bookmarks.worker IS 'of a task: name of the worker that claimed it last';
COMMENT ON COLUMN workflow.bookmarks.progress IS 'of a task: what a worker noted with its heartbeats';
COMMENT ON COLUMN workflow.bookmarks.last_error IS 'of a task: why its last attempt failed that a worker reported';
COMMENT ON COLUMN workflow.bookmarks.assignee IS 'of a task: who is to do it, a label or role: with an id of workflow.owners';
COMMENT ON COLUMN workflow.bookmarks.candidates IS 'of a task: who may do it, a list of such texts';
COMMENT ON COLUMN workflow.bookmarks.result_schema IS 'of a task: JSON Schema that its answer must match';
COMMENT ON COLUMN workflow.bookmarks.lane IS 'of a task of a name with limits: id of the limit, with a key also the value of the key; tasks of a lane need the same slots. Of an instance that waits for its turn: definition and value of the key';
COMMENT ON COLUMN workflow.bookmarks.paused_at IS 'of a paused instance: since when its clock stands still; then it is in no index of what is due or can be claimed';
COMMENT ON COLUMN workflow.bookmarks.due_when_paused IS 'of a paused instance: its due_at, of a task its available_at (-infinity: it can be claimed), which it gets back when the pause ends';

-- Which bookmarks does a stimulus match? Name and payload, with or without correlation id.
CREATE INDEX bookmarks_hash_key_correlation_id_idx ON workflow.bookmarks (hash_key, correlation_id) WHERE hash_key IS NOT NULL;
-- The bookmarks of an instance: to clear them, and for stimuli to one instance.
CREATE INDEX bookmarks_instance_id_idx ON workflow.bookmarks (instance_id);
-- Stimuli without a payload: by type, by name, by activity. Tasks are met by id.
CREATE INDEX bookmarks_kind_idx ON workflow.bookmarks (activity_type, name, activity_id)
    WHERE activity_type OPERATOR(pg_catalog.<>) 'Elsa.RunTask';
-- What is due?
CREATE INDEX bookmarks_due_at_idx ON workflow.bookmarks (due_at) WHERE due_at IS NOT NULL;

-- Which endpoints may an HTTP request mean? By shape, literals and template of their paths, and by method.
CREATE INDEX bookmarks_route_idx ON workflow.bookmarks ((payload OPERATOR(pg_catalog.->>) 'Route') COLLATE "C")
    WHERE activity_type IS NOT DISTINCT FROM 'Elsa.HttpEndpoint';

-- The inbox of workers: the open tasks of a name, those first that can be claimed, in the order in which they are. A task is
-- open while its bookmark exists.
CREATE INDEX bookmarks_inbox_idx ON workflow.bookmarks
    ((payload OPERATOR(pg_catalog.->>) 'TaskName'), available_at NULLS FIRST, (COALESCE(priority, 0)) DESC, created_at)
    WHERE activity_type IS NOT DISTINCT FROM 'Elsa.RunTask';
-- The open tasks that have an assignee.
CREATE INDEX bookmarks_assignee_idx ON workflow.bookmarks (assignee) WHERE assignee IS NOT NULL;

-- Which tasks of a limited name are left when some keys are full? By lane, each in the order of the inbox.
CREATE INDEX bookmarks_lane_idx ON workflow.bookmarks
    ((payload OPERATOR(pg_catalog.->>) 'TaskName'), lane, available_at, (COALESCE(priority, 0)) DESC, created_at)
    WHERE lane IS NOT NULL;

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
    CONSTRAINT triggers_definition_id_node_id_hash_key UNIQUE (definition_id, node_id, hash),
    CONSTRAINT triggers_schedule_check CHECK (schedule_name IS NULL OR (owner IS NOT NULL AND schedule IS NOT NULL))
);

COMMENT ON TABLE workflow.triggers IS 'what starts the published definitions: one row per trigger activity and payload';
COMMENT ON COLUMN workflow.triggers.next_fire_at IS 'when it is due next: at the scheduled instant, later by its jitter, or earlier for a fire that waited';
COMMENT ON COLUMN workflow.triggers.scheduled_at IS 'the next instant of its schedule, whatever delays it or comes before it';
COMMENT ON COLUMN workflow.triggers.schedule IS 'when time starts it, in which time zone, and what happens to what was missed or overlaps';
COMMENT ON COLUMN workflow.triggers.active IS 'whether time starts it; a paused schedule keeps its settings';
COMMENT ON COLUMN workflow.triggers.schedule_name IS 'name of a schedule made by wf_schedule; NULL for a trigger of a definition';
COMMENT ON COLUMN workflow.triggers.owner IS 'owner of a named schedule, and of what it starts; otherwise the definition''s';
COMMENT ON COLUMN workflow.triggers.made_actor IS 'of a named schedule: the actor who made it, or said last what it does or whose it is';
COMMENT ON COLUMN workflow.triggers.made_by IS 'id in workflow.owners of the role that did; NULL: not on record';
COMMENT ON COLUMN workflow.triggers.made_login IS 'id in workflow.owners of the role of that session, if that is another one';
COMMENT ON COLUMN workflow.triggers.input IS 'input of the instances of a named schedule';
COMMENT ON COLUMN workflow.triggers.correlation_id IS 'correlation id of the instances of a named schedule';
COMMENT ON COLUMN workflow.triggers.last_fire_at IS 'the scheduled instant that was fired last';
COMMENT ON COLUMN workflow.triggers.queued IS 'fires that wait for the last instance to end';
COMMENT ON COLUMN workflow.triggers.skipped IS 'fires that started nothing: a run was still going on, or an activation strategy refused';
COMMENT ON COLUMN workflow.triggers.missed IS 'missed instants that were not made up for';
COMMENT ON COLUMN workflow.triggers.attempts IS 'how often firing failed since the last success';

-- Which triggers does a stimulus start?
CREATE INDEX triggers_hash_key_idx ON workflow.triggers (hash_key);
-- A stimulus without a payload starts all of its name.
CREATE INDEX triggers_name_idx ON workflow.triggers (name);
-- As for bookmarks; and one workflow for each path and method.
CREATE INDEX triggers_route_idx ON workflow.triggers ((payload OPERATOR(pg_catalog.->>) 'Route') COLLATE "C")
    WHERE activity_type IS NOT DISTINCT FROM 'Elsa.HttpEndpoint';
CREATE UNIQUE INDEX triggers_endpoint_idx ON workflow.triggers (hash) WHERE name OPERATOR(pg_catalog.=) 'Elsa.HttpEndpoint';
-- A schedule by name.
CREATE UNIQUE INDEX triggers_owner_schedule_name_idx ON workflow.triggers (owner, schedule_name) WHERE schedule_name IS NOT NULL;
-- What fires next?
CREATE INDEX triggers_next_fire_at_idx ON workflow.triggers (next_fire_at) WHERE next_fire_at IS NOT NULL;

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
    actor                text
);

COMMENT ON COLUMN workflow.bookmark_queue.login IS 'id in workflow.owners of the role of the session that sent it; NULL: a workflow sent it';
COMMENT ON COLUMN workflow.bookmark_queue.actor IS 'the actor who sent it';
COMMENT ON TABLE workflow.bookmark_queue IS 'stimuli that wait for a bookmark; the columns from bookmark_id to activity_id are the filter, NULL matches anything';
COMMENT ON COLUMN workflow.bookmark_queue.uncorrelated IS 'whether only instances without a correlation id are meant';
COMMENT ON COLUMN workflow.bookmark_queue.shape IS 'which columns the match key is made of';
COMMENT ON COLUMN workflow.bookmark_queue.match_key IS 'hash of those columns: a new bookmark finds the items that want it without scanning the queue';
COMMENT ON COLUMN workflow.bookmark_queue.sender IS 'the role (workflow.owners) that sent it; it is delivered only where that role may resume';
COMMENT ON COLUMN workflow.bookmark_queue.not_before IS 'a failed delivery is not tried again before this';
COMMENT ON COLUMN workflow.bookmark_queue.deferred_for IS 'the instance whose running burst it waits for; such a row is removed before its transaction ends';

-- Which items want this new bookmark? The shapes in the queue come from the same index.
CREATE INDEX bookmark_queue_match_idx ON workflow.bookmark_queue (shape, match_key, sender, id);
CREATE INDEX bookmark_queue_deferred_for_idx ON workflow.bookmark_queue (deferred_for) WHERE deferred_for IS NOT NULL;
CREATE INDEX bookmark_queue_instance_id_idx ON workflow.bookmark_queue (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX bookmark_queue_expires_at_idx ON workflow.bookmark_queue (expires_at);
-- What goes with an instance: items that name a bookmark or an execution alone, and those for its correlation id.
CREATE INDEX bookmark_queue_target_idx ON workflow.bookmark_queue ((COALESCE(bookmark_id, activity_instance_id)))
    WHERE instance_id IS NULL AND COALESCE(bookmark_id, activity_instance_id) IS NOT NULL;
CREATE INDEX bookmark_queue_correlation_id_idx ON workflow.bookmark_queue (correlation_id)
    WHERE correlation_id IS NOT NULL AND instance_id IS NULL;

CREATE TABLE workflow.dead_letters (
    id                   uuid        CONSTRAINT dead_letters_pkey PRIMARY KEY,
    reason               text        NOT NULL CONSTRAINT dead_letters_reason_check CHECK (reason IN ('Expired', 'Failed')),
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
COMMENT ON TABLE workflow.dead_letters IS 'stimuli that expired or whose delivery failed three times, and due bookmarks that could not be fired';
COMMENT ON COLUMN workflow.dead_letters.uncorrelated IS 'whether only instances without a correlation id were meant';
COMMENT ON COLUMN workflow.dead_letters.due_at IS 'when the bookmark was due that could not be fired; NULL for a stimulus';
COMMENT ON COLUMN workflow.dead_letters.replayed_at IS 'when wf_replay gave it another chance';

CREATE INDEX dead_letters_dead_at_idx ON workflow.dead_letters (dead_at);
-- Bookmarks that were given up: the view workflow.waiting, and wf_explain.
CREATE INDEX dead_letters_bookmark_id_idx ON workflow.dead_letters (bookmark_id) WHERE due_at IS NOT NULL AND replayed_at IS NULL;
-- What goes with an instance, as in the queue.
CREATE INDEX dead_letters_instance_id_idx ON workflow.dead_letters (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX dead_letters_target_idx ON workflow.dead_letters ((COALESCE(bookmark_id, activity_instance_id)))
    WHERE instance_id IS NULL AND COALESCE(bookmark_id, activity_instance_id) IS NOT NULL;
CREATE INDEX dead_letters_correlation_id_idx ON workflow.dead_letters (correlation_id)
    WHERE correlation_id IS NOT NULL AND instance_id IS NULL;

CREATE TABLE workflow.tasks (
    id             uuid        CONSTRAINT tasks_pkey PRIMARY KEY,
    instance_id    uuid        NOT NULL,
    created_at     timestamptz NOT NULL,
    activity_id    text        NOT NULL,
    name           text        NOT NULL,
    correlation_id text,
    payload        jsonb,
    status         text        NOT NULL,
    completed_at   timestamptz,
    result         jsonb,
    token          uuid,
    deadline       timestamptz,
    form           jsonb,
    assignee       text,
    candidates     jsonb,
    completed_by   integer,
    completed_actor text
) WITH (fillfactor = 80);

COMMENT ON TABLE workflow.tasks IS 'work for people and programs outside; a task''s id is its bookmark''s id';

COMMENT ON COLUMN workflow.tasks.status IS 'Open, Completed, Failed or Cancelled';
COMMENT ON COLUMN workflow.tasks.token IS 'of a task that a worker completed or gave up: the token with which it did';
COMMENT ON COLUMN workflow.tasks.deadline IS 'until when people are to do it; nothing happens then';
COMMENT ON COLUMN workflow.tasks.form IS 'JSON Schema of a form for the answer';
COMMENT ON COLUMN workflow.tasks.assignee IS 'of a task that was completed or given up: who was to do it; of an open one the bookmark says so';
COMMENT ON COLUMN workflow.tasks.candidates IS 'the same: who might do it';
COMMENT ON COLUMN workflow.tasks.completed_by IS 'of a task that was completed or given up: id in workflow.owners of the role that did it; NULL: the engine, or a version before 0.3.0';
COMMENT ON COLUMN workflow.tasks.completed_actor IS 'the same: the actor';

-- Not by status or completed_at: no index covers what a completion changes, so that it is HOT.
CREATE INDEX tasks_instance_id_idx ON workflow.tasks (instance_id);

-- How many tasks of a name workers may hold, and begin in a period: one row without a key and one with a key for each
-- owner and name. It counts the tasks of the owner's definitions. A claim shares the lock of the owner and
-- the name until its transaction ends, and a change waits for it: so a limit counts every lease.
CREATE TABLE workflow.limits (
    id          integer GENERATED ALWAYS AS IDENTITY CONSTRAINT limits_pkey PRIMARY KEY,
    owner       integer NOT NULL,
    name        text    NOT NULL,
    key         text,
    concurrency integer,
    rate        integer,
    per         bigint  NOT NULL
);

COMMENT ON TABLE workflow.limits IS 'limits of tasks by name, and by a member of their payload';
COMMENT ON COLUMN workflow.limits.key IS 'the member of the payload, each value of which has the limit for itself; NULL: all tasks of the name together';
COMMENT ON COLUMN workflow.limits.concurrency IS 'leases at the same time';
COMMENT ON COLUMN workflow.limits.rate IS 'claims in each period; NULL like concurrency: a limit that was removed while tasks were locked that still have its lane';
COMMENT ON COLUMN workflow.limits.per IS 'the period, in microseconds';

-- A claim: which limits have tasks of this name?
CREATE UNIQUE INDEX limits_name_owner_idx ON workflow.limits (name, owner, (key IS NULL));

-- What a claim takes, one row for each run that a limit permits. A row says who took it, not whether it is free: that
-- follows from the lease, however it ends, and from the time. Rows are made when they are needed first.
CREATE TABLE workflow.slots (
    id       uuid        CONSTRAINT slots_pkey PRIMARY KEY,
    limit_id integer     NOT NULL,
    place    text        COLLATE "C" NOT NULL,
    n        integer     NOT NULL,
    taken_at timestamptz,
    task     uuid,
    token    uuid
) WITH (fillfactor = 50);

COMMENT ON TABLE workflow.slots IS 'the runs that limits permit, and who took them';
COMMENT ON COLUMN workflow.slots.n IS 'number in its place; beyond the limit: it was taken before the limit was lowered';
COMMENT ON COLUMN workflow.slots.place IS 'begins with c for leases at the same time, with r for claims in a period; then the value of the key';
COMMENT ON COLUMN workflow.slots.taken_at IS 'of a claim in a period: when it was taken last; it is free when the period has passed';
COMMENT ON COLUMN workflow.slots.task IS 'of a lease: the task that holds it';
COMMENT ON COLUMN workflow.slots.token IS 'the token of that lease; the slot is free when the lease does not run';

-- Which slots has a place?
CREATE UNIQUE INDEX slots_limit_id_place_n_idx ON workflow.slots (limit_id, place, n);
-- Which slot of a period is free first? The column is NULL in the others, so that taking them is HOT.
CREATE INDEX slots_taken_at_idx ON workflow.slots (limit_id, place, taken_at) WHERE taken_at IS NOT NULL;

-- Which instances of definitions with maxConcurrency have begun: one row for each that may run at the same time. A row says
-- which instance took it; it is free when that instance has ended. Rows are made when they are needed first.
CREATE TABLE workflow.admissions (
    id            uuid    CONSTRAINT admissions_pkey PRIMARY KEY,
    definition_id text    NOT NULL,
    place         text    COLLATE "C" NOT NULL,
    n             integer NOT NULL,
    instance_id   uuid
) WITH (fillfactor = 50);

COMMENT ON TABLE workflow.admissions IS 'the instances that options.maxConcurrency allows, and who took them';
COMMENT ON COLUMN workflow.admissions.place IS 'the value of the key behind a mark; empty without a key';
COMMENT ON COLUMN workflow.admissions.instance_id IS 'the instance that took it last; it is free when that has ended';

-- Which admissions has a place?
CREATE UNIQUE INDEX admissions_definition_id_place_n_idx ON workflow.admissions (definition_id, place, n);
-- Is the parent of a child admitted?
CREATE INDEX admissions_instance_id_idx ON workflow.admissions (instance_id) WHERE instance_id IS NOT NULL;

CREATE TABLE workflow.incidents (
    id                   uuid        CONSTRAINT incidents_pkey PRIMARY KEY,
    instance_id          uuid        NOT NULL,
    activity_id          text        NOT NULL,
    node_id              text        NOT NULL,
    activity_type        text        NOT NULL,
    activity_instance_id uuid        NOT NULL,
    created_at           timestamptz NOT NULL,
    resolved_at          timestamptz,
    sqlstate             text        NOT NULL,
    message              text        NOT NULL,
    detail               text,
    hint                 text,
    context              text,
    code                 text,
    attempts             integer
);

COMMENT ON TABLE workflow.incidents IS 'faults of activities';
COMMENT ON COLUMN workflow.incidents.attempts IS 'number of attempts of the execution, of which the last one faulted; NULL is 1';
COMMENT ON COLUMN workflow.incidents.code IS 'by which retry policies and catches name the fault, if it is no error of PostgreSQL';
COMMENT ON COLUMN workflow.incidents.resolved_at IS 'when a retry or a resume ran the activity again, or a cancel ended it';

CREATE INDEX incidents_instance_id_idx ON workflow.incidents (instance_id);
CREATE INDEX incidents_open_idx ON workflow.incidents (created_at) WHERE resolved_at IS NULL;

CREATE TABLE workflow.compensations (
    instance_id uuid        NOT NULL,
    holder      bigint      NOT NULL,
    number      bigint      NOT NULL,
    created_at  timestamptz NOT NULL,
    activity_id text        NOT NULL,
    node_id     text        NOT NULL,
    kept        bytea       NOT NULL,
    CONSTRAINT compensations_pkey PRIMARY KEY (instance_id, holder, number)
);

COMMENT ON TABLE workflow.compensations IS 'records of what can be compensated or has to be cancelled; workflow.open_compensations shows them';
COMMENT ON COLUMN workflow.compensations.holder IS 'the execution or record that holds it; 4294967295 is the instance, 4294967294 stands for what was interrupted';
COMMENT ON COLUMN workflow.compensations.number IS 'in the order in which the records of an instance came to be';
COMMENT ON COLUMN workflow.compensations.kept IS 'what its handler sees of the moment when the record came to be, packed';

-- Who paused an instance, and why. A call reads instances.paused_at with the instance, and a row here only if it is set.
CREATE TABLE workflow.pauses (
    instance_id uuid        CONSTRAINT pauses_pkey PRIMARY KEY,
    paused_at   timestamptz NOT NULL,
    paused_by   integer     NOT NULL,
    reason      text,
    paused_with uuid,
    unpaused_at timestamptz
);

COMMENT ON TABLE workflow.pauses IS 'instances that are paused';
COMMENT ON COLUMN workflow.pauses.paused_with IS 'the instance above it that the call named, if it was paused as one of its children';
COMMENT ON COLUMN workflow.pauses.unpaused_at IS 'when a call ended the pause, if a session of the owner is to deliver what was kept meanwhile';

-- Which instances were paused with this one?
CREATE INDEX pauses_paused_with_idx ON workflow.pauses (paused_with) WHERE paused_with IS NOT NULL;

-- What wf_call was asked and what it answered, so that a client may send a call again.
CREATE TABLE workflow.messages (
    owner     integer     NOT NULL,
    key       text        NOT NULL,
    message   text        NOT NULL,
    content   bytea       NOT NULL,
    answer    jsonb       NOT NULL,
    called_at timestamptz NOT NULL,
    CONSTRAINT messages_pkey PRIMARY KEY (key, owner, message)
);

COMMENT ON TABLE workflow.messages IS 'calls of wf_call that were answered, for workflow.message_retention';
COMMENT ON COLUMN workflow.messages.owner IS 'the role that called';
COMMENT ON COLUMN workflow.messages.content IS 'SHA-256 of kind, name and body: the same message with another content is an error';

-- What is old enough to be forgotten?
CREATE INDEX messages_called_at_idx ON workflow.messages (called_at);

-- Which partitions of correlation ids this node has, where several nodes share them.
CREATE TABLE workflow.partitions (
    partition integer CONSTRAINT partitions_pkey PRIMARY KEY,
    count     integer NOT NULL
);

COMMENT ON TABLE workflow.partitions IS 'partitions of correlation ids that this node has, for workflow.route_check = partitions';
COMMENT ON COLUMN workflow.partitions.count IS 'number of partitions of all nodes, the same in each row';

-- Pieces that the running transaction has taken in by wf_import_instances. At its end each set has to be complete, and the rows
-- go: no other transaction ever sees one.
CREATE TABLE workflow.imports (
    set_id      uuid    NOT NULL,
    piece       integer NOT NULL,
    digest      bytea   NOT NULL,
    last_digest bytea,
    CONSTRAINT imports_pkey PRIMARY KEY (set_id, piece)
);

COMMENT ON TABLE workflow.imports IS 'pieces of sets of instances that the running transaction has taken in';
COMMENT ON COLUMN workflow.imports.last_digest IS 'of the last piece: SHA-256 of the digests of those before it';

CREATE FUNCTION workflow._end_import()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM workflow.imports i WHERE i.set_id = NEW.set_id) AND NOT EXISTS (
        SELECT FROM workflow.imports l
        WHERE l.set_id = NEW.set_id AND l.last_digest = (
            SELECT sha256(coalesce(string_agg(i.digest, '' ORDER BY i.piece) FILTER (WHERE i.piece < l.piece), ''))
            FROM workflow.imports i WHERE i.set_id = NEW.set_id HAVING count(*) = l.piece)) THEN
        RAISE EXCEPTION 'instances of another node are not complete'
            USING ERRCODE = '55000', DETAIL = 'The transaction has not taken in all pieces that one call of wf_export_instances has returned.',
                  HINT = 'Pass all of them to wf_import_instances, in one transaction.';
    END IF;
    DELETE FROM workflow.imports WHERE set_id = NEW.set_id;
    RETURN NULL;
END $$;

COMMENT ON FUNCTION workflow._end_import() IS 'refuses to commit a set of instances of which pieces are missing';

CREATE CONSTRAINT TRIGGER end_import AFTER INSERT ON workflow.imports DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION workflow._end_import();

CREATE TABLE workflow.execution_log (
    instance_id uuid        NOT NULL,
    seq         integer     NOT NULL,
    created_at  timestamptz NOT NULL,
    events      bytea       NOT NULL,
    CONSTRAINT execution_log_pkey PRIMARY KEY (instance_id, seq)
);

COMMENT ON TABLE workflow.execution_log IS 'what happened, one row per burst, packed; workflow.journal shows it in words';

-- The packed events of a burst that has hundreds of them are worth compressing. pglz takes longer for that than the burst
-- itself; a server may have been built without lz4.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_settings s WHERE s.name OPERATOR(pg_catalog.=) 'default_toast_compression'
               AND 'lz4' OPERATOR(pg_catalog.=) ANY (s.enumvals)) THEN
        ALTER TABLE workflow.execution_log ALTER COLUMN events SET COMPRESSION lz4;
    END IF;
END $$;

-- Append-only, so a few pages of BRIN answer "what happened at that instant": whether an unknown bookmark
-- was used up is looked up by the time inside its id.
CREATE INDEX execution_log_created_at_idx ON workflow.execution_log USING brin (created_at) WITH (pages_per_range = 16);

-- Acts whose rows of the journal were removed, and acts that were done to no instance. No sequence numbers them, because
-- logical replication leaves sequences behind.
CREATE TABLE workflow.audit_log (
    id             uuid        DEFAULT pg_catalog.gen_random_uuid() CONSTRAINT audit_log_pkey PRIMARY KEY,
    at             timestamptz NOT NULL,
    kind           text        NOT NULL,
    definition_id  text,
    instance_id    uuid,
    correlation_id text,
    activity       text,
    task           text,
    bookmark_id    uuid,
    owner          integer,
    role           integer,
    login          integer,
    actor          text,
    detail         jsonb
);

COMMENT ON TABLE workflow.audit_log IS 'acts whose rows of the journal were removed, and acts that were done to no instance; workflow.audit shows all acts';
COMMENT ON COLUMN workflow.audit_log.at IS 'by the clock of the server, whatever workflow.now said';
COMMENT ON COLUMN workflow.audit_log.bookmark_id IS 'a task has the id of its bookmark';
COMMENT ON COLUMN workflow.audit_log.owner IS 'id in workflow.owners: of the owner of the instance, unless that is a child, or of the object';
COMMENT ON COLUMN workflow.audit_log.role IS 'the same: the role whose rights were in force';
COMMENT ON COLUMN workflow.audit_log.login IS 'the same: the role of the session, if it is another one';
COMMENT ON COLUMN workflow.audit_log.actor IS 'the person for whom that role acted';

-- Which acts are older than workflow.audit_retention?
CREATE INDEX audit_log_at_idx ON workflow.audit_log (at);
-- What was done to an instance that is gone, and for a correlation id?
CREATE INDEX audit_log_instance_id_idx ON workflow.audit_log (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX audit_log_correlation_id_idx ON workflow.audit_log (correlation_id) WHERE correlation_id IS NOT NULL;

-- Rows of both tables live for seconds: vacuum the tables early, by count rather than by share.
ALTER TABLE workflow.bookmarks SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE workflow.bookmark_queue SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

SELECT pg_catalog.pg_extension_config_dump('workflow.owners', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.owners_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.identity', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.definitions', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.definition_ids', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.grants', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.event_grants', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.invoker_grants', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.accepted_owners', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.task_grants', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.paths', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.activity_types', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.instances', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.bookmarks', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.triggers', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.bookmark_queue', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.dead_letters', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.tasks', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.limits', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.limits_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.slots', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.admissions', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.incidents', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.compensations', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.pauses', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.messages', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.partitions', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.execution_log', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.audit_log', '');
