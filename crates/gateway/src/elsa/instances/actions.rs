//! Cancelling, deleting and exporting instances.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{instance_id, no_instance};
use crate::caller::Caller;
use crate::database::Parameter;
use crate::elsa::archive::{Archive, attachment};
use crate::elsa::definitions::query::Versions;
use crate::elsa::many::{MAX_INSTANCES, bounded, unless_all_failed};
use crate::failure::Failure;
use crate::gateway::App;
use crate::json::{Body, JsonText};
use crate::routing::Routes;
use crate::{matches_versions, parameters};

pub fn routes() -> Routes {
    Routes::new()
        .post("/cancel/workflow-instances/{id}", cancel)
        .post("/bulk-actions/cancel/workflow-instances", cancel_many)
        .post("/bulk-actions/delete/workflow-instances/by-id", delete_many)
        .post("/bulk-actions/import/workflow-instances", import)
        .post("/bulk-actions/export/workflow-instances", export_many)
}

async fn delete_one(app: &App, caller: &Caller, id: Uuid) -> Result<bool, Failure> {
    one_flag(app, caller, "SELECT @wf.wf_delete_instance($1) AS flag", parameters![id]).await
}

async fn cancel_one(app: &App, caller: &Caller, id: Uuid) -> Result<bool, Failure> {
    one_flag(app, caller, "SELECT @wf.wf_cancel($1) AS flag", parameters![id]).await
}

/// The boolean result of a function called for one instance.
pub async fn one_flag(app: &App, caller: &Caller, sql: &'static str, values: Vec<Parameter>) -> Result<bool, Failure> {
    let rows = app.database.write(caller, sql, values).await?;
    rows.first().map_or(Ok(false), |row| row.try_get("flag").map_err(Failure::internal))
}

pub async fn delete(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    match delete_one(&app, &caller, instance_id(&id)?).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_instance(&id)),
    }
}

/// Cancelling an instance that has already ended succeeds: another request may have been faster.
async fn cancel(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    cancel_one(&app, &caller, instance_id(&id)?).await?;
    Ok(StatusCode::OK)
}

/// The outcome for several instances.
#[derive(Default)]
pub struct Tally {
    done: usize,
    /// The first failure; `failed` has all of them in the form of the answer.
    refused: Option<Failure>,
    pub failed: Vec<Value>,
}

impl Tally {
    pub fn add(&mut self, id: Uuid, result: Result<bool, Failure>) {
        match result {
            Ok(is_done) => self.done += usize::from(is_done),
            // An instance that is gone needs no action.
            Err(failure) if failure.status == StatusCode::NOT_FOUND => {}
            Err(failure) => {
                self.failed.push(json!({"id": id, "message": failure.message}));
                self.refused.get_or_insert(failure);
            }
        }
    }

    /// The number of successes. If there are none, the first failure is returned.
    pub fn end(self, name: &str) -> Result<JsonText, Failure> {
        let mut answer = json!({name: self.done});
        if !self.failed.is_empty() {
            answer["failed"] = self.failed.into();
        }
        let answer = answer.to_string();
        unless_all_failed(JsonText(answer), self.done > 0, self.refused)
    }
}

#[derive(Debug, Deserialize)]
struct Ids {
    #[serde(alias = "Ids")]
    ids: Vec<String>,
}

async fn delete_many(State(app): State<App>, caller: Caller, Body(request): Body<Ids>) -> Result<JsonText, Failure> {
    let mut tally = Tally::default();
    for id in bounded(request.ids, MAX_INSTANCES)?.iter().filter_map(|id| id.parse::<Uuid>().ok()) {
        tally.add(id, delete_one(&app, &caller, id).await);
    }
    tally.end("deleted")
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelRequest {
    #[serde(alias = "Ids")]
    ids: Option<Vec<String>>,
    #[serde(alias = "DefinitionVersionId")]
    definition_version_id: Option<String>,
    #[serde(alias = "DefinitionId")]
    definition_id: Option<String>,
    #[serde(alias = "VersionOptions")]
    version_options: Option<String>,
}

/// Cancels the named instances, or the running ones of a version, or of all versions of a definition.
async fn cancel_many(
    State(app): State<App>,
    caller: Caller,
    Body(request): Body<CancelRequest>,
) -> Result<JsonText, Failure> {
    let mut ids: Vec<Uuid> = request.ids.iter().flatten().filter_map(|id| id.parse().ok()).collect();
    if let Some(version) = request.definition_version_id.as_deref().and_then(|id| id.parse::<Uuid>().ok()) {
        ids.extend(running(&app, &caller, OF_VERSION, parameters![version]).await?);
    }
    if let Some(definition) = request.definition_id {
        let options = request.version_options.as_deref().filter(|options| !options.is_empty());
        let versions = options.map_or(Ok(Versions::Any), Versions::read)?;
        let values = parameters![definition, versions.name(), versions.number()];
        ids.extend(running(&app, &caller, OF_DEFINITION, values).await?);
    }
    let mut tally = Tally::default();
    for id in bounded(ids, MAX_INSTANCES)? {
        tally.add(id, cancel_one(&app, &caller, id).await);
    }
    tally.end("cancelledCount")
}

/// One instance is a file, several are an archive. Instances that the caller cannot see are left out.
async fn export_many(State(app): State<App>, caller: Caller, Body(request): Body<Ids>) -> Result<Response, Failure> {
    let ids = bounded(request.ids, MAX_INSTANCES)?;
    if let [id] = ids.as_slice() {
        return super::export_one(&app, &caller, instance_id(id)?).await;
    }
    let mut archive = Archive::new();
    for id in ids.iter().filter_map(|id| id.parse::<Uuid>().ok()) {
        match super::exported(&app, &caller, id).await {
            Ok(text) => archive.add(&super::file_name(id), text.as_bytes())?,
            Err(failure) if failure.status == StatusCode::NOT_FOUND => {}
            Err(failure) => return Err(failure),
        }
    }
    if archive.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(attachment("workflow-instances.zip", "application/zip", archive.finish()?))
}

const OF_VERSION: &str = "\
    SELECT i.instance_id FROM workflow.instance_list i \
    WHERE i.definition_version_id OPERATOR(pg_catalog.=) $1 AND i.status OPERATOR(pg_catalog.=) 'Running' \
      AND i.sub_status OPERATOR(pg_catalog.<>) 'Cancelling' ORDER BY i.instance_id";

const OF_DEFINITION: &str = concat!(
    "SELECT i.instance_id FROM workflow.instance_list i \
     LEFT JOIN workflow.definition_list d ON d.version_id OPERATOR(pg_catalog.=) i.definition_version_id \
     WHERE i.definition_id OPERATOR(pg_catalog.=) $1 AND i.status OPERATOR(pg_catalog.=) 'Running' \
       AND i.sub_status OPERATOR(pg_catalog.<>) 'Cancelling' AND ",
    matches_versions!("$2", "$3"),
    " ORDER BY i.instance_id"
);

async fn running(app: &App, caller: &Caller, sql: &'static str, values: Vec<Parameter>) -> Result<Vec<Uuid>, Failure> {
    let rows = app.database.read(caller, sql, values).await?;
    rows.iter().map(|row| row.try_get("instance_id").map_err(Failure::internal)).collect()
}

async fn import() -> Failure {
    Failure::bad_request("importing instances is not supported")
        .hint("An instance has ids, bookmarks and a journal that only its own database knows.")
}
