/*
 * Privileges on the objects of the extension: those that the install script intends, those that roles have, and those
 * that wf_check() reports.
 */

-- The single definition of the rights of roles other than the owner. The name * means every object of the kind. A function with
-- grantee NULL is for the roles that wf_grant_usage names. An object that is not listed is for the owner only.
CREATE FUNCTION workflow._intended_grants()
RETURNS TABLE (kind text, name text, privilege text, grantee text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    VALUES ('schema', 'workflow', 'USAGE', 'public'),
           -- Counts without contents.
           ('relation', 'health', 'SELECT', 'pg_monitor'),
           ('function', 'wf_check', 'EXECUTE', 'pg_monitor'),
           ('function', 'wf_metrics', 'EXECUTE', 'pg_monitor'),
           ('function', '_check', 'EXECUTE', 'pg_monitor'),
           ('function', '_check_rights', 'EXECUTE', 'pg_monitor'),
           -- Names and times without data.
           ('function', 'wf_take_spans', 'EXECUTE', 'pg_monitor')
    UNION ALL
    -- Not stored_role: a column of another role would stand in the way of DROP EXTENSION.
    SELECT 'type', t.name, 'USAGE', 'public'
    FROM unnest(ARRAY['wf_adopted', 'wf_delivery', 'wf_http_begun', 'wf_http_response', 'wf_result']) AS t (name)
    UNION ALL
    -- These views filter by themselves.
    SELECT 'relation', v.name, 'SELECT', 'public'
    FROM unnest(ARRAY['definition_list', 'deleted_definitions', 'definition_links', 'instance_list', 'search_attribute_list', 'waiting', 'open_bookmarks', 'open_tasks', 'open_tasks_by_priority', 'answers', 'open_incidents', 'open_compensations',
                      'trigger_list', 'event_grant_list', 'invoker_grant_list', 'worker_grants', 'accepted_owner_list', 'substitute_list', 'task_comments', 'approval_votes', 'path_list', 'journal', 'audit', 'schedules', 'schedule_runs', 'dead_letter_list', 'workers', 'task_limits',
                      'startable_definitions', 'task_definitions', 'my_requests', 'request_steps', 'my_answers']) AS v (name)
    UNION ALL
    -- These functions look at their argument, at what is built in, or at what the current role may see; wf_set_role gives what
    -- SET ROLE gives.
    SELECT 'function', f.name, 'EXECUTE', 'public'
    FROM unnest(ARRAY['_accepts_tasks', '_act', '_events', '_is_excluded', '_node_id', '_people', '_person', '_role_of', '_run_status', '_substituted', '_activities', '_activity_list', '_arguments', '_flow_ports', '_validate', '_visible_activities', '_cron_preview', '_worker_status',
                      'instance_state', 'instance_page', 'instance_count', 'instance_calls', 'task_calls', 'may_reassign', 'activity_executions', 'wf_set_role', 'wf_set_actor', 'wf_validate', 'wf_activities', 'wf_activities_digest', 'wf_cron_preview', 'wf_partition', 'wf_version', '_stored_role_oid', '_stored_role_name']) AS f (name)
    UNION ALL
    SELECT 'function', f.name, 'EXECUTE', NULL
    FROM unnest(ARRAY['_adopt_database', 'wf_accept_tasks', 'wf_alter', '_alter', 'wf_alter_schedule', 'wf_assign_task', 'wf_begin_http_request', 'wf_call', 'wf_cancel', 'wf_cancel_activity', 'wf_claim_task', 'wf_claim_tasks', 'wf_comment_task', 'wf_complete_task', 'wf_complete_tasks',
                      'wf_define', 'wf_delete_definition', 'wf_delete_instance', 'wf_diagram',
                       'wf_enqueue_bookmark', 'wf_erase', 'wf_explain', '_explain', 'wf_export', 'wf_export_version', 'wf_extend_task', 'wf_fail_task', 'wf_grant', '_grant', 'wf_grant_events', '_grant_events',
                       'wf_http_request', 'wf_index_instances', 'wf_limit_tasks', 'wf_migrate', 'wf_migrate_all', '_migrate_batch', 'wf_override_task', 'wf_pause', 'wf_publish', 'wf_publish_event', 'wf_refresh', 'wf_refuse_tasks', 'wf_register_activity', 'wf_release_task', 'wf_remove_substitute', 'wf_replay', 'wf_resume',
                      'wf_retract', 'wf_retry', 'wf_revoke', '_revoke', 'wf_revoke_events', '_revoke_events', 'wf_grant_invoker', '_grant_invoker', 'wf_revoke_invoker', '_revoke_invoker', 'wf_grant_worker', '_grant_worker',
                      'wf_revoke_worker', '_revoke_worker', 'wf_run', 'wf_run_due', 'wf_save_draft',
                      'wf_schedule', 'wf_schedule_activity', 'wf_schedule_run_now', 'wf_schedule_workflow', 'wf_send_stimulus', 'wf_set_owner', 'wf_set_substitute', 'wf_set_variable', 'wf_start', 'wf_svg',
                      'wf_take_http_responses', 'wf_unassign_task', 'wf_unpause', 'wf_unschedule', 'wf_wait_http_responses', 'wf_wait_tasks']) AS f (name)
$$;

COMMENT ON FUNCTION workflow._intended_grants() IS 'every right that roles other than the owner have by the install script';

-- All objects under the names that GRANT uses, with their current privileges and those that the last script of the extension
-- set.
CREATE FUNCTION workflow._objects()
RETURNS TABLE (id oid, kind text, name text, target text, part text, owner oid, held aclitem[], initial aclitem[])
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    WITH member AS (
        SELECT d.classid, d.objid
        FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'workflow'
        WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
    ), object AS (
        SELECT 'relation' AS kind, c.relname::text AS name, m.classid, m.objid, 0 AS number,
               format(CASE c.relkind WHEN 'S' THEN 'SEQUENCE %I.%I' ELSE 'TABLE %I.%I' END, n.nspname, c.relname) AS target, '' AS part,
               c.relowner AS owner, coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END, c.relowner)) AS held
        FROM member m JOIN pg_class c ON c.oid = m.objid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE m.classid = 'pg_class'::regclass AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        UNION ALL
        SELECT 'column', a.attname::text, m.classid, m.objid, a.attnum, format('TABLE %I.%I', n.nspname, c.relname), format(' (%I)', a.attname),
               c.relowner, a.attacl
        FROM member m JOIN pg_class c ON c.oid = m.objid JOIN pg_namespace n ON n.oid = c.relnamespace
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attacl IS NOT NULL
        WHERE m.classid = 'pg_class'::regclass
        UNION ALL
        SELECT 'function', p.proname::text, m.classid, m.objid, 0, format('ROUTINE %s', p.oid::regprocedure), '', p.proowner,
               coalesce(p.proacl, acldefault('f', p.proowner))
        FROM member m JOIN pg_proc p ON p.oid = m.objid
        WHERE m.classid = 'pg_proc'::regclass
        UNION ALL
        SELECT 'type', t.typname::text, m.classid, m.objid, 0, format('TYPE %s', t.oid::regtype), '', t.typowner,
               coalesce(t.typacl, acldefault('T', t.typowner))
        FROM member m JOIN pg_type t ON t.oid = m.objid LEFT JOIN pg_class c ON c.oid = t.typrelid
        -- From PostgreSQL 18 on the row type of a table is a member, too. Its rights are the table's.
        WHERE m.classid = 'pg_type'::regclass AND t.typcategory <> 'A' AND (t.typrelid = 0 OR c.relkind = 'c')
        UNION ALL
        SELECT 'schema', n.nspname::text, m.classid, m.objid, 0, format('SCHEMA %I', n.nspname), '', n.nspowner,
               coalesce(n.nspacl, acldefault('n', n.nspowner))
        FROM member m JOIN pg_namespace n ON n.oid = m.objid
        WHERE m.classid = 'pg_namespace'::regclass
    )
    SELECT o.objid, o.kind, o.name, o.target, o.part, o.owner, o.held, i.initprivs
    FROM object o LEFT JOIN pg_init_privs i ON i.classoid = o.classid AND i.objoid = o.objid AND i.objsubid = o.number
