/*
 * From 0.2.0 to 0.3.0.
 */

-- A library of 0.2.0 cannot read the state of an instance with attempts.
ALTER TABLE workflow.schema_1 RENAME TO schema_2;
COMMENT ON TABLE workflow.schema_2 IS 'number of the schema, by its name; calls hold a lock on it, so that an upgrade script that renames it waits for them';

COMMENT ON COLUMN workflow.bookmarks.hash IS 'SHA-256 of the stimulus: name, payload and, if included, activity instance; NULL for a task, which is found by its id, and for bookmarks that no stimulus matches';

ALTER TABLE workflow.bookmarks
    ADD COLUMN priority     integer,
    ADD COLUMN claims       integer,
    ADD COLUMN available_at timestamptz,
    ADD COLUMN lease_until  timestamptz,
    ADD COLUMN token        uuid,
    ADD COLUMN worker       text,
    ADD COLUMN progress     jsonb,
    ADD COLUMN last_error   text,
    ADD COLUMN assignee     text,
    ADD COLUMN candidates   jsonb,
    ADD COLUMN result_schema jsonb,
    ADD COLUMN lane         text COLLATE "C",
    ADD COLUMN paused_at    timestamptz,
    ADD COLUMN due_when_paused timestamptz,
    ADD COLUMN definition_owner integer,
    ADD COLUMN instance_owner integer,
    ADD COLUMN correlation_key integer,
    ADD COLUMN kind_key     integer;

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

DROP INDEX workflow.bookmarks_hash_key_correlation_id_idx, workflow.bookmarks_kind_idx, workflow.bookmarks_inbox_idx;
ALTER TABLE workflow.bookmarks ALTER COLUMN hash_key TYPE integer
    USING ('x' OPERATOR(pg_catalog.||) pg_catalog.encode(pg_catalog.substr(hash, 1, 4), 'hex'))::pg_catalog.bit(32)::integer;
UPDATE workflow.bookmarks b SET definition_owner = d.owner, instance_owner = CASE WHEN b.hash IS NOT NULL THEN i.owner END,
    correlation_key = CASE WHEN b.hash IS NOT NULL THEN COALESCE(pg_catalog.hashtext(b.correlation_id), 0) END,
    kind_key = CASE WHEN b.hash IS NOT NULL AND b.activity_type OPERATOR(pg_catalog.<>) 'Elsa.RunTask' THEN
        (pg_catalog.hashtext(b.activity_type) OPERATOR(pg_catalog.<<) 22)
        OPERATOR(pg_catalog.|) ((pg_catalog.hashtext(b.name) OPERATOR(pg_catalog.&) 1023) OPERATOR(pg_catalog.<<) 12)
        OPERATOR(pg_catalog.|) (pg_catalog.hashtext(b.activity_id) OPERATOR(pg_catalog.&) 4095) END
FROM workflow.instances i JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) i.definition_version_id
WHERE i.id OPERATOR(pg_catalog.=) b.instance_id
  AND (b.hash IS NOT NULL OR b.activity_type OPERATOR(pg_catalog.=) 'Elsa.RunTask' AND b.name OPERATOR(pg_catalog.=) b.activity_type);
CREATE INDEX bookmarks_hash_key_idx ON workflow.bookmarks (hash_key, definition_owner, correlation_key, instance_owner) WHERE hash_key IS NOT NULL;
CREATE INDEX bookmarks_kind_idx ON workflow.bookmarks (definition_owner, kind_key) WHERE kind_key IS NOT NULL;
CREATE INDEX bookmarks_inbox_idx ON workflow.bookmarks
    (definition_owner, (payload OPERATOR(pg_catalog.->>) 'TaskName'), available_at NULLS FIRST, (COALESCE(priority, 0)) DESC, created_at)
    WHERE activity_type IS NOT DISTINCT FROM 'Elsa.RunTask';
CREATE INDEX bookmarks_assignee_idx ON workflow.bookmarks (assignee) WHERE assignee IS NOT NULL;

-- A claim: which tasks of a name with limits remain if some keys have reached theirs? By lane, each in the order of claims.
CREATE INDEX bookmarks_lane_idx ON workflow.bookmarks
    ((payload OPERATOR(pg_catalog.->>) 'TaskName'), definition_owner, lane, available_at, (COALESCE(priority, 0)) DESC, created_at)
    WHERE lane IS NOT NULL;

ALTER TABLE workflow.tasks
    ADD COLUMN token      uuid,
    ADD COLUMN deadline   timestamptz,
    ADD COLUMN form       jsonb,
    ADD COLUMN assignee   text,
    ADD COLUMN candidates jsonb,
    ADD COLUMN completed_by integer,
    ADD COLUMN completed_actor text,
    ADD COLUMN completed_for text,
    ADD COLUMN comments jsonb,
    ADD COLUMN approval integer;

COMMENT ON COLUMN workflow.tasks.completed_by IS 'of a task that was completed or given up: id in workflow.owners of the role that did it; NULL: the engine, or a version before 0.3.0';
COMMENT ON COLUMN workflow.tasks.completed_actor IS 'of a task that was completed or given up: the actor who did it';
COMMENT ON COLUMN workflow.tasks.completed_for IS 'of a task that a substitute completed: the absent person, a label or role: with an id of workflow.owners';
COMMENT ON COLUMN workflow.tasks.comments IS 'comments on the task: objects with at, role, actor, comment and attachments, which have a name and a URI';
COMMENT ON COLUMN workflow.tasks.approval IS 'of a vote that other voters may see: the number of the execution of its activity in the instance; a retry asks again under the same number';

ALTER TABLE workflow.bookmark_queue
    ADD COLUMN login integer,
    ADD COLUMN actor text,
    ADD COLUMN momentary boolean;

COMMENT ON COLUMN workflow.bookmark_queue.momentary IS 'true: it is given up if nothing in its instance matches it when it is to be delivered';
COMMENT ON COLUMN workflow.bookmark_queue.login IS 'id in workflow.owners of the role of the session that sent it; NULL: a workflow sent it';
COMMENT ON COLUMN workflow.bookmark_queue.actor IS 'the actor who sent it';

ALTER TABLE workflow.dead_letters
    DROP CONSTRAINT dead_letters_reason_check,
    ADD CONSTRAINT dead_letters_reason_check CHECK (reason IN ('Expired', 'Failed', 'Gone')),
    ADD COLUMN login integer,
    ADD COLUMN actor text;

COMMENT ON TABLE workflow.dead_letters IS 'stimuli that expired, whose delivery failed three times or whose bookmark ended first, and due bookmarks that could not be fired';

COMMENT ON COLUMN workflow.dead_letters.login IS 'id in workflow.owners of the role of the session that sent it; NULL: a workflow sent it';
COMMENT ON COLUMN workflow.dead_letters.actor IS 'the actor who sent it';

-- Queue items removed with an instance: those that name it, one of its bookmarks or executions, or its correlation id.
CREATE INDEX bookmark_queue_target_idx ON workflow.bookmark_queue ((COALESCE(bookmark_id, activity_instance_id)))
    WHERE instance_id IS NULL AND COALESCE(bookmark_id, activity_instance_id) IS NOT NULL;
CREATE INDEX bookmark_queue_correlation_id_idx ON workflow.bookmark_queue (correlation_id)
    WHERE correlation_id IS NOT NULL AND instance_id IS NULL;
CREATE INDEX dead_letters_instance_id_idx ON workflow.dead_letters (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX dead_letters_target_idx ON workflow.dead_letters ((COALESCE(bookmark_id, activity_instance_id)))
    WHERE instance_id IS NULL AND COALESCE(bookmark_id, activity_instance_id) IS NOT NULL;
CREATE INDEX dead_letters_correlation_id_idx ON workflow.dead_letters (correlation_id)
    WHERE correlation_id IS NOT NULL AND instance_id IS NULL;

ALTER TABLE workflow.triggers
    ADD COLUMN made_actor text,
    ADD COLUMN made_by integer,
    ADD COLUMN made_login integer,
    ADD COLUMN definition_owner integer;

COMMENT ON COLUMN workflow.triggers.made_actor IS 'of a named schedule: the actor who created it, or last changed its command, input or owner';
COMMENT ON COLUMN workflow.triggers.made_by IS 'id in workflow.owners of the role that did this; NULL: not recorded';
COMMENT ON COLUMN workflow.triggers.made_login IS 'id in workflow.owners of the role of that session, if it is another one';
COMMENT ON COLUMN workflow.triggers.definition_owner IS 'owner of the definition; NULL for a named schedule, which no stimulus starts';

DROP INDEX workflow.triggers_hash_key_idx, workflow.triggers_name_idx;
UPDATE workflow.triggers t SET definition_owner = d.owner
FROM workflow.definitions d WHERE d.id OPERATOR(pg_catalog.=) t.definition_version_id AND t.schedule_name IS NULL;
CREATE INDEX triggers_hash_key_idx ON workflow.triggers (hash_key, definition_owner);
CREATE INDEX triggers_name_idx ON workflow.triggers (name, definition_owner);
CREATE INDEX grants_role_idx ON workflow.grants (role, privilege, grantor, definition_id);

COMMENT ON COLUMN workflow.tasks.status IS 'Open, Completed, Failed or Cancelled; Cancelled with completed_by: it was answered, but its activity was cancelled before the answer took effect';
COMMENT ON COLUMN workflow.tasks.result IS 'the answer; of a cancelled task without completed_by: the outcome because of which its activity did not need it any more';
COMMENT ON COLUMN workflow.tasks.token IS 'of a task that a task worker completed or gave up: the token of the answer';
COMMENT ON COLUMN workflow.tasks.deadline IS 'the time by which people should complete it';
COMMENT ON COLUMN workflow.tasks.form IS 'JSON Schema of a form for the answer';
COMMENT ON COLUMN workflow.tasks.assignee IS 'of a task that was completed or given up, or has comments: its assignee; that of an open task is in workflow.bookmarks, too';
COMMENT ON COLUMN workflow.tasks.candidates IS 'of a task that was completed or given up, or has comments: its candidates';

ALTER TABLE workflow.grants
    DROP CONSTRAINT grants_privilege_check,
    ADD CONSTRAINT grants_privilege_check CHECK (privilege IN ('start', 'resume', 'read', 'alter'));

-- How many tasks of a name workers may hold at a time and start per period: for each owner and name at most one row without a
-- key and one with a key. A limit counts the tasks of the owner's definitions. A claim holds a shared lock on owner and name
-- until its transaction ends, and a change of the limit waits for it, so a limit counts every lease.
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
COMMENT ON COLUMN workflow.limits.key IS 'the member of the payload for each value of which the limit applies separately; NULL: all tasks of the name together';
COMMENT ON COLUMN workflow.limits.concurrency IS 'leases at the same time';
COMMENT ON COLUMN workflow.limits.rate IS 'claims in each period; NULL like concurrency: a limit that was removed while locked tasks still had its lane';
COMMENT ON COLUMN workflow.limits.per IS 'the period, in microseconds';

-- A claim: which limits have tasks of this name?
CREATE UNIQUE INDEX limits_name_owner_idx ON workflow.limits (name, owner, (key IS NULL));

-- The slots that claims take: one row for each task that a limit permits. A row names who took it; whether it is free is
-- derived from the lease, however that ends, and from the time. Rows are created on demand.
CREATE TABLE workflow.slots (
    id       uuid        CONSTRAINT slots_pkey PRIMARY KEY,
    limit_id integer     NOT NULL,
    place    text        COLLATE "C" NOT NULL,
    n        integer     NOT NULL,
    taken_at timestamptz,
    task     uuid,
    token    uuid
) WITH (fillfactor = 50);

COMMENT ON TABLE workflow.slots IS 'slots of limits, and the tasks or claims that hold them';
COMMENT ON COLUMN workflow.slots.n IS 'number within its place; beyond the limit: it was acquired before the limit was lowered';
COMMENT ON COLUMN workflow.slots.place IS 'begins with c for leases at the same time, with r for claims in a period, followed by the value of the key';
COMMENT ON COLUMN workflow.slots.taken_at IS 'of a claim in a period: when it was acquired last; it is free when the period has passed';
COMMENT ON COLUMN workflow.slots.task IS 'of a lease: the task that holds it';
COMMENT ON COLUMN workflow.slots.token IS 'the token of that lease; the slot is free when the lease has ended';

-- Which slots does a limit have for a key?
CREATE UNIQUE INDEX slots_limit_id_place_n_idx ON workflow.slots (limit_id, place, n);
-- Which slot of a period becomes free first? The column is NULL in other slots, so that taking them is HOT.
CREATE INDEX slots_taken_at_idx ON workflow.slots (limit_id, place, taken_at) WHERE taken_at IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('workflow.limits', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.limits_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.slots', '');

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

SELECT pg_catalog.pg_extension_config_dump('workflow.admissions', '');

ALTER TABLE workflow.incidents
    ADD COLUMN code text,
    ADD COLUMN attempts integer;

COMMENT ON COLUMN workflow.incidents.attempts IS 'number of attempts of the execution, of which the last one faulted; NULL is 1';
COMMENT ON COLUMN workflow.incidents.code IS 'by which retry policies and catches identify the fault, if it is not an error of PostgreSQL';

ALTER TABLE workflow.definitions
    ADD COLUMN migrates      boolean,
    ADD COLUMN is_draft      boolean,
    ADD COLUMN revision      bigint,
    ADD COLUMN saved_at      timestamptz,
    ADD COLUMN saved_by      integer,
    ADD COLUMN saved_session text,
    ADD COLUMN deletion_xid  bigint,
    ALTER COLUMN numbering DROP NOT NULL;

COMMENT ON TABLE workflow.definitions IS 'workflow definitions, one row per version; a version that was published never changes';
COMMENT ON COLUMN workflow.definitions.numbering IS 'the meaning of the numbers in the states of its instances: activities by number, each with the number of its parent and its id; connections by source, outcome and target; NULL: a draft that does not compile';
COMMENT ON COLUMN workflow.definitions.migrates IS 'whether publishing it migrates the instances of other versions to it; NULL in rows stored before 0.3.0';
COMMENT ON COLUMN workflow.definitions.is_draft IS 'true: the next save may overwrite it, while no instance runs on it; NULL: it never changes';
COMMENT ON COLUMN workflow.definitions.revision IS 'number of the save in it, counted over all saves of the definition; NULL in rows stored before 0.3.0';
COMMENT ON COLUMN workflow.definitions.saved_at IS 'when it was last saved as a draft';
COMMENT ON COLUMN workflow.owners.same_as IS 'the row to which wf_adopt_database gave what this row owned; its own id: a further row of the role, for recorded acts while another transaction created the first one';
COMMENT ON COLUMN workflow.definitions.saved_by IS 'the role (workflow.owners) that last saved it as a draft';
COMMENT ON COLUMN workflow.definitions.saved_session IS 'the session name that the caller of that save passed';
COMMENT ON COLUMN workflow.definitions.deletion_xid IS 'the next transaction id, with its epoch, when retention found it deleted; retention removes the version when all transactions before that have ended';

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

CREATE OR REPLACE VIEW workflow.definition_list WITH (security_barrier) AS
SELECT d.definition_id, d.version, d.name, d.description, d.is_latest, d.is_published, d.security,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, d.created_at, d.document,
       d.activity_type, d.search_path,
       CASE WHEN d.migrates AND d.is_published
            THEN (SELECT pg_catalog.count(*) FROM workflow.definitions v JOIN workflow.instances i ON i.definition_version_id OPERATOR(pg_catalog.=) v.id
                  WHERE v.definition_id OPERATOR(pg_catalog.=) d.definition_id AND v.id OPERATOR(pg_catalog.<>) d.id
                    AND i.finished_at IS NULL) END AS migrating,
       d.id AS version_id, COALESCE(d.is_draft, false) AS is_draft, COALESCE(d.revision, 0) AS revision,
       COALESCE(d.saved_at, d.created_at) AS saved_at,
       CASE WHEN d.saved_by IS NOT NULL
            THEN (SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(s.role_oid, s.name))::text, s.name)
                  FROM workflow.owners s WHERE s.id OPERATOR(pg_catalog.=) d.saved_by) END AS saved_by,
       pg_catalog.sha256(pg_catalog.convert_to(d.document::text, 'UTF8')) AS digest
FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
WHERE d.deleted_at IS NULL AND d.id IN (SELECT m.id FROM workflow.my_definitions m);

COMMENT ON COLUMN workflow.definition_list.migrating IS 'of a published version with the option migrate: number of instances of other versions that have not ended';
COMMENT ON COLUMN workflow.definition_list.digest IS 'SHA-256 of the document: equal on all nodes with the same content';
COMMENT ON COLUMN workflow.definition_list.version_id IS 'id of this version';
COMMENT ON COLUMN workflow.definition_list.is_draft IS 'whether it was saved by wf_save_draft and not published yet';
COMMENT ON COLUMN workflow.definition_list.revision IS 'number of the save in it, counted over all saves of the definition; pass it to wf_save_draft';
COMMENT ON COLUMN workflow.definition_list.saved_at IS 'when its content was stored';
COMMENT ON COLUMN workflow.definition_list.saved_by IS 'the role that saved it as a draft';

ALTER TABLE workflow.instances
    ADD COLUMN cancelling_at  timestamptz,
    ADD COLUMN continued_from uuid,
    ADD COLUMN paused_at      timestamptz,
    ADD COLUMN started_by     integer,
    ADD COLUMN started_actor  text,
    ADD COLUMN traceparent    text;

COMMENT ON COLUMN workflow.instances.finished_at IS 'when it ended for good: it finished, was cancelled, or faulted so that no retry can continue it; NULL: it can continue';
COMMENT ON COLUMN workflow.instances.started_by IS 'id in workflow.owners of the role that started it, if that is not the owner';
COMMENT ON COLUMN workflow.instances.started_actor IS 'the actor who started it';
COMMENT ON COLUMN workflow.instances.traceparent IS 'the trace that it belongs to, in the form of W3C Trace Context; the parent in it is what started the instance';
COMMENT ON COLUMN workflow.instances.paused_at IS 'since when it is paused; workflow.pauses says by whom and why';
COMMENT ON COLUMN workflow.instances.cancelling_at IS 'when it was cancelled, if handlers had to run before it ended';
COMMENT ON COLUMN workflow.instances.continued_from IS 'the instance that ended and that this one continues';

-- Which instance continues this one? At most one.
CREATE UNIQUE INDEX instances_continued_from_idx ON workflow.instances (continued_from) WHERE continued_from IS NOT NULL;

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

COMMENT ON TABLE workflow.compensations IS 'records of work that can be compensated or has to be cancelled; workflow.open_compensations shows them';
COMMENT ON COLUMN workflow.compensations.holder IS 'the execution or record that contains it; 4294967295 is the instance, 4294967294 stands for interrupted work';
COMMENT ON COLUMN workflow.compensations.number IS 'in the order in which the records of an instance were created';
COMMENT ON COLUMN workflow.compensations.kept IS 'the data that its handler sees, as of the creation of the record, packed';

SELECT pg_catalog.pg_extension_config_dump('workflow.compensations', '');

-- Who paused an instance, and why. A call reads instances.paused_at with the instance, and reads this table only if that is
-- set.
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
COMMENT ON COLUMN workflow.pauses.unpaused_at IS 'when a call ended the pause, if a session of the owner is to deliver what was stored meanwhile';

-- Which instances were paused with this one?
CREATE INDEX pauses_paused_with_idx ON workflow.pauses (paused_with) WHERE paused_with IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('workflow.pauses', '');

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

SELECT pg_catalog.pg_extension_config_dump('workflow.search_attributes', '');

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

SELECT pg_catalog.pg_extension_config_dump('workflow.messages', '');

-- HTTP requests that wait for a response of an instance, and stored responses for clients that repeat a request.
CREATE TABLE workflow.http_requests (
    id                   uuid        CONSTRAINT http_requests_pkey PRIMARY KEY,
    instance_id          uuid        NOT NULL,
    activity_instance_id uuid,
    owner                integer     NOT NULL,
    server               text        NOT NULL,
    key                  text,
    content              bytea,
    authorize            boolean     NOT NULL,
    policy               text,
    created_at           timestamptz NOT NULL,
    until                timestamptz NOT NULL,
    answered_at          timestamptz,
    taken_at             timestamptz,
    responded            boolean     NOT NULL,
    status               integer,
    headers              jsonb,
    body                 bytea
);

