//! One instance: its diagram, timeline and history, what it waits for, and the available actions.

mod action;
mod children;
mod statements;
mod timeline;

use axum::extract::{Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::frame::{Frame, PageFailure, Visitor, html};
use super::inbox::answers::if_available;
use super::inbox::list::definition_name;
use super::incidents::{Incident, can_retry, incidents};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::routing::Routes;
use crate::{parameters, utc};
use children::Children;
use timeline::Timeline;

pub fn routes() -> Routes {
    Routes::new()
        .get("/instances/{id}", show)
        .get("/instances/{id}/picture.svg", picture)
        .get("/instances/{id}/timeline", timeline::show)
        .get("/instances/{id}/children", children::show)
        .get("/instances/{id}/{action}", action::show)
        .post("/instances/{id}/{action}", action::perform)
}

/// $1: the instance. Lists have at most 100 rows. A role that only requested the instance sees neither variables nor
/// history.
const INSTANCE: &str = concat!(
    "SELECT ",
    definition_name!("i"),
    " AS definition, i.version, i.name, i.correlation_id, i.status, i.sub_status, i.owner, \
     CASE WHEN i.started_actor IS NULL THEN i.started_by \
          ELSE pg_catalog.concat(i.started_actor, ' (', i.started_by, ')') END AS started_by, ",
    utc!("i.created_at"),
    " AS created, ",
    utc!("i.updated_at"),
    " AS updated, ",
    utc!("i.finished_at"),
    " AS finished, ",
    utc!("i.paused_at"),
    " AS paused, i.paused_by, i.pause_reason, i.parent_instance_id::pg_catalog.text, \
        i.continued_from::pg_catalog.text, \
     pg_catalog.jsonb_pretty(i.input) AS input, pg_catalog.jsonb_pretty(i.output) AS output, \
     ARRAY(SELECT v.key FROM pg_catalog.jsonb_each(i.variables) v ORDER BY v.key LIMIT 100) AS names, \
     ARRAY(SELECT pg_catalog.jsonb_pretty(v.value) FROM pg_catalog.jsonb_each(i.variables) v ORDER BY v.key LIMIT 100) \
       AS values, \
     EXISTS (SELECT FROM workflow.definition_list d WHERE d.definition_id OPERATOR(pg_catalog.=) i.definition_id \
       AND d.version OPERATOR(pg_catalog.<>) i.version) \
       AS has_other_versions, \
     (SELECT d.owner FROM workflow.definition_list d \
       WHERE d.version_id OPERATOR(pg_catalog.=) i.definition_version_id) AS definition_owner, \
     workflow.instance_calls(i.instance_id) AS calls, \
     pg_catalog.concat_ws(' ', i.updated_at, i.paused_at) AS stamp, \
     CASE WHEN i.variables IS NOT NULL THEN ARRAY(SELECT e FROM @wf.wf_explain(i.instance_id) e) END AS story \
     FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) $1"
);

/// $1: the instance. Tasks appear by their own name.
const WAITING: &str = concat!(
    "SELECT w.bookmark_id::pg_catalog.text, w.activity, \
     coalesce((SELECT t.name FROM workflow.open_tasks t WHERE t.task_id OPERATOR(pg_catalog.=) w.bookmark_id), \
       w.waits_for) AS waits_for, ",
    utc!("w.since"),
    " AS since, ",
    utc!("w.due"),
    " AS due, w.last_error, EXISTS (SELECT FROM workflow.open_tasks t \
        WHERE t.task_id OPERATOR(pg_catalog.=) w.bookmark_id) AS is_task, \
     CASE WHEN w.waits_for OPERATOR(pg_catalog.=) 'Elsa.RunTask' \
          THEN 'wf_complete_task' OPERATOR(pg_catalog.=) ANY (workflow.task_calls(w.bookmark_id)) \
          ELSE w.waits_for OPERATOR(pg_catalog.<>) ALL (ARRAY['Workflow.Deadline', 'Workflow.Reminder']) \
               AND 'wf_resume' OPERATOR(pg_catalog.=) ANY (workflow.instance_calls(w.instance)) END AS can_resume \
     FROM workflow.waiting w WHERE w.instance OPERATOR(pg_catalog.=) $1 ORDER BY w.bookmark_id LIMIT 100"
);

/// $1: the instance. A role that only requested it sees who answered its tasks.
const ACTS: &str = concat!(
    "SELECT ",
    utc!("a.at"),
    " AS at, a.kind, COALESCE(a.task, a.activity) AS subject, COALESCE(a.actor, a.role) AS name, \
     CASE WHEN a.actor IS NOT NULL THEN a.role END AS role, a.detail OPERATOR(pg_catalog.->>) 'reason' AS reason \
     FROM workflow.audit a WHERE a.instance_id OPERATOR(pg_catalog.=) $1 ORDER BY a.at DESC LIMIT 100"
);

/// $1: the instance.
const INCIDENTS: &str = incidents!("i.instance_id OPERATOR(pg_catalog.=) $1", "LIMIT 100");

struct Instance {
    id: Uuid,
    definition: String,
    /// The owner of the workflow, if the role may read it.
    definition_owner: Option<String>,
    version: i32,
    name: Option<String>,
    correlation_id: Option<String>,
    status: String,
    sub_status: String,
    owner: Option<String>,
    started_by: Option<String>,
    created: Option<String>,
    updated: Option<String>,
    finished: Option<String>,
    paused: Option<String>,
    paused_by: Option<String>,
    pause_reason: Option<String>,
    parent: Option<String>,
    continued_from: Option<String>,
    input: Option<String>,
    output: Option<String>,
    /// Names with values as JSON.
    variables: Vec<(String, String)>,
    has_other_versions: bool,
    /// The functions that the role may call for the instance.
    calls: Vec<String>,
    /// Another one after each change.
    stamp: String,
    /// `None` for a role that only requested the instance.
    story: Option<Vec<String>>,
}

impl Instance {
    async fn read(app: &Gateway, visitor: &Visitor, id: &str) -> Result<Self, Failure> {
        let id = parsed(id)?;
        let rows = app.database.read(&visitor.caller, INSTANCE, parameters![id]).await?;
        rows.first().map(|row| Self::of(id, row)).ok_or_else(|| unknown(&id.to_string()))
    }

    fn of(id: Uuid, row: &Row) -> Self {
        let names: Vec<String> = row.get("names");
        let values: Vec<String> = row.get("values");
        Self {
            id,
            definition: row.get("definition"),
            definition_owner: row.get("definition_owner"),
            version: row.get("version"),
            name: row.get("name"),
            correlation_id: row.get("correlation_id"),
            status: row.get("status"),
            sub_status: row.get("sub_status"),
            owner: row.get("owner"),
            started_by: row.get("started_by"),
            created: row.get("created"),
            updated: row.get("updated"),
            finished: row.get("finished"),
            paused: row.get("paused"),
            paused_by: row.get("paused_by"),
            pause_reason: row.get("pause_reason"),
            parent: row.get("parent_instance_id"),
            continued_from: row.get("continued_from"),
            input: row.get("input"),
            output: row.get("output"),
            variables: names.into_iter().zip(values).collect(),
            has_other_versions: row.get("has_other_versions"),
            calls: row.get("calls"),
            stamp: row.get("stamp"),
            story: row.get("story"),
        }
    }

    fn permits(&self, call: &str) -> bool {
        self.calls.iter().any(|permitted| permitted == call)
    }

    /// Whether the instance has ended for good.
    fn has_ended(&self) -> bool {
        self.status == "Finished" && self.sub_status != "Faulted"
    }

    /// Whether the page is to show changes: the hub reports those of instances that the role may read.
    fn is_live(&self) -> bool {
        self.story.is_some() && !self.has_ended()
    }

    /// The class of the pill with its state.
    fn class(&self) -> &'static str {
        state_class(&self.sub_status, self.paused.is_some())
    }
}

