//! Publishing, retracting, deleting and reverting definitions.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;
use uuid::Uuid;

use super::list::{self, Summary};
use super::one::{Purpose, by_definition_id, text};
use super::places;
use super::query::Versions;
use super::save::{SaveResponse, consumers};
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::JsonText;
use crate::parameters;

/// Publishes the latest version unless it is published; returns no row for a definition that the caller cannot see.
const PUBLISH: &str = "SELECT d.is_published, CASE WHEN NOT d.is_published THEN @wf.wf_publish(d.definition_id, \
    d.version) END \
     FROM workflow.definition_list d WHERE d.definition_id OPERATOR(pg_catalog.=) $1 AND d.is_latest";

/// The outcome of a change to a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeResult {
    Done,
    AlreadyDone,
    NotFound,
}

/// Publishes the latest version of a definition.
pub async fn publish_latest(app: &Gateway, caller: &Caller, id: &str) -> Result<ChangeResult, Failure> {
    let rows = match app.database.write(caller, PUBLISH, parameters![id]).await {
        Ok(rows) => rows,
        Err(failure) => return Err(places::named(app, caller, id, failure).await),
    };
    Ok(match rows.first() {
        None => ChangeResult::NotFound,
        Some(row) if row.get("is_published") => ChangeResult::AlreadyDone,
        Some(_) => ChangeResult::Done,
    })
}

/// Retracts the published version of a definition.
pub async fn retract_all(app: &Gateway, caller: &Caller, id: &str) -> Result<ChangeResult, Failure> {
    match app.database.write(caller, "SELECT @wf.wf_retract($1)", parameters![id]).await {
        Ok(rows) if rows.first().is_some_and(|row| row.get("wf_retract")) => Ok(ChangeResult::Done),
        Ok(_) => Ok(ChangeResult::AlreadyDone),
        Err(failure) if failure.status == StatusCode::NOT_FOUND => Ok(ChangeResult::NotFound),
        Err(failure) => Err(failure),
    }
}

/// Deletes all versions of a definition.
pub async fn delete_all(app: &Gateway, caller: &Caller, id: &str) -> Result<ChangeResult, Failure> {
    match app.database.write(caller, "SELECT @wf.wf_delete_definition($1)", parameters![id]).await {
        Ok(_) => Ok(ChangeResult::Done),
        Err(failure) if failure.status == StatusCode::NOT_FOUND => Ok(ChangeResult::NotFound),
        Err(failure) => Err(failure),
    }
}

/// Deletes one version.
pub async fn delete_one(app: &Gateway, caller: &Caller, id: &str) -> Result<ChangeResult, Failure> {
    let Ok(version_id) = id.parse::<Uuid>() else { return Ok(ChangeResult::NotFound) };
    const SQL: &str = "SELECT @wf.wf_delete_definition(d.definition_id, d.version) \
         FROM workflow.definition_list d WHERE d.version_id OPERATOR(pg_catalog.=) $1";
    let rows = app.database.write(caller, SQL, parameters![version_id]).await?;
    Ok(if rows.is_empty() { ChangeResult::NotFound } else { ChangeResult::Done })
}

