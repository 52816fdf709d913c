-- A command that was running when the server crashed has 57P02, PostgreSQL's code for that.
CREATE FUNCTION workflow._run_status(sub_status text, sqlstate text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
       WHEN sub_status OPERATOR(pg_catalog.=) 'Pending' THEN 'pending'
       WHEN sub_status OPERATOR(pg_catalog.=) 'Finished' THEN 'succeeded'
       WHEN sub_status OPERATOR(pg_catalog.=) 'Cancelled' THEN 'cancelled'
       WHEN sub_status OPERATOR(pg_catalog.=) 'Faulted' AND sqlstate OPERATOR(pg_catalog.=) '57P02' THEN 'interrupted'
       WHEN sub_status OPERATOR(pg_catalog.=) 'Faulted' THEN 'failed'
       WHEN sub_status IS NOT NULL THEN 'running' END;

COMMENT ON FUNCTION workflow._run_status(text, text) IS 'status of a run as schedulers name it, for the views';

CREATE VIEW workflow.my_instances WITH (security_barrier) AS
SELECT i.id
FROM workflow.instances i CROSS JOIN (SELECT) read_only
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

COMMENT ON VIEW workflow.my_instances IS 'instances that the current role may read';

CREATE VIEW workflow.instance_list WITH (security_barrier) AS
SELECT i.id AS instance_id, i.definition_id, i.version, i.name, i.correlation_id, i.status,
       CASE WHEN i.cancelling_at IS NOT NULL AND i.sub_status OPERATOR(pg_catalog.=) 'Suspended' THEN 'Cancelling' ELSE i.sub_status END AS sub_status,
       CASE WHEN may.read OR i.continued_from IS NULL THEN i.input END AS input, i.output,
       CASE WHEN may.read THEN i.variables END AS variables, i.incident_count, COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, i.parent_instance_id,
       i.created_at, i.updated_at, i.finished_at, i.cancelling_at, i.continued_from,
       i.paused_at,
       CASE WHEN may.read THEN COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(r.role_oid, r.name))::text, r.name) END AS paused_by,
       CASE WHEN may.read THEN p.reason END AS pause_reason,
       i.definition_version_id,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(s.role_oid, s.name))::text, s.name) AS started_by, i.started_actor,
       i.traceparent
FROM workflow.instances i JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) i.owner
     LEFT JOIN workflow.owners s ON s.id OPERATOR(pg_catalog.=) COALESCE(i.started_by, i.owner)
     LEFT JOIN (workflow.pauses p JOIN workflow.owners r ON r.id OPERATOR(pg_catalog.=) p.paused_by)
          ON p.instance_id OPERATOR(pg_catalog.=) i.id AND i.paused_at IS NOT NULL
     CROSS JOIN LATERAL (SELECT i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
                         OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
                            AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances'])) AS may (read)
WHERE may.read OR i.parent_instance_id IS NULL AND i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.instance_list IS 'instances that the current role may read';
COMMENT ON COLUMN workflow.instance_list.sub_status IS 'Cancelling: its cancellation handlers are still to run';
COMMENT ON COLUMN workflow.instance_list.continued_from IS 'the instance that this one continues';
COMMENT ON COLUMN workflow.instance_list.paused_at IS 'since when it is paused';
COMMENT ON COLUMN workflow.instance_list.paused_by IS 'the role that paused it';
COMMENT ON COLUMN workflow.instance_list.definition_version_id IS 'id of the version that it runs, as version_id of workflow.definition_list';
COMMENT ON COLUMN workflow.instance_list.started_by IS 'the role that started it: the sender of its event, the creator of its schedule, or the starter of its parent';
COMMENT ON COLUMN workflow.instance_list.started_actor IS 'the actor for whom that role acted';
COMMENT ON COLUMN workflow.instance_list.traceparent IS 'the trace that it belongs to';

CREATE VIEW workflow.search_attribute_list WITH (security_barrier) AS
SELECT s.instance_id, s.definition_id, s.name, s.text, s.number, s.instant
FROM workflow.search_attributes s JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) s.instance_id
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d));

