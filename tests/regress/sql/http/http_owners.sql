-- HTTP paths have owners: the first segment belongs to the role that published or waited at it first, or whom a superuser
-- gave it. Alice is honest, Mallory is not, Bob sends requests. (docs/http.md: "Whose paths"; docs/security.md: "Owners and grants")
-- How it was searched: each way in which two templates can match one path, for a trigger, for an instance that waits and for
-- a type that looks like an endpoint; before and after the owner's, and at the same time (isolation/http-paths). Closed is
-- taking a request for another owner's segment, and making it ambiguous.
CREATE ROLE regress_paths_alice LOGIN;
CREATE ROLE regress_paths_mallory LOGIN;
CREATE ROLE regress_paths_bob LOGIN;
SELECT wf_grant_usage(role) FROM unnest('{regress_paths_alice,regress_paths_mallory,regress_paths_bob}'::name[]) AS role;
GRANT CREATE ON SCHEMA public TO regress_paths_mallory;
CREATE FUNCTION endpoint(id text, path text, answer text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    PERFORM wf_define(jsonb_build_object('definitionId', id, 'root', jsonb_build_array(
        jsonb_build_object('type', 'HttpEndpoint', 'path', path, 'canStartWorkflow', true, 'headers', jsonb_build_object('output', 'H')),
        jsonb_build_object('type', 'WriteHttpResponse', 'content', answer))));
    RETURN 'published';
EXCEPTION WHEN insufficient_privilege OR duplicate_object THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ' ' || SQLERRM || ' / ' || detail || ' / ' || hint;
END $$;
CREATE FUNCTION get(path text) RETURNS text LANGUAGE sql AS
$$ SELECT status || ' ' || convert_from(body, 'UTF8') FROM wf_http_request('GET', path, '{"Authorization": "Bearer bobs-token"}') $$;

-- security.md#owners-and-grants: the first segment of a path belongs to the owner of one definition
-- 1. Special, equal, catch-all, by parameter, in other letters: below what is Alice's Mallory publishes nothing.
\connect - regress_paths_alice
SELECT endpoint('orders', 'orders/{id}', 'alice');
SELECT segment, owner FROM workflow.path_list;
\connect - regress_paths_mallory
SELECT path, endpoint('m ' || path, path, 'stolen') FROM unnest(ARRAY['orders/{id:int}', 'orders/{id}', 'orders/42', '/ORDERS/{id:min(1)}', 'orders/{*rest}', 'orders']) AS path;
SELECT path, endpoint('m ' || path, path, 'stolen') FROM unnest(ARRAY['{*all}', '{a}/{b}', '{a:alpha}/42', 'order{s}/42', '{page?}', '/', '*/42']) AS path;
SELECT segment, owner FROM workflow.path_list;
\connect - regress_paths_bob
SELECT path, get(path) FROM unnest('{/orders/42,/Orders/7,/orders,/nowhere,/}'::text[]) AS path;

-- What she has published elsewhere is hers; equal templates are refused within one owner only.
\connect - regress_paths_mallory
SELECT endpoint('mine', 'mallory/{id}', 'mallory'), endpoint('mine too', 'Mallory/{ID}', 'mallory');
\connect - regress_paths_bob
SELECT get('/mallory/1');

-- 2. Earlier: who comes first has it, until a superuser says whose it is. What was published there before is gone.
\connect - regress_paths_mallory
SELECT endpoint('squat', 'invoices/{id}', 'stolen');
\connect - regress_paths_alice
SELECT endpoint('invoices', 'invoices/{id:int}', 'alice');
SELECT wf_grant_path('invoices', 'regress_paths_alice');
\echo :SQLSTATE
\connect - postgres
SELECT wf_grant_path('Invoices', 'regress_paths_alice') AS removed, wf_grant_path('/invoices/', 'regress_paths_alice') AS again;
\connect - regress_paths_bob
SELECT get('/invoices/1');
\connect - regress_paths_alice
SELECT endpoint('invoices', 'invoices/{id}', 'alice');
\connect - regress_paths_mallory
SELECT * FROM wf_refresh('squat');
\echo :SQLSTATE
\connect - regress_paths_bob
SELECT get('/invoices/1');

-- Later: taken back, retracted, deleted, it stays Alice's.
\connect - regress_paths_alice
SELECT wf_retract('orders');
SELECT wf_delete_definition('orders');
\connect - regress_paths_mallory
SELECT endpoint('after', 'orders/{id}', 'stolen');
\connect - regress_paths_bob
SELECT get('/orders/42');

-- 3. An endpoint in the middle of a workflow has an owner, too. Mallory can neither take the request nor make it ambiguous.
\connect - regress_paths_alice
SELECT * FROM wf_define('{"definitionId": "approve", "root": [{"type": "HttpEndpoint", "path": {"js": "`approve/${getInput(''n'')}`"}}, {"type": "WriteHttpResponse", "content": "approved by alice"}]}');
SELECT sub_status FROM wf_run('approve', '{"n": 77}');
\connect - regress_paths_mallory
SELECT endpoint('before', 'approve/77', 'stolen'), endpoint('before2', 'approve/{n}', 'stolen');
SELECT * FROM wf_define('{"definitionId": "same", "root": [{"type": "HttpEndpoint", "path": "approve/77"}, {"type": "WriteHttpResponse", "content": "stolen"}]}');
SET client_min_messages = error;
SELECT sub_status, incidents -> 0 ->> 'sqlstate' AS sqlstate, incidents -> 0 ->> 'message' AS message FROM wf_run('same');
-- A bookmark of a type of her own that looks like one of an endpoint.
CREATE FUNCTION regress_paths_handler(context jsonb) RETURNS jsonb LANGUAGE sql AS $$
SELECT CASE WHEN context ? 'bookmark' THEN '{}'::jsonb ELSE
    '{"bookmarks": [{"name": "Elsa.HttpEndpoint", "payload": {"Path": "/approve/77", "Method": "get", "Route": "approve/LL|approve/77|approve/77|get"}}]}' END $$;
SELECT wf_register_activity('Mallory.Endpoint', 'regress_paths_handler(jsonb)');
SELECT * FROM wf_define('{"definitionId": "look-alike", "root": {"type": "Mallory.Endpoint"}}');
SELECT sub_status FROM wf_run('look-alike');
SELECT count(*) AS waits FROM workflow.open_bookmarks WHERE name = 'Elsa.HttpEndpoint';
\connect - regress_paths_bob
SELECT get('/approve/77'), get('/approve/77') AS again;

-- The endpoint is that of the definition's owner, also where others start it.
\connect - regress_paths_alice
SELECT wf_grant('approve', 'regress_paths_bob', '{start}');
\connect - regress_paths_bob
SELECT sub_status FROM wf_run('approve', '{"n": 78}');
SELECT get('/approve/78');

-- 4. What waits where the path is another's by now is not reached.
\connect - regress_paths_mallory
SELECT * FROM wf_define('{"definitionId": "early", "root": [{"type": "HttpEndpoint", "path": "later/{id}"}, {"type": "WriteHttpResponse", "content": "stolen"}]}');
SELECT sub_status FROM wf_run('early');
\connect - postgres
SELECT wf_grant_path('later', 'regress_paths_alice');
\connect - regress_paths_bob
SELECT get('/later/1');
\connect - regress_paths_alice
SELECT endpoint('later', 'later/{id}', 'alice');
\connect - regress_paths_bob
SELECT get('/later/1');
SELECT status FROM wf_http_request('GET', '/later/1', jsonb_build_object('X-Correlation-ID', 'x'));

-- 5. The root, and what begins with a parameter, are a superuser's to give. They catch only what is no role's.
\connect - postgres
SELECT wf_grant_path('*', 'regress_paths_mallory') AS removed, wf_grant_path('', 'regress_paths_alice') AS removed;
\connect - regress_paths_mallory
SELECT endpoint('all', '{*all}', 'caught'), endpoint('root', '/', 'stolen');
\connect - regress_paths_alice
SELECT endpoint('home', '/', 'alice is home'), endpoint('all too', '{*all}', 'alice');
\connect - regress_paths_bob
SELECT path, get(path) FROM unnest('{/,/nowhere/x,/orders/42,/invoices/1,/later/1,/mallory/9/9}'::text[]) AS path;
\connect - postgres
SELECT wf_grant_path('*', NULL) AS removed;
SELECT endpoint('su all', '{*all}', 'the superuser');
SELECT get('/nowhere/x'), get('/mallory/9/9');
SELECT segment, owner FROM workflow.path_list ORDER BY segment;

-- 6. What the call refuses.
SELECT wf_grant_path('a/b', 'regress_paths_alice');
\echo :SQLSTATE
SELECT wf_grant_path('{id}', 'regress_paths_alice');
\echo :SQLSTATE
SELECT wf_grant_path(NULL, 'regress_paths_alice');
\echo :SQLSTATE
SELECT wf_grant_path('a', 'regress_paths_nobody');
\echo :SQLSTATE

-- 7. The paths of a definition go along to its new owner, unless another one of the former owner is published there.
SELECT wf_set_owner('definition', 'home', 'regress_paths_bob') AS changed;
SELECT owner FROM workflow.path_list WHERE segment = '';
SELECT get('/');
SET ROLE regress_paths_alice;
SELECT endpoint('list', 'invoices', 'alice');
RESET ROLE;
SELECT wf_set_owner('definition', 'invoices', 'regress_paths_bob');
\echo :SQLSTATE
SELECT get('/invoices/1');

-- A role that is gone still has it, until a superuser gives it to another one.
\connect - postgres
CREATE ROLE regress_paths_gone LOGIN;
SELECT wf_grant_usage('regress_paths_gone');
SET ROLE regress_paths_gone;
SELECT endpoint('gone', 'gone/{id}', 'gone');
RESET ROLE;
SELECT wf_revoke_usage('regress_paths_gone');
DROP OWNED BY regress_paths_gone;
DROP ROLE regress_paths_gone;
SET ROLE regress_paths_mallory;
SELECT endpoint('heir', 'gone/{id}', 'stolen');
RESET ROLE;
SELECT wf_grant_path('gone', 'regress_paths_alice') AS removed;
SELECT * FROM wf_check();
