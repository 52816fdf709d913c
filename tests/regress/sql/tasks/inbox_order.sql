-- The views of open tasks: a query that sets no order of its own reads as many tasks as it returns.
SET client_min_messages = error;
SELECT * FROM wf_define('{"definitionId": "call", "inputs": [{"name": "n"}, {"name": "p"}, {"name": "for"}],
    "root": [{"id": "t", "type": "RunTask", "taskName": {"input": "n"}, "priority": {"input": "p"}, "assignee": {"input": "for"}}]}');
SELECT wf_start('call', jsonb_build_object('n', 'Call back', 'p', CASE i % 500 WHEN 7 THEN 5 WHEN 9 THEN -1 END, 'for', CASE i % 100 WHEN 1 THEN 'ada' END), correlation_id => 'c' || i)
FROM generate_series(1, 2000) AS i \g /dev/null
SELECT wf_start('call', '{"n": "Write"}', correlation_id => 'w') \g /dev/null
ANALYZE workflow.bookmarks, workflow.tasks, workflow.instances;

-- The lines of a plan that say which index orders it, how many rows it reads, and whether anything is sorted.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ 'Scan .*on (bookmarks|tasks) [bt] |Sort Key' THEN
            -- From PostgreSQL 18 on the number of rows is a mean of its loops, with two digits.
            RETURN NEXT regexp_replace(regexp_replace(line, '^[ >-]*', ''), '\.00 ', ' ');
        END IF;
    END LOOP;
END
$$;
-- Oldest first, of all names or of one.
SELECT plan($$SELECT * FROM workflow.open_tasks LIMIT 20$$);
SELECT name, correlation_id FROM workflow.open_tasks LIMIT 3;
SELECT correlation_id FROM workflow.open_tasks WHERE name = 'Call back' LIMIT 3;
-- A name with few tasks is found by the index on names.
SELECT plan($$SELECT * FROM workflow.open_tasks WHERE name = 'Write' LIMIT 20$$);
SELECT correlation_id FROM workflow.open_tasks WHERE name = 'Write';
-- By priority and age, among the tasks of an owner and a name: what can be claimed comes first.
SELECT id AS me FROM workflow.my_owners \gset
SELECT plan(format($$SELECT * FROM workflow.open_tasks_by_priority WHERE definition_owner_id = %s AND name = 'Call back' LIMIT 5$$, :me));
SELECT correlation_id, priority FROM workflow.open_tasks_by_priority WHERE name = 'Call back' LIMIT 6;
SELECT attempt FROM wf_claim_tasks('{Call back}', 'one');
SELECT correlation_id, priority FROM workflow.open_tasks_by_priority WHERE name = 'Call back' LIMIT 2;
SELECT correlation_id, priority, worker FROM workflow.open_tasks_by_priority WHERE name = 'Call back' OFFSET 1996;
-- Both views have the same tasks.
SELECT count(*) FROM (SELECT task_id FROM workflow.open_tasks EXCEPT SELECT task_id FROM workflow.open_tasks_by_priority) AS t;
SELECT count(*) FROM workflow.open_tasks_by_priority;
-- The tasks of a person are found among those that have an assignee.
SELECT plan($$SELECT * FROM workflow.open_tasks WHERE assignee = 'ada'$$);
SELECT count(*) FROM workflow.open_tasks WHERE assignee = 'ada';
-- A task by its id.
SELECT plan($$SELECT * FROM workflow.open_tasks WHERE task_id = '01900000-0000-7000-8000-00000000dead'$$);
-- security.md#tasks-for-people: a function in a condition sees no row of others
CREATE ROLE regress_inbox_curious;
CREATE FUNCTION seen(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE WARNING 'saw %', $1; RETURN true; END $$;
SET ROLE regress_inbox_curious;
SET client_min_messages = warning;
SELECT count(*) FROM workflow.open_tasks WHERE seen(name) AND seen(assignee);
SELECT count(*) FROM workflow.open_tasks_by_priority WHERE seen(name) AND seen(assignee);
SELECT count(*) FROM workflow._open_tasks;
RESET ROLE;
