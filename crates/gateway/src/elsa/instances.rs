//! Single instances, and the parts of SQL that several routes share.

mod actions;
mod alterations;
mod list;
mod signals;

use axum::extract::{Path, State};
use axum::response::Response;
use uuid::Uuid;

use super::archive::attachment;
use crate::caller::Caller;
use crate::database::Parameter;
use crate::failure::Failure;
use crate::gateway::App;
use crate::json::JsonText;
use crate::parameters;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new()
        .get("/workflow-instances/{id}", instance)
        .delete("/workflow-instances/{id}", actions::delete)
        .get("/workflow-instances/{id}/execution-state", execution_state)
        .get("/workflow-instances/{id}/variables", variables)
        .get("/workflow-instances/{id}/export", export)
        .merge(list::routes())
        .merge(actions::routes())
        .merge(alterations::routes())
        .merge(signals::routes())
}

/// Parses an instance id. Text that is no UUID is an unknown instance.
pub fn instance_id(text: &str) -> Result<Uuid, Failure> {
    text.parse().map_err(|_| no_instance(text))
}

fn no_instance(id: &str) -> Failure {
    Failure::not_found("workflow instance", id)
}

/// The JSON that a statement returns for an instance; no row means that the caller cannot see it.
pub async fn read_json(
    app: &App,
    caller: &Caller,
    id: &str,
    sql: &'static str,
    values: Vec<Parameter>,
) -> Result<JsonText, Failure> {
    app.database.read_json(caller, sql, values).await?.map(JsonText).ok_or_else(|| no_instance(id))
}

/// The sub-status of the instance `i` as Elsa names it. A cancelled instance whose compensation handlers still wait is
/// shown as suspended.
macro_rules! sub_status {
    () => {
        "CASE WHEN i.sub_status OPERATOR(pg_catalog.=) 'Cancelling' THEN 'Suspended' ELSE i.sub_status END"
    };
}

/// The members of a summary of the instance `i`.
macro_rules! summary {
    () => {
        concat!(
            "'id', i.instance_id, 'definitionId', i.definition_id, 'definitionVersionId', i.definition_version_id, \
             'version', i.version, 'correlationId', i.correlation_id, 'name', i.name, 'status', i.status, \
             'subStatus', ",
            sub_status!(),
            ", 'incidentCount', i.incident_count, 'parentWorkflowInstanceId', i.parent_instance_id, \
             'createdAt', i.created_at, 'updatedAt', i.updated_at, 'finishedAt', i.finished_at"
        )
    };
}
use {sub_status, summary};

/// The fault `f`, with the columns of an incident, as an exception in Elsa's format.
macro_rules! exception {
    () => {
        "pg_catalog.jsonb_build_object('type', COALESCE(f.code, f.sqlstate), 'message', f.message, \
         'stackTrace', pg_catalog.concat_ws(E'\\n', pg_catalog.concat('SQLSTATE: ', f.sqlstate), \
             pg_catalog.concat('DETAIL: ', CASE WHEN f.detail OPERATOR(pg_catalog.<>) '' THEN f.detail END), \
               pg_catalog.concat('HINT: ', CASE WHEN f.hint OPERATOR(pg_catalog.<>) '' THEN f.hint END), \
             pg_catalog.concat('CONTEXT: ', CASE WHEN f.context OPERATOR(pg_catalog.<>) '' THEN f.context END)), \
               'innerException', NULL)"
    };
}
pub(super) use exception;

/// The id by which clients request the execution `$execution` of the instance `$instance`. It includes the instance,
/// because the instance cannot be found by the execution's id alone.
macro_rules! execution_id {
    ($instance:literal, $execution:literal) => {
        concat!(
            "CASE WHEN ",
            $execution,
            " IS NOT NULL THEN pg_catalog.concat(",
            $instance,
            ", '.', ",
            $execution,
            ") END"
        )
    };
}
pub(super) use execution_id;

