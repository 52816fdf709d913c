-- wf_export_instances packs whole trees with all that belongs to their correlation ids, and wf_import_instances takes them in.
SET timezone = 'UTC';
SET workflow.now = '2030-01-01 00:00:00+00';
CREATE ROLE regress_move_owner LOGIN;
CREATE ROLE regress_move_clerk LOGIN;
SET client_min_messages = error;
SELECT wf_grant_usage('regress_move_owner'), wf_grant_usage('regress_move_clerk');
SET ROLE regress_move_owner;
SELECT count(wf_define(d::jsonb)) FROM (VALUES
    ('{"definitionId": "task", "root": {"id": "check", "type": "RunTask", "taskName": "check", "payload": {"q": "a,\"b\" {x} NULL é"}, "candidates": ["role:regress_move_clerk", "people", "no-role:12"], "retry": {"maxAttempts": 2}}}'),
    ('{"definitionId": "wide", "variables": [{"name": "V", "value": {"n": 1.10, "t": "\\ü\"\n"}}], "root": {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Paid"}, {"type": "Delay", "timeSpan": "1 hour"}, {"type": "HttpEndpoint", "path": "orders/{id}", "supportedMethods": ["GET"]}]}}'),
    ('{"definitionId": "bad", "root": [{"id": "book", "type": "Compensable", "body": {"type": "WriteLine", "text": "booked"}, "compensation": {"type": "WriteLine", "text": "cancelled"}}, {"id": "bad", "type": "Fault", "message": "no"}]}'),
    ('{"definitionId": "again", "root": {"id": "bad", "type": "Fault", "message": "no", "retry": {"maxAttempts": 3, "delay": "1 hour"}}}'),
    ('{"definitionId": "child", "root": {"id": "wait", "type": "Event", "eventName": "Child"}}'),
    ('{"definitionId": "parent", "root": {"id": "start", "type": "DispatchWorkflow", "workflowDefinitionId": "child", "correlationId": {"input": "key"}, "waitForCompletion": true}}'),
    ('{"definitionId": "few", "options": {"maxConcurrency": {"max": 1}}, "root": {"type": "Event", "eventName": "Few"}}'),
    ('{"definitionId": "one", "options": {"activationStrategyType": "Correlated"}, "root": {"type": "Event", "eventName": "One"}}')) AS v (d);

-- Everything that there is, for two keys; a third one stays.
SELECT wf_start(d, correlation_id => k) FROM unnest(ARRAY['task', 'task', 'wide', 'bad', 'again', 'few', 'one']) AS d, unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_start('parent', '{"key": ""}', correlation_id => k) FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_start('wide') \g /dev/null
SELECT wf_pause(instance_id, 'later') FROM workflow.instance_list WHERE definition_id = 'wide' AND correlation_id IN ('A', 'C') \g /dev/null
SELECT wf_publish_event('Early', '{"x": 1}', correlation_id => k, keep_for => '1 day') FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_publish_event('Lost', '{"x": 1}', correlation_id => k, keep_for => '1 second') FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_publish_event('Paid', correlation_id => 'A', keep_for => '1 day') \g /dev/null
SELECT wf_call(k, 'm1', 'start', 'child') FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_schedule_workflow('daily-' || k, '0 3 * * *', 'child', correlation_id => k) FROM unnest(ARRAY['A', 'B', 'C']) AS k \g /dev/null
SELECT wf_schedule('command', '1 hour', 'SELECT 1') \g /dev/null
RESET ROLE;
SET workflow.now = '2030-01-01 00:30:00+00';
SELECT wf_run_due() >= 0 AS swept;

-- The rows of every table, told apart by their key.
CREATE FUNCTION contents(OUT name name, OUT rows bigint, OUT digest text) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'workflow'::regnamespace AND relkind = 'r' ORDER BY 1 LOOP
        EXECUTE format('SELECT count(*), md5(string_agg(t::text, E''\n'' ORDER BY t::text)) FROM workflow.%I AS t', name) INTO rows, digest;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE TABLE before AS SELECT * FROM contents();

