CREATE VIEW workflow.my_definitions WITH (security_barrier) AS
SELECT d.id, d.definition_id
FROM workflow.definitions d CROSS JOIN (SELECT) read_only
WHERE d.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))
   OR d.definition_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT g.definition_id FROM workflow.grants g
                          WHERE g.privilege OPERATOR(pg_catalog.=) 'read' AND g.role OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT m.id FROM workflow.my_owners m))))
   OR pg_catalog.pg_has_role('pg_read_all_data', 'USAGE');

COMMENT ON VIEW workflow.my_definitions IS 'definition versions that the current role may read';

CREATE VIEW workflow.definition_list WITH (security_barrier) AS
SELECT d.definition_id, d.version, d.name, d.description, d.is_latest, d.is_published, d.security,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, d.created_at, d.document,
       d.activity_type, d.search_path,
       CASE WHEN d.migrates AND d.is_published
            THEN (SELECT pg_catalog.count(*) FROM workflow.definitions v JOIN workflow.instances i ON i.definition_version_id OPERATOR(pg_catalog.=) v.id
                  WHERE v.definition_id OPERATOR(pg_catalog.=) d.definition_id AND v.id OPERATOR(pg_catalog.<>) d.id
                    AND i.finished_at IS NULL) END AS migrating,
       d.id AS version_id, COALESCE(d.is_draft, false) AS is_draft, COALESCE(d.revision, 0) AS revision,
       COALESCE(d.saved_at, d.created_at) AS saved_at,
       CASE WHEN d.saved_by IS NOT NULL
            THEN (SELECT COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(s.role_oid, s.name))::text, s.name)
                  FROM workflow.owners s WHERE s.id OPERATOR(pg_catalog.=) d.saved_by) END AS saved_by,
       pg_catalog.sha256(pg_catalog.convert_to(d.document::text, 'UTF8')) AS digest
FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
WHERE d.deleted_at IS NULL AND d.id IN (SELECT m.id FROM workflow.my_definitions m);

COMMENT ON VIEW workflow.definition_list IS 'definitions that the current role may read, one row per version';
COMMENT ON COLUMN workflow.definition_list.migrating IS 'of a published version with the option migrate: number of instances of other versions that have not ended';
COMMENT ON COLUMN workflow.definition_list.digest IS 'SHA-256 of the document: equal on all nodes with the same content';
COMMENT ON COLUMN workflow.definition_list.version_id IS 'id of this version';
COMMENT ON COLUMN workflow.definition_list.is_draft IS 'whether it was saved by wf_save_draft and not published yet';
COMMENT ON COLUMN workflow.definition_list.revision IS 'number of the save in it, counted over all saves of the definition; pass it to wf_save_draft';
COMMENT ON COLUMN workflow.definition_list.saved_at IS 'when its content was stored';
COMMENT ON COLUMN workflow.definition_list.saved_by IS 'the role that saved it as a draft';
COMMENT ON COLUMN workflow.definition_list.search_path IS 'search path of its SQL when it runs without a caller, if the definition does not set one';

-- Deleted versions: their instances remain until they are deleted as well.
CREATE VIEW workflow.deleted_definitions WITH (security_barrier) AS
SELECT d.id AS version_id, d.definition_id, d.version, d.name, d.description,
       COALESCE(pg_catalog.pg_get_userbyid(workflow._role_of(o.role_oid, o.name))::text, o.name) AS owner, d.created_at, d.deleted_at, d.document
FROM workflow.definitions d JOIN workflow.owners o ON o.id OPERATOR(pg_catalog.=) d.owner
WHERE d.deleted_at IS NOT NULL AND d.id IN (SELECT m.id FROM workflow.my_definitions m)
  AND EXISTS (SELECT FROM workflow.instances i WHERE i.definition_version_id OPERATOR(pg_catalog.=) d.id);

COMMENT ON VIEW workflow.deleted_definitions IS 'deleted versions that still have instances, as far as the current role may read them';

CREATE VIEW workflow.definition_links WITH (security_barrier) AS
SELECT DISTINCT d.definition_id, d.version, d.is_latest, d.is_published, u.definition_id AS uses, u.version AS used_version
FROM workflow.definitions d
CROSS JOIN LATERAL pg_catalog.jsonb_to_recordset(d.links) AS l (uses uuid)
JOIN workflow.definitions u ON u.id OPERATOR(pg_catalog.=) l.uses
WHERE d.deleted_at IS NULL AND d.id IN (SELECT m.id FROM workflow.my_definitions m);

COMMENT ON VIEW workflow.definition_links IS 'which definition versions use which versions as activities';
COMMENT ON COLUMN workflow.definition_links.uses IS 'id of the definition that is used inside the other';

CREATE VIEW workflow.trigger_list WITH (security_barrier) AS
SELECT t.id AS trigger_id, t.definition_id, t.version, t.activity_id, t.node_id, t.activity_type, t.name, t.hash, t.payload,
       t.next_fire_at
FROM workflow.triggers t CROSS JOIN (SELECT) read_only
WHERE t.definition_version_id OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT d.id FROM workflow.my_definitions d));

COMMENT ON VIEW workflow.trigger_list IS 'what starts the published definitions';

-- The catalogue: built-in and registered activity types.
CREATE FUNCTION workflow._flow_ports(outcomes text[])
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('name', o.name, 'type', 'Flow') ORDER BY o.number), '[]')
    FROM pg_catalog.unnest(CASE WHEN outcomes OPERATOR(pg_catalog.<>) '{}' THEN outcomes ELSE '{Done}' END) WITH ORDINALITY AS o (name, number);
END;

