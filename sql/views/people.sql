-- What people see of workflows that they may not read: what they can start, what they have requested, what they have answered.

CREATE VIEW workflow.startable_definitions WITH (security_barrier) AS
SELECT d.definition_id, d.version, d.name, d.description, d.document OPERATOR(pg_catalog.->) 'inputs' AS inputs,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner
FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
WHERE d.is_published AND d.deleted_at IS NULL
  AND (d.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
       OR d.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT g.definition_id FROM workflow.grants g
                          WHERE g.privilege OPERATOR(pg_catalog.=) 'start' AND g.role OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m)))));

COMMENT ON VIEW workflow.startable_definitions IS 'published definitions that the current role may start';
COMMENT ON COLUMN workflow.startable_definitions.inputs IS 'the inputs that it declares; NULL: none';

CREATE VIEW workflow.task_definitions WITH (security_barrier) AS
SELECT t.task_id, t.definition_id, d.name AS definition_name
FROM workflow.open_tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) i.definition_version_id;

COMMENT ON VIEW workflow.task_definitions IS 'names of the workflows of open tasks';

-- Ids are ordered by time. A query for the latest rows without ORDER BY reads no further than necessary.
CREATE VIEW workflow.my_requests WITH (security_barrier) AS
SELECT i.id AS instance_id, i.definition_id, d.name AS definition_name, i.name, i.correlation_id, i.status,
       CASE WHEN i.cancelling_at IS NOT NULL AND i.sub_status OPERATOR(pg_catalog.=) 'Suspended' THEN 'Cancelling' ELSE i.sub_status END AS sub_status,
       i.output, i.created_at, i.finished_at, i.paused_at
FROM workflow.instances i JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) i.definition_version_id
     JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) COALESCE(i.started_by, i.owner)
WHERE i.parent_instance_id IS NULL AND i.schedule_id IS NULL
  AND o.id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
  AND CASE WHEN i.started_actor IS NULL THEN pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name)) OPERATOR(pg_catalog.=) CURRENT_USER
           ELSE i.started_actor OPERATOR(pg_catalog.=) pg_catalog.current_setting('workflow.actor', true) END
ORDER BY i.id DESC;

COMMENT ON VIEW workflow.my_requests IS 'instances that the current person has started: the actor, or else the role';

-- A requester learns whom a task asks and who has answered it, whatever else he may read.
CREATE VIEW workflow.request_steps WITH (security_barrier) AS
SELECT t.instance_id, t.id AS task_id, d.name AS definition_name, t.name, t.created_at, t.deadline,
       ARRAY(SELECT CASE WHEN o.id IS NULL THEN e.entry
                         ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name)) END
             FROM pg_catalog.jsonb_array_elements_text(CASE WHEN p.assignee IS NOT NULL THEN pg_catalog.jsonb_build_array(p.assignee) ELSE p.candidates END)
                  WITH ORDINALITY AS e (entry, number)
             LEFT JOIN workflow.owners o ON pg_catalog.concat('role:', o.id) OPERATOR(pg_catalog.=) e.entry
             ORDER BY e.number) AS people,
       t.status, t.completed_at,
       CASE WHEN t.completed_by IS NOT NULL
            THEN COALESCE(t.completed_actor, pg_catalog.pg_get_userbyid(workflow._role_of(a.role_oid, a.name))::text, a.name) END AS completed_by
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) i.definition_version_id
     LEFT JOIN workflow.bookmarks b ON b.id OPERATOR(pg_catalog.=) t.id
     LEFT JOIN workflow.owners a ON a.id OPERATOR(pg_catalog.=) t.completed_by
     CROSS JOIN LATERAL (SELECT COALESCE(b.assignee, t.assignee), COALESCE(b.candidates, t.candidates)) AS p (assignee, candidates)
WHERE i.parent_instance_id IS NULL
  AND (i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_definitions m))
       OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m)));

COMMENT ON VIEW workflow.request_steps IS 'tasks of instances that the current role has requested or may read: whom they ask, and who has answered';
COMMENT ON COLUMN workflow.request_steps.people IS 'the assignee, or else the candidates';
COMMENT ON COLUMN workflow.request_steps.status IS 'Open, Completed, Failed or Cancelled';
COMMENT ON COLUMN workflow.request_steps.completed_by IS 'the actor who answered, or else the role';

CREATE VIEW workflow.my_answers WITH (security_barrier) AS
SELECT t.id AS task_id, t.instance_id, i.definition_id, d.name AS definition_name, t.correlation_id, t.name, t.payload, t.completed_at, t.result,
       t.status OPERATOR(pg_catalog.=) 'Completed' AS used
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     JOIN workflow.definitions d ON d.id OPERATOR(pg_catalog.=) i.definition_version_id
     JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) t.completed_by
WHERE t.status OPERATOR(pg_catalog.=) ANY (ARRAY['Completed', 'Cancelled'])
  AND t.completed_by OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
  AND CASE WHEN t.completed_actor IS NULL THEN pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name)) OPERATOR(pg_catalog.=) CURRENT_USER
           ELSE t.completed_actor OPERATOR(pg_catalog.=) pg_catalog.current_setting('workflow.actor', true) END
ORDER BY t.id DESC;

COMMENT ON VIEW workflow.my_answers IS 'answers of the current person: the actor, or else the role';
COMMENT ON COLUMN workflow.my_answers.used IS 'false: the activity was cancelled before the answer took effect';
