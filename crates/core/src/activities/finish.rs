//! `Finish`: ends the whole workflow from anywhere.

use crate::activity::{Activity, Descriptor, FlowRole};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Ends the whole instance immediately; waiting and scheduled activities are dropped.
#[derive(Debug)]
pub struct Finish;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Finish",
    category: "Primitives",
    description: "Finishes the workflow at once: everything that waits or is scheduled is cancelled.",
    terminal: true,
    flow: FlowRole::Exit,
    example: r#"{"type": "Finish"}"#,
    ..Descriptor::BASE
};

impl Activity for Finish {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        cx.finish_workflow();
        cx.complete()
    }
}
