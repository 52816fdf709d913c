-- The wrapper for PostgREST of docs/http.md: settings in, settings out.
\i tests/regress/include/http.sql

SELECT * FROM wf_define('{"definitionId": "order", "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "orders/{number:int}", "supportedMethods": ["POST", "PUT"], "canStartWorkflow": true,
        "result": {"output": "Request"}, "headers": {"output": "Headers"}, "queryStringData": {"output": "Query"},
        "parsedContent": {"output": "Content"}},
    {"type": "WriteHttpResponse", "statusCode": "Created", "content": {"object": {"number": {"js": "getOutputFrom(''in'', ''RouteData'').number"}}},
        "responseHeaders": {"Location": "/orders/7", "Set-Cookie": ["a=1", "b=2"]}}]}');

CREATE SCHEMA api;
CREATE FUNCTION api.workflow(bytea) RETURNS bytea LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    given  jsonb := current_setting('request.headers')::jsonb;
    answer wf_http_response;
BEGIN
    answer := wf_http_request(coalesce(given ->> 'x-method', 'POST'), given ->> 'x-path', given, body => $1);
    PERFORM set_config('response.status', answer.status::text, true);
    PERFORM set_config('response.headers', coalesce(jsonb_agg(jsonb_build_object(name, text)), '[]')::text, true)
    FROM jsonb_each(answer.headers) AS h (name, value),
         jsonb_array_elements_text(CASE jsonb_typeof(value) WHEN 'array' THEN value ELSE jsonb_build_array(value) END) AS text;
    RETURN answer.body;
END
$$;
BEGIN;
SELECT set_config('request.headers', '{"x-method": "PUT", "x-path": "/orders/7", "content-type": "application/json"}', true);
SELECT convert_from(api.workflow('{"total": 2}'), 'UTF8') AS body;
SELECT current_setting('response.status') AS status, current_setting('response.headers') AS headers;
COMMIT;
