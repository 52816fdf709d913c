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
COMMENT ON COLUMN workflow.incidents.code IS 'by which retry policies and catches identify the fault, if it is not an error of PostgreSQL';
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

COMMENT ON TABLE workflow.compensations IS 'records of work that can be compensated or has to be cancelled; workflow.open_compensations shows them';
COMMENT ON COLUMN workflow.compensations.holder IS 'the execution or record that contains it; 4294967295 is the instance, 4294967294 stands for interrupted work';
COMMENT ON COLUMN workflow.compensations.number IS 'in the order in which the records of an instance were created';
COMMENT ON COLUMN workflow.compensations.kept IS 'the data that its handler sees, as of the creation of the record, packed';

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
SELECT pg_catalog.pg_extension_config_dump('workflow.incidents', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.compensations', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.pauses', '');
