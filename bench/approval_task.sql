-- The two-step approval of baseline.sql on the engine: each step is a task, with its row in workflow.tasks.
CREATE SCHEMA IF NOT EXISTS bench;

SELECT wf_define('{
    "definitionId": "approval-task",
    "name": "Approval by tasks",
    "variables": {"Supervisor": null, "Manager": null},
    "root": [
        {"id": "supervisor", "type": "RunTask", "taskName": "Supervisor approval", "result": {"var": "Supervisor"}},
        {"id": "manager", "type": "RunTask", "taskName": "Manager approval", "result": {"var": "Manager"}}
    ]
}');

-- As bench.event.
CREATE OR REPLACE FUNCTION bench.task(n integer, alternate boolean DEFAULT false) RETURNS double precision
LANGUAGE plpgsql AS $$
DECLARE
    warm_up CONSTANT integer := 200;
    decision CONSTANT jsonb := '{"approved": true, "by": "Edsger"}';
    began timestamptz;
    result wf_result;
BEGIN
    FOR i IN 1 - warm_up .. n LOOP
        IF i = 1 THEN
            began := clock_timestamp();
        END IF;
        IF alternate THEN
            PERFORM set_config('search_path', CASE WHEN i % 2 = 0 THEN 'public, pg_temp' ELSE 'pg_temp, public' END, true);
        END IF;
        result := wf_run('approval-task', '{"employee": "Ada", "days": 3}', 'LR-' || i);
        result := wf_resume((result.bookmarks #>> '{0,id}')::uuid, decision);
        result := wf_resume((result.bookmarks #>> '{0,id}')::uuid, decision);
    END LOOP;
    IF result.sub_status <> 'Finished' THEN
        RAISE EXCEPTION 'the approval did not end: %', result;
    END IF;
    RETURN extract(epoch FROM clock_timestamp() - began) * 1e6 / n;
END $$;

-- The same, but each step is an Approve by one person, who is the caller.
SELECT wf_define(jsonb_build_object('definitionId', 'approval-approve', 'name', 'Approval by Approve', 'root', jsonb_agg(
    jsonb_build_object('id', lower(step), 'type', 'Approve', 'subject', step || ' approval', 'by', jsonb_build_array('role:' || current_user))
    ORDER BY step DESC)))
FROM unnest('{Supervisor,Manager}'::text[]) AS step;

CREATE OR REPLACE FUNCTION bench.approve(n integer) RETURNS double precision
LANGUAGE plpgsql AS $$
DECLARE
    warm_up CONSTANT integer := 200;
    began timestamptz;
    result wf_result;
BEGIN
    FOR i IN 1 - warm_up .. n LOOP
        IF i = 1 THEN
            began := clock_timestamp();
        END IF;
        result := wf_run('approval-approve', '{"employee": "Ada", "days": 3}', 'LR-' || i);
        result := wf_resume((result.bookmarks #>> '{0,id}')::uuid, 'true');
        result := wf_resume((result.bookmarks #>> '{0,id}')::uuid, 'true');
    END LOOP;
    IF result.sub_status <> 'Finished' THEN
        RAISE EXCEPTION 'the approval did not end: %', result;
    END IF;
    RETURN extract(epoch FROM clock_timestamp() - began) * 1e6 / n;
END $$;