$$;

COMMENT ON FUNCTION workflow._objects() IS 'objects of the extension with their privileges: held now, and initially';

-- The functions that task workers call, and the internal functions that these need; wf_grant_worker grants them.
CREATE FUNCTION workflow._worker_calls()
RETURNS SETOF text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT unnest(ARRAY['wf_claim_task', 'wf_claim_tasks', 'wf_extend_task', 'wf_complete_task', 'wf_complete_tasks',
                        'wf_fail_task', 'wf_release_task', 'wf_wait_tasks', 'wf_accept_tasks', 'wf_refuse_tasks'])
$$;

COMMENT ON FUNCTION workflow._worker_calls() IS 'names of the functions that wf_grant_worker gives to a role';

CREATE FUNCTION workflow._lacks_worker_calls(role oid)
RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM workflow._objects() o
                   WHERE o.kind = 'function' AND o.name IN (SELECT workflow._worker_calls())
                     AND NOT EXISTS (SELECT FROM aclexplode(o.held) h WHERE h.grantee = role AND h.privilege_type = 'EXECUTE'))
$$;

COMMENT ON FUNCTION workflow._lacks_worker_calls(oid) IS 'whether a role was not given all of workflow._worker_calls(), for wf_grant_worker';

CREATE FUNCTION workflow._give_worker_calls(role oid)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET citus.enable_ddl_propagation = off AS $$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT o.target
        FROM workflow._objects() o
        WHERE o.kind = 'function' AND o.name IN (SELECT workflow._worker_calls())
        ORDER BY o.target
    LOOP
        EXECUTE format('GRANT EXECUTE ON %s TO %s', f.target, role::regrole);
    END LOOP;
    -- Without USAGE on the schema of the functions, which CREATE EXTENSION … SCHEMA names, their names are not found.
    FOR f IN
        SELECT DISTINCT n.nspname
        FROM workflow._objects() o JOIN pg_catalog.pg_proc p ON p.oid = o.id JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
        WHERE o.kind = 'function' AND NOT pg_catalog.has_schema_privilege(role, n.oid, 'USAGE')
    LOOP
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %s', f.nspname, role::regrole);
    END LOOP;
