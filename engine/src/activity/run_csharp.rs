//! `RunCSharp`: code of Elsa's host, as far as it only returns a value.

use crate::activity::{Activity, Descriptor, InputDescriptor, OutputDescriptor};
use crate::definition::HostLanguage;
use crate::execution::Execution;
use crate::fault::Fault;

/// Gives the value that a script returns.
#[derive(Debug)]
pub struct RunCSharp;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.RunCSharp",
    description: "Gives what a script in C# returns: a literal, a variable, an input, or a text with these inside. Any other script is refused when the definition is stored.",
    inputs: &[
        InputDescriptor::new("script", "String", "The script, as text.").code(HostLanguage::CSharp),
        InputDescriptor::new("possibleOutcomes", "ICollection<String>", "Outcomes that the designer shows.")
            .default("[]"),
    ],
    outputs: &[OutputDescriptor::new("result", "Object", "What the script returns.")],
    example: r#"{"type": "RunCSharp", "script": "return $\"Hello {Inputs.Name}\";", "result": {"var": "Decision"}}"#,
    ..Descriptor::BASE
};

impl Activity for RunCSharp {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let value = cx.take_input(0);
        cx.set_output(0, value)?;
        cx.complete()
    }
}
