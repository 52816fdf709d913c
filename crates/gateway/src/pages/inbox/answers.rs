//! What a person has answered, from the record.

use axum::http::StatusCode;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use tokio_postgres::Row;
use uuid::{NoContext, Timestamp, Uuid};

use super::list::{about, instant, title};
use crate::failure::Failure;
use crate::gateway::Gateway;
use crate::pages::frame::Visitor;
use crate::pages::reader::Reader;
use crate::pages::values::ReadableValue;
use crate::{json, parameters};

/// Answers per page.
const PAGE: usize = 50;
/// Maximum number of pages.
const MAX_PAGES: u32 = 200;
/// How far lists of a person's answers and requests go back: no index finds them, so they are searched by age.
const DAYS: i64 = 90;

/// The latest answers. $1: offset; $2: limit; $3: a text that they contain, in lower case; $4: the id of the earliest
/// task.
const ANSWERS: &str = concat!(
    "SELECT t.task_id, t.name, t.correlation_id, coalesce(t.definition_name, t.definition_id) AS definition, \
     EXISTS (SELECT FROM workflow.task_comments c WHERE c.task_id OPERATOR(pg_catalog.=) t.task_id) AS has_comments, \
     EXISTS (SELECT FROM workflow.approval_votes v WHERE v.task_id OPERATOR(pg_catalog.=) t.task_id) AS has_votes, ",
    about!("t"),
    " AS about, ",
    instant!("t.completed_at"),
    " AS completed, t.result::pg_catalog.text AS result, t.used FROM workflow.my_answers t \
     WHERE t.task_id OPERATOR(pg_catalog.>=) $4 AND ($3 OPERATOR(pg_catalog.=) '' OR pg_catalog.strpos(\
        pg_catalog.lower(pg_catalog.concat_ws(' ', t.name, ",
    about!("t"),
    ", t.definition_name, t.definition_id, t.correlation_id)), $3) OPERATOR(pg_catalog.>) 0) OFFSET $1 LIMIT $2"
);

/// How many answers there are since the id of a task ($1), up to a thousand.
const COUNT: &str = "SELECT pg_catalog.count(*) AS answers FROM \
    (SELECT 1 FROM workflow.my_answers t WHERE t.task_id OPERATOR(pg_catalog.>=) $1 LIMIT 1000) t";

/// An answer of the visitor. $1: the task.
const ANSWERED: &str = concat!(
    "SELECT t.result::pg_catalog.text AS result, coalesce(t.definition_name, t.definition_id) AS definition, \
     t.correlation_id, ",
    title!("t", "t.name"),
    " AS title FROM workflow.my_answers t WHERE t.task_id OPERATOR(pg_catalog.=) $1"
);

/// An answer of the visitor.
pub struct Answer {
    pub task: Uuid,
    pub name: String,
    pub definition: String,
    pub correlation_id: Option<String>,
    pub about: String,
    pub completed: Option<DateTime<Utc>>,
    /// The vote as a pill: its class, and the key of its text.
    pub vote: Option<(&'static str, &'static str)>,
    pub result: Option<ReadableValue>,
    pub is_used: bool,
    /// Whether the page of the task shows comments.
    pub has_comments: bool,
    /// Whether the page of the task shows votes.
    pub has_votes: bool,
}

impl Answer {
    fn new(row: &Row, reader: &Reader) -> Self {
        let result: Option<Value> =
            row.get::<_, Option<&str>>("result").and_then(|text| json::read(text.as_bytes()).ok());
        let mut rest = result.unwrap_or_default();
        let vote = vote(&rest);
        if let (Some(_), Value::Object(members)) = (vote, &mut rest) {
            members.remove("approved");
            members.remove("abstain");
        }
        let is_empty = rest.is_null()
            || rest.as_object().is_some_and(serde_json::Map::is_empty)
            || vote.is_some() && rest.is_boolean();
        Self {
            task: row.get("task_id"),
            name: row.get("name"),
            definition: row.get("definition"),
            correlation_id: row.get("correlation_id"),
            about: row.get("about"),
            completed: row.get("completed"),
            vote,
            result: (!is_empty).then(|| ReadableValue::new(&rest, None, reader)),
            is_used: row.get("used"),
            has_comments: row.get("has_comments"),
            has_votes: row.get("has_votes"),
        }
    }
}

