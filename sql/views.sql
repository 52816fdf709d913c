/*
 * What a user sees. Each view shows a role its own rows and what it was granted: rows of owners whose role it
 * has, of definitions whose owner it is, and of definitions it may read. They are security barriers, so that a
 * function in a user's WHERE sees no row of others. Row-level security behind a view would show everybody
 * everything: it is checked as the view's owner. The filters are arrays, computed once a query: a subplan for each
 * row makes PostgreSQL expect so much work that it compiles the query first.
 *
 * PostgreSQL lets those who may write to a view of one table write to the table through it, with the rights of the
 * view's owner. The join with one empty row, which costs nothing, makes such a view read-only.
 */

CREATE FUNCTION workflow._role_of(role oid, name text)
RETURNS oid LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_role_of';

COMMENT ON FUNCTION workflow._role_of(oid, text) IS 'the role that a row of workflow.owners stands for, NULL if it does not exist';

-- A command that was running when the server ended has 57P02, PostgreSQL's own code for a crash.
CREATE FUNCTION workflow._run_status(sub_status text, sqlstate text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
       WHEN sub_status OPERATOR(pg_catalog.=) 'Pending' THEN 'pending'
       WHEN sub_status OPERATOR(pg_catalog.=) 'Finished' THEN 'succeeded'
       WHEN sub_status OPERATOR(pg_catalog.=) 'Cancelled' THEN 'cancelled'
       WHEN sub_status OPERATOR(pg_catalog.=) 'Faulted' AND sqlstate OPERATOR(pg_catalog.=) '57P02' THEN 'interrupted'
       WHEN sub_status OPERATOR(pg_catalog.=) 'Faulted' THEN 'failed'
       WHEN sub_status IS NOT NULL THEN 'running' END;

COMMENT ON FUNCTION workflow._run_status(text, text) IS 'status of a run in the words of schedulers, for the views';

CREATE VIEW workflow.my_owners WITH (security_barrier) AS
SELECT o.id
FROM workflow.owners o CROSS JOIN (SELECT) read_only
WHERE CASE WHEN workflow._role_of(o.role_oid, o.name) IS NULL
           THEN (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER)
           ELSE pg_catalog.pg_has_role(workflow._role_of(o.role_oid, o.name), 'USAGE') END;

COMMENT ON VIEW workflow.my_owners IS 'owners whose rights the current role has';

CREATE VIEW workflow.my_definitions WITH (security_barrier) AS
SELECT d.id, d.definition_id
FROM workflow.definitions d CROSS JOIN (SELECT) read_only
WHERE d.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR d.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT g.definition_id FROM workflow.grants g
                          WHERE g.privilege OPERATOR(pg_catalog.=) 'read' AND g.role OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))))
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

COMMENT ON VIEW workflow.my_definitions IS 'definition versions that the current role may read';

CREATE VIEW workflow.my_instances WITH (security_barrier) AS
SELECT i.id
FROM workflow.instances i CROSS JOIN (SELECT) read_only
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

COMMENT ON VIEW workflow.my_instances IS 'instances that the current role may read';

CREATE VIEW workflow.definition_list WITH (security_barrier) AS
SELECT d.definition_id, d.version, d.name, d.description, d.is_latest, d.is_published, d.security,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, d.created_at, d.document,
       d.activity_type, d.search_path,
       CASE WHEN d.migrates AND d.is_published
            THEN (SELECT pg_catalog.count(*) FROM workflow.definitions v JOIN workflow.instances i ON i.definition_version_id OPERATOR(pg_catalog.=) v.id
                  WHERE v.definition_id OPERATOR(pg_catalog.=) d.definition_id AND v.id OPERATOR(pg_catalog.<>) d.id
                    AND i.finished_at IS NULL) END AS migrating,
       d.id AS version_id, COALESCE(d.is_draft, false) AS is_draft, COALESCE(d.revision, 0) AS revision,
       COALESCE(d.saved_at, d.created_at) AS saved_at,
       CASE WHEN d.saved_by IS NOT NULL
            THEN (SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(s.role_oid, s.name))::text, s.name)
                  FROM workflow.owners s WHERE s.id OPERATOR(pg_catalog.=) d.saved_by) END AS saved_by,
       pg_catalog.sha256(pg_catalog.convert_to(d.document::text, 'UTF8')) AS digest
FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
WHERE d.deleted_at IS NULL AND d.id IN (SELECT m.id FROM workflow.my_definitions m);

COMMENT ON VIEW workflow.definition_list IS 'definitions that the current role may read, one row per version';
COMMENT ON COLUMN workflow.definition_list.migrating IS 'of a published version with the option migrate: instances that have not ended and are in other versions';
COMMENT ON COLUMN workflow.definition_list.digest IS 'SHA-256 of the document: equal on all nodes that have the same content';
COMMENT ON COLUMN workflow.definition_list.version_id IS 'id of this version';
COMMENT ON COLUMN workflow.definition_list.is_draft IS 'whether it was saved by wf_save_draft and not published yet';
COMMENT ON COLUMN workflow.definition_list.revision IS 'number of the save that it holds, among all of the definition; wf_save_draft takes it';
COMMENT ON COLUMN workflow.definition_list.saved_at IS 'when its content was stored';
COMMENT ON COLUMN workflow.definition_list.saved_by IS 'the role that saved it as a draft';
COMMENT ON COLUMN workflow.definition_list.search_path IS 'search path of its SQL when it runs without a caller, if the definition does not set one';

-- Deleted versions: their instances are there until they are deleted, too.
CREATE VIEW workflow.deleted_definitions WITH (security_barrier) AS
SELECT d.id AS version_id, d.definition_id, d.version, d.name, d.description,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, d.created_at, d.deleted_at, d.document
FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
WHERE d.deleted_at IS NOT NULL AND d.id IN (SELECT m.id FROM workflow.my_definitions m)
  AND EXISTS (SELECT FROM workflow.instances i WHERE i.definition_version_id OPERATOR(pg_catalog.=) d.id);

COMMENT ON VIEW workflow.deleted_definitions IS 'deleted versions that still have instances, as far as the current role may read them';

CREATE VIEW workflow.definition_links WITH (security_barrier) AS
SELECT DISTINCT d.definition_id, d.version, d.is_latest, d.is_published, u.definition_id AS uses, u.version AS used_version
FROM workflow.definitions d
CROSS JOIN LATERAL pg_catalog.jsonb_to_recordset(d.links) AS l (uses uuid)
JOIN workflow.definitions u ON u.id OPERATOR(pg_catalog.=) l.uses
WHERE d.deleted_at IS NULL AND d.id IN (SELECT m.id FROM workflow.my_definitions m);

COMMENT ON VIEW workflow.definition_links IS 'which definition versions use which versions as activities';
COMMENT ON COLUMN workflow.definition_links.uses IS 'id of the definition that is used inside the other';

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
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(s.role_oid, s.name))::text, s.name) AS started_by, i.started_actor
FROM workflow.instances i JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) i.owner
     LEFT JOIN workflow.owners s ON s.id OPERATOR(pg_catalog.=) COALESCE(i.started_by, i.owner)
     LEFT JOIN (workflow.pauses p JOIN workflow.owners r ON r.id OPERATOR(pg_catalog.=) p.paused_by)
          ON p.instance_id OPERATOR(pg_catalog.=) i.id AND i.paused_at IS NOT NULL
     CROSS JOIN LATERAL (SELECT i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
                         OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
                            AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances'])) AS may (read)
WHERE may.read OR i.parent_instance_id IS NULL AND i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.instance_list IS 'instances that the current role may read';
COMMENT ON COLUMN workflow.instance_list.sub_status IS 'Cancelling: it is cancelled when its handlers have run';
COMMENT ON COLUMN workflow.instance_list.continued_from IS 'the instance in whose place this one goes on';
COMMENT ON COLUMN workflow.instance_list.paused_at IS 'since when it is paused';
COMMENT ON COLUMN workflow.instance_list.paused_by IS 'the role that paused it';
COMMENT ON COLUMN workflow.instance_list.definition_version_id IS 'id of the version that it runs, as version_id of workflow.definition_list';
COMMENT ON COLUMN workflow.instance_list.started_by IS 'the role that started it: the sender of its event, the maker of its schedule, or the starter of its parent';
COMMENT ON COLUMN workflow.instance_list.started_actor IS 'the actor for whom that role acted';

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
       -- A bundle that was imported can say anything in its metadata.
       CASE WHEN b.name OPERATOR(pg_catalog.<>) 'Workflow.Retry' THEN COALESCE(b.claims, 0)
            WHEN (b.metadata OPERATOR(pg_catalog.->>) 'Attempt') OPERATOR(pg_catalog.~) '^[0-9]{1,9}$' THEN (b.metadata OPERATOR(pg_catalog.->>) 'Attempt')::integer
            ELSE 0 END AS attempt, b.lease_until, b.worker
FROM workflow.bookmarks b JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR i.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
      AND i.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY['Workflow.ScheduledCommand', 'Workflow.MigrateInstances']);

