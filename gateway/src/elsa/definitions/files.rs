//! Definitions as files: calls 35 and 36.

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::document;
use super::members;
use super::one::{Purpose, Whole, by_definition_id, version};
use super::query::{Parameters, Versions};
use crate::caller::Caller;
use crate::elsa::many::{DEFINITIONS, bounded};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::Body;
use crate::parameters;

/// Characters of a definition's name that its file has.
const NAME: usize = 60;

/// Call 35: one definition, or an archive with those that use it.
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
    archive.add(&whole)?;
    for consumer in consumers {
        archive.add(&by_definition_id(&app, &caller, &consumer, Versions::Latest, Purpose::Keep).await?)?;
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

/// Call 36: an archive of versions.
pub async fn export_many(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<ExportRequest>,
) -> Result<Response, Failure> {
    let mut archive = Archive::new();
    let mut definitions = Vec::new();
    for id in bounded(asked.ids, DEFINITIONS)? {
        let whole = version(&app, &caller, &id, Purpose::Keep).await?;
        archive.add(&whole)?;
        definitions.push(whole.definition_id);
    }
    if asked.include_consuming_workflows == Some(true) {
        for definition in definitions.clone() {
            for consumer in consumers(&app, &caller, &definition).await? {
                if !definitions.contains(&consumer) {
                    archive.add(&by_definition_id(&app, &caller, &consumer, Versions::Latest, Purpose::Keep).await?)?;
                    definitions.push(consumer);
                }
            }
        }
    }
    Ok(attachment("workflow-definitions.zip", "application/zip", archive.finish()?))
}

/// The definitions whose latest version uses this one, those that use these, and so on.
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
    bounded(rows.iter().map(|row| row.get("id")).collect(), DEFINITIONS)
}

/// A file that a browser stores under a name.
pub fn attachment(name: &str, content_type: &'static str, content: Vec<u8>) -> Response {
    let headers =
        [(CONTENT_TYPE, content_type.to_owned()), (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""))];
    (headers, content).into_response()
}

/// A name for the file of a definition, without what a file system or a header minds.
fn file_name(whole: &Whole) -> String {
    let document: members::Members = serde_json::from_str(&whole.export).unwrap_or_default();
    let name = members::text(&document, "name").unwrap_or_else(|| whole.definition_id.clone());
    let words = name.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug: String = words.collect::<Vec<_>>().join("-").to_ascii_lowercase().chars().take(NAME).collect();
    if slug.is_empty() { "workflow-definition".into() } else { format!("workflow-definition-{slug}") }
}

/// A zip file in memory.
struct Archive {
    writer: ZipWriter<Cursor<Vec<u8>>>,
    /// How often a name was given.
    names: BTreeMap<String, u32>,
}

impl Archive {
    fn new() -> Self {
        Self { writer: ZipWriter::new(Cursor::default()), names: BTreeMap::new() }
    }

    fn add(&mut self, whole: &Whole) -> Result<(), Failure> {
        let name = file_name(whole);
        let times = self.names.entry(name.clone()).or_default();
        *times += 1;
        let name = if *times == 1 { name } else { format!("{name}-{times}") };
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        self.writer.start_file(format!("{name}.json"), options).map_err(Failure::internal)?;
        self.writer.write_all(document::file(&whole.export)?.as_bytes()).map_err(Failure::internal)
    }

    fn finish(self) -> Result<Vec<u8>, Failure> {
        Ok(self.writer.finish().map_err(Failure::internal)?.into_inner())
    }
}
