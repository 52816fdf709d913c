//! `Compensate`: compensates completed work, the latest first.

use crate::activity::handle::inputs;
use crate::activity::{Activity, CompensationRole, Descriptor, Input, InputDescriptor};
use crate::execution::Execution;
use crate::instance::compensation::RecordAction;
use workflow_value::fault::Fault;
use workflow_value::value::to_text;

/// Runs the compensations of completed activities.
#[derive(Debug)]
pub struct Compensate;

inputs! {
    TARGET: String = InputDescriptor::new("target", "String", "Id of a Compensable, to select its completed executions; without it all of the scope, or those inside the activity that is being compensated."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.Compensate",
    category: "Flow",
    description: "Compensates the completed work of the scope that was neither compensated nor confirmed, the latest first, and completes when that is done.",
    inputs: INPUTS,
    compensation: CompensationRole::Unwinds,
    example: r#"{"type": "Compensate"}"#,
    ..Descriptor::BASE
};

impl Activity for Compensate {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        unwind(cx, RecordAction::Compensate, TARGET)
    }
}

/// Runs the handlers of the records that an activity names.
pub(super) fn unwind(cx: &mut Execution<'_>, action: RecordAction, target: Input<String>) -> Result<(), Fault> {
    let target = cx.peek(target);
    let target = (!target.is_null()).then(|| to_text(target)).filter(|target| !target.is_empty());
    cx.unwind(action, target.as_deref())
}