-- Out and in again: nothing is left in between, and all is as it was.
BEGIN;
CREATE TEMP TABLE bundle AS SELECT b FROM wf_export_instances('{A,B,B,none}', remove => true) AS b;
SELECT count(*) AS pieces, bool_and(b::text LIKE '\\x' || encode('workflow bundle', 'hex') || '%') AS begins FROM bundle;
SELECT correlation_id, count(*) FROM workflow.instances GROUP BY 1 ORDER BY 1;
SELECT * FROM (SELECT key AS "left" FROM workflow.messages UNION ALL SELECT correlation_id FROM workflow.triggers WHERE schedule_name IS NOT NULL
    UNION ALL SELECT correlation_id FROM workflow.bookmark_queue UNION ALL SELECT correlation_id FROM workflow.dead_letters) AS v WHERE "left" IS DISTINCT FROM 'C';
SELECT name, b.rows, a.rows AS after FROM before AS b JOIN contents() AS a USING (name) WHERE a.rows > 0 AND name IN ('bookmarks', 'tasks', 'incidents', 'compensations', 'pauses', 'execution_log', 'bookmark_queue', 'dead_letters');
SELECT wf_import_instances(array_agg(b)) FROM bundle;
SELECT name, b.rows, a.rows AS after FROM before AS b JOIN contents() AS a USING (name) WHERE a IS DISTINCT FROM b AND name NOT IN ('imports', 'admissions');
COMMIT;
SELECT count(*) FROM workflow.imports;
SELECT * FROM wf_check();

-- A copy leaves everything where it is, and what is here is not overwritten.
SELECT count(*) AS pieces FROM wf_export_instances('{A}');
SELECT name FROM before AS b JOIN contents() AS a USING (name) WHERE a.rows <> b.rows AND name <> 'admissions';
SELECT wf_import_instances(ARRAY(SELECT wf_export_instances('{A}')));
SELECT count(*) AS pieces FROM wf_export_instances('{none}');
SELECT wf_import_instances('{}');

-- By a function of a superuser.
CREATE FUNCTION is_b(key text) RETURNS boolean LANGUAGE sql RETURN key = 'B';
BEGIN;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT b FROM wf_export_instances(predicate => 'is_b(text)', remove => true) AS b;
SELECT correlation_id, count(*) FROM workflow.instances GROUP BY 1 ORDER BY 1;
SELECT wf_import_instances(array_agg(b)) FROM moved;
COMMIT;

-- What was moved goes on.
SET ROLE regress_move_clerk;
SELECT name, correlation_id, candidates FROM workflow.open_tasks ORDER BY 2, task_id;
RESET ROLE;
SELECT array_length(resumed, 1) AS resumed FROM wf_publish_event('Child', instance_id => (SELECT c.id FROM workflow.instances AS c JOIN workflow.instances AS p ON p.id = c.parent_instance_id WHERE p.correlation_id = 'A'));
SELECT definition_id, sub_status, count(*) FROM workflow.instance_list WHERE definition_id IN ('parent', 'child') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT wf_http_request('GET', '/orders/1', headers => '{"X-Correlation-ID": "B"}') IS NOT NULL AS answered;
SET ROLE regress_move_owner;
SELECT wf_call('A', 'm1', 'start', 'child') ->> 'sub_status' AS sub_status, (SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'child' AND correlation_id = 'A');
SELECT wf_unschedule('daily-A') AS was_mine;
SELECT wf_start('one', correlation_id => 'A');
RESET ROLE;
SET workflow.now = '2030-01-01 02:00:00+00';
SELECT wf_run_due() > 0 AS fired;
SELECT correlation_id, sub_status FROM workflow.instance_list WHERE definition_id = 'few' ORDER BY 1;

