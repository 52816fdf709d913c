//! The page of an action on an instance: its effect, its SQL, and errors.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::parsed;
use super::statements::{Action, InputKind, MIGRATE, RESUME, migration};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::typed::Typed;
use crate::parameters;

/// $1: the instance.
const SUMMARY: &str = "SELECT pg_catalog.concat_ws(' · ', i.definition_id, i.name, i.correlation_id, i.sub_status) \
    AS about, \
     ARRAY(SELECT d.version FROM workflow.definition_list d \
       WHERE d.definition_id OPERATOR(pg_catalog.=) i.definition_id AND d.version OPERATOR(pg_catalog.<>) i.version \
           ORDER BY d.is_published DESC, d.version DESC LIMIT 20) AS versions \
     FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) $1";

/// An obstacle to a migration.
struct Finding {
    path: String,
    severity: String,
    message: String,
}

impl From<&Row> for Finding {
    fn from(row: &Row) -> Self {
        let text = |column: &str| row.get::<_, Option<String>>(column).unwrap_or_default();
        Self { path: text("path"), severity: text("severity"), message: text("message") }
    }
}

#[derive(askama::Template)]
#[template(path = "action.html")]
struct Page<'a> {
    frame: Frame,
    action: &'static Action,
    id: Uuid,
    /// A summary of the instance, if the role may read it.
    about: String,
    /// Other versions of its definition.
    versions: Vec<i32>,
    typed: &'a Typed,
    sql: String,
    shows_sql: bool,
    failure: Option<Failure>,
    /// The result of a dry run.
    findings: Option<Vec<Finding>>,
}

impl Page<'_> {
    /// Whether to show the button that performs the action: a migration needs a dry run first.
    fn is_ready(&self) -> bool {
        let may_migrate = || self.findings.as_ref().is_some_and(|all| all.iter().all(|one| one.severity != "error"));
        !self.action.is_migration() || may_migrate()
    }
}

/// The page's content besides the action and the form input.
#[derive(Default)]
struct View {
    shows_sql: bool,
    failure: Option<Failure>,
    findings: Option<Vec<Finding>>,
}

pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path((id, name)): Path<(String, String)>,
    Query(given): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let (id, action) = (parsed(&id)?, named(&name)?);
    page(&app, &visitor, action, id, &given.into_iter().collect(), View::default()).await
}

/// Performs the action, or shows its SQL for the form input. The address is that of the page, so that a user who has to
/// log in first returns to it.
pub async fn perform(
    State(app): State<App>,
    visitor: Visitor,
    Path((id, name)): Path<(String, String)>,
    typed: Typed,
) -> Result<Response, PageFailure> {
    let (id, action) = (parsed(&id)?, named(&name)?);
    let is_preview = typed.one("do") == "preview";
    let done = if is_preview && !action.is_migration() {
        Ok(ActionResult::Preview(None))
    } else {
        run(&app, &visitor, action, id, &typed, is_preview).await
    };
    let view = match done {
        Ok(ActionResult::Done(word)) => {
            return Ok(Redirect::to(&format!("/instances/{id}?done={word}")).into_response());
        }
        Ok(ActionResult::Preview(findings)) => View { shows_sql: true, failure: None, findings },
        Err(failure) if failure.status == StatusCode::UNAUTHORIZED => return Err(failure.into()),
        Err(failure) => View { failure: Some(failure), ..View::default() },
    };
    page(&app, &visitor, action, id, &typed, view).await
}

fn named(name: &str) -> Result<&'static Action, Failure> {
    Action::named(name).ok_or_else(|| Failure::not_found("action", name))
}

enum ActionResult {
    /// Nothing was changed; the result of a dry run.
    Preview(Option<Vec<Finding>>),
    /// Performed; with the keyword for the address.
    Done(&'static str),
}

async fn run(
    app: &Gateway,
    visitor: &Visitor,
    action: &'static Action,
    id: Uuid,
    typed: &Typed,
    is_dry: bool,
) -> Result<ActionResult, Failure> {
    if let Some(label) = action.missing(typed).first() {
        return Err(Failure::bad_request(format!("{label}: an answer is required")));
    }
    if action.name == RESUME {
        is_of(app, visitor, id, typed.one("bookmark")).await?;
    }
    if is_dry && action.name == MIGRATE {
        let rows = migration(&id.to_string(), typed, true).run(&app.database, &visitor.caller).await?;
        return Ok(ActionResult::Preview(Some(rows.iter().map(Finding::from).collect())));
    }
    let rows = action.statement(&id.to_string(), typed).run(&app.database, &visitor.caller).await?;
    Ok(ActionResult::Done(outcome(action, rows.first())))
}

/// Rejects a bookmark of another instance.
async fn is_of(app: &Gateway, visitor: &Visitor, id: Uuid, bookmark: &str) -> Result<(), Failure> {
    let Ok(bookmark) = bookmark.trim().parse::<Uuid>() else { return Ok(()) };
    let sql = "SELECT FROM workflow.waiting w WHERE w.bookmark_id OPERATOR(pg_catalog.=) $1 \
        AND w.instance OPERATOR(pg_catalog.<>) $2";
    let others = app.database.read(&visitor.caller, sql, parameters![bookmark, id]).await?;
    if others.is_empty() { Ok(()) } else { Err(Failure::not_found("bookmark of this instance", &bookmark.to_string())) }
}

/// The keyword for the outcome: `nothing` if the database reports that nothing changed. The report is in the first
/// column, whose name differs between statements.
fn outcome(action: &'static Action, row: Option<&Row>) -> &'static str {
    let Some(row) = row else { return action.name };
    match *row.columns()[0].type_() {
        Type::BOOL if row.get::<_, Option<bool>>(0) == Some(false) => "nothing",
        Type::TEXT if !action.is_migration() && row.get::<_, Option<&str>>(0) == Some("Faulted") => "faulted",
        _ => action.name,
    }
}

/// The status message for a keyword in the address.
pub fn notice(word: &str) -> Option<&'static str> {
    match word {
        "nothing" => Some("Nothing has changed: it was so already, or the instance has ended."),
        "faulted" => Some(
            "The instance is still faulted: a session of its owner continues it in a moment, or it has faulted again, and Incidents says why. Load the page again to see.",
        ),
        _ => Action::named(word).map(|action| action.done),
    }
}

async fn page(
    app: &Gateway,
    visitor: &Visitor,
    action: &'static Action,
    id: Uuid,
    typed: &Typed,
    view: View,
) -> Result<Response, PageFailure> {
    let rows = app.database.read(&visitor.caller, SUMMARY, parameters![id]).await?;
    if rows.is_empty() && view.failure.is_none() && !view.shows_sql {
        return Err(super::unknown(&id.to_string()).into());
    }
    let status = view.failure.as_ref().map_or(StatusCode::OK, |failure| failure.status);
    let response = html(&Page {
        frame: Frame::new(app, visitor, "/instances", action.title).await?,
        action,
        id,
        about: rows.first().map_or_else(String::new, |row| row.get("about")),
        versions: rows.first().map_or_else(Vec::new, |row| row.get("versions")),
        typed,
        sql: action.statement(&id.to_string(), typed).display(),
        shows_sql: view.shows_sql,
        failure: view.failure,
        findings: view.findings,
    })?;
    Ok((status, response).into_response())
}
