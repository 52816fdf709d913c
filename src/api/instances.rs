//! `wf_start`, `wf_resume` and the other functions for instances.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::NodeIx;
use workflow_engine::instance::Instance;
use workflow_engine::instance::outputs::Outputs;

use crate::access::{self, Operation};
use crate::api::{not_null, object, on_fault, result};
use crate::compiled;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, json};
use crate::run::Session;
use crate::run::call::work;
use crate::run::instances::start::StartRequest;
use crate::run::instances::{cancel, delete as deletion, resume, start};
use crate::run::repair::pause;
use crate::run::timers::sweep;
use crate::store::instances;
use crate::store::instances::InstanceRow;

sql_functions! {
    wf_start(definition: Text, input: Jsonb, correlation_id: Text, name: Text, instance_id: Uuid, version: Integer, trigger_activity_id: Text, on_fault: Text) => start_instance;
    wf_run(definition: Text, input: Jsonb, correlation_id: Text, name: Text, instance_id: Uuid, version: Integer, trigger_activity_id: Text, on_fault: Text) => run;
    wf_resume(bookmark_id: Uuid, input: Jsonb, missing_ok: Boolean, on_fault: Text) => resume_bookmark;
    wf_cancel(instance_id: Uuid, reason: Text, force: Boolean) => cancel_instance;
    wf_pause(instance_id: Uuid, reason: Text, children: Boolean) => pause_instance;
    wf_unpause(instance_id: Uuid) => unpause;
    wf_retry(instance_id: Uuid, activity_ids: Texts, on_fault: Text) => retry;
    wf_delete_instance(instance_id: Uuid, force: Boolean) => delete;
    wf_run_due(max: Integer) => run_due;
    wf_instance_state(instance_id: Uuid) => state;
}

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
    let mut session = Session::begin();
    let resume =
        |session: &mut Session| resume::resume_by_id(session, bookmark_id, input.as_ref(), missing_ok, on_fault);
    let found = work::call(&mut session, resume)?;
    result(found.map(|row| work::latest(&session, row)), false)
}

fn started(call: &Call) -> Result<(InstanceRow, bool), PgError> {
    let request = request(call)?;
    let mut session = Session::begin();
    let (row, is_new) = work::call(&mut session, |session| start::start_by_name(session, request))?;
    Ok((work::latest(&session, row), is_new))
}

fn cancel_instance(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let reason: Option<String> = call.arg("reason");
    let force = call.required("force")?;
    let cancel = |session: &mut Session| cancel::cancel(session, instance_id, reason.as_deref(), force);
    work::call(&mut Session::begin(), cancel).map(Returned::Boolean)
}

fn pause_instance(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let reason: Option<String> = call.arg("reason");
    let children = call.required("children")?;
    let pause = |session: &mut Session| pause::pause(session, instance_id, reason.as_deref(), children);
    work::call(&mut Session::begin(), pause).map(Returned::Boolean)
}

fn unpause(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let mut session = Session::begin();
    let row = work::call(&mut session, |session| pause::unpause(session, instance_id))?;
    result(Some(work::latest(&session, row)), false)
}

fn retry(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let activity_ids = call.texts("activity_ids")?;
    let on_fault = on_fault(call)?;
    let mut session = Session::begin();
    let retry = |session: &mut Session| resume::retry(session, instance_id, activity_ids.as_deref(), on_fault);
    let row = work::call(&mut session, retry)?;
    let row = work::latest(&session, row);
    result(Some(row), false)
}

fn delete(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let force = call.required("force")?;
    work::call(&mut Session::begin(), |session| deletion::delete(session, instance_id, force)).map(Returned::Boolean)
}

fn run_due(call: &Call) -> Result<Returned, PgError> {
    let max: i32 = call.required("max")?;
    let max = u64::try_from(max).map_err(|_| PgError::new("22023", "argument \"max\" must not be negative"))?;
    let fired = sweep::run_due(&mut Session::pass(), max)?;
    Ok(Returned::BigInt(fired.cast_signed()))
}

/// The engine's own state of an instance, in readable form.
fn state(call: &Call) -> Result<Returned, PgError> {
    let instance_id: Uuid = call.required("instance_id")?;
    let row = instances::get(instance_id).ok_or_else(|| resume::unknown(instance_id))?;
    let compiled = compiled::of_instance(&row)?;
    access::instance::require(Operation::Read, &row, &compiled)?;
    Ok(Returned::Json(shown(&row.instance, &compiled.program)))
}

/// Outputs by the id of their activity.
fn shown_outputs<'o>(
    program: &workflow_engine::Program,
    outputs: impl Iterator<Item = (&'o NodeIx, &'o Outputs)>,
) -> serde_json::Map<String, Value> {
    let named = |outputs: &Outputs| outputs.iter().map(|(name, value)| (name.clone(), json::copy(&value.0))).collect();
    outputs.map(|(node, outputs)| (program.node(*node).id.clone(), Value::Object(named(outputs)))).collect()
}

fn shown(instance: &Instance, program: &workflow_engine::Program) -> Value {
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
