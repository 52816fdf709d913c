//! `wf_start`, `wf_resume` and the other functions for instances, and `wf_call`.

use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::NodeIx;
use workflow_engine::http::content::too_large;
use workflow_engine::http::{Request as HttpRequest, texts};
use workflow_engine::instance::outputs::Outputs;
use workflow_engine::instance::{self, Instance};
use workflow_engine::value::base64::{from_base64, to_base64};
use workflow_engine::value::indexed::{MAX_INDEXED, check_indexed};
use workflow_engine::value::kind_of;

use crate::access::{self, Operation};
use crate::api::events::{DELIVERY, event_for, stimulus_for};
use crate::api::{RESULT, not_null, object, on_fault, result, usual_on_fault};
use crate::pg::jsonb::Document;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, json};
use crate::run::call::frame;
use crate::run::instances::message::{self, Message};
use crate::run::instances::start::{self, StartRequest};
use crate::run::instances::{cancel, delete as deletion, indexing, resume};
use crate::run::repair::pause;
use crate::run::tasks::answer;
use crate::run::timers::due_work;
use crate::run::{CallContext, http};
use crate::store::instances::{self, InstanceRow};
use crate::store::nodes::route;
use crate::store::tasks;
use crate::{compiled, error};

sql_functions! {
    wf_start(definition: Text, input: Jsonb, correlation_id: Text, name: Text, instance_id: Uuid, version: Integer, trigger_activity_id: Text, on_fault: Text) => start_instance;
    wf_run(definition: Text, input: Jsonb, correlation_id: Text, name: Text, instance_id: Uuid, version: Integer, trigger_activity_id: Text, on_fault: Text) => run;
    wf_resume(bookmark_id: Uuid, input: Jsonb, missing_ok: Boolean, on_fault: Text) => resume_bookmark;
    wf_cancel(instance_id: Uuid, reason: Text, force: Boolean) => cancel_instance;
    wf_pause(instance_id: Uuid, reason: Text, children: Boolean) => pause_instance;
    wf_unpause(instance_id: Uuid) => unpause;
    wf_retry(instance_id: Uuid, activity_ids: Texts, on_fault: Text) => retry;
    wf_delete_instance(instance_id: Uuid, force: Boolean) => delete;
    wf_index_instances(definition_id: Text, max: Integer, after: Uuid) => index_instances;
    wf_run_due(max: Integer) => run_due;
    wf_instance_state(instance_id: Uuid) => state;
}

/// Instances that one call may index.
const MAX_INDEXED_INSTANCES: u16 = 10_000;

fn request(call: &Call) -> Result<StartRequest, PgError> {
    Ok(StartRequest {
        definition_id: call.required("definition")?,
        input: object(call, "input")?,
        correlation_id: call.arg("correlation_id"),
        name: call.arg("name"),
        instance_id: call.arg("instance_id"),
        version: call.arg("version"),
        trigger: call.arg("trigger_activity_id"),
        on_fault: on_fault(call)?,
    })
}

fn start_instance(call: &Call) -> Result<Returned, PgError> {
    let (row, _) = started(call)?;
    Ok(Returned::Uuid(row.instance.id))
}

fn run(call: &Call) -> Result<Returned, PgError> {
    let (row, is_new) = started(call)?;
    result(Some(row), is_new)
}

fn resume_bookmark(call: &Call) -> Result<Returned, PgError> {
    let bookmark_id: Uuid = call.required("bookmark_id")?;
    let input = not_null(call.arg("input"));
    let missing_ok: bool = call.required("missing_ok")?;
    let on_fault = on_fault(call)?;
    let resume =
        |context: &mut CallContext| resume::resume_by_id(context, bookmark_id, input.as_ref(), missing_ok, on_fault);
    result(frame::begin_for_instance(resume)?, false)
}

fn started(call: &Call) -> Result<(InstanceRow, bool), PgError> {
    let request = request(call)?;
    frame::begin_for_instance(|context| start::start_by_name(context, request))
}

fn cancel_instance(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let reason: Option<String> = call.arg("reason");
    let force = call.required("force")?;
    frame::begin(|context| cancel::cancel(context, instance_id, reason.as_deref(), force)).map(Returned::Boolean)
}

fn pause_instance(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let reason: Option<String> = call.arg("reason");
    let children = call.required("children")?;
    frame::begin(|context| pause::pause(context, instance_id, reason.as_deref(), children)).map(Returned::Boolean)
}

