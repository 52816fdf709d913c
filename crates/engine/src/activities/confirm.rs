//! `Confirm`: says that what has completed is to stay for good.

use crate::activities::compensate::unwind;
use crate::activity::handle::inputs;
use crate::activity::{Activity, CompensationRole, Descriptor, InputDescriptor};
use crate::execution::Execution;
use crate::fault::Fault;
use crate::instance::compensation::RecordAction;

/// Runs the confirmations of completed activities.
#[derive(Debug)]
pub struct Confirm;

inputs! {
    TARGET: String = InputDescriptor::new("target", "String", "Id of the Compensable whose completed executions are meant; without it all of the scope, or those inside the activity that is being confirmed."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.Confirm",
    category: "Flow",
    description: "Confirms what has completed in the scope and was not compensated, in the order of completion: from then on it cannot be compensated.",
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