/// Which task of which request the visitor has answered.
pub struct AnsweredTask {
    pub title: String,
    pub definition: String,
    pub correlation_id: Option<String>,
}

/// The vote in an answer to an approval.
fn vote(result: &Value) -> Option<(&'static str, &'static str)> {
    let approved = if result.is_boolean() { Some(result) } else { result.get("approved") };
    match approved.and_then(Value::as_bool) {
        Some(true) => pill("Approved"),
        Some(false) => pill("Rejected"),
        None if result.get("abstain") == Some(&Value::Bool(true)) => pill("Abstained"),
        None => None,
    }
}

/// The pill of a vote, by its name in SQL: its class, and the key of its text.
pub fn pill(vote: &str) -> Option<(&'static str, &'static str)> {
    match vote {
        "Approved" => Some(("good", "answers.approved")),
        "Rejected" => Some(("bad", "answers.rejected")),
        "Abstained" => Some(("", "answers.abstained")),
        _ => None,
    }
}

/// What the visitor has answered to which task, in a line. `None` if there is no such answer.
pub async fn summary(app: &Gateway, visitor: &Visitor, task: Uuid) -> Result<Option<String>, Failure> {
    let rows = app.database.read(&visitor.caller, ANSWERED, parameters![task]).await?;
    let line = |row: &Row| {
        let result: Option<Value> =
            row.get::<_, Option<&str>>("result").and_then(|text| json::read(text.as_bytes()).ok());
        let (_, key) = vote(&result.unwrap_or_default()).unwrap_or(("", "done.answered"));
        format!("{}: {}", visitor.reader.t(key), row.get::<_, Option<&str>>("title").unwrap_or_default())
    };
    Ok(rows.first().map(line))
}

/// A task that the visitor has answered. `None` if there is no such answer.
pub async fn answered(app: &Gateway, visitor: &Visitor, task: Uuid) -> Result<Option<AnsweredTask>, Failure> {
    let rows = app.database.read(&visitor.caller, ANSWERED, parameters![task]).await?;
    let answered = |row: &Row| AnsweredTask {
        title: row.get::<_, Option<String>>("title").unwrap_or_default(),
        definition: row.get("definition"),
        correlation_id: row.get("correlation_id"),
    };
    Ok(rows.first().map(answered))
}

/// An id that is about as old as the earliest entry of such a list. Ids are ordered by time.
pub fn earliest() -> Uuid {
    let since = (Utc::now() - TimeDelta::days(DAYS)).timestamp().unsigned_abs();
    Uuid::new_v7(Timestamp::from_unix(NoContext, since, 0))
}

/// How many answers the visitor has given, up to a thousand. `None` if counting them takes too long.
pub async fn count(app: &Gateway, visitor: &Visitor) -> Result<Option<i64>, Failure> {
    let rows = if_available(app.database.read(&visitor.caller, COUNT, parameters![earliest()]).await)?;
    Ok(rows.and_then(|rows| rows.first().map(|row| row.get("answers"))))
}

/// What was read, unless the database has had no time or no connection for it. A page is worth showing without it.
pub fn if_available<T>(read: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(failure) if failure.status == StatusCode::SERVICE_UNAVAILABLE => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Answers of a page, and whether there are more.
pub async fn read(app: &Gateway, visitor: &Visitor, page: u32, search: &str) -> Result<(Vec<Answer>, bool), Failure> {
    let page = page.min(MAX_PAGES);
    let passed = i64::from(page - 1) * PAGE as i64;
    let values = parameters![passed, PAGE as i64 + 1, search.trim().to_lowercase(), earliest()];
    let rows = app.database.read(&visitor.caller, ANSWERS, values).await?;
    let answers = rows.iter().take(PAGE).map(|row| Answer::new(row, &visitor.reader)).collect();
    Ok((answers, rows.len() > PAGE && page < MAX_PAGES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::status_of;

    #[test]
    fn a_number_that_takes_too_long_is_left_out() {
        let failed = |status: StatusCode| if_available::<i64>(Err(Failure::new(status, "x")));
        assert_eq!(if_available(Ok(7)).unwrap(), Some(7));
        // Of the gateway's own time limit, and of statement_timeout.
        assert_eq!(failed(Failure::unavailable("x").status).unwrap(), None);
        assert_eq!(failed(status_of("57014").unwrap()).unwrap(), None);
        failed(StatusCode::FORBIDDEN).unwrap_err();
    }
}
