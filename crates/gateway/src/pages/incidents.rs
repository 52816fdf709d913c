//! Open incidents: faults that no retry has resolved. By cause, and one by one.

pub mod causes;
mod retry;

use axum::extract::{Query, State};
use axum::response::Response;
use tokio_postgres::Row;
use uuid::Uuid;

use super::csv;
use super::frame::{Frame, PageFailure, Visitor, html};
use super::inbox::list::{definition_name, instant};
use super::statement::Statement;
use super::typed::Typed;
use crate::gateway::App;
use crate::routing::Routes;
use crate::utc;
use causes::{Causes, Filter, cause, of_cause};

pub fn routes() -> Routes {
    Routes::new().get(PATH, show).merge(retry::routes())
}

/// Path of the list.
const PATH: &str = "/incidents";
/// Causes that the list begins with, at most.
const CAUSES: usize = 20;

/// Incidents per page.
const PAGE: i64 = 50;
/// Maximum number of pages of a list.
const MAX_PAGES: i64 = 200;

/// Whether the role may call `wf_retry` and that would run faulted activities `e` again: some are open, and the
/// instance is not paused. An instance that ended with the fault or was compensated has none. Only a role that can see
/// the variables may read the state.
macro_rules! can_retry {
    ($instance:literal, $which:literal) => {
        concat!(
            "coalesce((SELECT CASE WHEN p.variables IS NOT NULL AND p.paused_at IS NULL \
                  AND 'wf_retry' OPERATOR(pg_catalog.=) ANY (workflow.instance_calls(p.instance_id)) THEN EXISTS (\
                SELECT FROM pg_catalog.jsonb_array_elements(\
                    workflow.instance_state(p.instance_id) OPERATOR(pg_catalog.->) 'open') e (activity) \
                WHERE e.activity OPERATOR(pg_catalog.->>) 'status' OPERATOR(pg_catalog.=) 'Faulted' AND ",
            $which,
            ") END FROM workflow.instance_list p WHERE p.instance_id OPERATOR(pg_catalog.=) ",
            $instance,
            "), false)"
        )
    };
}
pub(super) use can_retry;

/// Incidents `i` that satisfy a condition, newest first, with the columns of [`Incident`].
macro_rules! incidents {
    ($condition:expr, $bounds:literal) => {
        concat!(
            "SELECT i.incident_id::pg_catalog.text, i.instance_id::pg_catalog.text, i.definition_id, i.activity_id, \
                i.activity_type, ",
            utc!("i.created_at"),
            " AS created, i.sqlstate, i.code, i.message, i.detail, i.hint, ",
            definition_name!("i"),
            " AS definition, ",
            can_retry!(
                "i.instance_id",
                "e.activity OPERATOR(pg_catalog.->>) 'activity_id' OPERATOR(pg_catalog.=) i.activity_id"
            ),
            " AS can_retry, 'wf_retry' OPERATOR(pg_catalog.=) ANY (workflow.instance_calls(i.instance_id)) AS may_retry \
              FROM workflow.open_incidents i WHERE ",
            $condition,
            " ORDER BY i.created_at DESC, i.incident_id DESC ",
            $bounds
        )
    };
}
pub(super) use incidents;

/// $1 to $4: a filter; $5: offset; $6: limit.
const INCIDENTS: &str = incidents!(of_cause!(), "OFFSET $5::bigint LIMIT $6::bigint");

/// The same for a file, without what can be done. $1 to $4: a filter; $5: limit.
const FILE: &str = concat!(
    "SELECT i.incident_id, i.instance_id, i.definition_id, i.activity_id, i.activity_type, ",
    instant!("i.created_at"),
    " AS created, i.sqlstate, i.code, pg_catalog.left(i.message, 1000) AS message, \
     pg_catalog.left(i.detail, 1000) AS detail, pg_catalog.left(i.hint, 1000) AS hint \
     FROM workflow.open_incidents i WHERE ",
    of_cause!(),
    " ORDER BY i.created_at DESC, i.incident_id DESC LIMIT $5::bigint"
);

