//! Search for instances, by their search attributes among others, and the same list as CSV.

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{address, counted};
use crate::failure::Failure;
use crate::gateway::App;
use crate::pages::csv;
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::inbox::list::instant;
use crate::pages::instance::state_class;
use crate::pages::statement::Statement;
use crate::pages::typed::Typed;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get(PATH, show)
}

pub(super) const PATH: &str = "/search";
/// Instances per page.
const PAGE: usize = 50;
/// Maximum number of pages: `workflow.instance_page` lists the newest 10,000 instances.
const MAX_PAGES: usize = 200;

/// The columns of a [`Found`], of a row `p` of `workflow.instance_page`.
macro_rules! columns {
    () => {
        concat!(
            "p.instance_id, p.definition_id, p.version, p.name, p.correlation_id, p.sub_status, p.incident_count, \
             p.owner, ",
            instant!("p.created_at"),
            " AS created, ",
            instant!("p.updated_at"),
            " AS updated, ",
            instant!("p.finished_at"),
            " AS finished, p.paused_at IS NOT NULL AS is_paused, p.total_count, p.is_exact"
        )
    };
}

/// $1: the filter; $2: number of the page, from 0; $3: its size.
const INSTANCES: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM workflow.instance_page($1::pg_catalog.jsonb, page => $2::integer, page_size => $3::integer) AS p"
);

/// All pages in one snapshot, no more than there are. $1: the filter.
const ALL: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM workflow.instance_count($1::pg_catalog.jsonb) AS c CROSS JOIN LATERAL pg_catalog.generate_series(\
         0, (c.total_count OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) 1000) AS g (n) \
     CROSS JOIN LATERAL workflow.instance_page($1::pg_catalog.jsonb, page => g.n, page_size => 1000) AS p \
     ORDER BY p.created_at DESC, p.instance_id DESC"
);

/// $1: the filter.
const IS_COMPLETE: &str = "SELECT c.is_exact FROM workflow.instance_count($1::pg_catalog.jsonb) AS c";

/// What the last line of a file says that may lack instances.
const CUT_SHORT: &str = "The search was cut short: instances may be missing.";

/// The sub-statuses by which a list can be narrowed.
const STATUSES: [&str; 5] = ["Pending", "Suspended", "Faulted", "Finished", "Cancelled"];

/// Which instances a list has.
#[derive(Clone, Debug, Default)]
struct Filter {
    text: String,
    definition: String,
    status: String,
    /// A search attribute as `name=value` or `name=from..to`.
    attribute: String,
}

impl Filter {
    /// The filter in a query string.
    fn of(typed: &Typed) -> Self {
        let one = |name: &str| typed.one(name).trim().to_owned();
        Self { text: one("q"), definition: one("definition"), status: one("status"), attribute: one("attribute") }
    }

    fn pairs(&self) -> [(&'static str, &str); 4] {
        [
            ("q", self.text.as_str()),
            ("definition", self.definition.as_str()),
            ("status", self.status.as_str()),
            ("attribute", self.attribute.as_str()),
        ]
    }

    fn is_empty(&self) -> bool {
        self.pairs().iter().all(|(_, value)| value.is_empty())
    }

    /// The filter of `workflow.instance_page`, for which an empty text is no condition.
    fn json(&self) -> Result<String, Failure> {
        let mut filter = Map::new();
        filter.insert("searchTerm".into(), self.text.as_str().into());
        filter.insert("definitionId".into(), self.definition.as_str().into());
        filter.insert("subStatus".into(), self.status.as_str().into());
        if !self.attribute.is_empty() {
            filter.insert("searchAttributes".into(), json!([condition(&self.attribute)?]));
        }
        Ok(Value::Object(filter).to_string())
    }
}

/// The condition that `name=value` or `name=from..to` stands for. Either end of a range may be left out.
fn condition(text: &str) -> Result<Value, Failure> {
    let parts = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    let Some((name, value)) = parts.filter(|(name, _)| !name.is_empty()) else {
        return Err(Failure::bad_request("a search attribute is written as name=value, or as name=from..to"));
    };
    let mut condition = Map::new();
    condition.insert("name".into(), name.into());
    match value.split_once("..").filter(|(from, to)| !from.is_empty() || !to.is_empty()) {
        None => drop(condition.insert("value".into(), value.into())),
        Some((from, to)) => {
            let ends = [("from", from.trim()), ("to", to.trim())].into_iter().filter(|(_, end)| !end.is_empty());
            condition.extend(ends.map(|(key, end)| (key.to_owned(), end.into())));
        }
    }
    Ok(Value::Object(condition))
}

struct Found {
    id: Uuid,
    definition: String,
    version: i32,
    name: Option<String>,
    correlation_id: Option<String>,
    sub_status: String,
    incidents: i32,
    owner: String,
    created: Option<DateTime<Utc>>,
    updated: Option<DateTime<Utc>>,
    finished: Option<DateTime<Utc>>,
    is_paused: bool,
}

impl From<&Row> for Found {
    fn from(row: &Row) -> Self {
        Self {
            id: row.get("instance_id"),
            definition: row.get("definition_id"),
            version: row.get("version"),
            name: row.get("name"),
            correlation_id: row.get("correlation_id"),
            sub_status: row.get("sub_status"),
            incidents: row.get("incident_count"),
            owner: row.get("owner"),
            created: row.get("created"),
            updated: row.get("updated"),
            finished: row.get("finished"),
            is_paused: row.get("is_paused"),
        }
    }
}

impl Found {
    fn title(&self) -> &str {
        self.name.as_deref().or(self.correlation_id.as_deref()).unwrap_or(&self.definition)
    }

