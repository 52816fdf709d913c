CREATE VIEW workflow.path_list WITH (security_barrier) AS
SELECT p.segment, COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner
FROM workflow.paths p JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) p.owner
WHERE p.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

COMMENT ON VIEW workflow.path_list IS 'first segments of HTTP paths that belong to the current role';
