-- Owners of HTTP paths, by first segment. Publishing a workflow at a free segment, or waiting there, reserves it for the role:
-- the primary key decides between concurrent transactions.
CREATE TABLE workflow.paths (
    segment text COLLATE "C" CONSTRAINT paths_pkey PRIMARY KEY,
    owner   integer NOT NULL
);

COMMENT ON TABLE workflow.paths IS 'owners of the first segments of HTTP paths: only their definitions may have endpoints below';
COMMENT ON COLUMN workflow.paths.segment IS 'in lower case; empty means the root, * means the paths that begin with a parameter';
SELECT pg_catalog.pg_extension_config_dump('workflow.paths', '');
