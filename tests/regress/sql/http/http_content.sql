-- Everything of a request comes out of the endpoint: route, headers, query, and the body as its content type says.
\i tests/regress/include/http.sql

-- Everything of the request comes out of the endpoint. Names of headers are read in any letter case.
SELECT * FROM wf_define('{"definitionId": "order", "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "orders/{number:int}", "supportedMethods": ["POST", "PUT"], "canStartWorkflow": true,
        "result": {"output": "Request"}, "headers": {"output": "Headers"}, "queryStringData": {"output": "Query"},
        "parsedContent": {"output": "Content"}},
    {"type": "WriteHttpResponse", "statusCode": "Created", "content": {"object": {"number": {"js": "getOutputFrom(''in'', ''RouteData'').number"}}},
        "responseHeaders": {"Location": "/orders/7", "Set-Cookie": ["a=1", "b=2"]}}]}');
SELECT * FROM http('PUT', '/orders/7?page=1&page=2', '{"total": 1.10}', headers => '{"content-type": "application/json", "X-Trace": 1}', query => '{"q": "x y"}');
SELECT jsonb_pretty(output) FROM workflow.instance_list WHERE definition_id = 'order';
SELECT * FROM http('PUT', '/orders/seven');

-- A form, a text, and what is neither.
SELECT * FROM wf_define('{"definitionId": "echo", "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "echo", "supportedMethods": ["POST"], "canStartWorkflow": true},
    {"type": "WriteHttpResponse", "content": {"js": "getOutputFrom(''in'', ''ParsedContent'')"}}]}');
SELECT * FROM http('POST', '/echo', 'a=1&a=2&b=x+y', headers => '{"Content-Type": "application/x-www-form-urlencoded"}');
SELECT * FROM http('POST', '/echo', 'plain', headers => '{"Content-Type": "text/plain"}');
SELECT status, convert_from(body, 'UTF8') AS body FROM wf_http_request('POST', '/echo', '{"Content-Type": "image/png"}', body => '\x00ff');
SELECT * FROM http('POST', '/echo');
