//! Calls by which programs continue workflows: completing a task, and sending an event.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::instance_id;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::App;
use crate::json::{Body, JsonText};
use crate::parameters;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().post("/tasks/{id}/complete", complete).post("/events/{name}/trigger", trigger)
}

#[derive(Debug, Default, Deserialize)]
struct CompletionRequest {
    #[serde(alias = "Result")]
    result: Option<Value>,
}

/// If an activity faults afterwards, the fault becomes an incident of the instance; the task is completed all the same.
async fn complete(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(answer): Body<Option<CompletionRequest>>,
) -> Result<StatusCode, Failure> {
    let task: Uuid = id.parse().map_err(|_| Failure::not_found("task", &id))?;
    let result = answer.unwrap_or_default().result.map(|result| result.to_string());
    let done = "SELECT FROM @wf.wf_complete_task($1, $2::pg_catalog.jsonb, 'store')";
    app.database.write(&caller, done, parameters![task, result]).await?;
    Ok(StatusCode::OK)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventRequest {
    #[serde(alias = "CorrelationId")]
    correlation_id: Option<String>,
    #[serde(alias = "WorkflowInstanceId")]
    workflow_instance_id: Option<String>,
    #[serde(alias = "Input")]
    input: Option<Value>,
}

/// Delivers an event before it answers, to the instances that wait for it; without a correlation id, to those of any.
/// The answer lists the instances that it started and resumed.
async fn trigger(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    Body(event): Body<Option<EventRequest>>,
) -> Result<JsonText, Failure> {
    let event = event.unwrap_or_default();
    let instance = event.workflow_instance_id.as_deref().filter(|id| !id.is_empty()).map(instance_id).transpose()?;
    let correlation = event.correlation_id.filter(|id| !id.is_empty()).unwrap_or_else(|| "*".into());
    let values = parameters![name, event.input.map(|input| input.to_string()), correlation, instance];
    let rows = app.database.write(&caller, TRIGGER, values).await?;
    crate::database::only_text(&rows)?.map(JsonText).ok_or_else(|| Failure::internal("an event without a delivery"))
}

const TRIGGER: &str = "\
    SELECT pg_catalog.jsonb_build_object('started', d.started, 'resumed', d.resumed, 'withheld', \
      d.withheld)::pg_catalog.text \
    FROM @wf.wf_publish_event($1, payload => $2::pg_catalog.jsonb, correlation_id => $3, instance_id => $4) d";
