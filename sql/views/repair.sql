CREATE VIEW workflow.open_incidents WITH (security_barrier) AS
SELECT n.id AS incident_id, n.instance_id, i.definition_id, CASE WHEN may.read THEN n.activity_id END AS activity_id,
       CASE WHEN may.read THEN n.activity_type END AS activity_type, n.created_at, n.sqlstate, n.message,
       CASE WHEN may.read THEN n.detail END AS detail, CASE WHEN may.read THEN n.hint END AS hint,
       CASE WHEN may.read THEN n.context END AS context, n.code, CASE WHEN may.read THEN COALESCE(n.attempts, 1) END AS attempts
FROM workflow.incidents n JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) n.instance_id
     CROSS JOIN LATERAL (SELECT i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
                         OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
                            AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances'])) AS may (read)
WHERE n.resolved_at IS NULL
  AND (may.read OR i.parent_instance_id IS NULL AND i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m)));

COMMENT ON VIEW workflow.open_incidents IS 'incidents that are not resolved';

CREATE VIEW workflow.open_compensations WITH (security_barrier) AS
SELECT c.instance_id, i.definition_id, c.activity_id, c.node_id, c.number, c.created_at,
       c.holder OPERATOR(pg_catalog.=) 4294967294 AS interrupted
FROM workflow.compensations c JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) c.instance_id
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

COMMENT ON VIEW workflow.open_compensations IS 'completed work that can be compensated, or interrupted work that has to be cancelled';
COMMENT ON COLUMN workflow.open_compensations.number IS 'in the order of completion within the instance';
COMMENT ON COLUMN workflow.open_compensations.interrupted IS 'whether its cancellation handler has to run, not its compensation';
