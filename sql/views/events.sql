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

COMMENT ON VIEW workflow.dead_letter_list IS 'stimuli that were given up, and bookmarks that could not be fired; wf_replay retries them';
