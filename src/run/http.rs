//! HTTP requests: finding the one trigger or bookmark for a request, and its response.
//!
//! Everything that a request starts or resumes happens in one subtransaction: if the endpoint rejects the request or it
//! times out, nothing remains.

use std::rc::Rc;

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::execution::Delta;
use workflow_engine::http::choice::{Choice, choose};
use workflow_engine::http::endpoint::route_of;
use workflow_engine::http::{Endpoint, Request, Response};
use workflow_engine::instance::check_correlation_id;
use workflow_engine::journal::ActKind;
use workflow_engine::stimulus::HTTP_ENDPOINT;
use workflow_engine::traceparent::Traceparent;

use crate::access::instance::{self, Subject};
use crate::access::{self, Operation, Privilege};
use crate::compiled::{self, Compiled};
use crate::error;
use crate::pg::deadline::{self, Deadline};
use crate::pg::{PgError, interrupt, role};
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::call::context::RequestFault;
use crate::run::call::{frame, running};
use crate::run::instances::acquire::{self, Acquired, Unavailable};
use crate::run::instances::{resume, start, version};
use crate::store::definitions;
use crate::store::definitions::triggers::TriggerRow;
use crate::store::http::requests::EndpointGuard;
use crate::store::http::routes::{self, Listener};
use crate::store::instances;
use crate::store::nodes::route;
use crate::store::rights::owners::Owner;

pub mod paths;
pub mod waiting;

/// How often a request looks for another bookmark when its own was used while it waited for the instance.
const ATTEMPTS: usize = 5;

/// The trigger or the bookmark for a request.
enum Receiver {
    Trigger(Box<TriggerRow>),
    Bookmark(Listener),
}

/// The result of the search for the receiver of a request.
enum Receivers {
    Nothing,
    One(Receiver),
    /// More than one: the definitions of the triggers, or empty if they are bookmarks.
    Many(Vec<String>),
}

/// The instance or correlation id that a request names in addition to path and method.
struct Selectors {
    instance_id: Option<Uuid>,
    correlation_id: Option<String>,
}

/// The outcome of an attempt to run a receiver.
enum Attempt {
    /// The response.
    Response(Response),
    /// The bookmark was used meanwhile, so another receiver must be found.
    BookmarkUsed,
}

/// The outcome of the first burst.
enum FirstBurst {
    /// It has run. These are the version and the owner of its instance.
    Run(Rc<Compiled>, Owner),
    /// No burst has run.
    NotRun(Attempt),
}

/// Serves a request.
pub fn serve(context: &mut CallContext, request: &Request) -> Result<Response, PgError> {
    let selectors = match selectors(request) {
        Ok(selectors) => selectors,
        Err(response) => return Ok(response),
    };
    match &selectors.correlation_id {
        Some(key) => route::require(Some(key))?,
        None => route::require_target(selectors.instance_id)?,
    }
    if let Some(given) = request.header("traceparent").and_then(|value| Traceparent::parse(&value)) {
        context.traceparent = Some(given);
    }
    // Only workflows of the owner of the first segment can answer.
    let Some(owner) = paths::owner_of(request) else { return Ok(not_found()) };
    for _ in 0..ATTEMPTS {
        let groups = match choose(request, &routes::of_path(&request.segments)) {
            Choice::NotFound => return Ok(not_found()),
            Choice::MethodNotAllowed(methods) => {
                return Ok(Response::message(405, "The path is known, but not with this method.")
                    .with("Allow", &methods.join(", ")));
            }
            Choice::Routes(groups) => groups,
        };
        let receiver = match find(&groups, &selectors, owner)? {
            Receivers::Nothing => return Ok(not_found()),
            Receivers::Many(definitions) => return Ok(ambiguous(&definitions)),
            Receivers::One(receiver) => receiver,
        };
        if let Attempt::Response(response) =
            call(context, request, &receiver, selectors.correlation_id.as_deref(), selectors.instance_id)?
        {
            return Ok(response);
        }
    }
    Ok(busy())
}

fn not_found() -> Response {
    Response::message(404, "No workflow waits for this request.")
}

fn busy() -> Response {
    Response::message(503, "The workflow is busy.").with("Retry-After", "1")
}