COMMENT ON TABLE workflow.http_requests IS 'HTTP requests whose clients wait for an instance, and responses that clients may ask for again';
COMMENT ON COLUMN workflow.http_requests.activity_instance_id IS 'execution of HttpEndpoint that received the request: responses of what follows it belong to the request';
COMMENT ON COLUMN workflow.http_requests.owner IS 'role of the server that passed the request on; no other role gets the response';
COMMENT ON COLUMN workflow.http_requests.server IS 'name of the server, which asks for its responses by it';
COMMENT ON COLUMN workflow.http_requests.key IS 'Idempotency-Key of the request';
COMMENT ON COLUMN workflow.http_requests.content IS 'SHA-256 of a request with a key: the same key with another content is an error';
COMMENT ON COLUMN workflow.http_requests.authorize IS 'whether callers of the endpoint need a right: a client that repeats the request needs it, too';
COMMENT ON COLUMN workflow.http_requests.policy IS 'role whose members may call the endpoint';
COMMENT ON COLUMN workflow.http_requests.until IS 'when the client gives up';
COMMENT ON COLUMN workflow.http_requests.taken_at IS 'when the server took the response';
COMMENT ON COLUMN workflow.http_requests.responded IS 'whether the workflow wrote the response; otherwise a response that it writes comes too late';

-- Which requests wait for an instance?
CREATE INDEX http_requests_instance_id_idx ON workflow.http_requests (instance_id);
-- Which responses can a server take?
CREATE INDEX http_requests_server_idx ON workflow.http_requests (owner, server, answered_at) WHERE answered_at IS NOT NULL AND taken_at IS NULL;
-- What is stored under a key?
CREATE UNIQUE INDEX http_requests_key_idx ON workflow.http_requests (owner, key) WHERE key IS NOT NULL;
-- Retention: which responses are old enough?
CREATE INDEX http_requests_answered_at_idx ON workflow.http_requests (answered_at) WHERE responded OR key IS NOT NULL OR taken_at IS NULL;

SELECT pg_catalog.pg_extension_config_dump('workflow.http_requests', '');

-- The partitions of correlation ids that this node has, if several nodes share them.
CREATE TABLE workflow.partitions (
    partition integer CONSTRAINT partitions_pkey PRIMARY KEY,
    count     integer NOT NULL
);

COMMENT ON TABLE workflow.partitions IS 'partitions of correlation ids that this node has, for workflow.route_check = partitions';
COMMENT ON COLUMN workflow.partitions.count IS 'number of partitions of all nodes, the same in each row';

SELECT pg_catalog.pg_extension_config_dump('workflow.partitions', '');

-- Pieces of bundles that the current transaction has imported with wf_import_instances. Before it commits, each set must be
-- complete, and the rows are removed: no other transaction ever sees one.
CREATE TABLE workflow.imports (
    set_id      uuid    NOT NULL,
    piece       integer NOT NULL,
    digest      bytea   NOT NULL,
    last_digest bytea,
    CONSTRAINT imports_pkey PRIMARY KEY (set_id, piece)
);

COMMENT ON TABLE workflow.imports IS 'pieces of sets of instances that the running transaction has imported';
COMMENT ON COLUMN workflow.imports.last_digest IS 'of the last piece: SHA-256 of the digests of the pieces before it';

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

COMMENT ON FUNCTION workflow._end_import() IS 'prevents the commit of a set of instances with missing pieces';

CREATE CONSTRAINT TRIGGER end_import AFTER INSERT ON workflow.imports DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION workflow._end_import();

CREATE OR REPLACE VIEW workflow.my_instances WITH (security_barrier) AS
SELECT i.id
FROM workflow.instances i CROSS JOIN (SELECT) read_only
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

CREATE OR REPLACE VIEW workflow.dead_letter_list WITH (security_barrier) AS
SELECT q.id AS dead_letter_id, q.reason,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS sender,
       q.attempts, q.last_error, q.created_at, q.due_at, q.dead_at, q.replayed_at, q.instance_id, q.bookmark_id, q.name,
       q.correlation_id, q.activity_type, q.activity_id, q.stimulus, q.input
FROM workflow.dead_letters q LEFT JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) q.sender
WHERE CASE WHEN q.due_at IS NULL OR NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id OPERATOR(pg_catalog.=) q.instance_id)
           THEN q.sender OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
           ELSE q.instance_id IN (SELECT i.id FROM workflow.my_instances i) END
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

CREATE OR REPLACE VIEW workflow.instance_list WITH (security_barrier) AS
SELECT i.id AS instance_id, i.definition_id, i.version, i.name, i.correlation_id, i.status,
       CASE WHEN i.cancelling_at IS NOT NULL AND i.sub_status OPERATOR(pg_catalog.=) 'Suspended' THEN 'Cancelling' ELSE i.sub_status END AS sub_status,
       CASE WHEN may.read OR i.continued_from IS NULL THEN i.input END AS input, i.output,
       CASE WHEN may.read THEN i.variables END AS variables, i.incident_count, COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, i.parent_instance_id,
       i.created_at, i.updated_at, i.finished_at, i.cancelling_at, i.continued_from,
       i.paused_at,
       CASE WHEN may.read THEN COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(r.role_oid, r.name))::text, r.name) END AS paused_by,
       CASE WHEN may.read THEN p.reason END AS pause_reason,
       i.definition_version_id,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(s.role_oid, s.name))::text, s.name) AS started_by, i.started_actor,
       i.traceparent
FROM workflow.instances i JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) i.owner
     LEFT JOIN workflow.owners s ON s.id OPERATOR(pg_catalog.=) COALESCE(i.started_by, i.owner)
     LEFT JOIN (workflow.pauses p JOIN workflow.owners r ON r.id OPERATOR(pg_catalog.=) p.paused_by)
          ON p.instance_id OPERATOR(pg_catalog.=) i.id AND i.paused_at IS NOT NULL
     CROSS JOIN LATERAL (SELECT i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
                         OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
                            AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances'])) AS may (read)
WHERE may.read OR i.parent_instance_id IS NULL AND i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON COLUMN workflow.instance_list.sub_status IS 'Cancelling: its cancellation handlers are still to run';
COMMENT ON COLUMN workflow.instance_list.continued_from IS 'the instance that this one continues';
COMMENT ON COLUMN workflow.instance_list.paused_at IS 'since when it is paused';
COMMENT ON COLUMN workflow.instance_list.paused_by IS 'the role that paused it';
COMMENT ON COLUMN workflow.instance_list.definition_version_id IS 'id of the version that it runs, as version_id of workflow.definition_list';
COMMENT ON COLUMN workflow.instance_list.started_by IS 'the role that started it: the sender of its event, the creator of its schedule, or the starter of its parent';
COMMENT ON COLUMN workflow.instance_list.started_actor IS 'the actor for whom that role acted';
COMMENT ON COLUMN workflow.instance_list.traceparent IS 'the trace that it belongs to';

-- A run whose definition keeps no journal started when it was created.
CREATE OR REPLACE VIEW workflow.schedule_runs WITH (security_barrier) AS
SELECT i.id AS instance_id, i.schedule_id, COALESCE(t.schedule_name, i.name) AS name, i.definition_id,
       (i.input OPERATOR(pg_catalog.->>) 'ScheduledAt')::pg_catalog.timestamptz AS scheduled_at, b.started_at, f.finished_at,
       f.finished_at OPERATOR(pg_catalog.-) b.started_at AS duration, workflow._run_status(i.sub_status, n.sqlstate) AS status,
       CASE WHEN i.definition_id OPERATOR(pg_catalog.=) 'Workflow.ScheduledCommand'
            THEN (i.output OPERATOR(pg_catalog.->>) 'rows')::bigint END AS rows,
       n.sqlstate, n.message AS error
FROM workflow.instances i
LEFT JOIN workflow.triggers t ON t.id OPERATOR(pg_catalog.=) i.schedule_id
LEFT JOIN workflow.execution_log l ON l.instance_id OPERATOR(pg_catalog.=) i.id AND l.seq OPERATOR(pg_catalog.=) 0
CROSS JOIN LATERAL (SELECT CASE WHEN i.sub_status OPERATOR(pg_catalog.<>) 'Pending' THEN COALESCE(l.created_at, i.created_at) END AS started_at) b
CROSS JOIN LATERAL (SELECT CASE WHEN i.sub_status OPERATOR(pg_catalog.=) 'Faulted' THEN i.updated_at ELSE i.finished_at END AS finished_at) f
LEFT JOIN LATERAL (SELECT x.sqlstate, x.message FROM workflow.incidents x
                   WHERE x.instance_id OPERATOR(pg_catalog.=) i.id AND i.sub_status OPERATOR(pg_catalog.=) 'Faulted'
                   ORDER BY x.id DESC LIMIT 1) n ON true
WHERE i.schedule_id IS NOT NULL
  AND (i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
       OR i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d)));

CREATE VIEW workflow.search_attribute_list WITH (security_barrier) AS
SELECT s.instance_id, s.definition_id, s.name, s.text, s.number, s.instant
FROM workflow.search_attributes s JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) s.instance_id
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d));

COMMENT ON VIEW workflow.search_attribute_list IS 'values by which instances that the current role may read are found, one of text, number and instant for each search attribute';

CREATE VIEW workflow.open_compensations WITH (security_barrier) AS
SELECT c.instance_id, i.definition_id, c.activity_id, c.node_id, c.number, c.created_at,
       c.holder OPERATOR(pg_catalog.=) 4294967294 AS interrupted
FROM workflow.compensations c JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) c.instance_id
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

COMMENT ON VIEW workflow.open_compensations IS 'completed work that can be compensated, or interrupted work that has to be cancelled';
COMMENT ON COLUMN workflow.open_compensations.number IS 'in the order of completion within the instance';
COMMENT ON COLUMN workflow.open_compensations.interrupted IS 'whether its cancellation handler has to run, not its compensation';

CREATE TABLE workflow.invoker_grants (
    lender   integer NOT NULL,
    borrower integer NOT NULL,
    CONSTRAINT invoker_grants_pkey PRIMARY KEY (lender, borrower)
);

COMMENT ON TABLE workflow.invoker_grants IS 'which roles (workflow.owners) lend their rights to the definitions of which others';

SELECT pg_catalog.pg_extension_config_dump('workflow.invoker_grants', '');

-- One row at most.
CREATE TABLE workflow.directory (
    is_only  boolean NOT NULL DEFAULT true CONSTRAINT directory_pkey PRIMARY KEY CONSTRAINT directory_is_only_check CHECK (is_only),
    function text    NOT NULL,
    owner    integer NOT NULL
);

COMMENT ON TABLE workflow.directory IS 'the function of wf_set_directory, which knows names and addresses of people';
COMMENT ON COLUMN workflow.directory.function IS 'qualified name of f(person text), which returns name, mail, zone, language and manager';
COMMENT ON COLUMN workflow.directory.owner IS 'owner of that function (workflow.owners) when it was named, with whose rights it runs; a function of this name that another role owns is not called';

SELECT pg_catalog.pg_extension_config_dump('workflow.directory', '');

CREATE TABLE workflow.accepted_owners (
    worker      integer NOT NULL,
    owner       integer NOT NULL,
    for_members boolean NOT NULL,
    CONSTRAINT accepted_owners_pkey PRIMARY KEY (worker, owner)
);

COMMENT ON TABLE workflow.accepted_owners IS 'which roles (workflow.owners) accept tasks of definitions of which others';
COMMENT ON COLUMN workflow.accepted_owners.for_members IS 'whether it also applies to members of the task worker''s role: a superuser accepted. A member must not decide for the others';

SELECT pg_catalog.pg_extension_config_dump('workflow.accepted_owners', '');

-- Who answers tasks in place of whom: written by people, read where a role or an actor may not answer in its own name.
CREATE TABLE workflow.substitutes (
    person     text        NOT NULL,
    substitute text        NOT NULL,
    set_by     integer     NOT NULL,
    is_by_person boolean   NOT NULL,
    starts_at  timestamptz NOT NULL,
    ends_at    timestamptz NOT NULL,
    CONSTRAINT substitutes_pkey PRIMARY KEY (person, substitute, set_by)
);

COMMENT ON TABLE workflow.substitutes IS 'people who answer tasks in place of absent ones for a time';
COMMENT ON COLUMN workflow.substitutes.person IS 'who is absent: a label or role: with an id of workflow.owners';
COMMENT ON COLUMN workflow.substitutes.substitute IS 'who answers instead, in the same form';
COMMENT ON COLUMN workflow.substitutes.set_by IS 'the role (workflow.owners) that set it; of a label: it counts for instances that this role may resume, or alter if an operator set it';
COMMENT ON COLUMN workflow.substitutes.is_by_person IS 'whether the person set it, not an operator';

-- For whom does somebody answer?
CREATE INDEX substitutes_substitute_idx ON workflow.substitutes (substitute);
SELECT pg_catalog.pg_extension_config_dump('workflow.substitutes', '');

-- The owner of each definition id, even after all versions are deleted and removed: schedules, parents and applications still
-- refer to the id, so no other role may take it over.
CREATE TABLE workflow.definition_ids (
    definition_id text COLLATE "C" CONSTRAINT definition_ids_pkey PRIMARY KEY,
    owner         integer NOT NULL,
    former_owners integer[]
);

COMMENT ON TABLE workflow.definition_ids IS 'owner of each id that a definition ever had; wf_set_owner gives an id to another role';
COMMENT ON COLUMN workflow.definition_ids.former_owners IS 'owners that it had before, under which open bookmarks may be stored';

CREATE INDEX definition_ids_owner_idx ON workflow.definition_ids (owner);
CREATE INDEX definition_ids_former_owners_idx ON workflow.definition_ids (owner) WHERE former_owners IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('workflow.definition_ids', '');

-- A definition has one owner; deleted versions keep theirs.
INSERT INTO workflow.definition_ids (definition_id, owner)
SELECT DISTINCT ON (d.definition_id) d.definition_id, d.owner
FROM workflow.definitions d
ORDER BY d.definition_id, d.deleted_at DESC NULLS FIRST, d.created_at DESC;

ALTER TABLE workflow.definitions ADD COLUMN child_owners jsonb;

COMMENT ON COLUMN workflow.definitions.child_owners IS 'the definitions whose ids the document contains, each with its owner (workflow.owners) when the version was stored or last defined with the same content: {"pay": 7}; the definition may start another owner''s definition as a child only if it is listed here';

-- Stored documents get the current owners of the children that they name.
UPDATE workflow.definitions p SET child_owners = c.owners
FROM (SELECT d.id, pg_catalog.jsonb_object_agg(n.definition_id, n.owner) AS owners
      FROM workflow.definitions d
           CROSS JOIN LATERAL pg_catalog.jsonb_path_query(d.document, 'strict $.** ? (@.type() == "string")') AS t (value)
           JOIN workflow.definition_ids n ON n.definition_id OPERATOR(pg_catalog.=) (t.value OPERATOR(pg_catalog.#>>) '{}')
      WHERE n.definition_id OPERATOR(pg_catalog.<>) d.definition_id
      GROUP BY d.id) c
WHERE c.id OPERATOR(pg_catalog.=) p.id;

-- Which tasks the roles of task workers may claim and answer. NULL in a column means all.
CREATE TABLE workflow.task_grants (
    id            uuid    CONSTRAINT task_grants_pkey PRIMARY KEY,
    role          integer NOT NULL,
    grantor       integer NOT NULL,
    definition_id text,
    name          text
);

COMMENT ON TABLE workflow.task_grants IS 'tasks that roles may claim and answer by wf_grant_worker, without any other right';
COMMENT ON COLUMN workflow.task_grants.grantor IS 'the role (workflow.owners) that granted it; the grant covers the definitions that this role may manage now';
COMMENT ON COLUMN workflow.task_grants.definition_id IS 'the definition of the tasks; NULL: all that the grantor may manage';
COMMENT ON COLUMN workflow.task_grants.name IS 'name of the tasks; NULL: any name';

-- May a role work on this task? Four probes: with and without definition and name.
CREATE UNIQUE INDEX task_grants_definition_id_name_idx ON workflow.task_grants (definition_id, name, role, grantor) NULLS NOT DISTINCT;
-- A claim: which tasks may this role have?
CREATE INDEX task_grants_role_idx ON workflow.task_grants (role);

SELECT pg_catalog.pg_extension_config_dump('workflow.task_grants', '');

CREATE FUNCTION workflow._person(task uuid, entry text)
RETURNS text LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'wf_person';

COMMENT ON FUNCTION workflow._person(uuid, text) IS 'an assignee or candidate of a task as users write it: a role by its present name; NULL for a role that may not know it';

CREATE FUNCTION workflow._people(task uuid, entries jsonb)
RETURNS text[] LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'wf_people';

COMMENT ON FUNCTION workflow._people(uuid, jsonb) IS 'the same for a list of assignees or candidates';

CREATE FUNCTION workflow._is_excluded(task uuid, version uuid)
RETURNS boolean LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'wf_is_excluded';

COMMENT ON FUNCTION workflow._is_excluded(uuid, uuid) IS 'whether an open task of an instance of a version excludes the caller, for the views';

CREATE FUNCTION workflow._substituted()
RETURNS text[] LANGUAGE c STABLE PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'wf_substituted';

COMMENT ON FUNCTION workflow._substituted() IS 'assignees and candidates for whom the current role is a substitute now, as tasks store them, for the views';

-- The common part of the views of open tasks. Only the owner may read it, so it needs no security barrier. Without one, each
-- view on it can be planned for its own order.
CREATE VIEW workflow._open_tasks AS
SELECT t.id AS task_id, t.instance_id, i.definition_id, t.activity_id,
       b.payload OPERATOR(pg_catalog.->>) 'TaskName' AS name, t.payload, t.correlation_id, b.created_at,
       COALESCE(b.priority, 0) AS priority, COALESCE(b.claims, 0) AS attempt,
       CASE WHEN COALESCE(b.due_when_paused, b.available_at) OPERATOR(pg_catalog.<>) '-infinity' THEN COALESCE(b.due_when_paused, b.available_at) END AS available_at, b.lease_until, b.worker, b.progress,
       b.last_error,
       workflow._person(b.id, b.assignee) AS assignee, workflow._people(b.id, b.candidates) AS candidates,
       t.deadline, t.form, b.result_schema, i.paused_at,
       (SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name)
        FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
        WHERE d.id OPERATOR(pg_catalog.=) i.definition_version_id) AS definition_owner,
       workflow._is_excluded(b.id, i.definition_version_id) AS excluded,
       b.available_at AS stored_available_at, b.definition_owner AS definition_owner_id
FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id OPERATOR(pg_catalog.=) b.id
     JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
  -- All of them. Without it the index on owners and names could not be searched by a name.
  AND b.definition_owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT o.id FROM workflow.owners o))
  AND (i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
       OR b.assignee OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m))
       OR b.candidates OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m)
       OR b.assignee OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.unnest(workflow._substituted())))
       OR b.candidates OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.unnest(workflow._substituted())));

COMMENT ON VIEW workflow._open_tasks IS 'for the views of open tasks';

-- PostgreSQL plans a security barrier view without knowing the order that a query needs. So there is one view for each order of
-- an index, and a query without ORDER BY reads only as many rows as it returns. Ids are ordered by time.
CREATE OR REPLACE VIEW workflow.open_tasks WITH (security_barrier) AS
SELECT task_id, instance_id, definition_id, activity_id, name, payload, correlation_id, created_at, priority, attempt, available_at,
       lease_until, worker, progress, last_error, assignee, candidates, deadline, form, result_schema, paused_at, definition_owner, excluded
FROM workflow._open_tasks ORDER BY task_id;

-- The order of bookmarks_inbox_idx within each owner and name.
CREATE VIEW workflow.open_tasks_by_priority WITH (security_barrier) AS
SELECT task_id, instance_id, definition_id, activity_id, name, payload, correlation_id, created_at, priority, attempt, available_at,
       lease_until, worker, progress, last_error, assignee, candidates, deadline, form, result_schema, paused_at, definition_owner, excluded,
       definition_owner_id
FROM workflow._open_tasks ORDER BY stored_available_at NULLS FIRST, priority DESC, created_at;

COMMENT ON COLUMN workflow.open_tasks.attempt IS 'number of attempts, including the present one';
COMMENT ON COLUMN workflow.open_tasks.available_at IS 'NULL if a task worker can claim it now, otherwise the earliest time; infinity: a task worker makes the last attempt';
COMMENT ON COLUMN workflow.open_tasks.lease_until IS 'until when a task worker holds it';
COMMENT ON COLUMN workflow.open_tasks.paused_at IS 'since when its instance is paused: no task worker can claim it, and available_at and lease_until do not run';
COMMENT ON COLUMN workflow.open_tasks.assignee IS 'who is to do it: role: and the name of a role, or a name that the application knows';
COMMENT ON COLUMN workflow.open_tasks.candidates IS 'who may do it, in the same form';
COMMENT ON COLUMN workflow.open_tasks.deadline IS 'the time by which people should complete it';
COMMENT ON COLUMN workflow.open_tasks.form IS 'JSON Schema of a form for the answer';
COMMENT ON COLUMN workflow.open_tasks.result_schema IS 'JSON Schema that the answer must match';
COMMENT ON COLUMN workflow.open_tasks.definition_owner IS 'owner of the definition';
COMMENT ON COLUMN workflow.open_tasks.excluded IS 'whether "not" of the task excludes the caller';

