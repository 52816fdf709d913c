/*
 * The views for users. Each shows a role its own rows and the rows granted to it: those of owners whose rights it
 * has, of definitions that it owns, and of definitions that it may read. They are security barriers, so that a
 * function in a user's WHERE clause sees no rows of others. Row-level security on the tables would filter nothing here,
 * because it is checked as the view's owner. The filters are arrays, computed once per query: with a subplan for each
 * row the estimated cost is so high that PostgreSQL compiles the query with JIT first.
 *
 * A view of a single table is updatable in PostgreSQL: a role with write privileges on the view could write to the
 * table with the rights of the view's owner. The join with one empty row, which costs nothing, makes it read-only.
 */

CREATE FUNCTION workflow._role_of(role oid, name text)
RETURNS oid LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_role_of';

COMMENT ON FUNCTION workflow._role_of(oid, text) IS 'the role that a row of workflow.owners stands for, NULL if it does not exist';

CREATE VIEW workflow.my_owners WITH (security_barrier) AS
SELECT o.id
FROM workflow.owners o CROSS JOIN (SELECT) read_only
WHERE CASE WHEN workflow._role_of(o.role_oid, o.name) IS NULL
           THEN (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER)
           ELSE pg_catalog.pg_has_role(workflow._role_of(o.role_oid, o.name), 'USAGE') END;

COMMENT ON VIEW workflow.my_owners IS 'owners whose rights the current role has';

CREATE VIEW workflow.event_grant_list WITH (security_barrier) AS
SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(p.role_oid, p.name))::text, p.name) AS publisher,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(l.role_oid, l.name))::text, l.name) AS listener
FROM workflow.event_grants g
JOIN workflow.owners p ON p.id OPERATOR(pg_catalog.=) g.publisher
JOIN workflow.owners l ON l.id OPERATOR(pg_catalog.=) g.listener
WHERE g.publisher OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR g.listener OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.event_grant_list IS 'grants of wf_grant_events that concern the current role: which listener may receive the events of which publisher';

CREATE VIEW workflow.invoker_grant_list WITH (security_barrier) AS
SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(l.role_oid, l.name))::text, l.name) AS lender,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(b.role_oid, b.name))::text, b.name) AS borrower
FROM workflow.invoker_grants g
JOIN workflow.owners l ON l.id OPERATOR(pg_catalog.=) g.lender
JOIN workflow.owners b ON b.id OPERATOR(pg_catalog.=) g.borrower
WHERE g.lender OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR g.borrower OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m));

COMMENT ON VIEW workflow.invoker_grant_list IS 'grants of wf_grant_invoker that concern the current role: which lender lends its rights to the workflows of which borrower';
