//! One task: its subject, the form for its answer, and its assignment.

mod change;
mod talk;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::frame::{Frame, PageFailure, Visitor, html};
use super::inbox::answers::{AnsweredTask, answered};
use super::inbox::list::{List, ListQuery, OpenTask, about, instant, my_names, person, task_columns, task_definition};
use super::inbox::{DoneQuery, notice};
use super::reader::Reader;
use super::requests::Step;
use super::statement::Statement;
use super::task_form::{ABSTAIN, Form, NO, YES};
use super::typed::Typed;
use super::values::ReadableValue;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::routing::Routes;
use crate::{json, parameters};
use talk::{Comment, Vote};

pub fn routes() -> Routes {
    Routes::new().get("/inbox/{task_id}", show).post("/inbox/{task_id}", change)
}

/// $1: the task.
const TASK: &str = concat!(
    "SELECT ",
    task_columns!(),
    ", t.payload::pg_catalog.text AS payload, t.attempt, ",
    instant!("t.lease_until"),
    " AS held_until, t.last_error, t.form::pg_catalog.text, t.result_schema::pg_catalog.text, \
     EXISTS (SELECT FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) t.instance_id) \
       AS shows_instance, (SELECT i.name FROM workflow.instance_list i \
          WHERE i.instance_id OPERATOR(pg_catalog.=) t.instance_id) AS instance_name, workflow.task_calls(t.task_id) AS calls, \
       workflow.may_reassign(t.task_id) AS may_reassign \
     FROM workflow.open_tasks t WHERE t.task_id OPERATOR(pg_catalog.=) $1"
);

struct Task {
    open: OpenTask,
    payload: Option<Value>,
    attempt: i32,
    held_until: Option<DateTime<Utc>>,
    last_error: Option<String>,
    /// The schema of the form, or else of the answer.
    schema: Option<Value>,
    /// The schema of the answer.
    of_answer: Option<Value>,
    /// Whether the role may read the instance.
    shows_instance: bool,
    /// The name of the instance, if the role may read it.
    instance_name: Option<String>,
    /// The functions that the visitor may call for the task.
    calls: Vec<String>,
    /// Whether the visitor may pass the task on.
    may_reassign: bool,
}

impl Task {
    async fn read(app: &Gateway, visitor: &Visitor, id: &str) -> Result<Self, Failure> {
        let unknown = || {
            Failure::not_found("open task", id)
                .hint("It was completed, given up or cancelled, or it is for others than the role that you act as.")
        };
        let id: Uuid = id.parse().map_err(|_| unknown())?;
        let rows = app.database.read(&visitor.caller, TASK, parameters![id]).await?;
        rows.first().map(Self::from).ok_or_else(unknown)
    }

    fn permits(&self, call: &str) -> bool {
        self.calls.iter().any(|permitted| permitted == call)
    }

    /// Whether the visitor is an operator who answers in place of the task's people and must give a reason.
    fn is_overridden(&self) -> bool {
        !self.permits("wf_complete_task") && self.permits("wf_override_task")
    }

    fn form(&self, as_json: bool, reader: &Reader) -> Form {
        Form::new(self.schema.as_ref().filter(|_| !as_json), self.of_answer.as_ref(), reader.language)
    }

    /// Which request it belongs to: the correlation id, or else the name of the instance.
    fn request(&self) -> Option<&str> {
        self.open.correlation_id.as_deref().or(self.instance_name.as_deref())
    }

    /// What it is about, in the words of the workflow's author.
    fn subject(&self) -> Option<&str> {
        self.payload.as_ref()?.get("subject")?.as_str()
    }

