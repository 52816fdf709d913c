//! `SetName`: names the instance.

use serde_json::Value;

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Sets the name of the instance, which lists show, or removes it.
#[derive(Debug)]
pub struct SetName;

inputs! {
    VALUE: String = InputDescriptor::new("value", "String", "The name; null removes it."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SetName",
    category: "Primitives",
    description: "Sets the name of the workflow instance.",
    inputs: INPUTS,
    example: r#"{"type": "SetName", "value": {"js": "'Order ' + getInput('number')"}}"#,
    ..Descriptor::BASE
};

impl Activity for SetName {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let name = if *cx.peek(VALUE) == Value::Null { None } else { Some(cx.get(VALUE)?) };
        cx.set_name(name);
        cx.complete()
    }
}
