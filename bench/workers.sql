-- Instances that wait for an instant.
SELECT wf_define('{"definitionId": "due", "root": [{"type": "StartAt", "dateTime": {"input": "at"}}]}');

-- A parent of many, and what it waits for.
SELECT wf_define('{"definitionId": "child", "root": [{"type": "SetOutput", "outputName": "Twice", "outputValue": {"js": "getInput(''Item'') * 2"}}]}');
SELECT wf_define('{"definitionId": "children", "root": [{"type": "BulkDispatchWorkflows", "workflowDefinitionId": "child", "items": {"input": "items"}}]}');

-- The same; the first statement of the fire records the delay.
CREATE TABLE bench.lateness (kind text, seconds double precision);
SELECT wf_define('{"definitionId": "late", "root": [
    {"type": "StartAt", "dateTime": {"input": "at"}},
    {"type": "Sql", "statement": "INSERT INTO bench.lateness SELECT $2 #>> ''{}'', extract(epoch FROM clock_timestamp() - ($1 #>> ''{}'')::timestamptz)",
     "parameters": [{"input": "at"}, {"input": "kind"}]}]}');

-- n instances whose instants are spread over some seconds, after a lead time.
CREATE FUNCTION bench.wait_for(definition text, n integer, lead interval, spread interval, kind text) RETURNS bigint
LANGUAGE sql AS $$
    SELECT count(wf_start(definition, jsonb_build_object('at', clock_timestamp() + lead + random() * spread, 'kind', kind)))
    FROM generate_series(1, n)
$$;

-- n bookmarks that are due next year, copied from a real instance.
CREATE FUNCTION bench.sleepers(n integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    original uuid := wf_start('due', jsonb_build_object('at', now() + interval '1 year'));
BEGIN
    CREATE TEMPORARY TABLE ids ON COMMIT DROP AS
    SELECT g, gen_random_uuid() AS instance, gen_random_uuid() AS bookmark FROM generate_series(1, n) AS g;
    INSERT INTO workflow.instances (id, definition_version_id, definition_id, version, owner, status, sub_status, incident_count,
                                    created_at, updated_at, state, variables, input)
    SELECT s.instance, definition_version_id, definition_id, version, owner, status, sub_status, incident_count,
           created_at, updated_at, state, variables, input
    FROM workflow.instances, ids AS s WHERE id = original;
    INSERT INTO workflow.bookmarks (id, instance_id, activity_instance_id, created_at, due_at, auto_burn, auto_complete,
                                    hash, activity_id, node_id, activity_type, name, payload)
    SELECT s.bookmark, s.instance, activity_instance_id, created_at, due_at + s.g * interval '1 second', auto_burn, auto_complete,
           hash, activity_id, node_id, activity_type, name, payload
    FROM workflow.bookmarks, ids AS s WHERE instance_id = original;
END $$;
