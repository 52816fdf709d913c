-- On each node (wal_level = logical): the data of its instances and tasks for a reporting database. No state, no variables and no journal
-- leave the node, and no owner's number, which means nothing elsewhere.
CREATE PUBLICATION workflow_report FOR TABLE
    workflow.instances (id, definition_id, version, name, correlation_id, status, sub_status, incident_count, parent_instance_id,
                        created_at, updated_at, finished_at, paused_at),
    workflow.tasks (id, instance_id, activity_id, name, status, correlation_id, payload, created_at, completed_at, deadline);
