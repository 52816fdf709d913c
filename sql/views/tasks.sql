CREATE FUNCTION workflow._person(task uuid, entry text)
RETURNS text LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'wf_person';

COMMENT ON FUNCTION workflow._person(uuid, text) IS 'an assignee or candidate of a task as users write it: a role by its present name; NULL for a role that may not know it';

CREATE FUNCTION workflow._people(task uuid, entries jsonb)
RETURNS text[] LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'wf_people';

COMMENT ON FUNCTION workflow._people(uuid, jsonb) IS 'the same for a list of assignees or candidates';

CREATE FUNCTION workflow._is_excluded(task uuid, version uuid)
RETURNS boolean LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'wf_is_excluded';

COMMENT ON FUNCTION workflow._is_excluded(uuid, uuid) IS 'whether an open task of an instance of a version excludes the caller, for the views';

CREATE FUNCTION workflow._substituted()
RETURNS text[] LANGUAGE c STABLE PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'wf_substituted';

COMMENT ON FUNCTION workflow._substituted() IS 'assignees and candidates for whom the current role is a substitute now, as tasks store them, for the views';

-- The common part of the views of open tasks. Only the owner may read it, so it needs no security barrier. Without one, each
-- view on it can be planned for its own order.
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
       b.available_at AS stored_available_at, b.definition_owner AS definition_owner_id
FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id OPERATOR(pg_catalog.=) b.id
     JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) b.instance_id
WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'
  -- All of them. Without it the index on owners and names could not be searched by a name.
  AND b.definition_owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT o.id FROM workflow.owners o))
  AND (i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
       OR b.assignee OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m))
       OR b.candidates OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m)
       OR b.assignee OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.unnest(workflow._substituted())))
       OR b.candidates OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.unnest(workflow._substituted())));

COMMENT ON VIEW workflow._open_tasks IS 'for the views of open tasks';

-- PostgreSQL plans a security barrier view without knowing the order that a query needs. So there is one view for each order of
-- an index, and a query without ORDER BY reads only as many rows as it returns. Ids are ordered by time.
CREATE VIEW workflow.open_tasks WITH (security_barrier) AS
SELECT task_id, instance_id, definition_id, activity_id, name, payload, correlation_id, created_at, priority, attempt, available_at,
       lease_until, worker, progress, last_error, assignee, candidates, deadline, form, result_schema, paused_at, definition_owner, excluded
FROM workflow._open_tasks ORDER BY task_id;

-- The order of bookmarks_inbox_idx within each owner and name.
CREATE VIEW workflow.open_tasks_by_priority WITH (security_barrier) AS
SELECT task_id, instance_id, definition_id, activity_id, name, payload, correlation_id, created_at, priority, attempt, available_at,
       lease_until, worker, progress, last_error, assignee, candidates, deadline, form, result_schema, paused_at, definition_owner, excluded,
       definition_owner_id
FROM workflow._open_tasks ORDER BY stored_available_at NULLS FIRST, priority DESC, created_at;

COMMENT ON VIEW workflow.open_tasks IS 'tasks that are not completed yet';
COMMENT ON COLUMN workflow.open_tasks.attempt IS 'number of attempts, including the present one';
COMMENT ON COLUMN workflow.open_tasks.available_at IS 'NULL if a task worker can claim it now, otherwise the earliest time; infinity: a task worker makes the last attempt';
COMMENT ON COLUMN workflow.open_tasks.lease_until IS 'until when a task worker holds it';
COMMENT ON COLUMN workflow.open_tasks.paused_at IS 'since when its instance is paused: no task worker can claim it, and available_at and lease_until do not run';
COMMENT ON COLUMN workflow.open_tasks.assignee IS 'who is to do it: role: and the name of a role, or a name that the application knows';
COMMENT ON COLUMN workflow.open_tasks.candidates IS 'who may do it, in the same form';
COMMENT ON COLUMN workflow.open_tasks.deadline IS 'the time by which people should complete it';
COMMENT ON COLUMN workflow.open_tasks.form IS 'JSON Schema of a form for the answer';
COMMENT ON COLUMN workflow.open_tasks.result_schema IS 'JSON Schema that the answer must match';
COMMENT ON COLUMN workflow.open_tasks.definition_owner IS 'owner of the definition';
COMMENT ON COLUMN workflow.open_tasks.excluded IS 'whether "not" of the task excludes the caller';

COMMENT ON COLUMN workflow.open_tasks_by_priority.definition_owner_id IS 'id in workflow.my_owners under which the task is stored: that of the owner of the definition, or of a former owner';
COMMENT ON VIEW workflow.open_tasks_by_priority IS 'the same tasks, unclaimed ones first, by priority and age';

CREATE VIEW workflow.answers WITH (security_barrier) AS
SELECT t.id AS task_id, t.instance_id, i.definition_id, t.correlation_id, t.activity_id, t.name, t.created_at, t.completed_at,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS role, t.completed_actor AS actor, t.result,
       t.status OPERATOR(pg_catalog.=) 'Completed' AS used,
       CASE WHEN f.id IS NULL THEN t.completed_for ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(f.role_oid, f.name))::text, f.name)) END AS in_place_of
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     LEFT JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) t.completed_by
     LEFT JOIN workflow.owners f ON t.completed_for IS NOT NULL AND pg_catalog.concat('role:', f.id) OPERATOR(pg_catalog.=) t.completed_for