COMMENT ON VIEW workflow.waiting IS 'what waits, since when, and until when';
COMMENT ON COLUMN workflow.waiting.paused_at IS 'since when its instance is paused: neither a stimulus nor time resumes it';
COMMENT ON COLUMN workflow.waiting.attempt IS 'number of attempts at a task, the present one included, or of an activity that is to be repeated';
COMMENT ON COLUMN workflow.waiting.lease_until IS 'of a task: until when a worker holds or held it';
COMMENT ON COLUMN workflow.waiting.worker IS 'of a task: the worker that holds or held it';
COMMENT ON COLUMN workflow.waiting.attempts IS 'how often firing the bookmark failed without an outcome';
COMMENT ON COLUMN workflow.waiting.dead_letter_id IS 'dead letter of a bookmark that was given up; wf_replay tries again';

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

CREATE FUNCTION workflow._person(task uuid, entry text)
RETURNS text LANGUAGE c STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'wf_person';

COMMENT ON FUNCTION workflow._person(uuid, text) IS 'an assignee or candidate of a task as users write it: a role by its present name; NULL for a role that may not know it';

CREATE FUNCTION workflow._people(task uuid, entries jsonb)
RETURNS text[] LANGUAGE c STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'wf_people';

COMMENT ON FUNCTION workflow._people(uuid, jsonb) IS 'the same for a list';

CREATE FUNCTION workflow._is_excluded(task uuid, version uuid)
RETURNS boolean LANGUAGE c STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'wf_is_excluded';

COMMENT ON FUNCTION workflow._is_excluded(uuid, uuid) IS 'whether an open task of an instance of a version excludes the caller, for the views';

-- What the views of open tasks have in common. No role but the owner may read it, so it needs no security barrier. Without one,
-- each view that reads it is planned with an order of its own.
CREATE VIEW workflow._open_tasks AS
SELECT t.id AS task_id, t.instance_id, i.definition_id, t.activity_id,
       b.payload OPERATOR(pg_catalog.->>) 'TaskName' AS name, t.payload, t.correlation_id, b.created_at,
       COALESCE(b.priority, 0) AS priority, COALESCE(b.claims, 0) AS attempt,
       CASE WHEN COALESCE(b.due_when_paused, b.available_at) OPERATOR(pg_catalog.<>) '-infinity' THEN COALESCE(b.due_when_paused, b.available_at) END AS available_at, b.lease_until, b.worker, b.progress,
       b.last_error,
       workflow._person(b.id, b.assignee) AS assignee, workflow._people(b.id, b.candidates) AS candidates,
       t.deadline, t.form, b.result_schema, i.paused_at,
       (SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name)
        FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
        WHERE d.id OPERATOR(pg_catalog.=) i.definition_version_id) AS definition_owner,
       workflow._is_excluded(b.id, i.definition_version_id) AS excluded,
       b.available_at AS stored_available_at
FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id OPERATOR(pg_catalog.=) b.id
     JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
  AND (i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
       OR b.assignee OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m))
       OR b.candidates OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m));

