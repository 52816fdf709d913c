//! `Composite`: a part of a workflow with a scope of its own.
//!
//! It ends with its root, or when a `Complete` inside it ends it.

use crate::activity::handle::{outputs, ports};
use crate::activity::{Activity, Descriptor, FurtherOutcomes, OutputDescriptor, Special};
use crate::execution::{Child, Execution, Outcomes, Signal};
use workflow_value::fault::Fault;

/// Runs its root; the activities inside see its variables.
#[derive(Debug)]
pub struct Composite;

/// Elsa's name of the type; a composite also stands for a workflow that is used as an activity.
pub const TYPE_NAME: &str = "Elsa.Composite";

outputs! {
    RESULT =
        OutputDescriptor::new("result", "Object", "The value of resultVariable at the end."),
}

ports! {
    ROOT = "root",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: TYPE_NAME,
    category: "Workflows",
    description: "Runs an activity as a unit with variables of its own: a Complete inside ends it, not the workflow, \
                  and its resultVariable is its result.",
    outputs: OUTPUTS,
    ports: PORTS,
    container: true,
    further_outcomes: FurtherOutcomes::Any,
    special: Special::Result,
    example: r#"{"type": "Composite", "variables": {"Sum": 0}, "resultVariable": "Sum", "root": {"type": "SetVariable", "variable": "Sum", "value": 5}, "result": {"output": "Total"}}"#,
    ..Descriptor::BASE
};

impl Activity for Composite {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        match cx.port(ROOT) {
            Some(root) => cx.schedule(root, 0, Vec::new()),
            None => end(cx, Outcomes::Done),
        }
    }

    fn child_completed(&self, cx: &mut Execution<'_>, _child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        end(cx, Outcomes::Done)
    }

    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        match signal {
            Signal::CompleteComposite(outcomes) => end(cx, outcomes.clone()).map(|()| true),
            Signal::Break | Signal::CancelInbound(_) => Ok(false),
        }
    }
}

fn end(cx: &mut Execution<'_>, outcomes: Outcomes) -> Result<(), Fault> {
    if let Some(name) = &cx.node().variable {
        let value = cx.variable_inside(name).unwrap_or_default();
        cx.set_output(RESULT, value)?;
    }
    cx.complete_with(outcomes)
}
