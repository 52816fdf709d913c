//! Open incidents: faults that no retry has resolved.

use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use tokio_postgres::Row;

use super::frame::{Frame, PageFailure, Visitor, html};
use super::inbox::list::definition_name;
use crate::gateway::App;
use crate::routing::Routes;
use crate::{parameters, utc};

pub fn routes() -> Routes {
    Routes::new().get("/incidents", show)
}

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
    ($condition:literal, $bounds:literal) => {
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

/// $1: offset; $2: limit.
const INCIDENTS: &str = incidents!("true", "OFFSET $1 LIMIT $2");

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

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageQuery {
    page: String,
}

#[derive(askama::Template)]
#[template(path = "incidents.html")]
struct Page {
    frame: Frame,
    incidents: Vec<Incident>,
    page: i64,
    has_next: bool,
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(asked): Query<PageQuery>,
) -> Result<Response, PageFailure> {
    let page = asked.page.parse().unwrap_or(1).clamp(1, MAX_PAGES);
    let rows = app.database.read(&visitor.caller, INCIDENTS, parameters![(page - 1) * PAGE, PAGE + 1]).await?;
    let has_next = rows.len() > PAGE as usize && page < MAX_PAGES;
    let incidents = rows.iter().take(PAGE as usize).map(Incident::from).collect();
    html(&Page { frame: Frame::new(&app, &visitor, "/incidents", "Incidents").await?, incidents, page, has_next })
}
