//! `WorkflowDefinitionActivity`: a definition used inside another.
//!
//! Its root executes inside the instance of the workflow that uses it. The inputs are evaluated where the activity
//! stands; inside they are variables. It ends with its root, or when a `Complete` inside it asks for its end.

use crate::activity::{Activity, Descriptor, Port};
use crate::execution::{Execution, Signal};
use crate::fault::Fault;

/// Runs another workflow as an activity.
#[derive(Debug)]
pub struct WorkflowDefinitionActivity;

/// Its type name, where an activity does not have that of the workflow.
pub const TYPE_NAME: &str = "Elsa.WorkflowDefinitionActivity";

/// Where the workflow that is used begins.
const ROOT: Port = Port(0);

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: TYPE_NAME,
    description: "Runs another workflow inside this instance. Its inputs and outputs are members under their names; \
                  a workflow that is usable as an activity can be named by its type, too.",
    example: r#"{"type": "WorkflowDefinitionActivity", "workflowDefinitionId": "add-numbers", "a": 4, "b": 5, "sum": {"output": "Total"}}"#,
    ..Descriptor::BASE
};

impl Activity for WorkflowDefinitionActivity {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        cx.pass_inputs()?;
        match cx.port(ROOT) {
            Some(root) => cx.schedule(root, 0, Vec::new()),
            None => cx.complete(),
        }
    }

    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        match signal {
            Signal::CompleteComposite(outcomes) => cx.complete_with(outcomes.clone()).map(|()| true),
            Signal::Break | Signal::CancelInbound(_) => Ok(false),
        }
    }
}
