//! Requests that wait: an instance suspends before it has responded, and a later burst responds.
//!
//! Such a request is a row, which names the server, the instance, and the execution of `HttpEndpoint` that received the
//! request: a response goes to the request that was received last on the path to it. The burst that responds stores the
//! response in the row, and its commit wakes the server. A server asks for its responses, so each is given to it at
//! most once. With an `Idempotency-Key` the row stays, and a repeated request gets the stored response, from any server
//! of the role.

use pgrx::pg_sys::Oid;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;
use workflow_engine::execution::{Delta, Incident, sequence_of};
use workflow_engine::http::{Request, Response};
use workflow_engine::instance::compensation::Ending;
use workflow_engine::instance::{Instance, SubStatus};

use crate::access::{self, Privilege, instance};
use crate::compiled::{self, Compiled};
use crate::pg::shared::{Class, NEVER};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, process, role, session};
use crate::run::CallContext;
use crate::run::call::context::{RequestFault, RequestKey, RequestWait, WaitingServer};
use crate::run::call::waiter::{self, CheckResult};
use crate::run::http::{denial, faulted, may_resume, serve};
use crate::store::http::requests::{self, EndpointGuard, KeyedRequest, NewRequest, StoredResponse, Waiting};
use crate::store::instances::{self, InstanceRow};
use crate::store::rights::owners;
use crate::wake;

/// The longest `Idempotency-Key`.
const MAX_KEY: usize = 255;
/// The header with it.
const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// What a server gets for a request.
#[derive(Debug)]
pub enum Begun {
    /// The response.
    Response(StoredResponse),
    /// The response comes later.
    Waits(RequestWait),
}

impl From<Response> for StoredResponse {
    fn from(response: Response) -> Self {
        Self { status: response.status.into(), headers: response.headers, body: response.body }
    }
}

/// Serves a request of a server that lets its client wait.
///
/// # Errors
/// As [`serve`], and 25001 if the request has a key and the transaction is above READ COMMITTED.
pub fn serve_waiting(
    context: &mut CallContext,
    request: &Request,
    mut server: WaitingServer,
) -> Result<Begun, PgError> {
    let key = match request.header(IDEMPOTENCY_KEY) {
        Some(key) if key.len() > MAX_KEY => {
            let message = format!("The Idempotency-Key is longer than {MAX_KEY} bytes.");
            return Ok(Begun::Response(Response::message(400, &message).into()));
        }
        Some(key) => Some(RequestKey { content: content_of(request), key }),
        None => None,
    };
    let owner = context.caller_as_owner(None).id;
    context.caller_id = Some(owner);
    if let Some(key) = &key
        && let Some(known) = repeated(context, key, &server, owner)?
    {
        return Ok(known);
    }
    server.key.clone_from(&key);
    let (id, name) = (server.request, server.name.clone());
    context.http.server = Some(server);
    let response = serve(context, request)?;
    if let Some(wait) = context.http.wait {
        return Ok(Begun::Waits(wait));
    }
    // What a workflow has not served can be asked again.
    if let (Some(RequestKey { key, content }), Some(instance)) = (&key, context.http.instance) {
        let now = context.timestamp();
        let http = &context.http;
        let (received_by, guard) = (http.received_by, &http.guard);
        let key = Some((key.as_str(), content.as_slice()));
        let new = NewRequest { id, instance, received_by, owner, server: &name, key, guard, until: now };
        requests::insert_served(&new, &response, now)?;
    }
    Ok(Begun::Response(response.into()))
}

