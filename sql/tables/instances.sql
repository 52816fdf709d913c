-- A burst writes only the columns that changed. None of them is indexed, unless the definition has an activation strategy, so
-- the update is HOT. Columns that change come last, because the WAL record of a HOT update contains the bytes from the first to
-- the last difference.
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
    started_actor         text,
    traceparent           text
) WITH (fillfactor = 70);

COMMENT ON TABLE workflow.instances IS 'workflow instances, one row per run of a definition';
COMMENT ON COLUMN workflow.instances.status IS 'Running or Finished; follows from sub_status';
COMMENT ON COLUMN workflow.instances.sub_status IS 'Pending, Executing, Suspended, Finished, Faulted or Cancelled; a faulted instance can continue';
COMMENT ON COLUMN workflow.instances.definition_version_id IS 'the definition version that this instance is pinned to';
COMMENT ON COLUMN workflow.instances.variables IS 'variables of the workflow, by name';
COMMENT ON COLUMN workflow.instances.state IS 'internal state of the engine; workflow.instance_state(id) shows it';
COMMENT ON COLUMN workflow.instances.parent_instance_id IS 'the instance that started this one as its child';
COMMENT ON COLUMN workflow.instances.parent_bookmark_id IS 'the bookmark of the parent that is resumed when this instance ends';
COMMENT ON COLUMN workflow.instances.schedule_id IS 'the trigger that started it by time';
COMMENT ON COLUMN workflow.instances.activation_key IS 'key by which this instance excludes others while it runs, according to its activation strategy';
COMMENT ON COLUMN workflow.instances.cancelling_at IS 'when it was cancelled, if handlers had to run before it ended';
COMMENT ON COLUMN workflow.instances.continued_from IS 'the instance that ended and that this one continues';
COMMENT ON COLUMN workflow.instances.paused_at IS 'since when it is paused; workflow.pauses says by whom and why';
COMMENT ON COLUMN workflow.instances.started_by IS 'id in workflow.owners of the role that started it, if that is not the owner';
COMMENT ON COLUMN workflow.instances.started_actor IS 'the actor who started it';
COMMENT ON COLUMN workflow.instances.traceparent IS 'the trace that it belongs to, in the form of W3C Trace Context; the parent in it is what started the instance';
COMMENT ON COLUMN workflow.instances.finished_at IS 'when it ended for good: it finished, was cancelled, or faulted so that no retry can continue it; NULL: it can continue';

-- "All instances of order 42": for stimuli with a correlation id and no payload, and for users.
CREATE INDEX instances_correlation_id_idx ON workflow.instances (correlation_id) WHERE correlation_id IS NOT NULL;
-- wf_delete_definition: does anything run on this version? Lists: the newest instances that a role may read, by version and owner.
CREATE INDEX instances_definition_version_id_idx ON workflow.instances (definition_version_id, owner, id);
-- wf_cancel: which children have to be cancelled?
CREATE INDEX instances_parent_instance_id_idx ON workflow.instances (parent_instance_id) WHERE parent_instance_id IS NOT NULL;
-- Which instance continues this one? At most one.
CREATE UNIQUE INDEX instances_continued_from_idx ON workflow.instances (continued_from) WHERE continued_from IS NOT NULL;
-- The runs of a schedule, newest first: ids are ordered by time.
CREATE INDEX instances_schedule_id_idx ON workflow.instances (schedule_id, id) WHERE schedule_id IS NOT NULL;
-- Retention: which runs of commands are old enough?
CREATE INDEX instances_command_idx ON workflow.instances (schedule_id, id) WHERE definition_id OPERATOR(pg_catalog.=) 'Workflow.ScheduledCommand';
-- Enforces activation strategies for every way to start, under any concurrency.
CREATE UNIQUE INDEX instances_activation_key_idx ON workflow.instances (activation_key) WHERE activation_key IS NOT NULL;

CREATE TABLE workflow.bookmarks (
    id                   uuid        CONSTRAINT bookmarks_pkey PRIMARY KEY,
    instance_id          uuid        NOT NULL,
    activity_instance_id uuid        NOT NULL,
    hash_key             integer,
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
    due_when_paused      timestamptz,
    definition_owner     integer,
    instance_owner       integer,
    correlation_key      integer,
    kind_key             integer
);

