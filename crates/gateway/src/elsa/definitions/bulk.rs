//! Bulk actions on definitions: delete, publish and retract.

use std::collections::BTreeSet;

use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::lifecycle::{self, ChangeResult};
use super::one::text;
use crate::caller::Caller;
use crate::elsa::many::{MAX_DEFINITIONS, bounded, unless_all_failed};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::{Body, JsonText};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionIds {
    definition_ids: Vec<String>,
}

#[derive(Deserialize)]
pub struct VersionIds {
    ids: Vec<String>,
}

/// An item that failed. Elsa's clients do not read this.
#[derive(Serialize)]
struct FailedItem {
    id: String,
    message: String,
}

#[derive(Serialize)]
struct DeleteResponse {
    deleted: usize,
    failed: Vec<FailedItem>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PublishResponse {
    published: Vec<String>,
    already_published: Vec<String>,
    not_found: Vec<String>,
    updated_consumers: BTreeSet<String>,
    failed: Vec<FailedItem>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RetractResponse {
    retracted: Vec<String>,
    already_retracted: Vec<String>,
    not_found: Vec<String>,
    failed: Vec<FailedItem>,
}

/// The outcome for each id.
#[derive(Default)]
struct BulkResult {
    done: Vec<String>,
    already_done: Vec<String>,
    not_found: Vec<String>,
    failed: Vec<FailedItem>,
}

/// The action applied to each id.
#[derive(Clone, Copy)]
enum BulkAction {
    Delete,
    DeleteVersion,
    Publish,
    Retract,
}

impl BulkAction {
    async fn one(self, app: &Gateway, caller: &Caller, id: &str) -> Result<ChangeResult, Failure> {
        match self {
            Self::Delete => lifecycle::delete_all(app, caller, id).await,
            Self::DeleteVersion => lifecycle::delete_one(app, caller, id).await,
            Self::Publish => lifecycle::publish_latest(app, caller, id).await,
            Self::Retract => lifecycle::retract_all(app, caller, id).await,
        }
    }

    /// If every id that was found fails, the first failure is the answer.
    async fn each(self, app: &Gateway, caller: &Caller, ids: Vec<String>) -> Result<BulkResult, Failure> {
        let (mut result, mut first) = (BulkResult::default(), None);
        for id in bounded(ids, MAX_DEFINITIONS)? {
            match self.one(app, caller, &id).await {
                Ok(ChangeResult::Done) => result.done.push(id),
                Ok(ChangeResult::AlreadyDone) => result.already_done.push(id),
                Ok(ChangeResult::NotFound) => result.not_found.push(id),
                Err(failure) => {
                    result.failed.push(FailedItem { id, message: failure.message.clone() });
                    first.get_or_insert(failure);
                }
            }
        }
        let is_any_done = !(result.done.is_empty() && result.already_done.is_empty());
        unless_all_failed(result, is_any_done, first)
    }
}

fn deleted(result: BulkResult) -> Result<JsonText, Failure> {
    text(&DeleteResponse { deleted: result.done.len(), failed: result.failed })
}

/// `POST /bulk-actions/delete/workflow-definitions/by-definition-id`
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<DefinitionIds>,
) -> Result<JsonText, Failure> {
    let result = BulkAction::Delete.each(&app, &caller, asked.definition_ids).await?;
    deleted(result)
}

/// `POST /bulk-actions/delete/workflow-definitions/by-id`
pub async fn delete_versions(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<VersionIds>,
) -> Result<JsonText, Failure> {
    let result = BulkAction::DeleteVersion.each(&app, &caller, asked.ids).await?;
    deleted(result)
}

/// `POST /bulk-actions/publish/workflow-definitions/by-definition-ids`
pub async fn publish(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<DefinitionIds>,
) -> Result<JsonText, Failure> {
    let result = BulkAction::Publish.each(&app, &caller, asked.definition_ids).await?;
    let mut updated_consumers = BTreeSet::new();
    for id in &result.done {
        updated_consumers.extend(lifecycle::updated(&app, &caller, id).await?);
    }
    text(&PublishResponse {
        published: result.done,
        already_published: result.already_done,
        not_found: result.not_found,
        updated_consumers,
        failed: result.failed,
    })
}

/// `POST /bulk-actions/retract/workflow-definitions/by-definition-ids`
pub async fn retract(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<DefinitionIds>,
) -> Result<JsonText, Failure> {
    let result = BulkAction::Retract.each(&app, &caller, asked.definition_ids).await?;
    text(&RetractResponse {
        retracted: result.done,
        already_retracted: result.already_done,
        not_found: result.not_found,
        failed: result.failed,
    })
}