COMMENT ON VIEW workflow._open_tasks IS 'for the views of open tasks';

-- PostgreSQL plans a security barrier without knowing in which order its rows are wanted. So each order that an index has is a
-- view of its own, and a query that sets no order reads as many rows as it returns. Ids are in the order of time.
CREATE VIEW workflow.open_tasks WITH (security_barrier) AS
SELECT task_id, instance_id, definition_id, activity_id, name, payload, correlation_id, created_at, priority, attempt, available_at,
       lease_until, worker, progress, last_error, assignee, candidates, deadline, form, result_schema, paused_at, definition_owner, excluded
FROM workflow._open_tasks ORDER BY task_id;

-- The order of bookmarks_inbox_idx, which has it for each name.
CREATE VIEW workflow.open_tasks_by_priority WITH (security_barrier) AS
SELECT task_id, instance_id, definition_id, activity_id, name, payload, correlation_id, created_at, priority, attempt, available_at,
       lease_until, worker, progress, last_error, assignee, candidates, deadline, form, result_schema, paused_at, definition_owner, excluded
FROM workflow._open_tasks ORDER BY stored_available_at NULLS FIRST, priority DESC, created_at;

COMMENT ON VIEW workflow.open_tasks IS 'tasks that are not completed yet';
COMMENT ON COLUMN workflow.open_tasks.attempt IS 'number of attempts, the present one included';
COMMENT ON COLUMN workflow.open_tasks.available_at IS 'NULL if a worker can claim it now, else the earliest instant; infinity: a worker makes the last attempt';
COMMENT ON COLUMN workflow.open_tasks.lease_until IS 'until when a worker holds it';
COMMENT ON COLUMN workflow.open_tasks.paused_at IS 'since when its instance is paused: no worker can claim it, and available_at and lease_until stand still';
COMMENT ON COLUMN workflow.open_tasks.assignee IS 'who is to do it: role: and the name of a role, or a name that the application knows';
COMMENT ON COLUMN workflow.open_tasks.candidates IS 'who may do it, in the same form';
COMMENT ON COLUMN workflow.open_tasks.deadline IS 'until when people are to do it; nothing happens then';
COMMENT ON COLUMN workflow.open_tasks.form IS 'JSON Schema of a form for the answer';
COMMENT ON COLUMN workflow.open_tasks.result_schema IS 'JSON Schema that the answer must match';
COMMENT ON COLUMN workflow.open_tasks.definition_owner IS 'whose workflow it is: the owner of the definition';
COMMENT ON COLUMN workflow.open_tasks.excluded IS 'whether "not" of the task excludes the caller';

COMMENT ON VIEW workflow.open_tasks_by_priority IS 'the same tasks, those first that no worker has claimed, by priority and age';

CREATE VIEW workflow.task_limits WITH (security_barrier) AS
SELECT l.name, l.key, l.concurrency, l.rate, CASE WHEN l.rate IS NOT NULL THEN pg_catalog.make_interval(secs => l.per OPERATOR(pg_catalog./) 1000000.0::double precision) END AS per,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner
FROM workflow.limits l JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) l.owner
WHERE (l.concurrency IS NOT NULL OR l.rate IS NOT NULL)
  AND l.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.task_limits IS 'limits that wf_limit_tasks set';
COMMENT ON COLUMN workflow.task_limits.key IS 'member of the payload, each value of which has the limit for itself';
COMMENT ON COLUMN workflow.task_limits.owner IS 'the role whose definitions it counts';

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

COMMENT ON VIEW workflow.open_compensations IS 'what has completed and can be compensated, or was interrupted and has to be cancelled';
COMMENT ON COLUMN workflow.open_compensations.number IS 'in the order of completion within the instance';
COMMENT ON COLUMN workflow.open_compensations.interrupted IS 'whether its cancellation has to run, not its compensation';

CREATE VIEW workflow.trigger_list WITH (security_barrier) AS
SELECT t.id AS trigger_id, t.definition_id, t.version, t.activity_id, t.node_id, t.activity_type, t.name, t.hash, t.payload,
       t.next_fire_at