/// The class of the pill with the state of an instance.
pub(super) fn state_class(sub_status: &str, is_paused: bool) -> &'static str {
    match sub_status {
        "Finished" => "good",
        "Faulted" => "bad",
        "Cancelled" | "Cancelling" => "",
        _ if is_paused => "warn",
        _ => "busy",
    }
}

/// $1: the instance.
const HEADING: &str = concat!(
    "SELECT ",
    definition_name!("i"),
    " AS definition, i.name FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) $1"
);

/// What the heading of a page about an instance has.
struct Heading {
    id: Uuid,
    title: String,
}

impl Heading {
    async fn read(app: &Gateway, visitor: &Visitor, id: &str) -> Result<Self, Failure> {
        let id = parsed(id)?;
        let rows = app.database.read(&visitor.caller, HEADING, parameters![id]).await?;
        let row = rows.first().ok_or_else(|| unknown(&id.to_string()))?;
        Ok(Self { id, title: title(row.get("name"), row.get("definition")) })
    }
}

/// An instance by its name, if it has one, and its definition.
fn title(name: Option<&str>, definition: &str) -> String {
    name.map_or_else(|| definition.to_owned(), |name| format!("{name} ({definition})"))
}

fn parsed(id: &str) -> Result<Uuid, Failure> {
    id.parse().map_err(|_| unknown(id))
}

fn unknown(id: &str) -> Failure {
    Failure::not_found("instance", id).hint("It was deleted, or the role that you act as may not read it.")
}