fn unpause(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let row = frame::begin_for_instance(|context| pause::unpause(context, instance_id))?;
    result(Some(row), false)
}

fn retry(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let activity_ids = call.texts("activity_ids")?;
    let on_fault = on_fault(call)?;
    let retry = |context: &mut CallContext| resume::retry(context, instance_id, activity_ids.as_deref(), on_fault);
    result(Some(frame::begin_for_instance(retry)?), false)
}

fn delete(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let force = call.required("force")?;
    frame::begin(|context| deletion::delete(context, instance_id, force)).map(Returned::Boolean)
}

fn index_instances(call: &Call) -> Result<Returned, PgError> {
    let definition_id: String = call.required("definition_id")?;
    let max = call.required_count("max", MAX_INDEXED_INSTANCES)?;
    let after = call.arg("after");
    let done = frame::begin(|context| indexing::index(context, &definition_id, max, after))?;
    let count = Returned::Integer(i32::try_from(done.count).unwrap_or(i32::MAX));
    Ok(Returned::Row(vec![count, Returned::of(done.last, Returned::Uuid)]))
}

fn run_due(call: &Call) -> Result<Returned, PgError> {
    let max: i32 = call.required("max")?;
    let max = u64::try_from(max).map_err(|_| PgError::new("22023", "argument \"max\" must not be negative"))?;
    let fired = due_work::run_due(&mut CallContext::pass(), max)?;
    Ok(Returned::BigInt(fired.cast_signed()))
}

/// The engine's own state of an instance, in readable form.
fn state(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let row = instances::get(instance_id).ok_or_else(|| resume::unknown(instance_id))?;
    let compiled = compiled::of_instance(&row)?;
    access::instance::require(Operation::Read, &row, &compiled)?;
    Ok(Returned::Json(state_json(&row.instance, &compiled.program)))
}

/// Outputs by the id of their activity.
fn shown_outputs<'o>(
    program: &workflow_engine::Program,
    outputs: impl Iterator<Item = (&'o NodeIx, &'o Outputs)>,
) -> serde_json::Map<String, Value> {
    let named = |outputs: &Outputs| outputs.iter().map(|(name, value)| (name.clone(), json::copy(&value.0))).collect();
    outputs.map(|(node, outputs)| (program.node(*node).id.clone(), Value::Object(named(outputs)))).collect()
}

fn state_json(instance: &Instance, program: &workflow_engine::Program) -> Value {
    let contexts = instance.state.contexts.iter().map(|(sequence, context)| {
        let node = program.node(context.node);
        let variables = context.variables.iter().map(|(name, value)| (name.clone(), json::copy(&value.0)));
        let mut shown = json!({
            "activity_id": node.id,
            "activity_type": node.type_name,
            "execution": sequence,
            "parent": context.parent,
            "status": context.status.name(),
            "bookmarks": context.bookmarks,
            "variables": variables.collect::<serde_json::Map<_, _>>(),
        });
        let own = Some((&context.node, &context.outputs)).filter(|(_, outputs)| !outputs.is_empty());
        let inside = context.ended_inside.iter().flat_map(|inside| &inside.outputs);
        let outputs = shown_outputs(program, own.into_iter().chain(inside));
        if !outputs.is_empty() {
            shown["outputs"] = outputs.into();
        }
        shown
    });
    json!({
        "open": contexts.collect::<Vec<_>>(),
        "outputs": shown_outputs(program, instance.state.outputs.iter()),
        "trigger": instance.state.trigger.map(|node| program.node(node).id.clone()),
    })
}

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
    let answer = message::once(&mut CallContext::begin(), &message, |context| make(context, &message))?;
    Ok(Returned::Document(answer))
}

/// The answer, and whether anything was done.
fn make(context: &mut CallContext, message: &Message<'_>) -> Result<(Document, bool), PgError> {
    let body = message.body.map(json::copy);
    let answer = match message.kind {
        "start" => start_by_message(context, message, members(body)?)?,
        "event" => event_for(context, message.key, message.name, body)?.into_document(&DELIVERY),
        "stimulus" => {
            let mut body = members(body)?;
            let (payload, input) = (take_member(&mut body, "stimulus"), take_member(&mut body, "input"));
            refuse_others(&body, "stimulus and input")?;
            stimulus_for(context, message.key, message.name, payload, input)?.into_document(&DELIVERY)
        }
        "task" => completed(context, message, body.as_ref())?,
        "http" => {
            let answer = requested(context, message, members(body)?)?;
            // A workflow has served the request, and that was not undone.
            return Ok((answer, context.http.instance.is_some()));
        }
        other => {
            return Err(PgError::new("22023", format!("kind of call \"{other}\" does not exist"))
                .hint("Kinds are start, event, task, stimulus and http."));
        }
    };
    Ok((answer, true))
}

