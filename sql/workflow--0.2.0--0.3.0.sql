/*
 * From 0.2.0 to 0.3.0.
 */

-- A library of 0.2.0 cannot read the state of an instance with attempts.
ALTER TABLE workflow.schema_1 RENAME TO schema_2;

COMMENT ON COLUMN workflow.bookmarks.hash IS 'SHA-256 of the stimulus: name, payload and, if included, activity instance; NULL for a task, which is met by its id, and for what no stimulus meets';

ALTER TABLE workflow.bookmarks
    ADD COLUMN priority     integer,
    ADD COLUMN claims       integer,
    ADD COLUMN available_at timestamptz,
    ADD COLUMN lease_until  timestamptz,
    ADD COLUMN token        uuid,
    ADD COLUMN worker       text,
    ADD COLUMN progress     jsonb,
    ADD COLUMN last_error   text;

COMMENT ON COLUMN workflow.bookmarks.priority IS 'of a task: workers claim a higher one first; NULL is 0';
COMMENT ON COLUMN workflow.bookmarks.claims IS 'of a task: number of its attempts, which the claims of workers count';
COMMENT ON COLUMN workflow.bookmarks.available_at IS 'of a task: NULL if it can be claimed, else the earliest instant at which it could be; infinity: a worker makes the last attempt';
COMMENT ON COLUMN workflow.bookmarks.lease_until IS 'of a task: until when a worker holds it; a heartbeat moves it';
COMMENT ON COLUMN workflow.bookmarks.token IS 'of a task: what the worker that claimed it last proves it with';
COMMENT ON COLUMN workflow.bookmarks.worker IS 'of a task: name of the worker that claimed it last';
COMMENT ON COLUMN workflow.bookmarks.progress IS 'of a task: what a worker noted with its heartbeats';
COMMENT ON COLUMN workflow.bookmarks.last_error IS 'of a task: why its last attempt failed that a worker reported';

DROP INDEX workflow.bookmarks_inbox_idx;
CREATE INDEX bookmarks_inbox_idx ON workflow.bookmarks
    ((payload OPERATOR(pg_catalog.->>) 'TaskName'), available_at NULLS FIRST, (COALESCE(priority, 0)) DESC, created_at)
    WHERE activity_type IS NOT DISTINCT FROM 'Elsa.RunTask';

ALTER TABLE workflow.tasks ADD COLUMN token uuid;

COMMENT ON COLUMN workflow.tasks.status IS 'Open, Completed, Failed or Cancelled';
COMMENT ON COLUMN workflow.tasks.token IS 'of a task that a worker completed or gave up: the token with which it did';

ALTER TABLE workflow.incidents ADD COLUMN code text;

COMMENT ON COLUMN workflow.incidents.code IS 'by which retry policies and catches name the fault, if it is no error of PostgreSQL';

CREATE OR REPLACE VIEW workflow.open_tasks WITH (security_barrier) AS
SELECT t.id AS task_id, t.instance_id, i.definition_id, t.activity_id,
       b.payload OPERATOR(pg_catalog.->>) 'TaskName' AS name, t.payload, t.correlation_id, b.created_at,
       COALESCE(b.priority, 0) AS priority, COALESCE(b.claims, 0) AS attempt, b.available_at, b.lease_until, b.worker, b.progress,
       b.last_error
FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id OPERATOR(pg_catalog.=) b.id
     JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
  AND (i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
       OR i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d)));

COMMENT ON COLUMN workflow.open_tasks.attempt IS 'number of attempts, the present one included';
COMMENT ON COLUMN workflow.open_tasks.available_at IS 'NULL if a worker can claim it now, else the earliest instant; infinity: a worker makes the last attempt';
COMMENT ON COLUMN workflow.open_tasks.lease_until IS 'until when a worker holds it';

CREATE OR REPLACE VIEW workflow.open_incidents WITH (security_barrier) AS
SELECT n.id AS incident_id, n.instance_id, i.definition_id, n.activity_id, n.activity_type, n.created_at, n.sqlstate,
       n.message, n.detail, n.hint, n.context, n.code
