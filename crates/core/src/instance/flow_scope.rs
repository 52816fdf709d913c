//! The counts of a flowchart. They are stored with the instance, so the scope contains only positions and numbers. A
//! vector that is shorter than the graph means zero for the remaining positions.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Visits of activities and connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowScope {
    /// Position of the activity with which this flowchart started.
    start: u32,
    activities: Vec<u64>,
    /// Twice the number of visits, plus one if the last one was followed.
    connections: Vec<u64>,
    /// Connections that were followed since their join last ran, before a later visit that was not followed, or before
    /// the join was skipped. Packed after the state.
    #[serde(skip)]
    followed: BTreeSet<u32>,
}

impl FlowScope {
    /// No visits yet.
    pub fn new(start: u32) -> Self {
        Self { start, ..Self::default() }
    }

    /// Position of the activity with which this flowchart started.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// How often an activity was visited: completed, skipped, or cancelled.
    pub fn activity_visits(&self, position: u32) -> u64 {
        self.activities.get(position as usize).copied().unwrap_or(0)
    }

    /// How often a connection was visited.
    pub fn connection_visits(&self, edge: u32) -> u64 {
        self.connections.get(edge as usize).map_or(0, |visits| visits / 2)
    }

    /// Whether the last visit of a connection followed it.
    pub fn was_followed(&self, edge: u32) -> bool {
        self.connections.get(edge as usize).is_some_and(|visits| visits % 2 == 1)
    }

    /// Whether every forward connection to an activity was visited in this round.
    pub fn all_inbound_visited(&self, inbound: &[u32], position: u32) -> bool {
        let visits = self.activity_visits(position);
        inbound.iter().all(|edge| self.connection_visits(*edge) > visits)
    }

    /// Whether every forward connection to an activity was followed since it last ran.
    pub fn all_inbound_followed(&self, inbound: &[u32], position: u32) -> bool {
        inbound.iter().all(|edge| self.is_followed_since(*edge, position))
    }

    /// Whether a connection was followed since its target last ran.
    pub fn is_followed_since(&self, edge: u32, target: u32) -> bool {
        self.followed.contains(&edge)
            || self.was_followed(edge) && self.connection_visits(edge) > self.activity_visits(target)
    }

    /// Connections that were followed since their join last ran although their counts do not show it.
    pub fn followed(&self) -> &BTreeSet<u32> {
        &self.followed
    }

    /// Sets whether a connection counts as followed. Returns the previous value.
    pub(crate) fn set_followed(&mut self, edge: u32, is_followed: bool) -> bool {
        if is_followed { !self.followed.insert(edge) } else { self.followed.remove(&edge) }
    }

    /// The count of a connection.
    pub(crate) fn connection_count(&self, edge: u32) -> u64 {
        self.connections.get(edge as usize).copied().unwrap_or(0)
    }

    /// Whether one of the most visited forward connections to an activity was followed in this round.
    pub fn any_inbound_followed(&self, inbound: &[u32], position: u32) -> bool {
        let most = inbound.iter().map(|edge| self.connection_visits(*edge)).max().unwrap_or(0);
        most > self.activity_visits(position)
            && inbound.iter().any(|edge| self.connection_visits(*edge) == most && self.was_followed(*edge))
    }

    /// Counts a visit of an activity and returns the previous count.
    pub(crate) fn visit_activity(&mut self, position: u32) -> u64 {
        let before = self.activity_visits(position);
        self.restore_activity(position, before + 1);
        before
    }

    /// Counts a visit of a connection and returns the previous count.
    pub(crate) fn visit_connection(&mut self, edge: u32, followed: bool) -> u64 {
        let before = self.connection_count(edge);
        self.restore_connection(edge, (before / 2 + 1) * 2 + u64::from(followed));
        before
    }

    /// Restores the count of an activity.
    pub(crate) fn restore_activity(&mut self, position: u32, visits: u64) {
        put(&mut self.activities, position, visits);
    }

    /// Restores the count of a connection.
    pub(crate) fn restore_connection(&mut self, edge: u32, visits: u64) {
        put(&mut self.connections, edge, visits);
    }
}

fn put(counts: &mut Vec<u64>, index: u32, count: u64) {
    let index = index as usize;
    if counts.len() <= index {
        counts.resize(index + 1, 0);
    }
    counts[index] = count;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The connections that lead to the activity at position 2.
    const INBOUND: [u32; 2] = [0, 1];

    #[test]
    fn a_round_is_over_when_the_activity_itself_was_visited() {
        let mut scope = FlowScope::new(0);
        assert!(!scope.any_inbound_followed(&INBOUND, 2));
        scope.visit_connection(0, false);
        assert!(!scope.all_inbound_visited(&INBOUND, 2));
        scope.visit_connection(1, true);
        assert!(scope.all_inbound_visited(&INBOUND, 2));
        assert!(scope.any_inbound_followed(&INBOUND, 2));
        assert!(!scope.all_inbound_followed(&INBOUND, 2));
        scope.visit_activity(2);
        assert!(!scope.all_inbound_visited(&INBOUND, 2));
        assert!(!scope.any_inbound_followed(&INBOUND, 2));
    }

    #[test]
    fn counts_are_put_back() {
        let mut scope = FlowScope::new(0);
        let before = scope.visit_connection(3, true);
        scope.restore_connection(3, before);
        let visits = scope.visit_activity(2);
        scope.restore_activity(2, visits);
        assert_eq!(scope.connection_visits(3), 0);
        assert!(!scope.was_followed(3));
        assert_eq!(scope.activity_visits(2), 0);
    }
}
