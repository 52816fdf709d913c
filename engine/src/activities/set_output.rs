//! `SetOutput`: sets an output of the workflow, or of the workflow inside it that declares it.

use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::Execution;
use crate::fault::Fault;

/// Sets an output.
#[derive(Debug)]
pub struct SetOutput;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.SetOutput",
    description: "Sets an output of the workflow, converted to the type that the workflow declares for it. Inside a composite that declares the output, it is that one's.",
    inputs: &[
        InputDescriptor::new("outputName", "String", "Name of the output.").needed(),
        InputDescriptor::new("outputValue", "Object", "The value."),
    ],
    example: r#"{"type": "SetOutput", "outputName": "Decision", "outputValue": "approved"}"#,
    ..Descriptor::BASE
};

impl Activity for SetOutput {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let name = cx.required_text(0)?;
        let value = cx.take_input(1);
        cx.set_declared_output(&name, value)?;
        cx.complete()
    }
}
