-- Instances with two bookmarks and a journal, which are started, exported and imported again.
SELECT wf_define('{"definitionId": "moved", "root": {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Paid"}, {"type": "RunTask", "taskName": "check", "payload": {"amount": 250}}]}}');

CREATE FUNCTION bench.is_here(key text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN key IS NOT NULL; END $$;

-- An approval by name and correlation id with this value of workflow.route_check, relative to one with any key. They take turns after a few
-- calls, as the difference is small.
CREATE FUNCTION bench.guard(setting text, rounds integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    decision CONSTANT jsonb := '{"approved": true, "by": "Edsger"}';
    spent double precision[];
    ratios double precision[];
    began timestamptz;
    key text;
BEGIN
    FOR round IN 1 .. rounds LOOP
        FOR turn IN 0 .. 1 LOOP
            PERFORM set_config('workflow.route_check', CASE (round + turn) % 2 WHEN 0 THEN '' ELSE setting END, true);
            began := clock_timestamp();
            FOR i IN 1 .. 40 LOOP
                key := concat('guard ', round, ' ', turn, ' ', i);
                PERFORM wf_start('approval-event', '{"employee": "Ada", "days": 3}', key);
                PERFORM wf_publish_event('Supervisor approval', decision, key);
                PERFORM wf_publish_event('Manager approval', decision, key);
            END LOOP;
            spent[(round + turn) % 2] := extract(epoch FROM clock_timestamp() - began);
        END LOOP;
        ratios := ratios || spent[1] / spent[0];
    END LOOP;
    RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio) FROM unnest(ratios) AS ratio);
END $$;

-- Microseconds per instance of `start`, `export` or `import`, or of `wait`, the time for which a key waits during a move.
CREATE FUNCTION bench.nodes(what text, count integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
    started timestamptz;
    exported timestamptz;
    arrived timestamptz;
    bundle bytea[];
BEGIN
    TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.execution_log;
    began := clock_timestamp();
    PERFORM wf_start('moved', '{"by": "Ada"}', correlation_id => 'moved-' || n) FROM generate_series(1, count) AS n;
    started := clock_timestamp();
    bundle := ARRAY(SELECT wf_export_instances(ARRAY(SELECT 'moved-' || n FROM generate_series(1, count) AS n), remove => true));
    exported := clock_timestamp();
    -- The new node has never had these rows: no index knows their ids.
    TRUNCATE workflow.instances, workflow.bookmarks, workflow.tasks, workflow.execution_log;
    arrived := clock_timestamp();
    PERFORM wf_import_instances(bundle);
    RETURN 1e6 / count * extract(epoch FROM CASE what WHEN 'start' THEN started - began WHEN 'export' THEN exported - started
        WHEN 'import' THEN clock_timestamp() - arrived ELSE exported - started + (clock_timestamp() - arrived) END);
END $$;

-- The functions that a client calls, directly or through PL/Proxy.
CREATE FUNCTION bench.begin(key text) RETURNS uuid LANGUAGE sql AS $$ SELECT wf_start('approval-event', '{"employee": "Ada", "days": 3}', $1) $$;
