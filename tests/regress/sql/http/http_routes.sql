-- An HttpEndpoint is a path and a method: which one a request meets, and what becomes of one that meets none or several.
\i tests/regress/include/http.sql

-- A request starts the workflow, and WriteHttpResponse answers it.
SELECT * FROM wf_define('{"definitionId": "greet", "root": [
    {"id": "in", "type": "HttpEndpoint", "path": "greet/{Name}", "canStartWorkflow": true},
    {"type": "WriteHttpResponse", "content": {"js": "`Hello ${getOutputFrom(''in'', ''RouteData'').Name}!`"}}]}');
SELECT * FROM http('GET', '/greet/Ada');
SELECT * FROM http('get', 'GREET/%C3%84nne%20%2F%20Co/?polite=yes');
SELECT definition_id, sub_status, owner = current_user AS mine FROM workflow.instance_list;

-- What no endpoint waits for is not found; another method is told apart.
SELECT * FROM http('GET', '/greet');
SELECT * FROM http('GET', '/greet/Ada/Lovelace');
SELECT * FROM http('POST', '/greet/Ada');
SELECT * FROM http('GET', '/greet//Ada');
SELECT * FROM http('GET', '/greet/%00');

-- The more special template is meant: a text before a parameter before the rest of the path.
SELECT count(*) FROM unnest(ARRAY['files/new', 'files/{id:int}', 'files/{name}', 'files/{*rest}']) AS path, wf_define(jsonb_build_object('definitionId', path, 'root', jsonb_build_array(
    jsonb_build_object('type', 'HttpEndpoint', 'path', path, 'canStartWorkflow', true),
    jsonb_build_object('type', 'WriteHttpResponse', 'content', path))));
SELECT path, http.body FROM unnest('{files/new,files/7,files/x,files/x/y,files}'::text[]) AS path, http('GET', path);

-- Two that are equal are ambiguous, and nothing runs.
SELECT * FROM wf_define('{"definitionId": "files again", "root": {"type": "HttpEndpoint", "path": "files/{file}", "canStartWorkflow": true}}');
SELECT * FROM http('GET', '/files/x');
SELECT wf_retract('files again');

-- The same path and method belong to one workflow.
SELECT * FROM wf_define('{"definitionId": "greet too", "root": {"type": "HttpEndpoint", "path": "/Greet/{NAME}/", "supportedMethods": ["POST", "GET"], "canStartWorkflow": true}}');
SELECT * FROM wf_define('{"definitionId": "twice", "root": [{"id": "a", "type": "HttpEndpoint", "path": "twice", "canStartWorkflow": true},
    {"id": "b", "type": "HttpEndpoint", "path": "twice", "canStartWorkflow": true}]}');
SELECT path, message FROM wf_validate('{"definitionId": "x", "root": [{"type": "HttpEndpoint", "path": "a//b"}, {"type": "HttpEndpoint", "path": "{id:odd}"},
    {"type": "HttpEndpoint", "path": "a", "supportedMethods": ["NO GET"]}, {"type": "WriteHttpResponse", "statusCode": "Fine"},
    {"type": "WriteHttpResponse", "responseHeaders": {"Sp ace": "x"}}, {"type": "Elsa.WriteFileHttpResponse"}]}');

-- A path may be computed, and is when the definition is published; wf_refresh computes it again.
CREATE TABLE paths (path text);
INSERT INTO paths VALUES ('here');
SELECT * FROM wf_define('{"definitionId": "moving", "root": [
    {"type": "HttpEndpoint", "path": {"sql": "SELECT path FROM public.paths"}, "canStartWorkflow": true}, {"type": "WriteHttpResponse", "statusCode": 204}]}');
UPDATE paths SET path = 'there';
SELECT status FROM http('GET', '/here');
SELECT * FROM wf_refresh('moving');
SELECT here.status AS here, there.status AS there FROM http('GET', '/here') AS here, http('GET', '/there') AS there;

SELECT * FROM wf_define('{"definitionId": "ping", "root": [{"type": "HttpEndpoint", "path": "ping", "canStartWorkflow": true}, {"type": "Event", "eventName": "Pong"}]}');
-- Retracted, it is not found any more.
SELECT wf_retract('ping');
SELECT status FROM http('GET', '/ping');
SELECT * FROM wf_check();
