CREATE TYPE wf_http_response AS (
    status  integer,
    headers jsonb,
    body    bytea
);

COMMENT ON TYPE wf_http_response IS 'response to an HTTP request; a header is a text, or a list of texts';

CREATE FUNCTION wf_http_request(
    method  text,
    path    text,
    headers jsonb DEFAULT '{}',
    query   jsonb DEFAULT '{}',
    body    bytea DEFAULT NULL
) RETURNS wf_http_response LANGUAGE c AS 'MODULE_PATHNAME', 'wf_http_request';

COMMENT ON FUNCTION wf_http_request(text, text, jsonb, jsonb, bytea) IS
    'start or resume the one workflow whose endpoint has this path and method, and return its response';

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

CREATE FUNCTION workflow._grant_path(segment text, role text)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant_path';

COMMENT ON FUNCTION workflow._grant_path(text, text) IS 'gives the paths of a segment to a role, for wf_grant_path';

CREATE FUNCTION wf_grant_path(segment text, role name)
RETURNS integer LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant_path(segment, role::text);
END;

COMMENT ON FUNCTION wf_grant_path(text, name) IS
    'give the HTTP paths that begin with a segment to a role, or with NULL to no role; returns the number of removed triggers of the former owner';
