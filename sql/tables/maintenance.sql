-- The physical database to which the timers belong; a copy of the database must not fire them again.
CREATE TABLE workflow.identity (
    system_identifier bigint NOT NULL,
    database          oid    NOT NULL,
    CONSTRAINT identity_pkey PRIMARY KEY (system_identifier, database)
);

COMMENT ON TABLE workflow.identity IS 'the cluster and database that fire the due times stored here; at most one row';

CREATE UNIQUE INDEX identity_single_idx ON workflow.identity ((true));
SELECT pg_catalog.pg_extension_config_dump('workflow.identity', '');
