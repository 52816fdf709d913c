//! One task: its subject, the form for its answer, and its assignment.

mod change;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::frame::{Frame, PageFailure, Visitor, html};
use super::inbox::{OpenTask, definition_name, notice, task_columns};
use super::task_form::Form;
use super::typed::Typed;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::routing::Routes;
use crate::{json, parameters, utc};

pub fn routes() -> Routes {
    Routes::new().get("/inbox/{task_id}", show).post("/inbox/{task_id}", change)
}

/// $1: the task.
const TASK: &str = concat!(
    "SELECT ",
    task_columns!(),
    ", t.instance_id::pg_catalog.text, pg_catalog.jsonb_pretty(t.payload) AS payload, t.attempt, ",
    utc!("t.lease_until"),
    " AS held_until, t.last_error, t.form::pg_catalog.text, t.result_schema::pg_catalog.text, \
     EXISTS (SELECT FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) t.instance_id) \
       AS shows_instance, workflow.task_calls(t.task_id) AS calls \
     FROM workflow.open_tasks t WHERE t.task_id OPERATOR(pg_catalog.=) $1"
);

struct Task {
    open: OpenTask,
    instance: String,
    payload: Option<String>,
    attempt: i32,
    held_until: Option<String>,
    last_error: Option<String>,
    /// The schema of the form, or else of the answer.
    schema: Option<Value>,
    /// The schema of the answer.
    of_answer: Option<Value>,
    /// Whether the role may read the instance.
    shows_instance: bool,
    /// The functions that the visitor may call for the task.
    calls: Vec<String>,
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

    fn form(&self, as_json: bool) -> Form {
        Form::new(self.schema.as_ref().filter(|_| !as_json), self.of_answer.as_ref())
    }
}

impl From<&Row> for Task {
    fn from(row: &Row) -> Self {
        let schema =
            |column: &str| row.get::<_, Option<&str>>(column).and_then(|text| json::read(text.as_bytes()).ok());
        Self {
            open: row.into(),
            instance: row.get("instance_id"),
            payload: row.get("payload"),
            attempt: row.get("attempt"),
            held_until: row.get("held_until"),
            last_error: row.get("last_error"),
            schema: schema("form").or_else(|| schema("result_schema")),
            of_answer: schema("result_schema"),
            shows_instance: row.get("shows_instance"),
            calls: row.get("calls"),
        }
    }
}

/// The task page, initially and after an error.
#[derive(askama::Template)]
#[template(path = "task.html")]
struct Page<'a> {
    frame: Frame,
    task: &'a Task,
    form: Form,
    as_json: bool,
    typed: &'a Typed,
    complete_sql: String,
    take_sql: String,
    give_back_sql: String,
    fail_sql: String,
    /// The action that failed, or whose SQL was requested.
    about: &'a str,
    failure: Option<Failure>,
    /// Why the answer does not match its schema, for errors that belong to no field.
    reasons: Vec<String>,
    notice: Option<&'static str>,
}

impl Page<'_> {
    fn may_change_assignee(&self) -> bool {
        self.task.permits(if self.task.open.assignee.is_none() { "wf_assign_task" } else { "wf_unassign_task" })
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageQuery {
    done: String,
    /// `json` if the answer is in one text area.
    r#as: String,
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(asked): Query<PageQuery>,
) -> Result<Response, PageFailure> {
    let task = Task::read(&app, &visitor, &id).await?;
    let as_json = asked.r#as == "json";
    let view = View { as_json, notice: notice(&asked.done), ..View::default() };
    page(&app, &visitor, &task, task.form(as_json), view).await
}

/// The page's content besides the task and its form.
#[derive(Default)]
struct View<'a> {
    as_json: bool,
    typed: Option<&'a Typed>,
    about: &'a str,
    failure: Option<Failure>,
    notice: Option<&'static str>,
}

async fn page(
    app: &Gateway,
    visitor: &Visitor,
    task: &Task,
    mut form: Form,
    view: View<'_>,
) -> Result<Response, PageFailure> {
    let answer = form.answer();
    if view.typed.is_none() {
        form.forgive();
    }
    let status = match &view.failure {
        Some(failure) => failure.status,
        None if form.has_problems() && view.about == COMPLETE => StatusCode::BAD_REQUEST,
        None => StatusCode::OK,
    };
    let detail = view.failure.as_ref().filter(|failure| failure.has_code("22023")).and_then(|f| f.detail.as_deref());
    let reasons = detail.filter(|_| view.about == COMPLETE).map_or_else(Vec::new, |detail| form.blame(detail));
    let (nothing, role) = (Typed::default(), visitor.caller.role.as_str());
    let typed = view.typed.unwrap_or(&nothing);
    let response = html(&Page {
        frame: Frame::new(app, visitor, "/inbox", task.open.name.as_str()).await?,
        complete_sql: change::answer(task, typed, answer).display(),
        take_sql: change::take(task, role).display(),
        give_back_sql: change::give_back(task).display(),
        fail_sql: change::fail(task, typed, role).display(),
        task,
        form,
        as_json: view.as_json,
        typed,
        about: view.about,
        failure: view.failure,
        reasons,
        notice: view.notice,
    })?;
    Ok((status, response).into_response())
}

/// The action names that the buttons send.
const COMPLETE: &str = "complete";
const PREVIEW: &str = "preview";
const TAKE: &str = "take";
const GIVE_BACK: &str = "give-back";
const FAIL: &str = "fail";

/// Performs the action of a button. The address is that of the page, so that a user who has to log in first returns to
/// it.
async fn change(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    typed: Typed,
) -> Result<Response, PageFailure> {
    let task = match Task::read(&app, &visitor, &id).await {
        Ok(task) => task,
        Err(failure) => return lost(failure, &typed),
    };
    let as_json = typed.one("as") == "json";
    let mut form = task.form(as_json);
    let what = typed.one("do");
    if what != TAKE && what != GIVE_BACK {
        form.fill(&typed);
    }
    let done = match what {
        COMPLETE => {
            let answer = form.answer();
            if form.has_problems() {
                Ok(None)
            } else {
                change::run_complete(&app, &visitor, &task, &typed, answer).await.map(Some)
            }
        }
        TAKE => change::run_take(&app, &visitor, &task).await.map(Some),
        GIVE_BACK => change::run_give_back(&app, &visitor, &task).await.map(Some),
        FAIL => change::run_fail(&app, &visitor, &task, &typed).await.map(Some),
        PREVIEW => Ok(None),
        _ => Err(Failure::bad_request(format!("a task cannot be asked to {what:?}"))),
    };
    let failure = match done {
        Ok(Some(address)) => return Ok(Redirect::to(&address).into_response()),
        Ok(None) => None,
        Err(failure) if failure.status == StatusCode::UNAUTHORIZED => return Err(failure.into()),
        Err(failure) => Some(failure),
    };
    page(&app, &visitor, &task, form, View { as_json, typed: Some(&typed), about: what, failure, notice: None }).await
}

/// The task disappeared while the user wrote the answer.
#[derive(askama::Template)]
#[template(path = "task_lost.html")]
struct LostTaskPage<'a> {
    failure: &'a Failure,
    typed: &'a Typed,
}

fn lost(failure: Failure, typed: &Typed) -> Result<Response, PageFailure> {
    if failure.status != StatusCode::NOT_FOUND {
        return Err(failure.into());
    }
    Ok((failure.status, html(&LostTaskPage { failure: &failure, typed })?).into_response())
}
