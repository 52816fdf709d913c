-- A role as a row stores it: cluster, OID and name. The output function reads the current name from pg_authid, so a dump
-- contains the role's name at that time, and none for a dropped role. The input function keeps its text. A value of this
-- cluster means the role with its OID; one of another cluster means the role with its name.
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

-- Owners. Rows refer to an id, not to a role: a renamed role keeps its rows, and a dropped role, or a new one of the same name,
-- matches none. A dump restored into another cluster, where OIDs mean other roles, is resolved by the roles' names at the time
-- of the dump. The engine reads the generated columns.
CREATE TABLE workflow.owners (
    id       integer              GENERATED ALWAYS AS IDENTITY CONSTRAINT owners_pkey PRIMARY KEY,
    role     workflow.stored_role NOT NULL,
    same_as  integer,
    role_oid oid                  GENERATED ALWAYS AS (workflow._stored_role_oid(role)) STORED,
    name     text                 GENERATED ALWAYS AS (workflow._stored_role_name(role)) STORED
);

-- Ids differ between databases, so that a row copied from another database, by a subscription or manually, matches no owner
-- instead of an unrelated role with the same number here.
SELECT pg_catalog.setval('workflow.owners_id_seq', 1 OPERATOR(pg_catalog.+) pg_catalog.trunc(pg_catalog.random() OPERATOR(pg_catalog.*) 1000000000)::bigint);

COMMENT ON TABLE workflow.owners IS 'roles that own definitions and instances, or hold grants';
COMMENT ON COLUMN workflow.owners.role IS 'the role; its text shows the present name';
COMMENT ON COLUMN workflow.owners.same_as IS 'the row to which wf_adopt_database gave what this row owned; its own id: a further row of the role, for recorded acts while another transaction created the first one';
COMMENT ON COLUMN workflow.owners.role_oid IS 'oid of the role, NULL for a role of another cluster';
COMMENT ON COLUMN workflow.owners.name IS 'name of the role when the row was last written; it identifies a role of another cluster';

-- Which row belongs to this role? One, however many sessions insert it concurrently.
CREATE UNIQUE INDEX owners_role_oid_idx ON workflow.owners (role_oid) WHERE same_as IS NULL;
-- Is a name of another cluster ambiguous?
CREATE INDEX owners_name_idx ON workflow.owners (name);

CREATE TABLE workflow.event_grants (
    publisher integer NOT NULL,
    listener  integer NOT NULL,
    CONSTRAINT event_grants_pkey PRIMARY KEY (publisher, listener)
);

COMMENT ON TABLE workflow.event_grants IS 'which roles (workflow.owners) may receive the stimuli of which others';

CREATE TABLE workflow.invoker_grants (
    lender   integer NOT NULL,
    borrower integer NOT NULL,
    CONSTRAINT invoker_grants_pkey PRIMARY KEY (lender, borrower)
);

COMMENT ON TABLE workflow.invoker_grants IS 'which roles (workflow.owners) lend their rights to the definitions of which others';

-- One row at most.
CREATE TABLE workflow.directory (
    is_only  boolean NOT NULL DEFAULT true CONSTRAINT directory_pkey PRIMARY KEY CONSTRAINT directory_is_only_check CHECK (is_only),
    function text    NOT NULL,
    owner    integer NOT NULL
);

COMMENT ON TABLE workflow.directory IS 'the function of wf_set_directory, which knows names and addresses of people';
COMMENT ON COLUMN workflow.directory.function IS 'qualified name of f(person text), which returns name, mail, zone, language and manager';
COMMENT ON COLUMN workflow.directory.owner IS 'owner of that function (workflow.owners) when it was named, with whose rights it runs; a function of this name that another role owns is not called';

SELECT pg_catalog.pg_extension_config_dump('workflow.owners', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.owners_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.event_grants', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.invoker_grants', '');
SELECT pg_catalog.pg_extension_config_dump('workflow.directory', '');
