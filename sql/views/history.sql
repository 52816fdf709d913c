-- A rejected start has no instance: its row is visible to roles that may read the definition named in the event.
CREATE VIEW workflow.journal WITH (security_barrier) AS
SELECT l.instance_id, l.seq, e.number::integer AS number, l.created_at AS at, e.entry OPERATOR(pg_catalog.->>) 'event' AS event,
       e.entry OPERATOR(pg_catalog.->>) 'activity_id' AS activity, e.entry OPERATOR(pg_catalog.->>) 'activity_type' AS activity_type,
       (e.entry OPERATOR(pg_catalog.->>) 'activity_instance_id')::uuid AS activity_instance_id,
       (e.entry OPERATOR(pg_catalog.->>) 'bookmark_id')::uuid AS bookmark_id,
       CASE WHEN e.entry OPERATOR(pg_catalog.->) 'data' OPERATOR(pg_catalog.<>) 'null'::jsonb THEN e.entry OPERATOR(pg_catalog.->) 'data' END AS data,
       COALESCE(e.entry OPERATOR(pg_catalog.->>) 'node_id', workflow._node_id(i.id, e.entry OPERATOR(pg_catalog.->>) 'activity_id')) AS node_id,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS by,
       CASE WHEN (e.entry OPERATOR(pg_catalog.->>) 'is_start')::boolean THEN i.started_actor ELSE e.entry OPERATOR(pg_catalog.->>) 'actor' END AS actor
FROM workflow.execution_log l
CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(workflow._events(l.instance_id, l.events)) WITH ORDINALITY AS e (entry, number)
LEFT JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) l.instance_id
LEFT JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) (e.entry OPERATOR(pg_catalog.->>) 'role')::integer
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances'])
   OR i.id IS NULL
      AND (e.entry OPERATOR(pg_catalog.->) 'data' OPERATOR(pg_catalog.->>) 'definition_id')
          OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.definition_id FROM workflow.my_definitions d));

COMMENT ON VIEW workflow.journal IS 'what happened in instances: one row per event';
COMMENT ON COLUMN workflow.journal.by IS 'the role whose call caused the event; NULL: the engine';
COMMENT ON COLUMN workflow.journal.actor IS 'the actor for whom that role acted';

-- The acts recorded in journal rows. `owner` may see who answered; for a child that is the engine, which passes the answer on.
CREATE VIEW workflow._acts AS
SELECT l.instance_id, l.seq, COALESCE(a.at, l.created_at) AS at, a.kind, i.definition_id, i.definition_version_id, i.correlation_id,
       COALESCE(a.activity, t.activity_id) AS activity, t.name AS task, a.bookmark_id,
       CASE WHEN i.parent_instance_id IS NULL THEN i.owner END AS owner, a.role, a.login,
       CASE WHEN a.kind OPERATOR(pg_catalog.=) 'start' THEN i.started_actor ELSE a.actor END AS actor,
       CASE WHEN t.completed_by IS NOT NULL AND a.kind OPERATOR(pg_catalog.=) ANY (ARRAY['complete task', 'override task'])
                 AND (t.status OPERATOR(pg_catalog.=) 'Cancelled' OR t.completed_for IS NOT NULL)
            THEN COALESCE(a.detail, '{}'::jsonb)
                OPERATOR(pg_catalog.||) CASE WHEN t.status OPERATOR(pg_catalog.=) 'Cancelled' THEN '{"used": false}'::jsonb ELSE '{}'::jsonb END
                OPERATOR(pg_catalog.||) CASE WHEN t.completed_for IS NOT NULL THEN pg_catalog.jsonb_build_object('for', CASE WHEN f.id IS NULL THEN t.completed_for
                        ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(f.role_oid, f.name))::text, f.name)) END) ELSE '{}'::jsonb END
            ELSE a.detail END AS detail
FROM workflow.execution_log l
JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) l.instance_id
CROSS JOIN LATERAL workflow._act(l.events) AS a
LEFT JOIN workflow.tasks t ON t.id OPERATOR(pg_catalog.=) a.bookmark_id
LEFT JOIN workflow.owners f ON t.completed_for IS NOT NULL AND pg_catalog.concat('role:', f.id) OPERATOR(pg_catalog.=) t.completed_for
WHERE a.kind IS NOT NULL;

COMMENT ON VIEW workflow._acts IS 'acts in the journal, for workflow.audit and for calls that remove rows of the journal';

-- A role that may not read an instance's definition sees only who answered the tasks of its own instances.
CREATE VIEW workflow.audit WITH (security_barrier) AS
SELECT g.at, g.kind, g.definition_id, g.instance_id, g.correlation_id,
       CASE WHEN g.may_read THEN g.activity END AS activity, CASE WHEN g.may_read THEN g.task END AS task,
       CASE WHEN g.may_read THEN g.bookmark_id END AS bookmark_id,
       CASE WHEN g.may_read OR g.actor IS NULL THEN COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(r.role_oid, r.name))::text, r.name) END AS role,
       CASE WHEN g.may_read THEN COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(s.role_oid, s.name))::text, s.name) END AS login,
       g.actor, CASE WHEN g.may_read THEN g.detail END AS detail
FROM (SELECT j.at, j.kind, j.definition_id, j.instance_id, j.correlation_id, j.activity, j.task, j.bookmark_id, j.owner, j.role, j.login, j.actor, j.detail,
             j.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d)) AS may_read
      FROM workflow._acts j
      UNION ALL
      SELECT l.at, l.kind, l.definition_id, l.instance_id, l.correlation_id, l.activity, l.task, l.bookmark_id, l.owner, l.role, l.login, l.actor, l.detail,
             CASE WHEN l.definition_id IS NULL THEN l.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
                  ELSE l.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.definition_id FROM workflow.my_definitions d
                                                                         UNION SELECT n.definition_id FROM workflow.definition_ids n
                                                                         WHERE n.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m)))) END
             OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE')
      FROM workflow.audit_log l) g
LEFT JOIN workflow.owners r ON r.id OPERATOR(pg_catalog.=) g.role
LEFT JOIN workflow.owners s ON s.id OPERATOR(pg_catalog.=) g.login
WHERE g.may_read
   OR g.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND (g.kind OPERATOR(pg_catalog.=) ANY (ARRAY['complete task', 'override task'])
           OR g.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']));

COMMENT ON VIEW workflow.audit IS 'who did what: one row for each act';
COMMENT ON COLUMN workflow.audit.at IS 'by the clock of the server, not by workflow.now';
COMMENT ON COLUMN workflow.audit.bookmark_id IS 'a task has the id of its bookmark';
COMMENT ON COLUMN workflow.audit.role IS 'the role whose rights were in force';
COMMENT ON COLUMN workflow.audit.login IS 'the role of the session, if it is another one';
COMMENT ON COLUMN workflow.audit.actor IS 'the person for whom that role acted';
