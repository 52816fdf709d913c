//! Lists of versions, and queries for names, counts and consumers.

use axum::extract::{Path, State};
use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::one::{Link, text};
use super::query::{Parameters, Versions};
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::JsonText;
use crate::{is_mine, matches_versions, parameters};

/// $1 and $2: the versions; $3: definition ids, or NULL; $4: version ids, or NULL; $5: search text, or NULL; $6: the
/// order; $7 and $8: page, or NULL. Reads no document.
const LIST: &str = concat!(
    "WITH found AS MATERIALIZED (\
       SELECT d.version_id, d.definition_id, d.name, d.description, d.owner, d.version, d.created_at, d.is_latest, \
              d.is_published, ",
    is_mine!("d.owner"),
    " AS is_mine FROM workflow.definition_list d WHERE ",
    matches_versions!("$1", "$2"),
    " AND ($3::pg_catalog.text[] IS NULL OR d.definition_id OPERATOR(pg_catalog.=) ANY ($3)) \
        AND ($4::pg_catalog.uuid[] IS NULL OR d.version_id OPERATOR(pg_catalog.=) ANY ($4)) \
      AND ($5::pg_catalog.text IS NULL OR d.version_id::pg_catalog.text OPERATOR(pg_catalog.=) pg_catalog.lower($5) \
           OR pg_catalog.strpos(pg_catalog.lower(pg_catalog.concat_ws(pg_catalog.chr(10), d.name, d.description, \
             d.definition_id)), pg_catalog.lower($5)) OPERATOR(pg_catalog.>) 0) \
      UNION ALL \
      SELECT d.version_id, d.definition_id, d.name, d.description, NULL, d.version, d.created_at, false, false, false \
      FROM workflow.deleted_definitions d WHERE $1 OPERATOR(pg_catalog.=) 'Any' \
        AND d.version_id OPERATOR(pg_catalog.=) ANY ($4)) \
     SELECT t.total, f.version_id::pg_catalog.text, f.definition_id, f.name, f.owner, f.description, f.version, f.created_at, \
       f.is_latest, \
            f.is_published, f.is_mine, \
            EXISTS (SELECT FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_proc p \
              ON p.pronamespace OPERATOR(pg_catalog.=) e.extnamespace \
                    WHERE e.extname OPERATOR(pg_catalog.=) 'workflow' \
                      AND p.proname OPERATOR(pg_catalog.=) 'wf_save_draft' \
                      AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')) AS may_define \
     FROM (SELECT pg_catalog.count(*) AS total FROM found) t LEFT JOIN LATERAL (\
       SELECT * FROM found d \
       ORDER BY CASE WHEN $6 OPERATOR(pg_catalog.=) 'Name' THEN d.name END, CASE \
         WHEN $6 OPERATOR(pg_catalog.=) '-Name' THEN d.name END DESC NULLS LAST, \
                CASE WHEN $6 OPERATOR(pg_catalog.=) 'Version' THEN d.version WHEN $6 OPERATOR(pg_catalog.=) '-Version' \
                  THEN OPERATOR(pg_catalog.-) d.version END, \
                CASE WHEN $6 OPERATOR(pg_catalog.=) 'Created' THEN d.created_at END, CASE \
                  WHEN $6 OPERATOR(pg_catalog.=) '-Created' THEN d.created_at END DESC, \
                d.definition_id, d.version DESC \
       LIMIT $7 OFFSET $8) f ON true"
);

/// $1: version ids that [`LIST`] did not return. Returns those with an instance that the caller requested: it can see
/// the instance without being able to read the version, and Studio hides instances whose version it does not get.
const REQUESTED: &str = "\
    SELECT i.definition_version_id::pg_catalog.text AS version_id, i.definition_id, i.definition_id AS name, \
      NULL::pg_catalog.text AS owner, NULL::pg_catalog.text AS description, i.version, NULL::pg_catalog.timestamptz AS created_at, false AS is_latest, \
      false AS is_published, false AS is_mine \
    FROM pg_catalog.unnest($1) v (id) CROSS JOIN LATERAL workflow.instance_page(pg_catalog.jsonb_build_object(\
      'definitionVersionIds', pg_catalog.jsonb_build_array(v.id)), page_size => 1) i";

/// A version without its document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    id: String,
    definition_id: String,
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    version: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<DateTime<Utc>>,
    is_latest: bool,
    is_published: bool,
    materializer_name: &'static str,
    is_materializer_available: bool,
    links: Vec<Link>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    items: Vec<Summary>,
    total_count: i64,
    links: Vec<Link>,
}

