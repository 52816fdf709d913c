-- The two-step approval of baseline.sql on the engine: each step waits for an event.
CREATE SCHEMA IF NOT EXISTS bench;

SELECT wf_define('{
    "definitionId": "approval-event",
    "name": "Approval by events",
    "variables": {"Supervisor": null, "Manager": null},
    "root": [
        {"id": "supervisor", "type": "Event", "eventName": "Supervisor approval", "result": {"var": "Supervisor"}},
        {"id": "manager", "type": "Event", "eventName": "Manager approval", "result": {"var": "Manager"}}
    ]
}');

-- Runs n approvals from start to end, and returns the microseconds per approval, as approval.measure does. It calls wf_run instead of
-- wf_start, because its result contains the bookmark: like the other side, it needs no query for it.
CREATE OR REPLACE FUNCTION bench.event(n integer, alternate boolean DEFAULT false) RETURNS double precision
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
        result := wf_run('approval-event', '{"employee": "Ada", "days": 3}', 'LR-' || i);
        result := wf_resume((result.bookmarks #>> '{0,id}')::uuid, decision);
        result := wf_resume((result.bookmarks #>> '{0,id}')::uuid, decision);
    END LOOP;
    IF result.sub_status <> 'Finished' THEN
        RAISE EXCEPTION 'the approval did not end: %', result;
    END IF;
    RETURN extract(epoch FROM clock_timestamp() - began) * 1e6 / n;
END $$;

-- The same, but the approver knows only the request, not the bookmark.
CREATE OR REPLACE FUNCTION bench.event_by_correlation(n integer, alternate boolean DEFAULT false) RETURNS double precision
LANGUAGE plpgsql AS $$
DECLARE
    warm_up CONSTANT integer := 200;
    decision CONSTANT jsonb := '{"approved": true, "by": "Edsger"}';
    began timestamptz;
    delivery wf_delivery;
BEGIN
    FOR i IN 1 - warm_up .. n LOOP
        IF i = 1 THEN
            began := clock_timestamp();
        END IF;
        IF alternate THEN
            PERFORM set_config('search_path', CASE WHEN i % 2 = 0 THEN 'public, pg_temp' ELSE 'pg_temp, public' END, true);
        END IF;
        PERFORM wf_start('approval-event', '{"employee": "Ada", "days": 3}', 'LR-' || i);
        delivery := wf_publish_event('Supervisor approval', decision, 'LR-' || i);
        delivery := wf_publish_event('Manager approval', decision, 'LR-' || i);
        IF cardinality(delivery.resumed) IS DISTINCT FROM 1 THEN
            RAISE EXCEPTION 'the event did not reach its one instance: %', delivery;
        END IF;
    END LOOP;
    RETURN extract(epoch FROM clock_timestamp() - began) * 1e6 / n;
END $$;