const INSTANCE: &str = concat!(
    "SELECT pg_catalog.jsonb_build_object(",
    summary!(),
    ", 'workflowState', pg_catalog.jsonb_build_object(\
         'id', i.instance_id, 'definitionId', i.definition_id, 'definitionVersionId', i.definition_version_id, \
         'definitionVersion', i.version, 'correlationId', i.correlation_id, 'status', i.status, 'subStatus', ",
    sub_status!(),
    ", 'createdAt', i.created_at, 'updatedAt', i.updated_at, 'finishedAt', i.finished_at, \
       'bookmarks', COALESCE((SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(\
             'id', b.bookmark_id, 'name', b.name, 'hash', pg_catalog.encode(b.hash, 'hex'), 'payload', b.payload, \
             'activityId', b.activity_id, 'activityNodeId', b.node_id, 'activityInstanceId', ",
    execution_id!("b.instance_id", "b.activity_instance_id"),
    ", 'autoBurn', b.auto_burn, 'autoComplete', b.auto_complete, 'callbackMethodName', b.callback, \
             'createdAt', b.created_at, 'metadata', b.metadata) ORDER BY b.bookmark_id) \
         FROM workflow.open_bookmarks b WHERE b.instance_id OPERATOR(pg_catalog.=) i.instance_id), '[]'), \
       'incidents', COALESCE((SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(\
             'activityId', f.activity_id, 'activityType', f.activity_type, 'activityNodeId', \
             (SELECT x.node_id FROM workflow.activity_executions(i.instance_id) x \
              WHERE x.activity_id OPERATOR(pg_catalog.=) f.activity_id AND x.fault IS NOT NULL LIMIT 1), \
             'message', f.message, 'timestamp', f.created_at, 'exception', ",
    exception!(),
    ") ORDER BY f.incident_id) \
         FROM workflow.open_incidents f WHERE f.instance_id OPERATOR(pg_catalog.=) i.instance_id), '[]'), \
       'fault', NULL, 'completionCallbacks', '[]'::pg_catalog.jsonb, 'activityExecutionContexts', \
         '[]'::pg_catalog.jsonb, \
       'input', COALESCE(i.input, '{}'), 'output', COALESCE(i.output, '{}'), 'properties', \
         '{}'::pg_catalog.jsonb))::pg_catalog.text \
     FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) $1"
);

async fn instance(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<JsonText, Failure> {
    read_json(&app, &caller, &id, INSTANCE, parameters![instance_id(&id)?]).await
}

/// The same as a file for download; it cannot be imported again.
async fn export(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<Response, Failure> {
    export_one(&app, &caller, instance_id(&id)?).await
}

async fn export_one(app: &App, caller: &Caller, id: Uuid) -> Result<Response, Failure> {
    let text = exported(app, caller, id).await?;
    Ok(attachment(&file_name(id), "application/json", text.into()))
}

async fn exported(app: &App, caller: &Caller, id: Uuid) -> Result<String, Failure> {
    let JsonText(text) = read_json(app, caller, &id.to_string(), INSTANCE, parameters![id]).await?;
    Ok(text)
}

fn file_name(id: Uuid) -> String {
    format!("workflow-instance-{id}.json")
}

/// Changes outside a burst, such as a pause, have their time in the journal only.
const EXECUTION_STATE: &str = concat!(
    "SELECT pg_catalog.jsonb_build_object('status', i.status, 'subStatus', ",
    sub_status!(),
    ", 'updatedAt', GREATEST(i.updated_at, \
         (SELECT pg_catalog.max(j.at) FROM workflow.journal j \
           WHERE j.instance_id OPERATOR(pg_catalog.=) i.instance_id)))::pg_catalog.text \
     FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) $1"
);

async fn execution_state(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<JsonText, Failure> {
    read_json(&app, &caller, &id, EXECUTION_STATE, parameters![instance_id(&id)?]).await
}

/// Studio identifies a variable by its id in the document, or by its name if it has no id.
const VARIABLES: &str = "\
    SELECT pg_catalog.jsonb_build_object('count', pg_catalog.count(v.name), 'items', COALESCE(pg_catalog.jsonb_agg(\
               pg_catalog.jsonb_build_object('id', COALESCE(d.id, v.name), 'name', v.name, 'value', v.value) \
               ORDER BY d.number, v.name) FILTER (WHERE v.name IS NOT NULL), '[]'))::pg_catalog.text \
    FROM workflow.instance_list i \
    LEFT JOIN LATERAL pg_catalog.jsonb_each(i.variables) AS v (name, value) ON true \
    LEFT JOIN LATERAL (\
        SELECT c.entry OPERATOR(pg_catalog.->>) 'id' AS id, c.number \
        FROM (SELECT l.document FROM workflow.definition_list l \
          WHERE l.version_id OPERATOR(pg_catalog.=) i.definition_version_id \
              UNION ALL \
              SELECT g.document FROM workflow.deleted_definitions g \
                WHERE g.version_id OPERATOR(pg_catalog.=) i.definition_version_id) k \
        CROSS JOIN LATERAL pg_catalog.jsonb_path_query(k.document, '$.variables[*]') WITH ORDINALITY AS c (entry, \
          number) \
        WHERE c.entry OPERATOR(pg_catalog.->>) 'name' OPERATOR(pg_catalog.=) v.name LIMIT 1) d ON true \
    WHERE i.instance_id OPERATOR(pg_catalog.=) $1 GROUP BY i.instance_id";

async fn variables(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<JsonText, Failure> {
    read_json(&app, &caller, &id, VARIABLES, parameters![instance_id(&id)?]).await
}
