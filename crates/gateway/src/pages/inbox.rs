//! The inbox: open tasks for people.

pub mod answers;
pub mod list;

use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

use super::frame::{Frame, PageFailure, Visitor, html};
use super::reader::Reader;
use crate::gateway::App;
use crate::routing::Routes;
use answers::Answer;
use list::{List, ListQuery, Order, Whose};

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
}

#[derive(askama::Template)]
#[template(path = "inbox.html")]
struct Page {
    frame: Frame,
    list: List,
    /// What the visitor has answered, if the list is of that.
    answers: Vec<Answer>,
    notice: Option<&'static str>,
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
        notice: notice(&visitor.reader, &asked.done),
    })
}

/// The message for a completed action, by its keyword in the address.
pub fn notice(reader: &Reader, done: &str) -> Option<&'static str> {
    let key = match done {
        "completed" => "done.completed",
        "faulted" => "done.faulted",
        "taken" => "done.taken",
        "given-back" => "done.given-back",
        "commented" => "done.commented",
        "passed-on" => "done.passed-on",
        "failed" => "done.failed",
        "again" => "done.again",
        _ => return None,
    };
    Some(reader.t(key))
}
