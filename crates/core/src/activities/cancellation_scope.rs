//! `CancellationScope`: has a handler for the cancellation of its body, and holds the compensable work in it.
//!
//! The burst runs `cancellation` in an execution of its own; this file does not.

use crate::activity::handle::ports;
use crate::activity::{Activity, CompensationRole, Descriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Runs its body, and a handler if the body is cancelled.
#[derive(Debug)]
pub struct CancellationScope;

ports! {
    BODY = "body",
    _CANCELLATION = "cancellation",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.CancellationScope",
    category: "Flow",
    description: "Runs its body. If the body is cancelled, by wf_cancel or by an activity around it, \"cancellation\" runs, and the completed work in it is compensated, the latest first.",
    ports: PORTS,
    compensation: CompensationRole::Scope,
    example: r#"{"type": "CancellationScope", "body": {"type": "RunTask", "taskName": "Check order"}, "cancellation": {"type": "WriteLine", "text": "the check is not needed any more"}}"#,
    ..Descriptor::BASE
};

impl Activity for CancellationScope {
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
