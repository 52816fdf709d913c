CREATE FUNCTION wf_diagram(definition_id text, version integer DEFAULT NULL)
RETURNS text LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_diagram';

COMMENT ON FUNCTION wf_diagram(text, integer) IS 'a definition as a Mermaid flowchart';

CREATE FUNCTION wf_svg(definition_id text, version integer DEFAULT NULL)
RETURNS text LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_svg_definition';

COMMENT ON FUNCTION wf_svg(text, integer) IS 'a definition as a picture';

CREATE FUNCTION workflow.instance_state(instance_id uuid)
RETURNS jsonb LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_instance_state';

COMMENT ON FUNCTION workflow.instance_state(uuid) IS 'internal state of an instance: open activities, variables of scopes, outputs';

CREATE FUNCTION wf_svg(instance uuid)
RETURNS text LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_svg_instance';

COMMENT ON FUNCTION wf_svg(uuid) IS 'an instance as a picture: what ran, waits and faulted';

CREATE FUNCTION workflow._explain(instance uuid)
RETURNS jsonb LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_explain';

COMMENT ON FUNCTION workflow._explain(uuid) IS 'history of an instance as a JSON array of lines, for wf_explain';

CREATE FUNCTION wf_explain(instance uuid)
RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT line.text FROM pg_catalog.jsonb_array_elements_text(workflow._explain(instance)) AS line (text);
END;

COMMENT ON FUNCTION wf_explain(uuid) IS 'history of an instance in plain lines: what happened, what it waits for, how to continue it';

CREATE FUNCTION workflow._events(instance uuid, events bytea)
RETURNS jsonb LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_events';

COMMENT ON FUNCTION workflow._events(uuid, bytea) IS 'packed journal events as a JSON array, for the view workflow.journal';

CREATE FUNCTION workflow._act(
    events          bytea,
    OUT at          timestamptz,
    OUT kind        text,
    OUT role        integer,
    OUT login       integer,
    OUT actor       text,
    OUT activity    text,
    OUT bookmark_id uuid,
    OUT detail      jsonb
) LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'wf_act';

COMMENT ON FUNCTION workflow._act(bytea) IS 'the act that a row of the journal records, for the view workflow.audit; NULL if it records none';

CREATE FUNCTION workflow._node_id(instance uuid, activity text)
RETURNS text LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'wf_node_id';

COMMENT ON FUNCTION workflow._node_id(uuid, text) IS 'node id of an activity of an instance, for the view workflow.journal; NULL if several have its id, and for a role that may not read the instance';

CREATE FUNCTION workflow.activity_executions(instance_id uuid)
RETURNS TABLE (activity_instance_id uuid, parent_activity_instance_id uuid, activity_id text, activity_name text, node_id text,
               activity_type text, status text, started_at timestamptz, completed_at timestamptz, outcomes text[], inputs jsonb,
               outputs jsonb, fault jsonb, has_bookmarks boolean)
LANGUAGE c STABLE ROWS 100 AS 'MODULE_PATHNAME', 'wf_activity_executions';

COMMENT ON FUNCTION workflow.activity_executions(uuid) IS 'what the journal of an instance records of each execution of an activity, in the order in which they began';

CREATE FUNCTION workflow.instance_page(
    filter     jsonb   DEFAULT '{}',
    order_by   text    DEFAULT 'Created',
    descending boolean DEFAULT true,
    page       integer DEFAULT 0,
    page_size  integer DEFAULT 10
)
RETURNS TABLE (instance_id uuid, definition_id text, version integer, definition_version_id uuid, name text, correlation_id text,
               status text, sub_status text, incident_count integer, owner text, parent_instance_id uuid, created_at timestamptz,
               updated_at timestamptz, finished_at timestamptz, paused_at timestamptz, total_count integer, is_exact boolean)
LANGUAGE c STABLE ROWS 10 AS 'MODULE_PATHNAME', 'wf_instance_page';

COMMENT ON FUNCTION workflow.instance_page(jsonb, text, boolean, integer, integer) IS
    'a page of the newest 10,000 instances that a filter selects and the current role may read; is_exact: total_count is exact';

CREATE FUNCTION workflow.instance_count(filter jsonb DEFAULT '{}', OUT total_count integer, OUT is_exact boolean)
LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'wf_instance_count';

COMMENT ON FUNCTION workflow.instance_count(jsonb) IS
    'number of instances that a filter selects and the current role may read, up to 10,000; is_exact: the number is exact';
