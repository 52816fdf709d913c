//! `FlowNode`: any activity as a node of a flowchart.

use crate::activity::{Activity, Descriptor};
use crate::execution::Execution;
use crate::fault::Fault;

/// Wraps an activity.
#[derive(Debug)]
pub struct FlowNode;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.FlowNode",
    description: "Wraps an activity so that it can stand in a flowchart.",
    ports: &["body"],
    example: r#"{"type": "FlowNode", "body": {"type": "WriteLine", "text": "inside"}}"#,
    ..Descriptor::BASE
};

impl Activity for FlowNode {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        match cx.port(0) {
            Some(body) => cx.schedule(body, 0, Vec::new()),
            None => cx.complete(),
        }
    }
}