COMMENT ON VIEW workflow.search_attribute_list IS 'values by which instances that the current role may read are found, one of text, number and instant for each search attribute';

CREATE VIEW workflow.waiting WITH (security_barrier) AS
SELECT b.instance_id AS instance, b.activity_id AS activity, b.created_at AS since,
       CASE WHEN b.paused_at IS NULL OR b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask' THEN b.due_at ELSE b.due_when_paused END AS due,
       b.id AS bookmark_id, b.correlation_id, b.name AS waits_for, i.definition_id,
       COALESCE(b.attempts, 0) AS attempts,
       (SELECT q.id FROM workflow.dead_letters q
        WHERE b.due_at IS NULL AND q.bookmark_id OPERATOR(pg_catalog.=) b.id AND q.due_at IS NOT NULL AND q.replayed_at IS NULL
        ORDER BY q.id DESC LIMIT 1) AS dead_letter_id,
       (SELECT q.last_error FROM workflow.dead_letters q
        WHERE b.due_at IS NULL AND q.bookmark_id OPERATOR(pg_catalog.=) b.id AND q.due_at IS NOT NULL AND q.replayed_at IS NULL
        ORDER BY q.id DESC LIMIT 1) AS last_error,
       i.paused_at,
       -- The metadata of an imported bundle can contain anything.
       CASE WHEN b.name OPERATOR(pg_catalog.<>) 'Workflow.Retry' THEN COALESCE(b.claims, 0)
            WHEN (b.metadata OPERATOR(pg_catalog.->>) 'Attempt') OPERATOR(pg_catalog.~) '^[0-9]{1,9}$' THEN (b.metadata OPERATOR(pg_catalog.->>) 'Attempt')::integer
            ELSE 0 END AS attempt, b.lease_until, b.worker
FROM workflow.bookmarks b JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

COMMENT ON VIEW workflow.waiting IS 'bookmarks at which instances wait, since when, and until when';
COMMENT ON COLUMN workflow.waiting.paused_at IS 'since when its instance is paused: neither a stimulus nor a due time resumes it';
COMMENT ON COLUMN workflow.waiting.attempt IS 'number of attempts at a task, including the present one, or of an activity that will be tried again';
COMMENT ON COLUMN workflow.waiting.lease_until IS 'of a task: until when a task worker holds or held it';
COMMENT ON COLUMN workflow.waiting.worker IS 'of a task: the task worker that holds or held it';
COMMENT ON COLUMN workflow.waiting.attempts IS 'how often firing the bookmark failed without an outcome';
COMMENT ON COLUMN workflow.waiting.dead_letter_id IS 'dead letter of a bookmark that was given up; wf_replay retries it';

CREATE VIEW workflow.open_bookmarks WITH (security_barrier) AS
SELECT b.id AS bookmark_id, b.instance_id, i.definition_id, b.activity_id, b.node_id, b.activity_type,
       b.activity_instance_id, b.name,
       CASE WHEN b.hash IS NULL AND b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask'
            THEN pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat('Elsa.RunTask|{"TaskId":"', b.id, '"}'), 'UTF8')) ELSE b.hash END AS hash,
       b.correlation_id,
       CASE WHEN b.hash IS NULL AND b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask' THEN b.payload OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('TaskId', b.id) ELSE b.payload END AS payload,
       b.metadata, b.callback, b.auto_burn, b.auto_complete,
       CASE WHEN b.paused_at IS NULL OR b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask' THEN b.due_at ELSE b.due_when_paused END AS due_at, b.created_at, i.paused_at
FROM workflow.bookmarks b JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

COMMENT ON VIEW workflow.open_bookmarks IS 'bookmarks with all their fields';
