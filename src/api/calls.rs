//! `wf_call`.

use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::http::content::too_large;
use workflow_engine::http::{Request as HttpRequest, texts};
use workflow_engine::instance;
use workflow_engine::value::indexed::{MAX_INDEXED, check_indexed};
use workflow_engine::value::kind_of;

use crate::api::stimuli::{DELIVERY, event_for, stimulus_for};
use crate::api::{RESULT, not_null, result, usual_on_fault};
use crate::error;
use crate::pg::jsonb::Document;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, json};
use crate::run::call::work;
use crate::run::instances::message::{self, Message};
use crate::run::instances::start;
use crate::run::instances::start::StartRequest;
use crate::run::tasks::answer;
use crate::run::{Session, http};
use crate::store::nodes::route;
use crate::store::tasks;

sql_functions! {
    wf_call(key: Text, message: Text, kind: Text, name: Text, body: Jsonb) => call;
}

fn call(call: &Call) -> Result<Returned, PgError> {
    let key: String = call.required("key")?;
    let id: String = call.required("message")?;
    let kind: String = call.required("kind")?;
    let name: String = call.required("name")?;
    let body = not_null(call.arg("body"));
    for (argument, text) in [("key", &key), ("message", &id)] {
        if text.is_empty() {
            return Err(PgError::new("22023", format!("argument \"{argument}\" must not be empty")));
        }
        check_indexed(&format!("argument \"{argument}\""), text, MAX_INDEXED).map_err(|fault| error::fault(&fault))?;
    }
    instance::check_correlation_id(Some(&key)).map_err(|fault| error::fault(&fault))?;
    route::require(Some(&key))?;
    let message = Message { key: &key, id: &id, kind: &kind, name: &name, body: body.as_ref() };
    let answer = message::once(&mut Session::begin(), &message, |session| make(session, &message))?;
    Ok(Returned::Document(answer))
}

/// The answer, and whether anything was done.
fn make(session: &mut Session, message: &Message<'_>) -> Result<(Document, bool), PgError> {
    let body = message.body.map(json::copy);
    let answer = match message.kind {
        "start" => started(session, message, members(body)?)?,
        "event" => event_for(session, message.key, message.name, body)?.into_document(&DELIVERY),
        "stimulus" => {
            let mut body = members(body)?;
            let (payload, input) = (taken(&mut body, "stimulus"), taken(&mut body, "input"));
            refuse_others(&body, "stimulus and input")?;
            stimulus_for(session, message.key, message.name, payload, input)?.into_document(&DELIVERY)
        }
        "task" => completed(session, message, body.as_ref())?,
        "http" => {
            let answer = requested(session, message, members(body)?)?;
            // A workflow has served the request, and that was not undone.
            return Ok((answer, session.http.instance.is_some()));
        }
        other => {
            return Err(PgError::new("22023", format!("kind of call \"{other}\" does not exist"))
                .hint("Kinds are start, event, task, stimulus and http."));
        }
    };
    Ok((answer, true))
}

fn started(session: &mut Session, message: &Message<'_>, input: Map<String, Value>) -> Result<Document, PgError> {
    let request = StartRequest {
        definition_id: message.name.to_owned(),
        version: None,
        input,
        correlation_id: Some(message.key.to_owned()),
        name: None,
        instance_id: None,
        trigger: None,
        on_fault: usual_on_fault(),
    };
    let (row, is_new) = work::call(session, |session| start::start_by_name(session, request))?;
    Ok(result(Some(work::latest(session, row)), is_new)?.into_document(&RESULT))
}

/// The task has to be one of the key: what was answered moves with that.
fn completed(session: &mut Session, message: &Message<'_>, body: Option<&Value>) -> Result<Document, PgError> {
    let task = Uuid::try_parse(message.name)
        .map_err(|_| PgError::new("22023", format!("\"{}\" is not the id of a task", message.name)))?;
    // Read before, since the answer may lead to a `Correlate`, and told after, to who may answer the task.
    let correlation = tasks::correlation_of(task);
    let complete = |session: &mut Session| answer::complete(session, task, None, body, usual_on_fault());
    let row = work::call(session, complete)?;
    if correlation.as_deref() != Some(message.key) {
        return Err(PgError::new("22023", format!("task {task} is not of the key \"{}\"", message.key))
            .detail("Its instance has another correlation id."));
    }
    Ok(result(Some(work::latest(session, row)), false)?.into_document(&RESULT))
}

/// The name is the path; the key is the correlation id that selects the instance.
fn requested(session: &mut Session, message: &Message<'_>, mut body: Map<String, Value>) -> Result<Document, PgError> {
    let part = |part: Option<Value>, name: &str| texts(members(part)?, name).map_err(|fault| error::fault(&fault));
    let method = match taken(&mut body, "method") {
        None => "POST".to_owned(),
        Some(Value::String(method)) => method,
        Some(_) => return Err(PgError::new("22023", "\"method\" of the body must be a text")),
    };
    let mut headers = part(taken(&mut body, "headers"), "headers")?;
    let query = part(taken(&mut body, "query"), "query")?;
    let content = match taken(&mut body, "body") {
        None => Vec::new(),
        Some(Value::String(text)) => text.into_bytes(),
        Some(value) => {
            if !headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
                headers.insert("Content-Type".into(), "application/json".into());
            }
            value.to_string().into_bytes()
        }
    };
    refuse_others(&body, "method, headers, query and body")?;
    headers.retain(|name, _| !name.eq_ignore_ascii_case("x-correlation-id"));
    headers.insert("X-Correlation-ID".into(), message.key.into());
    let request = too_large(content.len());
    let request = request.and_then(|()| HttpRequest::new(&method, message.name, headers, query, content));
    let response = match request {
        Ok(request) => http::serve(session, &request)?,
        Err(response) => response,
    };
    // Workflows answer with text.
    let text = String::from_utf8_lossy(&response.body);
    Ok(Document::of(&json!({ "status": response.status, "headers": response.headers, "body": text })))
}

fn members(body: Option<Value>) -> Result<Map<String, Value>, PgError> {
    match body {
        None => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members),
        Some(other) => Err(PgError::new("22023", "argument \"body\" must be a JSON object for this kind of call")
            .detail(format!("It is {}.", kind_of(&other)))),
    }
}

fn taken(body: &mut Map<String, Value>, name: &str) -> Option<Value> {
    not_null(body.remove(name))
}

fn refuse_others(body: &Map<String, Value>, known: &str) -> Result<(), PgError> {
    match body.keys().next() {
        None => Ok(()),
        Some(other) => {
            Err(PgError::new("22023", format!("argument \"body\" has no member \"{other}\" for this kind of call"))
                .hint(format!("Members are {known}.")))
        }
    }
}
