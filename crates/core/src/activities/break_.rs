//! `Break`: leaves the nearest loop.

use crate::activity::{Activity, Descriptor, FlowRole};
use crate::execution::{Execution, Signal};
use workflow_value::fault::Fault;

/// Leaves the nearest enclosing loop; without one, it ends the enclosing sequences.
#[derive(Debug)]
pub struct Break;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Break",
    category: "Looping",
    description: "Leaves the nearest For, ForEach or While. Without a loop around it, it ends the enclosing sequences.",
    terminal: true,
    flow: FlowRole::Break,
    example: r#"{"type": "Break"}"#,
    ..Descriptor::BASE
};

impl Activity for Break {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        cx.signal(&Signal::Break)?;
        cx.complete()
    }
}
