CREATE FUNCTION wf_set_owner(kind text, id text, role name)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_owner';

COMMENT ON FUNCTION wf_set_owner(text, text, name) IS
    'give a definition, an instance, a schedule or an activity type to another role; false if the role already owns it';

CREATE FUNCTION wf_set_role(role name, actor text DEFAULT NULL, groups text[] DEFAULT NULL)
RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_role';

COMMENT ON FUNCTION wf_set_role(name, text, text[]) IS
    'take a role until the transaction ends, as SET LOCAL ROLE does, but so that no SQL in the transaction can leave it; with an actor, act for that person; with groups, answer only tasks for that person and these groups';

CREATE FUNCTION wf_set_directory(function regprocedure)
RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', 'wf_set_directory';

COMMENT ON FUNCTION wf_set_directory(regprocedure) IS
    'name the function that knows names and addresses of people, or with NULL none; for superusers';

CREATE FUNCTION wf_set_actor(actor text)
RETURNS text LANGUAGE sql
RETURN pg_catalog.set_config('workflow.actor', actor, true);

COMMENT ON FUNCTION wf_set_actor(text) IS
    'act for a person until the transaction ends, as SET LOCAL workflow.actor does; in a FROM clause, for one statement';

CREATE FUNCTION workflow._make_owner(role name)
RETURNS integer LANGUAGE c AS 'MODULE_PATHNAME', 'wf_make_owner';

COMMENT ON FUNCTION workflow._make_owner(name) IS 'id of a role in workflow.owners, created if it has none, for wf_grant_usage';

CREATE FUNCTION workflow._grant_invoker(role text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_grant_invoker';

COMMENT ON FUNCTION workflow._grant_invoker(text) IS 'stores whose workflows borrow the rights of the current role, for wf_grant_invoker';

CREATE FUNCTION workflow._revoke_invoker(role text)
RETURNS boolean LANGUAGE c AS 'MODULE_PATHNAME', 'wf_revoke_invoker';

COMMENT ON FUNCTION workflow._revoke_invoker(text) IS 'removes whose workflows borrow the rights of the current role, for wf_revoke_invoker';

CREATE FUNCTION wf_grant_invoker(role name)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._grant_invoker(role::text);
END;

COMMENT ON FUNCTION wf_grant_invoker(name) IS
    'lend the rights of the current role to the workflows of another: their SQL runs with these rights when the current role resumes them; false if it did already';

CREATE FUNCTION wf_revoke_invoker(role name)
RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT workflow._revoke_invoker(role::text);
END;

COMMENT ON FUNCTION wf_revoke_invoker(name) IS 'revoke a grant of wf_grant_invoker; false if there was none';
