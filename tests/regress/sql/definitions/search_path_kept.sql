-- Which path wf_define keeps: without schemas in which others may create objects; and that neither a request nor a consumer's new
-- version changes it.
\i tests/regress/include/search_path.sql

-- security.md#where-names-are-looked-up: members of the owner's role and the owner of the database (in public) are no others
RESET ROLE;
CREATE ROLE path_friend IN ROLE path_app;
GRANT CREATE ON SCHEMA app TO path_friend;
SET ROLE path_app;
-- security.md#where-names-are-looked-up: the path that wf_define keeps
-- Left out: what is another schema for each session, what is not there, and where others may create objects.
SET search_path = "$user", nowhere, "open to all", others, pg_temp, app, public;
SELECT * FROM wf_define('{"definitionId": "trap", "root": [{"id": "h", "type": "HttpEndpoint", "path": "trap", "canStartWorkflow": true},
    {"id": "r", "type": "WriteHttpResponse", "content": {"sql": "SELECT found FROM orders"}}]}');
SELECT search_path FROM workflow.definition_list WHERE definition_id = 'trap';
-- security.md#where-names-are-looked-up: a request does not lend its path
-- A request names a path, not a workflow: who sends it does not decide what names mean.
SET ROLE path_other;
CREATE TABLE "open to all".orders AS SELECT 'a trap' AS found;
CREATE TABLE others.orders AS SELECT 'a trap' AS found;
CREATE TEMPORARY TABLE orders AS SELECT 'a trap' AS found;
GRANT SELECT ON pg_temp.orders, "open to all".orders, others.orders TO PUBLIC;
SET search_path = others, public;
SELECT status, convert_from(body, 'UTF8') FROM wf_http_request('GET', '/trap');
DROP TABLE pg_temp.orders;
SET ROLE path_app;
-- Definitions without SQL have none.
SELECT * FROM wf_define('{"definitionId": "plain", "root": {"id": "w", "type": "WriteLine", "text": "hi"}}');
SELECT search_path IS NULL AS none FROM workflow.definition_list WHERE definition_id = 'plain';

-- A new version that comes from the publication of another keeps the path.
SET ROLE path_app;
SET search_path = app, public;
SELECT * FROM wf_define('{"definitionId": "part", "name": "Part", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"id": "w", "type": "WriteLine", "text": "1"}}');
SELECT * FROM wf_define('{"definitionId": "whole", "root": [{"id": "p", "type": "Part"}, {"id": "s", "type": "Sql", "statement": "SELECT 1"}]}');
SET search_path = elsewhere, public;
SELECT * FROM wf_define('{"definitionId": "part", "name": "Part", "options": {"usableAsActivity": true, "autoUpdateConsumingWorkflows": true}, "root": {"id": "w", "type": "WriteLine", "text": "2"}}');
SELECT version, search_path FROM workflow.definition_list WHERE definition_id = 'whole' ORDER BY 1;
RESET search_path;
RESET ROLE;