END
$$;

COMMENT ON FUNCTION workflow._give_worker_calls(oid) IS 'makes the GRANTs of wf_grant_worker, with the rights of the owner';

-- A role that also has the rights of wf_grant_usage keeps these functions.
CREATE FUNCTION workflow._take_worker_calls(role oid)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET citus.enable_ddl_propagation = off AS $$
DECLARE
    f record;
BEGIN
    IF EXISTS (SELECT FROM workflow._objects() o CROSS JOIN LATERAL aclexplode(o.held) h
               WHERE o.kind = 'function' AND o.name NOT IN (SELECT workflow._worker_calls()) AND h.grantee = role) THEN
        RETURN;
    END IF;
    FOR f IN
        SELECT o.target
        FROM workflow._objects() o CROSS JOIN LATERAL aclexplode(o.held) h
        WHERE o.kind = 'function' AND h.grantee = role
        ORDER BY o.target
    LOOP
        EXECUTE format('REVOKE EXECUTE ON %s FROM %s', f.target, role::regrole);
    END LOOP;
END
$$;

COMMENT ON FUNCTION workflow._take_worker_calls(oid) IS 'takes back what workflow._give_worker_calls gave, for wf_revoke_worker';

-- GRANTs that an upgrade script defers to the end of its transaction: pg_dump treats privileges that a script has set as
-- initial ones, and omits them.
CREATE TABLE workflow.pending_usage (
    function oid NOT NULL,
    role     oid NOT NULL,
    CONSTRAINT pending_usage_pkey PRIMARY KEY (function, role)
);

COMMENT ON TABLE workflow.pending_usage IS 'new functions for roles that wf_grant_usage named before; empty but while an upgrade script runs';