FROM workflow.triggers t CROSS JOIN (SELECT) read_only
WHERE t.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d));

COMMENT ON VIEW workflow.trigger_list IS 'what starts the published definitions';

-- Named schedules, and the triggers of definitions that have a schedule. A named schedule shows only to roles with its owner's rights.
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

COMMENT ON VIEW workflow.schedule_runs IS 'what schedules have started: when, for how long, and with what outcome';

CREATE VIEW workflow.dead_letter_list WITH (security_barrier) AS
SELECT q.id AS dead_letter_id, q.reason,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS sender,
       q.attempts, q.last_error, q.created_at, q.due_at, q.dead_at, q.replayed_at, q.instance_id, q.bookmark_id, q.name,
       q.correlation_id, q.activity_type, q.activity_id, q.stimulus, q.input
FROM workflow.dead_letters q LEFT JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) q.sender
WHERE CASE WHEN q.due_at IS NULL OR NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id OPERATOR(pg_catalog.=) q.instance_id)
           THEN q.sender OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
           ELSE q.instance_id IN (SELECT i.id FROM workflow.my_instances i) END
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

COMMENT ON VIEW workflow.dead_letter_list IS 'stimuli that were given up, and bookmarks that could not be fired; wf_replay tries again';

CREATE VIEW workflow.event_grant_list WITH (security_barrier) AS
SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(p.role_oid, p.name))::text, p.name) AS publisher,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(l.role_oid, l.name))::text, l.name) AS listener
FROM workflow.event_grants g
JOIN workflow.owners p ON p.id OPERATOR(pg_catalog.=) g.publisher
JOIN workflow.owners l ON l.id OPERATOR(pg_catalog.=) g.listener
WHERE g.publisher OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR g.listener OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.event_grant_list IS 'grants of wf_grant_events that concern the current role: which listener hears which publisher';

CREATE VIEW workflow.invoker_grant_list WITH (security_barrier) AS
SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(l.role_oid, l.name))::text, l.name) AS lender,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(b.role_oid, b.name))::text, b.name) AS borrower
FROM workflow.invoker_grants g
JOIN workflow.owners l ON l.id OPERATOR(pg_catalog.=) g.lender
JOIN workflow.owners b ON b.id OPERATOR(pg_catalog.=) g.borrower
WHERE g.lender OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR g.borrower OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.invoker_grant_list IS 'grants of wf_grant_invoker that concern the current role: which lender lends its rights to the workflows of which borrower';

CREATE FUNCTION workflow._accepts_tasks(worker oid, owner oid)
RETURNS boolean LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_accepts_tasks';

COMMENT ON FUNCTION workflow._accepts_tasks(oid, oid) IS 'whether a role accepts tasks of definitions of an owner, for workflow.worker_grants';

CREATE VIEW workflow.accepted_owner_list WITH (security_barrier) AS
SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(w.role_oid, w.name))::text, w.name) AS worker,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, a.for_members
FROM workflow.accepted_owners a
JOIN workflow.owners w ON w.id OPERATOR(pg_catalog.=) a.worker
JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) a.owner
WHERE a.worker OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR a.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.accepted_owner_list IS 'what wf_accept_tasks accepted, as far as it concerns the current role: which worker accepts tasks of which owner';
COMMENT ON COLUMN workflow.accepted_owner_list.for_members IS 'whether it counts for the members of the worker, too: a superuser accepted';

