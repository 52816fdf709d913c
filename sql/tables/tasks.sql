CREATE TABLE workflow.accepted_owners (
    worker      integer NOT NULL,
    owner       integer NOT NULL,
    for_members boolean NOT NULL,
    CONSTRAINT accepted_owners_pkey PRIMARY KEY (worker, owner)
);

COMMENT ON TABLE workflow.accepted_owners IS 'which roles (workflow.owners) accept tasks of definitions of which others';
COMMENT ON COLUMN workflow.accepted_owners.for_members IS 'whether it also applies to members of the task worker''s role: a superuser accepted. A member must not decide for the others';

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
    completed_actor text,
    completed_for  text,
    comments       jsonb,
    approval       integer
) WITH (fillfactor = 80);

COMMENT ON TABLE workflow.tasks IS 'work for people and programs outside; a task''s id is its bookmark''s id';

COMMENT ON COLUMN workflow.tasks.status IS 'Open, Completed, Failed or Cancelled; Cancelled with completed_by: it was answered, but its activity was cancelled before the answer took effect';
COMMENT ON COLUMN workflow.tasks.result IS 'the answer; of a cancelled task without completed_by: the outcome because of which its activity did not need it any more';
COMMENT ON COLUMN workflow.tasks.token IS 'of a task that a task worker completed or gave up: the token of the answer';
COMMENT ON COLUMN workflow.tasks.deadline IS 'the time by which people should complete it';
COMMENT ON COLUMN workflow.tasks.form IS 'JSON Schema of a form for the answer';
COMMENT ON COLUMN workflow.tasks.assignee IS 'of a task that was completed or given up, or has comments: its assignee; that of an open task is in workflow.bookmarks, too';
COMMENT ON COLUMN workflow.tasks.candidates IS 'of a task that was completed or given up, or has comments: its candidates';
COMMENT ON COLUMN workflow.tasks.completed_by IS 'of a task that was completed or given up: id in workflow.owners of the role that did it; NULL: the engine, or a version before 0.3.0';
COMMENT ON COLUMN workflow.tasks.completed_actor IS 'of a task that was completed or given up: the actor who did it';
COMMENT ON COLUMN workflow.tasks.completed_for IS 'of a task that a substitute completed: the absent person, a label or role: with an id of workflow.owners';
COMMENT ON COLUMN workflow.tasks.comments IS 'comments on the task: objects with at, role, actor, comment and attachments, which have a name and a URI';
COMMENT ON COLUMN workflow.tasks.approval IS 'of a vote that other voters may see: the number of the execution of its activity in the instance; a retry asks again under the same number';

-- Neither status nor completed_at is indexed: a completion changes only unindexed columns, so it is HOT.
CREATE INDEX tasks_instance_id_idx ON workflow.tasks (instance_id);

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
SELECT pg_catalog.pg_extension_config_dump('workflow.accepted_owners', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.task_grants', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.tasks', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.substitutes', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.limits', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.limits_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.slots', '');