COMMENT ON COLUMN workflow.open_tasks_by_priority.definition_owner_id IS 'id in workflow.my_owners under which the task is stored: that of the owner of the definition, or of a former owner';
COMMENT ON VIEW workflow.open_tasks_by_priority IS 'the same tasks, unclaimed ones first, by priority and age';

CREATE VIEW workflow.answers WITH (security_barrier) AS
SELECT t.id AS task_id, t.instance_id, i.definition_id, t.correlation_id, t.activity_id, t.name, t.created_at, t.completed_at,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS role, t.completed_actor AS actor, t.result,
       t.status OPERATOR(pg_catalog.=) 'Completed' AS used,
       CASE WHEN f.id IS NULL THEN t.completed_for ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(f.role_oid, f.name))::text, f.name)) END AS in_place_of
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     LEFT JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) t.completed_by
     LEFT JOIN workflow.owners f ON t.completed_for IS NOT NULL AND pg_catalog.concat('role:', f.id) OPERATOR(pg_catalog.=) t.completed_for
WHERE (t.status OPERATOR(pg_catalog.=) 'Completed' OR t.status OPERATOR(pg_catalog.=) 'Cancelled' AND t.completed_by IS NOT NULL)
  AND i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d));

COMMENT ON VIEW workflow.answers IS 'answers to tasks';
COMMENT ON COLUMN workflow.answers.role IS 'the role that answered; NULL: a version before 0.3.0 did not store it';
COMMENT ON COLUMN workflow.answers.actor IS 'the person for whom that role acted';
COMMENT ON COLUMN workflow.answers.used IS 'false: the activity was cancelled before the answer took effect';
COMMENT ON COLUMN workflow.answers.in_place_of IS 'the absent person in whose place a substitute answered';

CREATE VIEW workflow.task_comments WITH (security_barrier) AS
SELECT t.id AS task_id, t.instance_id, i.definition_id, t.correlation_id, c.number::integer AS number,
       (c.entry OPERATOR(pg_catalog.->>) 'at')::pg_catalog.timestamptz AS at, c.entry OPERATOR(pg_catalog.->>) 'role' AS role,
       c.entry OPERATOR(pg_catalog.->>) 'actor' AS actor, c.entry OPERATOR(pg_catalog.->>) 'comment' AS comment,
       COALESCE(c.entry OPERATOR(pg_catalog.->) 'attachments', '[]'::jsonb) AS attachments
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
LEFT JOIN workflow.bookmarks b ON b.id OPERATOR(pg_catalog.=) t.id
CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(t.comments) WITH ORDINALITY AS c (entry, number)
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR COALESCE(b.assignee, t.assignee) OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m))
   OR COALESCE(b.candidates, t.candidates) OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m)
   OR b.assignee OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.unnest(workflow._substituted())))
   OR b.candidates OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.unnest(workflow._substituted()));

COMMENT ON VIEW workflow.task_comments IS 'comments on tasks, open or not';
COMMENT ON COLUMN workflow.task_comments.number IS 'order of the comments of a task, from 1 on';
COMMENT ON COLUMN workflow.task_comments.role IS 'name of the role that wrote it, as it was then';
COMMENT ON COLUMN workflow.task_comments.actor IS 'the person for whom that role acted';
COMMENT ON COLUMN workflow.task_comments.attachments IS 'list of objects with name and uri';

CREATE VIEW workflow.approval_votes WITH (security_barrier) AS
SELECT t.id AS task_id, v.id AS vote_task_id,
       CASE WHEN c.id IS NULL THEN v.candidates OPERATOR(pg_catalog.->>) 0
            ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(c.role_oid, c.name))::text, c.name)) END AS voter,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS role, v.completed_actor AS actor,
       CASE WHEN f.id IS NULL THEN v.completed_for ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(f.role_oid, f.name))::text, f.name)) END AS in_place_of,
       CASE WHEN w.approved OPERATOR(pg_catalog.=) 'true'::jsonb THEN 'Approved'
            WHEN w.approved OPERATOR(pg_catalog.=) 'false'::jsonb THEN 'Rejected'
            WHEN v.result OPERATOR(pg_catalog.->) 'abstain' OPERATOR(pg_catalog.=) 'true'::jsonb THEN 'Abstained' END AS vote,
       v.completed_at, v.status OPERATOR(pg_catalog.=) 'Completed' AS used
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     JOIN workflow.tasks v ON v.instance_id OPERATOR(pg_catalog.=) t.instance_id AND v.approval OPERATOR(pg_catalog.=) t.approval
     LEFT JOIN workflow.bookmarks b ON b.id OPERATOR(pg_catalog.=) t.id
     LEFT JOIN workflow.owners a ON a.id OPERATOR(pg_catalog.=) t.completed_by
     LEFT JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) v.completed_by
     LEFT JOIN workflow.owners f ON v.completed_for IS NOT NULL AND pg_catalog.concat('role:', f.id) OPERATOR(pg_catalog.=) v.completed_for
     LEFT JOIN workflow.owners c ON pg_catalog.concat('role:', c.id) OPERATOR(pg_catalog.=) (v.candidates OPERATOR(pg_catalog.->>) 0)
     CROSS JOIN LATERAL (SELECT COALESCE(v.result OPERATOR(pg_catalog.->) 'approved', v.result)) AS w (approved)
WHERE (v.status OPERATOR(pg_catalog.=) 'Completed' OR v.status OPERATOR(pg_catalog.=) 'Cancelled' AND v.completed_by IS NOT NULL)
  AND (i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
       OR COALESCE(b.assignee, t.assignee) OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m))
       OR COALESCE(b.candidates, t.candidates) OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m)
       OR b.assignee OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.unnest(workflow._substituted())))
       OR b.candidates OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.unnest(workflow._substituted()))
       -- A substitute, or a role that acted for people whom only the application knows.
       OR t.completed_by OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
          AND CASE WHEN t.completed_actor IS NULL THEN pg_catalog.pg_get_userbyid(workflow._role_of(a.role_oid, a.name)) OPERATOR(pg_catalog.=) CURRENT_USER
                   ELSE t.completed_actor OPERATOR(pg_catalog.=) pg_catalog.current_setting('workflow.actor', true) END);

COMMENT ON VIEW workflow.approval_votes IS 'votes in the approvals that have asked the current role, for each of its tasks';
COMMENT ON COLUMN workflow.approval_votes.task_id IS 'a task of the same approval that the caller may see: it names the caller, or named it when it ended, or the caller answered it';
COMMENT ON COLUMN workflow.approval_votes.vote_task_id IS 'the task of the vote';
COMMENT ON COLUMN workflow.approval_votes.voter IS 'who was asked, as the list of voters names them';
COMMENT ON COLUMN workflow.approval_votes.role IS 'the role that voted';
COMMENT ON COLUMN workflow.approval_votes.actor IS 'the person for whom that role acted';
COMMENT ON COLUMN workflow.approval_votes.in_place_of IS 'the absent person in whose place a substitute voted';
COMMENT ON COLUMN workflow.approval_votes.vote IS 'Approved, Rejected or Abstained';
COMMENT ON COLUMN workflow.approval_votes.used IS 'false: the approval ended before the vote took effect';

CREATE VIEW workflow.substitute_list WITH (security_barrier) AS
SELECT CASE WHEN p.id IS NULL THEN s.person ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(p.role_oid, p.name))::text, p.name)) END AS person,
       CASE WHEN a.id IS NULL THEN s.substitute ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(a.role_oid, a.name))::text, a.name)) END AS substitute,
       s.starts_at, s.ends_at, COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(b.role_oid, b.name))::text, b.name) AS set_by,
       s.starts_at OPERATOR(pg_catalog.<=) pg_catalog.now() AND s.ends_at OPERATOR(pg_catalog.>) pg_catalog.now() AS in_force
FROM workflow.substitutes s
LEFT JOIN workflow.owners p ON pg_catalog.concat('role:', p.id) OPERATOR(pg_catalog.=) s.person
LEFT JOIN workflow.owners a ON pg_catalog.concat('role:', a.id) OPERATOR(pg_catalog.=) s.substitute
LEFT JOIN workflow.owners b ON b.id OPERATOR(pg_catalog.=) s.set_by
WHERE s.set_by OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR p.id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR a.id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

COMMENT ON VIEW workflow.substitute_list IS 'substitutes that wf_set_substitute set';
COMMENT ON COLUMN workflow.substitute_list.person IS 'who is absent';
COMMENT ON COLUMN workflow.substitute_list.substitute IS 'who answers instead';
COMMENT ON COLUMN workflow.substitute_list.set_by IS 'the role that set it; of names that the application knows: it counts for instances that this role may resume';
COMMENT ON COLUMN workflow.substitute_list.in_force IS 'whether the period has begun';

CREATE VIEW workflow.task_limits WITH (security_barrier) AS
SELECT l.name, l.key, l.concurrency, l.rate, CASE WHEN l.rate IS NOT NULL THEN pg_catalog.make_interval(secs => l.per OPERATOR(pg_catalog./) 1000000.0::double precision) END AS per,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner
FROM workflow.limits l JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) l.owner
WHERE (l.concurrency IS NOT NULL OR l.rate IS NOT NULL)
  AND l.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.task_limits IS 'limits that wf_limit_tasks set';
COMMENT ON COLUMN workflow.task_limits.key IS 'member of the payload for each value of which the limit applies separately';
COMMENT ON COLUMN workflow.task_limits.owner IS 'the role to whose definitions it applies';

CREATE OR REPLACE VIEW workflow.open_incidents WITH (security_barrier) AS
SELECT n.id AS incident_id, n.instance_id, i.definition_id, CASE WHEN may.read THEN n.activity_id END AS activity_id,
       CASE WHEN may.read THEN n.activity_type END AS activity_type, n.created_at, n.sqlstate, n.message,
       CASE WHEN may.read THEN n.detail END AS detail, CASE WHEN may.read THEN n.hint END AS hint,
       CASE WHEN may.read THEN n.context END AS context, n.code, CASE WHEN may.read THEN COALESCE(n.attempts, 1) END AS attempts
FROM workflow.incidents n JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) n.instance_id
     CROSS JOIN LATERAL (SELECT i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
                         OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
                            AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances'])) AS may (read)
WHERE n.resolved_at IS NULL
  AND (may.read OR i.parent_instance_id IS NULL AND i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m)));

CREATE OR REPLACE VIEW workflow.waiting WITH (security_barrier) AS
SELECT b.instance_id AS instance, b.activity_id AS activity, b.created_at AS since,
       CASE WHEN b.paused_at IS NULL OR b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask' THEN b.due_at ELSE b.due_when_paused END AS due,
       b.id AS bookmark_id, b.correlation_id, b.name AS waits_for, i.definition_id,
       COALESCE(b.attempts, 0) AS attempts,
       (SELECT q.id FROM workflow.dead_letters q
        WHERE b.due_at IS NULL AND q.bookmark_id OPERATOR(pg_catalog.=) b.id AND q.due_at IS NOT NULL AND q.replayed_at IS NULL
        ORDER BY q.id DESC LIMIT 1) AS dead_letter_id,
       (SELECT q.last_error FROM workflow.dead_letters q
        WHERE b.due_at IS NULL AND q.bookmark_id OPERATOR(pg_catalog.=) b.id AND q.due_at IS NOT NULL AND q.replayed_at IS NULL
        ORDER BY q.id DESC LIMIT 1) AS last_error,
       i.paused_at,
       -- The metadata of an imported bundle can contain anything.
       CASE WHEN b.name OPERATOR(pg_catalog.<>) 'Workflow.Retry' THEN COALESCE(b.claims, 0)
            WHEN (b.metadata OPERATOR(pg_catalog.->>) 'Attempt') OPERATOR(pg_catalog.~) '^[0-9]{1,9}$' THEN (b.metadata OPERATOR(pg_catalog.->>) 'Attempt')::integer
            ELSE 0 END AS attempt, b.lease_until, b.worker
FROM workflow.bookmarks b JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

COMMENT ON COLUMN workflow.waiting.paused_at IS 'since when its instance is paused: neither a stimulus nor a due time resumes it';
COMMENT ON COLUMN workflow.waiting.attempt IS 'number of attempts at a task, including the present one, or of an activity that will be tried again';
COMMENT ON COLUMN workflow.waiting.lease_until IS 'of a task: until when a task worker holds or held it';
COMMENT ON COLUMN workflow.waiting.worker IS 'of a task: the task worker that holds or held it';

CREATE OR REPLACE VIEW workflow.open_bookmarks WITH (security_barrier) AS
SELECT b.id AS bookmark_id, b.instance_id, i.definition_id, b.activity_id, b.node_id, b.activity_type,
       b.activity_instance_id, b.name,
       CASE WHEN b.hash IS NULL AND b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask'
            THEN pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat('Elsa.RunTask|{"TaskId":"', b.id, '"}'), 'UTF8')) ELSE b.hash END AS hash,
       b.correlation_id,
       CASE WHEN b.hash IS NULL AND b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask' THEN b.payload OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('TaskId', b.id) ELSE b.payload END AS payload,
       b.metadata, b.callback, b.auto_burn, b.auto_complete,
       CASE WHEN b.paused_at IS NULL OR b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask' THEN b.due_at ELSE b.due_when_paused END AS due_at, b.created_at, i.paused_at
FROM workflow.bookmarks b JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

CREATE VIEW workflow.invoker_grant_list WITH (security_barrier) AS
SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(l.role_oid, l.name))::text, l.name) AS lender,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(b.role_oid, b.name))::text, b.name) AS borrower
FROM workflow.invoker_grants g
JOIN workflow.owners l ON l.id OPERATOR(pg_catalog.=) g.lender
JOIN workflow.owners b ON b.id OPERATOR(pg_catalog.=) g.borrower
WHERE g.lender OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR g.borrower OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.invoker_grant_list IS 'grants of wf_grant_invoker that concern the current role: which lender lends its rights to the workflows of which borrower';

CREATE FUNCTION workflow._accepts_tasks(worker oid, owner oid)
RETURNS boolean LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_accepts_tasks';

COMMENT ON FUNCTION workflow._accepts_tasks(oid, oid) IS 'whether a role accepts tasks of definitions of an owner, for workflow.worker_grants';

CREATE VIEW workflow.accepted_owner_list WITH (security_barrier) AS
SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(w.role_oid, w.name))::text, w.name) AS worker,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, a.for_members
FROM workflow.accepted_owners a
JOIN workflow.owners w ON w.id OPERATOR(pg_catalog.=) a.worker
JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) a.owner
WHERE a.worker OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR a.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.accepted_owner_list IS 'acceptances by wf_accept_tasks that concern the current role: which task worker accepts tasks of which owner';
COMMENT ON COLUMN workflow.accepted_owner_list.for_members IS 'whether it also applies to members of the task worker''s role: a superuser accepted';

CREATE VIEW workflow.worker_grants WITH (security_barrier) AS
SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(w.role_oid, w.name))::text, w.name) AS role, g.definition_id, g.name,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(a.role_oid, a.name))::text, a.name) AS grantor,
       workflow._role_of(a.role_oid, a.name) IS NOT NULL
       AND (g.definition_id IS NULL
            OR EXISTS (SELECT FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
                       WHERE d.definition_id OPERATOR(pg_catalog.=) g.definition_id AND d.is_latest
                         AND CASE WHEN workflow._role_of(o.role_oid, o.name) IS NULL
                                  THEN (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) workflow._role_of(a.role_oid, a.name))
                                  ELSE pg_catalog.pg_has_role(workflow._role_of(a.role_oid, a.name), workflow._role_of(o.role_oid, o.name), 'USAGE') END)) AS in_force,
       COALESCE(workflow._accepts_tasks(
           workflow._role_of(w.role_oid, w.name),
           CASE WHEN g.definition_id IS NULL THEN workflow._role_of(a.role_oid, a.name)
                ELSE (SELECT workflow._role_of(o.role_oid, o.name) FROM workflow.definition_ids n JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) n.owner
                      WHERE n.definition_id OPERATOR(pg_catalog.=) g.definition_id) END), false) AS accepted
FROM workflow.task_grants g
JOIN workflow.owners w ON w.id OPERATOR(pg_catalog.=) g.role
JOIN workflow.owners a ON a.id OPERATOR(pg_catalog.=) g.grantor
WHERE g.role OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR g.grantor OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR g.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.definition_id FROM workflow.definitions d
                                                        WHERE d.is_latest AND d.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))))
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

COMMENT ON VIEW workflow.worker_grants IS 'grants of wf_grant_worker that concern the current role: which role may work on which tasks';
COMMENT ON COLUMN workflow.worker_grants.definition_id IS 'NULL: all definitions that the grantor may manage';
COMMENT ON COLUMN workflow.worker_grants.name IS 'NULL: tasks of any name';
COMMENT ON COLUMN workflow.worker_grants.in_force IS 'whether it has an effect: the grantor exists, and may manage the definition if there is one';
COMMENT ON COLUMN workflow.worker_grants.accepted IS 'whether the role accepts tasks of the owner of the definition, or without a definition of the grantor; if not, only wf_claim_task claims them';

CREATE FUNCTION wf_set_role(role name, actor text DEFAULT NULL, groups text[] DEFAULT NULL)
RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_role';

COMMENT ON FUNCTION wf_set_role(name, text, text[]) IS
    'take a role until the transaction ends, as SET LOCAL ROLE does, but so that no SQL in the transaction can leave it; with an actor, act for that person; with groups, answer only tasks for that person and these groups';

CREATE FUNCTION wf_erase(correlation_id text DEFAULT NULL, actor text DEFAULT NULL, pseudonym text DEFAULT NULL, force boolean DEFAULT false, max integer DEFAULT 1000)
RETURNS TABLE (table_name text, erased bigint, kept bigint) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_erase';

COMMENT ON FUNCTION wf_erase(text, text, text, boolean, integer) IS
    'remove everything with a correlation id, or replace an actor by a pseudonym, about max instances at a time; returns the numbers of rows, none when nothing is left';

CREATE FUNCTION wf_set_directory(function regprocedure)
RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_directory';

COMMENT ON FUNCTION wf_set_directory(regprocedure) IS
    'name the function that knows names and addresses of people, or with NULL none; for superusers';

CREATE FUNCTION wf_set_actor(actor text)
RETURNS text LANGUAGE sql
RETURN pg_catalog.set_config('workflow.actor', actor, true);

COMMENT ON FUNCTION wf_set_actor(text) IS
    'act for a person until the transaction ends, as SET LOCAL workflow.actor does; in a FROM clause, for one statement';

CREATE FUNCTION workflow._node_id(instance uuid, activity text)
RETURNS text LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'wf_node_id';

COMMENT ON FUNCTION workflow._node_id(uuid, text) IS 'node id of an activity of an instance, for the view workflow.journal; NULL if several have its id, and for a role that may not read the instance';

CREATE FUNCTION workflow.activity_executions(instance_id uuid)
RETURNS TABLE (activity_instance_id uuid, parent_activity_instance_id uuid, activity_id text, activity_name text, node_id text,
               activity_type text, status text, started_at timestamptz, completed_at timestamptz, outcomes text[], inputs jsonb,
               outputs jsonb, fault jsonb, has_bookmarks boolean)
LANGUAGE c STABLE ROWS 100 AS 'MODULE_PATHNAME', 'wf_activity_executions';

COMMENT ON FUNCTION workflow.activity_executions(uuid) IS 'what the journal of an instance records of each execution of an activity, in the order in which they began';

CREATE OR REPLACE VIEW workflow.journal WITH (security_barrier) AS
SELECT l.instance_id, l.seq, e.number::integer AS number, l.created_at AS at, e.entry OPERATOR(pg_catalog.->>) 'event' AS event,
       e.entry OPERATOR(pg_catalog.->>) 'activity_id' AS activity, e.entry OPERATOR(pg_catalog.->>) 'activity_type' AS activity_type,
       (e.entry OPERATOR(pg_catalog.->>) 'activity_instance_id')::uuid AS activity_instance_id,
       (e.entry OPERATOR(pg_catalog.->>) 'bookmark_id')::uuid AS bookmark_id,
       CASE WHEN e.entry OPERATOR(pg_catalog.->) 'data' OPERATOR(pg_catalog.<>) 'null'::jsonb THEN e.entry OPERATOR(pg_catalog.->) 'data' END AS data,
       COALESCE(e.entry OPERATOR(pg_catalog.->>) 'node_id', workflow._node_id(i.id, e.entry OPERATOR(pg_catalog.->>) 'activity_id')) AS node_id,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS by,
       CASE WHEN (e.entry OPERATOR(pg_catalog.->>) 'is_start')::boolean THEN i.started_actor ELSE e.entry OPERATOR(pg_catalog.->>) 'actor' END AS actor
