//! Running a definition.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::one::text;
use super::query::Versions;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::json::{Body, JsonText};
use crate::{is_mine, matches_versions, parameters};

/// The headers from which Studio reads the outcome of a run.
const INSTANCE_ID: &str = "x-elsa-workflow-instance-id";
const CANNOT_START: &str = "x-elsa-workflow-cannot-start";

/// $1: definition; $2: input; $3: correlation id; $4: instance id; $5: trigger; $6 and $7: the versions.
///
/// Members of the owner run the requested version, including a draft. Others run the published version, which they need
/// not be able to read. Without a trigger, the first activity in document order that can start the workflow is used.
const RUN: &str = concat!(
    "WITH chosen AS MATERIALIZED (SELECT d.version, d.version_id FROM workflow.definition_list d \
       WHERE d.definition_id OPERATOR(pg_catalog.=) $1 AND CASE WHEN ",
    is_mine!("d.owner"),
    " THEN ",
    matches_versions!("$6", "$7"),
    " ELSE d.is_published END ORDER BY d.version DESC LIMIT 1), \
     starting AS MATERIALIZED (SELECT a.activity, a.place FROM chosen c, \
       LATERAL pg_catalog.jsonb_path_query(@wf.wf_export_version(c.version_id), \
         '$.root.** ? (@.customProperties.canStartWorkflow == true)') WITH ORDINALITY AS a (activity, place)), \
     first AS MATERIALIZED (SELECT s.activity OPERATOR(pg_catalog.->>) 'id' AS id FROM starting s \
       WHERE s.activity OPERATOR(pg_catalog.->>) 'type' OPERATOR(pg_catalog.=) ANY (SELECT t.type \
         FROM @wf.wf_activities() t WHERE t.kind OPERATOR(pg_catalog.=) 'Trigger') \
       ORDER BY s.place LIMIT 1) \
     SELECT pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(\
       'id', r.instance_id, 'definitionId', $1, 'definitionVersion', (SELECT version FROM chosen), \
       'correlationId', $3, 'status', r.status, 'subStatus', r.sub_status))::pg_catalog.text, \
       coalesce(r.output, '{}')::pg_catalog.text, \
       (SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('id', b OPERATOR(pg_catalog.->) 'id', \
         'name', b OPERATOR(pg_catalog.->) 'name', 'payload', b OPERATOR(pg_catalog.->) 'payload', \
          'activityId', b OPERATOR(pg_catalog.->) 'activity_id', 'autoBurn', true)), '[]') \
            FROM pg_catalog.jsonb_array_elements(r.bookmarks) b)::pg_catalog.text, \
       (SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('activityId', \
         i OPERATOR(pg_catalog.->) 'activity_id', \
          'message', i OPERATOR(pg_catalog.->) 'message', 'timestamp', pg_catalog.clock_timestamp(), \
          'exception', pg_catalog.jsonb_build_object('type', i OPERATOR(pg_catalog.->) 'sqlstate', 'message', \
            i OPERATOR(pg_catalog.->) 'message', \
             'stackTrace', pg_catalog.concat_ws(E'\\n', i OPERATOR(pg_catalog.->>) 'detail', \
               i OPERATOR(pg_catalog.->>) 'hint')))), '[]') \
               FROM pg_catalog.jsonb_array_elements(r.incidents) i)::pg_catalog.text, \
       r.instance_id::pg_catalog.text \
     FROM @wf.wf_run($1, input => $2::pg_catalog.jsonb, correlation_id => $3, instance_id => $4, \
                     version => coalesce($7, (SELECT version FROM chosen)), \
                     trigger_activity_id => coalesce($5, (SELECT id FROM first)), on_fault => 'store') r"
);

/// The parameters of a run. Elsa's clients send null for missing values, or no body at all.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RunRequest {
    correlation_id: Option<String>,
    trigger_activity_id: Option<String>,
    version_options: Option<String>,
    input: Option<Box<RawValue>>,
    /// Idempotency key: repeating the request runs nothing and returns the first answer.
    instance_id: Option<String>,
}

