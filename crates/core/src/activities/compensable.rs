//! `Compensable`: work that can be compensated after it has completed.
//!
//! Its handlers run in executions of their own, when the work is compensated, confirmed or interrupted; the burst calls
//! them, this file does not.

use crate::activity::handle::ports;
use crate::activity::{Activity, CompensationRole, Descriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Runs its body, and leaves a record for compensating it.
#[derive(Debug)]
pub struct Compensable;

ports! {
    BODY = "body",
    _COMPENSATION = "compensation",
    _CONFIRMATION = "confirmation",
    _CANCELLATION = "cancellation",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.Compensable",
    category: "Flow",
    description: "Runs its body. After the body has completed, \"compensation\" undoes it on request or when its scope is cancelled, and \"confirmation\" runs when it becomes final, at the latest when the workflow finishes. \"cancellation\" runs if the body is interrupted.",
    ports: PORTS,
    compensation: CompensationRole::Compensable,
    example: r#"{"type": "Compensable", "body": {"type": "Sql", "statement": "UPDATE seats SET taken = true WHERE id = 1"}, "compensation": {"type": "Sql", "statement": "UPDATE seats SET taken = false WHERE id = 1"}}"#,
    ..Descriptor::BASE
};

impl Activity for Compensable {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        if cx.is_in_handler() {
            return Err(Fault::new("0A000", "a Compensable cannot run inside a handler"));
        }
        match cx.port(BODY) {
            Some(body) => cx.schedule(body, 0, Vec::new()),
            None => cx.complete(),
        }
    }
}
