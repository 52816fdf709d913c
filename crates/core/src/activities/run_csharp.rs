//! `RunCSharp`: C# that only returns a value; other code is rejected, because there is no .NET host here.

use crate::activities::foreign_script;
use crate::activity::{Activity, Descriptor, ForeignLanguage};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Outputs the value that the script returns.
#[derive(Debug)]
pub struct RunCSharp;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.RunCSharp",
    category: "Scripting",
    description: "Returns the value of a script in C#: a literal, a variable, an input, or a text with these inside. Any other script is rejected when the definition is stored.",
    inputs: &foreign_script::inputs(ForeignLanguage::CSharp),
    outputs: foreign_script::OUTPUTS,
    example: r#"{"type": "RunCSharp", "script": "return $\"Hello {Inputs.Name}\";", "result": {"var": "Decision"}}"#,
    ..Descriptor::BASE
};

impl Activity for RunCSharp {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        foreign_script::run(cx)
    }
}
