//! `End`: ends the enclosing sequence or flowchart.

use crate::activity::{Activity, Descriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Ends the enclosing sequence or flowchart; the workflow continues after it.
#[derive(Debug)]
pub struct End;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.End",
    category: "Flow",
    description: "Ends the enclosing sequence or flowchart; the workflow continues after it.",
    terminal: true,
    example: r#"{"type": "End"}"#,
    ..Descriptor::BASE
};

impl Activity for End {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        cx.end_container();
        cx.complete()
    }
}
