//! `SetVariable`: assigns a value to the nearest variable with a name.

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor, Special};
use crate::execution::Execution;
use serde_json::Value;
use workflow_value::fault::Fault;

/// Assigns a value to a variable of the nearest scope that has it.
#[derive(Debug)]
pub struct SetVariable;

inputs! {
    VALUE: Value = InputDescriptor::new("value", "Object", "The value to assign."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SetVariable",
    category: "Primitives",
    description: "Assigns a value to the variable that the property \"variable\" names; the nearest scope wins. The value is converted to the type of the variable.",
    inputs: INPUTS,
    special: Special::Variable,
    example: r#"{"type": "SetVariable", "variable": "Total", "value": {"js": "getVariable('Total') + 1"}}"#,
    ..Descriptor::BASE
};

impl Activity for SetVariable {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let node = cx.node();
        let Some(name) = node.variable.as_deref() else {
            return Err(
                Fault::new("22004", "no variable is given").hint("Set the property \"variable\" of the activity.")
            );
        };
        let value = cx.take(VALUE);
        cx.assign(name, value)?;
        cx.complete()
    }
}