/// The response has Elsa's wording.
fn ambiguous(definitions: &[String]) -> Response {
    let workflows: Vec<Value> = definitions.iter().map(|id| json!({ "WorkflowDefinitionId": id })).collect();
    let message = "The call is ambiguous and matches multiple workflows.";
    Response::json(500, &json!({ "errorMessage": message, "workflows": workflows }))
}

fn selectors(request: &Request) -> Result<Selectors, Response> {
    let given = |header: &str, query: &str| request.header(header).or_else(|| request.query_value(query));
    let instance_id = given("X-Workflow-Instance-ID", "workflowInstanceId");
    let instance_id = instance_id.map(|id| Uuid::try_parse(id.trim())).transpose();
    let instance_id = instance_id.map_err(|_| Response::message(400, "The workflow instance id is not a UUID."))?;
    let correlation_id = given("X-Correlation-ID", "correlationId");
    check_correlation_id(correlation_id.as_deref()).map_err(|fault| Response::message(400, &fault.message))?;
    Ok(Selectors { instance_id, correlation_id })
}

/// Finds the receiver of a request. Triggers take precedence over bookmarks, but an instance named by the request over
/// both.
fn find(groups: &[Vec<[u8; 32]>], selectors: &Selectors, owner: i32) -> Result<Receivers, PgError> {
    let correlation_id = selectors.correlation_id.as_deref();
    if let Some(instance) = selectors.instance_id
        && instances::owner(instance).is_some()
    {
        let waiting = |hash: &[u8; 32]| routes::listeners_in(instance, hash, correlation_id, owner);
        let mut found = groups.iter().map(|group| one(group.iter().flat_map(waiting).collect()));
        return Ok(found.find(|found| !matches!(found, Receivers::Nothing)).unwrap_or(Receivers::Nothing));
    }
    for group in groups {
        let mut starting = starting(group, owner)?;
        match (starting.pop(), starting.is_empty()) {
            (Some(trigger), true) => return Ok(Receivers::One(Receiver::Trigger(Box::new(trigger)))),
            (Some(trigger), false) => {
                starting.push(trigger);
                return definitions_of(&starting).map(Receivers::Many);
            }
            (None, _) => {}
        }
        // If the request names an instance that does not exist, it can only be started.
        if selectors.instance_id.is_none() {
            let waiting = group.iter().flat_map(|hash| routes::listeners(hash, correlation_id, owner)).collect();
            match one(waiting) {
                Receivers::Nothing => {}
                found => return Ok(found),
            }
        }
    }
    Ok(Receivers::Nothing)
}

/// The triggers of an owner's definitions that have a hash of the group.
fn starting(group: &[[u8; 32]], owner: i32) -> Result<Vec<TriggerRow>, PgError> {
    let mut found = Vec::new();
    let owners = definitions::stored_under(owner);
    for trigger in group.iter().flat_map(|hash| version::of_triggers(HTTP_ENDPOINT.name, Some(hash), &owners)) {
        if compiled::of_version(trigger.definition_version_id)?.row.owner.id == owner {
            found.push(trigger);
        }
    }
    Ok(found)
}

fn one(mut waiting: Vec<Listener>) -> Receivers {
    match (waiting.pop(), waiting.is_empty()) {
        (None, _) => Receivers::Nothing,
        (Some(listener), true) => Receivers::One(Receiver::Bookmark(listener)),
        (Some(_), false) => Receivers::Many(Vec::new()),
    }
}

fn definitions_of(triggers: &[TriggerRow]) -> Result<Vec<String>, PgError> {
    triggers
        .iter()
        .map(|trigger| Ok(compiled::of_version(trigger.definition_version_id)?.row.definition_id.clone()))
        .collect()
}

