//! Requests that wait: an instance suspends before it has responded, and a later burst responds.
//!
//! Such a request is a row, which names the instance and the server. The burst that responds stores the response in the
//! row, and its commit wakes the server. A server asks for its responses, so each is given to it at most once. With an
//! `Idempotency-Key` the row stays, and a repeated request gets the stored response, from any server of the role.

use pgrx::pg_sys::Oid;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;
use workflow_engine::execution::Delta;
use workflow_engine::http::{Request, Response};
use workflow_engine::instance::SubStatus;

use crate::access::instance;
use crate::compiled::Compiled;
use crate::pg::shared::{Class, NEVER};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, process, role, session};
use crate::run::CallContext;
use crate::run::call::context::{RequestFault, RequestKey, WaitingServer};
use crate::run::call::waiter::{self, CheckResult};
use crate::run::http::{faulted, serve};
use crate::store::http::requests::{self, KeyedRequest, NewRequest, StoredResponse};
use crate::store::instances::InstanceRow;
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
    /// The response comes later. The request waits for it until this instant.
    Waits(Timestamp),
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
    if let Some(until) = context.http.waits_until {
        return Ok(Begun::Waits(until));
    }
    // What a workflow has not served can be asked again.
    if let (Some(RequestKey { key, content }), Some(instance)) = (&key, context.http.instance) {
        let now = context.timestamp();
        let new = NewRequest { id, instance, owner, server: &name, key: Some((key, content)), until: now };
        requests::insert_served(&new, &response, now);
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
    let until = Timestamp(now.0.saturating_add(server.timeout));
    if known.response.is_none() && known.take_over(server.request, &server.name, until) {
        return Ok(Some(Begun::Waits(until)));
    }
    let response = known.response.or_else(|| keyed.find()?.response);
    Ok(response.map(Begun::Response))
}

/// The same for a repeated request: method, path, query and body, and who the client says that it is.
fn content_of(request: &Request) -> Vec<u8> {
    let mut digest = Sha256::new();
    let query = Value::Object(request.query.clone()).to_string();
    let [authorization, cookie] = ["Authorization", "Cookie"].map(|name| request.header(name).unwrap_or_default());
    for part in [&request.method, &request.path, &query, &authorization, &cookie] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.update(&request.body);
    digest.finalize().to_vec()
}

/// Lets the request of this call wait, if its server does and the instance may respond later. `timeout` is that of the
/// endpoint, in milliseconds.
pub fn begin(context: &mut CallContext, timeout: Option<u64>) {
    let (Some(server), Some(instance)) = (&context.http.server, context.http.instance) else { return };
    if !requests::can_respond(instance) {
        return;
    }
    let own = timeout.map(|timeout| i64::try_from(timeout).unwrap_or(i64::MAX).saturating_mul(1000));
    let now = context.timestamp();
    let until = Timestamp(now.0.saturating_add(own.unwrap_or(server.timeout)));
    let new = NewRequest {
        id: server.request,
        instance,
        owner: context.sender().id,
        server: &server.name,
        key: server.key.as_ref().map(|RequestKey { key, content }| (key.as_str(), content.as_slice())),
        until,
    };
    // A response goes to one request, the latest.
    store(&requests::answer(instance, &Response::empty(200), false, now));
    requests::insert(&new, now);
    context.http.waits_until = Some(until);
}

/// Takes responses of the server, each for the request with this id.
pub fn take(context: &CallContext, server: &str, max: usize) -> Vec<(Uuid, StoredResponse)> {
    let owner = owners::known_id_of(context.caller);
    owner.map(|owner| requests::take(owner, server, max, context.timestamp())).unwrap_or_default()
}

/// Answers the request that waits for an instance, if a burst has responded or no later burst will.
pub fn answer(row: &InstanceRow, compiled: &Compiled, delta: &Delta, now: Timestamp) {
    let id = row.instance.id;
    if let Some(response) = &delta.response {
        return store(&requests::answer(id, response, true, now));
    }
    let Some(server) = requests::waiting_for(id, now) else { return };
    let response = match row.instance.sub_status {
        SubStatus::Faulted => {
            let may_read =
                owners::by_id(server).role().is_some_and(|role| instance::may_read(role, &row.owner, compiled));
            match delta.incidents.first() {
                Some(incident) => faulted(&RequestFault::of(id, incident), may_read),
                None => Response::message(500, "The workflow faulted."),
            }
        }
        SubStatus::Cancelled => Response::message(500, "The workflow was cancelled."),
        SubStatus::Finished => Response::empty(200),
        _ if requests::can_respond(id) => return,
        _ => Response::empty(200),
    };
    store(&requests::answer(id, &response, false, now));
}

/// Records that servers have responses.
fn store(answered: &[(i32, String)]) {
    for (owner, server) in answered {
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
/// 25001 above READ COMMITTED, 53400 if too many sessions wait.
pub fn wait(server: &str, timeout: i64) -> Result<bool, PgError> {
    let check = || {
        let owner = owners::known_id_of(role::current());
        Ok(match owner.is_some_and(|owner| requests::has_response(owner, server)) {
            true => CheckResult::Ready,
            false => CheckResult::Nothing { until: NEVER, blockers: Vec::new() },
        })
    };
    waiter::wait("wait for HTTP responses", class_of(role::current(), server), 0, timeout, check)
}