    /// Its correlation id, if that is not its title.
    fn beside_title(&self) -> Option<&str> {
        self.name.as_ref().and(self.correlation_id.as_deref())
    }

    /// The class of the pill with its status.
    fn class(&self) -> &'static str {
        state_class(&self.sub_status, self.is_paused)
    }

    /// The cells of its line of CSV.
    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.definition.clone(),
            self.version.to_string(),
            self.name.clone().unwrap_or_default(),
            self.correlation_id.clone().unwrap_or_default(),
            self.sub_status.clone(),
            self.is_paused.to_string(),
            self.incidents.to_string(),
            self.owner.clone(),
            csv::instant(self.created),
            csv::instant(self.updated),
            csv::instant(self.finished),
        ]
    }
}

/// The columns of the CSV, by the names of the view `workflow.instance_list`.
const COLUMNS: [&str; 12] = [
    "instance_id",
    "definition_id",
    "version",
    "name",
    "correlation_id",
    "sub_status",
    "is_paused",
    "incident_count",
    "owner",
    "created_at",
    "updated_at",
    "finished_at",
];

/// A page of the list.
struct Asked {
    filter: Filter,
    page: usize,
}

impl Asked {
    fn of(typed: &Typed) -> Self {
        Self { filter: Filter::of(typed), page: typed.one("page").parse().unwrap_or(1).clamp(1, MAX_PAGES) }
    }

    fn statement(&self) -> Result<Statement, Failure> {
        let bounds = [self.page - 1, PAGE].map(|number| Some(number.to_string()));
        Ok(Statement::new(INSTANCES, [vec![Some(self.filter.json()?)], bounds.to_vec()].concat()))
    }

    fn is_narrowed(&self) -> bool {
        !self.filter.is_empty() || self.page > 1
    }

    /// The address of another page of the list.
    fn address(&self, page: usize) -> String {
        let page = if page > 1 { page.to_string() } else { String::new() };
        address(PATH, &[&self.filter.pairs()[..], &[("page", page.as_str())][..]].concat())
    }
}

#[derive(askama::Template)]
#[template(path = "search.html")]
struct Page {
    frame: Frame,
    asked: Asked,
    instances: Vec<Found>,
    /// How many there are, if there are any.
    total: Option<String>,
    /// Whether all instances were examined that can match.
    is_complete: bool,
    has_next: bool,
    failure: Option<Failure>,
    sql: String,
}

impl Page {
    fn statuses(&self) -> [&'static str; 5] {
        STATUSES
    }

    fn csv(&self) -> String {
        address(PATH, &[&self.asked.filter.pairs()[..], &[("format", "csv")][..]].concat())
    }

    fn before(&self) -> String {
        self.asked.address(self.asked.page - 1)
    }