CREATE VIEW workflow.worker_grants WITH (security_barrier) AS
SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(w.role_oid, w.name))::text, w.name) AS role, g.definition_id, g.name,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(a.role_oid, a.name))::text, a.name) AS grantor,
       workflow._role_of(a.role_oid, a.name) IS NOT NULL
       AND (g.definition_id IS NULL
            OR EXISTS (SELECT FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
                       WHERE d.definition_id OPERATOR(pg_catalog.=) g.definition_id AND d.is_latest
                         AND CASE WHEN workflow._role_of(o.role_oid, o.name) IS NULL
                                  THEN (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) workflow._role_of(a.role_oid, a.name))
                                  ELSE pg_catalog.pg_has_role(workflow._role_of(a.role_oid, a.name), workflow._role_of(o.role_oid, o.name), 'USAGE') END)) AS in_force,
       COALESCE(workflow._accepts_tasks(
           workflow._role_of(w.role_oid, w.name),
           CASE WHEN g.definition_id IS NULL THEN workflow._role_of(a.role_oid, a.name)
                ELSE (SELECT workflow._role_of(o.role_oid, o.name) FROM workflow.definition_ids n JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) n.owner
                      WHERE n.definition_id OPERATOR(pg_catalog.=) g.definition_id) END), false) AS accepted
FROM workflow.task_grants g
JOIN workflow.owners w ON w.id OPERATOR(pg_catalog.=) g.role
JOIN workflow.owners a ON a.id OPERATOR(pg_catalog.=) g.grantor
WHERE g.role OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR g.grantor OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR g.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.definition_id FROM workflow.definitions d
                                                        WHERE d.is_latest AND d.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))))
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

COMMENT ON VIEW workflow.worker_grants IS 'grants of wf_grant_worker that concern the current role: which role may work on which tasks';
COMMENT ON COLUMN workflow.worker_grants.definition_id IS 'NULL: of each definition that the grantor may manage';
COMMENT ON COLUMN workflow.worker_grants.name IS 'NULL: tasks of any name';
COMMENT ON COLUMN workflow.worker_grants.in_force IS 'whether it counts: the grantor exists, and may manage the definition if there is one';
COMMENT ON COLUMN workflow.worker_grants.accepted IS 'whether the role accepts tasks of the owner of the definition, or without a definition of the grantor; if not, only wf_claim_task claims them';

CREATE VIEW workflow.path_list WITH (security_barrier) AS
SELECT p.segment, COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner
FROM workflow.paths p JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) p.owner
WHERE p.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

COMMENT ON VIEW workflow.path_list IS 'first segments of HTTP paths that belong to the current role';

-- A refused start has no instance: its row shows to roles that may read the definition that the event names.
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

COMMENT ON VIEW workflow.journal IS 'what happened, in words: one row per event';
COMMENT ON COLUMN workflow.journal.by IS 'the role whose call caused the event; NULL: the engine';
COMMENT ON COLUMN workflow.journal.actor IS 'the actor for whom that role acted';

-- The acts that rows of the journal record. `owner` may see who answered: of a child that is the engine, which passes the
-- answer on.
CREATE VIEW workflow._acts AS
SELECT l.instance_id, l.seq, COALESCE(a.at, l.created_at) AS at, a.kind, i.definition_id, i.definition_version_id, i.correlation_id,
       COALESCE(a.activity, t.activity_id) AS activity, t.name AS task, a.bookmark_id,
       CASE WHEN i.parent_instance_id IS NULL THEN i.owner END AS owner, a.role, a.login,
       CASE WHEN a.kind OPERATOR(pg_catalog.=) 'start' THEN i.started_actor ELSE a.actor END AS actor, a.detail
FROM workflow.execution_log l
JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) l.instance_id
CROSS JOIN LATERAL workflow._act(l.events) AS a
LEFT JOIN workflow.tasks t ON t.id OPERATOR(pg_catalog.=) a.bookmark_id
WHERE a.kind IS NOT NULL;

COMMENT ON VIEW workflow._acts IS 'acts in the journal, for workflow.audit and for what removes rows of the journal';

-- A role that may not read the definition of an instance sees who answered the tasks of its own instances, and nothing else.
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
COMMENT ON COLUMN workflow.audit.at IS 'by the clock of the server, whatever workflow.now said';
COMMENT ON COLUMN workflow.audit.bookmark_id IS 'a task has the id of its bookmark';
COMMENT ON COLUMN workflow.audit.role IS 'the role whose rights were in force';
COMMENT ON COLUMN workflow.audit.login IS 'the role of the session, if it is another one';
COMMENT ON COLUMN workflow.audit.actor IS 'the person for whom that role acted';

