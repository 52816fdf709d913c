//! The same for many: calls 31 to 34.

use std::collections::BTreeSet;

use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::lifecycle::{self, Done};
use super::one::text;
use crate::caller::Caller;
use crate::elsa::many::{DEFINITIONS, bounded, unless_all_failed};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::{Body, JsonText};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definitions {
    definition_ids: Vec<String>,
}

#[derive(Deserialize)]
pub struct Versions {
    ids: Vec<String>,
}

/// One that failed. Elsa's clients do not read this.
#[derive(Serialize)]
struct Failed {
    id: String,
    message: String,
}

#[derive(Serialize)]
struct Deleted {
    deleted: usize,
    failed: Vec<Failed>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Published {
    published: Vec<String>,
    already_published: Vec<String>,
    not_found: Vec<String>,
    updated_consumers: BTreeSet<String>,
    failed: Vec<Failed>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Retracted {
    retracted: Vec<String>,
    already_retracted: Vec<String>,
    not_found: Vec<String>,
    failed: Vec<Failed>,
}

/// What became of each.
#[derive(Default)]
struct Outcome {
    now: Vec<String>,
    before: Vec<String>,
    missing: Vec<String>,
    failed: Vec<Failed>,
}

/// What is done to each.
#[derive(Clone, Copy)]
enum Call {
    Delete,
    DeleteVersion,
    Publish,
    Retract,
}

impl Call {
    async fn one(self, app: &Gateway, caller: &Caller, id: &str) -> Result<Done, Failure> {
        match self {
            Self::Delete => lifecycle::delete_all(app, caller, id).await,
            Self::DeleteVersion => lifecycle::delete_one(app, caller, id).await,
            Self::Publish => lifecycle::publish_latest(app, caller, id).await,
            Self::Retract => lifecycle::retract_all(app, caller, id).await,
        }
    }

    /// Where all that were found fail, the first failure is the answer.
    async fn each(self, app: &Gateway, caller: &Caller, ids: Vec<String>) -> Result<Outcome, Failure> {
        let (mut outcome, mut first) = (Outcome::default(), None);
        for id in bounded(ids, DEFINITIONS)? {
            match self.one(app, caller, &id).await {
                Ok(Done::Now) => outcome.now.push(id),
                Ok(Done::Before) => outcome.before.push(id),
                Ok(Done::Missing) => outcome.missing.push(id),
                Err(failure) => {
                    outcome.failed.push(Failed { id, message: failure.message.clone() });
                    first.get_or_insert(failure);
                }
            }
        }
        let is_any_done = !(outcome.now.is_empty() && outcome.before.is_empty());
        unless_all_failed(outcome, is_any_done, first)
    }
}

fn deleted(outcome: Outcome) -> Result<JsonText, Failure> {
    text(&Deleted { deleted: outcome.now.len(), failed: outcome.failed })
}

/// Call 31.
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<Definitions>,
) -> Result<JsonText, Failure> {
    let outcome = Call::Delete.each(&app, &caller, asked.definition_ids).await?;
    deleted(outcome)
}

/// Call 32.
pub async fn delete_versions(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<Versions>,
) -> Result<JsonText, Failure> {
    let outcome = Call::DeleteVersion.each(&app, &caller, asked.ids).await?;
    deleted(outcome)
}

/// Call 33.
pub async fn publish(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<Definitions>,
) -> Result<JsonText, Failure> {
    let outcome = Call::Publish.each(&app, &caller, asked.definition_ids).await?;
    let mut updated_consumers = BTreeSet::new();
    for id in &outcome.now {
        updated_consumers.extend(lifecycle::updated(&app, &caller, id).await?);
    }
    text(&Published {
        published: outcome.now,
        already_published: outcome.before,
        not_found: outcome.missing,
        updated_consumers,
        failed: outcome.failed,
    })
}

/// Call 34.
pub async fn retract(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<Definitions>,
) -> Result<JsonText, Failure> {
    let outcome = Call::Retract.each(&app, &caller, asked.definition_ids).await?;
    text(&Retracted {
        retracted: outcome.now,
        already_retracted: outcome.before,
        not_found: outcome.missing,
        failed: outcome.failed,
    })
}