FROM workflow.incidents n JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) n.instance_id
WHERE n.resolved_at IS NULL
  AND (i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
       OR i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d)));

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
    WHERE t.status NOT IN ('Open', 'Completed', 'Failed', 'Cancelled')
    UNION ALL
    SELECT 'hash of a wrong length', b.id::text
    FROM workflow.bookmarks b
    WHERE octet_length(b.hash) <> 32
    UNION ALL
    SELECT 'bookmark without hash that a stimulus is to meet', b.id::text
    FROM workflow.bookmarks b
    WHERE (b.hash IS NULL OR b.hash_key IS NULL)
      AND NOT (b.activity_type = 'Elsa.RunTask' AND b.name = b.activity_type) AND b.name NOT IN ('Workflow.Retry', 'Workflow.Timeout', 'Workflow.Lease')
    UNION ALL
    SELECT 'last lease of a task without the bookmark of its end', b.id::text
    FROM workflow.bookmarks b
    WHERE b.available_at = 'infinity'
      AND NOT EXISTS (SELECT FROM workflow.bookmarks e WHERE e.instance_id = b.instance_id AND e.name = 'Workflow.Lease'
                        AND e.activity_instance_id = b.activity_instance_id)
    UNION ALL
    SELECT 'end of a lease without its task', e.id::text
    FROM workflow.bookmarks e
    WHERE e.name = 'Workflow.Lease'
      AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = e.instance_id AND b.available_at = 'infinity'
                        AND b.activity_instance_id = e.activity_instance_id)
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

CREATE FUNCTION workflow._claim_tasks(names text[], worker text, max integer, lease interval)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_claim_tasks';

COMMENT ON FUNCTION workflow._claim_tasks(text[], text, integer, interval) IS 'claimed tasks as a JSON array, for wf_claim_tasks';

CREATE FUNCTION wf_claim_tasks(names text[] DEFAULT NULL, worker text DEFAULT NULL, max integer DEFAULT 1, lease interval DEFAULT '5 min')
RETURNS TABLE (task_id uuid, token uuid, name text, payload jsonb, correlation_id text, instance_id uuid, definition_id text,
               activity_id text, owner name, attempt integer, max_attempts integer, priority integer, lease_until timestamptz, progress jsonb)
LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT c.task_id, c.token, c.name, c.payload, c.correlation_id, c.instance_id, c.definition_id,
           c.activity_id, c.owner, c.attempt, c.max_attempts, c.priority, c.lease_until, c.progress
    FROM pg_catalog.jsonb_to_recordset(workflow._claim_tasks(names, worker, max, lease))
         AS c (task_id uuid, token uuid, name text, payload jsonb, correlation_id text, instance_id uuid, definition_id text,
               activity_id text, owner name, attempt integer, max_attempts integer, priority integer, lease_until timestamptz, progress jsonb);
END;

COMMENT ON FUNCTION wf_claim_tasks(text[], text, integer, interval) IS
    'claim open tasks for a worker, those with a higher priority first, then older ones; a token proves the claim until the lease ends';

CREATE FUNCTION wf_extend_task(task_id uuid, token uuid, lease interval DEFAULT '5 min', progress jsonb DEFAULT NULL)
RETURNS timestamptz LANGUAGE c AS 'MODULE_PATHNAME', 'wf_extend_task';

COMMENT ON FUNCTION wf_extend_task(uuid, uuid, interval, jsonb) IS
    'prolong the lease of a claimed task and note the progress; NULL: the worker does not hold the task any more';

CREATE FUNCTION wf_release_task(task_id uuid, token uuid)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_release_task';

COMMENT ON FUNCTION wf_release_task(uuid, uuid) IS 'give a claimed task back, as if it had not been claimed; false if the worker does not hold it any more';

CREATE FUNCTION wf_fail_task(
    task_id  uuid,
    token    uuid,
    message  text,
    detail   text     DEFAULT NULL,
    code     text     DEFAULT NULL,
    retry_in interval DEFAULT NULL,
    retry    boolean  DEFAULT true,
    on_fault text     DEFAULT NULL
) RETURNS text LANGUAGE c AS 'MODULE_PATHNAME', 'wf_fail_task';

