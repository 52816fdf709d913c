//! The inbox: open tasks for people.

use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::frame::{Frame, PageFailure, Visitor, html};
use crate::gateway::App;
use crate::parameters;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get("/inbox", show)
}

/// Tasks per page.
const PAGE: usize = 50;
/// Maximum length of a list; it contains the oldest tasks.
const MAX_TASKS: u32 = 10_000;

/// An instant as text.
#[macro_export]
macro_rules! utc {
    ($value:expr) => {
        concat!("pg_catalog.to_char(", $value, " AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI \"UTC\"')")
    };
}

/// The name of a row's definition, or its id: a role with a task need not be able to read the definition.
macro_rules! definition_name {
    ($row:literal) => {
        concat!(
            "coalesce((SELECT d.name FROM workflow.definition_list d WHERE d.definition_id OPERATOR(pg_catalog.=) ",
            $row,
            ".definition_id AND d.is_latest), ",
            $row,
            ".definition_id)"
        )
    };
}
pub(super) use definition_name;

/// The columns of an [`OpenTask`], of a task `t`.
macro_rules! task_columns {
    () => {
        concat!(
            "t.task_id, coalesce(t.name, t.activity_id) AS name, ",
            definition_name!("t"),
            " AS definition, t.definition_owner, t.excluded, t.correlation_id, \
             t.assignee, t.candidates, ",
            utc!("t.created_at"),
            " AS created, ",
            utc!("t.deadline"),
            " AS deadline, coalesce(t.deadline OPERATOR(pg_catalog.<) pg_catalog.now(), false) AS is_late, t.priority, \
             CASE WHEN t.lease_until OPERATOR(pg_catalog.>) pg_catalog.now() THEN coalesce(t.worker, '') END \
               AS worker, \
             t.paused_at IS NOT NULL AS is_paused"
        )
    };
}
pub(super) use task_columns;

/// Tasks that satisfy a condition and do not exclude the visitor, in an order. $1: offset; $2: limit.
///
/// Each of the visitor's roles is looked up once, and the view is read in its own order (by age), no further than
/// necessary.
macro_rules! tasks {
    ($condition:expr, $order:expr) => {
        concat!(
            "SELECT ",
            task_columns!(),
            " FROM (SELECT * FROM workflow.open_tasks t WHERE ",
            $condition,
            " AND NOT t.excluded LIMIT 10000) t ORDER BY ",
            $order,
            " OFFSET $1 LIMIT $2"
        )
    };
}

macro_rules! my_roles {
    () => {
        "ARRAY(SELECT 'role:' OPERATOR(pg_catalog.||) r.rolname FROM pg_catalog.pg_roles r \
            WHERE pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER'))"
    };
}

macro_rules! mine {
    () => {
        "t.assignee OPERATOR(pg_catalog.=) ('role:' OPERATOR(pg_catalog.||) current_user)"
    };
}

macro_rules! of_my_roles {
    () => {
        concat!(
            "(t.assignee OPERATOR(pg_catalog.=) ANY (",
            my_roles!(),
            ") OR t.candidates OPERATOR(pg_catalog.&&) ",
            my_roles!(),
            ")"
        )
    };
}

macro_rules! by_deadline {
    () => {
        "t.deadline NULLS LAST, t.task_id"
    };
}

/// The query string. Unknown values are ignored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PageQuery {
    whose: String,
    order: String,
    page: String,
    done: String,
}

impl PageQuery {
    /// The filter: `mine`, `roles` or `all`.
    fn whose(&self) -> &'static str {
        ["mine", "roles"].into_iter().find(|known| *known == self.whose).unwrap_or("all")
    }

    fn order(&self) -> &'static str {
        if self.order == "deadline" { "deadline" } else { "age" }
    }

    fn page(&self) -> u32 {
        self.page.parse().unwrap_or(1).clamp(1, MAX_TASKS / PAGE as u32)
    }

    fn sql(&self) -> &'static str {
        match (self.whose(), self.order()) {
            ("mine", "deadline") => tasks!(mine!(), by_deadline!()),
            ("mine", _) => tasks!(mine!(), "t.task_id"),
            ("roles", "deadline") => tasks!(of_my_roles!(), by_deadline!()),
            ("roles", _) => tasks!(of_my_roles!(), "t.task_id"),
            (_, "deadline") => tasks!("true", by_deadline!()),
            _ => tasks!("true", "t.task_id"),
        }
    }
}

/// A task as the list and the task page show it.
pub struct OpenTask {
    pub id: Uuid,
    pub name: String,
    pub definition: String,
    /// The owner of the workflow.
    pub definition_owner: Option<String>,
    /// Whether the task excludes the visitor.
    pub is_excluded: bool,
    pub correlation_id: Option<String>,
    pub assignee: Option<String>,
    pub candidates: Vec<String>,
    pub created: Option<String>,
    pub deadline: Option<String>,
    pub is_late: bool,
    pub priority: i32,
    /// The task worker that holds the claim; empty if it gave no name.
    pub worker: Option<String>,
    pub is_paused: bool,
}

impl From<&Row> for OpenTask {
    fn from(row: &Row) -> Self {
        Self {
            id: row.get("task_id"),
            name: row.get("name"),
            definition: row.get("definition"),
            definition_owner: row.get("definition_owner"),
            is_excluded: row.get("excluded"),
            correlation_id: row.get("correlation_id"),
            assignee: row.get("assignee"),
            candidates: row.get::<_, Option<_>>("candidates").unwrap_or_default(),
            created: row.get("created"),
            deadline: row.get("deadline"),
            is_late: row.get("is_late"),
            priority: row.get("priority"),
            worker: row.get("worker"),
            is_paused: row.get("is_paused"),
        }
    }
}

#[derive(askama::Template)]
#[template(path = "inbox.html")]
struct Page<'a> {
    frame: Frame,
    tasks: &'a [OpenTask],
    whose: &'static str,
    order: &'static str,
    page: u32,
    has_next: bool,
    notice: Option<&'static str>,
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(asked): Query<PageQuery>,
) -> Result<Response, PageFailure> {
    let page = asked.page();
    let passed = i64::from(page - 1) * PAGE as i64;
    let rows = app.database.read(&visitor.caller, asked.sql(), parameters![passed, PAGE as i64 + 1]).await?;
    let tasks: Vec<OpenTask> = rows.iter().take(PAGE).map(OpenTask::from).collect();
    html(&Page {
        frame: Frame::new(&app, &visitor, "/inbox", "Inbox").await?,
        tasks: &tasks,
        whose: asked.whose(),
        order: asked.order(),
        page,
        has_next: rows.len() > PAGE && page < MAX_TASKS / PAGE as u32,
        notice: notice(&asked.done),
    })
}

/// The message for a completed action, by its keyword in the address.
pub fn notice(done: &str) -> Option<&'static str> {
    Some(match done {
        "completed" => "The task is completed.",
        "faulted" => {
            "The task is completed. The workflow has faulted after it: who may read the workflow finds the reason under Incidents."
        }
        "taken" => "The task is assigned to you.",
        "given-back" => "The task is no longer assigned.",
        "failed" => "The task has failed: its activity has faulted.",
        "again" => "The attempt has failed. The task can be tried again.",
        _ => return None,
    })
}
