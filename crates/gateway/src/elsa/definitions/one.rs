//! Single versions with their document.

use axum::extract::{Path, State};
use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::document::{self, Edited};
use super::members::Members;
use super::query::{Parameters, Versions};
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::{JsonText, raw};
use crate::{is_mine, matches_versions, parameters};

/// Versions that one request may name.
const MAX_VERSIONS: usize = 100;

/// The columns of a version, its document last. `$from` yields rows as `some_versions!` and `any_versions!` do;
/// `$arrange` says whether activities without a position get one.
macro_rules! whole {
    ($arrange:expr, $from:expr) => {
        concat!(
            "SELECT v.version_id::pg_catalog.text, v.definition_id, v.version, v.is_latest, v.is_published, \
                v.created_at, \
             v.revision, v.is_mine, @wf.wf_export_version(v.version_id, ",
            $arrange,
            ")::pg_catalog.text AS export FROM (",
            $from,
            ") v"
        )
    };
}

/// Versions that are not deleted.
macro_rules! some_versions {
    ($condition:expr) => {
        concat!(
            "SELECT d.version_id, d.definition_id, d.version, d.is_latest, d.is_published, d.created_at, d.revision, ",
            is_mine!("d.owner"),
            " AS is_mine FROM workflow.definition_list d WHERE ",
            $condition
        )
    };
}

/// The same, including deleted versions that still have instances.
macro_rules! any_versions {
    ($condition:expr) => {
        concat!(
            some_versions!($condition),
            " UNION ALL SELECT d.version_id, d.definition_id, d.version, false, false, d.created_at, 0, false \
             FROM workflow.deleted_definitions d WHERE ",
            $condition
        )
    };
}

/// A version as read from the database.
pub struct Whole {
    pub version_id: String,
    pub definition_id: String,
    pub version: i32,
    is_latest: bool,
    pub is_published: bool,
    created_at: DateTime<Utc>,
    revision: i64,
    /// Whether the caller has the rights of its owner.
    is_mine: bool,
    /// The result of `wf_export`.
    pub export: String,
}

/// Why a version is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// For display in Studio: activities without a position get one.
    Show,
    /// Unchanged.
    Keep,
}

/// Elsa's clients derive the permitted actions from links.
#[derive(Debug, Serialize)]
pub struct Link {
    pub href: String,
    pub rel: &'static str,
    pub method: &'static str,
}

impl Whole {
    pub fn read(row: &Row) -> Result<Self, Failure> {
        let read = || -> Result<Self, tokio_postgres::Error> {
            Ok(Self {
                version_id: row.try_get("version_id")?,
                definition_id: row.try_get("definition_id")?,
                version: row.try_get("version")?,
                is_latest: row.try_get("is_latest")?,
                is_published: row.try_get("is_published")?,
                created_at: row.try_get("created_at")?,
                revision: row.try_get("revision")?,
                is_mine: row.try_get("is_mine")?,
                export: row.try_get("export")?,
            })
        };
        read().map_err(Failure::internal)
    }

    /// The version in the model of Elsa's API. `session` is the editing session that reads it; an editor that opens it
    /// gets a new one.
    pub fn model(&self, session: Option<String>) -> Result<Members, Failure> {
        let edited = Edited {
            definition_id: self.definition_id.clone(),
            revision: self.revision,
            session: session.unwrap_or_else(super::new_id),
        };
        let mut model = document::open(&self.export, edited)?;
        let facts = [
            ("id", raw(&self.version_id)?),
            ("definitionId", raw(&self.definition_id)?),
            ("createdAt", raw(&self.created_at)?),
            ("version", raw(&self.version)?),
            ("isLatest", raw(&self.is_latest)?),
            ("isPublished", raw(&self.is_published)?),
            ("materializerName", raw("Json")?),
            ("providerName", raw(&())?),
            ("links", raw(&self.links())?),
        ];
        model.extend(facts.map(|(name, value)| (name.to_owned(), value)));
        for name in ["name", "description"] {
            model.entry(name.into()).or_insert(raw(&())?);
        }
        Ok(model)
    }