COMMENT ON TABLE workflow.bookmarks IS 'where instances wait; a row is deleted when it is used up';
COMMENT ON COLUMN workflow.bookmarks.activity_instance_id IS 'the execution of the activity that waits';
COMMENT ON COLUMN workflow.bookmarks.hash IS 'SHA-256 of the stimulus: name, payload and, if included, activity instance; NULL for a task, which is found by its id, and for bookmarks that no stimulus matches';
COMMENT ON COLUMN workflow.bookmarks.payload IS 'payload of the stimulus; for a task without its id, which is the bookmark''s id';
COMMENT ON COLUMN workflow.bookmarks.callback IS 'function that a resume calls; without it the activity''s own handler runs';
COMMENT ON COLUMN workflow.bookmarks.callback_owner IS 'owner of that function when the bookmark was made; a function of this name that another role owns is not called';
COMMENT ON COLUMN workflow.bookmarks.auto_burn IS 'whether a resume uses the bookmark up';
COMMENT ON COLUMN workflow.bookmarks.auto_complete IS 'whether a resume without callback completes the activity';
COMMENT ON COLUMN workflow.bookmarks.due_at IS 'when it is due';
COMMENT ON COLUMN workflow.bookmarks.attempts IS 'how often firing it failed without an outcome; the third failure makes a dead letter';
COMMENT ON COLUMN workflow.bookmarks.priority IS 'of a task: task workers claim a higher one first; NULL is 0';
COMMENT ON COLUMN workflow.bookmarks.claims IS 'of a task: number of its attempts, one for each claim';
COMMENT ON COLUMN workflow.bookmarks.available_at IS 'of a task: NULL if it can be claimed, -infinity if it can be claimed within the limits of its lane, otherwise the earliest time at which it could be; infinity: a task worker makes the last attempt';
COMMENT ON COLUMN workflow.bookmarks.lease_until IS 'of a task: until when a task worker holds it; a heartbeat moves it; NULL beside a token: another task has its slot';
COMMENT ON COLUMN workflow.bookmarks.token IS 'of a task: the token of its latest claim';
COMMENT ON COLUMN workflow.bookmarks.worker IS 'of a task: name of the task worker that claimed it last';
COMMENT ON COLUMN workflow.bookmarks.progress IS 'of a task: what a task worker recorded with its heartbeats';
COMMENT ON COLUMN workflow.bookmarks.last_error IS 'of a task: the error of its last attempt that a task worker reported';
COMMENT ON COLUMN workflow.bookmarks.assignee IS 'of a task: who is to do it, a label or role: with an id of workflow.owners';
COMMENT ON COLUMN workflow.bookmarks.candidates IS 'of a task: who may do it, a list of such texts';
COMMENT ON COLUMN workflow.bookmarks.result_schema IS 'of a task: JSON Schema that its answer must match';
COMMENT ON COLUMN workflow.bookmarks.lane IS 'the group of bookmarks that wait for the same slots. Of a task of a name with limits: id of the limit, with a key also the value of the key. Of an instance that waits for its turn: definition and value of the key';
COMMENT ON COLUMN workflow.bookmarks.paused_at IS 'of a paused instance: when its clock was stopped; such a bookmark is in no index of due or claimable ones';
COMMENT ON COLUMN workflow.bookmarks.due_when_paused IS 'of a paused instance: its due_at, of a task its available_at (-infinity: it can be claimed), restored when the pause ends';
COMMENT ON COLUMN workflow.bookmarks.definition_owner IS 'of a task, and of a bookmark that a stimulus can match: owner of the definition when the bookmark was stored; a search skips those of other owners';
COMMENT ON COLUMN workflow.bookmarks.instance_owner IS 'of a bookmark with a hash: owner of the instance';
COMMENT ON COLUMN workflow.bookmarks.hash_key IS 'first four bytes of the hash, for the index';
COMMENT ON COLUMN workflow.bookmarks.correlation_key IS 'of a bookmark with a hash: hashtext of the correlation id, for the index; 0: there is none';
COMMENT ON COLUMN workflow.bookmarks.kind_key IS 'of a bookmark with a hash that is not of a RunTask: 10 bits of hashtext of the type, 10 of that of the name and 12 of that of the activity, for the index';

-- The indexes by which claims and stimuli search have the owner of the definition, so that a search reads nothing of owners whom
-- it does not reach, however many rows they have.
-- Which bookmarks does a stimulus match? Name and payload, with or without correlation id.
CREATE INDEX bookmarks_hash_key_idx ON workflow.bookmarks (hash_key, definition_owner, correlation_key, instance_owner) WHERE hash_key IS NOT NULL;
-- The bookmarks of an instance: to clear them, and for stimuli to one instance.
CREATE INDEX bookmarks_instance_id_idx ON workflow.bookmarks (instance_id);
-- Stimuli without a payload: by type, by name, by activity. Tasks are matched by id.
CREATE INDEX bookmarks_kind_idx ON workflow.bookmarks (definition_owner, kind_key) WHERE kind_key IS NOT NULL;
-- What is due?
CREATE INDEX bookmarks_due_at_idx ON workflow.bookmarks (due_at) WHERE due_at IS NOT NULL;

