-- Named schedules, and the triggers of definitions that have a schedule. A named schedule is visible only to roles with its
-- owner's rights.
CREATE VIEW workflow.schedules WITH (security_barrier) AS
SELECT t.id AS schedule_id, t.schedule_name AS name,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner,
       t.definition_id, CASE WHEN t.activity_id OPERATOR(pg_catalog.<>) '' THEN t.activity_id END AS activity_id,
       CASE WHEN t.definition_id OPERATOR(pg_catalog.=) 'Workflow.ScheduledCommand'
            THEN CASE WHEN pg_catalog.jsonb_typeof(t.input OPERATOR(pg_catalog.->) 'statement') OPERATOR(pg_catalog.=) 'array' THEN (SELECT pg_catalog.string_agg(s.text, E';\n' ORDER BY s.number)
                                    FROM pg_catalog.jsonb_array_elements_text(t.input OPERATOR(pg_catalog.->) 'statement')
                                         WITH ORDINALITY AS s (text, number))
                 ELSE t.input OPERATOR(pg_catalog.->>) 'statement' END
       END AS command,
       COALESCE(t.schedule OPERATOR(pg_catalog.->>) 'text', t.schedule OPERATOR(pg_catalog.#>>) '{when,cron}',
                t.schedule OPERATOR(pg_catalog.#>>) '{when,every,interval}', t.schedule OPERATOR(pg_catalog.#>>) '{when,at}') AS schedule,
       t.schedule OPERATOR(pg_catalog.->>) 'timeZone' AS time_zone, t.active,
       t.schedule OPERATOR(pg_catalog.->>) 'misfire' AS misfire,
       (t.schedule OPERATOR(pg_catalog.->>) 'misfireCap')::integer AS misfire_cap,
       t.schedule OPERATOR(pg_catalog.->>) 'overlap' AS overlap,
       (t.schedule OPERATOR(pg_catalog.->>) 'jitter')::interval AS jitter,
       t.next_fire_at AS next_run, t.last_fire_at AS last_scheduled, r.created_at AS last_run, t.last_instance_id,
       CASE WHEN t.attempts OPERATOR(pg_catalog.>) 0 THEN 'failed' ELSE workflow._run_status(r.sub_status, n.sqlstate) END AS last_status,
       COALESCE(t.last_error, n.message) AS last_error, t.attempts, t.queued, t.skipped, t.missed,
       CASE WHEN t.definition_id OPERATOR(pg_catalog.<>) 'Workflow.ScheduledCommand' THEN t.input END AS input, t.correlation_id
FROM workflow.triggers t
LEFT JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) t.definition_version_id
LEFT JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) COALESCE(t.owner, d.owner)
LEFT JOIN workflow.instances r ON r.id OPERATOR(pg_catalog.=) t.last_instance_id
LEFT JOIN LATERAL (SELECT x.sqlstate, x.message FROM workflow.incidents x
                   WHERE x.instance_id OPERATOR(pg_catalog.=) r.id AND r.sub_status OPERATOR(pg_catalog.=) 'Faulted'
                   ORDER BY x.id DESC LIMIT 1) n ON true
WHERE t.schedule IS NOT NULL
  AND (COALESCE(t.owner, d.owner) OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
       OR t.schedule_name IS NULL AND t.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_definitions m))
       OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE'));

COMMENT ON VIEW workflow.schedules IS 'schedules: when they fire next, and the outcome of the last run';

CREATE VIEW workflow.schedule_runs WITH (security_barrier) AS
SELECT i.id AS instance_id, i.schedule_id, COALESCE(t.schedule_name, i.name) AS name, i.definition_id,
       (i.input OPERATOR(pg_catalog.->>) 'ScheduledAt')::pg_catalog.timestamptz AS scheduled_at, b.started_at, f.finished_at,
       f.finished_at OPERATOR(pg_catalog.-) b.started_at AS duration, workflow._run_status(i.sub_status, n.sqlstate) AS status,
       CASE WHEN i.definition_id OPERATOR(pg_catalog.=) 'Workflow.ScheduledCommand'
            THEN (i.output OPERATOR(pg_catalog.->>) 'rows')::bigint END AS rows,
       n.sqlstate, n.message AS error
FROM workflow.instances i
LEFT JOIN workflow.triggers t ON t.id OPERATOR(pg_catalog.=) i.schedule_id
LEFT JOIN workflow.execution_log l ON l.instance_id OPERATOR(pg_catalog.=) i.id AND l.seq OPERATOR(pg_catalog.=) 0
CROSS JOIN LATERAL (SELECT CASE WHEN i.sub_status OPERATOR(pg_catalog.<>) 'Pending' THEN COALESCE(l.created_at, i.created_at) END AS started_at) b
CROSS JOIN LATERAL (SELECT CASE WHEN i.sub_status OPERATOR(pg_catalog.=) 'Faulted' THEN i.updated_at ELSE i.finished_at END AS finished_at) f
LEFT JOIN LATERAL (SELECT x.sqlstate, x.message FROM workflow.incidents x
                   WHERE x.instance_id OPERATOR(pg_catalog.=) i.id AND i.sub_status OPERATOR(pg_catalog.=) 'Faulted'
                   ORDER BY x.id DESC LIMIT 1) n ON true
WHERE i.schedule_id IS NOT NULL
  AND (i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
       OR i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d)));

COMMENT ON VIEW workflow.schedule_runs IS 'runs that schedules have started: when, for how long, and with what outcome';
