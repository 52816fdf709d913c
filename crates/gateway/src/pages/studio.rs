//! The pages around Elsa Studio's custom elements.

use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::frame::{Frame, PageFailure, Visitor, asset, html};
use super::inbox::list::definition_name;
use super::incidents::can_retry;
use super::policy;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};

use crate::routing::Routes;
use crate::studio;
use crate::{is_mine, parameters};

const DEFINITIONS: &str = "/definitions";
const INSTANCES: &str = "/instances";

pub fn routes() -> Routes {
    Routes::new()
        .get(DEFINITIONS, definitions)
        .get(INSTANCES, instances)
        .get("/workflows/definitions/{id}/edit", definition)
        .get("/workflows/instances/{id}/view", instance)
        .get("/diagnostics/structured-logs", logs)
        .get("/static/studio.js", async || asset("text/javascript", include_str!("../../static/studio.js")))
        .get("/static/studio.css", async || asset("text/css", include_str!("../../static/studio.css")))
}

async fn definitions(State(app): State<App>, visitor: Visitor) -> Result<Response, PageFailure> {
    page(&app, &visitor, DEFINITIONS, "Definitions", CustomElement::new("elsa-workflow-definition-list")).await
}

async fn instances(State(app): State<App>, visitor: Visitor) -> Result<Response, PageFailure> {
    page(&app, &visitor, INSTANCES, "Instances", CustomElement::new("elsa-workflow-instance-list")).await
}

/// $1: the definition. The owner is returned to other roles only.
const DEFINITION: &str = concat!(
    "SELECT coalesce(d.name, d.definition_id) AS title, CASE WHEN NOT ",
    is_mine!("d.owner"),
    " THEN d.owner END AS owner, d.security OPERATOR(pg_catalog.=) 'definer' AS is_definer \
     FROM workflow.definition_list d WHERE d.definition_id OPERATOR(pg_catalog.=) $1 AND d.is_latest"
);

async fn definition(State(app): State<App>, visitor: Visitor, Path(id): Path<String>) -> Result<Response, PageFailure> {
    let rows = app.database.read(&visitor.caller, DEFINITION, parameters![id.as_str()]).await?;
    let title = only_title(&rows, "definition", &id)?;
    let mut element = CustomElement::new("elsa-workflow-definition-editor").of("definition-id", id);
    element.owner = rows.first().and_then(|row| row.get("owner"));
    element.is_definer = rows.first().is_some_and(|row| row.get("is_definer"));
    page(&app, &visitor, DEFINITIONS, &title, element).await
}

async fn instance(State(app): State<App>, visitor: Visitor, Path(id): Path<String>) -> Result<Response, PageFailure> {
    let unknown = || Failure::not_found("instance", &id);
    let rows =
        app.database.read(&visitor.caller, INSTANCE, parameters![id.parse::<Uuid>().map_err(|_| unknown())?]).await?;
    let title = only_title(&rows, "instance", &id)?;
    let is = |column| rows.first().is_some_and(|row| row.get(column));
    if !is("is_readable") {
        return Ok(Redirect::to(&format!("/instances/{id}")).into_response());
    }
    let can_retry = is("can_retry");
    let mut element = CustomElement::new("elsa-workflow-instance-viewer").of("instance-id", id.clone());
    element.instance = Some(InstanceLinks { id, can_retry });
    element.owner = rows.first().and_then(|row| row.get("owner"));
    page(&app, &visitor, INSTANCES, &title, element).await
}

/// $1: the instance. A role that only requested it does not see the variables, and Studio's calls fail for it.
const INSTANCE: &str = concat!(
    "SELECT coalesce(i.name, ",
    definition_name!("i"),
    ") AS title, ",
    can_retry!("i.instance_id", "true"),
    " AS can_retry, i.variables IS NOT NULL AS is_readable, \
        (SELECT d.owner FROM workflow.definition_list d \
          WHERE d.version_id OPERATOR(pg_catalog.=) i.definition_version_id AND NOT ",
    is_mine!("d.owner"),
    ") AS owner FROM workflow.instance_list i WHERE i.instance_id OPERATOR(pg_catalog.=) $1"
);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogsOf {
    workflow_instance_id: Uuid,
}

/// Studio links to the log of an instance, a module of Elsa's server. We redirect to our instance page, which shows the
/// history.
async fn logs(_: Visitor, Query(of): Query<LogsOf>) -> Redirect {
    Redirect::to(&format!("/instances/{}#story", of.workflow_instance_id))
}

/// What our pages offer for the instance that Studio shows.
struct InstanceLinks {
    id: String,
    can_retry: bool,
}

/// Studio fails on an unknown id, so the page reports it.
fn only_title(rows: &[Row], what: &str, id: &str) -> Result<String, Failure> {
    let row = rows.first().ok_or_else(|| Failure::not_found(what, id))?;
    row.try_get("title").map_err(Failure::internal)
}

/// One of Studio's custom elements, and the attribute that names what it shows.
struct CustomElement {
    name: &'static str,
    of: Option<(&'static str, String)>,
    instance: Option<InstanceLinks>,
    /// The owner of the workflow, if it is another role.
    owner: Option<String>,
    /// Whether its SQL runs with the owner's rights rather than those of the role that starts it.
    is_definer: bool,
}

impl CustomElement {
    fn new(name: &'static str) -> Self {
        Self { name, of: None, instance: None, owner: None, is_definer: false }
    }

    fn of(self, attribute: &'static str, id: String) -> Self {
        Self { of: Some((attribute, id)), ..self }
    }
}

#[derive(askama::Template)]
#[template(path = "studio.html")]
struct StudioPage {
    frame: Frame,
    element: CustomElement,
}

#[derive(askama::Template)]
#[template(path = "studio_missing.html")]
struct MissingPage {
    frame: Frame,
    folder: String,
}

/// A page with Studio, or with instructions to install it.
async fn page(
    app: &Gateway,
    visitor: &Visitor,
    here: &'static str,
    title: &str,
    element: CustomElement,
) -> Result<Response, PageFailure> {
    let frame = Frame::new(app, visitor, here, title).await?;
    if studio::is_there(&app.options.studio).await {
        let policy: [(HeaderName, _); 1] = [(CONTENT_SECURITY_POLICY, policy::STUDIO)];
        return Ok((policy, html(&StudioPage { frame, element })?).into_response());
    }
    let folder = app.options.studio.display().to_string();
    Ok((StatusCode::SERVICE_UNAVAILABLE, html(&MissingPage { frame, folder })?).into_response())
}
