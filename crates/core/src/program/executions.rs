//! Reconstructs the executions of a run from its journal.

use std::collections::{BTreeSet, HashMap};

use crate::activity::short_name;
use crate::journal::{Event, EventKind};
use crate::node_ix::NodeIx;
use crate::program::Program;

/// Follows the events of a journal, and determines the activity and the parent execution of each.
///
/// Events name activities by id, and some by node id as well. A run that was migrated to another version has events of
/// activities that this version may not have.
#[derive(Debug)]
pub struct ExecutionTracker<'p> {
    program: &'p Program,
    by_id: HashMap<&'p str, Vec<NodeIx>>,
    /// The activities of the executions that have started and not ended.
    nodes: HashMap<u32, NodeIx>,
    /// These executions by activity.
    open: HashMap<NodeIx, BTreeSet<u32>>,
}

/// The execution that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The activity in this program, even if another version of the definition wrote the event.
    pub node: NodeIx,
    /// Whether its execution starts with this event.
    pub is_new: bool,
    /// The parent execution, if known.
    pub parent: Option<u32>,
}

impl<'p> ExecutionTracker<'p> {
    /// The state before the first event.
    pub fn new(program: &'p Program) -> Self {
        let mut by_id: HashMap<&str, Vec<NodeIx>> = HashMap::new();
        for (ix, node) in (0u32..).zip(&program.nodes) {
            by_id.entry(&node.id).or_default().push(NodeIx(ix));
        }
        Self { program, by_id, nodes: HashMap::new(), open: HashMap::new() }
    }

    /// Processes the next event. `None`: it concerns no execution, or its activity is unknown.
    pub fn next(&mut self, event: &Event) -> Option<Subject> {
        let execution = event.execution?;
        let known = self.nodes.get(&execution).copied();
        let node = known.or_else(|| self.node_of(event))?;
        let ends = matches!(event.kind, EventKind::Completed | EventKind::Canceled);
        let is_new = known.is_none() && begins(event.kind);
        let above = self.program.node(node).parent;
        let latest = || above.and_then(|above| self.open.get(&above)?.last().copied());
        let parent = event.parent.or_else(latest);
        if ends {
            self.nodes.remove(&execution);
            if let Some(open) = self.open.get_mut(&node) {
                open.remove(&execution);
            }
        } else if is_new {
            self.nodes.insert(execution, node);
            self.open.entry(node).or_default().insert(execution);
        }
        Some(Subject { node, is_new, parent })
    }

    /// The activity with the id of the event. If there are several: the one with its node id, or below the execution
    /// that it names, or below an open one.
    fn node_of(&self, event: &Event) -> Option<NodeIx> {
        let found = self.by_id.get(event.activity_id.as_str())?;
        if let [only] = found.as_slice() {
            return Some(*only);
        }
        let program = self.program;
        let has_path = |ix: &&NodeIx| event.node_id.as_ref().is_some_and(|path| *path == program.node(**ix).node_id);
        let is_below = |ix: &&NodeIx| {
            let named = event.parent.and_then(|parent| self.nodes.get(&parent));
            named.is_some() && named == program.node(**ix).parent.as_ref()
        };
        let is_inside = |ix: &&NodeIx| {
            let above = program.node(**ix).parent;
            let has_type = short_name(&program.node(**ix).type_name) == event.activity_type;
            has_type && above.is_none_or(|above| self.open.get(&above).is_some_and(|open| !open.is_empty()))
        };
        let each = || found.iter();
        let first = each().find(has_path).or_else(|| each().find(is_below)).or_else(|| each().find(is_inside));
        first.or(found.first()).copied()
    }
}

/// Whether an execution may start with an event of this kind. Events about a completed activity, such as its
/// compensation, also have the number of its execution.
pub fn begins(kind: EventKind) -> bool {
    match kind {
        EventKind::Started
        | EventKind::BookmarkCreated
        | EventKind::Completed
        | EventKind::Canceled
        | EventKind::Faulted
        | EventKind::Retrying
        | EventKind::Line
        | EventKind::Published
        | EventKind::Note
        | EventKind::Logged
        | EventKind::ChildStarted
        | EventKind::InputsEvaluated
        | EventKind::OutputsSet
        | EventKind::LeftWaiting => true,
        EventKind::WorkflowStarted
        | EventKind::WorkflowResumed
        | EventKind::WorkflowSuspended
        | EventKind::WorkflowFinished
        | EventKind::WorkflowFaulted
        | EventKind::WorkflowCancelled
        | EventKind::WorkflowRetried
        | EventKind::Resumed
        | EventKind::StartRefused
        | EventKind::OwnerChanged
        | EventKind::Caught
        | EventKind::WorkflowCancelling
        | EventKind::Compensated
        | EventKind::Confirmed
        | EventKind::CancellationHandled
        | EventKind::Assigned
        | EventKind::WorkflowContinued
        | EventKind::Paused
        | EventKind::Unpaused
        | EventKind::Migrated
        | EventKind::Altered => false,
    }
}
