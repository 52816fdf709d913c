-- Where SQL of a workflow looks up the names that have no schema.
CREATE ROLE path_app LOGIN;
CREATE ROLE path_other;
CREATE SCHEMA app AUTHORIZATION path_app;
CREATE SCHEMA elsewhere AUTHORIZATION path_app;
CREATE SCHEMA "open to all" AUTHORIZATION path_app;
GRANT CREATE, USAGE ON SCHEMA "open to all" TO PUBLIC;
CREATE SCHEMA others AUTHORIZATION path_other;
GRANT USAGE ON SCHEMA app, elsewhere TO path_other;
GRANT USAGE ON SCHEMA others TO path_app;
SELECT wf_grant_usage('path_app'), wf_grant_usage('path_other');
CREATE TABLE app.orders AS SELECT 'app' AS found;
CREATE TABLE elsewhere.orders AS SELECT 'elsewhere' AS found;
GRANT SELECT ON app.orders, elsewhere.orders TO path_app, path_other;
ALTER TABLE app.orders OWNER TO path_app;

-- A name means without a caller what it meant where the workflow was defined: tests/scenarios/search_path.sh, and below.
SET ROLE path_app;
SET search_path = app, public;
SELECT * FROM wf_define('{"definitionId": "find", "root": [{"id": "d", "type": "Delay", "timeSpan": "00:01:00"},
    {"id": "s", "type": "SetOutput", "outputName": "found", "outputValue": {"sql": "SELECT found FROM orders"}}]}');
SELECT search_path FROM workflow.definition_list WHERE definition_id = 'find';
-- security.md#where-names-are-looked-up: not given, invoker: the path of the caller
-- With a caller it is the caller's.
SELECT wf_start('find') AS instance \gset
SET search_path = elsewhere;
SELECT r.output FROM public.wf_resume((SELECT bookmark_id FROM workflow.waiting WHERE instance = :'instance')) AS r;
SELECT public.wf_start('find') AS instance \gset
RESET ROLE;
SET workflow.now = '2100-01-01 00:00:00+00';
SET ROLE path_app;
SELECT public.wf_run_due();
SELECT output FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT public.wf_start('find') AS instance \gset
SET search_path = nowhere;
SELECT r.sub_status FROM public.wf_resume((SELECT bookmark_id FROM workflow.waiting WHERE instance = :'instance')) AS r;
-- security.md#where-names-are-looked-up: the incident says where the name was looked up, and as which role
-- The incident says where the name was looked up.
SELECT sqlstate, message, hint FROM workflow.open_incidents WHERE instance_id = :'instance';
SET search_path = app, public;
SELECT sub_status, output FROM wf_retry(:'instance');
-- A hint of PostgreSQL's own stays in front. What a call raises is as PostgreSQL raised it.
SELECT * FROM wf_define('{"definitionId": "call", "root": {"id": "s", "type": "Sql", "statement": "SELECT no_such_function()"}}');
SELECT wf_start('call') AS instance \gset
SELECT sqlstate, message, hint FROM workflow.open_incidents WHERE instance_id = :'instance';
SELECT wf_start('call', on_fault => 'raise');

-- security.md#where-names-are-looked-up: the same content under another path is the same version
-- The path is beside the content: from elsewhere the same content is the same version, and looks elsewhere.
SET search_path = elsewhere, public;
SELECT * FROM wf_define('{"definitionId": "find", "root": [{"id": "d", "type": "Delay", "timeSpan": "00:01:00"},
    {"id": "s", "type": "SetOutput", "outputName": "found", "outputValue": {"sql": "SELECT found FROM orders"}}]}');
SELECT * FROM wf_define('{"definitionId": "find", "root": [{"id": "d", "type": "Delay", "timeSpan": "00:01:00"},
    {"id": "s", "type": "SetOutput", "outputName": "found", "outputValue": {"sql": "SELECT found FROM orders"}}]}');
SELECT version, search_path FROM workflow.definition_list WHERE definition_id = 'find';

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

-- security.md#where-names-are-looked-up: a list of schemas counts for each caller, then pg_temp
-- options.searchPath is part of the content, and counts always.
SET search_path = public;
SELECT * FROM wf_define('{"definitionId": "named", "options": {"searchPath": ["elsewhere", "app"]}, "root": [
    {"id": "s", "type": "SetOutput", "outputName": "found", "outputValue": {"sql": "SELECT found FROM orders"}},
    {"id": "p", "type": "Sql", "statement": "SELECT set_config(''path.kept'', current_setting(''search_path''), true)"}]}');
BEGIN;
SELECT output FROM wf_run('named');
SELECT current_setting('search_path') AS mine, current_setting('path.kept') AS theirs;
COMMIT;
SELECT * FROM wf_define('{"definitionId": "named", "options": {"searchPath": ["pg_temp", "app"]}, "root":
    {"id": "s", "type": "SetOutput", "outputName": "found", "outputValue": {"sql": "SELECT found || current_setting(''search_path'') FROM orders"}}}');
CREATE TEMPORARY TABLE orders AS SELECT 'a trap' AS found;
SELECT output FROM wf_run('named');
DROP TABLE pg_temp.orders;
-- security.md#where-names-are-looked-up: not given, definer: pg_catalog, then pg_temp
-- A definer looks in pg_catalog, unless it says where.
SELECT * FROM wf_define('{"definitionId": "definer", "options": {"security": "definer"}, "root":
    {"id": "s", "type": "SetOutput", "outputName": "found", "outputValue": {"sql": "SELECT found FROM orders"}}}');
