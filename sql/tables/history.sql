CREATE TABLE workflow.execution_log (
    instance_id uuid        NOT NULL,
    seq         integer     NOT NULL,
    created_at  timestamptz NOT NULL,
    events      bytea       NOT NULL,
    CONSTRAINT execution_log_pkey PRIMARY KEY (instance_id, seq)
);

COMMENT ON TABLE workflow.execution_log IS 'what happened, one row per burst, packed; workflow.journal shows it unpacked';

-- Compress the packed events of bursts with hundreds of them. pglz would take longer than the burst itself; a server may have
-- been built without lz4.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_settings s WHERE s.name OPERATOR(pg_catalog.=) 'default_toast_compression'
               AND 'lz4' OPERATOR(pg_catalog.=) ANY (s.enumvals)) THEN
        ALTER TABLE workflow.execution_log ALTER COLUMN events SET COMPRESSION lz4;
    END IF;
END $$;

-- Append-only, so a small BRIN index finds the events of an instant. The time in the id of an unknown bookmark is used to look
-- up whether it was used.
CREATE INDEX execution_log_created_at_idx ON workflow.execution_log USING brin (created_at) WITH (pages_per_range = 16);

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

SELECT pg_catalog.pg_extension_config_dump('workflow.execution_log', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.audit_log', '');