/// A bookmark of the instance.
struct Waiting {
    bookmark: String,
    activity: String,
    waits_for: Option<String>,
    since: Option<String>,
    due: Option<String>,
    last_error: Option<String>,
    is_task: bool,
    can_resume: bool,
}

impl From<&Row> for Waiting {
    fn from(row: &Row) -> Self {
        Self {
            bookmark: row.get("bookmark_id"),
            activity: row.get("activity"),
            waits_for: row.get("waits_for"),
            since: row.get("since"),
            due: row.get("due"),
            last_error: row.get("last_error"),
            is_task: row.get("is_task"),
            can_resume: row.get("can_resume"),
        }
    }
}

/// An entry of the audit.
struct Act {
    at: Option<String>,
    kind: String,
    subject: Option<String>,
    name: Option<String>,
    role: Option<String>,
    reason: Option<String>,
}

impl From<&Row> for Act {
    fn from(row: &Row) -> Self {
        Self {
            at: row.get("at"),
            kind: row.get("kind"),
            subject: row.get("subject"),
            name: row.get("name"),
            role: row.get("role"),
            reason: row.get("reason"),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageQuery {
    done: String,
}

#[derive(askama::Template)]
#[template(path = "instance.html")]
struct Page {
    frame: Frame,
    instance: Instance,
    /// `None` for a role that only requested the instance, and if the journal cannot be read in time.
    timeline: Option<Timeline>,
    children: Children,
    waiting: Vec<Waiting>,
    incidents: Vec<Incident>,
    acts: Vec<Act>,
    notice: Option<&'static str>,
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(asked): Query<PageQuery>,
) -> Result<Response, PageFailure> {
    let instance = Instance::read(&app, &visitor, &id).await?;
    let waiting = app.database.read(&visitor.caller, WAITING, parameters![instance.id]).await?;
    let incidents = app.database.read(&visitor.caller, INCIDENTS, parameters![instance.id]).await?;
    let acts = app.database.read(&visitor.caller, ACTS, parameters![instance.id]).await?;
    let children = Children::read(&app, &visitor, instance.id, None, children::FIRST).await?;
    let timeline = match instance.story {
        // It reads the whole journal, and an instance with a long one has to be paused or cancelled all the same.
        Some(_) => if_available(Timeline::read(&app, &visitor, instance.id, None, timeline::LATEST).await)?,
        None => None,
    };
    html(&Page {
        frame: Frame::new(&app, &visitor, "/instances", instance.title()).await?,
        waiting: waiting.iter().map(Waiting::from).collect(),
        incidents: incidents.iter().map(Incident::from).collect(),
        acts: acts.iter().map(Act::from).collect(),
        instance,
        timeline,
        children,
        notice: action::notice(&asked.done),
    })
}

impl Page {
    fn can_retry(&self) -> bool {
        self.incidents.iter().any(|incident| incident.can_retry)
    }

    fn may_set(&self) -> bool {
        !self.instance.has_ended() && self.instance.permits("wf_set_variable")
    }

    /// The actions available to this role now: the keyword in the address, and the link text.
    fn actions(&self) -> Vec<(&'static str, &'static str)> {
        let instance = &self.instance;
        let is_open = !instance.has_ended();
        let is_paused = instance.paused.is_some();
        [
            ("retry", "Retry …", "wf_retry", self.can_retry()),
            ("unpause", "Unpause …", "wf_unpause", is_open && is_paused),
            ("pause", "Pause …", "wf_pause", is_open && !is_paused),
            ("set-variable", "Set a variable …", "wf_set_variable", self.may_set()),
            ("migrate", "Migrate …", "wf_migrate", is_open && instance.has_other_versions),
            ("cancel", "Cancel …", "wf_cancel", is_open),
        ]
        .into_iter()
        .filter(|(.., call, is_possible)| *is_possible && instance.permits(call))
        .map(|(name, text, ..)| (name, text))
        .collect()
    }
}

impl Instance {
    fn title(&self) -> String {
        title(self.name.as_deref(), &self.definition)
    }
}

/// The content security policy of a diagram opened on its own: it contains texts of users.
const PICTURE_POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

async fn picture(State(app): State<App>, visitor: Visitor, Path(id): Path<String>) -> Result<Response, PageFailure> {
    let id = parsed(&id)?;
    let rows = app.database.read(&visitor.caller, "SELECT @wf.wf_svg(instance => $1)", parameters![id]).await?;
    let svg = crate::database::only_text(&rows)?.ok_or_else(|| unknown(&id.to_string()))?;
    let headers =
        [(CONTENT_TYPE, "image/svg+xml"), (CONTENT_SECURITY_POLICY, PICTURE_POLICY), (CACHE_CONTROL, "no-store")];
    Ok((headers, svg).into_response())
}
