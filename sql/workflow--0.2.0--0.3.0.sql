/*
 * From 0.2.0 to 0.3.0.
 */

-- A library of 0.2.0 cannot read the state of an instance with attempts.
ALTER TABLE workflow.schema_1 RENAME TO schema_2;

COMMENT ON COLUMN workflow.bookmarks.hash IS 'SHA-256 of the stimulus: name, payload and, if included, activity instance; NULL for a task, which is met by its id, and for what no stimulus meets';

CREATE OR REPLACE VIEW workflow.open_bookmarks WITH (security_barrier) AS
SELECT b.id AS bookmark_id, b.instance_id, i.definition_id, b.activity_id, b.node_id, b.activity_type,
       b.activity_instance_id, b.name,
       CASE WHEN b.hash IS NULL AND b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask'
            THEN pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat('Elsa.RunTask|{"TaskId":"', b.id, '"}'), 'UTF8')) ELSE b.hash END AS hash,
       b.correlation_id,
       CASE WHEN b.hash IS NULL AND b.name OPERATOR(pg_catalog.=) 'Elsa.RunTask' THEN b.payload OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('TaskId', b.id) ELSE b.payload END AS payload,
       b.metadata, b.callback, b.auto_burn, b.auto_complete, b.due_at, b.created_at
FROM workflow.bookmarks b JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d));

