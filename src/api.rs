//! The SQL-callable functions: decode, call, encode. They are declared in `sql/functions`.

use serde_json::{Map, Value, json};
use workflow_engine::Bookmark;
use workflow_engine::value::kind_of;

use crate::access::{Operation, instance};
use crate::compiled;
use crate::pg::settings::FaultHandling;
use crate::pg::{Call, PgError, Returned, guc};
use crate::run::burst::OnFault;
use crate::store::events::matching;
use crate::store::instances::InstanceRow;
use crate::store::repair::incidents;

mod definitions;
mod events;
mod history;
mod http;
mod instances;
mod maintenance;
mod nodes;
mod permitted;
mod repair;
mod rights;
mod tasks;
mod timers;

/// The setting `workflow.on_fault`.
fn usual_on_fault() -> OnFault {
    match guc::on_fault() {
        FaultHandling::Store => OnFault::Store,
        FaultHandling::Raise => OnFault::Raise,
    }
}

/// Reads the argument `on_fault`; NULL means `workflow.on_fault`.
fn on_fault(call: &Call) -> Result<OnFault, PgError> {
    let Some(given) = call.arg::<String>("on_fault") else { return Ok(usual_on_fault()) };
    match given.as_str() {
        "store" => Ok(OnFault::Store),
        "raise" => Ok(OnFault::Raise),
        other => Err(PgError::new("22023", format!("on_fault must be \"store\" or \"raise\", not \"{other}\""))),
    }
}

/// Reads an argument that must be a JSON object.
fn object(call: &Call, name: &str) -> Result<Map<String, Value>, PgError> {
    match call.required(name)? {
        Value::Object(members) => Ok(members),
        other => Err(PgError::new("22023", format!("argument \"{name}\" must be a JSON object"))
            .detail(format!("It is {}.", kind_of(&other)))),
    }
}

/// The shortest and the longest wait, in microseconds.
const WAITS: std::ops::RangeInclusive<i128> = 0..=30 * 86_400_000_000;

/// Reads the argument `timeout`, in microseconds.
fn timeout(call: &Call) -> Result<i64, PgError> {
    let given = call.interval("timeout").map(|timeout| timeout.as_micros());
    let Some(timeout) = given else { return Err(PgError::new("22004", "argument \"timeout\" must not be NULL")) };
    let micros = i64::try_from(timeout).ok().filter(|_| WAITS.contains(&timeout));
    micros.ok_or_else(|| PgError::new("22023", "argument \"timeout\" must be between 0 and 30 days"))
}

/// The columns of a `wf_result`.
const RESULT: [&str; 7] = ["instance_id", "status", "sub_status", "output", "bookmarks", "incidents", "is_new"];

/// A `wf_result`, or NULL if no instance was found. `is_new`: whether this call created the instance. A caller that may
/// not read the instance gets the id and the statuses; its requester also gets its outputs and the codes and messages
/// of its incidents.
fn result(row: Option<InstanceRow>, is_new: bool) -> Result<Returned, PgError> {
    let Some(row) = row else { return Ok(Returned::Null) };
    let compiled = compiled::of_version(row.definition_version_id)?;
    let may_read = instance::allows(Operation::Read, &row, &compiled);
    let may_see = may_read || instance::allows(Operation::SeeOutcome, &row, &compiled);
    let InstanceRow { instance, open, .. } = row;
    let id = Returned::Uuid(instance.id);
    let status = Returned::Text(instance.sub_status.status().name().into());
    let sub_status = Returned::Text(instance.sub_status.name().into());
    if !may_see {
        let (output, open, faults) = (Returned::Null, Returned::Null, Returned::Null);
        return Ok(Returned::Row(vec![id, status, sub_status, output, open, faults, Returned::Boolean(is_new)]));
    }
    let faults = if instance.incident_count == 0 { Vec::new() } else { incidents::open(instance.id) };
    if !may_read {
        let faults = faults.iter().map(outcome_of).collect();
        let (output, faults) = (Returned::Object(instance.output), Returned::Json(Value::Array(faults)));
        return Ok(Returned::Row(vec![
            id,
            status,
            sub_status,
            output,
            Returned::Null,
            faults,
            Returned::Boolean(is_new),
        ]));
    }
    let open = match open {
        Some(bookmarks) => bookmarks.iter().map(bookmark_json).collect(),
        None if instance.state.bookmarks() == 0 => Vec::new(),
        None => matching::of_instance(instance.id).iter().map(|stored| bookmark_json(&stored.bookmark)).collect(),
    };
    Ok(Returned::Row(vec![
        id,
        status,
        sub_status,
        Returned::Object(instance.output),
        Returned::Json(Value::Array(open)),
        Returned::Json(Value::Array(faults)),
        Returned::Boolean(is_new),
    ]))
}

/// The part of an incident that the requester of the instance may see.
fn outcome_of(incident: &Value) -> Value {
    json!({ "sqlstate": incident["sqlstate"], "code": incident["code"], "message": incident["message"] })
}

fn bookmark_json(bookmark: &Bookmark) -> Value {
    json!({
        "id": bookmark.id,
        "name": bookmark.name,
        "activity_id": bookmark.activity_id,
        "payload": bookmark.payload,
    })
}

/// The value, with JSON null as `None`.
pub fn not_null(value: Option<Value>) -> Option<Value> {
    value.filter(|value| !value.is_null())
}