impl Page {
    fn add(&mut self, more: Vec<Summary>) {
        self.total_count += i64::try_from(more.len()).unwrap_or_default();
        self.items.extend(more);
    }
}

impl Summary {
    /// From a row of [`LIST`]; `None` if the row has only the total.
    fn read(row: &Row) -> Result<Option<Self>, tokio_postgres::Error> {
        let Some(id) = row.try_get::<_, Option<String>>("version_id")? else { return Ok(None) };
        let definition_id: String = row.try_get("definition_id")?;
        let href = || format!("/workflow-definitions/{definition_id}/publish");
        let is_mine: bool = row.try_get("is_mine")?;
        Ok(Some(Self {
            id,
            name: row.try_get("name")?,
            description: description(row, is_mine)?,
            version: row.try_get("version")?,
            created_at: row.try_get("created_at")?,
            is_latest: row.try_get("is_latest")?,
            is_published: row.try_get("is_published")?,
            materializer_name: "Json",
            is_materializer_available: true,
            links: is_mine.then(|| Link { href: href(), rel: "publish", method: "POST" }).into_iter().collect(),
            definition_id,
        }))
    }
}

/// Adds the owner to the description of other roles' definitions: Studio's list offers to run them and has no column
/// for the owner.
fn description(row: &Row, is_mine: bool) -> Result<Option<String>, tokio_postgres::Error> {
    let (owner, description): (Option<String>, Option<String>) = (row.try_get("owner")?, row.try_get("description")?);
    Ok(match owner.filter(|_| !is_mine) {
        None => description,
        Some(owner) => Some(format!("Of {owner}. {}", description.unwrap_or_default()).trim_end().to_owned()),
    })
}

/// The sort order of Elsa's list: a column name, with `-` for descending.
fn order(query: &Parameters) -> Result<String, Failure> {
    let known = ["Created", "Name", "Version"];
    let by = query.text("OrderBy").unwrap_or("Created");
    let by = known.iter().find(|name| name.eq_ignore_ascii_case(by)).ok_or_else(|| {
        Failure::bad_request(format!("unrecognized OrderBy {by:?}")).hint("It is Created, Name or Version.")
    })?;
    let is_descending = match query.text("OrderDirection").map(str::to_ascii_lowercase).as_deref() {
        None => *by != "Name",
        Some("ascending") => false,
        Some("descending") => true,
        Some(other) => {
            return Err(Failure::bad_request(format!("unrecognized OrderDirection {other:?}"))
                .hint("It is Ascending or Descending."));
        }
    };
    Ok(format!("{}{by}", if is_descending { "-" } else { "" }))
}

/// Page size and offset. Without a size, all rows.
fn page(query: &Parameters) -> Result<(Option<i64>, i64), Failure> {
    let size = query.number("PageSize")?;
    let page = query.number("Page")?.unwrap_or(0);
    Ok((size, size.map_or(0, |size| page.saturating_mul(size))))
}

/// `GET /workflow-definitions`. Without `versionOptions`, any version.
pub async fn list(State(app): State<App>, caller: Caller, query: Parameters) -> Result<JsonText, Failure> {
    let which = query.versions()?.unwrap_or(Versions::Any);
    let definition_ids: Vec<String> = query.texts("DefinitionIds").map(str::to_owned).collect();
    let asked: Vec<&str> = query.texts("Ids").collect();
    let ids: Vec<Uuid> = asked.iter().filter_map(|id| id.parse().ok()).collect();
    // No definition that a role owns is a system definition.
    let is_empty = query.boolean("IsSystem")? == Some(true);
    let (size, offset) = page(&query)?;
    let search = query.text("SearchTerm").map(str::to_owned);
    let asks_for_ids_alone =
        which == Versions::Any && !is_empty && size.is_none() && search.is_none() && definition_ids.is_empty();
    let values = parameters![
        which.name(),
        which.number(),
        (!definition_ids.is_empty()).then_some(definition_ids),
        (!asked.is_empty() || is_empty).then_some(if is_empty { Vec::new() } else { ids.clone() }),
        search,
        order(&query)?,
        size,
        offset,
    ];
    let rows = app.database.read(&caller, LIST, values).await?;
    let first = rows.first().ok_or_else(|| Failure::internal("a list without a total"))?;
    let total_count = first.try_get("total").map_err(Failure::internal)?;
    let may_define: bool = first.try_get("may_define").map_err(Failure::internal)?;
    let mut page = Page { items: summaries(&rows)?, total_count, links: list_links(may_define) };
    if asks_for_ids_alone {
        page.add(requested(&app, &caller, ids, &page.items).await?);
    }
    text(&page)
}

