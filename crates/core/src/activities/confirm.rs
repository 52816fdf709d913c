//! `Confirm`: confirms completed work, so that it will not be compensated any more.

use crate::activities::compensate::unwind;
use crate::activity::handle::inputs;
use crate::activity::{Activity, CompensationRole, Descriptor, InputDescriptor};
use crate::execution::Execution;
use crate::instance::compensation::RecordAction;
use workflow_value::fault::Fault;

/// Runs the confirmations of completed activities.
#[derive(Debug)]
pub struct Confirm;

inputs! {
    TARGET: String = InputDescriptor::new("target", "String", "Id of a Compensable, to select its completed executions; without it all of the scope, or those inside the activity that is being confirmed."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.Confirm",
    category: "Flow",
    description: "Makes the completed work of the scope final, in the order of completion: afterwards it cannot be compensated.",
    inputs: INPUTS,
    compensation: CompensationRole::Unwinds,
    example: r#"{"type": "Confirm"}"#,
    ..Descriptor::BASE
};

impl Activity for Confirm {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        unwind(cx, RecordAction::Confirm, TARGET)
    }
}
