//! `SetOutput`: sets an output of the nearest composite that declares it, or else of the workflow.

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor, NonEmpty};
use crate::execution::Execution;
use serde_json::Value;
use workflow_value::fault::Fault;

/// Sets an output of the workflow, or of the enclosing composite that declares it.
#[derive(Debug)]
pub struct SetOutput;

inputs! {
    OUTPUT_NAME: NonEmpty = InputDescriptor::new("outputName", "String", "Name of the output.").needed(),
    OUTPUT_VALUE: Value = InputDescriptor::new("outputValue", "Object", "The value."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SetOutput",
    category: "Composition",
    description: "Sets an output of the workflow, converted to the type that the workflow declares for it. Inside a composite that declares the output, it sets the output of the composite.",
    inputs: INPUTS,
    example: r#"{"type": "SetOutput", "outputName": "Decision", "outputValue": "approved"}"#,
    ..Descriptor::BASE
};

impl Activity for SetOutput {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let name = cx.get(OUTPUT_NAME)?;
        let value = cx.take(OUTPUT_VALUE);
        cx.set_declared_output(&name, value)?;
        cx.complete()
    }
}
