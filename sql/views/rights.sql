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
