//! Saving a definition from an editor or a file.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::document::SentDocument;
use super::members::Members;
use super::one::{Whole, by_version_id, text};
use super::places;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::{Body, JsonText};
use crate::parameters;

/// SQLSTATE of `wf_save_draft` if another editor has saved since.
const CHANGED: &str = "40001";

/// The body of a save.
#[derive(Deserialize)]
pub struct SaveRequest {
    model: Members,
    #[serde(default)]
    publish: Option<bool>,
}

/// The answer to a save and to a publication.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SaveResponse {
    pub workflow_definition: Members,
    pub already_published: bool,
    pub consuming_workflow_count: i64,
    validation_errors: [(); 0],
}

impl SaveResponse {
    pub fn new(workflow_definition: Members, already_published: bool, consuming_workflow_count: i64) -> Self {
        Self { workflow_definition, already_published, consuming_workflow_count, validation_errors: [] }
    }
}

/// A draft that was stored.
struct StoredDraft {
    version_id: String,
    version: i32,
    /// The content is identical to the published version, and nothing was stored.
    is_published: bool,
    session: String,
}

/// `POST /workflow-definitions`. Publishing is a separate transaction, so content that cannot be published is still
/// saved as a draft.
pub async fn save(State(app): State<App>, caller: Caller, Body(save): Body<SaveRequest>) -> Result<JsonText, Failure> {
    let sent = SentDocument::by_editor(save.model)?;
    let id = sent.definition_id().unwrap_or_else(super::new_id);
    let stored = store(&app, &caller, sent, &id).await?;
    let publish = save.publish == Some(true);
    if publish && !stored.is_published {
        let sql = "SELECT @wf.wf_publish($1, $2)";
        if let Err(failure) = app.database.write(&caller, sql, parameters![id.as_str(), stored.version]).await {
            return Err(places::named(&app, &caller, &id, failure).await);
        }
    }
    let whole = by_version_id(&app, &caller, &stored.version_id).await?;
    let consumers = if publish { consumers(&app, &caller, &whole).await? } else { 0 };
    text(&SaveResponse::new(whole.model(Some(stored.session))?, publish && stored.is_published, consumers))
}

/// `POST /workflow-definitions/import`. A file without a definition id creates a new definition.
pub async fn import(State(app): State<App>, caller: Caller, Body(model): Body<Members>) -> Result<JsonText, Failure> {
    let sent = SentDocument::by_file(model)?;
    let id = sent.definition_id().or_else(|| sent.id()).unwrap_or_else(super::new_id);
    let stored = store(&app, &caller, sent, &id).await?;
    text(&by_version_id(&app, &caller, &stored.version_id).await?.model(Some(stored.session))?)
}

/// Stores a document as a draft. If the document names the revision that it is based on, a newer save by others is not
/// overwritten.
async fn store(app: &Gateway, caller: &Caller, sent: SentDocument, id: &str) -> Result<StoredDraft, Failure> {
    let edited = sent.edited(id).cloned();
    let revision = edited.as_ref().map(|edited| edited.revision);
    let session = edited.map_or_else(super::new_id, |edited| edited.session);
    let document = sent.into_text(id)?;
    let saved = app
        .database
        .write_unless_changed(
            caller,
            // The view does not see the new draft yet, so it shows whether the content was already published before.
            "SELECT s.version_id::pg_catalog.text, s.version, EXISTS (\
               SELECT FROM workflow.definition_list d WHERE d.version_id OPERATOR(pg_catalog.=) s.version_id \
                 AND d.is_published) \
               AS is_published \
             FROM @wf.wf_save_draft($1::pg_catalog.jsonb, $2, $3) s",
            parameters![document, revision, session.as_str()],
        )
        .await;
    let rows = match saved {
        Err(failure) if failure.has_code(CHANGED) => return Err(changed(app, caller, id, revision, failure).await?),
        saved => saved?,
    };
    let row = rows.first().ok_or_else(|| Failure::internal("a draft was stored without an answer"))?;
    Ok(StoredDraft {
        version_id: row.get("version_id"),
        version: row.get("version"),
        is_published: row.get("is_published"),
        session,
    })
}

/// Reports to an editor who has changed the definition, and when. If no other editor has, two transactions conflicted.
async fn changed(
    app: &Gateway,
    caller: &Caller,
    id: &str,
    revision: Option<i64>,
    failure: Failure,
) -> Result<Failure, Failure> {
    let rows = app
        .database
        .read(
            caller,
            "SELECT coalesce(saved_by, owner) AS who, \
             pg_catalog.to_char(saved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS \"UTC\"') AS at, \
             revision FROM workflow.definition_list WHERE definition_id OPERATOR(pg_catalog.=) $1 AND is_latest",
            parameters![id],
        )
        .await?;
    let message = match rows.first() {
        Some(row) if Some(row.get("revision")) == revision => return Ok(failure),
        Some(row) => {
            let (who, when): (String, String) = (row.get("who"), row.get("at"));
            format!("\"{id}\" was changed by {who} at {when}: this change was not saved")
        }
        None => format!("\"{id}\" was deleted: this change was not saved"),
    };
    Ok(Failure { status: StatusCode::BAD_REQUEST, message, ..failure })
}

/// The number of other definitions whose latest version uses this one.
pub async fn consumers(app: &Gateway, caller: &Caller, used: &Whole) -> Result<i64, Failure> {
    let rows = app
        .database
        .read(
            caller,
            "SELECT pg_catalog.count(DISTINCT definition_id) AS consumers FROM workflow.definition_links \
             WHERE uses OPERATOR(pg_catalog.=) $1 AND used_version OPERATOR(pg_catalog.=) $2 AND is_latest",
            parameters![used.definition_id.as_str(), used.version],
        )
        .await?;
    Ok(rows.first().map_or(0, |row| row.get("consumers")))
}
