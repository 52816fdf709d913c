//! `WriteLine`: writes a line of text into the journal and passes it to the host.

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Writes a line to the journal, and to the host.
#[derive(Debug)]
pub struct WriteLine;

inputs! {
    TEXT: String = InputDescriptor::new("text", "String", "The text."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.WriteLine",
    category: "Console",
    description: "Writes a line of text to the journal of the instance.",
    inputs: INPUTS,
    example: r#"{"type": "WriteLine", "text": {"js": "`Hello ${getInput('name')}`"}}"#,
    ..Descriptor::BASE
};

impl Activity for WriteLine {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let text = cx.get(TEXT)?;
        cx.write_line(text);
        cx.complete()
    }
}