fn summaries(rows: &[Row]) -> Result<Vec<Summary>, Failure> {
    rows.iter().filter_map(|row| Summary::read(row).transpose()).collect::<Result<_, _>>().map_err(Failure::internal)
}

/// Of the version ids that were requested and not found, those with an instance that the caller requested.
async fn requested(app: &Gateway, by: &Caller, mut ids: Vec<Uuid>, found: &[Summary]) -> Result<Vec<Summary>, Failure> {
    ids.retain(|id| found.iter().all(|summary| summary.id != id.to_string()));
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    summaries(&app.database.read(by, REQUESTED, parameters![ids]).await?)
}

/// Without the link `bulk-publish` Studio shows the list read-only.
fn list_links(may_define: bool) -> Vec<Link> {
    let link = |href: &str, rel| Link { href: href.to_owned(), rel, method: "POST" };
    if !may_define {
        return Vec::new();
    }
    vec![
        link("/workflow-definitions", "create"),
        link("/bulk-actions/publish/workflow-definitions/by-definition-ids", "bulk-publish"),
        link("/bulk-actions/retract/workflow-definitions/by-definition-ids", "bulk-retract"),
        link("/bulk-actions/delete/workflow-definitions/by-definition-id", "bulk-delete"),
    ]
}

/// The summary of one version.
pub async fn summary(app: &Gateway, caller: &Caller, definition_id: &str, version: i32) -> Result<Summary, Failure> {
    let which = Versions::Number(version);
    let values = parameters![
        which.name(),
        which.number(),
        Some(vec![definition_id.to_owned()]),
        None::<Vec<Uuid>>,
        None::<String>,
        "Version",
        Some(1_i64),
        0_i64,
    ];
    let rows = app.database.read(caller, LIST, values).await?;
    let found = rows.first().map(Summary::read).transpose().map_err(Failure::internal)?.flatten();
    found.ok_or_else(|| Failure::not_found("definition", definition_id))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IsUnique {
    is_unique: bool,
}

/// `GET /workflow-definitions/validation/is-name-unique`: whether no other definition visible to the caller has the
/// name.
pub async fn is_name_unique(State(app): State<App>, caller: Caller, query: Parameters) -> Result<JsonText, Failure> {
    let name = query.text("name").ok_or_else(|| Failure::bad_request("name is missing"))?;
    let rows = app
        .database
        .read(
            &caller,
            "SELECT NOT EXISTS (SELECT FROM workflow.definition_list \
             WHERE is_latest AND name OPERATOR(pg_catalog.=) $1 \
               AND (definition_id OPERATOR(pg_catalog.=) $2) IS NOT TRUE) AS is_unique",
            parameters![name, query.text("definitionId").map(str::to_owned)],
        )
        .await?;
    text(&IsUnique { is_unique: rows.first().is_none_or(|row| row.get("is_unique")) })
}

#[derive(Serialize)]
struct Count {
    count: i64,
}

/// `GET /workflow-definitions/query/count`
pub async fn count(State(app): State<App>, caller: Caller) -> Result<JsonText, Failure> {
    const SQL: &str = "SELECT pg_catalog.count(*) FROM workflow.definition_list WHERE is_latest";
    let rows = app.database.read(&caller, SQL, parameters![]).await?;
    text(&Count { count: rows.first().map_or(0, |row| row.get("count")) })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Consumers {
    consuming_workflow_definition_ids: Vec<String>,
}

/// `GET /workflow-definitions/{definition_id}/consumers`: the definitions whose latest or published version uses this
/// one as an activity.
pub async fn consumers(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<JsonText, Failure> {
    let rows = app
        .database
        .read(
            &caller,
            "SELECT EXISTS (SELECT FROM workflow.definition_list WHERE definition_id OPERATOR(pg_catalog.=) $1) \
                AS is_known, \
             ARRAY(SELECT DISTINCT definition_id FROM workflow.definition_links \
                   WHERE uses OPERATOR(pg_catalog.=) $1 AND (is_latest OR is_published) ORDER BY 1) AS consumers",
            parameters![id.as_str()],
        )
        .await?;
    match rows.first() {
        Some(row) if row.get("is_known") => {
            text(&Consumers { consuming_workflow_definition_ids: row.get("consumers") })
        }
        _ => Err(Failure::not_found("definition", &id)),
    }
}
