//! Export of definitions as files.

use axum::extract::{Path, State};
use axum::response::Response;
use serde::Deserialize;

use super::document;
use super::members;
use super::one::{Purpose, Whole, by_definition_id, version};
use super::query::{Parameters, Versions};
use crate::caller::Caller;
use crate::elsa::archive::{Archive, attachment};
use crate::elsa::many::{MAX_DEFINITIONS, bounded};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::Body;
use crate::parameters;

/// Characters of a definition's name used in the file name.
const NAME: usize = 60;

/// `GET /workflow-definitions/{definition_id}/export`: one definition, or an archive that includes the definitions that
/// use it.
pub async fn export(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    query: Parameters,
) -> Result<Response, Failure> {
    let which = query.versions()?.unwrap_or(Versions::Latest);
    let with_consumers = query.boolean("includeConsumingWorkflows")?.unwrap_or(false);
    let whole = by_definition_id(&app, &caller, &id, which, Purpose::Keep).await?;
    let consumers = if with_consumers { consumers(&app, &caller, &id).await? } else { Vec::new() };
    let name = file_name(&whole);
    if consumers.is_empty() {
        return Ok(attachment(&format!("{name}.json"), "application/json", document::file(&whole.export)?.into()));
    }
    let mut archive = Archive::new();
    add(&mut archive, &whole)?;
    for consumer in consumers {
        add(&mut archive, &by_definition_id(&app, &caller, &consumer, Versions::Latest, Purpose::Keep).await?)?;
    }
    Ok(attachment(&format!("{name}.zip"), "application/zip", archive.finish()?))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportRequest {
    ids: Vec<String>,
    #[serde(default)]
    include_consuming_workflows: Option<bool>,
}

/// `POST /bulk-actions/export/workflow-definitions`: an archive of versions.
pub async fn export_many(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<ExportRequest>,
) -> Result<Response, Failure> {
    let mut archive = Archive::new();
    let mut definitions = Vec::new();
    for id in bounded(asked.ids, MAX_DEFINITIONS)? {
        let whole = version(&app, &caller, &id, Purpose::Keep).await?;
        add(&mut archive, &whole)?;
        definitions.push(whole.definition_id);
    }
    if asked.include_consuming_workflows == Some(true) {
        for definition in definitions.clone() {
            for consumer in consumers(&app, &caller, &definition).await? {
                if !definitions.contains(&consumer) {
                    add(
                        &mut archive,
                        &by_definition_id(&app, &caller, &consumer, Versions::Latest, Purpose::Keep).await?,
                    )?;
                    definitions.push(consumer);
                }
            }
        }
    }
    Ok(attachment("workflow-definitions.zip", "application/zip", archive.finish()?))
}

/// The definitions whose latest version uses this one, directly or indirectly.
async fn consumers(app: &Gateway, caller: &Caller, id: &str) -> Result<Vec<String>, Failure> {
    let rows = app
        .database
        .read(
            caller,
            "WITH RECURSIVE links AS MATERIALIZED (\
               SELECT uses, definition_id FROM workflow.definition_links WHERE is_latest), \
             found (id) AS (SELECT $1 UNION SELECT l.definition_id FROM links l JOIN found f \
               ON f.id OPERATOR(pg_catalog.=) l.uses) \
             SELECT id FROM found WHERE id OPERATOR(pg_catalog.<>) $1 ORDER BY id",
            parameters![id],
        )
        .await?;
    bounded(rows.iter().map(|row| row.get("id")).collect(), MAX_DEFINITIONS)
}

fn add(archive: &mut Archive, whole: &Whole) -> Result<(), Failure> {
    archive.add(&format!("{}.json", file_name(whole)), document::file(&whole.export)?.as_bytes())
}

/// A file name for a definition, without characters that file systems or headers do not allow.
fn file_name(whole: &Whole) -> String {
    let document: members::Members = serde_json::from_str(&whole.export).unwrap_or_default();
    let name = members::text(&document, "name").unwrap_or_else(|| whole.definition_id.clone());
    let words = name.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug: String = words.collect::<Vec<_>>().join("-").to_ascii_lowercase().chars().take(NAME).collect();
    if slug.is_empty() { "workflow-definition".into() } else { format!("workflow-definition-{slug}") }
}