impl RunRequest {
    /// The instance id: the client's, or a new one.
    fn instance(&self) -> Result<Uuid, Failure> {
        match &self.instance_id {
            None => Ok(Uuid::now_v7()),
            Some(id) => id.parse().map_err(|_| Failure::bad_request(format!("instanceId {id:?} is no uuid"))),
        }
    }
}

/// The state of an instance after a run, in Elsa's format.
struct WorkflowState {
    id: String,
    json: String,
}

/// `POST /workflow-definitions/{definition_id}/execute`. A faulted instance is a normal answer whose state reports the
/// fault.
pub async fn execute(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(asked): Body<Option<RunRequest>>,
) -> Response {
    let asked = asked.unwrap_or_default();
    let instance = match asked.instance() {
        Ok(instance) => instance,
        Err(failure) => return refused(failure, None),
    };
    match run(&app, &caller, &id, &asked, instance).await {
        Ok(state) => {
            let headers = outcome(Some(&state.id), Some("False"));
            (headers, JsonText(format!("{{\"workflowState\":{}}}", state.json))).into_response()
        }
        Err(failure) => refused(failure, Some(instance)),
    }
}

/// The answer to a run that failed. If the gateway does not know whether the run took place, the answer contains the id
/// with which the request can be repeated.
fn refused(failure: Failure, instance: Option<Uuid>) -> Response {
    let is_known = failure.status.is_client_error();
    let id = instance.filter(|_| !is_known).map(|id| id.to_string());
    (outcome(id.as_deref(), is_known.then_some("True")), failure).into_response()
}

fn outcome(instance: Option<&str>, cannot_start: Option<&'static str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(id) = instance.and_then(|id| HeaderValue::from_str(id).ok()) {
        headers.insert(INSTANCE_ID, id);
    }
    if let Some(cannot_start) = cannot_start {
        headers.insert(CANNOT_START, HeaderValue::from_static(cannot_start));
    }
    headers
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Dispatched {
    workflow_instance_id: String,
}

/// `POST /workflow-definitions/{definition_id}/dispatch`. Runs the instance until it waits or ends, as `execute` does.
pub async fn dispatch(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(asked): Body<Option<RunRequest>>,
) -> Result<JsonText, Failure> {
    let asked = asked.unwrap_or_default();
    let state = run(&app, &caller, &id, &asked, asked.instance()?).await?;
    text(&Dispatched { workflow_instance_id: state.id })
}

async fn run(
    app: &Gateway,
    caller: &Caller,
    id: &str,
    asked: &RunRequest,
    instance: Uuid,
) -> Result<WorkflowState, Failure> {
    let which = asked.version_options.as_deref().filter(|text| !text.is_empty());
    let which = which.map_or(Ok(Versions::Published), Versions::read)?;
    let input = asked.input.as_ref().map_or("{}", |input| input.get());
    let input = if input == "null" { "{}" } else { input };
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let values = parameters![
        id,
        input,
        given(&asked.correlation_id),
        instance,
        given(&asked.trigger_activity_id),
        which.name(),
        which.number(),
    ];
    let rows = app.database.write(caller, RUN, values).await?;
    let row = rows.first().ok_or_else(|| Failure::internal("a run gave no result"))?;
    let column = |at: usize| row.try_get::<_, String>(at).map_err(Failure::internal);
    let (facts, output, bookmarks, incidents) = (column(0)?, column(1)?, column(2)?, column(3)?);
    let facts = facts.trim_end_matches('}');
    let json = format!(
        "{facts},\"input\":{input},\"output\":{output},\"bookmarks\":{bookmarks},\"incidents\":{incidents},\
         \"completionCallbacks\":[],\"activityExecutionContexts\":[],\"properties\":{{}}}}"
    );
    Ok(WorkflowState { id: column(4)?, json })
}
