-- Checks the rules that foreign keys would enforce, and more. Returns no rows if all is well. The body is a string, so that it
-- is parsed under the function's own search path, not under the installer's.
CREATE FUNCTION workflow._check()
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
    SELECT 'bookmark of another definition owner', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
         JOIN workflow.definitions d ON d.id = i.definition_version_id
         LEFT JOIN workflow.definition_ids n ON n.definition_id = d.definition_id
         LEFT JOIN workflow.owners o ON o.id = b.definition_owner LEFT JOIN workflow.owners p ON p.id = d.owner
    WHERE CASE WHEN b.hash IS NOT NULL OR b.name = 'Elsa.RunTask' AND b.activity_type = b.name
               THEN COALESCE(o.same_as, o.id) IS DISTINCT FROM COALESCE(p.same_as, p.id)
                    AND (b.definition_owner = ANY (n.former_owners)) IS NOT TRUE
               ELSE b.definition_owner IS NOT NULL END
    UNION ALL
    SELECT 'bookmark of another instance owner', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
         LEFT JOIN workflow.owners o ON o.id = b.instance_owner LEFT JOIN workflow.owners p ON p.id = i.owner
    WHERE CASE WHEN b.hash IS NOT NULL THEN COALESCE(o.same_as, o.id) IS DISTINCT FROM COALESCE(p.same_as, p.id)
               ELSE b.instance_owner IS NOT NULL END
    UNION ALL
    SELECT 'trigger of another definition owner', t.id::text
    FROM workflow.triggers t JOIN workflow.definitions d ON d.id = t.definition_version_id
    WHERE t.definition_owner IS DISTINCT FROM CASE WHEN t.schedule_name IS NULL THEN d.owner END
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
    SELECT 'record to compensate without instance', c.instance_id::text
    FROM workflow.compensations c
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = c.instance_id)
    UNION ALL
    SELECT 'record to compensate of an ended instance', c.instance_id::text
    FROM workflow.compensations c JOIN workflow.instances i ON i.id = c.instance_id
    WHERE i.sub_status IN ('Finished', 'Cancelled')
    UNION ALL
    SELECT 'search attribute without instance', s.instance_id::text
    FROM workflow.search_attributes s
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = s.instance_id)
    UNION ALL
    SELECT 'search attribute without a single value', s.instance_id::text
    FROM workflow.search_attributes s
    WHERE num_nonnulls(s.text, s.number, s.instant) <> 1
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
      AND NOT (b.activity_type = 'Elsa.RunTask' AND b.name = b.activity_type) AND b.name NOT IN ('Workflow.Retry', 'Workflow.Timeout', 'Workflow.StartTimeout', 'Workflow.RunTimeout', 'Workflow.Lease', 'Workflow.Answer', 'Workflow.Compensation', 'Workflow.Limit', 'Workflow.Deadline', 'Workflow.Reminder')
    UNION ALL
    SELECT 'bookmark whose keys do not fit its columns', b.id::text
    FROM workflow.bookmarks b
    WHERE b.hash_key <> ('x' || encode(substr(b.hash, 1, 4), 'hex'))::bit(32)::integer
       OR b.correlation_key IS DISTINCT FROM CASE WHEN b.hash IS NOT NULL THEN COALESCE(hashtext(b.correlation_id), 0) END
       OR b.kind_key IS DISTINCT FROM CASE WHEN b.hash IS NOT NULL AND b.activity_type <> 'Elsa.RunTask'
              THEN (hashtext(b.activity_type) << 22) | ((hashtext(b.name) & 1023) << 12) | (hashtext(b.activity_id) & 4095) END
    UNION ALL
    SELECT 'last lease of a task without the bookmark of its end', b.id::text
    FROM workflow.bookmarks b
    WHERE COALESCE(b.due_when_paused, b.available_at) = 'infinity' AND b.name = 'Elsa.RunTask'
      AND NOT EXISTS (SELECT FROM workflow.bookmarks e WHERE e.instance_id = b.instance_id AND e.name = 'Workflow.Lease'
                        AND e.activity_instance_id = b.activity_instance_id)
    UNION ALL
    SELECT 'end of a lease without its task', e.id::text
    FROM workflow.bookmarks e
    WHERE e.name = 'Workflow.Lease'
      AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = e.instance_id AND COALESCE(b.due_when_paused, b.available_at) = 'infinity'
                        AND b.activity_instance_id = e.activity_instance_id)
    UNION ALL
    SELECT 'kept answer of a task that is not answered', b.id::text
    FROM workflow.bookmarks b
    WHERE b.name = 'Workflow.Answer'
      AND NOT EXISTS (SELECT FROM workflow.tasks t WHERE t.id::text = b.payload ->> 'Task' AND t.instance_id = b.instance_id
                        AND t.status IN ('Completed', 'Failed'))
    UNION ALL
    SELECT 'task is assigned to an unknown role', b.id::text
    FROM workflow.bookmarks b
    WHERE EXISTS (SELECT FROM (SELECT b.assignee UNION ALL
                               SELECT c #>> '{}' FROM jsonb_path_query(b.candidates, 'lax $[*]') AS c) AS e (entry)
                  WHERE e.entry LIKE 'role:%' AND NOT EXISTS (SELECT FROM workflow.owners o WHERE 'role:' || o.id = e.entry))
    UNION ALL
    SELECT 'status and sub-status disagree', i.id::text
    FROM workflow.instances i
    WHERE (i.status = 'Running') <> (i.sub_status IN ('Pending', 'Executing', 'Suspended'))
    UNION ALL
    SELECT 'finished_at and sub-status disagree', i.id::text
    FROM workflow.instances i
    WHERE CASE WHEN i.sub_status = 'Faulted' THEN i.finished_at IS NOT NULL AND EXISTS (SELECT FROM workflow.bookmarks b WHERE b.instance_id = i.id)
               ELSE (i.finished_at IS NOT NULL) <> (i.sub_status IN ('Finished', 'Cancelled')) END
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
      -- options.journal may say that there is none. Names of members count in any letter case.
      AND NOT EXISTS (SELECT FROM workflow.definitions d
                      WHERE d.id = i.definition_version_id AND lower(d.document::text)::jsonb #> '{options,journal}' IS NOT NULL)
    UNION ALL
    SELECT 'open task without bookmark', t.id::text
    FROM workflow.tasks t
    WHERE t.status = 'Open' AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.id = t.id)
    UNION ALL
    SELECT 'bookmark whose task is closed', b.id::text
    FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id = b.id
    WHERE t.status <> 'Open'
    UNION ALL
    SELECT 'slot without limit', s.id::text
    FROM workflow.slots s
    WHERE NOT EXISTS (SELECT FROM workflow.limits l WHERE l.id = s.limit_id)
    UNION ALL
    SELECT 'more slots of a period than the limit permits', s.id::text
    FROM workflow.slots s JOIN workflow.limits l ON l.id = s.limit_id
    WHERE substr(s.place, 1, 1) = 'r' AND s.n > COALESCE(l.rate, 0) AND s.taken_at < now() - l.per * INTERVAL '1 microsecond'
    UNION ALL
    SELECT 'lease without a slot of its limit', b.id::text
    FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id = b.id
         JOIN workflow.instances i ON i.id = b.instance_id
         JOIN workflow.definitions d ON d.id = i.definition_version_id
         JOIN workflow.limits l ON l.owner = d.owner AND l.name = t.name
    WHERE b.token IS NOT NULL AND b.lease_until IS NOT NULL AND l.concurrency IS NOT NULL
      AND (l.key IS NULL OR t.payload ->> l.key IS NOT NULL)
      AND (SELECT count(*) FROM workflow.slots s WHERE s.limit_id = l.id AND s.task = b.id AND s.token = b.token) <> 1
    UNION ALL
    SELECT 'directory of people cannot be asked', d.function
    FROM workflow.directory d LEFT JOIN workflow.owners o ON o.id = d.owner
         LEFT JOIN pg_proc p ON p.oid = to_regprocedure(d.function || '(text)')
    WHERE p.proowner IS DISTINCT FROM workflow._role_of(o.role_oid, o.name) OR p.oid IS NULL OR p.provolatile = 'v'
    UNION ALL
    SELECT 'owner of a limit is unknown', l.id::text
    FROM workflow.limits l
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = l.owner)
    UNION ALL
    SELECT 'lane of a task whose name has no limit', b.id::text
    FROM workflow.bookmarks b
    WHERE b.lane IS NOT NULL AND b.name <> 'Workflow.Limit'
      AND NOT EXISTS (SELECT FROM workflow.limits l WHERE l.name = b.payload ->> 'TaskName')
    UNION ALL
    SELECT 'lane and available_at of a task disagree', b.id::text
    FROM workflow.bookmarks b
    WHERE CASE WHEN b.lane IS NULL THEN b.available_at = '-infinity' ELSE b.available_at IS NULL END
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
      AND b.name NOT IN ('Workflow.Retry', 'Workflow.Timeout', 'Workflow.RunTimeout')
      AND NOT EXISTS (SELECT FROM workflow.instances c
                      WHERE c.parent_instance_id = b.instance_id AND c.parent_bookmark_id = b.id AND c.status = 'Running')
      AND NOT EXISTS (SELECT FROM workflow.bookmark_queue q WHERE q.bookmark_id = b.id)
    UNION ALL
    SELECT 'deferred stimulus outlived its transaction', q.id::text
    FROM workflow.bookmark_queue q
    WHERE q.deferred_for IS NOT NULL
    UNION ALL
    SELECT 'paused instance without its pause', i.id::text
    FROM workflow.instances i
    WHERE i.paused_at IS NOT NULL AND NOT EXISTS (SELECT FROM workflow.pauses p WHERE p.instance_id = i.id AND p.paused_at = i.paused_at)
    UNION ALL
    SELECT 'pause of an instance that is not paused', p.instance_id::text
    FROM workflow.pauses p
    WHERE NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = p.instance_id AND i.paused_at IS NOT NULL AND i.finished_at IS NULL)
    UNION ALL
    SELECT 'role of a pause is unknown', p.instance_id::text
    FROM workflow.pauses p
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = p.paused_by)
    UNION ALL
    SELECT 'bookmark stands still in an instance that is not paused', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
    WHERE b.paused_at IS NOT NULL AND i.paused_at IS NULL
    UNION ALL
    SELECT 'task of a paused instance can be claimed', b.id::text
    FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id
    WHERE i.paused_at IS NOT NULL AND b.name = 'Elsa.RunTask' AND (b.paused_at IS NULL OR b.available_at IS DISTINCT FROM 'infinity')
    UNION ALL
    SELECT 'role of a save is unknown', d.id::text
    FROM workflow.definitions d
    WHERE d.saved_by IS NOT NULL AND NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = d.saved_by)
    UNION ALL
    SELECT 'published version is a draft', d.id::text
    FROM workflow.definitions d
    WHERE d.is_published AND (d.is_draft OR d.numbering IS NULL)
    UNION ALL
    SELECT 'version belongs to another role than its id', d.id::text
    FROM workflow.definitions d
    WHERE d.definition_id NOT IN ('Workflow.ScheduledCommand', 'Workflow.MigrateInstances')
      AND NOT EXISTS (SELECT FROM workflow.definition_ids n WHERE n.definition_id = d.definition_id AND n.owner = d.owner)
    UNION ALL
    SELECT 'owner of a definition id is unknown', n.definition_id
    FROM workflow.definition_ids n
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = n.owner)
    UNION ALL
    SELECT 'owner of a path is unknown', p.segment
    FROM workflow.paths p
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = p.owner)
    UNION ALL
    SELECT 'role of a task grant is unknown', g.id::text
    FROM workflow.task_grants g
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = g.role) OR NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = g.grantor)
    UNION ALL
    SELECT 'role of a substitute is unknown', s.person || ' ' || s.substitute
    FROM workflow.substitutes s
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = s.set_by)
       OR EXISTS (SELECT FROM unnest(ARRAY[s.person, s.substitute]) AS e (entry)
                  WHERE e.entry LIKE 'role:%' AND NOT EXISTS (SELECT FROM workflow.owners o WHERE concat('role:', o.id) = e.entry))
    UNION ALL
    SELECT 'worker or owner of accepted tasks is unknown', a.worker::text || ' ' || a.owner
    FROM workflow.accepted_owners a
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = a.worker) OR NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = a.owner)
    UNION ALL
    SELECT 'tasks that a worker is granted and does not accept', format('worker %s, owner %s', g.worker::regrole, g.owner::regrole)
    FROM (SELECT DISTINCT workflow._role_of(w.role_oid, w.name) AS worker, workflow._role_of(o.role_oid, o.name) AS owner
          FROM workflow.task_grants t LEFT JOIN workflow.definition_ids n ON n.definition_id = t.definition_id
               JOIN workflow.owners w ON w.id = t.role JOIN workflow.owners o ON o.id = COALESCE(n.owner, t.grantor)) g
    WHERE NOT workflow._accepts_tasks(g.worker, g.owner)
    UNION ALL
    SELECT 'owner is unknown', i.id::text
    FROM workflow.instances i
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = i.owner)
    UNION ALL
    SELECT r.problem, r.detail FROM workflow._check_route() r WHERE current_setting('workflow.route_check', true) <> '';