CREATE OR REPLACE FUNCTION workflow._check()
RETURNS TABLE (problem text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'bookmark without instance', b.id::text
    FROM workflow.bookmarks b
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = b.instance_id)
    UNION ALL
    SELECT 'bookmark of an ended instance', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
    WHERE i.sub_status IN ('Finished', 'Cancelled')
    UNION ALL
    SELECT 'bookmark with another correlation id than its instance', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
    WHERE b.correlation_id IS DISTINCT FROM i.correlation_id
    UNION ALL
    SELECT 'instance that waits for nothing', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status = 'Suspended' AND i.incident_count = 0
      AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = i.id)
    UNION ALL
    SELECT 'instance that was left executing', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status = 'Executing'
    UNION ALL
    SELECT 'pending instance without a bookmark to start it', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status = 'Pending' AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = i.id)
    UNION ALL
    SELECT 'incident without instance', c.id::text
    FROM workflow.incidents c
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = c.instance_id)
    UNION ALL
    SELECT 'unknown status', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status NOT IN ('Pending', 'Executing', 'Suspended', 'Finished', 'Faulted', 'Cancelled')
    UNION ALL
    SELECT 'unknown task status', t.id::text
    FROM workflow.tasks t
    WHERE t.status NOT IN ('Open', 'Completed', 'Cancelled')
    UNION ALL
    SELECT 'hash of a wrong length', b.id::text
    FROM workflow.bookmarks b
    WHERE octet_length(b.hash) <> 32
    UNION ALL
    SELECT 'bookmark without hash that a stimulus is to meet', b.id::text
    FROM workflow.bookmarks b
    WHERE (b.hash IS NULL OR b.hash_key IS NULL)
      AND NOT (b.activity_type = 'Elsa.RunTask' AND b.name = b.activity_type) AND b.name NOT IN ('Workflow.Retry', 'Workflow.Timeout')
    UNION ALL
    SELECT 'status and sub-status disagree', i.id::text
    FROM workflow.instances i
    WHERE (i.status = 'Running') <> (i.sub_status IN ('Pending', 'Executing', 'Suspended'))
    UNION ALL
    SELECT 'finished_at and sub-status disagree', i.id::text
    FROM workflow.instances i
    WHERE (i.finished_at IS NOT NULL) <> (i.sub_status IN ('Finished', 'Cancelled'))
    UNION ALL
    SELECT 'ended instance holds an activation key', i.id::text
    FROM workflow.instances i
    WHERE i.activation_key IS NOT NULL AND i.status = 'Finished'
    UNION ALL
    SELECT 'instance without definition', i.id::text
    FROM workflow.instances i
    WHERE NOT EXISTS (SELECT FROM workflow.definitions d WHERE d.id = i.definition_version_id)
    UNION ALL
    SELECT 'definition version uses a version that does not exist', d.id::text
    FROM workflow.definitions d CROSS JOIN LATERAL jsonb_to_recordset(d.links) AS l (uses uuid)
    WHERE NOT EXISTS (SELECT FROM workflow.definitions u WHERE u.id = l.uses)
    UNION ALL
    SELECT 'instance without journal', i.id::text
    FROM workflow.instances i
    WHERE i.sub_status <> 'Pending' AND NOT EXISTS (SELECT FROM workflow.execution_log l WHERE l.instance_id = i.id)
    UNION ALL
    SELECT 'open task without bookmark', t.id::text
    FROM workflow.tasks t
    WHERE t.status = 'Open' AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.id = t.id)
    UNION ALL
    SELECT 'bookmark whose task is closed', b.id::text
    FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id = b.id
    WHERE t.status <> 'Open'
    UNION ALL
    SELECT 'trigger of a version that is not published', t.id::text
    FROM workflow.triggers t
    WHERE t.schedule_name IS NULL
      AND NOT EXISTS (SELECT FROM workflow.definitions d WHERE d.id = t.definition_version_id AND d.is_published)
    UNION ALL
    SELECT 'trigger is due without a schedule', t.id::text
    FROM workflow.triggers t
    WHERE t.schedule IS NULL AND (t.next_fire_at IS NOT NULL OR t.scheduled_at IS NOT NULL)
    UNION ALL
    SELECT 'paused schedule is due', t.id::text
    FROM workflow.triggers t
    WHERE t.next_fire_at IS NOT NULL AND NOT t.active
    UNION ALL
    SELECT 'trigger has a scheduled instant and is never due', t.id::text
    FROM workflow.triggers t
    WHERE t.scheduled_at IS NOT NULL AND t.next_fire_at IS NULL
    UNION ALL
    SELECT 'fires wait without the overlap policy "queue"', t.id::text
    FROM workflow.triggers t
    WHERE t.queued <> 0 AND (t.schedule ->> 'overlap' IS DISTINCT FROM 'queue' OR t.queued < 0)
    UNION ALL
    SELECT 'fires wait without a running instance or a due time', t.id::text
    FROM workflow.triggers t
    WHERE t.queued > 0 AND t.active AND t.next_fire_at IS NULL
      AND NOT EXISTS (SELECT FROM workflow.instances i WHERE i.schedule_id = t.id AND i.status = 'Running')
    UNION ALL
    SELECT 'owner of a schedule is unknown', t.id::text
    FROM workflow.triggers t
    WHERE t.owner IS NOT NULL AND NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = t.owner)
    UNION ALL
    SELECT 'waits for a child workflow that will not report', b.id::text
    FROM workflow.bookmarks b
    WHERE b.activity_type IN ('Elsa.ExecuteWorkflow', 'Elsa.DispatchWorkflow', 'Elsa.BulkDispatchWorkflows')
      AND b.name NOT IN ('Workflow.Retry', 'Workflow.Timeout')
      AND NOT EXISTS (SELECT FROM workflow.instances c
                      WHERE c.parent_instance_id = b.instance_id AND c.parent_bookmark_id = b.id AND c.status = 'Running')
      AND NOT EXISTS (SELECT FROM workflow.bookmark_queue q WHERE q.bookmark_id = b.id)
    UNION ALL
    SELECT 'deferred stimulus outlived its transaction', q.id::text
    FROM workflow.bookmark_queue q
    WHERE q.deferred_for IS NOT NULL
    UNION ALL
    SELECT 'owner of a path is unknown', p.segment
    FROM workflow.paths p
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = p.owner)
    UNION ALL
    SELECT 'owner is unknown', i.id::text
    FROM workflow.instances i
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = i.owner);
$$;

CALL workflow._set_rights();
