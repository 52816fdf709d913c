-- Owners of HTTP paths, by first segment. Publishing a workflow at a free segment, or waiting there, reserves it for the role:
-- the primary key decides between concurrent transactions.
CREATE TABLE workflow.paths (
    segment text COLLATE "C" CONSTRAINT paths_pkey PRIMARY KEY,
    owner   integer NOT NULL
);

COMMENT ON TABLE workflow.paths IS 'owners of the first segments of HTTP paths: only their definitions may have endpoints below';
COMMENT ON COLUMN workflow.paths.segment IS 'in lower case; empty means the root, * means the paths that begin with a parameter';
SELECT pg_catalog.pg_extension_config_dump('workflow.paths', '');

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