$$;

COMMENT ON FUNCTION workflow._check() IS 'rows that break a rule, for wf_check';

CREATE FUNCTION wf_check()
RETURNS TABLE (problem text, detail text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT c.problem, c.detail FROM workflow._check() c
    UNION ALL
    SELECT r.problem, r.detail FROM workflow._check_rights() r;
END;

COMMENT ON FUNCTION wf_check() IS 'rows that break a rule, and rights that roles other than the owner should not have; without rows all is well';

-- Only counts, for pg_monitor. Everything is read through indexes, and about 10,000 rows of a table at most: a larger number is
-- returned as the number that was read, and workflow_metric_capped names it. The settings exclude plans that read whole tables, which PostgreSQL
-- may choose while its statistics are outdated, and compiling the query, which takes longer than running it. A task is open while
-- its bookmark exists.
CREATE FUNCTION wf_metrics()
RETURNS TABLE (name text, type text, help text, labels jsonb, value double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    WITH RECURSIVE task_names AS (
        -- The first name of the index on open tasks, and after each name the next one: one probe for each. Behind the 500th all others
        -- count together.
        (SELECT b.definition_owner AS owner, b.payload ->> 'TaskName' AS name, 1 AS number
         FROM workflow.bookmarks b
         WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
         ORDER BY b.definition_owner, b.payload ->> 'TaskName' LIMIT 1)
        UNION ALL
        SELECT f.owner, f.name, n.number + 1
        FROM task_names n CROSS JOIN LATERAL (
            SELECT b.definition_owner AS owner, b.payload ->> 'TaskName' AS name
            FROM workflow.bookmarks b
            WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
              AND (b.definition_owner, b.payload ->> 'TaskName') > (n.owner, n.name)
            ORDER BY b.definition_owner, b.payload ->> 'TaskName' LIMIT 1) f
        WHERE n.number <= 500
    ), share AS (
        -- What is read for each name, so that all of them together read about 10,000 rows.
        SELECT greatest(100, 10000 / greatest(1, count(*))) AS rows FROM task_names
    ), open_tasks AS (
        SELECT n.name, c.count, c.oldest, c.count = (SELECT s.rows FROM share s) AS is_capped
        FROM task_names n CROSS JOIN LATERAL (
            SELECT count(*) AS count, min(t.created_at) AS oldest
            FROM (SELECT b.created_at FROM workflow.bookmarks b
                  WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
                    AND b.definition_owner = n.owner AND b.payload ->> 'TaskName' = n.name
                  LIMIT (SELECT s.rows FROM share s)) t) c
        WHERE n.number <= 500
        UNION ALL
        SELECT 'other', c.count, c.oldest, c.count = (SELECT s.rows FROM share s)
        FROM task_names n CROSS JOIN LATERAL (
            SELECT count(*) AS count, min(t.created_at) AS oldest
            FROM (SELECT b.created_at FROM workflow.bookmarks b
                  WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
                    AND (b.definition_owner, b.payload ->> 'TaskName') >= (n.owner, n.name)
                  LIMIT (SELECT s.rows FROM share s)) t) c
        WHERE n.number = 501
    ), tasks AS (
        SELECT o.name, sum(o.count)::double precision AS count, extract(epoch FROM now() - min(o.oldest))::double precision AS age,
               bool_or(o.is_capped) AS is_capped
        FROM open_tasks o GROUP BY o.name
    ), limit_rows AS (
        SELECT k.name, k.id, k.concurrency FROM workflow.limits k ORDER BY k.name LIMIT 10000
    ), limits AS (
        SELECT CASE WHEN dense_rank() OVER (ORDER BY l.name) <= 500 THEN l.name ELSE 'other' END AS name, l.id, l.concurrency
        FROM limit_rows l
        WHERE l.concurrency IS NOT NULL
    ), slot_rows AS (
        SELECT l.name, l.id, l.concurrency, s.place, s.task, s.token
        FROM limits l JOIN workflow.slots s ON s.limit_id = l.id AND s.place >= 'c' AND s.place < 'd' AND s.n <= l.concurrency
        LIMIT 10000
    ), slots AS (
        -- A slot is free when its task has ended, when another lease has its token, or when the lease has expired.
        SELECT s.name, s.id, s.place, s.concurrency, count(b.id) AS held
        FROM slot_rows s LEFT JOIN workflow.bookmarks b ON b.id = s.task AND b.token = s.token AND b.lease_until > now()
        GROUP BY s.name, s.id, s.place, s.concurrency
    ), slots_of_names AS (
        SELECT l.name, coalesce(sum(s.held), 0)::double precision AS held, count(*) FILTER (WHERE s.held >= s.concurrency)::double precision AS full_limits,
               (SELECT count(*) = 10000 FROM limit_rows) OR (SELECT count(*) = 10000 FROM slot_rows) AS is_capped
        FROM limits l LEFT JOIN slots s ON s.id = l.id
        GROUP BY l.name
    ), due_bookmarks AS (
        -- Those of faulted and of paused instances wait for a retry or for the end of the pause, as the scheduler sees it.
        SELECT count(*) FILTER (WHERE d.fires)::double precision AS count, min(d.due_at) FILTER (WHERE d.fires) AS oldest,
               count(*) = 10000 AS is_capped
        FROM (SELECT f.due_at, CASE WHEN i.paused_at IS NULL THEN i.sub_status <> 'Faulted' OR f.name = 'Workflow.RunTimeout'
                                    ELSE EXISTS (SELECT FROM workflow.pauses p WHERE p.instance_id = i.id AND p.unpaused_at IS NOT NULL) END AS fires
              FROM (SELECT b.due_at, b.name, b.instance_id FROM workflow.bookmarks b
                    WHERE b.due_at <= now() ORDER BY b.due_at LIMIT 10000) f
                   JOIN workflow.instances i ON i.id = f.instance_id) d
    ), due_schedules AS (
        SELECT count(*)::double precision AS count, min(t.next_fire_at) AS oldest, count(*) = 10000 AS is_capped
        FROM (SELECT s.next_fire_at FROM workflow.triggers s
              WHERE s.next_fire_at <= now() AND s.active ORDER BY s.next_fire_at LIMIT 10000) t
    ), queue AS (
        SELECT count(*)::double precision AS count, count(*) FILTER (WHERE q.attempts > 0)::double precision AS failing,
               count(*) = 10000 AS is_capped
        FROM (SELECT i.attempts FROM workflow.bookmark_queue i WHERE i.deferred_for IS NULL LIMIT 10000) q
    ), dead_letters AS (
        -- The latest ones: those that were replayed stay, so a smaller number may have been read.
        SELECT count(*) FILTER (WHERE d.replayed_at IS NULL)::double precision AS count, count(*) = 10000 AS is_capped
        FROM (SELECT l.replayed_at FROM workflow.dead_letters l ORDER BY l.dead_at DESC LIMIT 10000) d
    ), incidents AS (
        SELECT count(*)::double precision AS count, count(*) = 10000 AS is_capped
        FROM (SELECT FROM workflow.incidents n WHERE n.resolved_at IS NULL LIMIT 10000) i
    ), failed_schedules AS (
        SELECT count(*) FILTER (WHERE t.attempts > 0 OR r.sub_status = 'Faulted')::double precision AS count, count(*) = 10000 AS is_capped
        FROM (SELECT s.attempts, s.last_instance_id FROM workflow.triggers s WHERE s.schedule IS NOT NULL LIMIT 10000) t
             LEFT JOIN workflow.instances r ON r.id = t.last_instance_id
    ), workers AS (
        SELECT w.worker, w.state, w.fired, w.failed, w.p99
        FROM jsonb_to_recordset(workflow._worker_status()) AS w (worker text, database oid, state text, fired double precision,
                                                                 failed double precision, p99 double precision)
        WHERE w.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
    ), counts AS (
        -- A definition may have the name under which all that exceed the number of counters count.
        SELECT c.name, c.labels, sum(c.value) AS value
        FROM jsonb_to_recordset(workflow._counts()) AS c (name text, labels jsonb, value double precision)
        GROUP BY c.name, c.labels
    ), measured AS (
        SELECT 'workflow_task_open' AS name, jsonb_build_object('task', t.name) AS labels, t.count AS value, t.is_capped FROM tasks t
        UNION ALL
        SELECT 'workflow_task_oldest_age_seconds', jsonb_build_object('task', t.name), greatest(t.age, 0), t.is_capped FROM tasks t
        UNION ALL
        SELECT 'workflow_task_slots_held', jsonb_build_object('task', s.name), s.held, s.is_capped FROM slots_of_names s
        UNION ALL
        SELECT 'workflow_task_limits_full', jsonb_build_object('task', s.name), s.full_limits, s.is_capped FROM slots_of_names s
        UNION ALL
        SELECT 'workflow_due_bookmarks', '{}', b.count, b.is_capped FROM due_bookmarks b
        UNION ALL
        SELECT 'workflow_due_schedules', '{}', s.count, s.is_capped FROM due_schedules s
        UNION ALL
        -- They are read in the order of their due times, so the first one that fires is the oldest. If none of those that were read does, the
        -- age is that of the oldest schedule, or unknown (NULL).
        SELECT 'workflow_oldest_due_age_seconds', '{}',
               coalesce(extract(epoch FROM now() - least(b.oldest, s.oldest)), CASE WHEN NOT b.is_capped THEN 0 END)::double precision,
               b.is_capped AND b.oldest IS NULL
        FROM due_bookmarks b CROSS JOIN due_schedules s
        UNION ALL
        SELECT 'workflow_queued_stimuli', '{}', q.count, q.is_capped FROM queue q
        UNION ALL
        SELECT 'workflow_failing_stimuli', '{}', q.failing, q.is_capped FROM queue q
        UNION ALL
        SELECT 'workflow_dead_letters', '{}', d.count, d.is_capped FROM dead_letters d
        UNION ALL
        SELECT 'workflow_open_incidents', '{}', i.count, i.is_capped FROM incidents i
        UNION ALL
        SELECT 'workflow_failed_schedules', '{}', f.count, f.is_capped FROM failed_schedules f
        UNION ALL
        SELECT 'workflow_busy_executors', '{}', count(*) FILTER (WHERE w.worker = 'executor' AND w.state = 'firing')::double precision, false FROM workers w
        UNION ALL
        SELECT 'workflow_max_executors', '{}', current_setting('workflow.max_executors', true)::double precision, false
        UNION ALL
        SELECT 'workflow_lateness_p99_seconds', '{}', w.p99, false FROM workers w WHERE w.worker = 'scheduler'
        UNION ALL
        SELECT 'workflow_fires_total', '{}', coalesce(sum(w.fired), 0), false FROM workers w WHERE w.worker = 'scheduler'
        UNION ALL
        SELECT 'workflow_failed_fires_total', '{}', coalesce(sum(w.failed), 0), false FROM workers w WHERE w.worker = 'scheduler'
        UNION ALL
        SELECT c.name, c.labels, c.value, false FROM counts c
    ), returned AS (
        SELECT m.name, m.labels, m.value FROM measured m
        UNION ALL
        SELECT DISTINCT 'workflow_metric_capped', jsonb_build_object('metric', m.name), 1::double precision FROM measured m WHERE m.is_capped
    )
    SELECT r.name, k.type, k.help, r.labels, r.value
    FROM (VALUES
        (1, 'workflow_task_open', 'gauge', 'Open tasks.'),
        (2, 'workflow_task_oldest_age_seconds', 'gauge', 'Age of the oldest open task.'),
        (3, 'workflow_task_slots_held', 'gauge', 'Leases that count towards a limit of tasks held at a time.'),
        (4, 'workflow_task_limits_full', 'gauge', 'Limits of tasks held at a time that are reached, counted for each value of their key.'),
        (5, 'workflow_due_bookmarks', 'gauge', 'Timers, timeouts and retries that are due and have not fired.'),
        (6, 'workflow_due_schedules', 'gauge', 'Schedules that are due and have not fired.'),
        (7, 'workflow_oldest_due_age_seconds', 'gauge', 'Lateness of the bookmark or schedule that is due and has not fired for the longest time; 0 if there is none.'),
        (8, 'workflow_queued_stimuli', 'gauge', 'Stored events and other stimuli that wait for an instance or for a delivery.'),
        (9, 'workflow_failing_stimuli', 'gauge', 'Stored stimuli whose delivery has failed at least once.'),
        (10, 'workflow_dead_letters', 'gauge', 'Dead letters that were not replayed.'),
        (11, 'workflow_open_incidents', 'gauge', 'Incidents that are not resolved.'),
        (12, 'workflow_failed_schedules', 'gauge', 'Schedules whose last run or last fire failed.'),
        (13, 'workflow_busy_executors', 'gauge', 'Executors of this database that are firing.'),
        (14, 'workflow_max_executors', 'gauge', 'The setting workflow.max_executors.'),
        (15, 'workflow_lateness_p99_seconds', 'gauge', '99th percentile of the delay of fires since the start of the server.'),
        (16, 'workflow_fires_total', 'counter', 'Fires by background workers since the start of the server.'),
        (17, 'workflow_failed_fires_total', 'counter', 'Fires by background workers that failed since the start of the server.'),
        (18, 'workflow_definition_started_total', 'counter', 'Instances whose first step has run, since the start of the server.'),
        (19, 'workflow_definition_resumed_total', 'counter', 'Resumes at a bookmark, by events, answers, timers or calls, since the start of the server.'),
        (20, 'workflow_definition_finished_total', 'counter', 'Instances that have finished, since the start of the server.'),
        (21, 'workflow_definition_faulted_total', 'counter', 'Instances that have become faulted, since the start of the server.'),
        (22, 'workflow_definition_cancelled_total', 'counter', 'Instances that were cancelled, since the start of the server.'),
        (23, 'workflow_definition_incidents_total', 'counter', 'Incidents, since the start of the server.'),
        (24, 'workflow_task_claims_total', 'counter', 'Claims since the start of the server.'),
        (25, 'workflow_task_answers_total', 'counter', 'Tasks that were completed, since the start of the server.'),
        (26, 'workflow_task_failures_total', 'counter', 'Attempts that were reported as failed, since the start of the server.'),
        (27, 'workflow_definition_burst_seconds', 'histogram', 'Duration of bursts, since the start of the server.'),
        (28, 'workflow_task_claim_seconds', 'histogram', 'Time from the opening of a task to its first claim, since the start of the server.'),
        (29, 'workflow_task_answer_seconds', 'histogram', 'Time from the opening of a task to its completion, since the start of the server.'),
        (30, 'workflow_lateness_seconds', 'histogram', 'Delay of fires, since the start of the server.'),
        (31, 'workflow_metric_capped', 'gauge', 'Metrics that may be too small, because about 10,000 rows of a table are read at most.')
    ) AS k (number, name, type, help)
    CROSS JOIN LATERAL unnest(CASE k.type WHEN 'histogram' THEN '{_bucket,_count,_sum}' ELSE '{""}' END::text[]) AS s (suffix)
    JOIN returned r ON r.name = k.name || s.suffix
    WHERE r.value IS NOT NULL
    -- The buckets of a histogram in the order of their bounds, then its count and its sum.
    ORDER BY k.number, r.labels - 'le', (r.labels ->> 'le')::double precision, r.name
$$;

COMMENT ON FUNCTION wf_metrics() IS 'numbers for monitoring systems: name, type (gauge, counter or histogram), help, labels and value of each; for pg_monitor';

CREATE VIEW workflow.workers WITH (security_barrier) AS
SELECT d.datname AS database, w.worker, w.pid, r.rolname AS role, w.state, w.fired, w.failed,
       pg_catalog.to_timestamp(w.oldest_due) AS oldest_due,
       pg_catalog.to_timestamp(w.next_due) AS next_due,
       pg_catalog.make_interval(secs => w.p50) AS lateness_p50,
       pg_catalog.make_interval(secs => w.p99) AS lateness_p99,
       pg_catalog.to_timestamp(w.since) AS since
FROM pg_catalog.jsonb_to_recordset(workflow._worker_status()) AS w (worker text, database oid, pid integer, role oid, state text,
         fired bigint, failed bigint, oldest_due double precision, next_due double precision, p50 double precision, p99 double precision,
         since double precision)
LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) w.database
LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) w.role
WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() OR pg_catalog.pg_has_role('pg_monitor', 'USAGE');

