-- What a user wants to know is a view. Each role sees its own and what it was granted to read.
CREATE ROLE regress_views_ada LOGIN;
CREATE ROLE regress_views_eve LOGIN;
SELECT wf_grant_usage('regress_views_ada');
SELECT wf_grant_usage('regress_views_eve');
-- The time is set for this test; only a superuser may.
SET workflow.now = '2030-01-01 08:00:00+00';
SET ROLE regress_views_ada;
SELECT * FROM wf_define('{"definitionId": "order", "name": "Order", "description": "From cart to parcel", "root": [
    {"type": "WriteLine", "text": "hello"},
    {"type": "Parallel", "activities": [
        {"id": "paid", "type": "Event", "eventName": "Paid"},
        {"id": "check", "type": "RunTask", "taskName": "Check", "payload": {"literal": {"urgent": true}}}]},
    {"id": "fail", "type": "Fault", "message": "no parcel"}]}');
SELECT wf_start('order', '{"n": 1}', correlation_id => 'o1', name => 'Order 1', instance_id => '01900000-0000-7000-8000-000000000001');

-- waiting: who waits where, since when, until when.
SELECT instance, activity, since, due, correlation_id FROM workflow.waiting ORDER BY activity;

-- open_bookmarks: the same with everything that a stimulus could match.
SELECT instance_id, definition_id, activity_id, activity_type, name, payload - 'TaskId' AS payload, correlation_id, created_at FROM workflow.open_bookmarks ORDER BY activity_id;

-- open_tasks: the inbox.
SELECT instance_id, definition_id, activity_id, name, payload, correlation_id, created_at FROM workflow.open_tasks;

-- instance_list and definition_list.
SELECT * FROM workflow.instance_list \gx
SELECT * FROM workflow.definition_list \gx

-- journal: what happened, in words and in order.
RESET ROLE;
SET workflow.now = '2030-01-01 09:00:00+00';
SET ROLE regress_views_ada;
SELECT cardinality(resumed) AS resumed FROM wf_publish_event('Paid');
SELECT r.sub_status FROM workflow.open_tasks AS t, wf_complete_task(t.task_id, '"fine"') AS r;
SELECT at, event, activity, activity_type, data FROM workflow.journal ORDER BY seq, number;

-- open_incidents: what waits for a person to look at it.
SELECT instance_id, definition_id, activity_id, activity_type, created_at, sqlstate, message, detail, hint FROM workflow.open_incidents \gx

-- Another role sees nothing of it.
RESET ROLE;
SET ROLE regress_views_eve;
SELECT (SELECT count(*) FROM workflow.waiting) AS waiting, (SELECT count(*) FROM workflow.open_bookmarks) AS bookmarks, (SELECT count(*) FROM workflow.open_tasks) AS tasks,
       (SELECT count(*) FROM workflow.open_incidents) AS incidents, (SELECT count(*) FROM workflow.journal) AS journal,
       (SELECT count(*) FROM workflow.instance_list) AS instances, (SELECT count(*) FROM workflow.definition_list) AS definitions;

-- security.md#default-access: views are security barriers
-- Not even through a function that is cheaper than the view's own condition.
CREATE FUNCTION pg_temp.peek(anyelement) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END $$;
SELECT * FROM workflow.instance_list WHERE pg_temp.peek(correlation_id);
-- security.md#what-postgresql-itself-shows: leakproof operators are applied to hidden rows, others are not
CREATE FUNCTION pg_temp.removed(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    line text;
    number bigint = 0;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE) SELECT FROM workflow.instance_list WHERE ' || condition LOOP
        number = number + coalesce(substring(line FROM 'Rows Removed by Filter: (\d+)')::bigint, 0);
    END LOOP;
    RETURN number;
END $$;
SELECT pg_temp.removed($c$correlation_id = 'o1'$c$) > pg_temp.removed($c$correlation_id = 'o2'$c$) AS "a correlation id shows",
       pg_temp.removed($c$input @> '{"n": 1}'$c$) > pg_temp.removed($c$input @> '{"n": 2}'$c$) AS "what is inside jsonb shows";

-- Until she may read it.
RESET ROLE;
SET ROLE regress_views_ada;
SELECT wf_grant('order', 'regress_views_eve', '{read}');
RESET ROLE;
SET ROLE regress_views_eve;
SELECT definition_id, sub_status FROM workflow.instance_list;
SELECT count(*) > 0 AS journal FROM workflow.journal;

-- instance_state shows what the engine keeps for itself.
SELECT jsonb_typeof(workflow.instance_state('01900000-0000-7000-8000-000000000001'));
RESET ROLE;
SELECT workflow.instance_state('01900000-0000-7000-8000-00000000dead');
\echo :SQLSTATE

-- security.md#owners-and-grants: members of pg_read_all_data see definitions, instances and journal
-- A superuser sees everything, and so does a member of pg_read_all_data.
GRANT pg_read_all_data TO regress_views_eve;
SELECT wf_revoke('order', 'regress_views_eve', '{read}');
SET ROLE regress_views_eve;
SELECT definition_id, sub_status FROM workflow.instance_list;
RESET ROLE;

-- The journal can be long: a burst of many steps is one stored row, or a few.
RESET workflow.now;
SELECT * FROM wf_define('{"definitionId": "long", "root": {"type": "For", "start": 1, "end": 3000, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}}');
SELECT wf_start('long') AS instance \gset
SELECT count(*) FILTER (WHERE event = 'Line') AS lines, min((data #>> '{}')::int) FILTER (WHERE event = 'Line') AS first, max((data #>> '{}')::int) FILTER (WHERE event = 'Line') AS last,
       count(DISTINCT seq) < 20 AS few_rows FROM workflow.journal WHERE instance_id = :'instance';

-- Every table, view and function says what it is for.
SELECT count(*) AS without_comment FROM pg_class AS c WHERE relnamespace = 'workflow'::regnamespace AND relkind IN ('r', 'v') AND obj_description(oid, 'pg_class') IS NULL;
SELECT p.proname FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'workflow'
 WHERE obj_description(p.oid, 'pg_proc') IS NULL ORDER BY proname;
SELECT * FROM wf_check();
