//! What is done to instances: cancelled, retried, altered, deleted.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use chrono::{SecondsFormat, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{instance_id, no_instance};
use crate::caller::Caller;
use crate::database::Parameter;
use crate::elsa::definitions::query::Versions;
use crate::elsa::many::{INSTANCES, bounded, unless_all_failed};
use crate::failure::Failure;
use crate::gateway::App;
use crate::json::{Body, JsonText};
use crate::routing::Routes;
use crate::{matches_versions, parameters};

/// Instances that are altered in one transaction, each in a subtransaction; `ALTER` has the number, too.
const BATCH: usize = 100;

pub fn routes() -> Routes {
    Routes::new()
        .post("/cancel/workflow-instances/{id}", cancel)
        .post("/bulk-actions/cancel/workflow-instances", cancel_many)
        .post("/bulk-actions/delete/workflow-instances/by-id", delete_many)
        .post("/bulk-actions/import/workflow-instances", import)
        .post("/alterations/submit", alter)
        .post("/alterations/workflows/retry", retry)
}

async fn delete_one(app: &App, caller: &Caller, id: Uuid) -> Result<bool, Failure> {
    one_flag(app, caller, "SELECT @wf.wf_delete_instance($1) AS flag", parameters![id]).await
}

async fn cancel_one(app: &App, caller: &Caller, id: Uuid) -> Result<bool, Failure> {
    one_flag(app, caller, "SELECT @wf.wf_cancel($1) AS flag", parameters![id]).await
}

/// What a function says of an instance.
async fn one_flag(app: &App, caller: &Caller, sql: &'static str, values: Vec<Parameter>) -> Result<bool, Failure> {
    let rows = app.database.write(caller, sql, values).await?;
    rows.first().map_or(Ok(false), |row| row.try_get("flag").map_err(Failure::internal))
}

pub async fn delete(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    match delete_one(&app, &caller, instance_id(&id)?).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_instance(&id)),
    }
}

/// One that has ended stays as it is, and is no error: another may have been faster.
async fn cancel(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    cancel_one(&app, &caller, instance_id(&id)?).await?;
    Ok(StatusCode::OK)
}

/// What became of several instances.
#[derive(Default)]
struct Tally {
    done: usize,
    /// The first of those that were refused, and all of them in the form of the answer.
    refused: Option<Failure>,
    failed: Vec<Value>,
}

impl Tally {
    fn add(&mut self, id: Uuid, result: Result<bool, Failure>) {
        match result {
            Ok(is_done) => self.done += usize::from(is_done),
            // What is not there needs nothing.
            Err(failure) if failure.status == StatusCode::NOT_FOUND => {}
            Err(failure) => {
                self.failed.push(json!({"id": id, "message": failure.message}));
                self.refused.get_or_insert(failure);
            }
        }
    }

    /// The number of those that were done. If that is none the first refusal says why.
    fn end(self, name: &str) -> Result<JsonText, Failure> {
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
    for id in bounded(request.ids, INSTANCES)?.iter().filter_map(|id| id.parse::<Uuid>().ok()) {
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

/// Those that are named, or those that run of a version, or of the versions of a definition.
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
    for id in bounded(ids, INSTANCES)? {
        tally.add(id, cancel_one(&app, &caller, id).await);
    }
    tally.end("cancelledCount")
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

#[derive(Debug, Deserialize)]
struct AlterRequest {
    #[serde(alias = "Alterations")]
    alterations: Value,
    #[serde(alias = "Filter")]
    filter: Value,
}

/// Alters all instances that the filter selects, in pieces, before it answers. The id of the plan is for the client
/// alone: nothing is left to ask about.
async fn alter(
    State(app): State<App>,
    caller: Caller,
    Body(AlterRequest { alterations, mut filter }): Body<AlterRequest>,
) -> Result<JsonText, Failure> {
    if let Value::Object(members) = &mut filter {
        members.retain(|_, value| !super::list::is_open(value));
    }
    let (alterations, filter) = (alterations.to_string(), filter.to_string());
    let mut tally = Tally::default();
    let mut after: Option<Uuid> = None;
    loop {
        let values = parameters![alterations.as_str(), filter.as_str(), after];
        let rows = app.database.write(&caller, ALTER, values).await?;
        for row in &rows {
            let id: Uuid = row.try_get("instance_id").map_err(Failure::internal)?;
            after = Some(id);
            let problem: Option<String> = row.try_get("problem").map_err(Failure::internal)?;
            tally.add(id, problem.map_or(Ok(true), |problem| Err(Failure::new(StatusCode::CONFLICT, problem))));
        }
        if rows.len() < BATCH {
            let failed = tally.failed.clone();
            let answer = json!({"planId": Uuid::now_v7(), "failed": failed}).to_string();
            return tally.end("altered").map(|_| JsonText(answer));
        }
    }
}

const ALTER: &str = "\
    SELECT a.instance_id, CASE WHEN a.outcome OPERATOR(pg_catalog.=) 'Altered' THEN NULL WHEN a.outcome OPERATOR(pg_catalog.=) 'Kept' THEN NULL \
      WHEN a.outcome OPERATOR(pg_catalog.=) 'Refused' THEN pg_catalog.array_to_string(a.problems, '; ') \
           ELSE pg_catalog.concat('another session holds workflow instance ', a.instance_id) END AS problem \
    FROM @wf.wf_alter($1::pg_catalog.jsonb, $2::pg_catalog.jsonb, max => 100, after => $3) a ORDER BY a.instance_id";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RetryRequest {
    #[serde(alias = "WorkflowInstanceIds")]
    workflow_instance_ids: Vec<String>,
    #[serde(alias = "ActivityIds")]
    activity_ids: Option<Vec<String>>,
}

async fn retry(State(app): State<App>, caller: Caller, Body(request): Body<RetryRequest>) -> Result<JsonText, Failure> {
    let activities = request.activity_ids.filter(|ids| !ids.is_empty());
    let mut results = Vec::new();
    for id in bounded(request.workflow_instance_ids, INSTANCES)? {
        let retried = retry_one(&app, &caller, &id, activities.clone()).await;
        results.push(match retried {
            Ok(is_running) => outcome(&id, None, is_running),
            Err(failure) => outcome(&id, Some(failure), false),
        });
    }
    Ok(JsonText(json!({"results": results}).to_string()))
}

/// Returns whether the instance goes on.
async fn retry_one(app: &App, caller: &Caller, id: &str, activities: Option<Vec<String>>) -> Result<bool, Failure> {
    const RETRY: &str = "SELECT r.status OPERATOR(pg_catalog.=) 'Running' AS flag FROM @wf.wf_retry($1, $2, 'store') r";
    one_flag(app, caller, RETRY, parameters![instance_id(id)?, activities]).await
}

/// The result of an alteration as Elsa shows it; a failure is an entry of its log.
fn outcome(id: &str, failure: Option<Failure>, has_work: bool) -> Value {
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, false);
    let entries: Vec<Value> = failure
        .iter()
        .map(|failure| json!({"message": failure.message, "logLevel": "Error", "timestamp": now, "eventName": null}))
        .collect();
    json!({
        "workflowInstanceId": id,
        "log": {"logEntries": entries},
        "workflowHasScheduledWork": has_work,
        "isSuccessful": failure.is_none(),
    })
}