    /// The values to decide by: `details` beside a subject, or else the payload.
    fn details(&self, reader: &Reader) -> Option<ReadableValue> {
        let payload = self.payload.as_ref()?;
        let mut shown = match payload {
            Value::Object(members)
                if self.subject().is_some() && members.len() <= 2 && members.contains_key("details") =>
            {
                members["details"].clone()
            }
            other => other.clone(),
        };
        if let Value::Object(members) = &mut shown
            && self.subject().is_some()
        {
            members.remove("subject");
        }
        let is_empty = match &shown {
            Value::Null => true,
            Value::Object(members) => members.is_empty(),
            Value::Array(elements) => elements.is_empty(),
            _ => false,
        };
        (!is_empty).then(|| ReadableValue::new(&shown, self.schema.as_ref(), reader))
    }
}

impl From<&Row> for Task {
    fn from(row: &Row) -> Self {
        let schema = |column: &str| -> Option<Value> {
            row.get::<_, Option<&str>>(column).and_then(|text| json::read(text.as_bytes()).ok())
        };
        Self {
            open: row.into(),
            payload: schema("payload"),
            attempt: row.get("attempt"),
            held_until: row.get("held_until"),
            last_error: row.get("last_error"),
            schema: schema("form").or_else(|| schema("result_schema")),
            of_answer: schema("result_schema"),
            shows_instance: row.get("shows_instance"),
            instance_name: row.get("instance_name"),
            calls: row.get("calls"),
            may_reassign: row.get("may_reassign"),
        }
    }
}

/// A statement for display, below the text of its button.
struct ShownStatement {
    button: String,
    sql: String,
}

/// The task page, initially and after an error.
#[derive(askama::Template)]
#[template(path = "task.html")]
struct Page<'a> {
    frame: Frame,
    list: List,
    task: &'a Task,
    details: Option<ReadableValue>,
    form: Form,
    comments: Vec<Comment>,
    /// The votes in the approval to which the task belongs.
    votes: Vec<Vote>,
    /// The tasks of others who were asked the same, if the visitor may read them.
    others: Vec<Step>,
    /// People whom the visitor can ask instead.
    colleagues: Vec<String>,
    as_json: bool,
    typed: &'a Typed,
    statements: Vec<ShownStatement>,
    /// The action that failed, or whose SQL was requested.
    about: &'a str,
    failure: Option<Failure>,
    /// Why the answer does not match its schema, for errors that belong to no field.
    reasons: Vec<String>,
    notice: Option<String>,
    /// Whether this is the next task, after an answer to another one.
    is_next: bool,
}

impl Page<'_> {
    fn may_change_assignee(&self) -> bool {
        self.task.permits(if self.task.open.assignee.is_none() { "wf_assign_task" } else { "wf_unassign_task" })
    }

    fn may_answer(&self) -> bool {
        self.task.permits("wf_complete_task") || self.task.is_overridden()
    }

    /// Whether what was asked has no place of its own on the page where it could be refused.
    fn is_unknown(&self) -> bool {
        ![COMPLETE, TAKE, GIVE_BACK, FAIL, COMMENT, PASS_ON].contains(&self.about)
    }

    /// The address of this page, with the list beside it.
    fn address(&self) -> String {
        self.list.link(&self.task.open)
    }

    /// The address of this page with the answer as JSON.
    fn json_address(&self) -> String {
        self.list.query.address(&format!("/inbox/{}", self.task.open.id), &[("as", "json")])
    }

    /// The payload as JSON.
    fn payload(&self) -> Option<String> {
        self.task.payload.as_ref().map(|payload| format!("{payload:#}"))
    }

    /// Whether the answer is a text in JSON. Without a schema that is for developers: others say that it is done.
    fn shows_json(&self) -> bool {
        self.as_json || self.frame.reader.is_developer || !self.form.is_empty() || !self.form.is_json()
    }

    /// The message of a failure, without the id of the task.
    fn message(&self, failure: &Failure) -> String {
        failure.message.replace(&format!("task {}", self.task.open.id), "this task")
    }

    /// A person or group, as people name them.
    fn person<'a>(&self, name: &'a str) -> &'a str {
        person(name)
    }
}