    /// Without the link `publish` Studio's editor is read-only.
    fn links(&self) -> Vec<Link> {
        let path = format!("/workflow-definitions/{}", self.definition_id);
        let link = |tail: &str, rel, method| Link { href: format!("{path}{tail}"), rel, method };
        if !self.is_mine {
            return Vec::new();
        }
        vec![link("/publish", "publish", "POST"), link("/retract", "retract", "POST"), link("", "delete", "DELETE")]
    }
}

/// A version by its id, deleted ones included, for display.
pub async fn by_version_id(app: &Gateway, caller: &Caller, id: &str) -> Result<Whole, Failure> {
    version(app, caller, id, Purpose::Show).await
}

/// A version by its id, deleted ones included.
pub async fn version(app: &Gateway, caller: &Caller, id: &str, purpose: Purpose) -> Result<Whole, Failure> {
    let missing = || Failure::not_found("version of a definition", id);
    let Ok(version_id) = id.parse::<Uuid>() else { return Err(missing()) };
    const SQL: &str = whole!("$2", any_versions!("d.version_id OPERATOR(pg_catalog.=) $1"));
    let rows = app.database.read(caller, SQL, parameters![version_id, purpose == Purpose::Show]).await?;
    Whole::read(rows.first().ok_or_else(missing)?)
}

/// The newest version of a definition that the options select.
pub async fn by_definition_id(
    app: &Gateway,
    caller: &Caller,
    id: &str,
    which: Versions,
    purpose: Purpose,
) -> Result<Whole, Failure> {
    const SQL: &str = whole!(
        "$4",
        concat!(
            some_versions!(concat!("d.definition_id OPERATOR(pg_catalog.=) $1 AND ", matches_versions!("$2", "$3"))),
            " ORDER BY d.version DESC LIMIT 1"
        )
    );
    let values = parameters![id, which.name(), which.number(), purpose == Purpose::Show];
    let rows = app.database.read(caller, SQL, values).await?;
    Whole::read(rows.first().ok_or_else(|| Failure::not_found("definition", id))?)
}

/// `GET /workflow-definitions/by-definition-id/{definition_id}`
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    query: Parameters,
) -> Result<JsonText, Failure> {
    let which = query.versions()?.unwrap_or(Versions::Latest);
    text(&by_definition_id(&app, &caller, &id, which, Purpose::Show).await?.model(None)?)
}

/// `GET /workflow-definitions/by-id/{version_id}`
pub async fn get_version(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<JsonText, Failure> {
    text(&by_version_id(&app, &caller, &id).await?.model(None)?)
}

/// `GET /workflow-definitions/many-by-id`. Unknown ids are left out.
pub async fn get_many(State(app): State<App>, caller: Caller, query: Parameters) -> Result<JsonText, Failure> {
    let ids: Vec<&str> = query.texts("ids").collect();
    if ids.len() > MAX_VERSIONS {
        return Err(Failure::bad_request(format!(
            "a request may ask for {MAX_VERSIONS} versions, not for {}",
            ids.len()
        )));
    }
    let ids: Vec<Uuid> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    const SQL: &str =
        concat!(whole!("true", any_versions!("d.version_id OPERATOR(pg_catalog.=) ANY ($1)")), " ORDER BY 2, 3");
    let rows = app.database.read(&caller, SQL, parameters![ids]).await?;
    let models: Result<Vec<Members>, Failure> = rows.iter().map(|row| Whole::read(row)?.model(None)).collect();
    let items = models?;
    text(&Many { count: items.len(), items })
}

#[derive(Serialize)]
struct Many {
    items: Vec<Members>,
    count: usize,
}

/// A JSON response.
pub fn text<T: Serialize>(value: &T) -> Result<JsonText, Failure> {
    serde_json::to_string(value).map(JsonText).map_err(Failure::internal)
}
