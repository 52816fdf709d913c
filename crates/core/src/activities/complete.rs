//! `Complete`: ends the nearest composite, or the workflow if there is none.
//!
//! Outer composites and the workflow continue.

use serde_json::Value;

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, FlowRole, InputDescriptor};
use crate::execution::{Execution, Outcomes, Signal};
use workflow_value::fault::Fault;

/// Completes a composite with outcomes.
#[derive(Debug)]
pub struct Complete;

inputs! {
    OUTCOMES: Vec<String> =
        InputDescriptor::new("outcomes", "Object", "One outcome, or a list of outcomes.").default(r#""Done""#),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Complete",
    category: "Composition",
    description: "Completes the workflow at once. Inside a composite or a workflow used as an activity it completes that one, with outcomes that a flowchart around it follows.",
    inputs: INPUTS,
    terminal: true,
    flow: FlowRole::Exit,
    example: r#"{"type": "Complete", "outcomes": ["Approved"]}"#,
    ..Descriptor::BASE
};

impl Activity for Complete {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let outcomes = match cx.peek(OUTCOMES) {
            Value::Null => Outcomes::Done,
            Value::String(name) => Outcomes::Named(vec![name.clone()]),
            Value::Array(_) => Outcomes::Named(cx.get(OUTCOMES)?),
            _ => {
                return Err(Fault::new("22023", "outcomes must be a string or a list of strings"));
            }
        };
        cx.signal(&Signal::CompleteComposite(outcomes.clone()))?;
        cx.complete_with(outcomes)
    }
}
