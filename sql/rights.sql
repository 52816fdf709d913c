/*
 * Rights. Only the owner has rights on the tables. The views filter rows themselves and may be read by all roles.
 * EXECUTE is revoked from PUBLIC except on functions that only read; wf_grant_usage grants the others to a role.
 * workflow._intended_grants() lists the objects.
 * If Citus distributes functions, it rejects GRANT on a worker node unless propagation of GRANT is off; without Citus its
 * setting has no effect.
 */

CREATE FUNCTION wf_grant_usage(role name)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET citus.enable_ddl_propagation = off AS $$
DECLARE
    f record;
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'argument "role" must not be NULL' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    FOR f IN
        SELECT o.target
        FROM workflow._objects() o JOIN workflow._intended_grants() g ON g.kind = o.kind AND g.name = o.name AND g.grantee IS NULL
        WHERE o.kind = 'function'
        ORDER BY o.target
    LOOP
        EXECUTE pg_catalog.format('GRANT EXECUTE ON %s TO %I', f.target, role);
    END LOOP;
    -- Without USAGE on the schema of the functions, which CREATE EXTENSION … SCHEMA names, their names are not found.
    FOR f IN
        SELECT DISTINCT n.nspname
        FROM workflow._objects() o JOIN pg_catalog.pg_proc p ON p.oid = o.id JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
        WHERE o.kind = 'function' AND NOT pg_catalog.has_schema_privilege(role, n.oid, 'USAGE')
    LOOP
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %s', f.nspname, pg_catalog.quote_ident(role));
    END LOOP;
    -- The role's row among the owners is made now, so that its first calls do not wait for each other.
    PERFORM workflow._make_owner(role);
END
$$;

COMMENT ON FUNCTION wf_grant_usage(name) IS 'let a role call the functions of workflow; what it may do with which definition is checked by each call';

CREATE FUNCTION wf_revoke_usage(role name)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET citus.enable_ddl_propagation = off AS $$
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
        EXECUTE pg_catalog.format('REVOKE EXECUTE ON ROUTINE %s FROM %I', f.signature, role);
    END LOOP;
END
$$;

COMMENT ON FUNCTION wf_revoke_usage(name) IS 'take back what wf_grant_usage gave';

CALL workflow._set_rights();
