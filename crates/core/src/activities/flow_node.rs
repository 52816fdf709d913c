//! `FlowNode`: wraps any activity as a node of a flowchart.

use crate::activity::handle::ports;
use crate::activity::{Activity, Descriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Holds one activity, so that it can be a node of a flowchart.
#[derive(Debug)]
pub struct FlowNode;

ports! {
    BODY = "body",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.FlowNode",
    category: "Flow",
    description: "Wraps an activity for use in a flowchart.",
    ports: PORTS,
    example: r#"{"type": "FlowNode", "body": {"type": "WriteLine", "text": "inside"}}"#,
    ..Descriptor::BASE
};

impl Activity for FlowNode {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        match cx.port(BODY) {
            Some(body) => cx.schedule(body, 0, Vec::new()),
            None => cx.complete(),
        }
    }
}
