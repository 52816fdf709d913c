//! `Flowchart`: activities joined by connections, in Elsa's counter-based or token-based mode.
//!
//! The graph contains the connections. In counter mode the scope counts visits, and the counters determine what runs
//! next. In token mode the scope contains tokens, and the merge modes of activities decide. The flowchart ends with a
//! terminal child, or when none of its activities is running or scheduled.

use serde_json::json;

use crate::activity::{Activity, Descriptor, EndedBy, Special};
use crate::execution::{Child, Execution, Outcomes, Signal};
use crate::instance::{FlowScope, Memory, TokenScope};
use crate::journal::EventKind;
use workflow_value::fault::Fault;

pub mod counters;
mod merge;
pub mod tokens;

use crate::node_ix::NodeIx;
use crate::program::{FlowGraph, FlowMode};
use counters::FlowWalk;
use tokens::TokenWalk;

/// Tag of a child that a backward connection scheduled; the walk does not count its visit again.
pub(crate) const BACKWARD: u32 = 1;

/// Runs a graph of activities.
#[derive(Debug)]
pub struct Flowchart;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Flowchart",
    category: "Flow",
    description: "Runs activities along connections, each of which follows an outcome. An activity with several inbound connections waits until each was followed or can no longer be followed.",
    children: Some("activities"),
    container: true,
    special: Special::Connections,
    example: r#"{"type": "Flowchart", "activities": [{"id": "long", "type": "FlowDecision", "condition": {"js": "getInput('days') > 5"}}, {"id": "ask", "type": "RunTask", "taskName": "approve"}, {"id": "done", "type": "WriteLine", "text": "approved"}], "connections": [["long", "True", "ask"], ["long", "False", "done"], ["ask", "done"]]}"#,
    ..Descriptor::BASE
};

impl Activity for Flowchart {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn ended_by(&self) -> EndedBy {
        EndedBy::End
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let Some(graph) = cx.node().flow.as_deref() else {
            return cx.complete();
        };
        let Some(start) = start_of(cx, graph) else {
            return cx.complete();
        };
        cx.set_memory(match graph.mode() {
            FlowMode::Counter => Memory::Flow(Box::new(FlowScope::new(start))),
            FlowMode::Token => Memory::Tokens(Box::new(TokenScope::new(start))),
        });
        cx.schedule(graph.activity(start), 0, Vec::new())
    }

    fn child_completed(&self, cx: &mut Execution<'_>, child: &Child, outcomes: &Outcomes) -> Result<(), Fault> {
        if child.terminal || cx.is_breaking() {
            return cx.complete();
        }
        let scheduled = match uses_tokens(cx) {
            true => TokenWalk::begin(cx)?.completed(cx, child, outcomes)?,
            false => FlowWalk::begin(cx)?.completed(cx, child, outcomes)?,
        };
        if scheduled { Ok(()) } else { complete_if_idle(cx) }
    }

    fn child_cancelled(&self, cx: &mut Execution<'_>, child: &Child) -> Result<(), Fault> {
        let scheduled = match uses_tokens(cx) {
            true => TokenWalk::begin(cx)?.cancelled(cx, child.node)?,
            false => FlowWalk::begin(cx)?.cancelled(cx, &[child.node])?,
        };
        if scheduled { Ok(()) } else { complete_if_idle(cx) }
    }

    fn child_dropped(&self, cx: &mut Execution<'_>, _child: &Child) -> Result<(), Fault> {
        let scheduled = match uses_tokens(cx) {
            true => TokenWalk::begin(cx)?.recheck(cx)?,
            false => FlowWalk::begin(cx)?.recheck(cx)?,
        };
        if scheduled { Ok(()) } else { complete_if_idle(cx) }
    }

    /// It counts as reached by a backward connection: later arrivals at it do not lose a visit, nor the join that the
    /// visit allows.
    fn begin_child(&self, cx: &mut Execution<'_>, child: NodeIx) -> Result<(), Fault> {
        match uses_tokens(cx) {
            true => TokenWalk::begin(cx)?.begin_child(cx, child),
            false => FlowWalk::begin(cx)?.begin_child(cx, child),
        }
    }

    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        let Signal::CancelInbound(join) = signal else {
            return Ok(false);
        };
        // In token mode the race was decided when the join was scheduled.
        if cx.program().node(*join).parent == Some(cx.node_index()) && !uses_tokens(cx) {
            let mut walk = FlowWalk::begin(cx)?;
            walk.cancel_inbound(cx, *join)?;
        }
        Ok(true)
    }
}

/// Whether this run of the flowchart is in token mode.
fn uses_tokens(cx: &Execution<'_>) -> bool {
    matches!(cx.memory(), Memory::Tokens(_))
}

/// The start activity in Elsa's order: the trigger of this run, a `Start`, a trigger, a node without inbound
/// connections, the first node.
fn start_of(cx: &Execution<'_>, graph: &FlowGraph) -> Option<u32> {
    let trigger: Option<NodeIx> = cx.trigger();
    trigger.and_then(|trigger| graph.position(trigger)).or_else(|| graph.default_start())
}

fn complete_if_idle(cx: &mut Execution<'_>) -> Result<(), Fault> {
    // A faulted child counts as open: the flowchart continues with its retry.
    if cx.has_pending_work() {
        return Ok(());
    }
    let left = match uses_tokens(cx) {
        true => TokenWalk::begin(cx)?.left_waiting(cx)?,
        false => FlowWalk::begin(cx)?.left_waiting(cx)?,
    };
    for LeftWaiting { node, reached, inbound } in left {
        let id = cx.program().node(node).id.clone();
        cx.warn(&format!("activity \"{id}\" does not run: {reached} of its {inbound} connections were followed"));
        let data = json!({"activity_id": id, "followed": reached, "connections": inbound});
        cx.journal(EventKind::LeftWaiting, Some(data));
    }
    cx.complete()
}

/// An activity that some of its connections have reached, and that waits for others in vain.
struct LeftWaiting {
    node: NodeIx,
    /// Number of its connections that were followed since it last ran.
    reached: usize,
    /// Number of those that it waits for.
    inbound: usize,
}