/// The columns of a file.
const COLUMNS: &[&str] = &[
    "incident",
    "instance",
    "at",
    "definition",
    "activity",
    "activity type",
    "sqlstate",
    "code",
    "message",
    "detail",
    "hint",
];

/// The cells of a row of [`FILE`].
fn cells(row: &Row) -> Vec<String> {
    let id = |column: &str| row.get::<_, Uuid>(column).to_string();
    let text = |column: &str| row.get::<_, Option<String>>(column).unwrap_or_default();
    let named = ["definition_id", "activity_id", "activity_type", "sqlstate", "code", "message", "detail", "hint"];
    let mut cells = vec![id("incident_id"), id("instance_id"), csv::instant(row.get("created"))];
    cells.extend(named.map(text));
    cells
}

/// A fault. PostgreSQL's messages in it may have any length.
pub struct Incident {
    pub id: String,
    pub instance: String,
    pub definition: String,
    /// Empty for a role that only requested the instance.
    pub activity: String,
    pub activity_type: Option<String>,
    pub at: Option<String>,
    pub sqlstate: Option<String>,
    pub code: Option<String>,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    pub can_retry: bool,
    pub may_retry: bool,
}

impl From<&Row> for Incident {
    fn from(row: &Row) -> Self {
        let text = |column: &str| row.get::<_, Option<String>>(column);
        Self {
            id: row.get("incident_id"),
            instance: row.get("instance_id"),
            definition: row.get("definition"),
            activity: text("activity_id").unwrap_or_default(),
            activity_type: text("activity_type"),
            at: text("created"),
            sqlstate: text("sqlstate"),
            code: text("code"),
            message: text("message").unwrap_or_default(),
            detail: text("detail"),
            hint: text("hint"),
            can_retry: row.get("can_retry"),
            may_retry: row.get("may_retry"),
        }
    }
}

#[derive(askama::Template)]
#[template(path = "incidents.html")]
struct Page {
    frame: Frame,
    filter: Filter,
    /// On the first page of the list of all incidents.
    causes: Causes,
    incidents: Vec<Incident>,
    page: i64,
    has_next: bool,
    sql: String,
}

impl Page {
    /// The address of another page of this list.
    fn at(&self, page: i64) -> String {
        self.filter.address(PATH, &[("page", page.to_string().as_str())])
    }

    fn before(&self) -> String {
        self.at(self.page - 1)
    }

    fn next(&self) -> String {
        self.at(self.page + 1)
    }

    /// The address of the list as a file.
    fn file(&self) -> String {
        self.filter.address(PATH, &[("format", "csv")])
    }

    /// The page that retries the incidents of the filter.
    fn retry(&self) -> Option<String> {
        (!self.filter.definition.is_empty()).then(|| self.filter.address(retry::PATH, &[]))
    }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(given): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let typed: Typed = given.into_iter().collect();
    let filter = Filter::of(&typed);
    if typed.one("format") == "csv" {
        let statement = Statement::new(FILE, [filter.values(), vec![Some((csv::MOST + 1).to_string())]].concat());
        let rows = statement.read(&app.database, &visitor.caller).await?;
        return Ok(csv::response("incidents.csv", COLUMNS, rows.iter().map(cells)));
    }
    let page = typed.one("page").parse().unwrap_or(1).clamp(1, MAX_PAGES);
    let bounds = [(page - 1) * PAGE, PAGE + 1].map(|number| Some(number.to_string())).to_vec();
    let statement = Statement::new(INCIDENTS, [filter.values(), bounds].concat());
    let rows = statement.read(&app.database, &visitor.caller).await?;
    let causes = match filter.is_empty() && page == 1 && !rows.is_empty() {
        true => Causes::read(&app.database, &visitor.caller, CAUSES).await?,
        false => Causes::none(),
    };
    html(&Page {
        frame: Frame::new(&app, &visitor, PATH, "Incidents").await?,
        has_next: rows.len() > PAGE as usize && page < MAX_PAGES,
        incidents: rows.iter().take(PAGE as usize).map(Incident::from).collect(),
        sql: format!("{}\n\n{}", Causes::statement(CAUSES).display(), statement.display()),
        filter,
        causes,
        page,
    })
}
