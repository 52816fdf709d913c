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

SELECT pg_catalog.pg_extension_config_dump('workflow.owners', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.owners_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.event_grants', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.invoker_grants', '');
