-- In the reporting database, which needs no extension: the tables that the nodes fill, and the views for people.
--
--   CREATE SUBSCRIPTION node1 CONNECTION 'host=node1 dbname=app user=replicator' PUBLICATION workflow_report;
--   CREATE SUBSCRIPTION node2 CONNECTION 'host=node2 dbname=app user=replicator' PUBLICATION workflow_report;
--
-- A moved instance is deleted by one subscription and inserted by another. If the insertion comes first, it waits for the deletion:
-- PostgreSQL repeats what has failed. Before a key is moved again, wait until the slot of its current node has confirmed its arrival:
-- otherwise a newer row is there first, and that subscription fails for ever. A replica that is promoted needs the slot of its node.
CREATE SCHEMA workflow;

CREATE TABLE workflow.instances (
    id uuid PRIMARY KEY, definition_id text, version integer, name text, correlation_id text, status text, sub_status text,
    incident_count integer, parent_instance_id uuid, created_at timestamptz, updated_at timestamptz, finished_at timestamptz,
    paused_at timestamptz);
CREATE INDEX ON workflow.instances (correlation_id);

CREATE TABLE workflow.tasks (
    id uuid PRIMARY KEY, instance_id uuid, activity_id text, name text, status text, correlation_id text, payload jsonb,
    created_at timestamptz, completed_at timestamptz, deadline timestamptz);
CREATE INDEX ON workflow.tasks (name, created_at) WHERE status = 'Open';

-- Tasks that wait for an answer. The answer goes through the router, by the correlation id:
-- wf_call(correlation_id, 'a name for this answer', 'task', task_id, '{"approved": true}').
CREATE VIEW inbox AS
SELECT t.id AS task_id, t.name, t.correlation_id, i.definition_id, t.payload, t.created_at, t.deadline
FROM workflow.tasks AS t JOIN workflow.instances AS i ON i.id = t.instance_id
WHERE t.status = 'Open';

CREATE VIEW running AS
SELECT definition_id, version, sub_status, count(*), min(created_at) AS oldest
FROM workflow.instances WHERE status = 'Running'
GROUP BY definition_id, version, sub_status;

CREATE VIEW instance_list AS
SELECT id AS instance_id, definition_id, version, name, correlation_id, status, sub_status, incident_count, parent_instance_id,
       created_at, updated_at, finished_at, paused_at
FROM workflow.instances;