WHERE (t.status OPERATOR(pg_catalog.=) 'Completed' OR t.status OPERATOR(pg_catalog.=) 'Cancelled' AND t.completed_by IS NOT NULL)
  AND i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d));

COMMENT ON VIEW workflow.answers IS 'answers to tasks';
COMMENT ON COLUMN workflow.answers.role IS 'the role that answered; NULL: a version before 0.3.0 did not store it';
COMMENT ON COLUMN workflow.answers.actor IS 'the person for whom that role acted';
COMMENT ON COLUMN workflow.answers.used IS 'false: the activity was cancelled before the answer took effect';
COMMENT ON COLUMN workflow.answers.in_place_of IS 'the absent person in whose place a substitute answered';

CREATE VIEW workflow.task_comments WITH (security_barrier) AS
SELECT t.id AS task_id, t.instance_id, i.definition_id, t.correlation_id, c.number::integer AS number,
       (c.entry OPERATOR(pg_catalog.->>) 'at')::pg_catalog.timestamptz AS at, c.entry OPERATOR(pg_catalog.->>) 'role' AS role,
       c.entry OPERATOR(pg_catalog.->>) 'actor' AS actor, c.entry OPERATOR(pg_catalog.->>) 'comment' AS comment,
       COALESCE(c.entry OPERATOR(pg_catalog.->) 'attachments', '[]'::jsonb) AS attachments
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
LEFT JOIN workflow.bookmarks b ON b.id OPERATOR(pg_catalog.=) t.id
CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(t.comments) WITH ORDINALITY AS c (entry, number)
WHERE i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
   OR COALESCE(b.assignee, t.assignee) OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m))
   OR COALESCE(b.candidates, t.candidates) OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m)
   OR b.assignee OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.unnest(workflow._substituted())))
   OR b.candidates OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.unnest(workflow._substituted()));

COMMENT ON VIEW workflow.task_comments IS 'comments on tasks, open or not';
COMMENT ON COLUMN workflow.task_comments.number IS 'order of the comments of a task, from 1 on';
COMMENT ON COLUMN workflow.task_comments.role IS 'name of the role that wrote it, as it was then';
COMMENT ON COLUMN workflow.task_comments.actor IS 'the person for whom that role acted';
COMMENT ON COLUMN workflow.task_comments.attachments IS 'list of objects with name and uri';

CREATE VIEW workflow.approval_votes WITH (security_barrier) AS
SELECT t.id AS task_id, v.id AS vote_task_id,
       CASE WHEN c.id IS NULL THEN v.candidates OPERATOR(pg_catalog.->>) 0
            ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(c.role_oid, c.name))::text, c.name)) END AS voter,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS role, v.completed_actor AS actor,
       CASE WHEN f.id IS NULL THEN v.completed_for ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(f.role_oid, f.name))::text, f.name)) END AS in_place_of,
       CASE WHEN w.approved OPERATOR(pg_catalog.=) 'true'::jsonb THEN 'Approved'
            WHEN w.approved OPERATOR(pg_catalog.=) 'false'::jsonb THEN 'Rejected'
            WHEN v.result OPERATOR(pg_catalog.->) 'abstain' OPERATOR(pg_catalog.=) 'true'::jsonb THEN 'Abstained' END AS vote,
       v.completed_at, v.status OPERATOR(pg_catalog.=) 'Completed' AS used
FROM workflow.tasks t JOIN workflow.instances i ON i.id OPERATOR(pg_catalog.=) t.instance_id
     JOIN workflow.tasks v ON v.instance_id OPERATOR(pg_catalog.=) t.instance_id AND v.approval OPERATOR(pg_catalog.=) t.approval
     LEFT JOIN workflow.bookmarks b ON b.id OPERATOR(pg_catalog.=) t.id
     LEFT JOIN workflow.owners a ON a.id OPERATOR(pg_catalog.=) t.completed_by
     LEFT JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) v.completed_by
     LEFT JOIN workflow.owners f ON v.completed_for IS NOT NULL AND pg_catalog.concat('role:', f.id) OPERATOR(pg_catalog.=) v.completed_for
     LEFT JOIN workflow.owners c ON pg_catalog.concat('role:', c.id) OPERATOR(pg_catalog.=) (v.candidates OPERATOR(pg_catalog.->>) 0)
     CROSS JOIN LATERAL (SELECT COALESCE(v.result OPERATOR(pg_catalog.->) 'approved', v.result)) AS w (approved)
