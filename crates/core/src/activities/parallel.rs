//! `Parallel`: runs all children at once, interleaved, and ends when every child has completed.

use crate::activity::{Activity, Descriptor};
use crate::execution::{Child, Execution, Outcomes};
use crate::node_ix::NodeIx;
use workflow_value::fault::Fault;

/// Runs its children in parallel, and completes when all have completed.
#[derive(Debug)]
pub struct Parallel;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Parallel",
    category: "Workflows",
    description: "Runs all activities in parallel and completes when every one has completed.",
    children: Some("activities"),
    container: true,
    example: r#"{"type": "Parallel", "activities": [{"type": "RunTask", "taskName": "check-stock"}, {"type": "RunTask", "taskName": "check-credit"}]}"#,
    ..Descriptor::BASE
};

impl Activity for Parallel {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let children = &cx.node().children;
        if children.is_empty() {
            return cx.complete();
        }
        // The position counts down completions. A faulted child does not count, so the activity stays open for its
        // retry.
        cx.set_position(children.len() as i64);
        for child in children {
            cx.schedule(*child, 0, Vec::new())?;
        }
        Ok(())
    }

    fn child_completed(&self, cx: &mut Execution<'_>, _child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        let remaining = cx.position() - 1;
        cx.set_position(remaining);
        if remaining <= 0 { cx.complete() } else { Ok(()) }
    }

    /// One more child has to complete.
    fn begin_child(&self, cx: &mut Execution<'_>, child: NodeIx) -> Result<(), Fault> {
        cx.set_position(cx.position() + 1);
        cx.schedule(child, 0, Vec::new())
    }
}
