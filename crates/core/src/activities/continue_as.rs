//! `ContinueAs`: ends the instance, and starts a new one in its place.

use serde_json::Value;

use crate::activities::child;
use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, FlowRole, InputDescriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Ends the instance, and starts a new one in its place.
#[derive(Debug)]
pub struct ContinueAs;

inputs! {
    INPUT: Value = InputDescriptor::new("input", "ObjectDictionary", "Input of the new instance, an object."),
    DEFINITION: String = InputDescriptor::new("definitionId", "String", "Definition of the new instance, in its published version; without it the same definition.")
        .hint("workflow-definition-picker"),
    CONFIRM: bool = InputDescriptor::new("confirm", "Boolean", "Whether to confirm work that could still be compensated; otherwise the activity faults.").default("false"),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Workflow.ContinueAs",
    category: "Primitives",
    description: "Finishes the instance and starts a new one with new input in its place, in the same transaction: with its name, correlation id, owner and parent, and with the events that were stored for it.",
    inputs: INPUTS,
    terminal: true,
    flow: FlowRole::Exit,
    example: r#"{"type": "ContinueAs", "input": {"js": "({total: getTotal()})"}}"#,
    acts_for_owner: true,
    ..Descriptor::BASE
};

impl Activity for ContinueAs {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let definition_id = Some(cx.get(DEFINITION)?).filter(|id| !id.is_empty());
        let confirm = cx.get(CONFIRM)?;
        let input = child::object(cx.take(INPUT))?;
        cx.continue_as(definition_id, input, confirm)?;
        cx.complete()
    }
}