FROM workflow.execution_log l
CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(workflow._events(l.instance_id, l.events)) WITH ORDINALITY AS e (entry, number)
LEFT JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) l.instance_id
LEFT JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) (e.entry OPERATOR(pg_catalog.->>) 'role')::integer
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances'])
   OR i.id IS NULL
      AND (e.entry OPERATOR(pg_catalog.->) 'data' OPERATOR(pg_catalog.->>) 'definition_id')
          OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.definition_id FROM workflow.my_definitions d));

COMMENT ON COLUMN workflow.journal.by IS 'the role whose call caused the event; NULL: the engine';
COMMENT ON COLUMN workflow.journal.actor IS 'the actor for whom that role acted';

-- Acts whose journal rows were removed, and acts that concern no instance. Not numbered by a sequence, because logical
-- replication does not replicate sequences.
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
COMMENT ON COLUMN workflow.audit_log.at IS 'by the clock of the server, not by workflow.now';
COMMENT ON COLUMN workflow.audit_log.bookmark_id IS 'a task has the id of its bookmark';
COMMENT ON COLUMN workflow.audit_log.owner IS 'id in workflow.owners of the owner of the instance, unless that is a child, or of the object';
COMMENT ON COLUMN workflow.audit_log.role IS 'id in workflow.owners of the role whose rights were in force';
COMMENT ON COLUMN workflow.audit_log.login IS 'id in workflow.owners of the role of the session, if it is another one';
COMMENT ON COLUMN workflow.audit_log.actor IS 'the person for whom that role acted';

-- Which acts are older than workflow.audit_retention?
CREATE INDEX audit_log_at_idx ON workflow.audit_log (at);
-- Which acts concern a removed instance, and a correlation id?
CREATE INDEX audit_log_instance_id_idx ON workflow.audit_log (instance_id) WHERE instance_id IS NOT NULL;
CREATE INDEX audit_log_correlation_id_idx ON workflow.audit_log (correlation_id) WHERE correlation_id IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('workflow.audit_log', '');

CREATE FUNCTION workflow._act(
    events          bytea,
    OUT at          timestamptz,
    OUT kind        text,
    OUT role        integer,
    OUT login       integer,
    OUT actor       text,
    OUT activity    text,
    OUT bookmark_id uuid,
    OUT detail      jsonb
) LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_act';

COMMENT ON FUNCTION workflow._act(bytea) IS 'the act that a row of the journal records, for the view workflow.audit; NULL if it records none';

-- The acts recorded in journal rows. `owner` may see who answered; for a child that is the engine, which passes the answer on.
CREATE VIEW workflow._acts AS
SELECT l.instance_id, l.seq, COALESCE(a.at, l.created_at) AS at, a.kind, i.definition_id, i.definition_version_id, i.correlation_id,
       COALESCE(a.activity, t.activity_id) AS activity, t.name AS task, a.bookmark_id,
       CASE WHEN i.parent_instance_id IS NULL THEN i.owner END AS owner, a.role, a.login,
       CASE WHEN a.kind OPERATOR(pg_catalog.=) 'start' THEN i.started_actor ELSE a.actor END AS actor,
       CASE WHEN t.completed_by IS NOT NULL AND a.kind OPERATOR(pg_catalog.=) ANY (ARRAY['complete task', 'override task'])
                 AND (t.status OPERATOR(pg_catalog.=) 'Cancelled' OR t.completed_for IS NOT NULL)
            THEN COALESCE(a.detail, '{}'::jsonb)
                OPERATOR(pg_catalog.||) CASE WHEN t.status OPERATOR(pg_catalog.=) 'Cancelled' THEN '{"used": false}'::jsonb ELSE '{}'::jsonb END
                OPERATOR(pg_catalog.||) CASE WHEN t.completed_for IS NOT NULL THEN pg_catalog.jsonb_build_object('for', CASE WHEN f.id IS NULL THEN t.completed_for
                        ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(f.role_oid, f.name))::text, f.name)) END) ELSE '{}'::jsonb END
            ELSE a.detail END AS detail
FROM workflow.execution_log l
JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) l.instance_id
CROSS JOIN LATERAL workflow._act(l.events) AS a
LEFT JOIN workflow.tasks t ON t.id OPERATOR(pg_catalog.=) a.bookmark_id
LEFT JOIN workflow.owners f ON t.completed_for IS NOT NULL AND pg_catalog.concat('role:', f.id) OPERATOR(pg_catalog.=) t.completed_for
WHERE a.kind IS NOT NULL;

COMMENT ON VIEW workflow._acts IS 'acts in the journal, for workflow.audit and for calls that remove rows of the journal';

-- A role that may not read an instance's definition sees only who answered the tasks of its own instances.
CREATE VIEW workflow.audit WITH (security_barrier) AS
SELECT g.at, g.kind, g.definition_id, g.instance_id, g.correlation_id,
       CASE WHEN g.may_read THEN g.activity END AS activity, CASE WHEN g.may_read THEN g.task END AS task,
       CASE WHEN g.may_read THEN g.bookmark_id END AS bookmark_id,
       CASE WHEN g.may_read OR g.actor IS NULL THEN COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(r.role_oid, r.name))::text, r.name) END AS role,
       CASE WHEN g.may_read THEN COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(s.role_oid, s.name))::text, s.name) END AS login,
       g.actor, CASE WHEN g.may_read THEN g.detail END AS detail
FROM (SELECT j.at, j.kind, j.definition_id, j.instance_id, j.correlation_id, j.activity, j.task, j.bookmark_id, j.owner, j.role, j.login, j.actor, j.detail,
             j.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d)) AS may_read
      FROM workflow._acts j
      UNION ALL
      SELECT l.at, l.kind, l.definition_id, l.instance_id, l.correlation_id, l.activity, l.task, l.bookmark_id, l.owner, l.role, l.login, l.actor, l.detail,
             CASE WHEN l.definition_id IS NULL THEN l.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
                  ELSE l.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.definition_id FROM workflow.my_definitions d
                                                                         UNION SELECT n.definition_id FROM workflow.definition_ids n
                                                                         WHERE n.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m)))) END
             OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE')
      FROM workflow.audit_log l) g
LEFT JOIN workflow.owners r ON r.id OPERATOR(pg_catalog.=) g.role
LEFT JOIN workflow.owners s ON s.id OPERATOR(pg_catalog.=) g.login
WHERE g.may_read
   OR g.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND (g.kind OPERATOR(pg_catalog.=) ANY (ARRAY['complete task', 'override task'])
           OR g.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']));

COMMENT ON VIEW workflow.audit IS 'who did what: one row for each act';
COMMENT ON COLUMN workflow.audit.at IS 'by the clock of the server, not by workflow.now';
COMMENT ON COLUMN workflow.audit.bookmark_id IS 'a task has the id of its bookmark';
COMMENT ON COLUMN workflow.audit.role IS 'the role whose rights were in force';
COMMENT ON COLUMN workflow.audit.login IS 'the role of the session, if it is another one';
COMMENT ON COLUMN workflow.audit.actor IS 'the person for whom that role acted';

-- Inputs and outputs as registered, or as a workflow declares them, each with the display data for a designer.
CREATE FUNCTION workflow._arguments(declared jsonb)
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.jsonb_agg(
               pg_catalog.jsonb_build_object('uiHint', CASE WHEN a.argument OPERATOR(pg_catalog.->>) 'type' OPERATOR(pg_catalog.=) 'Boolean' THEN 'checkbox' ELSE 'singleline' END,
                                             'isWrapped', true, 'order', a.number OPERATOR(pg_catalog.-) 1)
               OPERATOR(pg_catalog.||) a.argument ORDER BY a.number)
    FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(declared) OPERATOR(pg_catalog.=) 'array' THEN declared END) WITH ORDINALITY AS d (entry, number)
    CROSS JOIN LATERAL (
        SELECT CASE WHEN pg_catalog.jsonb_typeof(d.entry) OPERATOR(pg_catalog.=) 'string' THEN pg_catalog.jsonb_build_object('name', d.entry) ELSE d.entry END, d.number
        WHERE pg_catalog.jsonb_typeof(d.entry) OPERATOR(pg_catalog.=) ANY (ARRAY['string', 'object'])) AS a (argument, number);
END;

COMMENT ON FUNCTION workflow._arguments(jsonb) IS 'inputs or outputs with what a designer needs, for wf_activities; NULL if there are none';

CREATE OR REPLACE FUNCTION workflow._activity_list()
RETURNS TABLE (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.type, a.inputs, a.outputs, a.outcomes, a.description, a.example,
           a.version, a.category, a.display_name, a.kind, a.ports, a.flags
    FROM pg_catalog.jsonb_to_recordset(workflow._activities())
         AS a (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
    UNION ALL
    SELECT t.type, workflow._arguments(t.inputs), t.outputs, t.outcomes, t.description, NULL,
           1, 'Custom', t.type, pg_catalog.initcap(t.kind), workflow._flow_ports(t.outcomes),
           '{"isContainer": false, "isStart": false, "isTerminal": false, "isBrowsable": true}'
    FROM workflow.activity_types t
    ORDER BY 1;
END;

COMMENT ON FUNCTION workflow._activity_list() IS 'built-in and registered activity types, for wf_activities';

CREATE FUNCTION workflow._visible_activities()
RETURNS TABLE (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.type, a.inputs, a.outputs, a.outcomes, a.description, a.example,
           a.version, a.category, a.display_name, a.kind, a.ports, a.flags
    FROM workflow._activity_list() a
    UNION ALL
    SELECT d.activity_type, COALESCE(workflow._arguments(d.document OPERATOR(pg_catalog.->) 'inputs'), '[]'),
           COALESCE(d.document OPERATOR(pg_catalog.->) 'outputs', '[]'), o.outcomes, d.description, NULL,
           d.version,
           CASE WHEN d.document OPERATOR(pg_catalog.->) 'options' OPERATOR(pg_catalog.->>) 'activityCategory' OPERATOR(pg_catalog.<>) ''
                THEN d.document OPERATOR(pg_catalog.->) 'options' OPERATOR(pg_catalog.->>) 'activityCategory' ELSE 'Workflows' END,
           COALESCE(d.name, d.activity_type), 'Action', workflow._flow_ports(o.outcomes),
           pg_catalog.jsonb_build_object('isContainer', false, 'isStart', false, 'isTerminal', false, 'isBrowsable', d.is_published,
                                         'definitionId', d.definition_id, 'versionId', d.version_id)
    FROM workflow.definition_list d
    CROSS JOIN LATERAL (
        SELECT pg_catalog.array_append(
               CASE WHEN pg_catalog.jsonb_typeof(d.document OPERATOR(pg_catalog.->) 'outcomes') OPERATOR(pg_catalog.=) 'array'
                    THEN ARRAY(SELECT e.one OPERATOR(pg_catalog.#>>) '{}' FROM pg_catalog.jsonb_array_elements(d.document OPERATOR(pg_catalog.->) 'outcomes') AS e (one)
                               WHERE pg_catalog.jsonb_typeof(e.one) OPERATOR(pg_catalog.=) 'string')
                    ELSE '{}'::text[] END, 'Done')) AS o (outcomes)
    WHERE d.activity_type IS NOT NULL
      AND (d.is_published
           OR (d.definition_id, d.version) IN (SELECT l.uses, l.used_version FROM workflow.definition_links l));
END;

COMMENT ON FUNCTION workflow._visible_activities() IS 'every activity type that the current role may use, for wf_activities and wf_activities_digest';

CREATE OR REPLACE FUNCTION wf_activities()
RETURNS TABLE (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.type, a.inputs, a.outputs, a.outcomes, a.description, a.example,
           a.version, a.category, a.display_name, a.kind, a.ports, a.flags
    FROM workflow._visible_activities() a;
END;

COMMENT ON FUNCTION wf_activities() IS 'every activity type with inputs, outputs, outcomes, ports and an example; also the workflows that are usable as activities, in the published version and in those that other definitions use';

CREATE FUNCTION wf_activities_digest()
RETURNS bytea LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.string_agg(a::text, '' ORDER BY a.type, a.version, a::text), 'UTF8'))
    FROM workflow._visible_activities() AS a;
END;

COMMENT ON FUNCTION wf_activities_digest() IS 'digest that changes when wf_activities() changes for the current role';

CREATE FUNCTION wf_export_version(version_id uuid, arrange boolean DEFAULT false)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_export_version';

COMMENT ON FUNCTION wf_export_version(uuid, boolean) IS 'a version as Elsa 3 JSON, by its id; also a deleted one';

-- Deleted versions: their instances remain until they are deleted as well.
CREATE VIEW workflow.deleted_definitions WITH (security_barrier) AS
SELECT d.id AS version_id, d.definition_id, d.version, d.name, d.description,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, d.created_at, d.deleted_at, d.document
FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
WHERE d.deleted_at IS NOT NULL AND d.id IN (SELECT m.id FROM workflow.my_definitions m)
  AND EXISTS (SELECT FROM workflow.instances i WHERE i.definition_version_id OPERATOR(pg_catalog.=) d.id);

COMMENT ON VIEW workflow.deleted_definitions IS 'deleted versions that still have instances, as far as the current role may read them';

CREATE FUNCTION workflow._check_route()
RETURNS TABLE (problem text, detail text) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_check_route';

COMMENT ON FUNCTION workflow._check_route() IS 'keys that workflow.route_check gives to another node, for wf_check';

CREATE OR REPLACE FUNCTION workflow._check()
RETURNS TABLE (problem text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'bookmark without instance', b.id::text
    FROM workflow.bookmarks b
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = b.instance_id)
    UNION ALL
    SELECT 'bookmark of an ended instance', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
    WHERE i.sub_status IN ('Finished', 'Cancelled')
    UNION ALL
    SELECT 'bookmark with another correlation id than its instance', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
    WHERE b.correlation_id IS DISTINCT FROM i.correlation_id
    UNION ALL
    SELECT 'bookmark of another definition owner', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
         JOIN workflow.definitions d ON d.id = i.definition_version_id
         LEFT JOIN workflow.definition_ids n ON n.definition_id = d.definition_id
         LEFT JOIN workflow.owners o ON o.id = b.definition_owner LEFT JOIN workflow.owners p ON p.id = d.owner
    WHERE CASE WHEN b.hash IS NOT NULL OR b.name = 'Elsa.RunTask' AND b.activity_type = b.name
               THEN COALESCE(o.same_as, o.id) IS DISTINCT FROM COALESCE(p.same_as, p.id)
                    AND (b.definition_owner = ANY (n.former_owners)) IS NOT TRUE
               ELSE b.definition_owner IS NOT NULL END
    UNION ALL
    SELECT 'bookmark of another instance owner', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
         LEFT JOIN workflow.owners o ON o.id = b.instance_owner LEFT JOIN workflow.owners p ON p.id = i.owner
    WHERE CASE WHEN b.hash IS NOT NULL THEN COALESCE(o.same_as, o.id) IS DISTINCT FROM COALESCE(p.same_as, p.id)
               ELSE b.instance_owner IS NOT NULL END
    UNION ALL
    SELECT 'trigger of another definition owner', t.id::text
    FROM workflow.triggers t JOIN workflow.definitions d ON d.id = t.definition_version_id
    WHERE t.definition_owner IS DISTINCT FROM CASE WHEN t.schedule_name IS NULL THEN d.owner END
    UNION ALL
    SELECT 'instance that waits for nothing', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status = 'Suspended' AND i.incident_count = 0
      AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = i.id)
    UNION ALL
    SELECT 'instance that was left executing', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status = 'Executing'
    UNION ALL
    SELECT 'pending instance without a bookmark to start it', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status = 'Pending' AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = i.id)
    UNION ALL
    SELECT 'record to compensate without instance', c.instance_id::text
    FROM workflow.compensations c
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = c.instance_id)
    UNION ALL
    SELECT 'record to compensate of an ended instance', c.instance_id::text
    FROM workflow.compensations c JOIN workflow.instances i ON i.id = c.instance_id
    WHERE i.sub_status IN ('Finished', 'Cancelled')
    UNION ALL
    SELECT 'search attribute without instance', s.instance_id::text
    FROM workflow.search_attributes s
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = s.instance_id)
    UNION ALL
    SELECT 'search attribute without a single value', s.instance_id::text
    FROM workflow.search_attributes s
    WHERE num_nonnulls(s.text, s.number, s.instant) <> 1
    UNION ALL
    SELECT 'incident without instance', c.id::text
    FROM workflow.incidents c
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = c.instance_id)
    UNION ALL
    SELECT 'unknown status', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status NOT IN ('Pending', 'Executing', 'Suspended', 'Finished', 'Faulted', 'Cancelled')
    UNION ALL
    SELECT 'unknown task status', t.id::text
    FROM workflow.tasks t
    WHERE t.status NOT IN ('Open', 'Completed', 'Failed', 'Cancelled')
    UNION ALL
    SELECT 'hash of a wrong length', b.id::text
    FROM workflow.bookmarks b
    WHERE octet_length(b.hash) <> 32
    UNION ALL
    SELECT 'bookmark without hash that a stimulus is to meet', b.id::text
    FROM workflow.bookmarks b
    WHERE (b.hash IS NULL OR b.hash_key IS NULL)
      AND NOT (b.activity_type = 'Elsa.RunTask' AND b.name = b.activity_type) AND b.name NOT IN ('Workflow.Retry', 'Workflow.Timeout', 'Workflow.StartTimeout', 'Workflow.RunTimeout', 'Workflow.Lease', 'Workflow.Answer', 'Workflow.Compensation', 'Workflow.Limit', 'Workflow.Deadline', 'Workflow.Reminder')
    UNION ALL
    SELECT 'bookmark whose keys do not fit its columns', b.id::text
    FROM workflow.bookmarks b
    WHERE b.hash_key <> ('x' || encode(substr(b.hash, 1, 4), 'hex'))::bit(32)::integer
       OR b.correlation_key IS DISTINCT FROM CASE WHEN b.hash IS NOT NULL THEN COALESCE(hashtext(b.correlation_id), 0) END
       OR b.kind_key IS DISTINCT FROM CASE WHEN b.hash IS NOT NULL AND b.activity_type <> 'Elsa.RunTask'
              THEN (hashtext(b.activity_type) << 22) | ((hashtext(b.name) & 1023) << 12) | (hashtext(b.activity_id) & 4095) END
    UNION ALL
    SELECT 'last lease of a task without the bookmark of its end', b.id::text
    FROM workflow.bookmarks b
    WHERE COALESCE(b.due_when_paused, b.available_at) = 'infinity' AND b.name = 'Elsa.RunTask'
      AND NOT EXISTS (SELECT FROM workflow.bookmarks e WHERE e.instance_id = b.instance_id AND e.name = 'Workflow.Lease'
                        AND e.activity_instance_id = b.activity_instance_id)
    UNION ALL
    SELECT 'end of a lease without its task', e.id::text
    FROM workflow.bookmarks e
    WHERE e.name = 'Workflow.Lease'
      AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = e.instance_id AND COALESCE(b.due_when_paused, b.available_at) = 'infinity'
                        AND b.activity_instance_id = e.activity_instance_id)
    UNION ALL
    SELECT 'kept answer of a task that is not answered', b.id::text
    FROM workflow.bookmarks b
    WHERE b.name = 'Workflow.Answer'
      AND NOT EXISTS (SELECT FROM workflow.tasks t WHERE t.id::text = b.payload ->> 'Task' AND t.instance_id = b.instance_id
                        AND t.status IN ('Completed', 'Failed'))
    UNION ALL
    SELECT 'task is assigned to an unknown role', b.id::text
    FROM workflow.bookmarks b
    WHERE EXISTS (SELECT FROM (SELECT b.assignee UNION ALL
                               SELECT c #>> '{}' FROM jsonb_path_query(b.candidates, 'lax $[*]') AS c) AS e (entry)
                  WHERE e.entry LIKE 'role:%' AND NOT EXISTS (SELECT FROM workflow.owners o WHERE 'role:' || o.id = e.entry))
    UNION ALL
    SELECT 'status and sub-status disagree', i.id::text
    FROM workflow.instances i
    WHERE (i.status = 'Running') <> (i.sub_status IN ('Pending', 'Executing', 'Suspended'))
    UNION ALL
    SELECT 'finished_at and sub-status disagree', i.id::text
    FROM workflow.instances i
    WHERE CASE WHEN i.sub_status = 'Faulted' THEN i.finished_at IS NOT NULL AND EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = i.id)
               ELSE (i.finished_at IS NOT NULL) <> (i.sub_status IN ('Finished', 'Cancelled')) END
    UNION ALL
    SELECT 'ended instance holds an activation key', i.id::text
    FROM workflow.instances i
    WHERE i.activation_key IS NOT NULL AND i.status = 'Finished'
    UNION ALL
    SELECT 'instance without definition', i.id::text
    FROM workflow.instances i
    WHERE NOT EXISTS (SELECT FROM workflow.definitions d WHERE d.id = i.definition_version_id)
    UNION ALL
    SELECT 'definition version uses a version that does not exist', d.id::text
    FROM workflow.definitions d CROSS JOIN LATERAL jsonb_to_recordset(d.links) AS l (uses uuid)
    WHERE NOT EXISTS (SELECT FROM workflow.definitions u WHERE u.id = l.uses)
    UNION ALL
    SELECT 'instance without journal', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status <> 'Pending' AND NOT EXISTS (SELECT FROM workflow.execution_log l WHERE l.instance_id = i.id)
      -- options.journal may say that there is none. Names of members count in any letter case.
      AND NOT EXISTS (SELECT FROM workflow.definitions d
                      WHERE d.id = i.definition_version_id AND lower(d.document::text)::jsonb #> '{options,journal}' IS NOT NULL)
    UNION ALL
    SELECT 'open task without bookmark', t.id::text
    FROM workflow.tasks t
    WHERE t.status = 'Open' AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.id = t.id)
    UNION ALL
    SELECT 'bookmark whose task is closed', b.id::text
    FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id = b.id
    WHERE t.status <> 'Open'
    UNION ALL
    SELECT 'slot without limit', s.id::text
    FROM workflow.slots s
    WHERE NOT EXISTS (SELECT FROM workflow.limits l WHERE l.id = s.limit_id)
    UNION ALL
    SELECT 'more slots of a period than the limit permits', s.id::text
    FROM workflow.slots s JOIN workflow.limits l ON l.id = s.limit_id
    WHERE substr(s.place, 1, 1) = 'r' AND s.n > COALESCE(l.rate, 0) AND s.taken_at < now() - l.per * INTERVAL '1 microsecond'
    UNION ALL
    SELECT 'lease without a slot of its limit', b.id::text
    FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id = b.id
         JOIN workflow.instances i ON i.id = b.instance_id
         JOIN workflow.definitions d ON d.id = i.definition_version_id
         JOIN workflow.limits l ON l.owner = d.owner AND l.name = t.name
    WHERE b.token IS NOT NULL AND b.lease_until IS NOT NULL AND l.concurrency IS NOT NULL
      AND (l.key IS NULL OR t.payload ->> l.key IS NOT NULL)
      AND (SELECT count(*) FROM workflow.slots s WHERE s.limit_id = l.id AND s.task = b.id AND s.token = b.token) <> 1
    UNION ALL
    SELECT 'directory of people cannot be asked', d.function
    FROM workflow.directory d LEFT JOIN workflow.owners o ON o.id = d.owner
         LEFT JOIN pg_proc p ON p.oid = to_regprocedure(d.function || '(text)')
    WHERE p.proowner IS DISTINCT FROM workflow._role_of(o.role_oid, o.name) OR p.oid IS NULL OR p.provolatile = 'v'
    UNION ALL
    SELECT 'owner of a limit is unknown', l.id::text
    FROM workflow.limits l
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = l.owner)
    UNION ALL
    SELECT 'lane of a task whose name has no limit', b.id::text
    FROM workflow.bookmarks b
    WHERE b.lane IS NOT NULL AND b.name <> 'Workflow.Limit'
      AND NOT EXISTS (SELECT FROM workflow.limits l WHERE l.name = b.payload ->> 'TaskName')
    UNION ALL
    SELECT 'lane and available_at of a task disagree', b.id::text
    FROM workflow.bookmarks b
    WHERE CASE WHEN b.lane IS NULL THEN b.available_at = '-infinity' ELSE b.available_at IS NULL END
    UNION ALL
    SELECT 'trigger of a version that is not published', t.id::text
    FROM workflow.triggers t
    WHERE t.schedule_name IS NULL
      AND NOT EXISTS (SELECT FROM workflow.definitions d WHERE d.id = t.definition_version_id AND d.is_published)
    UNION ALL
    SELECT 'trigger is due without a schedule', t.id::text
    FROM workflow.triggers t
    WHERE t.schedule IS NULL AND (t.next_fire_at IS NOT NULL OR t.scheduled_at IS NOT NULL)
    UNION ALL
    SELECT 'paused schedule is due', t.id::text
    FROM workflow.triggers t
    WHERE t.next_fire_at IS NOT NULL AND NOT t.active
    UNION ALL
    SELECT 'trigger has a scheduled instant and is never due', t.id::text
    FROM workflow.triggers t
    WHERE t.scheduled_at IS NOT NULL AND t.next_fire_at IS NULL
    UNION ALL
    SELECT 'fires wait without the overlap policy "queue"', t.id::text
    FROM workflow.triggers t
    WHERE t.queued <> 0 AND (t.schedule ->> 'overlap' IS DISTINCT FROM 'queue' OR t.queued < 0)
    UNION ALL
    SELECT 'fires wait without a running instance or a due time', t.id::text
    FROM workflow.triggers t
    WHERE t.queued > 0 AND t.active AND t.next_fire_at IS NULL
      AND NOT EXISTS (SELECT FROM workflow.instances i WHERE i.schedule_id = t.id AND i.status = 'Running')
    UNION ALL
    SELECT 'owner of a schedule is unknown', t.id::text
    FROM workflow.triggers t
    WHERE t.owner IS NOT NULL AND NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = t.owner)
    UNION ALL
    SELECT 'waits for a child workflow that will not report', b.id::text
    FROM workflow.bookmarks b
    WHERE b.activity_type IN ('Elsa.ExecuteWorkflow', 'Elsa.DispatchWorkflow', 'Elsa.BulkDispatchWorkflows')
      AND b.name NOT IN ('Workflow.Retry', 'Workflow.Timeout', 'Workflow.RunTimeout')
      AND NOT EXISTS (SELECT FROM workflow.instances c
                      WHERE c.parent_instance_id = b.instance_id AND c.parent_bookmark_id = b.id AND c.status = 'Running')
      AND NOT EXISTS (SELECT FROM workflow.bookmark_queue q WHERE q.bookmark_id = b.id)
    UNION ALL
    SELECT 'deferred stimulus outlived its transaction', q.id::text
    FROM workflow.bookmark_queue q
    WHERE q.deferred_for IS NOT NULL
    UNION ALL
    SELECT 'paused instance without its pause', i.id::text
    FROM workflow.instances i
    WHERE i.paused_at IS NOT NULL AND NOT EXISTS (SELECT FROM workflow.pauses p WHERE p.instance_id = i.id AND p.paused_at = i.paused_at)
    UNION ALL
    SELECT 'pause of an instance that is not paused', p.instance_id::text
    FROM workflow.pauses p
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = p.instance_id AND i.paused_at IS NOT NULL AND i.finished_at IS NULL)
    UNION ALL
    SELECT 'role of a pause is unknown', p.instance_id::text
    FROM workflow.pauses p
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = p.paused_by)
    UNION ALL
    SELECT 'bookmark stands still in an instance that is not paused', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
    WHERE b.paused_at IS NOT NULL AND i.paused_at IS NULL
    UNION ALL
    SELECT 'task of a paused instance can be claimed', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
    WHERE i.paused_at IS NOT NULL AND b.name = 'Elsa.RunTask' AND (b.paused_at IS NULL OR b.available_at IS DISTINCT FROM 'infinity')
    UNION ALL
    SELECT 'role of a save is unknown', d.id::text
    FROM workflow.definitions d
    WHERE d.saved_by IS NOT NULL AND NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = d.saved_by)
    UNION ALL
    SELECT 'published version is a draft', d.id::text
    FROM workflow.definitions d
    WHERE d.is_published AND (d.is_draft OR d.numbering IS NULL)
    UNION ALL
    SELECT 'version belongs to another role than its id', d.id::text
    FROM workflow.definitions d
    WHERE d.definition_id NOT IN ('Workflow.ScheduledCommand', 'Workflow.MigrateInstances')
      AND NOT EXISTS (SELECT FROM workflow.definition_ids n WHERE n.definition_id = d.definition_id AND n.owner = d.owner)
    UNION ALL
    SELECT 'owner of a definition id is unknown', n.definition_id
    FROM workflow.definition_ids n
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = n.owner)
    UNION ALL
    SELECT 'owner of a path is unknown', p.segment
    FROM workflow.paths p
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = p.owner)
    UNION ALL
    SELECT 'role of a task grant is unknown', g.id::text
    FROM workflow.task_grants g
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = g.role) OR NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = g.grantor)
    UNION ALL
    SELECT 'role of a substitute is unknown', s.person || ' ' || s.substitute
    FROM workflow.substitutes s
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = s.set_by)
       OR EXISTS (SELECT FROM unnest(ARRAY[s.person, s.substitute]) AS e (entry)
                  WHERE e.entry LIKE 'role:%' AND NOT EXISTS (SELECT FROM workflow.owners o WHERE concat('role:', o.id) = e.entry))
    UNION ALL
    SELECT 'worker or owner of accepted tasks is unknown', a.worker::text || ' ' || a.owner
    FROM workflow.accepted_owners a
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = a.worker) OR NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = a.owner)
    UNION ALL
    SELECT 'tasks that a worker is granted and does not accept', format('worker %s, owner %s', g.worker::regrole, g.owner::regrole)
    FROM (SELECT DISTINCT workflow._role_of(w.role_oid, w.name) AS worker, workflow._role_of(o.role_oid, o.name) AS owner
          FROM workflow.task_grants t LEFT JOIN workflow.definition_ids n ON n.definition_id = t.definition_id
               JOIN workflow.owners w ON w.id = t.role JOIN workflow.owners o ON o.id = COALESCE(n.owner, t.grantor)) g
    WHERE NOT workflow._accepts_tasks(g.worker, g.owner)
    UNION ALL
    SELECT 'owner is unknown', i.id::text
    FROM workflow.instances i
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = i.owner)
    UNION ALL
    SELECT r.problem, r.detail FROM workflow._check_route() r WHERE current_setting('workflow.route_check', true) <> '';
