//! The executions of activities, for Studio's instance viewer.

use axum::extract::{Path, State};
use serde::Deserialize;
use uuid::Uuid;

use super::definitions::query::Parameters;
use super::instances::{exception, execution_id, instance_id, read_json};
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::App;
use crate::json::{Body, JsonText};
use crate::parameters;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new()
        .post("/activity-executions/report", report)
        .get("/activity-executions/list", records)
        .get("/activity-executions/by-id", record)
        .get("/activity-executions/{id}/call-stack", call_stack)
        .get("/activity-execution-summaries/list", summaries)
        .get("/resilience/retries/{id}", async || JsonText(r#"{"items": [], "totalCount": 0}"#.into()))
}

/// All executions `e` of the instance `$1` in order, each with the used workflow's version if the activity runs a
/// workflow.
macro_rules! executions {
    () => {
        "WITH RECURSIVE e AS MATERIALIZED (\
             SELECT i.instance_id, i.definition_id, i.version, x.* FROM workflow.instance_list i \
             CROSS JOIN LATERAL workflow.activity_executions(i.instance_id) WITH ORDINALITY \
                 AS x (activity_instance_id, parent_activity_instance_id, activity_id, activity_name, node_id, \
                       activity_type, status, started_at, completed_at, outcomes, inputs, outputs, fault, \
                       has_bookmarks, number) \
             WHERE i.instance_id OPERATOR(pg_catalog.=) $1)"
    };
}

/// The members of a summary of the execution `e`.
macro_rules! execution {
    () => {
        concat!(
            "'id', ",
            execution_id!("e.instance_id", "e.activity_instance_id"),
            ", 'workflowInstanceId', e.instance_id, 'activityId', e.activity_id, 'activityNodeId', e.node_id, \
             'activityType', e.activity_type, 'activityName', e.activity_name, 'activityTypeVersion', COALESCE((\
                 SELECT pg_catalog.max(u.version) FROM workflow.definition_links l \
                 JOIN workflow.definition_list u ON u.definition_id OPERATOR(pg_catalog.=) l.uses \
                   AND u.version OPERATOR(pg_catalog.=) l.used_version \
                 WHERE NOT pg_catalog.starts_with(e.activity_type, 'Elsa.') \
                   AND l.definition_id OPERATOR(pg_catalog.=) e.definition_id \
                   AND l.version OPERATOR(pg_catalog.=) e.version \
                     AND u.activity_type OPERATOR(pg_catalog.=) e.activity_type), 1), \
             'startedAt', e.started_at, 'completedAt', e.completed_at, 'hasBookmarks', e.has_bookmarks, \
             'status', e.status, 'metadata', '{}'::pg_catalog.jsonb"
        )
    };
}

/// A JSON object of values by name, with the names capitalized as designers have them.
macro_rules! named {
    ($values:literal) => {
        concat!(
            "(SELECT pg_catalog.jsonb_object_agg(pg_catalog.concat(pg_catalog.upper(pg_catalog.\"left\"(v.name, 1)), \
             pg_catalog.substr(v.name, 2)), v.value) FROM pg_catalog.jsonb_each(",
            $values,
            ") AS v (name, value))"
        )
    };
}
pub(super) use named;

/// The record of the execution `e`. Studio requests a record without any state again every second.
macro_rules! record {
    () => {
        concat!(
            "pg_catalog.jsonb_build_object(",
            execution!(),
            ", 'activityState', COALESCE(",
            named!("e.inputs"),
            ", '{}'), 'outputs', ",
            named!("e.outputs"),
            ", 'payload', CASE WHEN e.outcomes OPERATOR(pg_catalog.<>) '{}' \
                THEN pg_catalog.jsonb_build_object('Outcomes', e.outcomes) END, \
             'properties', '{}'::pg_catalog.jsonb, 'exception', (SELECT ",
            exception!(),
            " FROM pg_catalog.jsonb_to_record(e.fault) AS f (sqlstate pg_catalog.text, code pg_catalog.text, \
                message pg_catalog.text, detail pg_catalog.text, \
                   hint pg_catalog.text, context pg_catalog.text) WHERE e.fault IS NOT NULL), \
             'aggregateFaultCount', CASE WHEN e.status OPERATOR(pg_catalog.=) 'Faulted' THEN 1 ELSE 0 END, \
             'schedulingActivityExecutionId', ",
            execution_id!("e.instance_id", "e.parent_activity_instance_id"),
            ", 'schedulingActivityId', (SELECT a.activity_id FROM e a \
                 WHERE a.activity_instance_id OPERATOR(pg_catalog.=) e.parent_activity_instance_id), \
             'schedulingWorkflowInstanceId', NULL, 'callStackDepth', NULL)"
        )
    };
}

/// How often each activity started and ended, by node.
macro_rules! stats {
    ($executions:literal) => {
        concat!(
            "(SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(\
                 'activityId', n.activity_id, 'activityNodeId', n.node_id, 'startedCount', n.started, \
                 'completedCount', n.completed, 'uncompletedCount', n.started OPERATOR(pg_catalog.-) n.completed, \
                 'isBlocked', n.is_blocked, 'isFaulted', n.is_faulted, 'metadata', '{}'::pg_catalog.jsonb) \
                   ORDER BY n.first), '[]') \
              FROM (SELECT e.node_id, pg_catalog.min(e.activity_id) AS activity_id, pg_catalog.count(*) AS started, \
                           pg_catalog.count(*) FILTER (WHERE e.status OPERATOR(pg_catalog.=) 'Completed') \
                             AS completed, \
                           pg_catalog.bool_or(e.has_bookmarks) AS is_blocked, \
                           pg_catalog.bool_or(e.status OPERATOR(pg_catalog.=) 'Faulted') AS is_faulted, \
                             pg_catalog.min(e.started_at) AS first \
                    FROM ",
            $executions,
            " GROUP BY e.node_id) n)"
        )
    };
}
pub(super) use stats;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportRequest {
    #[serde(alias = "WorkflowInstanceId")]
    workflow_instance_id: String,
    #[serde(alias = "ActivityNodeIds")]
    activity_node_ids: Option<Vec<String>>,
}

const REPORT: &str = concat!(
    "SELECT pg_catalog.jsonb_build_object('stats', ",
    stats!(
        "workflow.activity_executions(i.instance_id) e WHERE e.node_id IS NOT NULL AND ($2 IS NULL \
            OR e.node_id OPERATOR(pg_catalog.=) ANY ($2))"
    ),
    ")::pg_catalog.text FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) $1"
);

async fn report(
    State(app): State<App>,
    caller: Caller,
    Body(request): Body<ReportRequest>,
) -> Result<JsonText, Failure> {
    let id = &request.workflow_instance_id;
    read_json(&app, &caller, id, REPORT, parameters![instance_id(id)?, request.activity_node_ids]).await
}

/// The instance and the node in a query string.
fn place(query: &Parameters) -> Result<(&str, Uuid, Option<String>), Failure> {
    let id = query
        .text("WorkflowInstanceId")
        .ok_or_else(|| Failure::bad_request("the query must name a WorkflowInstanceId"))?;
    Ok((id, instance_id(id)?, query.text("ActivityNodeId").map(str::to_owned)))
}

/// The list of `$what` for the executions of one node, or of all.
macro_rules! listed {
    ($what:expr) => {
        concat!(
            executions!(),
            " SELECT pg_catalog.jsonb_build_object('count', pg_catalog.count(e.number), 'items', \
                 COALESCE(pg_catalog.jsonb_agg(",
            $what,
            " ORDER BY e.number) FILTER (WHERE e.number IS NOT NULL), '[]'))::pg_catalog.text \
             FROM workflow.instance_list i LEFT JOIN e ON $2 IS NULL OR e.node_id OPERATOR(pg_catalog.=) $2 \
             WHERE i.instance_id OPERATOR(pg_catalog.=) $1 GROUP BY i.instance_id"
        )
    };
}

async fn summaries(State(app): State<App>, caller: Caller, query: Parameters) -> Result<JsonText, Failure> {
    const SUMMARIES: &str = listed!(concat!("pg_catalog.jsonb_build_object(", execution!(), ")"));
    let (text, id, node) = place(&query)?;
    read_json(&app, &caller, text, SUMMARIES, parameters![id, node]).await
}

async fn records(State(app): State<App>, caller: Caller, query: Parameters) -> Result<JsonText, Failure> {
    const RECORDS: &str = listed!(record!());
    let (text, id, node) = place(&query)?;
    read_json(&app, &caller, text, RECORDS, parameters![id, node]).await
}

/// The instance and the execution in a record id.
fn parts(id: &str) -> Result<(Uuid, Uuid), Failure> {
    let parts =
        id.split_once('.').and_then(|(instance, execution)| Some((instance.parse().ok()?, execution.parse().ok()?)));
    parts.ok_or_else(|| no_execution(id))
}

fn no_execution(id: &str) -> Failure {
    Failure::not_found("execution of an activity", id)
}

const RECORD: &str = concat!(
    executions!(),
    " SELECT ",
    record!(),
    "::pg_catalog.text FROM e WHERE \
    e.activity_instance_id OPERATOR(pg_catalog.=) $2"
);

async fn record(State(app): State<App>, caller: Caller, query: Parameters) -> Result<JsonText, Failure> {
    let id = query.text("id").ok_or_else(|| Failure::bad_request("the query must name an id"))?;
    let (instance, execution) = parts(id)?;
    let found = app.database.read_json(&caller, RECORD, parameters![instance, execution]).await?;
    found.map(JsonText).ok_or_else(|| no_execution(id))
}

/// The executions around one, from the outermost to itself. Executions in a parent instance are not included.
const CALL_STACK: &str = concat!(
    executions!(),
    ", around AS (\
         SELECT e.activity_instance_id, e.parent_activity_instance_id, 0 AS height FROM e \
           WHERE e.activity_instance_id OPERATOR(pg_catalog.=) $2 \
         UNION ALL \
         SELECT e.activity_instance_id, e.parent_activity_instance_id, a.height OPERATOR(pg_catalog.+) 1 \
         FROM around a JOIN e ON e.activity_instance_id OPERATOR(pg_catalog.=) a.parent_activity_instance_id) \
     SELECT pg_catalog.jsonb_build_object('activityExecutionId', $3, 'totalCount', pg_catalog.count(*), \
         'items', pg_catalog.jsonb_agg(",
    record!(),
    " ORDER BY a.height DESC))::pg_catalog.text \
     FROM around a JOIN e ON e.activity_instance_id OPERATOR(pg_catalog.=) a.activity_instance_id HAVING \
       pg_catalog.count(*) OPERATOR(pg_catalog.>) 0"
);

async fn call_stack(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<JsonText, Failure> {
    let (instance, execution) = parts(&id)?;
    let found = app.database.read_json(&caller, CALL_STACK, parameters![instance, execution, id.as_str()]).await?;
    found.map(JsonText).ok_or_else(|| no_execution(&id))
}
