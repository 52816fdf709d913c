//! Inputs and outputs of `RunCSharp` and `RunPython`: the reader of definitions has translated their script.

use crate::activity::handle::{inputs, outputs};
use crate::activity::{ForeignLanguage, InputDescriptor, OutputDescriptor};
use crate::execution::Execution;
use serde_json::Value;
use workflow_value::fault::Fault;

// The inputs of both activities. The burst computes the value of the script before the activity is called.
inputs! {
    pub(super) fn inputs(language: ForeignLanguage);
    SCRIPT: Value = InputDescriptor::new("script", "String", "The script, as text.").code(language).needed(),
    POSSIBLE_OUTCOMES: Value =
        InputDescriptor::new("possibleOutcomes", "ICollection<String>", "Outcomes that the designer shows.")
            .default("[]")
            .hint("dynamic-outcomes"),
}

// The outputs of both activities.
outputs! {
    RESULT = OutputDescriptor::new("result", "Object", "Return value of the script."),
}

/// Outputs the value of the script, which the burst evaluated as an input.
pub(super) fn run(cx: &mut Execution<'_>) -> Result<(), Fault> {
    let value = cx.take(SCRIPT);
    cx.set_output(RESULT, value)?;
    cx.complete()
}
