//! Inputs and outputs of `RunCSharp` and `RunPython`: the reader of definitions has translated their script.

use crate::activity::{ForeignLanguage, Input, InputDescriptor, Output, OutputDescriptor};
use crate::execution::Execution;
use crate::fault::Fault;
use serde_json::Value;

/// The inputs of both activities.
pub(super) const fn inputs(language: ForeignLanguage) -> [InputDescriptor; 2] {
    [
        InputDescriptor::new("script", "String", "The script, as text.").code(language).needed(),
        InputDescriptor::new("possibleOutcomes", "ICollection<String>", "Outcomes that the designer shows.")
            .default("[]")
            .hint("dynamic-outcomes"),
    ]
}

/// The outputs of both activities.
pub(super) const OUTPUTS: &[OutputDescriptor] =
    &[OutputDescriptor::new("result", "Object", "What the script returns.")];

/// The only input of [`inputs`], whose value the burst computes before the activity is called.
const SCRIPT: Input<Value> = Input::at(0);

/// The only output of [`OUTPUTS`].
const RESULT: Output = Output(0);

/// Outputs the value of the script, which the burst evaluated as an input.
pub(super) fn run(cx: &mut Execution<'_>) -> Result<(), Fault> {
    let value = cx.take(SCRIPT);
    cx.set_output(RESULT, value)?;
    cx.complete()
}
