//! `Sequence`: runs its children one after the other.
//!
//! It ends after the last child, after a terminal child, or when a `Break` passed through it.

use crate::activity::{Activity, Descriptor, EndedBy, FlowRole};
use crate::execution::{Child, Execution, Outcomes, Signal};
use crate::node_ix::NodeIx;
use workflow_value::fault::Fault;

/// Runs its children in order.
#[derive(Debug)]
pub struct Sequence;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Sequence",
    category: "Workflows",
    description: "Runs activities one after the other.",
    children: Some("activities"),
    container: true,
    flow: FlowRole::Sequence,
    example: r#"{"type": "Sequence", "variables": {"Total": 0}, "activities": [{"type": "WriteLine", "text": "first"}, {"type": "WriteLine", "text": "second"}]}"#,
    ..Descriptor::BASE
};

impl Activity for Sequence {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn ended_by(&self) -> EndedBy {
        EndedBy::End
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        schedule_next(cx)
    }

    fn child_completed(&self, cx: &mut Execution<'_>, child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        if child.terminal || cx.is_breaking() { cx.complete() } else { schedule_next(cx) }
    }

    fn child_cancelled(&self, cx: &mut Execution<'_>, _child: &Child) -> Result<(), Fault> {
        // Another one was scheduled instead.
        if cx.has_pending_work() { Ok(()) } else { schedule_next(cx) }
    }

    /// The sequence continues from this child. Open children end.
    fn begin_child(&self, cx: &mut Execution<'_>, child: NodeIx) -> Result<(), Fault> {
        for open in cx.children() {
            cx.cancel_child(open.sequence);
        }
        let mut at = 0;
        for (index, other) in cx.node().children.iter().enumerate() {
            cx.unschedule(*other);
            at = if *other == child { index } else { at };
        }
        cx.set_position(at as i64 + 1);
        cx.schedule(child, 0, Vec::new())
    }

    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        if matches!(signal, Signal::Break) {
            cx.set_breaking();
        }
        Ok(false)
    }
}

fn schedule_next(cx: &mut Execution<'_>) -> Result<(), Fault> {
    let position = cx.position();
    let next = usize::try_from(position).ok().and_then(|index| cx.node().children.get(index));
    match next.copied() {
        None => cx.complete(),
        Some(child) => {
            cx.set_position(position + 1);
            cx.schedule(child, 0, Vec::new())
        }
    }
}