$$;

CREATE FUNCTION wf_claim_tasks(names text[] DEFAULT NULL, worker text DEFAULT NULL, max integer DEFAULT 1, lease interval DEFAULT '5 min')
RETURNS TABLE (task_id uuid, token uuid, name text, payload jsonb, correlation_id text, instance_id uuid, definition_id text,
               activity_id text, owner name, attempt integer, max_attempts integer, priority integer, deadline timestamptz, lease_until timestamptz, progress jsonb, traceparent text)
LANGUAGE c ROWS 10 AS 'MODULE_PATHNAME', 'wf_claim_tasks';

COMMENT ON FUNCTION wf_claim_tasks(text[], text, integer, interval) IS
    'claim open tasks for a task worker, those with a higher priority first, then older ones; a token proves the claim until the lease expires';

CREATE FUNCTION wf_claim_task(task uuid, worker text DEFAULT NULL, lease interval DEFAULT '5 min')
RETURNS TABLE (task_id uuid, token uuid, name text, payload jsonb, correlation_id text, instance_id uuid, definition_id text,
               activity_id text, owner name, attempt integer, max_attempts integer, priority integer, deadline timestamptz, lease_until timestamptz, progress jsonb, traceparent text)
LANGUAGE c ROWS 1 AS 'MODULE_PATHNAME', 'wf_claim_task';

COMMENT ON FUNCTION wf_claim_task(uuid, text, interval) IS 'claim an open task by its id; 55000 says why it cannot be claimed now';

CREATE FUNCTION wf_extend_task(task_id uuid, token uuid, lease interval DEFAULT '5 min', progress jsonb DEFAULT NULL)
RETURNS timestamptz LANGUAGE c AS 'MODULE_PATHNAME', 'wf_extend_task';

COMMENT ON FUNCTION wf_extend_task(uuid, uuid, interval, jsonb) IS
    'prolong the lease of a claimed task and record the progress; NULL: the task worker no longer holds the task';

CREATE FUNCTION wf_release_task(task_id uuid, token uuid, retry_in interval DEFAULT NULL)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_release_task';

COMMENT ON FUNCTION wf_release_task(uuid, uuid, interval) IS
    'return a claimed task, as if it had not been claimed, at once or to be claimed later; false if the task worker no longer holds it';

