//! `WorkflowDefinitionActivity`: a workflow that another one uses as an activity.
//!
//! Its root executes inside the instance of the consumer. The inputs are evaluated in the scope of the consumer; inside
//! the inlined workflow they are variables. The activity ends with its root, or when a `Complete` inside it ends it.

use crate::activity::{Activity, CompensationRole, Descriptor, FurtherOutcomes, Port};
use crate::execution::{Execution, Signal};
use workflow_value::fault::Fault;

/// Runs another workflow as an activity.
#[derive(Debug)]
pub struct WorkflowDefinitionActivity;

/// Type name of the activity, unless it has the type name of its workflow.
pub const TYPE_NAME: &str = "Elsa.WorkflowDefinitionActivity";

/// The root of the inlined workflow.
const ROOT: Port = Port(0);

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: TYPE_NAME,
    category: "Workflows",
    description: "Runs another workflow inside this instance. Its inputs and outputs are members under their names; \
                  a workflow that is usable as an activity can be named by its type, too.",
    compensation: CompensationRole::Scope,
    example: r#"{"type": "WorkflowDefinitionActivity", "workflowDefinitionId": "add-numbers", "a": 4, "b": 5, "sum": {"output": "Total"}}"#,
    further_outcomes: FurtherOutcomes::Any,
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