WHERE (v.status OPERATOR(pg_catalog.=) 'Completed' OR v.status OPERATOR(pg_catalog.=) 'Cancelled' AND v.completed_by IS NOT NULL)
  AND (i.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d))
       OR COALESCE(b.assignee, t.assignee) OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m))
       OR COALESCE(b.candidates, t.candidates) OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.concat('role:', m.id) FROM workflow.my_owners m)
       OR b.assignee OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT pg_catalog.unnest(workflow._substituted())))
       OR b.candidates OPERATOR(pg_catalog.?|) ARRAY(SELECT pg_catalog.unnest(workflow._substituted()))
       -- A substitute, or a role that acted for people whom only the application knows.
       OR t.completed_by OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
          AND CASE WHEN t.completed_actor IS NULL THEN pg_catalog.pg_get_userbyid(workflow._role_of(a.role_oid, a.name)) OPERATOR(pg_catalog.=) CURRENT_USER
                   ELSE t.completed_actor OPERATOR(pg_catalog.=) pg_catalog.current_setting('workflow.actor', true) END);

COMMENT ON VIEW workflow.approval_votes IS 'votes in the approvals that have asked the current role, for each of its tasks';
COMMENT ON COLUMN workflow.approval_votes.task_id IS 'a task of the same approval that the caller may see: it names the caller, or named it when it ended, or the caller answered it';
COMMENT ON COLUMN workflow.approval_votes.vote_task_id IS 'the task of the vote';
COMMENT ON COLUMN workflow.approval_votes.voter IS 'who was asked, as the list of voters names them';
COMMENT ON COLUMN workflow.approval_votes.role IS 'the role that voted';
COMMENT ON COLUMN workflow.approval_votes.actor IS 'the person for whom that role acted';
COMMENT ON COLUMN workflow.approval_votes.in_place_of IS 'the absent person in whose place a substitute voted';
COMMENT ON COLUMN workflow.approval_votes.vote IS 'Approved, Rejected or Abstained';
COMMENT ON COLUMN workflow.approval_votes.used IS 'false: the approval ended before the vote took effect';

CREATE VIEW workflow.substitute_list WITH (security_barrier) AS
SELECT CASE WHEN p.id IS NULL THEN s.person ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(p.role_oid, p.name))::text, p.name)) END AS person,
       CASE WHEN a.id IS NULL THEN s.substitute ELSE pg_catalog.concat('role:', COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(a.role_oid, a.name))::text, a.name)) END AS substitute,
       s.starts_at, s.ends_at, COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(b.role_oid, b.name))::text, b.name) AS set_by,
       s.starts_at OPERATOR(pg_catalog.<=) pg_catalog.now() AND s.ends_at OPERATOR(pg_catalog.>) pg_catalog.now() AS in_force
FROM workflow.substitutes s
LEFT JOIN workflow.owners p ON pg_catalog.concat('role:', p.id) OPERATOR(pg_catalog.=) s.person
LEFT JOIN workflow.owners a ON pg_catalog.concat('role:', a.id) OPERATOR(pg_catalog.=) s.substitute
LEFT JOIN workflow.owners b ON b.id OPERATOR(pg_catalog.=) s.set_by
WHERE s.set_by OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR p.id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR a.id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

COMMENT ON VIEW workflow.substitute_list IS 'substitutes that wf_set_substitute set';
COMMENT ON COLUMN workflow.substitute_list.person IS 'who is absent';
COMMENT ON COLUMN workflow.substitute_list.substitute IS 'who answers instead';
COMMENT ON COLUMN workflow.substitute_list.set_by IS 'the role that set it; of names that the application knows: it counts for instances that this role may resume';
COMMENT ON COLUMN workflow.substitute_list.in_force IS 'whether the period has begun';

CREATE VIEW workflow.task_limits WITH (security_barrier) AS
SELECT l.name, l.key, l.concurrency, l.rate, CASE WHEN l.rate IS NOT NULL THEN pg_catalog.make_interval(secs => l.per OPERATOR(pg_catalog./) 1000000.0::double precision) END AS per,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner
FROM workflow.limits l JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) l.owner
WHERE (l.concurrency IS NOT NULL OR l.rate IS NOT NULL)
  AND l.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.task_limits IS 'limits that wf_limit_tasks set';
COMMENT ON COLUMN workflow.task_limits.key IS 'member of the payload for each value of which the limit applies separately';
COMMENT ON COLUMN workflow.task_limits.owner IS 'the role to whose definitions it applies';

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

COMMENT ON VIEW workflow.accepted_owner_list IS 'acceptances by wf_accept_tasks that concern the current role: which task worker accepts tasks of which owner';
COMMENT ON COLUMN workflow.accepted_owner_list.for_members IS 'whether it also applies to members of the task worker''s role: a superuser accepted';

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
COMMENT ON COLUMN workflow.worker_grants.definition_id IS 'NULL: all definitions that the grantor may manage';
COMMENT ON COLUMN workflow.worker_grants.name IS 'NULL: tasks of any name';
COMMENT ON COLUMN workflow.worker_grants.in_force IS 'whether it has an effect: the grantor exists, and may manage the definition if there is one';
COMMENT ON COLUMN workflow.worker_grants.accepted IS 'whether the role accepts tasks of the owner of the definition, or without a definition of the grantor; if not, only wf_claim_task claims them';