    fn next(&self) -> String {
        self.asked.address(self.asked.page + 1)
    }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(given): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let typed: Typed = given.into_iter().collect();
    let asked = Asked::of(&typed);
    if typed.one("format") == "csv" {
        return export(&app, &visitor, &asked.filter).await;
    }
    let (sql, found) = match asked.statement() {
        Ok(statement) => (statement.display(), statement.read(&app.database, &visitor.caller).await),
        Err(failure) => (String::new(), Err(failure)),
    };
    let (rows, failure) = match found {
        Ok(rows) => (rows, None),
        Err(failure) if failure.status == StatusCode::BAD_REQUEST => (Vec::new(), Some(failure)),
        Err(failure) => return Err(failure.into()),
    };
    let is_complete = failure.is_some() || is_complete(&app, &visitor, &asked.filter, &rows).await?;
    let total = rows.first().map(|row| row.get::<_, i32>("total_count"));
    let has_more = total.is_some_and(|total| usize::try_from(total).is_ok_and(|total| total > asked.page * PAGE));
    let status = failure.as_ref().map_or(StatusCode::OK, |failure| failure.status);
    let response = html(&Page {
        frame: Frame::new(&app, &visitor, PATH, "Search").await?,
        instances: rows.iter().map(Found::from).collect(),
        total: total.map(|total| counted(f64::from(total), !is_complete)),
        is_complete,
        has_next: asked.page < MAX_PAGES && has_more,
        asked,
        failure,
        sql,
    })?;
    Ok((status, response).into_response())
}

/// The list as a file.
async fn export(app: &App, visitor: &Visitor, filter: &Filter) -> Result<Response, PageFailure> {
    let rows = Statement::new(ALL, vec![Some(filter.json()?)]).read(&app.database, &visitor.caller).await?;
    let last = last_line(rows.len(), is_complete(app, visitor, filter, &rows).await?);
    Ok(csv::response("instances.csv", &COLUMNS, rows.iter().map(|row| Found::from(row).cells()).chain(last)))
}

/// Whether a list has all instances that match. An empty one does not say it in its rows.
async fn is_complete(app: &App, visitor: &Visitor, filter: &Filter, rows: &[Row]) -> Result<bool, Failure> {
    if let Some(row) = rows.first() {
        return Ok(row.get("is_exact"));
    }
    let counted = Statement::new(IS_COMPLETE, vec![Some(filter.json()?)]).read(&app.database, &visitor.caller).await?;
    Ok(counted.first().is_none_or(|row| row.get("is_exact")))
}

/// What follows the instances in a file. A row after the last permitted one makes the file say that there are more.
fn last_line(rows: usize, is_complete: bool) -> Option<Vec<String>> {
    match (is_complete, rows < csv::MOST) {
        (true, _) => None,
        (false, true) => Some(vec![CUT_SHORT.to_owned()]),
        (false, false) => Some(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_attribute_is_a_value_or_a_range() {
        let read = |text: &str| condition(text).ok();
        assert_eq!(read("orderNo=4711"), Some(json!({"name": "orderNo", "value": "4711"})));
        assert_eq!(read(" note = a=b "), Some(json!({"name": "note", "value": "a=b"})));
        assert_eq!(read("total=10..20"), Some(json!({"name": "total", "from": "10", "to": "20"})));
        assert_eq!(read("total=10.."), Some(json!({"name": "total", "from": "10"})));
        assert_eq!(read("total=.. 20"), Some(json!({"name": "total", "to": "20"})));
        assert_eq!(read("dots=.."), Some(json!({"name": "dots", "value": ".."})));
        assert_eq!([read("4711"), read("=4711"), read(" =1")], [None, None, None]);
    }

    #[test]
    fn a_file_says_whether_instances_are_missing() {
        assert_eq!([last_line(0, true), last_line(csv::MOST, true)], [None, None]);
        assert_eq!(last_line(3, false), Some(vec![CUT_SHORT.to_owned()]));
        assert_eq!(last_line(csv::MOST, false), Some(Vec::new()));
    }

    #[test]
    fn an_empty_filter_has_no_search_attribute() {
        let filter = Filter::default();
        assert!(filter.is_empty());
        assert!(!filter.json().unwrap().contains("searchAttributes"));
        let filter = Filter { attribute: "wrong".to_owned(), ..filter };
        assert_eq!(filter.json().unwrap_err().status, StatusCode::BAD_REQUEST);
    }
}