fn start_by_message(
    context: &mut CallContext,
    message: &Message<'_>,
    input: Map<String, Value>,
) -> Result<Document, PgError> {
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
    let (row, is_new) = frame::run(context, |context| start::start_by_name(context, request))?;
    Ok(result(Some(frame::latest(context, row)), is_new)?.into_document(&RESULT))
}

/// The task has to be one of the key: what was answered moves with that.
fn completed(context: &mut CallContext, message: &Message<'_>, body: Option<&Value>) -> Result<Document, PgError> {
    let task = Uuid::try_parse(message.name)
        .map_err(|_| PgError::new("22023", format!("\"{}\" is not the id of a task", message.name)))?;
    // Read before, since the answer may lead to a `Correlate`, and told after, to who may answer the task.
    let correlation = tasks::correlation_of(task);
    let complete = |context: &mut CallContext| answer::complete(context, task, None, body, usual_on_fault());
    let row = frame::run(context, complete)?;
    if correlation.as_deref() != Some(message.key) {
        return Err(PgError::new("22023", format!("task {task} is not of the key \"{}\"", message.key))
            .detail("Its instance has another correlation id."));
    }
    Ok(result(Some(frame::latest(context, row)), false)?.into_document(&RESULT))
}

/// The name is the path; the key is the correlation id that selects the instance.
fn requested(
    context: &mut CallContext,
    message: &Message<'_>,
    mut body: Map<String, Value>,
) -> Result<Document, PgError> {
    let part = |part: Option<Value>, name: &str| texts(members(part)?, name).map_err(|fault| error::fault(&fault));
    let method = match take_member(&mut body, "method") {
        None => "POST".to_owned(),
        Some(Value::String(method)) => method,
        Some(_) => return Err(PgError::new("22023", "\"method\" of the body must be a text")),
    };
    let mut headers = part(take_member(&mut body, "headers"), "headers")?;
    let query = part(take_member(&mut body, "query"), "query")?;
    let content = match (take_member(&mut body, "body"), take_member(&mut body, "bodyBase64")) {
        (None, None) => Vec::new(),
        (None, Some(Value::String(text))) => {
            from_base64(&text).ok_or_else(|| PgError::new("22023", "\"bodyBase64\" is not Base64"))?
        }
        (_, Some(_)) => {
            return Err(PgError::new("22023", "\"bodyBase64\" must be a text, without \"body\" beside it"));
        }
        (Some(Value::String(text)), None) => text.into_bytes(),
        (Some(value), None) => {
            if !headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
                headers.insert("Content-Type".into(), "application/json".into());
            }
            value.to_string().into_bytes()
        }
    };
    refuse_others(&body, "method, headers, query, body and bodyBase64")?;
    headers.retain(|name, _| !name.eq_ignore_ascii_case("x-correlation-id"));
    headers.insert("X-Correlation-ID".into(), message.key.into());
    let request = too_large(content.len());
    let request = request.and_then(|()| HttpRequest::new(&method, message.name, headers, query, content));
    let response = match request {
        Ok(request) => http::serve(context, &request)?,
        Err(response) => response,
    };
    let mut answer = json!({ "status": response.status, "headers": response.headers });
    // A text with a NUL is no text for jsonb.
    match std::str::from_utf8(&response.body).ok().filter(|text| !text.contains('\0')) {
        Some(text) => answer["body"] = text.into(),
        None => answer["bodyBase64"] = to_base64(&response.body).into(),
    }
    Ok(Document::of(&answer))
}

fn members(body: Option<Value>) -> Result<Map<String, Value>, PgError> {
    match body {
        None => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members),
        Some(other) => Err(PgError::new("22023", "argument \"body\" must be a JSON object for this kind of call")
            .detail(format!("It is {}.", kind_of(&other)))),
    }
}

fn take_member(body: &mut Map<String, Value>, name: &str) -> Option<Value> {
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