COMMENT ON VIEW workflow.workers IS 'what the background workers do: of this database, and for pg_monitor of all databases';
COMMENT ON COLUMN workflow.workers.fired IS 'fires since the server started (scheduler), or by this process (executor)';
COMMENT ON COLUMN workflow.workers.oldest_due IS 'oldest due time that no background worker has fired';
COMMENT ON COLUMN workflow.workers.lateness_p99 IS '99th percentile of the delay of fires, accurate to about a fifth';

-- Not for PUBLIC: a role without the privilege must get an error, not a zero that looks healthy.
CREATE VIEW workflow.health WITH (security_barrier) AS
SELECT i.count AS open_incidents, i.latest AS latest_incident, l.count AS dead_letters, l.latest AS latest_dead_letter,
       s.count AS failed_schedules, d.oldest AS oldest_due
FROM (SELECT pg_catalog.count(*) AS count, pg_catalog.max(n.created_at) AS latest
      FROM workflow.incidents n WHERE n.resolved_at IS NULL) i
CROSS JOIN (SELECT pg_catalog.count(*) AS count, pg_catalog.max(q.dead_at) AS latest
            FROM workflow.dead_letters q WHERE q.replayed_at IS NULL) l
CROSS JOIN (SELECT pg_catalog.count(*) AS count
            FROM workflow.triggers t LEFT JOIN workflow.instances r ON r.id OPERATOR(pg_catalog.=) t.last_instance_id
            WHERE t.schedule IS NOT NULL AND (t.attempts OPERATOR(pg_catalog.>) 0 OR r.sub_status OPERATOR(pg_catalog.=) 'Faulted')) s
