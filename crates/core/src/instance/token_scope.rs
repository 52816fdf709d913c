//! The tokens of a flowchart. They are stored with the instance, so the scope contains only positions.
//!
//! A connection holds at most one token, because an activity that runs consumes all tokens on its connections. So the
//! stored size is limited by the number of connections, whatever the number of rounds.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Tokens and open executions of one flowchart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenScope {
    /// Position of the activity with which this flowchart started.
    start: u32,
    /// Connections whose token waits for the target to run.
    waiting: BTreeSet<u32>,
    /// Connections whose next token comes too late for a race.
    blocked: BTreeSet<u32>,
    /// Executions of an activity that are scheduled or open.
    open: BTreeMap<u32, u32>,
    /// Activities that had not started when a race was won, each with the activity that won it.
    lost: BTreeSet<(u32, u32)>,
}

/// One change of a scope; applying it returns the change that undoes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenChange {
    /// Whether a token waits on a connection.
    Waiting(u32, bool),
    /// Whether a connection is blocked.
    Blocked(u32, bool),
    /// Number of executions of an activity.
    Open(u32, u32),
    /// Whether an activity has lost the race to another.
    Lost(u32, u32, bool),
}

impl TokenScope {
    /// No tokens; the start activity is scheduled.
    pub fn new(start: u32) -> Self {
        Self { start, open: BTreeMap::from([(start, 1)]), ..Self::default() }
    }

    /// A scope with given tokens and executions. `lost` are pairs of a loser and the activity that won.
    pub(crate) fn of(
        start: u32,
        waiting: BTreeSet<u32>,
        blocked: BTreeSet<u32>,
        open: BTreeMap<u32, u32>,
        lost: BTreeSet<(u32, u32)>,
    ) -> Self {
        Self { start, waiting, blocked, open, lost }
    }

    /// Whether all positions exist in a graph with this number of activities and connections.
    pub fn fits(&self, activities: usize, edges: usize) -> bool {
        let below = |position: Option<&u32>, end: usize| position.is_none_or(|position| (*position as usize) < end);
        below(Some(&self.start), activities)
            && below(self.open.keys().next_back(), activities)
            && self
                .lost
                .iter()
                .all(|(position, target)| below(Some(position), activities) && below(Some(target), activities))
            && below(self.waiting.last(), edges)
            && below(self.blocked.last(), edges)
    }

    /// Position of the activity with which this flowchart started.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// All connections on which a token waits.
    pub fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.waiting.iter().copied()
    }

    /// Whether a token waits on a connection.
    pub fn is_waiting(&self, edge: u32) -> bool {
        self.waiting.contains(&edge)
    }

    /// Whether the next token of a connection comes too late for a race.
    pub fn is_blocked(&self, edge: u32) -> bool {
        self.blocked.contains(&edge)
    }

    /// All blocked connections.
    pub fn blocked(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocked.iter().copied()
    }

    /// Number of executions of an activity that are scheduled or open.
    pub fn executions(&self, position: u32) -> u32 {
        self.open.get(&position).copied().unwrap_or(0)
    }

    /// Activities with executions that are scheduled or open.
    pub fn open(&self) -> impl Iterator<Item = u32> + '_ {
        self.open.keys().copied()
    }

    /// The races that an activity has lost, by the activity that won.
    pub fn lost_by(&self, position: u32) -> impl Iterator<Item = u32> + '_ {
        self.lost.range((position, 0)..=(position, u32::MAX)).map(|(_, target)| *target)
    }

    /// The activities that lost the race to another.
    pub fn losers(&self, target: u32) -> impl Iterator<Item = u32> + '_ {
        self.lost.iter().filter(move |(_, to)| *to == target).map(|(position, _)| *position)
    }

    /// Applies a change and returns the change that undoes it.
    pub(crate) fn apply(&mut self, change: TokenChange) -> TokenChange {
        let put = |set: &mut BTreeSet<u32>, edge, there| if there { !set.insert(edge) } else { set.remove(&edge) };
        match change {
            TokenChange::Waiting(edge, there) => TokenChange::Waiting(edge, put(&mut self.waiting, edge, there)),
            TokenChange::Blocked(edge, there) => TokenChange::Blocked(edge, put(&mut self.blocked, edge, there)),
            TokenChange::Lost(position, target, lost) => {
                let pair = (position, target);
                let before = if lost { !self.lost.insert(pair) } else { self.lost.remove(&pair) };
                TokenChange::Lost(position, target, before)
            }
            TokenChange::Open(position, count) => {
                let before = match count {
                    0 => self.open.remove(&position),
                    count => self.open.insert(position, count),
                };
                TokenChange::Open(position, before.unwrap_or(0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_gives_its_opposite() {
        let before = TokenScope::new(3);
        let changes = [
            TokenChange::Waiting(1, true),
            TokenChange::Waiting(1, true),
            TokenChange::Blocked(2, true),
            TokenChange::Waiting(1, false),
            TokenChange::Waiting(7, false),
            TokenChange::Open(3, 2),
            TokenChange::Open(4, 1),
            TokenChange::Open(3, 0),
            TokenChange::Lost(1, 2, true),
            TokenChange::Lost(1, 2, true),
        ];
        let mut scope = before.clone();
        let mut undo: Vec<TokenChange> = changes.into_iter().map(|change| scope.apply(change)).collect();
        assert_eq!((scope.executions(3), scope.executions(4)), (0, 1));
        assert!(scope.is_blocked(2) && !scope.is_waiting(1));
        while let Some(change) = undo.pop() {
            scope.apply(change);
        }
        assert_eq!(scope, before);
    }
}