-- Leases end, and a last one with it.
CREATE TABLE held AS SELECT t.task_id, c.token FROM workflow.open_tasks AS t, wf_claim_task(t.task_id, 'w') AS c WHERE t.correlation_id = 'C' ORDER BY t.task_id;
SELECT wf_fail_task(task_id, token, 'no') FROM held ORDER BY task_id DESC LIMIT 1 \g /dev/null
SET workflow.now = '2030-01-01 02:01:00+00';
UPDATE held SET token = (SELECT c.token FROM wf_claim_task(task_id, 'w') AS c) WHERE task_id = (SELECT task_id FROM held ORDER BY task_id DESC LIMIT 1);
SELECT b.claims, b.token IS NOT NULL AS is_held, b.lease_until, b.available_at FROM workflow.bookmarks AS b JOIN held ON id = task_id ORDER BY id;
-- A stimulus that names a bookmark alone goes with it.
SELECT wf_enqueue_bookmark(bookmark_id => task_id, keep_for => '1 day') FROM held ORDER BY task_id LIMIT 1 \g /dev/null
BEGIN;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT b FROM wf_export_instances('{C}', remove => true) AS b;
SELECT count(*) FROM workflow.bookmark_queue WHERE bookmark_id IS NOT NULL;
SELECT wf_import_instances(array_agg(b)) > 0 AS moved FROM moved;
SELECT count(*) FROM workflow.bookmark_queue WHERE bookmark_id IS NOT NULL;
DELETE FROM workflow.bookmark_queue WHERE bookmark_id IS NOT NULL;
COMMIT;
SELECT b.claims, b.token IS NOT NULL AS is_held, b.lease_until, b.available_at FROM workflow.bookmarks AS b JOIN held ON id = task_id ORDER BY id;
SELECT name, due_at FROM workflow.bookmarks WHERE name = 'Workflow.Lease';
SELECT wf_complete_task(task_id, token => token) FROM held ORDER BY task_id LIMIT 1;
SELECT wf_run_due() > 0 AS fired;
SELECT t.status FROM workflow.tasks AS t JOIN held ON id = task_id ORDER BY id;

-- Limits of this node hold for what comes; a lane of another node means nothing here.
SET ROLE regress_move_owner;
SELECT wf_limit_tasks('check', 1) \g /dev/null
RESET ROLE;
BEGIN;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT b FROM wf_export_instances('{A,B}', remove => true) AS b;
SET ROLE regress_move_owner;
SELECT wf_limit_tasks('check') \g /dev/null
RESET ROLE;
SELECT wf_import_instances(array_agg(b)) > 0 AS moved FROM moved;
SELECT DISTINCT lane, available_at FROM workflow.bookmarks WHERE activity_type = 'Elsa.RunTask' AND correlation_id IN ('A', 'B');
ROLLBACK;
BEGIN;
CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT b FROM wf_export_instances('{A,B}', remove => true) AS b;
SELECT wf_import_instances(array_agg(b)) > 0 AS moved FROM moved;
COMMIT;
SET ROLE regress_move_clerk;
SELECT count(*) FROM wf_claim_tasks('{check}', max => 10);
SET ROLE regress_move_owner;
SELECT wf_limit_tasks('check') \g /dev/null
RESET ROLE;

-- A set is whole, in one transaction; its pieces may come in several calls.
SELECT wf_start('child', jsonb_build_object('text', repeat('x', 400000)), correlation_id => 'large') FROM generate_series(1, 60) \g /dev/null
BEGIN;
CREATE TEMP TABLE large AS SELECT b, n, max(length(b)) OVER () < 16 << 20 AS fits FROM wf_export_instances('{large}', remove => true) WITH ORDINALITY AS e (b, n);
COMMIT;
SELECT count(*) > 1 AS are_several, bool_and(fits) AS fit FROM large;
BEGIN;
SELECT wf_import_instances(ARRAY[b]) > 0 AS taken FROM large WHERE n < (SELECT max(n) FROM large) ORDER BY n;
COMMIT;
BEGIN;
SELECT wf_import_instances(ARRAY[b]) > 0 AS taken FROM large WHERE n > 1 ORDER BY n;
PREPARE TRANSACTION 'incomplete';
BEGIN;
SELECT wf_import_instances(ARRAY[b]) > 0 AS taken FROM large ORDER BY n DESC;
SAVEPOINT s;
SELECT wf_import_instances(ARRAY[b]) FROM large WHERE n = 1;
ROLLBACK TO s;
COMMIT;
SELECT count(*) FROM workflow.instances WHERE correlation_id = 'large';