/// Checks the request against its endpoint, and runs the receiver.
fn call(
    context: &mut CallContext,
    request: &Request,
    receiver: &Receiver,
    correlation_id: Option<&str>,
    instance_id: Option<Uuid>,
) -> Result<Attempt, PgError> {
    let no_payload = Value::Null;
    let payload = match receiver {
        Receiver::Trigger(trigger) => trigger.payload.as_ref().unwrap_or(&no_payload),
        Receiver::Bookmark(listener) => &listener.payload,
    };
    let endpoint = Endpoint::of(payload);
    if let Some(response) = rejection(&endpoint, request, receiver)? {
        return Ok(Attempt::Response(response));
    }
    let route_data = route_of(payload).and_then(|route| route.matches(&request.segments)).unwrap_or_default();
    let routed = request.routed(route_data).map_err(|fault| error::fault(&fault))?;
    context.http.request = Some(Rc::new(routed));
    context.http.guard = EndpointGuard { authorize: endpoint.authorize, policy: endpoint.policy.clone() };
    bounded(context, endpoint.timeout, |context| {
        // The time limit includes children that run here, and instances that receive events published by the burst.
        let first = frame::run(context, |context| match receiver {
            Receiver::Trigger(trigger) => begin(context, trigger, correlation_id, instance_id),
            Receiver::Bookmark(listener) => resume(context, listener),
        })?;
        Ok(match first {
            FirstBurst::Run(compiled, owner) => {
                Attempt::Response(response_or_default(context, &compiled, &owner, endpoint.timeout)?)
            }
            FirstBurst::NotRun(attempt) => {
                context.http.instance = None;
                attempt
            }
        })
    })
}

/// The response if the endpoint rejects the request. Checked before anything runs, and before a lock makes other
/// sessions wait.
fn rejection(endpoint: &Endpoint, request: &Request, receiver: &Receiver) -> Result<Option<Response>, PgError> {
    if let Some(response) = denial(endpoint.authorize, endpoint.policy.as_deref(), || has_right(receiver))? {
        return Ok(Some(response));
    }
    let too_large = endpoint.size_limit.filter(|limit| request.body.len() as u64 > *limit);
    Ok(too_large.map(|limit| Response::message(413, &format!("The maximum request size allowed is {limit} bytes."))))
}

/// The response if the caller may not call an endpoint with these settings.
fn denial(
    authorize: bool,
    policy: Option<&str>,
    has_right: impl FnOnce() -> Result<bool, PgError>,
) -> Result<Option<Response>, PgError> {
    if !authorize {
        return Ok(None);
    }
    let (is_allowed, status) = match policy {
        Some(policy) => (role::by_name(policy).is_some_and(|policy| role::has_rights_of(role::current(), policy)), 403),
        None => (has_right()?, 401),
    };
    Ok((!is_allowed).then(|| Response::message(status, "The request is not authorized.")))
}

/// Whether the caller may start the definition, or resume the instance.
fn has_right(receiver: &Receiver) -> Result<bool, PgError> {
    let who = role::current();
    match receiver {
        Receiver::Trigger(trigger) => {
            Ok(access::may(who, Privilege::Start, &compiled::of_version(trigger.definition_version_id)?.row))
        }
        Receiver::Bookmark(listener) => may_resume(listener.instance_id),
    }
}

/// Whether the caller may resume an instance.
fn may_resume(id: Uuid) -> Result<bool, PgError> {
    let Some((version, owner)) = instances::owner(id) else { return Ok(false) };
    let subject = Subject { owner: &owner, is_child: true, compiled: &*compiled::of_version(version)? };
    Ok(instance::permits(role::current(), Operation::Resume, subject))
}

/// Runs `body` in a subtransaction with a time limit. It is rolled back if it fails, times out or rejects the request.
fn bounded(
    context: &mut CallContext,
    timeout: Option<u64>,
    body: impl FnOnce(&mut CallContext) -> Result<Attempt, PgError>,
) -> Result<Attempt, PgError> {
    let run = |context: &mut CallContext| {
        let deadline = timeout.map(Deadline::arm);
        let ran = body(context);
        drop(deadline);
        // The deadline may have passed after the last check for interrupts.
        interrupt::check();
        Ok(match (ran?, context.http.refusal.take()) {
            (ran, None) => (ran, true),
            (_, Some(response)) => (Attempt::Response(response), false),
        })
    };
    let outcome = context.isolated_if(run, |(_, is_kept)| *is_kept);
    (context.http.request, context.http.refusal) = (None, None);
    if !outcome.as_ref().is_ok_and(|(_, is_kept)| *is_kept) {
        (context.http.instance, context.http.response, context.http.wait) = (None, None, None);
        context.http.received_by = None;
    }
    let is_late = timeout.is_some() && deadline::has_passed();
    outcome.map(|(ran, _)| ran).or_else(|error| match error.sqlstate.as_str() {
        "57014" if is_late => Ok(Attempt::Response(Response::message(408, "The workflow did not answer in time."))),
        "55P03" => Ok(Attempt::Response(busy())),
        _ => Err(error),
    })
}

