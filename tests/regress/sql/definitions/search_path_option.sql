-- options.searchPath says where names are looked up: a list of schemas, or the path of the session (caller); and what a definer gets.
\i tests/regress/include/search_path.sql

CREATE TABLE others.orders AS SELECT 'a trap' AS found;
GRANT SELECT ON others.orders TO PUBLIC;
ALTER TABLE others.orders OWNER TO path_other;
SET ROLE path_app;

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