CREATE FUNCTION wf_assign_task(task_id uuid, assignee text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_assign_task';

COMMENT ON FUNCTION wf_assign_task(uuid, text) IS
    'assign an open task to a person: role:NAME, or a name that the application knows; false if it already is theirs';

CREATE FUNCTION wf_unassign_task(task_id uuid)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_unassign_task';

COMMENT ON FUNCTION wf_unassign_task(uuid) IS 'remove the assignee of an open task; false if it has none';

CREATE TYPE wf_http_begun AS (
    status      integer,
    headers     jsonb,
    body        bytea,
    wait_until  timestamptz,
    instance_id uuid
);

COMMENT ON TYPE wf_http_begun IS 'response to an HTTP request, or the instant until which its client waits for one';

CREATE FUNCTION wf_begin_http_request(
    request_id uuid,
    server     text,
    method     text,
    path       text,
    headers    jsonb    DEFAULT '{}',
    query      jsonb    DEFAULT '{}',
    body       bytea    DEFAULT NULL,
    timeout    interval DEFAULT '30 s'
) RETURNS wf_http_begun LANGUAGE c AS 'MODULE_PATHNAME', 'wf_begin_http_request';

COMMENT ON FUNCTION wf_begin_http_request(uuid, text, text, text, jsonb, jsonb, bytea, interval) IS
    'like wf_http_request for a server whose client can wait: if the workflow waits before it has responded, the response comes later, from wf_take_http_responses';

CREATE PROCEDURE wf_wait_http_responses(
    server      text,
    timeout     interval DEFAULT '30 s',
    INOUT ready boolean  DEFAULT NULL
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_wait_http_responses';

COMMENT ON PROCEDURE wf_wait_http_responses(text, interval, boolean) IS
    'sleep until wf_take_http_responses would return a response for the server (ready), or the timeout expires; outside a transaction block';

CREATE FUNCTION wf_take_http_responses(server text, max integer DEFAULT 10)
RETURNS TABLE (request_id uuid, status integer, headers jsonb, body bytea)
LANGUAGE c AS 'MODULE_PATHNAME', 'wf_take_http_responses';

COMMENT ON FUNCTION wf_take_http_responses(text, integer) IS
    'responses for requests that the current role began for the server, each one once';

CREATE FUNCTION wf_comment_task(task_id uuid, comment text DEFAULT NULL, attachments jsonb DEFAULT NULL)
RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_comment_task';

COMMENT ON FUNCTION wf_comment_task(uuid, text, jsonb) IS 'comment an open task, with references to attachments [{"name", "uri"}]';

CREATE FUNCTION workflow.may_reassign(task_id uuid)
RETURNS boolean LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_may_reassign';

COMMENT ON FUNCTION workflow.may_reassign(uuid) IS 'whether the caller may assign an open task to others';

CREATE FUNCTION wf_index_instances(
    definition_id text,
    max           integer DEFAULT 1000,
    after         uuid    DEFAULT NULL,
    OUT indexed   integer,
    OUT last_id   uuid
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_index_instances';

COMMENT ON FUNCTION wf_index_instances(text, integer, uuid) IS
    'store the values of search attributes of older instances, a batch in the order of their ids; repeat with last_id as after until it is NULL';

CREATE FUNCTION wf_set_substitute(person text, substitute text, until timestamptz, since timestamptz DEFAULT NULL)
RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_substitute';

COMMENT ON FUNCTION wf_set_substitute(text, text, timestamptz, timestamptz) IS
    'let one person answer tasks in place of another until an instant, from now or from another one on; both are role:NAME, or names that the application knows';

CREATE FUNCTION wf_remove_substitute(person text, substitute text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_remove_substitute';

COMMENT ON FUNCTION wf_remove_substitute(text, text) IS 'end what wf_set_substitute set; false if there was nothing';

CREATE PROCEDURE wf_wait_tasks(
    names       text[]   DEFAULT NULL,
    timeout     interval DEFAULT '30 s',
    INOUT ready boolean  DEFAULT NULL
) LANGUAGE c AS 'MODULE_PATHNAME', 'wf_wait_tasks';

COMMENT ON PROCEDURE wf_wait_tasks(text[], interval, boolean) IS
    'sleep until a claim of tasks of these names would return one (ready), or the timeout expires; outside a transaction block';

CREATE FUNCTION wf_limit_tasks(
    name        text,
    concurrency integer  DEFAULT NULL,
    rate        integer  DEFAULT NULL,
    per         interval DEFAULT '1 s',
    key         text     DEFAULT NULL
) RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_limit_tasks';

COMMENT ON FUNCTION wf_limit_tasks(text, integer, integer, interval, text) IS
    'limit how many tasks of a name are claimed at once and begun in a period, also for each value of a member of the payload; neither: removes the limit';

CREATE FUNCTION wf_fail_task(
    task_id  uuid,
    token    uuid,
    message  text,
    detail   text     DEFAULT NULL,
    code     text     DEFAULT NULL,
    retry_in interval DEFAULT NULL,
    retry    boolean  DEFAULT true,
    on_fault text     DEFAULT NULL
) RETURNS text LANGUAGE c AS 'MODULE_PATHNAME', 'wf_fail_task';

COMMENT ON FUNCTION wf_fail_task(uuid, uuid, text, text, text, interval, boolean, text) IS
    'report that an attempt of a claimed task failed; Open: it can be claimed again, Failed: its activity has faulted';

CREATE FUNCTION wf_pause(instance_id uuid, reason text DEFAULT NULL, children boolean DEFAULT false)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_pause';

COMMENT ON FUNCTION wf_pause(uuid, text, boolean) IS
    'pause an instance, and its children if wanted, until wf_unpause: nothing resumes it, and no task of it can be claimed; false if it was paused or had ended';

CREATE FUNCTION wf_unpause(instance_id uuid)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_unpause';

COMMENT ON FUNCTION wf_unpause(uuid) IS
    'end the pause of an instance and of those paused with it: stored answers and stimuli are delivered, then due timers fire';

CREATE FUNCTION wf_override_task(task_id uuid, reason text, result jsonb DEFAULT NULL, on_fault text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_override_task';

COMMENT ON FUNCTION wf_override_task(uuid, text, jsonb, text) IS 'complete a task in place of the people whom it is for, and say why';

CREATE FUNCTION wf_complete_tasks(answers jsonb)
RETURNS TABLE (task_id uuid, outcome text, sub_status text, message text)
LANGUAGE c ROWS 10 AS 'MODULE_PATHNAME', 'wf_complete_tasks';

COMMENT ON FUNCTION wf_complete_tasks(jsonb) IS
    'answers [{"taskId", "token", "result" | "error"}] for claimed tasks; a rejected one does not stop the others';

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

CREATE FUNCTION workflow._grant_invoker(role text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant_invoker';

COMMENT ON FUNCTION workflow._grant_invoker(text) IS 'stores whose workflows borrow the rights of the current role, for wf_grant_invoker';

CREATE FUNCTION workflow._revoke_invoker(role text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_revoke_invoker';

COMMENT ON FUNCTION workflow._revoke_invoker(text) IS 'removes whose workflows borrow the rights of the current role, for wf_revoke_invoker';

CREATE FUNCTION wf_grant_invoker(role name)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant_invoker(role::text);
END;

COMMENT ON FUNCTION wf_grant_invoker(name) IS
    'lend the rights of the current role to the workflows of another: their SQL runs with these rights when the current role resumes them; false if it did already';

CREATE FUNCTION wf_revoke_invoker(role name)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke_invoker(role::text);
END;

COMMENT ON FUNCTION wf_revoke_invoker(name) IS 'revoke a grant of wf_grant_invoker; false if there was none';

CREATE FUNCTION workflow._grant_worker(role text, names text[], definition_id text)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant_worker';

COMMENT ON FUNCTION workflow._grant_worker(text, text[], text) IS 'stores which role may work on which tasks, for wf_grant_worker';

CREATE FUNCTION workflow._revoke_worker(role text, names text[], definition_id text)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_revoke_worker';

COMMENT ON FUNCTION workflow._revoke_worker(text, text[], text) IS 'removes such grants, for wf_revoke_worker';

CREATE FUNCTION wf_grant_worker(role name, names text[] DEFAULT NULL, definition_id text DEFAULT NULL)
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant_worker(role::text, names, definition_id);
END;

COMMENT ON FUNCTION wf_grant_worker(name, text[], text) IS
    'let a role claim and answer tasks, of one definition or of all that the current role may manage, and nothing else; returns the number of new grants';

CREATE FUNCTION wf_revoke_worker(role name, names text[] DEFAULT NULL, definition_id text DEFAULT NULL)
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke_worker(role::text, names, definition_id);
END;

COMMENT ON FUNCTION wf_revoke_worker(name, text[], text) IS 'revoke grants of wf_grant_worker; returns how many there were';

CREATE FUNCTION wf_accept_tasks(owner name, worker name DEFAULT NULL)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_accept_tasks';

COMMENT ON FUNCTION wf_accept_tasks(name, name) IS
    'let claims of a task worker, by default the current role, return tasks of definitions of an owner and its members; false if they did already';

CREATE FUNCTION wf_refuse_tasks(owner name, worker name DEFAULT NULL)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_refuse_tasks';

COMMENT ON FUNCTION wf_refuse_tasks(name, name) IS 'revoke what wf_accept_tasks accepted; false if there was nothing';

-- The functions that task workers call, and the internal functions that these need; wf_grant_worker grants them.
CREATE FUNCTION workflow._worker_calls()
RETURNS SETOF text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT unnest(ARRAY['wf_claim_task', 'wf_claim_tasks', 'wf_extend_task', 'wf_complete_task', 'wf_complete_tasks',
                        'wf_fail_task', 'wf_release_task', 'wf_wait_tasks', 'wf_accept_tasks', 'wf_refuse_tasks'])
$$;

COMMENT ON FUNCTION workflow._worker_calls() IS 'names of the functions that wf_grant_worker gives to a role';

CREATE FUNCTION workflow._lacks_worker_calls(role oid)
RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM workflow._objects() o
                   WHERE o.kind = 'function' AND o.name IN (SELECT workflow._worker_calls())
                     AND NOT EXISTS (SELECT FROM aclexplode(o.held) h WHERE h.grantee = role AND h.privilege_type = 'EXECUTE'))
$$;

COMMENT ON FUNCTION workflow._lacks_worker_calls(oid) IS 'whether a role was not given all of workflow._worker_calls(), for wf_grant_worker';

-- If Citus distributes functions, it rejects GRANT on a worker node unless propagation of GRANT is off.
CREATE OR REPLACE FUNCTION wf_grant_usage(role name)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET citus.enable_ddl_propagation = off AS $$
DECLARE
    f record;
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'argument "role" must not be NULL' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    FOR f IN
        SELECT o.target
        FROM workflow._objects() o JOIN workflow._intended_grants() g ON g.kind = o.kind AND g.name = o.name AND g.grantee IS NULL
        WHERE o.kind = 'function'
        ORDER BY o.target
    LOOP
        EXECUTE pg_catalog.format('GRANT EXECUTE ON %s TO %I', f.target, role);
    END LOOP;
    -- Without USAGE on the schema of the functions, which CREATE EXTENSION … SCHEMA names, their names are not found.
    FOR f IN
        SELECT DISTINCT n.nspname
        FROM workflow._objects() o JOIN pg_catalog.pg_proc p ON p.oid = o.id JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
        WHERE o.kind = 'function' AND NOT pg_catalog.has_schema_privilege(role, n.oid, 'USAGE')
    LOOP
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %s', f.nspname, pg_catalog.quote_ident(role));
    END LOOP;
    -- The role's row among the owners is made now, so that its first calls do not wait for each other.
    PERFORM workflow._make_owner(role);
END
$$;

ALTER FUNCTION wf_revoke_usage(name) SET citus.enable_ddl_propagation = off;

CREATE FUNCTION workflow._give_worker_calls(role oid)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET citus.enable_ddl_propagation = off AS $$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT o.target
        FROM workflow._objects() o
        WHERE o.kind = 'function' AND o.name IN (SELECT workflow._worker_calls())
        ORDER BY o.target
    LOOP
        EXECUTE format('GRANT EXECUTE ON %s TO %s', f.target, role::regrole);
    END LOOP;
    -- Without USAGE on the schema of the functions, which CREATE EXTENSION … SCHEMA names, their names are not found.
    FOR f IN
        SELECT DISTINCT n.nspname
        FROM workflow._objects() o JOIN pg_catalog.pg_proc p ON p.oid = o.id JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
        WHERE o.kind = 'function' AND NOT pg_catalog.has_schema_privilege(role, n.oid, 'USAGE')
    LOOP
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %s', f.nspname, role::regrole);
    END LOOP;
END
$$;

COMMENT ON FUNCTION workflow._give_worker_calls(oid) IS 'makes the GRANTs of wf_grant_worker, with the rights of the owner';

-- A role that also has the rights of wf_grant_usage keeps these functions.
CREATE FUNCTION workflow._take_worker_calls(role oid)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET citus.enable_ddl_propagation = off AS $$
DECLARE
    f record;
BEGIN
    IF EXISTS (SELECT FROM workflow._objects() o CROSS JOIN LATERAL aclexplode(o.held) h
               WHERE o.kind = 'function' AND o.name NOT IN (SELECT workflow._worker_calls()) AND h.grantee = role) THEN
        RETURN;
    END IF;
    FOR f IN
        SELECT o.target
        FROM workflow._objects() o CROSS JOIN LATERAL aclexplode(o.held) h
        WHERE o.kind = 'function' AND h.grantee = role
        ORDER BY o.target
    LOOP
        EXECUTE format('REVOKE EXECUTE ON %s FROM %s', f.target, role::regrole);
    END LOOP;
END
$$;

COMMENT ON FUNCTION workflow._take_worker_calls(oid) IS 'takes back what workflow._give_worker_calls gave, for wf_revoke_worker';

CREATE FUNCTION wf_partition(key text, count integer)
RETURNS integer LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_partition';

COMMENT ON FUNCTION wf_partition(text, integer) IS
    'partition of a correlation id out of count, a power of two: the one in which PL/Proxy finds it by hashtext(key)';

CREATE FUNCTION wf_add_partitions(partitions integer[], count integer)
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_add_partitions';

COMMENT ON FUNCTION wf_add_partitions(integer[], integer) IS
    'add partitions of correlation ids to this node, out of the count of all nodes; returns how many it did not have';

CREATE FUNCTION wf_remove_partitions(partitions integer[])
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_remove_partitions';

COMMENT ON FUNCTION wf_remove_partitions(integer[]) IS
    'remove partitions from this node, after the calls that use their keys; returns how many it had';

CREATE FUNCTION wf_export_instances(keys text[] DEFAULT NULL, predicate regprocedure DEFAULT NULL, remove boolean DEFAULT false)
RETURNS SETOF bytea LANGUAGE c AS 'MODULE_PATHNAME', 'wf_export_instances';

COMMENT ON FUNCTION wf_export_instances(text[], regprocedure, boolean) IS
    'pack the instances of correlation ids, given or selected by f(key text), with everything that belongs to them, for wf_import_instances on another node; remove deletes them here';

CREATE FUNCTION wf_import_instances(bundle bytea[])
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_import_instances';

COMMENT ON FUNCTION wf_import_instances(bytea[]) IS
    'import what wf_export_instances has packed on another node; returns the number of instances';

CREATE FUNCTION wf_keep_instances(predicate regprocedure, max integer DEFAULT 10000, keyless boolean DEFAULT true, dry_run boolean DEFAULT false,
                                  max_percent integer DEFAULT 10)
RETURNS bigint LANGUAGE c AS 'MODULE_PATHNAME', 'wf_keep_instances';

COMMENT ON FUNCTION wf_keep_instances(regprocedure, integer, boolean, boolean, integer) IS
    'remove the instances whose correlation ids do not belong to this node, about max at a time; returns how many, 0 when none are left; dry_run counts all of them, and max_percent limits their part of all instances';

CREATE FUNCTION wf_call(key text, message text, kind text, name text, body jsonb DEFAULT NULL)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_call';

COMMENT ON FUNCTION wf_call(text, text, text, text, jsonb) IS
    'start, event, task, stimulus or http for a correlation id, once for each message: the same message again returns the same result and does nothing';

CREATE FUNCTION wf_set_variable(instance_id uuid, name text, value jsonb, activity_instance_id uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_variable';

COMMENT ON FUNCTION wf_set_variable(uuid, text, jsonb, uuid, text) IS 'set a variable of an instance; returns the former value';

CREATE FUNCTION wf_cancel_activity(instance_id uuid, activity_id text, activity_instance_id uuid DEFAULT NULL, reason text DEFAULT NULL)
RETURNS wf_result LANGUAGE c AS 'MODULE_PATHNAME', 'wf_cancel_activity';

COMMENT ON FUNCTION wf_cancel_activity(uuid, text, uuid, text) IS 'cancel the open executions of an activity, or one of them; the instance continues after it';

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

-- Lists of instances that a role may read.
DROP INDEX workflow.instances_definition_version_id_idx;
CREATE INDEX instances_definition_version_id_idx ON workflow.instances (definition_version_id, owner, id);

CREATE FUNCTION workflow.instance_calls(instance_id uuid)
RETURNS text[] LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_instance_calls';

COMMENT ON FUNCTION workflow.instance_calls(uuid) IS 'functions that change an instance and that the current role may call, whatever state the instance is in';

CREATE FUNCTION workflow.task_calls(task_id uuid)
RETURNS text[] LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_task_calls';

COMMENT ON FUNCTION workflow.task_calls(uuid) IS 'functions that the caller may call for an open task';

CREATE FUNCTION workflow.instance_page(
    filter     jsonb   DEFAULT '{}',
    order_by   text    DEFAULT 'Created',
    descending boolean DEFAULT true,
    page       integer DEFAULT 0,
    page_size  integer DEFAULT 10
)
RETURNS TABLE (instance_id uuid, definition_id text, version integer, definition_version_id uuid, name text, correlation_id text,
               status text, sub_status text, incident_count integer, owner text, parent_instance_id uuid, created_at timestamptz,
               updated_at timestamptz, finished_at timestamptz, paused_at timestamptz, total_count integer, is_exact boolean)
LANGUAGE c STABLE ROWS 10 AS 'MODULE_PATHNAME', 'wf_instance_page';

COMMENT ON FUNCTION workflow.instance_page(jsonb, text, boolean, integer, integer) IS
    'a page of the newest 10,000 instances that a filter selects and the current role may read; is_exact: total_count is exact';

CREATE FUNCTION workflow.instance_count(filter jsonb DEFAULT '{}', OUT total_count integer, OUT is_exact boolean)
LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_instance_count';

COMMENT ON FUNCTION workflow.instance_count(jsonb) IS
    'number of instances that a filter selects and the current role may read, up to 10,000; is_exact: the number is exact';

CREATE OR REPLACE FUNCTION workflow._check_rights()
RETURNS TABLE (problem text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'right that only the owner should have',
           format('%s%s on %s: %s', h.privilege_type, o.part, o.target, CASE h.grantee WHEN 0 THEN 'PUBLIC' ELSE h.grantee::regrole::text END)
    FROM workflow._objects() o CROSS JOIN LATERAL aclexplode(o.held) h LEFT JOIN pg_roles r ON r.oid = h.grantee
    WHERE h.grantee <> o.owner AND r.rolsuper IS NOT TRUE
      AND (o.kind IN ('relation', 'column') AND h.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER')
           OR o.kind IN ('relation', 'column') AND h.privilege_type = 'REFERENCES' AND current_setting('server_version_num')::integer < 180000
           OR o.kind = 'schema' AND h.privilege_type = 'CREATE')
    UNION ALL
    SELECT 'role that may write to every table', r.rolname::text
    FROM pg_roles r
    WHERE pg_has_role(r.oid, 'pg_write_all_data', 'MEMBER') AND r.rolname <> 'pg_write_all_data' AND NOT r.rolsuper
    UNION ALL
    SELECT 'role that bypasses row-level security', r.rolname::text
    FROM pg_roles r
    WHERE r.rolbypassrls AND NOT r.rolsuper
    UNION ALL
    SELECT 'table without row-level security, or without its policy for readers', o.target
    FROM workflow._objects() o JOIN pg_class c ON c.oid = o.id
    WHERE o.kind = 'relation' AND c.relkind IN ('r', 'p')
      AND NOT (c.relrowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'readers'))
    UNION ALL
    SELECT 'policy that the extension did not make', format('%I on %s', p.polname, o.target)
    FROM workflow._objects() o JOIN pg_policy p ON p.polrelid = o.id
    WHERE o.kind = 'relation' AND (p.polname <> 'readers' OR p.polcmd <> 'r' OR p.polroles <> ARRAY['pg_read_all_data'::regrole::oid])
    UNION ALL
    SELECT 'schema in which any role may create functions with names of the extension', n.nspname::text
    FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a
    WHERE a.grantee = 0 AND a.privilege_type = 'CREATE'
      AND EXISTS (SELECT FROM workflow._objects() o JOIN pg_proc p ON p.oid = o.id
                  WHERE o.kind = 'function' AND o.name LIKE 'wf\_%' AND p.pronamespace = n.oid)
    UNION ALL
    SELECT 'function that calls may find in place of one of the extension', f.oid::regprocedure::text
    FROM pg_proc f
    WHERE f.proname LIKE 'wf\_%'
      AND EXISTS (SELECT FROM workflow._objects() o JOIN pg_proc p ON p.oid = o.id
                  WHERE o.kind = 'function' AND p.proname = f.proname AND p.pronamespace = f.pronamespace)
      AND NOT EXISTS (SELECT FROM workflow._objects() o WHERE o.kind = 'function' AND o.id = f.oid)
$$;

-- What people see of workflows that they may not read: what they can start, what they have requested, what they have answered.

CREATE VIEW workflow.startable_definitions WITH (security_barrier) AS
SELECT d.definition_id, d.version, d.name, d.description, d.document OPERATOR(pg_catalog.->) 'inputs' AS inputs,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner
FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
WHERE d.is_published AND d.deleted_at IS NULL
  AND (d.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
       OR d.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT g.definition_id FROM workflow.grants g
                          WHERE g.privilege OPERATOR(pg_catalog.=) 'start' AND g.role OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m)))));

COMMENT ON VIEW workflow.startable_definitions IS 'published definitions that the current role may start';
COMMENT ON COLUMN workflow.startable_definitions.inputs IS 'the inputs that it declares; NULL: none';

CREATE VIEW workflow.task_definitions WITH (security_barrier) AS
SELECT t.task_id, t.definition_id, d.name AS definition_name
FROM workflow.open_tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) i.definition_version_id;

COMMENT ON VIEW workflow.task_definitions IS 'names of the workflows of open tasks';

-- Ids are ordered by time. A query for the latest rows without ORDER BY reads no further than necessary.
CREATE VIEW workflow.my_requests WITH (security_barrier) AS
SELECT i.id AS instance_id, i.definition_id, d.name AS definition_name, i.name, i.correlation_id, i.status,
       CASE WHEN i.cancelling_at IS NOT NULL AND i.sub_status OPERATOR(pg_catalog.=) 'Suspended' THEN 'Cancelling' ELSE i.sub_status END AS sub_status,
       i.output, i.created_at, i.finished_at, i.paused_at
FROM workflow.instances i JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) i.definition_version_id
     JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) COALESCE(i.started_by, i.owner)
WHERE i.parent_instance_id IS NULL AND i.schedule_id IS NULL
  AND o.id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
  AND CASE WHEN i.started_actor IS NULL THEN pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name)) OPERATOR(pg_catalog.=) CURRENT_USER
           ELSE i.started_actor OPERATOR(pg_catalog.=) pg_catalog.current_setting('workflow.actor', true) END
ORDER BY i.id DESC;

COMMENT ON VIEW workflow.my_requests IS 'instances that the current person has started: the actor, or else the role';

-- A requester learns whom a task asks and who has answered it, whatever else he may read.
CREATE VIEW workflow.request_steps WITH (security_barrier) AS
SELECT t.instance_id, t.id AS task_id, d.name AS definition_name, t.name, t.created_at, t.deadline,
       ARRAY(SELECT CASE WHEN o.id IS NULL THEN e.entry
                         ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name)) END
             FROM pg_catalog.jsonb_array_elements_text(CASE WHEN p.assignee IS NOT NULL THEN pg_catalog.jsonb_build_array(p.assignee) ELSE p.candidates END)
                  WITH ORDINALITY AS e (entry, number)
             LEFT JOIN workflow.owners o ON pg_catalog.concat('role:', o.id) OPERATOR(pg_catalog.=) e.entry
             ORDER BY e.number) AS people,
       t.status, t.completed_at,
       CASE WHEN t.completed_by IS NOT NULL
            THEN COALESCE(t.completed_actor, pg_catalog.pg_get_userbyid(workflow._role_of(a.role_oid, a.name))::text, a.name) END AS completed_by
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) i.definition_version_id
     LEFT JOIN workflow.bookmarks b ON b.id OPERATOR(pg_catalog.=) t.id
     LEFT JOIN workflow.owners a ON a.id OPERATOR(pg_catalog.=) t.completed_by
     CROSS JOIN LATERAL (SELECT COALESCE(b.assignee, t.assignee), COALESCE(b.candidates, t.candidates)) AS p (assignee, candidates)
WHERE i.parent_instance_id IS NULL
  AND (i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_definitions m))
       OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m)));

COMMENT ON VIEW workflow.request_steps IS 'tasks of instances that the current role has requested or may read: whom they ask, and who has answered';
COMMENT ON COLUMN workflow.request_steps.people IS 'the assignee, or else the candidates';
COMMENT ON COLUMN workflow.request_steps.status IS 'Open, Completed, Failed or Cancelled';
COMMENT ON COLUMN workflow.request_steps.completed_by IS 'the actor who answered, or else the role';

CREATE VIEW workflow.my_answers WITH (security_barrier) AS
SELECT t.id AS task_id, t.instance_id, i.definition_id, d.name AS definition_name, t.correlation_id, t.name, t.payload, t.completed_at, t.result,
       t.status OPERATOR(pg_catalog.=) 'Completed' AS used
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) i.definition_version_id
     JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) t.completed_by
WHERE t.status OPERATOR(pg_catalog.=) ANY (ARRAY['Completed', 'Cancelled'])
  AND t.completed_by OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
  AND CASE WHEN t.completed_actor IS NULL THEN pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name)) OPERATOR(pg_catalog.=) CURRENT_USER
           ELSE t.completed_actor OPERATOR(pg_catalog.=) pg_catalog.current_setting('workflow.actor', true) END
ORDER BY t.id DESC;

COMMENT ON VIEW workflow.my_answers IS 'answers of the current person: the actor, or else the role';
COMMENT ON COLUMN workflow.my_answers.used IS 'false: the activity was cancelled before the answer took effect';

