//! My requests: the instances that a person has started, and how far they are.

use axum::extract::{Query, State};
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::frame::{Frame, PageFailure, Visitor, html};
use super::inbox::answers::earliest;
use super::inbox::list::{instant, person};
use super::reader::Reader;
use super::values::ReadableValue;
use crate::gateway::App;
use crate::routing::Routes;
use crate::{json, parameters};

pub fn routes() -> Routes {
    Routes::new().get("/requests", show)
}

/// Requests per page.
const PAGE: usize = 20;
/// Maximum number of pages.
const MAX_PAGES: i64 = 500;

/// The latest 20 tasks `s` that satisfy a condition, in the order in which they were opened, as a JSON array of
/// [`Step`]s.
macro_rules! steps {
    ($condition:literal) => {
        concat!(
            "(SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(s) ORDER BY s.task_id)::pg_catalog.text FROM (\
                SELECT s.task_id, s.name, s.people, s.status, s.completed_by AS by, ",
            instant!("s.created_at"),
            " AS since, ",
            instant!("s.deadline"),
            " AS due, ",
            instant!("s.completed_at"),
            " AS at FROM workflow.request_steps s WHERE ",
            $condition,
            " ORDER BY s.task_id DESC LIMIT 20) s) AS steps"
        )
    };
}
pub(super) use steps;

/// The latest requests of the person, each with its latest 20 tasks. $1: offset; $2: limit; $3: the id of the earliest
/// one.
const REQUESTS: &str = concat!(
    "SELECT r.instance_id, coalesce(r.definition_name, r.definition_id) AS definition, r.name, r.correlation_id, \
     r.sub_status, r.output::pg_catalog.text AS output, r.paused_at IS NOT NULL AS is_paused, ",
    instant!("r.created_at"),
    " AS created, ",
    instant!("r.finished_at"),
    " AS finished, ",
    steps!("s.instance_id OPERATOR(pg_catalog.=) r.instance_id"),
    " FROM (SELECT * FROM workflow.my_requests q WHERE q.instance_id OPERATOR(pg_catalog.>=) $3 \
        OFFSET $1 LIMIT $2) r ORDER BY r.instance_id DESC"
);

/// A task of a request: whom it asks, and who has answered.
#[derive(Deserialize)]
pub struct Step {
    pub name: String,
    #[serde(default)]
    pub people: Vec<String>,
    pub status: String,
    pub by: Option<String>,
    pub since: Option<DateTime<Utc>>,
    pub due: Option<DateTime<Utc>>,
    pub at: Option<DateTime<Utc>>,
}

impl Step {
    /// The tasks in a row with the column that `steps!` reads.
    pub fn list(row: &Row) -> Vec<Self> {
        let steps: Option<Value> =
            row.get::<_, Option<&str>>("steps").and_then(|text| json::read(text.as_bytes()).ok());
        steps.and_then(|steps| serde_json::from_value(steps).ok()).unwrap_or_default()
    }

    pub fn is_open(&self) -> bool {
        self.status == "Open"
    }

    pub fn is_late(&self) -> bool {
        self.is_open() && self.due.is_some_and(|due| due < Utc::now())
    }

    pub fn people(&self) -> String {
        let names: Vec<&str> = self.people.iter().map(|name| person(name)).collect();
        names.join(", ")
    }
}

struct Request {
    id: Uuid,
    definition: String,
    name: Option<String>,
    correlation_id: Option<String>,
    sub_status: String,
    is_paused: bool,
    created: Option<DateTime<Utc>>,
    finished: Option<DateTime<Utc>>,
    output: Option<ReadableValue>,
    steps: Vec<Step>,
}

impl Request {
    fn new(row: &Row, reader: &Reader) -> Self {
        let output: Option<Value> =
            row.get::<_, Option<&str>>("output").and_then(|text| json::read(text.as_bytes()).ok());
        let output = output.filter(|output| output.as_object().is_some_and(|members| !members.is_empty()));
        Self {
            id: row.get("instance_id"),
            definition: row.get("definition"),
            name: row.get("name"),
            correlation_id: row.get("correlation_id"),
            sub_status: row.get("sub_status"),
            is_paused: row.get("is_paused"),
            created: row.get("created"),
            finished: row.get("finished"),
            output: output.map(|output| ReadableValue::new(&output, None, reader)),
            steps: Step::list(row),
        }
    }

    /// The state as a pill: its class, and the key of its text.
    fn state(&self) -> (&'static str, &'static str) {
        match self.sub_status.as_str() {
            "Finished" => ("good", "requests.finished"),
            "Faulted" => ("bad", "requests.faulted"),
            "Cancelled" | "Cancelling" => ("", "requests.cancelled"),
            _ if self.is_paused => ("warn", "requests.paused"),
            _ => ("busy", "requests.running"),
        }
    }

    /// Whether it runs, and no person is asked.
    fn is_at_work(&self) -> bool {
        self.state().0 == "busy" && !self.steps.iter().any(Step::is_open)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageQuery {
    page: String,
    done: String,
}

#[derive(askama::Template)]
#[template(path = "requests.html")]
struct Page {
    frame: Frame,
    requests: Vec<Request>,
    page: i64,
    has_next: bool,
    notice: Option<&'static str>,
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(asked): Query<PageQuery>,
) -> Result<Response, PageFailure> {
    let page = asked.page.parse().unwrap_or(1).clamp(1, MAX_PAGES);
    let values = parameters![(page - 1) * PAGE as i64, PAGE as i64 + 1, earliest()];
    let rows = app.database.read(&visitor.caller, REQUESTS, values).await?;
    let notice = (asked.done == "started").then(|| visitor.reader.t("requests.started"));
    html(&Page {
        frame: Frame::new(&app, &visitor, "/requests", visitor.reader.t("requests.title")).await?,
        requests: rows.iter().take(PAGE).map(|row| Request::new(row, &visitor.reader)).collect(),
        page,
        has_next: rows.len() > PAGE && page < MAX_PAGES,
        notice,
    })
}