-- The catalogue: what is built in and what was registered.
CREATE FUNCTION workflow._flow_ports(outcomes text[])
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('name', o.name, 'type', 'Flow') ORDER BY o.number), '[]')
    FROM pg_catalog.unnest(CASE WHEN outcomes OPERATOR(pg_catalog.<>) '{}' THEN outcomes ELSE '{Done}' END) WITH ORDINALITY AS o (name, number);
END;

COMMENT ON FUNCTION workflow._flow_ports(text[]) IS 'outcomes of an activity as ports, for wf_activities';

-- Inputs and outputs as they were registered, or as a workflow declares them, each with what a designer needs to show it.
CREATE FUNCTION workflow._arguments(declared jsonb)
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.jsonb_agg(
               pg_catalog.jsonb_build_object('uiHint', CASE WHEN a.argument OPERATOR(pg_catalog.->>) 'type' OPERATOR(pg_catalog.=) 'Boolean' THEN 'checkbox' ELSE 'singleline' END,
                                             'isWrapped', true, 'order', a.number OPERATOR(pg_catalog.-) 1)
               OPERATOR(pg_catalog.||) a.argument ORDER BY a.number)
    FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(declared) OPERATOR(pg_catalog.=) 'array' THEN declared END) WITH ORDINALITY AS d (entry, number)
    CROSS JOIN LATERAL (
        SELECT CASE WHEN pg_catalog.jsonb_typeof(d.entry) OPERATOR(pg_catalog.=) 'string' THEN pg_catalog.jsonb_build_object('name', d.entry) ELSE d.entry END, d.number
        WHERE pg_catalog.jsonb_typeof(d.entry) OPERATOR(pg_catalog.=) ANY (ARRAY['string', 'object'])) AS a (argument, number);
END;

COMMENT ON FUNCTION workflow._arguments(jsonb) IS 'inputs or outputs with what a designer needs, for wf_activities; NULL if there are none';

