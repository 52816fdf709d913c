//! Elsa's alterations by REST: `wf_alter` and `wf_retry`.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use chrono::{SecondsFormat, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::actions::{Tally, one_flag};
use super::{instance_id, no_instance};
use crate::caller::Caller;
use crate::elsa::many::{MAX_INSTANCES, bounded};
use crate::failure::Failure;
use crate::gateway::App;
use crate::json::{Body, JsonText};
use crate::parameters;
use crate::routing::Routes;

/// Instances altered in one transaction, each in a subtransaction; `ALTER` contains the number as well.
const BATCH: usize = 100;

pub fn routes() -> Routes {
    Routes::new()
        .post("/alterations/submit", submit)
        .post("/alterations/run", run)
        .post("/alterations/dry-run", dry_run)
        .get("/alterations/{id}", plan)
        .post("/alterations/workflows/retry", retry)
}

/// The outcome for one instance.
struct Altered {
    id: Uuid,
    /// Whether the change is stored and applied later by a session of the owner.
    is_kept: bool,
    problem: Option<String>,
}

const ALTER: &str = "\
    SELECT a.instance_id, a.outcome OPERATOR(pg_catalog.=) 'Kept' AS is_kept, \
      CASE WHEN a.outcome OPERATOR(pg_catalog.=) ANY ('{Altered,Kept}'::pg_catalog.text[]) THEN NULL \
           WHEN a.outcome OPERATOR(pg_catalog.=) 'Refused' THEN pg_catalog.array_to_string(a.problems, '; ') \
           ELSE pg_catalog.concat('another session holds workflow instance ', a.instance_id) END AS problem \
    FROM @wf.wf_alter($1::pg_catalog.jsonb, $2::pg_catalog.jsonb, max => 100, after => $3) a ORDER BY a.instance_id";

/// Alters the next batch of instances that a filter selects.
async fn alter(
    app: &App,
    caller: &Caller,
    alterations: &str,
    filter: &str,
    after: Option<Uuid>,
) -> Result<Vec<Altered>, Failure> {
    let rows = app.database.write(caller, ALTER, parameters![alterations, filter, after]).await?;
    let altered = |row: &tokio_postgres::Row| {
        Ok(Altered {
            id: row.try_get("instance_id")?,
            is_kept: row.try_get("is_kept")?,
            problem: row.try_get("problem")?,
        })
    };
    rows.iter().map(altered).collect::<Result<_, tokio_postgres::Error>>().map_err(Failure::internal)
}

/// A filter as text, without the members that the client left empty.
fn filter_text(mut filter: Value) -> String {
    if let Value::Object(members) = &mut filter {
        members.retain(|_, value| !super::list::is_blank(value));
    }
    filter.to_string()
}

#[derive(Debug, Deserialize)]
struct SubmitRequest {
    #[serde(alias = "Alterations")]
    alterations: Value,
    #[serde(alias = "Filter")]
    filter: Value,
}

/// Alters all instances that the filter selects, in batches, before it answers. The plan id is of use to the client
/// only: nothing is stored under it.
async fn submit(
    State(app): State<App>,
    caller: Caller,
    Body(request): Body<SubmitRequest>,
) -> Result<JsonText, Failure> {
    let (alterations, filter) = (request.alterations.to_string(), filter_text(request.filter));
    let mut tally = Tally::default();
    let mut after: Option<Uuid> = None;
    loop {
        let altered = alter(&app, &caller, &alterations, &filter, after).await?;
        after = altered.last().map(|last| last.id);
        let is_last = altered.len() < BATCH;
        for Altered { id, problem, .. } in altered {
            tally.add(id, problem.map_or(Ok(true), |problem| Err(Failure::new(StatusCode::CONFLICT, problem))));
        }
        if is_last {
            let failed = tally.failed.clone();
            let answer = json!({"planId": Uuid::now_v7(), "failed": failed}).to_string();
            return tally.end("altered").map(|_| JsonText(answer));
        }
    }
}