/// The response to an earlier request with this key, or the wait for it; `None`: there is none.
fn repeated(
    context: &CallContext,
    key: &RequestKey,
    server: &WaitingServer,
    owner: i32,
) -> Result<Option<Begun>, PgError> {
    session::require_read_committed("serve an HTTP request with an Idempotency-Key")?;
    let keyed = KeyedRequest { owner, key: &key.key };
    keyed.lock();
    let Some(known) = keyed.find() else { return Ok(None) };
    let now = context.timestamp();
    if guc::message_retention().is_some_and(|keep| known.created_at.0.saturating_add(keep) <= now.0) {
        known.release();
        return Ok(None);
    }
    if known.content != key.content {
        let message = "The Idempotency-Key was used for another request.";
        return Ok(Some(Begun::Response(Response::message(422, message).into())));
    }
    // A client that may no longer call the endpoint gets nothing of its earlier request either.
    let EndpointGuard { authorize, policy } = &known.guard;
    if let Some(response) = denial(*authorize, policy.as_deref(), || may_start_or_resume(known.instance))? {
        return Ok(Some(Begun::Response(response.into())));
    }
    let until = Timestamp(now.0.saturating_add(server.timeout));
    if known.response.is_none() && known.take_over(server.request, &server.name, until)? {
        let instance = instance::readable_version(role::current(), known.instance)?.map(|_| known.instance);
        return Ok(Some(Begun::Waits(RequestWait { until, instance })));
    }
    let response = known.response.or_else(|| keyed.find()?.response);
    Ok(response.map(Begun::Response))
}

/// Whether the caller may start the definition of an instance, or resume the instance.
fn may_start_or_resume(instance: Uuid) -> Result<bool, PgError> {
    let Some((version, _)) = instances::owner(instance) else { return Ok(false) };
    Ok(access::may(role::current(), Privilege::Start, &compiled::of_version(version)?.row) || may_resume(instance)?)
}

