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

-- Rows of the journal become visible in another order than that of their times. So a batch has rows of transactions that have
-- all ended: those with an xid below the xmin of a snapshot. The xmin of a row has 32 bits, which wrap around. A transaction that
-- gets an xid after a snapshot was running when the sessions were listed before the snapshot, or began later. So the start of the
-- oldest transaction in that list bounds the times of such rows. The caller's transaction locks the cursor, and a rollback returns
-- the spans. The first setting excludes plans that read the whole journal, which look cheap for a search that ends at the first row.
CREATE FUNCTION wf_take_spans(max integer DEFAULT 200)
RETURNS TABLE (instance_id uuid, seq integer, at timestamptz, definition_id text, version integer, parent_instance_id uuid,
               traceparent text, started_at timestamptz, events jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    c       record;
    burst   record;
    oldest  timestamptz;
    horizon bigint;
    newest  bigint;
    number  integer := 0;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'cannot take spans in a transaction with isolation level %', upper(current_setting('transaction_isolation'))
            USING ERRCODE = '25001', HINT = 'Use READ COMMITTED.';
    END IF;
    IF max IS NULL THEN
        RAISE EXCEPTION 'argument "max" must not be NULL' USING ERRCODE = '22004';
    END IF;
    IF max NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'argument "max" must be between 1 and 10000' USING ERRCODE = '22023';
    END IF;
    -- In this order, and with a minute for the time that a session takes to show that it has begun a transaction. A vacuum may take
    -- hours, and writes no journal.
    SELECT least(clock_timestamp(), min(a.xact_start)) - interval '1 minute' INTO oldest
    FROM pg_stat_activity a WHERE a.datname = current_database() AND a.backend_type <> 'autovacuum worker';
    SELECT pg_snapshot_xmin(s.snapshot)::text::bigint, pg_snapshot_xmax(s.snapshot)::text::bigint INTO horizon, newest
    FROM pg_current_snapshot() AS s (snapshot);
    SELECT d.* INTO c FROM workflow.span_cursor d;
    IF NOT FOUND THEN
        INSERT INTO workflow.span_cursor (id, from_xid, until_xid, since, next_xid, next_since)
        VALUES (1, horizon, horizon, oldest, newest, oldest) ON CONFLICT DO NOTHING;
        RETURN;
    END IF;
    -- An idle database has no rows to read, and gets no writes. While a transaction stays open, nothing is read at all.
    IF c.from_xid = c.until_xid AND (c.until_xid >= horizon OR NOT EXISTS (
        SELECT FROM workflow.execution_log l
        WHERE l.created_at >= CASE WHEN c.until_xid >= c.next_xid THEN c.next_since ELSE c.since END
          AND ((l.xmin::text::bigint - c.until_xid) & 4294967295) < horizon - c.until_xid)) THEN
        RETURN;
    END IF;
    SELECT d.* INTO c FROM workflow.span_cursor d FOR UPDATE SKIP LOCKED;
    -- Another caller reads.
    IF NOT FOUND OR c.from_xid = c.until_xid AND c.until_xid >= horizon THEN
        RETURN;
    END IF;
    IF c.from_xid = c.until_xid THEN
        IF c.until_xid >= c.next_xid THEN
            c.since := c.next_since;
            c.next_xid := newest;
            c.next_since := oldest;
        END IF;
        c.until_xid := horizon;
    END IF;
    FOR burst IN
        SELECT l.instance_id, l.seq, l.created_at, l.events FROM workflow.execution_log l
        WHERE l.created_at >= greatest(c.since, c.last_at)
          AND ((l.xmin::text::bigint - c.from_xid) & 4294967295) < c.until_xid - c.from_xid
          AND (c.last_at IS NULL OR (l.created_at, l.instance_id, l.seq) > (c.last_at, c.last_instance, c.last_seq))
        ORDER BY l.created_at, l.instance_id, l.seq LIMIT wf_take_spans.max
    LOOP
        number := number + 1;
        c.last_at := burst.created_at;
        c.last_instance := burst.instance_id;
        c.last_seq := burst.seq;
        RETURN QUERY
        SELECT i.id, burst.seq, burst.created_at, i.definition_id, i.version, i.parent_instance_id, i.traceparent, i.created_at,
               coalesce((SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('event', e.event -> 'event', 'activity', e.event -> 'activity_id',
                                                                              'type', e.event -> 'activity_type', 'bookmark', e.event -> 'bookmark_id')) ORDER BY e.number)
                         FROM (SELECT j.event, j.number
                               FROM jsonb_array_elements(workflow._events(burst.instance_id, burst.events)) WITH ORDINALITY AS j (event, number)
                               -- Details and values: neither their number nor their contents belong in a trace.
                               WHERE j.event ->> 'event' <> ALL (ARRAY['Started', 'Completed', 'Line', 'Published', 'Note', 'Logged', 'Inputs evaluated', 'Outputs set'])
                               ORDER BY j.number LIMIT 200) e), '[]')
        FROM workflow.instances i WHERE i.id = burst.instance_id;
    END LOOP;
    IF number < max THEN
        c.from_xid := c.until_xid;
        c.last_at := NULL;
        c.last_instance := NULL;
        c.last_seq := NULL;
    END IF;
    UPDATE workflow.span_cursor d
    SET from_xid = c.from_xid, until_xid = c.until_xid, since = c.since, next_xid = c.next_xid, next_since = c.next_since,
        last_at = c.last_at, last_instance = c.last_instance, last_seq = c.last_seq;
END $$;

COMMENT ON FUNCTION wf_take_spans(integer) IS 'bursts that no transaction has taken yet, for an exporter of traces; a rollback returns them; for pg_monitor';

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
