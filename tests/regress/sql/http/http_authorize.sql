-- Who may send a request to an endpoint, with and without "authorize", and whose rights the SQL behind it has.
\i tests/regress/include/http.sql

-- Of a superuser.
SELECT * FROM wf_define('{"definitionId": "broken", "root": [
    {"type": "HttpEndpoint", "path": "broken", "canStartWorkflow": true}, {"id": "it", "type": "Fault", "message": "out of ink"}]}');
SELECT * FROM wf_define('{"definitionId": "ping", "root": [{"type": "HttpEndpoint", "path": "ping", "canStartWorkflow": true}, {"type": "Event", "eventName": "Pong"}]}');

-- security.md#owners-and-grants: an HttpEndpoint is open to roles that may call wf_http_request, unless it says authorize
-- An endpoint without "authorize" is open to roles that may call the function. With it a caller needs the right to
-- start the definition, or to resume the instance; or membership in the role that is named.
CREATE ROLE http_clerk;
CREATE ROLE http_guest;
CREATE ROLE http_author;
SELECT wf_grant_usage(role) FROM unnest('{http_clerk,http_guest,http_author}'::name[]) AS role;
GRANT USAGE ON SCHEMA public TO http_guest, http_author;
SET ROLE http_author;
SELECT * FROM wf_define('{"definitionId": "guarded", "root": [
    {"type": "HttpEndpoint", "path": "guarded", "canStartWorkflow": true, "authorize": true}, {"type": "WriteHttpResponse", "content": "come in"},
    {"type": "HttpEndpoint", "path": "guarded/next", "authorize": true}, {"type": "WriteHttpResponse", "content": "go on"}]}');
SELECT * FROM wf_define('{"definitionId": "clerks", "root": [
    {"type": "HttpEndpoint", "path": "clerks", "canStartWorkflow": true, "authorize": true, "policy": "http_clerk"}, {"type": "WriteHttpResponse", "content": "at work"}]}');
SELECT * FROM wf_define('{"definitionId": "nobody", "root": {"type": "HttpEndpoint", "path": "nobody", "canStartWorkflow": true, "authorize": true, "policy": "no such role"}}');
-- security.md#invoker-the-default: a request does not lend its sender's rights
-- SQL of a workflow runs with the rights of its owner: the sender of a request names a path, and lends no rights.
SELECT * FROM wf_define('{"definitionId": "whoami", "root": [
    {"type": "HttpEndpoint", "path": "whoami", "canStartWorkflow": true}, {"type": "WriteHttpResponse", "content": {"sql": "SELECT current_user"}},
    {"type": "Sql", "statement": "SELECT 1/0"}]}');
SET ROLE http_guest;
SELECT * FROM http('GET', '/guarded');
SELECT * FROM http('GET', '/clerks');
SELECT status FROM http('GET', '/nobody');
\set VERBOSITY terse
SELECT * FROM http('GET', '/whoami');
SELECT * FROM http('GET', '/broken');
\set VERBOSITY default
RESET ROLE;
GRANT http_clerk TO http_guest;
SET ROLE http_author;
SELECT wf_grant('guarded', 'http_guest', '{start}');
SET ROLE http_guest;
SELECT * FROM http('GET', '/guarded');
SELECT status FROM http('GET', '/guarded/next');
SELECT * FROM http('GET', '/clerks');
SET ROLE http_author;
SELECT wf_grant('guarded', 'http_guest', '{resume}');
SET ROLE http_guest;
SELECT * FROM http('GET', '/guarded/next');
RESET ROLE;
\set VERBOSITY terse
SELECT body FROM http('GET', '/whoami');
\set VERBOSITY default
-- Nothing is open to a role that may not call the function.
CREATE ROLE http_stranger;
SET ROLE http_stranger;
SELECT status FROM wf_http_request('GET', '/ping');
RESET ROLE;
