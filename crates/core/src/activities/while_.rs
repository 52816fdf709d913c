//! `While`: runs a body as long as a condition holds.

use crate::activity::handle::{inputs, ports};
use crate::activity::{Activity, Descriptor, FlowRole, InputDescriptor};
use crate::execution::{Child, Execution, Outcomes, Signal};
use workflow_value::fault::Fault;

/// Repeats its body while a condition holds.
#[derive(Debug)]
pub struct While;

inputs! {
    CONDITION: bool = InputDescriptor::new("condition", "Boolean", "Evaluated before each round.")
        .default("false")
        .needed()
        .on_demand(),
}

ports! {
    BODY = "body",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.While",
    category: "Looping",
    description: "Evaluates a condition before each round and runs the body while it is true. Break leaves the loop.",
    inputs: INPUTS,
    ports: PORTS,
    flow: FlowRole::Loop("True"),
    example: r#"{"type": "While", "condition": {"js": "getVariable('Tries') < 3"}, "body": {"type": "SetVariable", "variable": "Tries", "value": {"js": "getVariable('Tries') + 1"}}}"#,
    ..Descriptor::BASE
};

impl Activity for While {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        next_round(cx)
    }

    fn child_completed(&self, cx: &mut Execution<'_>, _child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        if cx.is_breaking() { cx.complete() } else { next_round(cx) }
    }

    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        Ok(cx.break_here(signal))
    }
}

fn next_round(cx: &mut Execution<'_>) -> Result<(), Fault> {
    let holds = cx.evaluate_boolean(CONDITION)?;
    match cx.port(BODY) {
        Some(body) if holds => cx.schedule(body, 0, Vec::new()),
        // Without a body, no activity of this workflow could make the condition false.
        _ => cx.complete(),
    }
}
