//! `FlowFork`: several connections of a flowchart at once.

use serde_json::Value;

use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::{Execution, Outcomes};
use crate::fault::Fault;

/// Follows several connections.
#[derive(Debug)]
pub struct FlowFork;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.FlowFork",
    description: "Leaves a flowchart's node with several outcomes at once, one per branch.",
    inputs: &[InputDescriptor::new(
        "branches",
        "ICollection<String>",
        "Names of the branches, which are the outcomes; without any the outcome is Done.",
    )],
    outcomes: &["Done"],
    example: r#"{"type": "FlowFork", "branches": ["Stock", "Credit"]}"#,
    ..Descriptor::BASE
};

impl Activity for FlowFork {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let branches = if *cx.input(0) == Value::Null { Vec::new() } else { cx.texts(0)? };
        if branches.is_empty() {
            return cx.complete();
        }
        cx.complete_with(Outcomes::Named(branches))
    }
}