CREATE OR REPLACE FUNCTION workflow._intended_grants()
RETURNS TABLE (kind text, name text, privilege text, grantee text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    VALUES ('schema', 'workflow', 'USAGE', 'public'),
           -- Counts without contents.
           ('relation', 'health', 'SELECT', 'pg_monitor'),
           ('function', 'wf_check', 'EXECUTE', 'pg_monitor'),
           ('function', 'wf_metrics', 'EXECUTE', 'pg_monitor'),
           ('function', '_check', 'EXECUTE', 'pg_monitor'),
           ('function', '_check_rights', 'EXECUTE', 'pg_monitor'),
           -- Names and times without data.
           ('function', 'wf_take_spans', 'EXECUTE', 'pg_monitor')
    UNION ALL
    -- Not stored_role: a column of another role would stand in the way of DROP EXTENSION.
    SELECT 'type', t.name, 'USAGE', 'public'
    FROM unnest(ARRAY['wf_adopted', 'wf_delivery', 'wf_http_begun', 'wf_http_response', 'wf_result']) AS t (name)
    UNION ALL
    -- These views filter by themselves.
    SELECT 'relation', v.name, 'SELECT', 'public'
    FROM unnest(ARRAY['definition_list', 'deleted_definitions', 'definition_links', 'instance_list', 'search_attribute_list', 'waiting', 'open_bookmarks', 'open_tasks', 'open_tasks_by_priority', 'answers', 'open_incidents', 'open_compensations',
                      'trigger_list', 'event_grant_list', 'invoker_grant_list', 'worker_grants', 'accepted_owner_list', 'substitute_list', 'task_comments', 'approval_votes', 'path_list', 'journal', 'audit', 'schedules', 'schedule_runs', 'dead_letter_list', 'workers', 'task_limits',
                      'startable_definitions', 'task_definitions', 'my_requests', 'request_steps', 'my_answers']) AS v (name)
    UNION ALL
    -- These functions look at their argument, at what is built in, or at what the current role may see; wf_set_role gives what
    -- SET ROLE gives.
    SELECT 'function', f.name, 'EXECUTE', 'public'
    FROM unnest(ARRAY['_accepts_tasks', '_act', '_events', '_is_excluded', '_node_id', '_people', '_person', '_role_of', '_run_status', '_substituted', '_activities', '_activity_list', '_arguments', '_flow_ports', '_validate', '_visible_activities', '_cron_preview', '_worker_status',
                      'instance_state', 'instance_page', 'instance_count', 'instance_calls', 'task_calls', 'may_reassign', 'activity_executions', 'wf_set_role', 'wf_set_actor', 'wf_validate', 'wf_activities', 'wf_activities_digest', 'wf_cron_preview', 'wf_partition', 'wf_version', '_stored_role_oid', '_stored_role_name']) AS f (name)
    UNION ALL
    SELECT 'function', f.name, 'EXECUTE', NULL
    FROM unnest(ARRAY['_adopt_database', 'wf_accept_tasks', 'wf_alter', '_alter', 'wf_alter_schedule', 'wf_assign_task', 'wf_begin_http_request', 'wf_call', 'wf_cancel', 'wf_cancel_activity', 'wf_claim_task', 'wf_claim_tasks', 'wf_comment_task', 'wf_complete_task', 'wf_complete_tasks',
                      'wf_define', 'wf_delete_definition', 'wf_delete_instance', 'wf_diagram',
                       'wf_enqueue_bookmark', 'wf_erase', 'wf_explain', '_explain', 'wf_export', 'wf_export_version', 'wf_extend_task', 'wf_fail_task', 'wf_grant', '_grant', 'wf_grant_events', '_grant_events',
                       'wf_http_request', 'wf_index_instances', 'wf_limit_tasks', 'wf_migrate', 'wf_migrate_all', '_migrate_batch', 'wf_override_task', 'wf_pause', 'wf_publish', 'wf_publish_event', 'wf_refresh', 'wf_refuse_tasks', 'wf_register_activity', 'wf_release_task', 'wf_remove_substitute', 'wf_replay', 'wf_resume',
                      'wf_retract', 'wf_retry', 'wf_revoke', '_revoke', 'wf_revoke_events', '_revoke_events', 'wf_grant_invoker', '_grant_invoker', 'wf_revoke_invoker', '_revoke_invoker', 'wf_grant_worker', '_grant_worker',
                      'wf_revoke_worker', '_revoke_worker', 'wf_run', 'wf_run_due', 'wf_save_draft',
                      'wf_schedule', 'wf_schedule_activity', 'wf_schedule_run_now', 'wf_schedule_workflow', 'wf_send_stimulus', 'wf_set_owner', 'wf_set_substitute', 'wf_set_variable', 'wf_start', 'wf_svg',
                      'wf_take_http_responses', 'wf_unassign_task', 'wf_unpause', 'wf_unschedule', 'wf_wait_http_responses', 'wf_wait_tasks']) AS f (name)
$$;

CREATE OR REPLACE PROCEDURE workflow._set_rights()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    command text;
BEGIN
    INSERT INTO workflow.pending_usage (function, role)
    WITH usage AS (
        SELECT o.id, o.held, o.owner, o.initial IS NULL AS is_new
        FROM workflow._objects() o JOIN workflow._intended_grants() g ON g.kind = o.kind AND g.name = o.name AND g.grantee IS NULL
        WHERE o.kind = 'function'
    ), holder AS (
        SELECT h.grantee
        FROM usage u CROSS JOIN LATERAL aclexplode(u.held) h
        WHERE NOT u.is_new AND h.privilege_type = 'EXECUTE' AND h.grantee NOT IN (0, u.owner)
        GROUP BY h.grantee
        HAVING count(*) = (SELECT count(*) FROM usage WHERE NOT is_new)
    )
    SELECT u.id, h.grantee
    FROM usage u CROSS JOIN holder h
    WHERE u.is_new
    UNION
    -- Workers get what a worker calls.
    SELECT o.id, r.oid
    FROM workflow._objects() o, workflow.task_grants g JOIN workflow.owners w ON w.id = g.role
         JOIN pg_roles r ON r.oid = w.role_oid OR w.role_oid IS NULL AND r.rolname = w.name
    WHERE o.kind = 'function' AND o.initial IS NULL AND o.name IN (SELECT workflow._worker_calls());
    -- The owner bypasses row-level security, and so do calls and views, which have the owner's rights. Without a policy
    -- SELECT, COPY and the first copy of a subscription would be silently empty for a role that may read everything.
    FOR command IN
        SELECT v.command
        FROM workflow._objects() o JOIN pg_class c ON c.oid = o.id
             CROSS JOIN LATERAL (VALUES
                 (format('ALTER %s ENABLE ROW LEVEL SECURITY', o.target)),
                 (format('CREATE POLICY readers ON %s FOR SELECT TO pg_read_all_data USING (true)', substr(o.target, 7)))) AS v (command)
        WHERE o.kind = 'relation' AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity
    LOOP
        EXECUTE command;
    END LOOP;
    -- The first REVOKE makes the row of a new object in pg_init_privs, whatever privileges the object has.
    FOR command IN
        SELECT format('REVOKE ALL ON %s FROM PUBLIC', o.target)
        FROM workflow._objects() o
        WHERE o.initial IS NULL AND o.kind <> 'column'
        UNION ALL
        SELECT format('REVOKE %s%s ON %s FROM %s CASCADE', h.privilege_type, o.part, o.target,
                      CASE h.grantee WHEN 0 THEN 'PUBLIC' ELSE h.grantee::regrole::text END)
        FROM workflow._objects() o CROSS JOIN LATERAL aclexplode(o.held) h
        WHERE h.grantee <> o.owner
          AND (o.initial IS NULL OR EXISTS (SELECT FROM aclexplode(o.initial) i
                                            WHERE i.grantee = h.grantee AND i.privilege_type = h.privilege_type))
          AND NOT EXISTS (SELECT FROM workflow._intended_grants() g
                          WHERE g.kind = o.kind AND g.name IN (o.name, '*') AND g.privilege = h.privilege_type
                            AND CASE g.grantee WHEN 'public' THEN 0 ELSE g.grantee::regrole::oid END = h.grantee)
    LOOP
        EXECUTE command;
    END LOOP;
    FOR command IN
        SELECT format('GRANT %s ON %s TO %s', g.privilege, o.target, g.grantee)
        FROM workflow._objects() o JOIN workflow._intended_grants() g ON g.kind = o.kind AND g.name IN (o.name, '*')
        WHERE g.grantee IS NOT NULL
          AND NOT EXISTS (SELECT FROM aclexplode(o.initial) i
                          WHERE i.privilege_type = g.privilege
                            AND i.grantee = CASE g.grantee WHEN 'public' THEN 0 ELSE g.grantee::regrole::oid END)
    LOOP
        EXECUTE command;
    END LOOP;
END
$$;

-- Comments that say the same in plainer words.
COMMENT ON FUNCTION wf_define(jsonb, boolean, boolean) IS 'store a workflow definition, in Elsa''s JSON or the short form; unchanged content keeps its version';
COMMENT ON FUNCTION wf_retract(text) IS 'unpublish a definition: no new instances start, running ones continue';
COMMENT ON FUNCTION wf_validate(jsonb, text) IS 'problems of a definition of at least the given severity, each with its path; without errors wf_define accepts it';
COMMENT ON FUNCTION wf_delete_definition(text, integer) IS 'delete a version, or all of them, unless an instance can still run on it; returns the number of versions';
COMMENT ON FUNCTION wf_refresh(text) IS 'compute the triggers of the published version again';
COMMENT ON FUNCTION wf_grant(text, name, text[]) IS 'let a role start, resume, read or alter a definition and its instances; returns the number of privileges that are new, or get a superuser as grantor';
COMMENT ON FUNCTION wf_revoke(text, name, text[]) IS 'revoke privileges; returns how many there were';
COMMENT ON TYPE wf_delivery IS 'effect of a stimulus: instances started and resumed, the queue item that stores it, and the number of matches whose owners may not receive stimuli of its sender';
COMMENT ON FUNCTION wf_enqueue_bookmark(text, jsonb, uuid, text, uuid, uuid, text, text, bytea, jsonb, interval) IS 'resume whatever matches now, or store the stimulus until a matching bookmark appears or it expires; NULL matches anything';
COMMENT ON FUNCTION wf_send_stimulus(text, jsonb, jsonb, text, uuid, interval) IS 'start the triggers and resume the bookmarks that match; stored only if it did neither; correlation_id: * is all, NULL those without one';
COMMENT ON FUNCTION wf_replay(uuid) IS 'retry a dead letter; true if it was delivered at once, false if it waits in the queue or for a background worker';
COMMENT ON FUNCTION workflow._grant_events(text, text) IS 'stores which role may receive events of which, for wf_grant_events';
COMMENT ON FUNCTION workflow._revoke_events(text, text) IS 'removes which role may receive events of which, for wf_revoke_events';
COMMENT ON FUNCTION wf_grant_events(name, name) IS 'let the workflows of a role receive what another role, by default the current one, publishes; false if they did already';
COMMENT ON FUNCTION wf_revoke_events(name, name) IS 'revoke a grant of wf_grant_events; false if there was none';
COMMENT ON FUNCTION workflow.instance_state(uuid) IS 'internal state of an instance: open activities, variables of scopes, outputs';
COMMENT ON FUNCTION wf_svg(uuid) IS 'an instance as a picture: what ran, waits and faulted';
COMMENT ON FUNCTION workflow._explain(uuid) IS 'history of an instance as a JSON array of lines, for wf_explain';
COMMENT ON FUNCTION wf_explain(uuid) IS 'history of an instance in plain lines: what happened, what it waits for, how to continue it';
COMMENT ON TYPE wf_http_response IS 'response to an HTTP request; a header is a text, or a list of texts';
COMMENT ON FUNCTION wf_http_request(text, text, jsonb, jsonb, bytea) IS 'start or resume the one workflow whose endpoint has this path and method, and return its response';
COMMENT ON FUNCTION workflow._grant_path(text, text) IS 'gives the paths of a segment to a role, for wf_grant_path';
COMMENT ON FUNCTION wf_grant_path(text, name) IS 'give the HTTP paths that begin with a segment to a role, or with NULL to no role; returns the number of removed triggers of the former owner';
COMMENT ON TYPE wf_result IS 'state of an instance after a call; bookmarks are [{id, name, activity_id, payload}], incidents the open ones; is_new: this call created it';
COMMENT ON FUNCTION wf_start(text, jsonb, text, text, uuid, integer, text, text) IS 'start an instance and run it until every branch waits or has ended; returns its id';
COMMENT ON FUNCTION wf_run(text, jsonb, text, text, uuid, integer, text, text) IS 'start an instance like wf_start and return its state';
COMMENT ON FUNCTION wf_resume(uuid, jsonb, boolean, text) IS 'resume an instance at a bookmark, which is used up';
COMMENT ON FUNCTION wf_cancel(uuid, text, boolean) IS 'cancel an instance and its descendants; false if it had already ended';
COMMENT ON FUNCTION wf_delete_instance(uuid, boolean) IS 'cancel an instance and remove it with everything that belongs to it; false if there is none';
COMMENT ON TYPE wf_adopted IS 'an owner as it is stored, the role that it stands for, the number of its instances, and the number of its overdue times';
COMMENT ON FUNCTION wf_version() IS 'version of the loaded library, the schema number that it requires, that of this database, and the PostgreSQL for which it was compiled';
COMMENT ON FUNCTION wf_worker_start() IS 'start the background workers until the next restart of a server that does not preload the library; false if they are already running';
COMMENT ON FUNCTION wf_adopt_database(boolean, text, jsonb) IS 'let this database fire its due work after it was copied, restored or upgraded; returns the owners and their roles';
COMMENT ON FUNCTION workflow._worker_status() IS 'state of the background workers in shared memory, for the view workflow.workers';
COMMENT ON FUNCTION wf_set_owner(text, text, name) IS 'give a definition, an instance, a schedule or an activity type to another role; false if the role already owns it';
COMMENT ON FUNCTION workflow._make_owner(name) IS 'id of a role in workflow.owners, created if it has none, for wf_grant_usage';
COMMENT ON FUNCTION wf_complete_task(uuid, jsonb, text, uuid) IS 'complete a task of workflow.tasks and resume its instance';
COMMENT ON FUNCTION wf_run_due(integer) IS 'fire due work of the current role, deliver queued stimuli, expire what is too old; returns the number of fires';
COMMENT ON FUNCTION wf_schedule(text, text, text, text, text, integer, text, interval, boolean, boolean, boolean) IS 'run a SQL command on a schedule; the same name of the same role again changes the schedule; returns its id';
COMMENT ON FUNCTION wf_schedule_workflow(text, text, text, jsonb, text, text, text, integer, text, interval, boolean) IS 'start a workflow on a schedule, in the version that is then published; returns the schedule''s id';
COMMENT ON FUNCTION wf_alter_schedule(text, text, text, boolean, text, text, integer, text, interval, jsonb, boolean, boolean) IS 'change the given properties of a schedule; active => false pauses it; returns its id';
COMMENT ON FUNCTION wf_unschedule(text) IS 'remove a schedule; runs that have begun continue; false if there is none';
COMMENT ON FUNCTION wf_schedule_run_now(text) IS 'start an additional run of a schedule; returns the instance, which is due now';
COMMENT ON FUNCTION workflow._cron_preview(text, integer, text, timestamptz) IS 'times of a schedule as a JSON array, for wf_cron_preview';
COMMENT ON FUNCTION wf_cron_preview(text, integer, text, timestamptz) IS 'the next times of any schedule that wf_schedule accepts';
COMMENT ON COLUMN workflow.definitions.id IS 'id of this version, never reused: backends cache the compiled form under it';
COMMENT ON COLUMN workflow.definitions.document IS 'the definition as it was passed';
COMMENT ON COLUMN workflow.definitions.retention IS 'microseconds for which finished instances are kept; NULL: as workflow.retention says';
COMMENT ON COLUMN workflow.definitions.activity_type IS 'its name as an activity type, if it is usable as an activity';
COMMENT ON COLUMN workflow.definitions.links IS 'the workflows that it uses as activities: each reference as written, and the id of the version to which it was fixed';
COMMENT ON COLUMN workflow.definitions.search_path IS 'search path of its SQL when it runs without a caller, as set in the session of wf_define; NULL: not needed';
COMMENT ON COLUMN workflow.triggers.next_fire_at IS 'when it is due next: at the scheduled time, later by its jitter, or earlier for a fire that waited';
COMMENT ON COLUMN workflow.triggers.scheduled_at IS 'the next time of its schedule, regardless of jitter and waiting fires';
COMMENT ON COLUMN workflow.triggers.schedule IS 'the times at which it fires, their time zone, and the policies for missed and overlapping runs';
COMMENT ON COLUMN workflow.triggers.active IS 'whether it fires by time; a paused schedule keeps its settings';
COMMENT ON COLUMN workflow.triggers.owner IS 'owner of a named schedule, and of the instances that it starts; otherwise the definition''s';
COMMENT ON COLUMN workflow.triggers.last_fire_at IS 'the scheduled time that was fired last';
COMMENT ON COLUMN workflow.triggers.skipped IS 'fires that started nothing: a run had not ended, or an activation strategy forbade it';
COMMENT ON COLUMN workflow.triggers.missed IS 'missed times that were not made up for';
COMMENT ON COLUMN workflow.bookmark_queue.uncorrelated IS 'whether it is only for instances without a correlation id';
COMMENT ON COLUMN workflow.bookmark_queue.shape IS 'the columns from which the match key is computed';
COMMENT ON COLUMN workflow.bookmark_queue.match_key IS 'hash of those columns: a new bookmark finds the items for it without scanning the queue';
COMMENT ON COLUMN workflow.bookmark_queue.not_before IS 'a failed delivery is not tried again before this time';
COMMENT ON COLUMN workflow.dead_letters.uncorrelated IS 'whether it was only for instances without a correlation id';
COMMENT ON COLUMN workflow.dead_letters.due_at IS 'when the bookmark that could not be fired was due; NULL for a stimulus';
COMMENT ON COLUMN workflow.dead_letters.replayed_at IS 'when wf_replay retried it';
COMMENT ON TABLE workflow.execution_log IS 'what happened, one row per burst, packed; workflow.journal shows it unpacked';
COMMENT ON TABLE workflow.paths IS 'owners of the first segments of HTTP paths: only their definitions may have endpoints below';
COMMENT ON COLUMN workflow.instances.sub_status IS 'Pending, Executing, Suspended, Finished, Faulted or Cancelled; a faulted instance can continue';
COMMENT ON COLUMN workflow.instances.state IS 'internal state of the engine; workflow.instance_state(id) shows it';
COMMENT ON COLUMN workflow.instances.schedule_id IS 'the trigger that started it by time';
COMMENT ON COLUMN workflow.instances.activation_key IS 'key by which this instance excludes others while it runs, according to its activation strategy';
COMMENT ON TABLE workflow.bookmarks IS 'where instances wait; a row is deleted when it is used up';
COMMENT ON COLUMN workflow.bookmarks.payload IS 'payload of the stimulus; for a task without its id, which is the bookmark''s id';
COMMENT ON COLUMN workflow.owners.role IS 'the role; its text shows the present name';
COMMENT ON TABLE workflow.event_grants IS 'which roles (workflow.owners) may receive the stimuli of which others';
COMMENT ON VIEW workflow.dead_letter_list IS 'stimuli that were given up, and bookmarks that could not be fired; wf_replay retries them';
COMMENT ON VIEW workflow.journal IS 'what happened in instances: one row per event';
COMMENT ON FUNCTION workflow._run_status(text, text) IS 'status of a run as schedulers name it, for the views';
COMMENT ON VIEW workflow.waiting IS 'bookmarks at which instances wait, since when, and until when';
COMMENT ON COLUMN workflow.waiting.dead_letter_id IS 'dead letter of a bookmark that was given up; wf_replay retries it';
COMMENT ON FUNCTION wf_check() IS 'rows that break a rule, and rights that roles other than the owner should not have; without rows all is well';
COMMENT ON VIEW workflow.workers IS 'what the background workers do: of this database, and for pg_monitor of all databases';
COMMENT ON COLUMN workflow.workers.oldest_due IS 'oldest due time that no background worker has fired';
COMMENT ON COLUMN workflow.workers.lateness_p99 IS '99th percentile of the delay of fires, accurate to about a fifth';
CREATE OR REPLACE VIEW workflow.health WITH (security_barrier) AS
SELECT i.count AS open_incidents, i.latest AS latest_incident, l.count AS dead_letters, l.latest AS latest_dead_letter,
       s.count AS failed_schedules, d.oldest AS oldest_due
FROM (SELECT pg_catalog.count(*) AS count, pg_catalog.max(n.created_at) AS latest
      FROM workflow.incidents n WHERE n.resolved_at IS NULL) i
CROSS JOIN (SELECT pg_catalog.count(*) AS count, pg_catalog.max(q.dead_at) AS latest
            FROM workflow.dead_letters q WHERE q.replayed_at IS NULL) l
CROSS JOIN (SELECT pg_catalog.count(*) AS count
            FROM workflow.triggers t LEFT JOIN workflow.instances r ON r.id OPERATOR(pg_catalog.=) t.last_instance_id
            WHERE t.schedule IS NOT NULL AND (t.attempts OPERATOR(pg_catalog.>) 0 OR r.sub_status OPERATOR(pg_catalog.=) 'Faulted')) s
CROSS JOIN (SELECT LEAST(
                -- Those of faulted and of paused instances wait for a retry or for the end of the pause, as the scheduler sees it.
                -- However many there are, the first 10,000 are looked at, as in wf_metrics.
                (SELECT f.due_at
                 FROM (SELECT b.due_at, b.name, b.instance_id FROM workflow.bookmarks b
                       WHERE b.due_at OPERATOR(pg_catalog.<=) pg_catalog.now() ORDER BY b.due_at LIMIT 10000) f
                      JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) f.instance_id
                 WHERE CASE WHEN i.paused_at IS NULL
                            THEN i.sub_status OPERATOR(pg_catalog.<>) 'Faulted' OR f.name OPERATOR(pg_catalog.=) 'Workflow.RunTimeout'
                            ELSE EXISTS (SELECT FROM workflow.pauses p
                                         WHERE p.instance_id OPERATOR(pg_catalog.=) i.id AND p.unpaused_at IS NOT NULL) END
                 ORDER BY f.due_at LIMIT 1),
                (SELECT pg_catalog.min(t.next_fire_at) FROM workflow.triggers t
                 WHERE t.next_fire_at OPERATOR(pg_catalog.<=) pg_catalog.now() AND t.active)) AS oldest) d;

COMMENT ON VIEW workflow.health IS 'counts over all owners of what needs an administrator; for pg_monitor';
COMMENT ON COLUMN workflow.health.dead_letters IS 'dead letters that were not replayed';
COMMENT ON COLUMN workflow.health.failed_schedules IS 'schedules whose last run or last fire failed';
COMMENT ON COLUMN workflow.health.oldest_due IS 'oldest due time that was not fired; NULL if there is none';
COMMENT ON VIEW workflow.event_grant_list IS 'grants of wf_grant_events that concern the current role: which listener may receive the events of which publisher';
COMMENT ON VIEW workflow.schedule_runs IS 'runs that schedules have started: when, for how long, and with what outcome';

CREATE FUNCTION workflow._counts()
RETURNS jsonb LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'wf_counts';

COMMENT ON FUNCTION workflow._counts() IS 'counters of this database in shared memory as a JSON array, for wf_metrics';