-- Which endpoints may an HTTP request match? By shape, literals and template of their paths, and by method.
CREATE INDEX bookmarks_route_idx ON workflow.bookmarks ((payload OPERATOR(pg_catalog.->>) 'Route') COLLATE "C")
    WHERE activity_type IS NOT DISTINCT FROM 'Elsa.HttpEndpoint';

-- A claim: which open tasks of an owner and a name can be claimed, in the order of claims? A task is open while its bookmark exists.
CREATE INDEX bookmarks_inbox_idx ON workflow.bookmarks
    (definition_owner, (payload OPERATOR(pg_catalog.->>) 'TaskName'), available_at NULLS FIRST, (COALESCE(priority, 0)) DESC, created_at)
    WHERE activity_type IS NOT DISTINCT FROM 'Elsa.RunTask';
-- Which open tasks have this assignee?
CREATE INDEX bookmarks_assignee_idx ON workflow.bookmarks (assignee) WHERE assignee IS NOT NULL;

-- A claim: which tasks of a name with limits remain if some keys have reached theirs? By lane, each in the order of claims.
CREATE INDEX bookmarks_lane_idx ON workflow.bookmarks
    ((payload OPERATOR(pg_catalog.->>) 'TaskName'), definition_owner, lane, available_at, (COALESCE(priority, 0)) DESC, created_at)
    WHERE lane IS NOT NULL;

-- Admitted instances of definitions with maxConcurrency: one row for each instance that may run at the same time. A row names
-- the instance that took it, and is free when that instance has ended. Rows are created on demand.
CREATE TABLE workflow.admissions (
    id            uuid    CONSTRAINT admissions_pkey PRIMARY KEY,
    definition_id text    NOT NULL,
    place         text    COLLATE "C" NOT NULL,
    n             integer NOT NULL,
    instance_id   uuid
) WITH (fillfactor = 50);

COMMENT ON TABLE workflow.admissions IS 'admissions that options.maxConcurrency allows, and the instances that hold them';
COMMENT ON COLUMN workflow.admissions.place IS 'the value of the key behind a mark; empty without a key';
COMMENT ON COLUMN workflow.admissions.instance_id IS 'the instance that acquired it last; the admission is free when that has ended';

-- Which admissions does a definition have for a key?
CREATE UNIQUE INDEX admissions_definition_id_place_n_idx ON workflow.admissions (definition_id, place, n);
-- Is the parent of a child admitted?
CREATE INDEX admissions_instance_id_idx ON workflow.admissions (instance_id) WHERE instance_id IS NOT NULL;

-- The values of search attributes, which a definition declares in options.searchAttributes: one of the last three columns has
-- the value. Instances of all definitions are in one table, so that a definition that declares them needs no DDL.
CREATE TABLE workflow.search_attributes (
    instance_id   uuid NOT NULL,
    name          text COLLATE "C" NOT NULL,
    definition_id text NOT NULL,
    text          text COLLATE "C",
    number        double precision,
    instant       timestamptz,
    CONSTRAINT search_attributes_pkey PRIMARY KEY (instance_id, name)
);

COMMENT ON TABLE workflow.search_attributes IS 'values by which instances are found; workflow.search_attribute_list shows them';

-- Which instances of a definition have this value? The newest ones come last.
CREATE INDEX search_attributes_text_idx ON workflow.search_attributes (definition_id, name, text, instance_id) WHERE text IS NOT NULL;
CREATE INDEX search_attributes_number_idx ON workflow.search_attributes (definition_id, name, number, instance_id) WHERE number IS NOT NULL;
CREATE INDEX search_attributes_instant_idx ON workflow.search_attributes (definition_id, name, instant, instance_id) WHERE instant IS NOT NULL;

-- The requests and answers of wf_call, so that a client can repeat a call.
CREATE TABLE workflow.messages (
    owner     integer     NOT NULL,
    key       text        NOT NULL,
    message   text        NOT NULL,
    content   bytea       NOT NULL,
    answer    jsonb       NOT NULL,
    called_at timestamptz NOT NULL,
    CONSTRAINT messages_pkey PRIMARY KEY (key, owner, message)
);

COMMENT ON TABLE workflow.messages IS 'results of wf_call, kept for workflow.message_retention';
COMMENT ON COLUMN workflow.messages.owner IS 'the role that called';
COMMENT ON COLUMN workflow.messages.content IS 'SHA-256 of kind, name and body: the same message with another content is an error';

-- Retention: which messages are old enough?
CREATE INDEX messages_called_at_idx ON workflow.messages (called_at);

-- Rows of both tables live for seconds: vacuum after a fixed number of dead rows rather than a fraction of the table.
ALTER TABLE workflow.bookmarks SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
SELECT pg_catalog.pg_extension_config_dump('workflow.instances', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.bookmarks', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.admissions', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.search_attributes', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.messages', '');