SELECT wf_grant('definer', 'path_other', '{start,read}');
SET search_path = app, public;
SELECT sub_status, incidents -> 0 ->> 'message' AS message, incidents -> 0 ->> 'hint' AS hint FROM wf_run('definer');
SELECT * FROM wf_define('{"definitionId": "definer", "options": {"security": "definer", "searchPath": ["app"]}, "root":
    {"id": "s", "type": "SetOutput", "outputName": "found", "outputValue": {"sql": "SELECT found FROM orders"}}}');
SET ROLE path_other;
SET search_path = others, public;
SELECT output FROM wf_run('definer');
SET ROLE path_app;
SELECT * FROM wf_define('{"definitionId": "definer", "options": {"security": "definer", "searchPath": ["app", "open to all"]}, "root":
    {"id": "s", "type": "SetOutput", "outputName": "found", "outputValue": {"sql": "SELECT found FROM orders"}}}');
-- security.md#where-names-are-looked-up: "caller": the path of the session, not with definer
-- "caller" is the path of the session that runs it; a definer does not lend its rights to that.
SET search_path = app, public;
SELECT * FROM wf_define('{"definitionId": "callers", "options": {"searchPath": "caller"}, "root": [{"id": "d", "type": "Delay", "timeSpan": "00:01:00"},
    {"id": "s", "type": "SetOutput", "outputName": "found", "outputValue": {"sql": "SELECT found FROM orders"}}]}');
SELECT wf_start('callers') AS instance \gset
SET search_path = elsewhere, public;
SELECT r.output FROM wf_resume((SELECT bookmark_id FROM workflow.waiting WHERE instance = :'instance')) AS r;
SELECT * FROM wf_define('{"definitionId": "x", "options": {"searchPath": "caller", "security": "definer"}, "root": []}');
SELECT * FROM wf_define('{"definitionId": "x", "options": {"searchPath": "app"}, "root": []}');
SELECT * FROM wf_define('{"definitionId": "x", "options": {"searchPath": ["app", "$user"]}, "root": []}');
SELECT * FROM wf_define('{"definitionId": "x", "options": {"searchPath": ["app", 1]}, "root": []}');
SELECT * FROM wf_define('{"definitionId": "x", "options": {"searchPath": [""]}, "root": []}');

-- security.md#where-names-are-looked-up: payload functions have the path of wf_define's session where another role refreshes
SET search_path = app, public;
CREATE FUNCTION app.payloads(context jsonb) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT to_jsonb(o.found || ' for ' || current_user) FROM orders AS o; END $$;
CREATE FUNCTION app.handles(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Path.Listen', 'app.handles(jsonb)', kind => 'trigger', payloads => 'app.payloads(jsonb)');
SELECT * FROM wf_define('{"definitionId": "listens", "root": {"id": "l", "type": "Path.Listen", "canStartWorkflow": true}}');
RESET ROLE;
SET search_path = elsewhere, public;
SELECT * FROM wf_refresh('listens');
SELECT payload FROM workflow.trigger_list WHERE definition_id = 'listens';

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

-- "$user" is another schema for each role, and what a text means is kept for each of them.
CREATE ROLE path_a;
CREATE ROLE path_b;
CREATE SCHEMA path_a AUTHORIZATION path_a;
CREATE SCHEMA path_b AUTHORIZATION path_b;
SELECT wf_grant_usage('path_a'), wf_grant_usage('path_b');
CREATE TABLE path_a.t AS SELECT 'a column' AS input, 1 AS x;
CREATE TABLE path_b.t AS SELECT 'one'::text AS x;
GRANT SELECT ON path_a.t TO path_a;
GRANT SELECT ON path_b.t TO path_b;
SET ROLE path_a;
SELECT * FROM wf_define('{"definitionId": "a", "root": {"id": "s", "type": "SetOutput", "outputName": "R", "outputValue": {"sql": "(SELECT input FROM t LIMIT 1)"}}}');
SELECT * FROM wf_define('{"definitionId": "a2", "root": {"id": "s", "type": "SetOutput", "outputName": "R", "outputValue": {"sql": "SELECT count(*) FROM t WHERE x = {{Input.n}}"}}}');
SELECT * FROM wf_define('{"definitionId": "a3", "root": {"id": "s", "type": "Sql", "statement": "SELECT count(*) FROM t WHERE x = $1", "parameters": [{"input": "n"}], "result": {"output": "R"}}, "outputs": [{"name": "R"}]}');
SELECT output FROM wf_run('a');
SELECT output FROM wf_run('a2', '{"n": 1}');
SELECT output FROM wf_run('a3', '{"n": 1}');
SET ROLE path_b;
SELECT * FROM wf_define('{"definitionId": "b", "root": {"id": "s", "type": "SetOutput", "outputName": "R", "outputValue": {"sql": "(SELECT input FROM t LIMIT 1)"}}}');
SELECT * FROM wf_define('{"definitionId": "b2", "root": {"id": "s", "type": "SetOutput", "outputName": "R", "outputValue": {"sql": "SELECT count(*) FROM t WHERE x = {{Input.n}}"}}}');
SELECT * FROM wf_define('{"definitionId": "b3", "root": {"id": "s", "type": "Sql", "statement": "SELECT count(*) FROM t WHERE x = $1", "parameters": [{"input": "n"}], "result": {"output": "R"}}, "outputs": [{"name": "R"}]}');
SELECT output FROM wf_run('b', '{"n": 1}');
SELECT output FROM wf_run('b2', '{"n": "one"}');
SELECT output FROM wf_run('b3', '{"n": "one"}');
RESET ROLE;
SELECT * FROM wf_check();
