//! `RunJavaScript`: runs a script for its effects, its result and its outcomes.
//!
//! The script is part of the definition: text computed at run time is never executed.

use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, FurtherOutcomes, InputDescriptor, OutputDescriptor};
use crate::execution::Execution;
use serde_json::Value;
use workflow_expression::ExpressionKind;
use workflow_value::fault::Fault;

/// Runs a script, whose value is its result and which can set its outcomes.
#[derive(Debug)]
pub struct RunJavaScript;

inputs! {
    SCRIPT: Value = InputDescriptor::new("script", "String", "The script.").script().needed(),
    POSSIBLE_OUTCOMES: Value =
        InputDescriptor::new("possibleOutcomes", "ICollection<String>", "The outcomes that a designer offers.")
            .on_demand()
            .hint("dynamic-outcomes"),
}

outputs! {
    RESULT =
        OutputDescriptor::new("result", "Object", "The value of the script, unless it is null."),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.RunJavaScript",
    category: "Scripting",
    description: "Runs a script. setOutcome('x') or setOutcomes(['x', 'y']) in it set the outcomes of the activity; otherwise the outcome is Done.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    outcomes: &["Done"],
    further_outcomes: FurtherOutcomes::Any,
    example: r#"{"type": "RunJavaScript", "script": "setOutcome(getInput('days') > 5 ? 'Long' : 'Short')", "possibleOutcomes": ["Long", "Short"]}"#,
    ..Descriptor::BASE
};

impl Activity for RunJavaScript {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let script = cx.node().inputs.first().and_then(Option::as_ref);
        let Some(ExpressionKind::JavaScript(source)) = script.map(|script| &script.kind) else {
            return cx.complete();
        };
        let (result, outcomes) = cx.run_script(source)?;
        if !result.is_null() {
            cx.set_output(RESULT, result)?;
        }
        cx.complete_with(outcomes)
    }
}