/// The same for a repeated request: method, path, query and body, who the client says that it is, and the instance that
/// it names.
fn content_of(request: &Request) -> Vec<u8> {
    const HEADERS: [&str; 4] = ["Authorization", "Cookie", "X-Correlation-ID", "X-Workflow-Instance-ID"];
    let mut digest = Sha256::new();
    let query = Value::Object(request.query.clone()).to_string();
    let headers = HEADERS.map(|name| request.header(name).unwrap_or_default());
    for part in [&request.method, &request.path, &query].into_iter().chain(&headers) {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.update(&request.body);
    digest.finalize().to_vec()
}

/// Lets the request of this call wait, if its server does and the instance may respond to it later. `timeout` is that of
/// the endpoint, in milliseconds. `may_read` says whether the caller may read the instance.
pub fn let_wait(
    context: &mut CallContext,
    timeout: Option<u64>,
    may_read: impl FnOnce() -> bool,
) -> Result<(), PgError> {
    let http = &context.http;
    let (Some(server), Some(instance), Some(received_by)) = (&http.server, http.instance, http.received_by) else {
        return Ok(());
    };
    if !is_open(instance, received_by)? {
        return Ok(());
    }
    let own = timeout.map(|timeout| i64::try_from(timeout).unwrap_or(i64::MAX).saturating_mul(1000));
    let now = context.timestamp();
    let until = Timestamp(now.0.saturating_add(own.unwrap_or(server.timeout)));
    let new = NewRequest {
        id: server.request,
        instance,
        received_by: Some(received_by),
        owner: context.sender().id,
        server: &server.name,
        key: server.key.as_ref().map(|RequestKey { key, content }| (key.as_str(), content.as_slice())),
        guard: &http.guard,
        until,
    };
    requests::insert(&new, now)?;
    context.http.wait = Some(RequestWait { until, instance: may_read().then_some(instance) });
    Ok(())
}

/// Whether an instance may respond to a request without another one.
fn is_open(instance: Uuid, received_by: Uuid) -> Result<bool, PgError> {
    let Some(row) = instances::get(instance).filter(|row| row.instance.sub_status == SubStatus::Suspended) else {
        return Ok(false);
    };
    let compiled = compiled::of_version(row.definition_version_id)?;
    let open = row.instance.state.open_requests(&compiled.program);
    Ok(sequence_of(instance, received_by).is_some_and(|sequence| open.contains(&sequence)))
}

/// Takes responses of the server, each for the request with this id.
pub fn take(context: &CallContext, server: &str, max: usize) -> Vec<(Uuid, StoredResponse)> {
    let owner = owners::known_id_of(context.caller);
    owner.map(|owner| requests::take(owner, server, max, context.timestamp())).unwrap_or_default()
}

/// Responds to the requests that wait for an instance, as far as a burst has responded, or no later burst will.
pub fn respond(row: &InstanceRow, compiled: &Compiled, delta: &Delta, now: Timestamp) {
    let id = row.instance.id;
    let open = row.instance.state.open_requests(&compiled.program);
    for waiting in requests::waiting_for(id, now) {
        let received_by = waiting.received_by;
        let written = delta.responses.iter().find(|(of, _)| *of == received_by);
        let servers = match written {
            Some((_, response)) => requests::store_response(id, received_by, response, true, now),
            None => match default_response(row, compiled, delta, &waiting, &open) {
                Some(response) => requests::store_response(id, received_by, &response, false, now),
                None => continue,
            },
        };
        wake_servers(&servers);
    }
    if row.instance.has_ended() {
        requests::forget_over(id);
    }
}

/// The response to a waiting request for which a burst has written none; `None`: a later burst may. `open` are the
/// requests to which later bursts may respond.
fn default_response(
    row: &InstanceRow,
    compiled: &Compiled,
    delta: &Delta,
    waiting: &Waiting,
    open: &[u32],
) -> Option<Response> {
    let Instance { id, state, sub_status, .. } = &row.instance;
    let request = sequence_of(*id, waiting.received_by);
    let is_on_path = |incident: &&Incident| {
        let faulted = sequence_of(*id, incident.activity_instance_id);
        faulted.and_then(|faulted| state.contexts.get(&faulted)?.request) == request
    };
    let has_faulted = *sub_status == SubStatus::Faulted || state.ending() == Ending::Faulted;
    let first = delta.incidents.first().filter(|_| has_faulted);
    if let Some(incident) = delta.incidents.iter().find(is_on_path).or(first) {
        let role = owners::by_id(waiting.owner).role();
        let may_read = role.is_some_and(|role| instance::may_read(role, &row.owner, compiled));
        return Some(faulted(&RequestFault::of(*id, incident), may_read));
    }
    match sub_status {
        _ if has_faulted => Some(Response::message(500, "The workflow faulted.")),
        SubStatus::Cancelled => Some(cancelled()),
        _ if state.ending() == Ending::Cancelled => Some(cancelled()),
        SubStatus::Finished => Some(Response::empty(200)),
        _ => request.is_none_or(|request| !open.contains(&request)).then(|| Response::empty(200)),
    }
}

fn cancelled() -> Response {
    Response::message(500, "The workflow was cancelled.")
}

/// Wakes servers that have responses to take, once this transaction has committed.
fn wake_servers(servers: &[(i32, String)]) {
    for (owner, server) in servers {
        if let Some(role) = owners::by_id(*owner).role() {
            wake::report_response(class_of(role, server));
        }
    }
}

fn class_of(role: Oid, server: &str) -> Class {
    Class { database: process::database(), role, names: wake::key_of_server(server) }
}

/// Sleeps until the server has responses to take (`true`), or so many microseconds have passed.
///
/// # Errors
/// 25006 on a standby, 25001 above READ COMMITTED, 53400 if too many sessions wait.
pub fn wait(server: &str, timeout: i64) -> Result<bool, PgError> {
    // A standby cannot give responses out, so it would find the same ones again and again.
    session::refuse_in_recovery(c"wf_wait_http_responses");
    let check = || {
        let owner = owners::known_id_of(role::current());
        Ok(match owner.is_some_and(|owner| requests::has_response(owner, server)) {
            true => CheckResult::Ready,
            false => CheckResult::Nothing { until: NEVER, blockers: Vec::new() },
        })
    };
    waiter::wait("wait for HTTP responses", class_of(role::current(), server), 0, timeout, check)
}
