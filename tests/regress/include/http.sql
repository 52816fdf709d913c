\set ECHO none
-- A client, for the sessions that send requests: a body is bytes, which people rather read as text.
CREATE FUNCTION http(method text, path text, body text = NULL, headers jsonb = '{}', query jsonb = '{}',
    OUT status integer, OUT headers jsonb, OUT body text)
LANGUAGE sql BEGIN ATOMIC
    SELECT r.status, r.headers, convert_from(r.body, 'UTF8')
    FROM wf_http_request(http.method, http.path, http.headers, http.query, convert_to(http.body, 'UTF8')) AS r;
END;
\set ECHO all
