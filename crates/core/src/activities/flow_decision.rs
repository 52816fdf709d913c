//! `FlowDecision`: evaluates a condition inside a flowchart.

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::{Execution, Outcomes};
use workflow_value::fault::Fault;

/// Chooses between two connections.
#[derive(Debug)]
pub struct FlowDecision;

inputs! {
    CONDITION: bool = InputDescriptor::new("condition", "Boolean", "The condition.").default("false").needed(),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.FlowDecision",
    category: "Branching",
    description: "Evaluates a condition and completes with the outcome True or False.",
    inputs: INPUTS,
    outcomes: &["True", "False"],
    example: r#"{"type": "FlowDecision", "condition": {"js": "getInput('days') > 5"}}"#,
    ..Descriptor::BASE
};

impl Activity for FlowDecision {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let outcome = if cx.get(CONDITION)? { "True" } else { "False" };
        cx.complete_with(Outcomes::Named(vec![outcome.to_owned()]))
    }
}
