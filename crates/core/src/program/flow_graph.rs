//! The connections of one flowchart, indexed.
//!
//! The graph identifies activities and connections by position, so that every look-up at run time is an index into a
//! vector. The stored state of an instance contains these positions. The positions of activities are derived from the
//! node numbers; the [numbering](super::Numbering) of a version preserves these numbers and the order of the
//! connections. Data that depends on the start activity is computed on demand and cached.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::flow_edges::{Edge, Edges};
use super::flow_mode::{FlowMode, MergeMode};
use super::flow_paths::Paths;
use crate::node_ix::NodeIx;

/// A connection as the definition declares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection {
    /// The activity that it leaves.
    pub source: NodeIx,
    /// Outcome that follows it; `Done` if the definition names none.
    pub port: String,
    /// The activity that it leads to.
    pub target: NodeIx,
}

/// The graph of one flowchart.
#[derive(Debug, Default)]
pub struct FlowGraph {
    /// In the order of their node numbers.
    activities: Vec<NodeIx>,
    edges: Edges,
    mode: FlowMode,
    /// By position; empty if no activity declares a mode.
    merge_modes: Vec<MergeMode>,
    default_start: Option<u32>,
    joins_use_sql: bool,
    /// By start activity. There is nearly always one start, or a few if triggers start the flowchart elsewhere.
    paths: Mutex<Vec<(u32, Arc<Paths>)>>,
}

/// The properties of an activity that the graph needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    /// Whether it is a `Start`.
    pub is_start: bool,
    /// Whether it is a trigger of the definition.
    pub can_start_workflow: bool,
    /// Whether it is a join whose mode is an expression that can run SQL.
    pub is_join_with_sql: bool,
}

impl FlowGraph {
    /// Builds the graph. Leaves out repeated connections, and connections to or from a node that is no child (the
    /// reader of definitions rejects those).
    pub fn build(mut children: Vec<NodeIx>, connections: Vec<Connection>) -> Self {
        children.sort_unstable();
        let mut graph = Self { activities: children, ..Self::default() };
        graph.edges = Edges::new(graph.activities.len(), graph.edges_of(connections));
        graph
    }

    /// Sets the mode of the flowchart and the merge modes of its activities.
    #[must_use]
    pub fn with_modes(mut self, mode: FlowMode, merge_mode: impl FnMut(NodeIx) -> MergeMode) -> Self {
        self.mode = mode;
        let modes: Vec<MergeMode> = self.activities.iter().copied().map(merge_mode).collect();
        self.merge_modes = if modes.iter().any(|mode| *mode != MergeMode::default()) { modes } else { Vec::new() };
        self
    }

    /// Derives the start activity and the use of SQL from the activities.
    pub fn learn(&mut self, member: impl Fn(NodeIx) -> Member) {
        let members: Vec<Member> = self.activities.iter().map(|node| member(*node)).collect();
        self.joins_use_sql = members.iter().any(|member| member.is_join_with_sql);
        self.default_start = self.find_start(&members);
    }

    /// The same graph with other node numbers, and with its connections in the order of `rank`. The start activity
    /// stays the same.
    pub(super) fn renumbered(&self, to: &dyn Fn(NodeIx) -> NodeIx, rank: &dyn Fn(&Connection) -> usize) -> Self {
        let moved = |(source, port, target): (u32, &str, u32)| Connection {
            source: to(NodeIx(source)),
            port: port.to_owned(),
            target: to(NodeIx(target)),
        };
        let mut connections: Vec<Connection> = self.connections().map(moved).collect();
        connections.sort_by_key(rank);
        let activities = self.activities.iter().map(|node| to(*node)).collect();
        let merge_modes: HashMap<NodeIx, MergeMode> =
            (0..).zip(&self.activities).map(|(position, node)| (to(*node), self.merge_mode(position))).collect();
        let mut graph = Self::build(activities, connections)
            .with_modes(self.mode, |node| merge_modes.get(&node).copied().unwrap_or_default());
        graph.default_start = self.default_start.and_then(|start| graph.position(to(self.activity(start))));
        graph.joins_use_sql = self.joins_use_sql;
        graph
    }

    fn edges_of(&self, connections: Vec<Connection>) -> Vec<Edge> {
        // Sorting only finds repetitions. The order in the document determines what is scheduled first.
        let mut order: Vec<usize> = (0..connections.len()).collect();
        order.sort_by(|a, b| connections[*a].cmp(&connections[*b]).then(a.cmp(b)));
        let mut repeated = vec![false; connections.len()];
        for pair in order.windows(2) {
            repeated[pair[1]] = connections[pair[0]] == connections[pair[1]];
        }
        let unique = connections.into_iter().zip(repeated).filter(|(_, repeated)| !repeated);
        unique
            .filter_map(|(connection, _)| {
                Some(Edge {
                    source: self.position(connection.source)?,
                    target: self.position(connection.target)?,
                    port: connection.port,
                })
            })
            .collect()
    }

