//! `If`: runs one of two branches, or none.

use serde_json::Value;

use crate::activity::handle::{inputs, outputs, ports};
use crate::activity::{Activity, Descriptor, EndedBy, InputDescriptor, OutputDescriptor};
use crate::execution::Execution;
use workflow_value::fault::Fault;

/// Chooses between two branches.
#[derive(Debug)]
pub struct If;

inputs! {
    CONDITION: bool = InputDescriptor::new("condition", "Boolean", "The condition.").default("false").needed(),
}

outputs! {
    RESULT = OutputDescriptor::new("result", "Boolean", "Value of the condition."),
}

ports! {
    THEN = "then",
    ELSE = "else",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.If",
    category: "Branching",
    description: "Evaluates a condition and runs the branch \"then\" or \"else\"; a missing branch is skipped.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    ports: PORTS,
    example: r#"{"type": "If", "condition": {"js": "getInput('days') > 5"}, "then": {"type": "RunTask", "taskName": "approve"}, "else": {"type": "WriteLine", "text": "approved"}}"#,
    ..Descriptor::BASE
};

impl Activity for If {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn ended_by(&self) -> EndedBy {
        EndedBy::NextAround
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let condition = cx.get(CONDITION)?;
        cx.set_output(RESULT, Value::Bool(condition))?;
        let branch = cx.port(if condition { THEN } else { ELSE });
        match branch {
            Some(branch) => cx.schedule(branch, 0, Vec::new()),
            None => cx.complete(),
        }
    }
}