CROSS JOIN (SELECT LEAST(
                -- Those of faulted and of paused instances wait for a retry or for the end of the pause, as the scheduler sees it.
                -- However many there are, the first 10,000 are looked at, as in wf_metrics.
                (SELECT f.due_at
                 FROM (SELECT b.due_at, b.name, b.instance_id FROM workflow.bookmarks b
                       WHERE b.due_at OPERATOR(pg_catalog.<=) pg_catalog.now() ORDER BY b.due_at LIMIT 10000) f
                      JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) f.instance_id
                 WHERE CASE WHEN i.paused_at IS NULL
                            THEN i.sub_status OPERATOR(pg_catalog.<>) 'Faulted' OR f.name OPERATOR(pg_catalog.=) 'Workflow.RunTimeout'
                            ELSE EXISTS (SELECT FROM workflow.pauses p
                                         WHERE p.instance_id OPERATOR(pg_catalog.=) i.id AND p.unpaused_at IS NOT NULL) END
                 ORDER BY f.due_at LIMIT 1),
                (SELECT pg_catalog.min(t.next_fire_at) FROM workflow.triggers t
                 WHERE t.next_fire_at OPERATOR(pg_catalog.<=) pg_catalog.now() AND t.active)) AS oldest) d;

COMMENT ON VIEW workflow.health IS 'counts over all owners of what needs an administrator; for pg_monitor';
COMMENT ON COLUMN workflow.health.dead_letters IS 'dead letters that were not replayed';
COMMENT ON COLUMN workflow.health.failed_schedules IS 'schedules whose last run or last fire failed';
COMMENT ON COLUMN workflow.health.oldest_due IS 'oldest due time that was not fired; NULL if there is none';