COMMENT ON FUNCTION workflow._flow_ports(text[]) IS 'outcomes of an activity as ports, for wf_activities';

-- Inputs and outputs as registered, or as a workflow declares them, each with the display data for a designer.
CREATE FUNCTION workflow._arguments(declared jsonb)
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.jsonb_agg(
               pg_catalog.jsonb_build_object('uiHint', CASE WHEN a.argument OPERATOR(pg_catalog.->>) 'type' OPERATOR(pg_catalog.=) 'Boolean' THEN 'checkbox' ELSE 'singleline' END,
                                             'isWrapped', true, 'order', a.number OPERATOR(pg_catalog.-) 1)
               OPERATOR(pg_catalog.||) a.argument ORDER BY a.number)
    FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(declared) OPERATOR(pg_catalog.=) 'array' THEN declared END) WITH ORDINALITY AS d (entry, number)
    CROSS JOIN LATERAL (
        SELECT CASE WHEN pg_catalog.jsonb_typeof(d.entry) OPERATOR(pg_catalog.=) 'string' THEN pg_catalog.jsonb_build_object('name', d.entry) ELSE d.entry END, d.number
        WHERE pg_catalog.jsonb_typeof(d.entry) OPERATOR(pg_catalog.=) ANY (ARRAY['string', 'object'])) AS a (argument, number);
END;

COMMENT ON FUNCTION workflow._arguments(jsonb) IS 'inputs or outputs with what a designer needs, for wf_activities; NULL if there are none';

CREATE FUNCTION workflow._activity_list()
RETURNS TABLE (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.type, a.inputs, a.outputs, a.outcomes, a.description, a.example,
           a.version, a.category, a.display_name, a.kind, a.ports, a.flags
    FROM pg_catalog.jsonb_to_recordset(workflow._activities())
         AS a (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
    UNION ALL
    SELECT t.type, workflow._arguments(t.inputs), t.outputs, t.outcomes, t.description, NULL,
           1, 'Custom', t.type, pg_catalog.initcap(t.kind), workflow._flow_ports(t.outcomes),
           '{"isContainer": false, "isStart": false, "isTerminal": false, "isBrowsable": true}'
    FROM workflow.activity_types t
    ORDER BY 1;
END;

COMMENT ON FUNCTION workflow._activity_list() IS 'built-in and registered activity types, for wf_activities';

CREATE FUNCTION workflow._visible_activities()
RETURNS TABLE (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.type, a.inputs, a.outputs, a.outcomes, a.description, a.example,
           a.version, a.category, a.display_name, a.kind, a.ports, a.flags
    FROM workflow._activity_list() a
    UNION ALL
    SELECT d.activity_type, COALESCE(workflow._arguments(d.document OPERATOR(pg_catalog.->) 'inputs'), '[]'),
           COALESCE(d.document OPERATOR(pg_catalog.->) 'outputs', '[]'), o.outcomes, d.description, NULL,
           d.version,
           CASE WHEN d.document OPERATOR(pg_catalog.->) 'options' OPERATOR(pg_catalog.->>) 'activityCategory' OPERATOR(pg_catalog.<>) ''
                THEN d.document OPERATOR(pg_catalog.->) 'options' OPERATOR(pg_catalog.->>) 'activityCategory' ELSE 'Workflows' END,
           COALESCE(d.name, d.activity_type), 'Action', workflow._flow_ports(o.outcomes),
           pg_catalog.jsonb_build_object('isContainer', false, 'isStart', false, 'isTerminal', false, 'isBrowsable', d.is_published,
                                         'definitionId', d.definition_id, 'versionId', d.version_id)
    FROM workflow.definition_list d
    CROSS JOIN LATERAL (
        SELECT pg_catalog.array_append(
               CASE WHEN pg_catalog.jsonb_typeof(d.document OPERATOR(pg_catalog.->) 'outcomes') OPERATOR(pg_catalog.=) 'array'
                    THEN ARRAY(SELECT e.one OPERATOR(pg_catalog.#>>) '{}' FROM pg_catalog.jsonb_array_elements(d.document OPERATOR(pg_catalog.->) 'outcomes') AS e (one)
                               WHERE pg_catalog.jsonb_typeof(e.one) OPERATOR(pg_catalog.=) 'string')
                    ELSE '{}'::text[] END, 'Done')) AS o (outcomes)
    WHERE d.activity_type IS NOT NULL
      AND (d.is_published
           OR (d.definition_id, d.version) IN (SELECT l.uses, l.used_version FROM workflow.definition_links l));
END;

COMMENT ON FUNCTION workflow._visible_activities() IS 'every activity type that the current role may use, for wf_activities and wf_activities_digest';

CREATE FUNCTION wf_activities()
RETURNS TABLE (type text, inputs jsonb, outputs jsonb, outcomes text[], description text, example jsonb,
               version integer, category text, display_name text, kind text, ports jsonb, flags jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT a.type, a.inputs, a.outputs, a.outcomes, a.description, a.example,
           a.version, a.category, a.display_name, a.kind, a.ports, a.flags
    FROM workflow._visible_activities() a;
END;

COMMENT ON FUNCTION wf_activities() IS 'every activity type with inputs, outputs, outcomes, ports and an example; also the workflows that are usable as activities, in the published version and in those that other definitions use';

CREATE FUNCTION wf_activities_digest()
RETURNS bytea LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.string_agg(a::text, '' ORDER BY a.type, a.version, a::text), 'UTF8'))
    FROM workflow._visible_activities() AS a;
END;

COMMENT ON FUNCTION wf_activities_digest() IS 'digest that changes when wf_activities() changes for the current role';