    /// Number of activities in the flowchart.
    pub fn len(&self) -> usize {
        self.activities.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.activities.is_empty()
    }

    /// The activity at a position. Positions count the flowchart's own activities.
    pub fn activity(&self, position: u32) -> NodeIx {
        self.activities[position as usize]
    }

    /// The position of a node, if it is a child of this flowchart.
    pub fn position(&self, node: NodeIx) -> Option<u32> {
        self.activities.binary_search(&node).ok().map(|position| position as u32)
    }

    /// All connections, in their order.
    pub fn edges(&self) -> &Edges {
        &self.edges
    }

    /// Whether a connection leaves a node from this outcome.
    pub fn has_connection(&self, node: NodeIx, port: &str) -> bool {
        let source = self.position(node);
        self.edges.iter().any(|edge| Some(edge.source) == source && edge.port == port)
    }

    /// All connections by node numbers: source, outcome, target.
    pub(super) fn connections(&self) -> impl Iterator<Item = (u32, &str, u32)> {
        self.edges.iter().map(|edge| (self.activity(edge.source).0, edge.port.as_str(), self.activity(edge.target).0))
    }

    /// Connections that leave an activity, in the order in which they are written.
    pub fn outbound(&self, position: u32) -> &[u32] {
        self.edges.outbound(position)
    }

    /// Connections that lead to an activity.
    pub fn inbound(&self, position: u32) -> &[u32] {
        self.edges.inbound(position)
    }

    /// How the flowchart decides what runs next.
    pub fn mode(&self) -> FlowMode {
        self.mode
    }

    /// The merge mode of an activity that is no join.
    pub fn merge_mode(&self, position: u32) -> MergeMode {
        self.merge_modes.get(position as usize).copied().unwrap_or_default()
    }

    /// The start activity of the flowchart unless a trigger chooses another; `None` if it is empty.
    pub fn default_start(&self) -> Option<u32> {
        self.default_start
    }

    /// Whether the mode of a join is an expression that can run SQL.
    pub fn joins_use_sql(&self) -> bool {
        self.joins_use_sql
    }

    fn find_start(&self, members: &[Member]) -> Option<u32> {
        let mut inbound = vec![false; members.len()];
        for edge in self.edges.iter() {
            inbound[edge.target as usize] = true;
        }
        let first = |wanted: &dyn Fn(usize) -> bool| (0..members.len()).find(|at| wanted(*at));
        first(&|at| members[at].is_start)
            .or_else(|| first(&|at| members[at].can_start_workflow))
            .or_else(|| first(&|at| !inbound[at]))
            .or_else(|| first(&|_| true))
            .map(|at| at as u32)
    }

    /// The paths from a start activity. The computation calls `check` regularly.
    pub fn paths(&self, start: u32, check: &mut dyn FnMut()) -> Arc<Paths> {
        let known =
            |paths: &Vec<(u32, Arc<Paths>)>| paths.iter().find(|(of, _)| *of == start).map(|(_, paths)| paths.clone());
        // A panic of `check` must not poison the cache, and must not happen under the lock.
        let lock = || self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(paths) = known(&lock()) {
            return paths;
        }
        let paths = Arc::new(Paths::compute(&self.edges, start, check));
        lock().push((start, paths.clone()));
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connect(pairs: &[(u32, u32)]) -> FlowGraph {
        let connections = pairs
            .iter()
            .map(|(source, target)| Connection {
                source: NodeIx(*source),
                port: "Done".into(),
                target: NodeIx(*target),
            })
            .collect();
        FlowGraph::build((1..=6).map(NodeIx).collect(), connections)
    }

    #[test]
    fn outbound_connections_keep_their_order_and_repetitions_count_once() {
        let graph = connect(&[(1, 3), (2, 3), (1, 2), (1, 3), (9, 1)]);
        assert_eq!(graph.edges().len(), 3);
        let targets: Vec<_> = graph.outbound(0).iter().map(|edge| graph.edges()[*edge as usize].target).collect();
        assert_eq!(targets, [2, 1]);
        assert!(graph.outbound(5).is_empty());
    }

    #[test]
    fn positions_follow_the_numbers_of_the_activities() {
        let graph = FlowGraph::build(vec![NodeIx(7), NodeIx(3), NodeIx(5)], Vec::new());
        assert_eq!(graph.position(NodeIx(3)), Some(0));
        assert_eq!(graph.position(NodeIx(7)), Some(2));
        assert_eq!(graph.position(NodeIx(4)), None);
    }
}
