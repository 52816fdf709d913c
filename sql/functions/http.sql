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
