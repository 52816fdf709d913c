//! The connections of one flowchart between positions, found by either end.

use std::ops::Deref;

/// A connection between positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Position of the source among the activities of the flowchart.
    pub source: u32,
    /// Position of the target among the activities of the flowchart.
    pub target: u32,
    /// Outcome of the source that it follows: `Done` if the author names none.
    pub port: String,
}

/// All connections, in their order.
#[derive(Debug, Default)]
pub struct Edges {
    all: Vec<Edge>,
    /// Indices by source: those of activity `i` are `outbound[starts[i]..starts[i + 1]]`.
    outbound: Vec<u32>,
    starts: Vec<u32>,
    /// The same by target.
    inbound: Vec<u32>,
    ends: Vec<u32>,
}

impl Edges {
    /// Indexes connections between this number of activities.
    pub(super) fn new(activities: usize, all: Vec<Edge>) -> Self {
        let (starts, outbound) = group(activities, &all, |edge| edge.source);
        let (ends, inbound) = group(activities, &all, |edge| edge.target);
        Self { all, outbound, starts, inbound, ends }
    }

    /// Number of activities between which they lie.
    pub(super) fn activities(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Connections that leave an activity, in the order in which they are written.
    pub fn outbound(&self, position: u32) -> &[u32] {
        let position = position as usize;
        &self.outbound[self.starts[position] as usize..self.starts[position + 1] as usize]
    }

    /// Connections that lead to an activity.
    pub fn inbound(&self, position: u32) -> &[u32] {
        let position = position as usize;
        &self.inbound[self.ends[position] as usize..self.ends[position + 1] as usize]
    }
}

impl Deref for Edges {
    type Target = [Edge];

    fn deref(&self) -> &[Edge] {
        &self.all
    }
}

/// Groups connections by one of their ends: `(starts, grouped)`, where `grouped[starts[i]..starts[i + 1]]` are the
/// indices of those of activity `i`, in document order.
fn group(activities: usize, edges: &[Edge], end: impl Fn(&Edge) -> u32) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; activities + 1];
    for edge in edges {
        starts[end(edge) as usize + 1] += 1;
    }
    for i in 0..activities {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut grouped = vec![0u32; edges.len()];
    for (index, edge) in edges.iter().enumerate() {
        let slot = &mut next[end(edge) as usize];
        grouped[*slot as usize] = index as u32;
        *slot += 1;
    }
    (starts, grouped)
}