-- Refused, without effect: nothing, other things, half of it, later formats.
SELECT wf_import_instances(NULL);
SELECT wf_import_instances('{NULL}');
SELECT wf_import_instances(ARRAY['hello'::bytea]);
SELECT wf_import_instances(ARRAY['\x'::bytea]);
SELECT wf_import_instances(ARRAY['workflow bundle\012\000\002'::bytea]);
CREATE TEMP TABLE one AS SELECT b FROM wf_export_instances('{large}') AS b LIMIT 1;
SELECT wf_import_instances(ARRAY[substr(b, 1, 1000)]) FROM one;
SELECT wf_import_instances(ARRAY[set_byte(b, 100, get_byte(b, 100) # 1)]) FROM one;
-- A tree with two keys moves with both.
SELECT wf_start('parent', '{"key": "below"}', correlation_id => 'above') IS NOT NULL AS started;
SELECT count(*) FROM wf_export_instances('{above}');
SELECT count(*) FROM wf_export_instances('{below}');
SELECT count(*) FROM wf_export_instances('{above,below}');
-- Versions and roles that are not here.
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{above,below}', remove => true) AS b;
SAVEPOINT s;
UPDATE workflow.definitions SET version = 7 WHERE definition_id = 'parent';
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK TO s;
UPDATE workflow.definitions SET document = document || '{"description": "other"}' WHERE definition_id = 'parent';
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK TO s;
SELECT wf_set_owner('definition', 'parent', 'regress_move_clerk');
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK TO s;
ALTER ROLE regress_move_owner RENAME TO regress_move_renamed;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK;
-- A schedule of the same name, and a number of an owner that is another role here.
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{B}', remove => true) AS b;
SET ROLE regress_move_owner;
SELECT wf_schedule_workflow('daily-B', '0 3 * * *', 'child') IS NOT NULL AS made;
RESET ROLE;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK;
SET ROLE regress_move_owner;
SELECT wf_grant('child', 'regress_move_clerk', '{start}') AS granted;
SET ROLE regress_move_clerk;
SELECT wf_start('child', correlation_id => 'clerk') IS NOT NULL AS started;
RESET ROLE;
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{clerk}', remove => true) AS b;
UPDATE workflow.owners SET same_as = (SELECT o.id FROM workflow.owners AS o WHERE o.name = 'regress_move_owner') WHERE name = 'regress_move_clerk';
CREATE TEMP TABLE sessions_look_again () ON COMMIT DROP;
DO $$
DECLARE
    told text;
BEGIN
    PERFORM wf_import_instances(ARRAY(SELECT b FROM gone));
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS told = PG_EXCEPTION_DETAIL;
    RAISE EXCEPTION USING ERRCODE = sqlstate, MESSAGE = sqlstate || ' ' || regexp_replace(sqlerrm, '\d+', 'N'), DETAIL = told;
END $$;
ROLLBACK;
-- An import that was undone, and then one after another role has got the name.
SELECT instance_id AS clerks FROM workflow.instance_list WHERE correlation_id = 'clerk' \gset
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{clerk}', remove => true) AS b;
CREATE ROLE regress_move_third;
SELECT wf_grant_usage('regress_move_third');
DELETE FROM workflow.owners WHERE name = 'regress_move_clerk';
CREATE TEMP TABLE sessions_look_again () ON COMMIT DROP;
SET ROLE regress_move_clerk;
SELECT resumed FROM wf_publish_event('Nothing', keep_for => '1 day');
RESET ROLE;
SAVEPOINT s;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
SET ROLE regress_move_clerk;
SELECT wf_cancel(:'clerks');
ROLLBACK TO s;
ALTER ROLE regress_move_clerk RENAME TO regress_move_old;
ALTER ROLE regress_move_third RENAME TO regress_move_clerk;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
SET ROLE regress_move_clerk;
SELECT wf_cancel(:'clerks');
ROLLBACK;
-- Two roles that have a schedule here, each of the name that the other's has there.
BEGIN;
SET ROLE regress_move_owner;
SELECT wf_schedule_workflow('first', '0 3 * * *', 'child', correlation_id => 'names') \g /dev/null
SET ROLE regress_move_clerk;
SELECT wf_schedule_workflow('second', '0 3 * * *', 'child', correlation_id => 'names') \g /dev/null
RESET ROLE;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{names}', remove => true) AS b;
SET ROLE regress_move_owner;
SELECT wf_schedule_workflow('second', '0 3 * * *', 'child') \g /dev/null
SET ROLE regress_move_clerk;
SELECT wf_schedule_workflow('first', '0 3 * * *', 'child') \g /dev/null
RESET ROLE;
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
SELECT schedule_name, count(DISTINCT owner) AS owners FROM workflow.triggers WHERE schedule_name IN ('first', 'second') GROUP BY 1 ORDER BY 1;
ROLLBACK;
-- The empty correlation id is one as well.
SELECT wf_start('child', correlation_id => '') IS NOT NULL AS started;
CREATE FUNCTION is_empty(key text) RETURNS boolean LANGUAGE sql RETURN key = '';
SELECT count(*) FROM wf_export_instances(predicate => 'is_empty(text)');
-- A key of another node.
SELECT wf_add_partitions('{0,1}', 2) \g /dev/null
SET workflow.route_check = 'partitions';
BEGIN;
CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT b FROM wf_export_instances('{above,below}', remove => true) AS b;
SAVEPOINT s;
SELECT wf_remove_partitions(ARRAY[wf_partition('above', 2)]);
SELECT wf_import_instances(ARRAY(SELECT b FROM gone));
ROLLBACK;
RESET workflow.route_check;
-- Who may, and when.
SELECT count(*) FROM wf_export_instances();
SELECT count(*) FROM wf_export_instances('{A}', 'is_b(text)');
SELECT count(*) FROM wf_export_instances('{A,NULL}');
SELECT count(*) FROM wf_export_instances(predicate => 'lower(text)');
SELECT count(*) FROM wf_export_instances('{A}', remove => NULL);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM wf_export_instances('{A}');
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT wf_import_instances('{}');
ROLLBACK;
SELECT wf_define('{"definitionId": "inside", "root": {"type": "Sql", "statement": "SELECT count(*) FROM wf_export_instances(''{A}'')"}}') \g /dev/null
SELECT wf_run('inside', on_fault => 'raise');
SET ROLE regress_move_owner;
SELECT count(*) FROM wf_export_instances('{A}');
SELECT wf_import_instances('{}');
SELECT wf_keep_instances('is_b(text)');
RESET ROLE;

-- Keeping what is here: the rest is removed, without a word.
CREATE FUNCTION is_here(key text) RETURNS boolean LANGUAGE sql RETURN key IN ('A', 'above');
SELECT count(*) AS removed FROM workflow.instances WHERE correlation_id IN ('B', 'C', 'large') OR parent_instance_id IN (SELECT id FROM workflow.instances WHERE correlation_id IN ('B', 'C', 'large')) \gset
SELECT wf_keep_instances('is_here(text)', max => 5) BETWEEN 5 AND :removed AS some;
SELECT wf_keep_instances('is_here(text)') > 0 AS more;
SELECT wf_keep_instances('is_here(text)');
SELECT coalesce(correlation_id, (SELECT p.correlation_id FROM workflow.instances AS p WHERE p.id = i.parent_instance_id)) AS key, count(*) FROM workflow.instances AS i GROUP BY 1 ORDER BY 1;
SELECT DISTINCT key FROM (SELECT key FROM workflow.messages UNION ALL SELECT correlation_id FROM workflow.triggers WHERE schedule_name LIKE 'daily%'
    UNION ALL SELECT correlation_id FROM workflow.bookmark_queue UNION ALL SELECT correlation_id FROM workflow.dead_letters) AS v (key);
SELECT wf_keep_instances('is_here(text)', keyless => false);
SELECT * FROM wf_check();
-- What the guard lets through stays.
SELECT wf_add_partitions(ARRAY[0, 1], 2) \g /dev/null
SET workflow.route_check = 'partitions';
SELECT wf_keep_instances('is_b(text)');
SELECT wf_remove_partitions('{0,1}');
SELECT wf_keep_instances(NULL) > 0 AS removed;
SELECT count(*) FROM workflow.instances WHERE definition_id NOT LIKE 'Workflow.%';
RESET workflow.route_check;
SELECT wf_keep_instances(NULL);
SELECT wf_keep_instances('is_b(text)', max => 0);
SELECT wf_keep_instances('is_b(text)', max => NULL);
SELECT wf_keep_instances('is_b(text)', keyless => NULL);