-- Up to where the journal has been read for traces: rows of transactions below until_xid are complete, and those from from_xid on
-- are still to be read, behind the last one. Rows have no index by transaction, so their time bounds the search: since, and from
-- next_xid on next_since.
CREATE TABLE workflow.span_cursor (
    id            integer     CONSTRAINT span_cursor_pkey PRIMARY KEY,
    from_xid      bigint      NOT NULL,
    until_xid     bigint      NOT NULL,
    since         timestamptz NOT NULL,
    next_xid      bigint      NOT NULL,
    next_since    timestamptz NOT NULL,
    last_at       timestamptz,
    last_instance uuid,
    last_seq      integer
);

COMMENT ON TABLE workflow.span_cursor IS 'up to where wf_take_spans has read the journal; at most one row, and none in a dump, because transaction ids belong to a server';

-- Rows of the journal become visible in another order than that of their times. So a batch has rows of transactions that have
-- all ended: those with an xid below the xmin of a snapshot. The xmin of a row has 32 bits, which wrap around. A transaction that
-- gets an xid after a snapshot was running when the sessions were listed before the snapshot, or began later. So the start of the
-- oldest transaction in that list bounds the times of such rows. The caller's transaction locks the cursor, and a rollback returns
-- the spans. The first setting excludes plans that read the whole journal, which look cheap for a search that ends at the first row.
CREATE FUNCTION wf_take_spans(max integer DEFAULT 200)
RETURNS TABLE (instance_id uuid, seq integer, at timestamptz, definition_id text, version integer, parent_instance_id uuid,
               traceparent text, started_at timestamptz, events jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    c       record;
    burst   record;
    oldest  timestamptz;
    horizon bigint;
    newest  bigint;
    number  integer := 0;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'cannot take spans in a transaction with isolation level %', upper(current_setting('transaction_isolation'))
            USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    END IF;
    IF max IS NULL THEN
        RAISE EXCEPTION 'argument "max" must not be NULL' USING ERRCODE = '22004';
    END IF;
    IF max NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'argument "max" must be between 1 and 10000' USING ERRCODE = '22023';
    END IF;
    -- In this order, and with a minute for the time that a session takes to show that it has begun a transaction. A vacuum may take
    -- hours, and writes no journal.
    SELECT least(clock_timestamp(), min(a.xact_start)) - interval '1 minute' INTO oldest
    FROM pg_stat_activity a WHERE a.datname = current_database() AND a.backend_type <> 'autovacuum worker';
    SELECT pg_snapshot_xmin(s.snapshot)::text::bigint, pg_snapshot_xmax(s.snapshot)::text::bigint INTO horizon, newest
    FROM pg_current_snapshot() AS s (snapshot);
    SELECT d.* INTO c FROM workflow.span_cursor d;
    IF NOT FOUND THEN
        INSERT INTO workflow.span_cursor (id, from_xid, until_xid, since, next_xid, next_since)
        VALUES (1, horizon, horizon, oldest, newest, oldest) ON CONFLICT DO NOTHING;
        RETURN;
    END IF;
    -- An idle database has no rows to read, and gets no writes. While a transaction stays open, nothing is read at all.
    IF c.from_xid = c.until_xid AND (c.until_xid >= horizon OR NOT EXISTS (
        SELECT FROM workflow.execution_log l
        WHERE l.created_at >= CASE WHEN c.until_xid >= c.next_xid THEN c.next_since ELSE c.since END
          AND ((l.xmin::text::bigint - c.until_xid) & 4294967295) < horizon - c.until_xid)) THEN
        RETURN;
    END IF;
    SELECT d.* INTO c FROM workflow.span_cursor d FOR UPDATE SKIP LOCKED;
    -- Another caller reads.
    IF NOT FOUND OR c.from_xid = c.until_xid AND c.until_xid >= horizon THEN
        RETURN;
    END IF;
    IF c.from_xid = c.until_xid THEN
        IF c.until_xid >= c.next_xid THEN
            c.since := c.next_since;
            c.next_xid := newest;
            c.next_since := oldest;
        END IF;
        c.until_xid := horizon;
    END IF;
    FOR burst IN
        SELECT l.instance_id, l.seq, l.created_at, l.events FROM workflow.execution_log l
        WHERE l.created_at >= greatest(c.since, c.last_at)
          AND ((l.xmin::text::bigint - c.from_xid) & 4294967295) < c.until_xid - c.from_xid
          AND (c.last_at IS NULL OR (l.created_at, l.instance_id, l.seq) > (c.last_at, c.last_instance, c.last_seq))
        ORDER BY l.created_at, l.instance_id, l.seq LIMIT wf_take_spans.max
    LOOP
        number := number + 1;
        c.last_at := burst.created_at;
        c.last_instance := burst.instance_id;
        c.last_seq := burst.seq;
        RETURN QUERY
        SELECT i.id, burst.seq, burst.created_at, i.definition_id, i.version, i.parent_instance_id, i.traceparent, i.created_at,
               coalesce((SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('event', e.event -> 'event', 'activity', e.event -> 'activity_id',
                                                                              'type', e.event -> 'activity_type', 'bookmark', e.event -> 'bookmark_id')) ORDER BY e.number)
                         FROM (SELECT j.event, j.number
                               FROM jsonb_array_elements(workflow._events(burst.instance_id, burst.events)) WITH ORDINALITY AS j (event, number)
                               -- Details and values: neither their number nor their contents belong in a trace.
                               WHERE j.event ->> 'event' <> ALL (ARRAY['Started', 'Completed', 'Line', 'Published', 'Note', 'Logged', 'Inputs evaluated', 'Outputs set'])
                               ORDER BY j.number LIMIT 200) e), '[]')
        FROM workflow.instances i WHERE i.id = burst.instance_id;
    END LOOP;
    IF number < max THEN
        c.from_xid := c.until_xid;
        c.last_at := NULL;
        c.last_instance := NULL;
        c.last_seq := NULL;
    END IF;
    UPDATE workflow.span_cursor d
    SET from_xid = c.from_xid, until_xid = c.until_xid, since = c.since, next_xid = c.next_xid, next_since = c.next_since,
        last_at = c.last_at, last_instance = c.last_instance, last_seq = c.last_seq;
END $$;

COMMENT ON FUNCTION wf_take_spans(integer) IS 'bursts that no transaction has taken yet, for an exporter of traces; a rollback returns them; for pg_monitor';

-- Only counts, for pg_monitor. Everything is read through indexes, and about 10,000 rows of a table at most: a larger number is
-- returned as the number that was read, and workflow_metric_capped names it. The settings exclude plans that read whole tables, which PostgreSQL
-- may choose while its statistics are outdated, and compiling the query, which takes longer than running it. A task is open while
-- its bookmark exists.
CREATE FUNCTION wf_metrics()
RETURNS TABLE (name text, type text, help text, labels jsonb, value double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    WITH RECURSIVE task_names AS (
        -- The first name of the index on open tasks, and after each name the next one: one probe for each. Behind the 500th all others
        -- count together.
        (SELECT b.definition_owner AS owner, b.payload ->> 'TaskName' AS name, 1 AS number
         FROM workflow.bookmarks b
         WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
         ORDER BY b.definition_owner, b.payload ->> 'TaskName' LIMIT 1)
        UNION ALL
        SELECT f.owner, f.name, n.number + 1
        FROM task_names n CROSS JOIN LATERAL (
            SELECT b.definition_owner AS owner, b.payload ->> 'TaskName' AS name
            FROM workflow.bookmarks b
            WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
              AND (b.definition_owner, b.payload ->> 'TaskName') > (n.owner, n.name)
            ORDER BY b.definition_owner, b.payload ->> 'TaskName' LIMIT 1) f
        WHERE n.number <= 500
    ), share AS (
        -- What is read for each name, so that all of them together read about 10,000 rows.
        SELECT greatest(100, 10000 / greatest(1, count(*))) AS rows FROM task_names
    ), open_tasks AS (
        SELECT n.name, c.count, c.oldest, c.count = (SELECT s.rows FROM share s) AS is_capped
        FROM task_names n CROSS JOIN LATERAL (
            SELECT count(*) AS count, min(t.created_at) AS oldest
            FROM (SELECT b.created_at FROM workflow.bookmarks b
                  WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
                    AND b.definition_owner = n.owner AND b.payload ->> 'TaskName' = n.name
                  LIMIT (SELECT s.rows FROM share s)) t) c
        WHERE n.number <= 500
        UNION ALL
        SELECT 'other', c.count, c.oldest, c.count = (SELECT s.rows FROM share s)
        FROM task_names n CROSS JOIN LATERAL (
            SELECT count(*) AS count, min(t.created_at) AS oldest
            FROM (SELECT b.created_at FROM workflow.bookmarks b
                  WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
                    AND (b.definition_owner, b.payload ->> 'TaskName') >= (n.owner, n.name)
                  LIMIT (SELECT s.rows FROM share s)) t) c
        WHERE n.number = 501
    ), tasks AS (
        SELECT o.name, sum(o.count)::double precision AS count, extract(epoch FROM now() - min(o.oldest))::double precision AS age,
               bool_or(o.is_capped) AS is_capped
        FROM open_tasks o GROUP BY o.name
    ), limit_rows AS (
        SELECT k.name, k.id, k.concurrency FROM workflow.limits k ORDER BY k.name LIMIT 10000
    ), limits AS (
        SELECT CASE WHEN dense_rank() OVER (ORDER BY l.name) <= 500 THEN l.name ELSE 'other' END AS name, l.id, l.concurrency
        FROM limit_rows l
        WHERE l.concurrency IS NOT NULL
    ), slot_rows AS (
        SELECT l.name, l.id, l.concurrency, s.place, s.task, s.token
        FROM limits l JOIN workflow.slots s ON s.limit_id = l.id AND s.place >= 'c' AND s.place < 'd' AND s.n <= l.concurrency
        LIMIT 10000
    ), slots AS (
        -- A slot is free when its task has ended, when another lease has its token, or when the lease has expired.
        SELECT s.name, s.id, s.place, s.concurrency, count(b.id) AS held
        FROM slot_rows s LEFT JOIN workflow.bookmarks b ON b.id = s.task AND b.token = s.token AND b.lease_until > now()
        GROUP BY s.name, s.id, s.place, s.concurrency
    ), slots_of_names AS (
        SELECT l.name, coalesce(sum(s.held), 0)::double precision AS held, count(*) FILTER (WHERE s.held >= s.concurrency)::double precision AS full_limits,
               (SELECT count(*) = 10000 FROM limit_rows) OR (SELECT count(*) = 10000 FROM slot_rows) AS is_capped
        FROM limits l LEFT JOIN slots s ON s.id = l.id
        GROUP BY l.name
    ), due_bookmarks AS (
        -- Those of faulted and of paused instances wait for a retry or for the end of the pause, as the scheduler sees it.
        SELECT count(*) FILTER (WHERE d.fires)::double precision AS count, min(d.due_at) FILTER (WHERE d.fires) AS oldest,
               count(*) = 10000 AS is_capped
        FROM (SELECT f.due_at, CASE WHEN i.paused_at IS NULL THEN i.sub_status <> 'Faulted' OR f.name = 'Workflow.RunTimeout'
                                    ELSE EXISTS (SELECT FROM workflow.pauses p WHERE p.instance_id = i.id AND p.unpaused_at IS NOT NULL) END AS fires
              FROM (SELECT b.due_at, b.name, b.instance_id FROM workflow.bookmarks b
                    WHERE b.due_at <= now() ORDER BY b.due_at LIMIT 10000) f
                   JOIN workflow.instances i ON i.id = f.instance_id) d
    ), due_schedules AS (
        SELECT count(*)::double precision AS count, min(t.next_fire_at) AS oldest, count(*) = 10000 AS is_capped
        FROM (SELECT s.next_fire_at FROM workflow.triggers s
              WHERE s.next_fire_at <= now() AND s.active ORDER BY s.next_fire_at LIMIT 10000) t
    ), queue AS (
        SELECT count(*)::double precision AS count, count(*) FILTER (WHERE q.attempts > 0)::double precision AS failing,
               count(*) = 10000 AS is_capped
        FROM (SELECT i.attempts FROM workflow.bookmark_queue i WHERE i.deferred_for IS NULL LIMIT 10000) q
    ), dead_letters AS (
        -- The latest ones: those that were replayed stay, so a smaller number may have been read.
        SELECT count(*) FILTER (WHERE d.replayed_at IS NULL)::double precision AS count, count(*) = 10000 AS is_capped
        FROM (SELECT l.replayed_at FROM workflow.dead_letters l ORDER BY l.dead_at DESC LIMIT 10000) d
    ), incidents AS (
        SELECT count(*)::double precision AS count, count(*) = 10000 AS is_capped
        FROM (SELECT FROM workflow.incidents n WHERE n.resolved_at IS NULL LIMIT 10000) i
    ), failed_schedules AS (
        SELECT count(*) FILTER (WHERE t.attempts > 0 OR r.sub_status = 'Faulted')::double precision AS count, count(*) = 10000 AS is_capped
        FROM (SELECT s.attempts, s.last_instance_id FROM workflow.triggers s WHERE s.schedule IS NOT NULL LIMIT 10000) t
             LEFT JOIN workflow.instances r ON r.id = t.last_instance_id
    ), workers AS (
        SELECT w.worker, w.state, w.fired, w.failed, w.p99
        FROM jsonb_to_recordset(workflow._worker_status()) AS w (worker text, database oid, state text, fired double precision,
                                                                 failed double precision, p99 double precision)
        WHERE w.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
    ), counts AS (
        -- A definition may have the name under which all that exceed the number of counters count.
        SELECT c.name, c.labels, sum(c.value) AS value
        FROM jsonb_to_recordset(workflow._counts()) AS c (name text, labels jsonb, value double precision)
        GROUP BY c.name, c.labels
    ), measured AS (
        SELECT 'workflow_task_open' AS name, jsonb_build_object('task', t.name) AS labels, t.count AS value, t.is_capped FROM tasks t
        UNION ALL
        SELECT 'workflow_task_oldest_age_seconds', jsonb_build_object('task', t.name), greatest(t.age, 0), t.is_capped FROM tasks t
        UNION ALL
        SELECT 'workflow_task_slots_held', jsonb_build_object('task', s.name), s.held, s.is_capped FROM slots_of_names s
        UNION ALL
        SELECT 'workflow_task_limits_full', jsonb_build_object('task', s.name), s.full_limits, s.is_capped FROM slots_of_names s
        UNION ALL
        SELECT 'workflow_due_bookmarks', '{}', b.count, b.is_capped FROM due_bookmarks b
        UNION ALL
        SELECT 'workflow_due_schedules', '{}', s.count, s.is_capped FROM due_schedules s
        UNION ALL
        -- They are read in the order of their due times, so the first one that fires is the oldest. If none of those that were read does, the
        -- age is that of the oldest schedule, or unknown (NULL).
        SELECT 'workflow_oldest_due_age_seconds', '{}',
               coalesce(extract(epoch FROM now() - least(b.oldest, s.oldest)), CASE WHEN NOT b.is_capped THEN 0 END)::double precision,
               b.is_capped AND b.oldest IS NULL
        FROM due_bookmarks b CROSS JOIN due_schedules s
        UNION ALL
        SELECT 'workflow_queued_stimuli', '{}', q.count, q.is_capped FROM queue q
        UNION ALL
        SELECT 'workflow_failing_stimuli', '{}', q.failing, q.is_capped FROM queue q
        UNION ALL
        SELECT 'workflow_dead_letters', '{}', d.count, d.is_capped FROM dead_letters d
        UNION ALL
        SELECT 'workflow_open_incidents', '{}', i.count, i.is_capped FROM incidents i
        UNION ALL
        SELECT 'workflow_failed_schedules', '{}', f.count, f.is_capped FROM failed_schedules f
        UNION ALL
        SELECT 'workflow_busy_executors', '{}', count(*) FILTER (WHERE w.worker = 'executor' AND w.state = 'firing')::double precision, false FROM workers w
        UNION ALL
        SELECT 'workflow_max_executors', '{}', current_setting('workflow.max_executors', true)::double precision, false
        UNION ALL
        SELECT 'workflow_lateness_p99_seconds', '{}', w.p99, false FROM workers w WHERE w.worker = 'scheduler'
        UNION ALL
        SELECT 'workflow_fires_total', '{}', coalesce(sum(w.fired), 0), false FROM workers w WHERE w.worker = 'scheduler'
        UNION ALL
        SELECT 'workflow_failed_fires_total', '{}', coalesce(sum(w.failed), 0), false FROM workers w WHERE w.worker = 'scheduler'
        UNION ALL
        SELECT c.name, c.labels, c.value, false FROM counts c
    ), returned AS (
        SELECT m.name, m.labels, m.value FROM measured m
        UNION ALL
        SELECT DISTINCT 'workflow_metric_capped', jsonb_build_object('metric', m.name), 1::double precision FROM measured m WHERE m.is_capped
    )
    SELECT r.name, k.type, k.help, r.labels, r.value
    FROM (VALUES
        (1, 'workflow_task_open', 'gauge', 'Open tasks.'),
        (2, 'workflow_task_oldest_age_seconds', 'gauge', 'Age of the oldest open task.'),
        (3, 'workflow_task_slots_held', 'gauge', 'Leases that count towards a limit of tasks held at a time.'),
        (4, 'workflow_task_limits_full', 'gauge', 'Limits of tasks held at a time that are reached, counted for each value of their key.'),
        (5, 'workflow_due_bookmarks', 'gauge', 'Timers, timeouts and retries that are due and have not fired.'),
        (6, 'workflow_due_schedules', 'gauge', 'Schedules that are due and have not fired.'),
        (7, 'workflow_oldest_due_age_seconds', 'gauge', 'Lateness of the bookmark or schedule that is due and has not fired for the longest time; 0 if there is none.'),
        (8, 'workflow_queued_stimuli', 'gauge', 'Stored events and other stimuli that wait for an instance or for a delivery.'),
        (9, 'workflow_failing_stimuli', 'gauge', 'Stored stimuli whose delivery has failed at least once.'),
        (10, 'workflow_dead_letters', 'gauge', 'Dead letters that were not replayed.'),
        (11, 'workflow_open_incidents', 'gauge', 'Incidents that are not resolved.'),
        (12, 'workflow_failed_schedules', 'gauge', 'Schedules whose last run or last fire failed.'),
        (13, 'workflow_busy_executors', 'gauge', 'Executors of this database that are firing.'),
        (14, 'workflow_max_executors', 'gauge', 'The setting workflow.max_executors.'),
        (15, 'workflow_lateness_p99_seconds', 'gauge', '99th percentile of the delay of fires since the start of the server.'),
        (16, 'workflow_fires_total', 'counter', 'Fires by background workers since the start of the server.'),
        (17, 'workflow_failed_fires_total', 'counter', 'Fires by background workers that failed since the start of the server.'),
        (18, 'workflow_definition_started_total', 'counter', 'Instances whose first step has run, since the start of the server.'),
        (19, 'workflow_definition_resumed_total', 'counter', 'Resumes at a bookmark, by events, answers, timers or calls, since the start of the server.'),
        (20, 'workflow_definition_finished_total', 'counter', 'Instances that have finished, since the start of the server.'),
        (21, 'workflow_definition_faulted_total', 'counter', 'Instances that have become faulted, since the start of the server.'),
        (22, 'workflow_definition_cancelled_total', 'counter', 'Instances that were cancelled, since the start of the server.'),
        (23, 'workflow_definition_incidents_total', 'counter', 'Incidents, since the start of the server.'),
        (24, 'workflow_task_claims_total', 'counter', 'Claims since the start of the server.'),
        (25, 'workflow_task_answers_total', 'counter', 'Tasks that were completed, since the start of the server.'),
        (26, 'workflow_task_failures_total', 'counter', 'Attempts that were reported as failed, since the start of the server.'),
        (27, 'workflow_definition_burst_seconds', 'histogram', 'Duration of bursts, since the start of the server.'),
        (28, 'workflow_task_claim_seconds', 'histogram', 'Time from the opening of a task to its first claim, since the start of the server.'),
        (29, 'workflow_task_answer_seconds', 'histogram', 'Time from the opening of a task to its completion, since the start of the server.'),
        (30, 'workflow_lateness_seconds', 'histogram', 'Delay of fires, since the start of the server.'),
        (31, 'workflow_metric_capped', 'gauge', 'Metrics that may be too small, because about 10,000 rows of a table are read at most.')
    ) AS k (number, name, type, help)
    CROSS JOIN LATERAL unnest(CASE k.type WHEN 'histogram' THEN '{_bucket,_count,_sum}' ELSE '{""}' END::text[]) AS s (suffix)
    JOIN returned r ON r.name = k.name || s.suffix
    WHERE r.value IS NOT NULL
    -- The buckets of a histogram in the order of their bounds, then its count and its sum.
    ORDER BY k.number, r.labels - 'le', (r.labels ->> 'le')::double precision, r.name
$$;

COMMENT ON FUNCTION wf_metrics() IS 'numbers for monitoring systems: name, type (gauge, counter or histogram), help, labels and value of each; for pg_monitor';

CALL workflow._set_rights();
