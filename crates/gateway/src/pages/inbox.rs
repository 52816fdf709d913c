//! The inbox: open tasks for people.

pub mod answers;
pub mod list;

use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::frame::{Frame, PageFailure, Visitor, html};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::parameters;
use crate::routing::Routes;
use answers::{Answer, if_available};
use list::{List, ListQuery, Order, Whose, person, title};

pub fn routes() -> Routes {
    Routes::new().get("/inbox", show)
}

/// An instant as text.
#[macro_export]
macro_rules! utc {
    ($value:expr) => {
        concat!("pg_catalog.to_char(", $value, " AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI \"UTC\"')")
    };
}

/// What the query string has besides the list.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct DoneQuery {
    pub done: String,
    /// The task that it was done to.
    pub task: String,
}

impl DoneQuery {
    /// Whether the visitor has answered a task, so that the page shows the next one.
    pub fn is_answered(&self) -> bool {
        matches!(self.done.as_str(), "completed" | "faulted")
    }
}

#[derive(askama::Template)]
#[template(path = "inbox.html")]
struct Page {
    frame: Frame,
    list: List,
    /// What the visitor has answered, if the list is of that.
    answers: Vec<Answer>,
    notice: Option<String>,
}

impl Page {
    /// The columns: the text, and the order by it.
    fn columns(&self) -> [(&'static str, Option<Order>); 5] {
        [
            (self.frame.t("inbox.task"), Some(Order::Name)),
            (self.frame.t("inbox.about"), None),
            (self.frame.t("inbox.workflow"), Some(Order::Workflow)),
            (self.frame.t("inbox.since"), Some(Order::Age)),
            (self.frame.t("inbox.due"), Some(Order::Due)),
        ]
    }

    /// Whether to offer a list of all tasks that the role may see: those who build workflows see tasks of others.
    fn has_all(&self) -> bool {
        self.list.whose == Whose::All || self.frame.is_builder()
    }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(query): Query<ListQuery>,
    Query(asked): Query<DoneQuery>,
) -> Result<Response, PageFailure> {
    let mut list = List::read(&app, &visitor, query).await?;
    let mut answers = Vec::new();
    if list.whose == Whose::Done {
        (answers, list.has_next) = answers::read(&app, &visitor, list.page, list.search()).await?;
        // A short list is complete, and has found out that there are no others.
        let is_complete = !list.is_narrowed() && !list.has_next;
        list.counts.done =
            if is_complete { Some(answers.len() as i64) } else { answers::count(&app, &visitor).await? };
    }
    html(&Page {
        frame: Frame::new(&app, &visitor, "/inbox", visitor.reader.t("inbox.title")).await?,
        list,
        answers,
        notice: notice(&app, &visitor, &asked).await?,
    })
}

/// The message for a completed action, by its keyword in the address. It names the task as far as the visitor may read it.
pub async fn notice(app: &Gateway, visitor: &Visitor, asked: &DoneQuery) -> Result<Option<String>, Failure> {
    let reader = &visitor.reader;
    let key = match asked.done.as_str() {
        "completed" | "faulted" => "done.completed",
        "taken" => "done.taken",
        "given-back" => "done.given-back",
        "commented" => "done.commented",
        "passed-on" => "done.passed-on",
        "failed" => "done.failed",
        "again" => "done.again",
        _ => return Ok(None),
    };
    let named = match (asked.done.as_str(), asked.task.parse::<Uuid>()) {
        ("completed" | "faulted", Ok(task)) => if_available(answers::summary(app, visitor, task).await)?.flatten(),
        ("passed-on", Ok(task)) => if_available(passed_on(app, visitor, task).await)?.flatten(),
        _ => None,
    };
    let notice = named.unwrap_or_else(|| reader.t(key).to_owned());
    let has_faulted = asked.done == "faulted";
    Ok(Some(if has_faulted { format!("{notice} · {}", reader.t("done.faulted")) } else { notice }))
}

/// A task that is assigned. $1: the task.
const PASSED_ON: &str = concat!(
    "SELECT t.assignee, ",
    title!("t", "t.name, t.activity_id"),
    " AS title FROM workflow.open_tasks t WHERE t.task_id OPERATOR(pg_catalog.=) $1 AND t.assignee IS NOT NULL"
);

/// To whom a task was passed on, and which task it was. `None` if the visitor does not see it any more.
async fn passed_on(app: &Gateway, visitor: &Visitor, task: Uuid) -> Result<Option<String>, Failure> {
    let rows = app.database.read(&visitor.caller, PASSED_ON, parameters![task]).await?;
    let text = |row: &Row| {
        let (assignee, title): (&str, &str) = (row.get("assignee"), row.get("title"));
        visitor.reader.filled("done.passed-on-to", &[person(assignee), title])
    };
    Ok(rows.first().map(text))
}
