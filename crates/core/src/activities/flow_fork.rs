//! `FlowFork`: follows several connections of a flowchart at once.

use serde_json::Value;

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, FlowRole, FurtherOutcomes, InputDescriptor};
use crate::execution::{Execution, Outcomes};
use workflow_value::fault::Fault;

/// Follows several connections.
#[derive(Debug)]
pub struct FlowFork;

inputs! {
    BRANCHES: Vec<String> = InputDescriptor::new(
        "branches",
        "ICollection<String>",
        "Names of the branches, which are the outcomes; without any the outcome is Done.",
    )
    .hint("dynamic-outcomes"),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.FlowFork",
    category: "Branching",
    description: "Completes in a flowchart with several outcomes at once, one per branch.",
    inputs: INPUTS,
    outcomes: &["Done"],
    further_outcomes: FurtherOutcomes::Listed("branches"),
    flow: FlowRole::Fork,
    example: r#"{"type": "FlowFork", "branches": ["Stock", "Credit"]}"#,
    ..Descriptor::BASE
};

impl Activity for FlowFork {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let branches = if *cx.peek(BRANCHES) == Value::Null { Vec::new() } else { cx.get(BRANCHES)? };
        if branches.is_empty() {
            return cx.complete();
        }
        cx.complete_with(Outcomes::Named(branches))
    }
}
