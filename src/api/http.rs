//! `wf_http_request`, and the functions for servers whose clients can wait for a response.

use serde_json::{Map, Value, json};
use workflow_engine::http::content::too_large;
use workflow_engine::http::{Request, Response, texts};
use workflow_engine::value::indexed::{MAX_INDEXED, check_indexed};

use crate::api::{object, timeout};
use crate::error;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, role};
use crate::run::call::context::{RequestWait, WaitingServer};
use crate::run::history::acts;
use crate::run::http::paths;
use crate::run::http::waiting::{self, Begun};
use crate::run::{CallContext, http};
use crate::store::http::requests::StoredResponse;
use crate::store::rights::owners;

sql_functions! {
    wf_http_request(method: Text, path: Text, headers: Jsonb, query: Jsonb, body: Bytea) => request;
    wf_begin_http_request(request_id: Uuid, server: Text, method: Text, path: Text, headers: Jsonb, query: Jsonb, body: Bytea, timeout: Interval) => begin;
    wf_take_http_responses(server: Text, max: Integer) => take;
    wf_grant_path(segment: Text, role: Text) => grant_path;
}

crate::pg::procedure::sql_procedures! {
    wf_wait_http_responses(server: Text, timeout: Interval, ready: Boolean) => wait;
}

/// Responses that one call may take.
const MAX_RESPONSES: u16 = 1000;

fn request(call: &Call) -> Result<Returned, PgError> {
    let response = match read_request(call)? {
        Ok(request) => http::serve(&mut CallContext::begin(), &request)?,
        Err(response) => response,
    };
    Ok(Returned::Row(columns(response.into())))
}

/// The request that the arguments describe, or the response for an invalid one.
fn read_request(call: &Call) -> Result<Result<Request, Response>, PgError> {
    let method: String = call.required("method")?;
    let path: String = call.required("path")?;
    let headers = texts_of(call, "headers")?;
    let query = texts_of(call, "query")?;
    // A body that is too large is not read at all.
    Ok(too_large(call.size("body")).and_then(|()| {
        let body: Vec<u8> = call.arg("body").unwrap_or_default();
        Request::new(&method, &path, headers, query, body)
    }))
}

fn begin(call: &Call) -> Result<Returned, PgError> {
    let (id, name, timeout) = (call.required("request_id")?, server(call)?, timeout(call)?);
    let begun = match read_request(call)? {
        Ok(request) => {
            let server = WaitingServer { request: id, name, timeout, key: None };
            waiting::serve_waiting(&mut CallContext::begin(), &request, server)?
        }
        Err(response) => Begun::Response(response.into()),
    };
    let row = match begun {
        Begun::Response(response) => columns(response).into_iter().chain([Returned::Null, Returned::Null]).collect(),
        Begun::Waits(RequestWait { until, instance }) => {
            let response = [Returned::Null, Returned::Null, Returned::Null];
            let instance = instance.map_or(Returned::Null, Returned::Uuid);
            response.into_iter().chain([Returned::Timestamptz(until), instance]).collect()
        }
    };
    Ok(Returned::Row(row))
}

fn take(call: &Call) -> Result<Returned, PgError> {
    let max = call.required_count("max", MAX_RESPONSES)?;
    let taken = waiting::take(&CallContext::begin(), &server(call)?, max);
    let row = |(id, response)| std::iter::once(Returned::Uuid(id)).chain(columns(response)).collect();
    Ok(Returned::Rows(taken.into_iter().map(row).collect()))
}

/// Sleeps until the server has responses to take, or the time is over.
fn wait(call: &Call) -> Result<Returned, PgError> {
    let is_ready = waiting::wait(&server(call)?, timeout(call)?)?;
    Ok(Returned::Row(vec![Returned::Boolean(is_ready)]))
}

/// The argument `server`.
fn server(call: &Call) -> Result<String, PgError> {
    let name: String = call.required("server")?;
    if name.is_empty() {
        return Err(PgError::new("22023", "argument \"server\" must not be empty"));
    }
    check_indexed("argument \"server\"", &name, MAX_INDEXED).map_err(|fault| error::fault(&fault))?;
    Ok(name)
}

fn grant_path(call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("give HTTP paths")?;
    let segment = segment_of(&call.required::<String>("segment")?)?;
    let role = call.arg::<String>("role").map(|name| {
        role::by_name(&name).ok_or_else(|| PgError::new("42704", format!("role \"{name}\" does not exist")))
    });
    let owner = role.transpose()?.map(|role| owners::by_id(owners::id_of(role)));
    let moved = paths::give(&segment, owner.as_ref())?;
    let detail = json!({ "segment": segment, "role": owner.as_ref().map(owners::Owner::title) });
    acts::record("grant path", None, &detail)?;
    Ok(Returned::Integer(moved))
}

/// A segment in its stored form.
fn segment_of(text: &str) -> Result<String, PgError> {
    let segment = text.trim_matches('/').to_lowercase();
    if segment.contains(['/', '{', '}']) {
        return Err(PgError::new("22023", format!("\"{text}\" is not the first segment of an HTTP path"))
            .hint("An empty text means the root, and * means the paths that begin with a parameter."));
    }
    Ok(segment)
}

fn texts_of(call: &Call, name: &str) -> Result<Map<String, Value>, PgError> {
    texts(object(call, name)?, name).map_err(|fault| error::fault(&fault))
}

/// The columns of a `wf_http_response`.
fn columns(response: StoredResponse) -> Vec<Returned> {
    vec![Returned::Integer(response.status), Returned::Object(response.headers), Returned::Bytea(response.body)]
}