COMMENT ON FUNCTION wf_fail_task(uuid, uuid, text, text, text, interval, boolean, text) IS
    'end an attempt of a claimed task with a failure; Open: it is tried again, Failed: its activity has faulted';

CREATE FUNCTION workflow._complete_tasks(answers jsonb)
RETURNS jsonb LANGUAGE c AS 'MODULE_PATHNAME', 'wf_complete_tasks';

COMMENT ON FUNCTION workflow._complete_tasks(jsonb) IS 'outcomes as a JSON array, for wf_complete_tasks';

-- No search path of its own: SQL of workflows that answers set off may run with the caller's.
CREATE FUNCTION wf_complete_tasks(answers jsonb)
RETURNS TABLE (task_id uuid, outcome text, sub_status text, message text)
LANGUAGE sql
BEGIN ATOMIC
    SELECT a.task_id, a.outcome, a.sub_status, a.message
    FROM pg_catalog.jsonb_to_recordset(workflow._complete_tasks(answers))
         AS a (task_id uuid, outcome text, sub_status text, message text);
END;

COMMENT ON FUNCTION wf_complete_tasks(jsonb) IS
    'answers [{"taskId", "token", "result" | "error"}] for claimed tasks; one that is refused stops no other';

CREATE OR REPLACE FUNCTION workflow._intended_grants()
RETURNS TABLE (kind text, name text, privilege text, grantee text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    VALUES ('schema', 'workflow', 'USAGE', 'public'),
           ('type', '*', 'USAGE', 'public'),
           -- Counts without contents.
           ('relation', 'health', 'SELECT', 'pg_monitor'),
           ('function', 'wf_check', 'EXECUTE', 'pg_monitor'),
           ('function', '_check', 'EXECUTE', 'pg_monitor'),
           ('function', '_check_rights', 'EXECUTE', 'pg_monitor')
    UNION ALL
    -- These views filter by themselves.
    SELECT 'relation', v.name, 'SELECT', 'public'
    FROM unnest(ARRAY['definition_list', 'definition_links', 'instance_list', 'waiting', 'open_bookmarks', 'open_tasks', 'open_incidents',
                      'trigger_list', 'event_grant_list', 'path_list', 'journal', 'schedules', 'schedule_runs', 'dead_letter_list', 'workers']) AS v (name)
    UNION ALL
    -- These functions look at their argument, at what is built in, or at what the current role may see.
    SELECT 'function', f.name, 'EXECUTE', 'public'
    FROM unnest(ARRAY['_events', '_role_of', '_run_status', '_activities', '_activity_list', '_flow_ports', '_validate', '_cron_preview', '_worker_status',
                      'instance_state', 'wf_validate', 'wf_activities', 'wf_cron_preview', 'wf_version', '_stored_role_oid', '_stored_role_name']) AS f (name)
    UNION ALL
    SELECT 'function', f.name, 'EXECUTE', NULL
    FROM unnest(ARRAY['_adopt_database', 'wf_alter_schedule', 'wf_cancel', 'wf_claim_tasks', '_claim_tasks', 'wf_complete_task', 'wf_complete_tasks',
                      '_complete_tasks', 'wf_define', 'wf_delete_definition', 'wf_delete_instance', 'wf_diagram',
                      'wf_enqueue_bookmark', 'wf_explain', '_explain', 'wf_export', 'wf_extend_task', 'wf_fail_task', 'wf_grant', '_grant', 'wf_grant_events', '_grant_events',
                      'wf_http_request', 'wf_publish', 'wf_publish_event', 'wf_refresh', 'wf_register_activity', 'wf_release_task', 'wf_replay', 'wf_resume',
                      'wf_retract', 'wf_retry', 'wf_revoke', '_revoke', 'wf_revoke_events', '_revoke_events', 'wf_run', 'wf_run_due',
                      'wf_schedule', 'wf_schedule_run_now', 'wf_schedule_workflow', 'wf_send_stimulus', 'wf_set_owner', 'wf_start', 'wf_svg',
                      'wf_unschedule']) AS f (name)
$$;

CALL workflow._set_rights();
