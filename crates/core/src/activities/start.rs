//! `Start`: marks the start of a flowchart and does nothing.

use crate::activity::{Activity, Descriptor, FlowRole};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Marks where a flowchart starts.
#[derive(Debug)]
pub struct Start;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Start",
    category: "Flow",
    description: "Marks where a flowchart starts.",
    flow: FlowRole::Start,
    example: r#"{"type": "Start"}"#,
    ..Descriptor::BASE
};

impl Activity for Start {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        cx.complete()
    }
}