/// The query string besides the list.
#[derive(Default, Deserialize)]
#[serde(default)]
struct FormQuery {
    /// `json` if the answer is in one text area.
    r#as: String,
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(query): Query<ListQuery>,
    Query(asked): Query<FormQuery>,
    Query(done): Query<DoneQuery>,
) -> Result<Response, PageFailure> {
    let task = match Task::read(&app, &visitor, &id).await {
        Ok(task) => task,
        Err(failure) => return lost(&app, &visitor, &id, failure, None).await,
    };
    let as_json = asked.r#as == "json";
    let notice = notice(&app, &visitor, &done).await?;
    let view = View { as_json, notice, is_next: done.is_answered(), ..View::default() };
    page(&app, &visitor, &task, query, task.form(as_json, &visitor.reader), view).await
}

/// The page's content besides the task and its form.
#[derive(Default)]
struct View<'a> {
    as_json: bool,
    typed: Option<&'a Typed>,
    about: &'a str,
    failure: Option<Failure>,
    notice: Option<String>,
    is_next: bool,
}

async fn page(
    app: &Gateway,
    visitor: &Visitor,
    task: &Task,
    query: ListQuery,
    mut form: Form,
    view: View<'_>,
) -> Result<Response, PageFailure> {
    let nothing = Typed::default();
    let typed = view.typed.unwrap_or(&nothing);
    let statements = statements(visitor, task, &mut form, typed);
    if view.about != COMPLETE {
        form.forgive();
    }
    let status = match &view.failure {
        Some(failure) => failure.status,
        None if form.has_problems() && view.about == COMPLETE => StatusCode::BAD_REQUEST,
        None => StatusCode::OK,
    };
    let detail = view.failure.as_ref().filter(|failure| failure.has_code("22023")).and_then(|f| f.detail.as_deref());
    let reasons = detail.filter(|_| view.about == COMPLETE).map_or_else(Vec::new, |detail| form.blame(detail));
    let colleagues = match task.may_reassign {
        true => talk::colleagues(app, visitor, &task.open.candidates).await?,
        false => Vec::new(),
    };
    let votes = talk::votes(app, visitor, task.open.id).await?;
    let mut others = talk::others(app, visitor, &task.open).await?;
    if !votes.is_empty() {
        others.retain(|step| step.status != "Completed");
    }
    let response = html(&Page {
        comments: talk::comments(app, visitor, task.open.id).await?,
        others,
        votes,
        colleagues,
        frame: Frame::new(app, visitor, "/inbox", task.open.name.as_str()).await?,
        list: List::read(app, visitor, query).await?,
        details: task.details(&visitor.reader),
        task,
        form,
        as_json: view.as_json,
        typed,
        statements,
        about: view.about,
        failure: view.failure,
        reasons,
        notice: view.notice,
        is_next: view.is_next,
    })?;
    Ok((status, response).into_response())
}

/// What each button of the page would run. Afterwards the form has the errors in what was typed.
fn statements(visitor: &Visitor, task: &Task, form: &mut Form, typed: &Typed) -> Vec<ShownStatement> {
    let role = visitor.caller.role.as_str();
    let mut shown = Vec::new();
    let mut add = |button: &str, statement: Statement| {
        shown.push(ShownStatement { button: button.to_owned(), sql: statement.display() });
    };
    for (button, key, _) in form.buttons() {
        let mut decided = typed.clone();
        form.decide(button, &mut decided);
        form.fill(&decided);
        add(visitor.reader.t(key), change::answer(task, typed, form.answer()));
        form.fill(typed);
    }
    let answer = form.answer();
    if form.decision().is_none() {
        add(visitor.reader.t("task.complete"), change::answer(task, typed, answer));
    }
    if task.open.assignee.is_none() {
        add(visitor.reader.t("task.take"), change::take(task, visitor.entry()));
    } else {
        add(visitor.reader.t("task.give-back"), change::give_back(task));
    }
    if task.may_reassign {
        add(visitor.reader.t("task.pass-on"), change::pass_on(task, typed, visitor));
    }
    add(visitor.reader.t("comments.add"), change::comment(task, typed));
    add(visitor.reader.t("task.fail"), change::fail(task, typed, role));
    shown
}

