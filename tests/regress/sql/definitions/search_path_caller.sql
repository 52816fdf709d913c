-- With a caller a name without a schema is looked up in the caller's path, without one in that of wf_define; incidents say where.
\i tests/regress/include/search_path.sql

-- A name means without a caller what it meant where the workflow was defined: tests/scenarios/definitions/search_path.sh, and below.
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
