//! `Try`: runs a body, and handles faults below it.
//!
//! The tag of a child encodes its role. A fault that no catch handles is kept in memory until `finally` has run; then
//! the activity itself faults with it.

use serde_json::{Value, json};

use crate::activity::handle::ports;
use crate::activity::{Activity, Descriptor, EndedBy, PartCondition, PartList};
use crate::execution::{Child, Execution, Faulted, Outcomes};
use crate::instance::Memory;
use crate::journal::EventKind;
use crate::program::Part;
use workflow_value::fault::Fault;
use workflow_value::value::Json;

/// Runs a body, handles its faults by the catches, and runs `finally` afterwards in any case.
#[derive(Debug)]
pub struct Try;

ports! {
    BODY = "body",
    FINALLY = "finally",
}

/// The tags of its children, which encode the current phase.
const IN_BODY: u32 = 0;
const IN_CATCH: u32 = 1;
const IN_FINALLY: u32 = 2;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.Try",
    category: "Flow",
    description: "Runs its body. A fault in the body cancels what is open there, and the first matching catch runs; one without \"on\" matches every fault. \"finally\" runs in any case, also before a fault that no catch matches is raised again.",
    ports: PORTS,
    parts: &[PartList {
        name: "catch",
        one: "catch",
        texts: &[],
        ports: &["body"],
        condition: PartCondition::None,
        short: false,
        numbered: false,
        catches: true,
        hint: Some("code-editor"),
    }],
    example: r#"{"type": "Try", "body": {"type": "Sql", "statement": "INSERT INTO payments VALUES (1, 10)"}, "catch": [{"on": ["23505"], "body": {"type": "WriteLine", "text": "it was paid before"}}], "finally": {"type": "WriteLine", "text": "the order is closed"}}"#,
    ..Descriptor::BASE
};

impl Activity for Try {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn ended_by(&self) -> EndedBy {
        EndedBy::NextAround
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        match cx.port(BODY) {
            Some(body) => cx.schedule(body, IN_BODY, Vec::new()),
            None => finish(cx),
        }
    }

    fn child_completed(&self, cx: &mut Execution<'_>, child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        if child.tag != IN_FINALLY {
            return finish(cx);
        }
        match cx.memory() {
            Memory::Json(fault) => Err(read(&fault.0)),
            _ => cx.complete(),
        }
    }

    fn child_faulted(&self, cx: &mut Execution<'_>, child: &Child, faulted: &Faulted<'_>) -> Result<bool, Fault> {
        if child.tag == IN_FINALLY {
            return Ok(false);
        }
        let catch = cx.node().part_list(0).iter().find(|catch| child.tag == IN_BODY && catch.takes(faulted.fault));
        if let Some(catch) = catch {
            caught(cx, catch, faulted)?;
            return Ok(true);
        }
        let Some(finally) = cx.port(FINALLY) else { return Ok(false) };
        cx.set_memory(Memory::Json(Json(written(faulted.fault))));
        cx.schedule(finally, IN_FINALLY, Vec::new())?;
        Ok(true)
    }
}

/// Continues with `finally`, or ends.
fn finish(cx: &mut Execution<'_>) -> Result<(), Fault> {
    match cx.port(FINALLY) {
        Some(finally) => cx.schedule(finally, IN_FINALLY, Vec::new()),
        None => cx.complete(),
    }
}

/// Runs the body of a catch, which may be empty.
fn caught(cx: &mut Execution<'_>, catch: &Part, faulted: &Faulted<'_>) -> Result<(), Fault> {
    if let Some(variable) = &catch.variable {
        cx.assign(variable, fault_value(faulted))?;
    }
    let Faulted { fault, activity_id, .. } = faulted;
    let data = json!({"sqlstate": fault.sqlstate, "message": fault.message, "activity_id": activity_id});
    cx.journal(EventKind::Caught, Some(data));
    match catch.port(0) {
        Some(body) => cx.schedule(body, IN_CATCH, Vec::new()),
        None => finish(cx),
    }
}

/// The value for the variable of a catch.
fn fault_value(faulted: &Faulted<'_>) -> Value {
    let Faulted { fault, activity_id, attempts } = faulted;
    json!({
        "code": fault.code, "sqlstate": fault.sqlstate, "message": fault.message, "detail": fault.detail,
        "activityId": activity_id, "attempts": attempts,
    })
}

/// A fault in the form stored in the memory.
fn written(fault: &Fault) -> Value {
    let Fault { sqlstate, message, detail, hint, context, code, original: _ } = fault;
    json!({
        "code": code, "sqlstate": sqlstate, "message": message, "detail": detail, "hint": hint, "context": context,
    })
}

fn read(kept: &Value) -> Fault {
    let text = |name: &str| kept[name].as_str().map(str::to_owned);
    Fault {
        sqlstate: text("sqlstate").unwrap_or_default(),
        message: text("message").unwrap_or_default(),
        detail: text("detail"),
        hint: text("hint"),
        context: text("context"),
        code: text("code"),
        original: None,
    }
}