CREATE FUNCTION workflow._give_usage()
RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s', NEW.function::regprocedure, NEW.role::regrole);
    DELETE FROM workflow.pending_usage u WHERE u.function = NEW.function AND u.role = NEW.role;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION workflow._give_usage() IS 'makes a GRANT of workflow.pending_usage';

CREATE CONSTRAINT TRIGGER give_usage AFTER INSERT ON workflow.pending_usage
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION workflow._give_usage();

-- Called at the end of the install script and of each upgrade script. pg_init_privs has the privileges that the last script
-- left; an object without a row there is new. This distinguishes privileges from ALTER DEFAULT PRIVILEGES (or from an event
-- trigger), which are removed, from manual GRANTs, which stay. A role with all rights that wf_grant_usage used to grant gets
-- those that it grants now.
CREATE PROCEDURE workflow._set_rights()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    command text;
BEGIN
    INSERT INTO workflow.pending_usage (function, role)
    WITH usage AS (
        SELECT o.id, o.held, o.owner, o.initial IS NULL AS is_new
        FROM workflow._objects() o JOIN workflow._intended_grants() g ON g.kind = o.kind AND g.name = o.name AND g.grantee IS NULL
        WHERE o.kind = 'function'
    ), holder AS (
        SELECT h.grantee
        FROM usage u CROSS JOIN LATERAL aclexplode(u.held) h
        WHERE NOT u.is_new AND h.privilege_type = 'EXECUTE' AND h.grantee NOT IN (0, u.owner)
        GROUP BY h.grantee
        HAVING count(*) = (SELECT count(*) FROM usage WHERE NOT is_new)
    )
    SELECT u.id, h.grantee
    FROM usage u CROSS JOIN holder h
    WHERE u.is_new
    UNION
    -- Workers get what a worker calls.
    SELECT o.id, r.oid
    FROM workflow._objects() o, workflow.task_grants g JOIN workflow.owners w ON w.id = g.role
         JOIN pg_roles r ON r.oid = w.role_oid OR w.role_oid IS NULL AND r.rolname = w.name
    WHERE o.kind = 'function' AND o.initial IS NULL AND o.name IN (SELECT workflow._worker_calls());
    -- The owner bypasses row-level security, and so do calls and views, which have the owner's rights. Without a policy
    -- SELECT, COPY and the first copy of a subscription would be silently empty for a role that may read everything.
    FOR command IN
        SELECT v.command
        FROM workflow._objects() o JOIN pg_class c ON c.oid = o.id
             CROSS JOIN LATERAL (VALUES
                 (format('ALTER %s ENABLE ROW LEVEL SECURITY', o.target)),
                 (format('CREATE POLICY readers ON %s FOR SELECT TO pg_read_all_data USING (true)', substr(o.target, 7)))) AS v (command)
        WHERE o.kind = 'relation' AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity
    LOOP
        EXECUTE command;
    END LOOP;
    -- The first REVOKE makes the row of a new object in pg_init_privs, whatever privileges the object has.
    FOR command IN
        SELECT format('REVOKE ALL ON %s FROM PUBLIC', o.target)
        FROM workflow._objects() o
        WHERE o.initial IS NULL AND o.kind <> 'column'
        UNION ALL
        SELECT format('REVOKE %s%s ON %s FROM %s CASCADE', h.privilege_type, o.part, o.target,
                      CASE h.grantee WHEN 0 THEN 'PUBLIC' ELSE h.grantee::regrole::text END)
        FROM workflow._objects() o CROSS JOIN LATERAL aclexplode(o.held) h
        WHERE h.grantee <> o.owner
          AND (o.initial IS NULL OR EXISTS (SELECT FROM aclexplode(o.initial) i
                                            WHERE i.grantee = h.grantee AND i.privilege_type = h.privilege_type))
          AND NOT EXISTS (SELECT FROM workflow._intended_grants() g
                          WHERE g.kind = o.kind AND g.name IN (o.name, '*') AND g.privilege = h.privilege_type
                            AND CASE g.grantee WHEN 'public' THEN 0 ELSE g.grantee::regrole::oid END = h.grantee)
    LOOP
        EXECUTE command;
    END LOOP;
    FOR command IN
        SELECT format('GRANT %s ON %s TO %s', g.privilege, o.target, g.grantee)
        FROM workflow._objects() o JOIN workflow._intended_grants() g ON g.kind = o.kind AND g.name IN (o.name, '*')
        WHERE g.grantee IS NOT NULL
          AND NOT EXISTS (SELECT FROM aclexplode(o.initial) i
                          WHERE i.privilege_type = g.privilege
                            AND i.grantee = CASE g.grantee WHEN 'public' THEN 0 ELSE g.grantee::regrole::oid END)
    LOOP
        EXECUTE command;
    END LOOP;