/// A plan is finished when `submit` answers, and is not stored.
async fn plan(_: Caller, Path(id): Path<String>) -> Failure {
    Failure::not_found("alteration plan", &id)
        .hint("alterations/submit answers when all is done. The audit and the journal have what was done.")
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunRequest {
    #[serde(alias = "Alterations")]
    alterations: Value,
    #[serde(alias = "WorkflowInstanceIds")]
    workflow_instance_ids: Vec<String>,
}

/// Alters instances by id, and returns a result for each, in the order of the request.
async fn run(State(app): State<App>, caller: Caller, Body(request): Body<RunRequest>) -> Result<JsonText, Failure> {
    let (alterations, ids) = (request.alterations.to_string(), bounded(request.workflow_instance_ids, MAX_INSTANCES)?);
    let mut results = Vec::new();
    for ids in ids.chunks(BATCH) {
        let known: Vec<Uuid> = ids.iter().filter_map(|id| id.parse().ok()).collect();
        let altered = match known.is_empty() {
            true => Vec::new(),
            false => {
                let filter = json!({"workflowInstanceIds": known}).to_string();
                alter(&app, &caller, &alterations, &filter, None).await?
            }
        };
        results.extend(ids.iter().map(|id| {
            let found = altered.iter().find(|altered| id.parse() == Ok(altered.id));
            match found {
                Some(Altered { problem: None, is_kept, .. }) => outcome(id, None, *is_kept),
                Some(Altered { problem: Some(problem), .. }) => outcome(id, Some(problem), false),
                None => outcome(id, Some(&no_instance(id).message), false),
            }
        }));
    }
    Ok(JsonText(json!({"results": results}).to_string()))
}

/// Maximum number of instances in an answer of `dry-run`, and for each statement that finds them.
const FOUND: usize = 10_000;

/// The instances that a filter selects, from a dry run of `Cancel`. It lists an instance even if cancelling it would
/// fail, since other alterations may succeed.
const SELECT: &str = "\
    SELECT a.instance_id FROM @wf.wf_alter('[{\"type\": \"Cancel\"}]'::pg_catalog.jsonb, $1::pg_catalog.jsonb, \
      dry_run => true, max => 10000, after => $2) a ORDER BY a.instance_id";

/// The ids of the instances that `submit` would alter. Changes nothing.
async fn dry_run(State(app): State<App>, caller: Caller, Body(filter): Body<Value>) -> Result<JsonText, Failure> {
    let filter = filter_text(filter);
    let find = async |after: Option<Uuid>| -> Result<Vec<Uuid>, Failure> {
        let rows = app.database.read(&caller, SELECT, parameters![filter.as_str(), after]).await?;
        rows.iter().map(|row| row.try_get("instance_id").map_err(Failure::internal)).collect()
    };
    let found = find(None).await?;
    if found.len() == FOUND && !find(found.last().copied()).await?.is_empty() {
        return Err(Failure::bad_request(format!("the filter selects more than {FOUND} instances"))
            .hint("alterations/submit alters them all. wf_alter lists them in pages, with dry_run."));
    }
    Ok(JsonText(json!({"workflowInstanceIds": found}).to_string()))
}

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
    for id in bounded(request.workflow_instance_ids, MAX_INSTANCES)? {
        let retried = retry_one(&app, &caller, &id, activities.clone()).await;
        results.push(match retried {
            Ok(is_running) => outcome(&id, None, is_running),
            Err(failure) => outcome(&id, Some(&failure.message), false),
        });
    }
    Ok(JsonText(json!({"results": results}).to_string()))
}

/// Returns whether the instance continues.
async fn retry_one(app: &App, caller: &Caller, id: &str, activities: Option<Vec<String>>) -> Result<bool, Failure> {
    const RETRY: &str = "SELECT r.status OPERATOR(pg_catalog.=) 'Running' AS flag FROM @wf.wf_retry($1, $2, 'store') r";
    one_flag(app, caller, RETRY, parameters![instance_id(id)?, activities]).await
}

/// The result of an alteration in Elsa's format; a problem is an entry of its log.
fn outcome(id: &str, problem: Option<&str>, has_work: bool) -> Value {
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, false);
    let entries: Vec<Value> = problem
        .iter()
        .map(|message| json!({"message": message, "logLevel": "Error", "timestamp": now, "eventName": null}))
        .collect();
    json!({
        "workflowInstanceId": id,
        "log": {"logEntries": entries},
        "workflowHasScheduledWork": has_work,
        "isSuccessful": problem.is_none(),
    })
}