fn not_run(response: Response) -> FirstBurst {
    FirstBurst::NotRun(Attempt::Response(response))
}

fn begin(
    context: &mut CallContext,
    trigger: &TriggerRow,
    correlation_id: Option<&str>,
    instance_id: Option<Uuid>,
) -> Result<FirstBurst, PgError> {
    let compiled = compiled::of_version(trigger.definition_version_id)?;
    version::refuse_deleted(&compiled.row)?;
    match start::start_for_request(context, trigger, &compiled, correlation_id, instance_id)? {
        Some(_) => {
            let owner = compiled.row.owner.clone();
            Ok(FirstBurst::Run(compiled, owner))
        }
        None => Ok(not_run(Response::message(409, "Another instance of the workflow is running."))),
    }
}

fn resume(context: &mut CallContext, listener: &Listener) -> Result<FirstBurst, PgError> {
    if running::contains(listener.instance_id) {
        return Ok(not_run(busy()));
    }
    let has_waited = std::mem::replace(&mut context.has_waited, true);
    let acquired =
        if has_waited { acquire::try_acquire_to_serve(listener.id) } else { acquire::acquire_to_serve(listener.id) };
    let (mut waiting, compiled) = match acquired? {
        Acquired::Ready(waiting, compiled) => (waiting, compiled),
        Acquired::Gone => return Ok(FirstBurst::NotRun(Attempt::BookmarkUsed)),
        Acquired::Busy(Unavailable::Paused) => return Ok(not_run(Response::message(503, "The workflow is paused."))),
        Acquired::Busy(Unavailable::Faulted) => return Ok(not_run(Response::message(409, "The workflow is faulted."))),
        Acquired::Busy(_) => return Ok(not_run(busy())),
    };
    waiting.act = Some(context.act(ActKind::Send)?);
    resume::resume_at(context, &mut waiting, &compiled, None, OnFault::Store)?;
    Ok(FirstBurst::Run(compiled, waiting.row.owner))
}

/// The workflow's response, or a default one that reports success or failure. A request that [waits](waiting) gets it
/// later.
fn response_or_default(
    context: &mut CallContext,
    compiled: &Compiled,
    owner: &Owner,
    timeout: Option<u64>,
) -> Result<Response, PgError> {
    let may_read = || instance::may_read(role::current(), owner, compiled);
    Ok(match (context.http.response.take(), context.http.fault.take()) {
        (Some(response), _) => response,
        (None, None) => {
            waiting::let_wait(context, timeout, may_read)?;
            Response::empty(200)
        }
        (None, Some(fault)) => faulted(&fault, may_read()),
    })
}

/// The response to a request whose workflow has faulted. Only roles that may read the instance see its fault.
fn faulted(fault: &RequestFault, may_read: bool) -> Response {
    let mut body = json!({ "message": "The workflow faulted." });
    if may_read {
        body["workflowInstanceId"] = json!(fault.instance_id);
        body["activityId"] = json!(fault.activity_id);
        body["error"] = json!(fault.message);
    }
    Response::json(500, &body)
}

/// Records how a burst responded to its request. `false`: it turned the request away.
pub fn record_response(context: &mut CallContext, id: Uuid, delta: &mut Delta) -> bool {
    let exchange = &mut context.http;
    exchange.received_by = delta.received_by.or(exchange.received_by);
    exchange.response = delta.response.take();
    exchange.refusal = delta.refusal.take();
    if let (None, Some(incident)) = (&exchange.fault, delta.incidents.first()) {
        exchange.fault = Some(RequestFault::of(id, incident));
    }
    exchange.refusal.is_none()
}
