//! Outputs of activities, and the latest results of executions, as an instance stores them.
//!
//! An execution holds what it has set. When it ends, its outputs and those of everything that ended inside it move to
//! the enclosing execution. So each open execution has the latest outputs of each activity inside it, and a loop does
//! not grow. The outputs of what ended in the root are [`State::outputs`].

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::instance::{ActivityStatus, Context, Memory, State};
use crate::node_ix::NodeIx;
use workflow_value::value::Json;

/// Outputs of one execution, by name. Results share their values.
pub type Outputs = Vec<(String, Arc<Json>)>;

/// A value that an activity has set as its output `Result`.
#[derive(Clone, Debug)]
pub struct LastResult {
    /// Later results have a higher number. The numbers change when the state is stored; their order does not.
    pub order: u32,
    /// The value, shared with the outputs of the activity.
    pub value: Arc<Json>,
}

impl PartialEq for LastResult {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// What has ended inside an open execution.
#[derive(Debug, Default, PartialEq)]
pub struct EndedInside {
    /// The latest outputs of each activity inside. Those inside the root are [`State::outputs`].
    pub outputs: BTreeMap<NodeIx, Outputs>,
    /// The latest result of bodies that run in parallel. None of them may read it.
    pub hidden_result: Option<LastResult>,
    /// For each join of a flowchart that has not run yet, the latest result of the branches that have reached it.
    pub arrived: BTreeMap<NodeIx, LastResult>,
}

impl Context {
    /// The latest result before or inside this execution.
    pub fn latest_result(&self) -> Option<LastResult> {
        let hidden = self.ended_inside.as_ref().and_then(|inside| inside.hidden_result.as_ref());
        later(self.last_result.as_ref(), hidden).cloned()
    }

    /// Drops the record of what ended inside it, if that is empty.
    pub fn drop_if_nothing_ended(&mut self) {
        if self.ended_inside.as_deref() == Some(&EndedInside::default()) {
            self.ended_inside = None;
        }
    }

    /// All results that it refers to.
    pub(super) fn results(&self) -> impl Iterator<Item = &LastResult> {
        let inside = self.ended_inside.iter();
        let inside = inside.flat_map(|inside| inside.hidden_result.iter().chain(inside.arrived.values()));
        self.last_result.iter().chain(inside)
    }
}

/// The later of two results.
pub fn later<'r>(one: Option<&'r LastResult>, other: Option<&'r LastResult>) -> Option<&'r LastResult> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.order >= one.order { other } else { one }),
        (one, other) => one.or(other),
    }
}

impl State {
    /// The number of the next result.
    pub fn next_result(&self) -> u32 {
        let known = self.contexts.values().flat_map(Context::results).map(|result| result.order).max();
        known.map_or(0, |order| order.saturating_add(1))
    }

    /// The latest outputs of each activity that ended inside an execution.
    pub fn outputs_inside<'s>(&'s self, context: &'s Context) -> Option<&'s BTreeMap<NodeIx, Outputs>> {
        match context.parent {
            None => Some(&self.outputs),
            Some(_) => context.ended_inside.as_ref().map(|inside| &inside.outputs),
        }
    }

    /// Whether an execution other than the root may read outputs of what is inside it.
    pub(super) fn has_open_container(&self) -> bool {
        let mut contexts = self.contexts.values();
        contexts.any(|context| {
            let is_below = |parent: u32| self.contexts.get(&parent).is_some_and(|parent| parent.parent.is_some());
            let is_fresh = context.status == ActivityStatus::Running && context.memory == Memory::None;
            context.parent.is_some_and(|parent| !is_fresh || is_below(parent))
        })
    }
}