/// `POST /workflow-definitions/{definition_id}/publish`
pub async fn publish(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<JsonText, Failure> {
    let done = publish_latest(&app, &caller, &id).await?;
    if done == ChangeResult::NotFound {
        return Err(Failure::not_found("definition", &id));
    }
    let whole = by_definition_id(&app, &caller, &id, Versions::Latest, Purpose::Show).await?;
    let consumers = consumers(&app, &caller, &whole).await?;
    text(&SaveResponse::new(whole.model(None)?, done == ChangeResult::AlreadyDone, consumers))
}

/// `POST /workflow-definitions/{definition_id}/retract`
pub async fn retract(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<JsonText, Failure> {
    retract_all(&app, &caller, &id).await?;
    text(&by_definition_id(&app, &caller, &id, Versions::Latest, Purpose::Show).await?.model(None)?)
}

/// `DELETE /workflow-definitions/{definition_id}`
pub async fn delete(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    match delete_all(&app, &caller, &id).await? {
        ChangeResult::NotFound => Err(Failure::not_found("definition", &id)),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

/// `DELETE /workflow-definition-versions/{version_id}`
pub async fn delete_version(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Failure> {
    match delete_one(&app, &caller, &id).await? {
        ChangeResult::NotFound => Err(Failure::not_found("version of a definition", &id)),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

/// `POST /workflow-definitions/{definition_id}/revert/{version}`: the content of an older version becomes the latest. A
/// draft that is the latest is kept as a version of its own.
pub async fn revert(
    State(app): State<App>,
    caller: Caller,
    Path((id, version)): Path<(String, String)>,
) -> Result<JsonText, Failure> {
    let missing = || Failure::not_found(&format!("version {version} of definition"), &id);
    let Ok(number) = version.parse::<i32>() else { return Err(missing()) };
    let rows = app
        .database
        .write(
            &caller,
            "SELECT CASE WHEN l.is_draft AND l.version OPERATOR(pg_catalog.<>) d.version \
                         THEN (SELECT w.version FROM @wf.wf_define(d.content, false) w) \
                         ELSE (SELECT s.version FROM @wf.wf_save_draft(d.content) s) END AS made \
             FROM (SELECT version, (document OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('definitionId', \
               definition_id)) OPERATOR(pg_catalog.-) 'version' AS content \
                   FROM workflow.definition_list WHERE definition_id OPERATOR(pg_catalog.=) $1 \
                     AND version OPERATOR(pg_catalog.=) $2) d, \
                  (SELECT version, is_draft FROM workflow.definition_list \
                    WHERE definition_id OPERATOR(pg_catalog.=) $1 AND is_latest) l",
            parameters![id.as_str(), number],
        )
        .await?;
    let made: i32 = rows.first().ok_or_else(missing)?.get("made");
    let summary: Summary = list::summary(&app, &caller, &id, made).await?;
    text(&summary)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Updated {
    affected_workflows: Vec<String>,
}

/// `POST /workflow-definitions/{definition_id}/update-references`: definitions that use this one get a new version that
/// uses the published one, if this one has the option `autoUpdateConsumingWorkflows`.
pub async fn update_references(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<JsonText, Failure> {
    let before = users(&app, &caller, &id).await?;
    let rows = app
        .database
        .write(
            &caller,
            "SELECT CASE WHEN d.is_published THEN @wf.wf_publish(d.definition_id, d.version) END \
             FROM workflow.definition_list d WHERE d.definition_id OPERATOR(pg_catalog.=) $1 AND (d.is_latest \
               OR d.is_published)",
            parameters![id.as_str()],
        )
        .await?;
    if rows.is_empty() {
        return Err(Failure::not_found("definition", &id));
    }
    let after = users(&app, &caller, &id).await?;
    let affected = after.into_iter().filter(|user| !before.contains(user)).map(|(user, _)| user);
    text(&Updated { affected_workflows: affected.collect() })
}

/// The latest versions that use a definition, each with the version number that it uses.
pub async fn users(app: &Gateway, caller: &Caller, id: &str) -> Result<Vec<(String, i32)>, Failure> {
    let rows = app
        .database
        .read(
            caller,
            "SELECT definition_id, pg_catalog.max(used_version) AS used_version \
             FROM workflow.definition_links WHERE uses OPERATOR(pg_catalog.=) $1 AND is_latest \
             GROUP BY 1 ORDER BY 1",
            parameters![id],
        )
        .await?;
    Ok(rows.iter().map(|row| (row.get("definition_id"), row.get("used_version"))).collect())
}

/// The definitions whose latest version uses the published version of this one.
pub async fn updated(app: &Gateway, caller: &Caller, id: &str) -> Result<Vec<String>, Failure> {
    let rows = app
        .database
        .read(
            caller,
            "SELECT DISTINCT l.definition_id FROM workflow.definition_links l \
             JOIN workflow.definition_list d ON d.definition_id OPERATOR(pg_catalog.=) l.uses \
               AND d.version OPERATOR(pg_catalog.=) l.used_version \
             WHERE l.uses OPERATOR(pg_catalog.=) $1 AND l.is_latest AND d.is_published ORDER BY 1",
            parameters![id],
        )
        .await?;
    Ok(rows.iter().map(|row| row.get("definition_id")).collect())
}