CREATE FUNCTION workflow._activity_list()
RETURNS TABLE (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.type, a.inputs, a.outputs, a.outcomes, a.description, a.example,
           a.version, a.category, a.display_name, a.kind, a.ports, a.flags
    FROM pg_catalog.jsonb_to_recordset(workflow._activities())
         AS a (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
    UNION ALL
    SELECT t.type, workflow._arguments(t.inputs), t.outputs, t.outcomes, t.description, NULL,
           1, 'Custom', t.type, pg_catalog.initcap(t.kind), workflow._flow_ports(t.outcomes),
           '{"isContainer": false, "isStart": false, "isTerminal": false, "isBrowsable": true}'
    FROM workflow.activity_types t
    ORDER BY 1;
END;

COMMENT ON FUNCTION workflow._activity_list() IS 'built-in and registered activity types, for wf_activities';

CREATE FUNCTION workflow._visible_activities()
RETURNS TABLE (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.type, a.inputs, a.outputs, a.outcomes, a.description, a.example,
           a.version, a.category, a.display_name, a.kind, a.ports, a.flags
    FROM workflow._activity_list() a
    UNION ALL
    SELECT d.activity_type, COALESCE(workflow._arguments(d.document OPERATOR(pg_catalog.->) 'inputs'), '[]'),
           COALESCE(d.document OPERATOR(pg_catalog.->) 'outputs', '[]'), o.outcomes, d.description, NULL,
           d.version,
           CASE WHEN d.document OPERATOR(pg_catalog.->) 'options' OPERATOR(pg_catalog.->>) 'activityCategory' OPERATOR(pg_catalog.<>) ''
                THEN d.document OPERATOR(pg_catalog.->) 'options' OPERATOR(pg_catalog.->>) 'activityCategory' ELSE 'Workflows' END,
           COALESCE(d.name, d.activity_type), 'Action', workflow._flow_ports(o.outcomes),
           pg_catalog.jsonb_build_object('isContainer', false, 'isStart', false, 'isTerminal', false, 'isBrowsable', d.is_published,
                                         'definitionId', d.definition_id, 'versionId', d.version_id)
    FROM workflow.definition_list d
    CROSS JOIN LATERAL (
        SELECT pg_catalog.array_append(
               CASE WHEN pg_catalog.jsonb_typeof(d.document OPERATOR(pg_catalog.->) 'outcomes') OPERATOR(pg_catalog.=) 'array'
                    THEN ARRAY(SELECT e.one OPERATOR(pg_catalog.#>>) '{}' FROM pg_catalog.jsonb_array_elements(d.document OPERATOR(pg_catalog.->) 'outcomes') AS e (one)
                               WHERE pg_catalog.jsonb_typeof(e.one) OPERATOR(pg_catalog.=) 'string')
                    ELSE '{}'::text[] END, 'Done')) AS o (outcomes)
    WHERE d.activity_type IS NOT NULL
      AND (d.is_published
           OR (d.definition_id, d.version) IN (SELECT l.uses, l.used_version FROM workflow.definition_links l));
END;

COMMENT ON FUNCTION workflow._visible_activities() IS 'every activity type that the current role may use, for wf_activities and wf_activities_digest';

CREATE FUNCTION wf_activities()
RETURNS TABLE (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.type, a.inputs, a.outputs, a.outcomes, a.description, a.example,
           a.version, a.category, a.display_name, a.kind, a.ports, a.flags
    FROM workflow._visible_activities() a;
END;

COMMENT ON FUNCTION wf_activities() IS 'every activity type with inputs, outputs, outcomes, ports and an example; also the workflows that are usable as activities, in the published version and in those that other definitions use';

CREATE FUNCTION wf_activities_digest()
RETURNS bytea LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.string_agg(a::text, '' ORDER BY a.type, a.version, a::text), 'UTF8'))
    FROM workflow._visible_activities() AS a;
END;

COMMENT ON FUNCTION wf_activities_digest() IS 'changes with whatever changes wf_activities() for the current role';

-- Rules that foreign keys would enforce, and more. No rows: all is well. The body is text, so that it is parsed under the
-- search path that the function sets, not under the installer's.
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
      AND NOT (b.activity_type = 'Elsa.RunTask' AND b.name = b.activity_type) AND b.name NOT IN ('Workflow.Retry', 'Workflow.Timeout', 'Workflow.StartTimeout', 'Workflow.RunTimeout', 'Workflow.Lease', 'Workflow.Answer', 'Workflow.Compensation', 'Workflow.Limit')
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
    WHERE NOT EXISTS (SELECT FROM workflow.owners o WHERE o.id = i.owner);
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

COMMENT ON FUNCTION wf_check() IS 'rows that break a rule, and rights that roles other than the owner should not have; no rows: all is well';

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

COMMENT ON VIEW workflow.workers IS 'what the workers do: of this database, and for pg_monitor of all';
COMMENT ON COLUMN workflow.workers.fired IS 'fires since the server started (scheduler), or by this process (executor)';
COMMENT ON COLUMN workflow.workers.oldest_due IS 'since when something is due that no worker fires yet';
COMMENT ON COLUMN workflow.workers.lateness_p99 IS '99th percentile of how late fires began, to about a fifth';

-- Not for PUBLIC: a role without the privilege gets an error, not a zero that looks like health.
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
CROSS JOIN (SELECT LEAST((SELECT pg_catalog.min(b.due_at) FROM workflow.bookmarks b),
                         (SELECT pg_catalog.min(t.next_fire_at) FROM workflow.triggers t)) AS due) f
CROSS JOIN LATERAL (SELECT CASE WHEN f.due OPERATOR(pg_catalog.<=) pg_catalog.now() THEN f.due END AS oldest) d;

COMMENT ON VIEW workflow.health IS 'what waits for an administrator, counted over all owners; for pg_monitor';
COMMENT ON COLUMN workflow.health.dead_letters IS 'dead letters that are not replayed';
COMMENT ON COLUMN workflow.health.failed_schedules IS 'schedules whose last run failed or whose last fire did';
COMMENT ON COLUMN workflow.health.oldest_due IS 'since when something is due that no worker has fired; NULL if nothing is';