END
$$;

COMMENT ON PROCEDURE workflow._set_rights() IS 'row-level security on new tables, no rights but the intended ones on new objects';

-- Privileges and objects that row-level security does not restrict, or that weaken it. Before PostgreSQL 18, AFTER triggers of
-- a referencing table run with the rights of the session that deletes the referenced row: those of the extension's owner.
CREATE FUNCTION workflow._check_rights()
RETURNS TABLE (problem text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'right that only the owner should have',
           format('%s%s on %s: %s', h.privilege_type, o.part, o.target, CASE h.grantee WHEN 0 THEN 'PUBLIC' ELSE h.grantee::regrole::text END)
    FROM workflow._objects() o CROSS JOIN LATERAL aclexplode(o.held) h LEFT JOIN pg_roles r ON r.oid = h.grantee
    WHERE h.grantee <> o.owner AND r.rolsuper IS NOT TRUE
      AND (o.kind IN ('relation', 'column') AND h.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER')
           OR o.kind IN ('relation', 'column') AND h.privilege_type = 'REFERENCES' AND current_setting('server_version_num')::integer < 180000
           OR o.kind = 'schema' AND h.privilege_type = 'CREATE')
    UNION ALL
    SELECT 'role that may write to every table', r.rolname::text
    FROM pg_roles r
    WHERE pg_has_role(r.oid, 'pg_write_all_data', 'MEMBER') AND r.rolname <> 'pg_write_all_data' AND NOT r.rolsuper
    UNION ALL
    SELECT 'role that bypasses row-level security', r.rolname::text
    FROM pg_roles r
    WHERE r.rolbypassrls AND NOT r.rolsuper
    UNION ALL
    SELECT 'table without row-level security, or without its policy for readers', o.target
    FROM workflow._objects() o JOIN pg_class c ON c.oid = o.id
    WHERE o.kind = 'relation' AND c.relkind IN ('r', 'p')
      AND NOT (c.relrowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'readers'))
    UNION ALL
    SELECT 'policy that the extension did not make', format('%I on %s', p.polname, o.target)
    FROM workflow._objects() o JOIN pg_policy p ON p.polrelid = o.id
    WHERE o.kind = 'relation' AND (p.polname <> 'readers' OR p.polcmd <> 'r' OR p.polroles <> ARRAY['pg_read_all_data'::regrole::oid])
    UNION ALL
    SELECT 'schema in which any role may create functions with names of the extension', n.nspname::text
    FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a
    WHERE a.grantee = 0 AND a.privilege_type = 'CREATE'
      AND EXISTS (SELECT FROM workflow._objects() o JOIN pg_proc p ON p.oid = o.id
                  WHERE o.kind = 'function' AND o.name LIKE 'wf\_%' AND p.pronamespace = n.oid)
    UNION ALL
    SELECT 'function that calls may find in place of one of the extension', f.oid::regprocedure::text
    FROM pg_proc f
    WHERE f.proname LIKE 'wf\_%'
      AND EXISTS (SELECT FROM workflow._objects() o JOIN pg_proc p ON p.oid = o.id
                  WHERE o.kind = 'function' AND p.proname = f.proname AND p.pronamespace = f.pronamespace)
      AND NOT EXISTS (SELECT FROM workflow._objects() o WHERE o.kind = 'function' AND o.id = f.oid)
$$;

COMMENT ON FUNCTION workflow._check_rights() IS 'rights that roles other than the owner hold and should not, for wf_check';
