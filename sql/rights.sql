/*
 * Rights. Nobody but the owner has any on a table. The views filter by themselves and may be read by all.
 * EXECUTE is revoked from PUBLIC on everything but the pure readers; wf_grant_usage gives a role the rest.
 */

GRANT USAGE ON SCHEMA workflow TO PUBLIC;

GRANT SELECT ON workflow.definition_list, workflow.definition_links, workflow.instance_list, workflow.waiting, workflow.open_bookmarks,
    workflow.open_tasks, workflow.open_incidents, workflow.trigger_list, workflow.journal, workflow.schedules,
    workflow.schedule_runs, workflow.dead_letter_list, workflow.workers TO PUBLIC;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA workflow FROM PUBLIC;

DO $$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT p.oid::pg_catalog.regprocedure AS signature
        FROM pg_catalog.pg_depend d
        JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname OPERATOR(pg_catalog.=) 'workflow'
        JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid
        WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
          AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
          AND d.deptype OPERATOR(pg_catalog.=) 'e'
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f.signature);
    END LOOP;
END
$$;

-- Pure readers: they look at their argument, or at what is built in.
GRANT EXECUTE ON FUNCTION workflow._events(bytea), workflow._role_of(oid, bigint, text), workflow._run_status(text, text), workflow._activities(), workflow._activity_list(),
    workflow._validate(jsonb), workflow.instance_state(uuid), workflow._cron_preview(text, integer, text, timestamptz),
    workflow._worker_status() TO PUBLIC;
GRANT EXECUTE ON FUNCTION wf_validate(jsonb), wf_activities(), wf_cron_preview(text, integer, text, timestamptz) TO PUBLIC;

CREATE FUNCTION wf_grant_usage(role name)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f record;
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'argument "role" must not be NULL' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    FOR f IN
        SELECT p.oid::regprocedure AS signature
        FROM pg_catalog.pg_depend d
        JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'workflow'
        JOIN pg_catalog.pg_proc p ON p.oid = d.objid
        WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.refclassid = 'pg_catalog.pg_extension'::regclass
          AND d.deptype = 'e' AND p.proname NOT IN ('wf_grant_usage', 'wf_revoke_usage', 'wf_check', '_check', 'wf_worker_start', 'wf_adopt_database')
    LOOP
        EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO %I', f.signature, role);
    END LOOP;
END
$$;

COMMENT ON FUNCTION wf_grant_usage(name) IS 'let a role call the functions of workflow; what it may do with which definition is checked by each call';

CREATE FUNCTION wf_revoke_usage(role name)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f record;
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'argument "role" must not be NULL' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    FOR f IN
        SELECT p.oid::regprocedure AS signature
        FROM pg_catalog.pg_depend d
        JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'workflow'
        JOIN pg_catalog.pg_proc p ON p.oid = d.objid
        WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.refclassid = 'pg_catalog.pg_extension'::regclass
          AND d.deptype = 'e'
    LOOP
        EXECUTE pg_catalog.format('REVOKE EXECUTE ON FUNCTION %s FROM %I', f.signature, role);
    END LOOP;
END
$$;

COMMENT ON FUNCTION wf_revoke_usage(name) IS 'take back what wf_grant_usage gave';

REVOKE ALL ON FUNCTION wf_grant_usage(name), wf_revoke_usage(name) FROM PUBLIC;