/// The action names that the buttons send.
const COMPLETE: &str = "complete";
const PREVIEW: &str = "preview";
const TAKE: &str = "take";
const GIVE_BACK: &str = "give-back";
const FAIL: &str = "fail";
const COMMENT: &str = "comment";
const PASS_ON: &str = "pass-on";

/// Performs the action of a button. The address is that of the page, so that a user who has to log in first returns to
/// it.
async fn change(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(query): Query<ListQuery>,
    mut typed: Typed,
) -> Result<Response, PageFailure> {
    let task = match Task::read(&app, &visitor, &id).await {
        Ok(task) => task,
        Err(failure) => return lost(&app, &visitor, &id, failure, Some(&typed)).await,
    };
    let as_json = typed.one("as") == "json";
    let mut form = task.form(as_json, &visitor.reader);
    let asked = typed.one("do").to_owned();
    let what = match asked.as_str() {
        YES | NO | ABSTAIN if form.decide(&asked, &mut typed) => COMPLETE,
        other => other,
    };
    if what != TAKE && what != GIVE_BACK {
        form.fill(&typed);
    }
    let done = match what {
        COMPLETE => {
            let answer = form.answer();
            if form.has_problems() {
                Ok(None)
            } else {
                change::run_complete(&app, &visitor, &task, &query, &typed, answer).await.map(Some)
            }
        }
        TAKE => change::run_take(&app, &visitor, &task, &query).await.map(Some),
        GIVE_BACK => change::run_give_back(&app, &visitor, &task, &query).await.map(Some),
        COMMENT => change::run_comment(&app, &visitor, &task, &query, &typed).await.map(Some),
        PASS_ON => change::run_pass_on(&app, &visitor, &task, &query, &typed).await.map(Some),
        FAIL => change::run_fail(&app, &visitor, &task, &query, &typed).await.map(Some),
        PREVIEW => Ok(None),
        _ => Err(Failure::bad_request(format!("a task cannot be asked to {what:?}"))),
    };
    let failure = match done {
        Ok(Some(address)) => return Ok(Redirect::to(&address).into_response()),
        Ok(None) => None,
        Err(failure) if failure.status == StatusCode::UNAUTHORIZED => return Err(failure.into()),
        Err(failure) => Some(failure),
    };
    let view = View { as_json, typed: Some(&typed), about: what, failure, ..View::default() };
    page(&app, &visitor, &task, query, form, view).await
}

/// A task that is not open, with what was typed for its answer, and with its votes and comments for those who may still
/// read them.
#[derive(askama::Template)]
#[template(path = "task_lost.html")]
struct LostTaskPage<'a> {
    frame: Frame,
    failure: &'a Failure,
    typed: Option<&'a Typed>,
    /// What the task was, if the visitor has answered it.
    answered: Option<AnsweredTask>,
    votes: Vec<Vote>,
    comments: Vec<Comment>,
}

async fn lost(
    app: &Gateway,
    visitor: &Visitor,
    id: &str,
    failure: Failure,
    typed: Option<&Typed>,
) -> Result<Response, PageFailure> {
    if failure.status != StatusCode::NOT_FOUND {
        return Err(failure.into());
    }
    let (answered, votes, comments) = match id.parse() {
        Ok(task) => (
            answered(app, visitor, task).await?,
            talk::votes(app, visitor, task).await?,
            talk::comments(app, visitor, task).await?,
        ),
        Err(_) => (None, Vec::new(), Vec::new()),
    };
    if typed.is_none() && votes.is_empty() && comments.is_empty() {
        return Err(failure.into());
    }
    let frame = Frame::new(app, visitor, "/inbox", visitor.reader.t("task.lost")).await?;
    let page = LostTaskPage { frame, failure: &failure, typed, answered, votes, comments };
    Ok((failure.status, html(&page)?).into_response())
}
