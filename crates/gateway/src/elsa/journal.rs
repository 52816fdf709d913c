//! The journal of an instance, with Elsa's event names.

use axum::extract::{Path, State};
use serde::Deserialize;

use super::definitions::query::Parameters;
use super::executions::named;
use super::instances::{execution_id, instance_id, read_json};
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::App;
use crate::json::{Body, JsonText};
use crate::parameters;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new()
        .post("/workflow-instances/{id}/journal", filtered)
        .get("/workflow-instances/{id}/journal", all)
        .get("/workflow-instances/{id}/journal/{activity}", of_activity)
}

/// A filter for events: every given member must match.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JournalFilter {
    #[serde(alias = "ActivityIds")]
    activity_ids: Option<Vec<String>>,
    #[serde(alias = "ActivityNodeIds")]
    activity_node_ids: Option<Vec<String>>,
    #[serde(alias = "ExcludedActivityTypes")]
    excluded_activity_types: Option<Vec<String>>,
    #[serde(alias = "EventNames")]
    event_names: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
struct JournalRequest {
    #[serde(alias = "Filter")]
    filter: Option<JournalFilter>,
}

async fn filtered(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    query: Parameters,
    Body(request): Body<Option<JournalRequest>>,
) -> Result<JsonText, Failure> {
    page(&app, &caller, &id, &query, request.unwrap_or_default().filter.unwrap_or_default()).await
}

async fn all(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    query: Parameters,
) -> Result<JsonText, Failure> {
    page(&app, &caller, &id, &query, JournalFilter::default()).await
}

/// elsa-server returns only the last event of an activity; earlier ones are just as useful.
async fn of_activity(
    State(app): State<App>,
    caller: Caller,
    Path((id, activity)): Path<(String, String)>,
    query: Parameters,
) -> Result<JsonText, Failure> {
    let filter = JournalFilter { activity_ids: Some(vec![activity]), ..JournalFilter::default() };
    page(&app, &caller, &id, &query, filter).await
}

async fn page(
    app: &App,
    caller: &Caller,
    id: &str,
    query: &Parameters,
    filter: JournalFilter,
) -> Result<JsonText, Failure> {
    let (skip, take) = (query.number("skip")?.unwrap_or(0), query.number("take")?);
    let values = parameters![
        instance_id(id)?,
        filter.activity_ids,
        filter.activity_node_ids,
        filter.excluded_activity_types,
        filter.event_names,
        skip,
        take,
    ];
    read_json(app, caller, id, JOURNAL, values).await
}

/// The source of an event is its actor. Events without an activity belong to the workflow itself. The journal stores
/// neither the activity's name nor its full type nor its parent: they come from its execution.
const JOURNAL: &str = concat!(
    "WITH executions AS MATERIALIZED (\
         SELECT x.* FROM workflow.instance_list i CROSS JOIN LATERAL workflow.activity_executions(i.instance_id) x \
         WHERE i.instance_id OPERATOR(pg_catalog.=) $1), \
     events AS (\
         SELECT pg_catalog.row_number() OVER (ORDER BY j.seq, j.number) AS sequence, j.seq, j.number, j.at, j.data, \
                CASE WHEN j.actor IS NULL THEN j.by ELSE pg_catalog.concat(j.actor, ' (', j.by, ')') END AS source, \
                j.activity_instance_id, x.parent_activity_instance_id, x.activity_name, x.inputs, \
                COALESCE(j.activity, 'Workflow1') AS activity_id, \
                CASE WHEN j.activity IS NULL THEN 'Elsa.Workflow' \
                     ELSE COALESCE(x.activity_type, j.activity_type, '') END AS activity_type, \
                CASE WHEN j.activity IS NULL THEN 'Workflow1' ELSE COALESCE(x.node_id, j.node_id) END AS node_id, \
                CASE WHEN j.event OPERATOR(pg_catalog.=) 'Workflow started' THEN 'Started' \
                     WHEN j.event OPERATOR(pg_catalog.=) 'Workflow resumed' THEN 'Resumed' \
                     WHEN j.event OPERATOR(pg_catalog.=) 'Workflow suspended' THEN 'Suspended' \
                     WHEN j.event OPERATOR(pg_catalog.=) 'Workflow finished' THEN 'Completed' \
                     WHEN j.event OPERATOR(pg_catalog.=) 'Workflow faulted' THEN 'Faulted' \
                     WHEN j.event OPERATOR(pg_catalog.=) 'Workflow cancelled' THEN 'Canceled' \
                     WHEN j.event OPERATOR(pg_catalog.=) 'Workflow retried' THEN 'Retrying' \
                     WHEN j.event OPERATOR(pg_catalog.=) 'Bookmark created' THEN 'Suspended' \
                     WHEN j.event OPERATOR(pg_catalog.=) 'Line' THEN 'WriteLine' \
                     ELSE pg_catalog.replace(pg_catalog.initcap(j.event), ' ', '') END AS event_name \
         FROM workflow.journal j LEFT JOIN executions x \
           ON x.activity_instance_id OPERATOR(pg_catalog.=) j.activity_instance_id \
         WHERE j.instance_id OPERATOR(pg_catalog.=) $1), \
     selected AS MATERIALIZED (\
         SELECT e.* FROM events e \
         WHERE ($2 IS NULL OR e.activity_id OPERATOR(pg_catalog.=) ANY ($2)) AND ($3 IS NULL \
           OR e.node_id OPERATOR(pg_catalog.=) ANY ($3)) \
           AND ($4 IS NULL OR e.activity_type OPERATOR(pg_catalog.<>) ALL ($4)) AND ($5 IS NULL \
             OR e.event_name OPERATOR(pg_catalog.=) ANY ($5))), \
     page AS (SELECT s.* FROM selected s ORDER BY s.sequence LIMIT $7 OFFSET $6) \
     SELECT pg_catalog.jsonb_build_object('totalCount', (SELECT pg_catalog.count(*) FROM selected), \
         'items', COALESCE((SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(\
             'id', pg_catalog.concat_ws('-', i.instance_id, p.seq, p.number), \
             'activityInstanceId', ",
    execution_id!("i.instance_id", "p.activity_instance_id"),
    ", 'parentActivityInstanceId', ",
    execution_id!("i.instance_id", "p.parent_activity_instance_id"),
    ", 'activityId', p.activity_id, 'activityType', p.activity_type, 'activityTypeVersion', 1, \
             'activityName', p.activity_name, 'nodeId', p.node_id, 'timestamp', p.at, 'sequence', p.sequence, \
             'eventName', p.event_name, 'source', p.source, \
             'message', CASE WHEN p.event_name OPERATOR(pg_catalog.=) 'WriteLine' \
               THEN p.data OPERATOR(pg_catalog.#>>) '{}' \
                             WHEN p.event_name OPERATOR(pg_catalog.=) 'Faulted' \
                               THEN p.data OPERATOR(pg_catalog.->>) 'message' END, \
             'activityState', ",
    named!("p.inputs"),
    ", 'payload', CASE WHEN p.event_name OPERATOR(pg_catalog.=) 'Completed' AND p.data IS NOT NULL \
                             THEN pg_catalog.jsonb_build_object('Outcomes', p.data) ELSE p.data END) \
             ORDER BY p.sequence) FROM page p), '[]'))::pg_catalog.text \
     FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) $1"
);
