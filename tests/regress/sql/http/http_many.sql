-- How many first segments a role takes by itself, and what its templates cost requests for other segments.
SET client_min_messages = warning;
CREATE ROLE many_stranger;
CREATE ROLE many_owner;
SELECT wf_grant_usage('many_stranger'), wf_grant_usage('many_owner');
CREATE FUNCTION publish(id text, path text) RETURNS text LANGUAGE sql AS $$
    SELECT (wf_define(jsonb_build_object('definitionId', id, 'root', jsonb_build_object('type', 'HttpEndpoint', 'path', path, 'canStartWorkflow', true)))).definition_id $$;

-- security.md#owners-and-grants: what a role publishes below its segments costs requests for other segments nothing
-- 256 shapes of templates of a stranger. Counted are the rows of triggers that a request reads, not the time.
SET ROLE many_owner;
SELECT publish('own', 'own/{id}');
SET ROLE many_stranger;
SELECT count(publish('shape ' || n, 'many' || (SELECT string_agg('/' || CASE WHEN n >> bit & 1 = 1 THEN 'x' ELSE '{p' || bit || '}' END, '') FROM generate_series(0, 7) AS bit)))
FROM generate_series(0, 255) AS n;
RESET ROLE;
BEGIN;
SELECT status FROM wf_http_request('GET', '/own/1');
SELECT pg_stat_get_xact_tuples_fetched('workflow.triggers'::regclass) < 20 AS passed_over;
COMMIT;
SELECT status FROM wf_http_request('GET', '/many/x/2/x/4/5/6/7/8');

-- security.md#owners-and-grants: a role takes at most 1000 segments by itself
INSERT INTO workflow.paths SELECT 'taken' || n, owner FROM workflow.paths, generate_series(1, 998) AS n WHERE segment = 'many';
SET ROLE many_stranger;
SELECT publish('last', 'last');
SELECT publish('more', 'more');
\echo :SQLSTATE
SELECT publish('below', 'last/below');
RESET ROLE;
SELECT wf_grant_path('more', 'many_stranger');
SET ROLE many_stranger;
SELECT publish('more', 'more');

RESET ROLE;
TRUNCATE workflow.paths, workflow.triggers, workflow.bookmarks, workflow.instances, workflow.definitions;
DROP FUNCTION publish;
SELECT wf_revoke_usage('many_stranger'), wf_revoke_usage('many_owner');
DROP ROLE many_stranger, many_owner;
