//! The paths of a flow graph from a start activity: forward connections, and backward ones that may be followed.
//!
//! The search is breadth-first from the start. A connection that would close a cycle with the accepted ones is a
//! backward connection. It may be followed if every forward path from the start to its source passes through its
//! target, that is, if the target dominates the source.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::flow_edges::{Edge, Edges};

/// Number of steps after which a long computation calls `check`.
const CHECK_EVERY: usize = 4096;

/// The graph as seen from one start activity.
#[derive(Debug)]
pub struct Paths {
    start: u32,
    direction: Vec<Direction>,
    /// Whether an activity is the start, or the target of a forward connection.
    reachable: Vec<bool>,
    /// Forward connections by target.
    inbound: Vec<u32>,
    starts: Vec<u32>,
    /// Ancestors of joins, as bits by position; computed on demand.
    ancestors: Mutex<Vec<(u32, Arc<Vec<bool>>)>>,
}

/// Direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Away from the start.
    Forward,
    /// Back to an activity that dominates the source.
    Backward,
    /// A backward connection that may not be followed, or a connection from an activity that is not reachable.
    Invalid,
}

impl Paths {
    pub(super) fn compute(edges: &Edges, start: u32, check: &mut dyn FnMut()) -> Self {
        let mut search = Search::new(edges, start);
        search.run(check);
        let mut reachable = vec![false; edges.activities()];
        reachable[start as usize] = true;
        for edge in search.forward_edges() {
            reachable[edge.target as usize] = true;
        }
        let is_forward = |edge: &Edge| search.is_forward(edge);
        let mut starts = vec![0u32];
        let mut inbound = Vec::new();
        for position in 0..edges.activities() as u32 {
            let into = edges.inbound(position);
            inbound.extend(into.iter().filter(|edge| is_forward(&edges[**edge as usize])));
            starts.push(inbound.len() as u32);
        }
        let direction = edges.iter().map(|edge| match is_forward(edge) {
            true => Direction::Forward,
            false => Direction::Invalid,
        });
        let direction = direction.collect();
        let mut paths = Self { start, direction, reachable, inbound, starts, ancestors: Mutex::default() };
        paths.validate_backward(edges, check);
        paths
    }

    /// The direction of a connection, by its position among the edges.
    pub fn direction(&self, edge: u32) -> Direction {
        self.direction[edge as usize]
    }

    /// Whether the activity is the start or the target of a forward connection.
    pub fn is_reachable(&self, position: u32) -> bool {
        self.reachable[position as usize]
    }

    /// Forward connections that lead to an activity.
    pub fn inbound(&self, position: u32) -> &[u32] {
        let position = position as usize;
        &self.inbound[self.starts[position] as usize..self.starts[position + 1] as usize]
    }

    /// Which activities precede `position` on forward paths.
    pub fn ancestors(&self, edges: &Edges, position: u32) -> Arc<Vec<bool>> {
        let mut known = self.ancestors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, ancestors)) = known.iter().find(|(of, _)| *of == position) {
            return ancestors.clone();
        }
        let mut ancestors = vec![false; edges.activities()];
        let mut open = vec![position];
        while let Some(current) = open.pop() {
            for edge in self.inbound(current) {
                let source = edges[*edge as usize].source;
                if !std::mem::replace(&mut ancestors[source as usize], true) {
                    open.push(source);
                }
            }
        }
        let ancestors = Arc::new(ancestors);
        known.push((position, ancestors.clone()));
        ancestors
    }

    fn validate_backward(&mut self, edges: &Edges, check: &mut dyn FnMut()) {
        let backward =
            |edge: &Edge, direction: Direction| direction != Direction::Forward && self.reachable[edge.source as usize];
        let all = edges.iter().zip(&self.direction);
        let candidates: Vec<usize> = all
            .enumerate()
            .filter(|(_, (edge, direction))| backward(edge, **direction))
            .map(|(index, _)| index)
            .collect();
        if candidates.is_empty() {
            return;
        }
        let dominators = Dominators::compute(self, edges, check);
        for (done, index) in candidates.into_iter().enumerate() {
            if done.is_multiple_of(CHECK_EVERY) {
                check();
            }
            let edge = &edges[index];
            if dominators.dominates(edge.target, edge.source) {
                self.direction[index] = Direction::Backward;
            }
        }
    }
}

/// The search for forward pairs of activities.
struct Search<'g> {
    edges: &'g Edges,
    start: u32,
    /// Accepted targets by source; the list of a source is complete after the source was processed.
    targets: Vec<Vec<u32>>,
    processed: Vec<bool>,
    /// Number of the last reachability search that saw an activity.
    seen: Vec<u32>,
    question: u32,
    work: usize,
}

impl<'g> Search<'g> {
    fn new(edges: &'g Edges, start: u32) -> Self {
        let n = edges.activities();
        Self {
            edges,
            start,
            targets: vec![Vec::new(); n],
            processed: vec![false; n],
            seen: vec![0; n],
            question: 0,
            work: 0,
        }
    }

    fn run(&mut self, check: &mut dyn FnMut()) {
        let mut queue = VecDeque::from([self.start]);
        let mut queued = vec![false; self.edges.activities()];
        queued[self.start as usize] = true;
        while let Some(source) = queue.pop_front() {
            self.processed[source as usize] = true;
            let edges = self.edges;
            for edge in edges.outbound(source) {
                let target = edges[*edge as usize].target;
                // An activity that was not processed yet has no accepted connections, so it cannot close a cycle.
                let closes_cycle =
                    target == source || (self.processed[target as usize] && self.leads_to(target, source, check));
                if closes_cycle {
                    continue;
                }
                self.targets[source as usize].push(target);
                if !std::mem::replace(&mut queued[target as usize], true) {
                    queue.push_back(target);
                }
            }
            let accepted = &mut self.targets[source as usize];
            accepted.sort_unstable();
            accepted.dedup();
        }
    }

    fn leads_to(&mut self, from: u32, to: u32, check: &mut dyn FnMut()) -> bool {
        self.question += 1;
        let mut open = vec![from];
        while let Some(current) = open.pop() {
            if current == to {
                return true;
            }
            if std::mem::replace(&mut self.seen[current as usize], self.question) == self.question {
                continue;
            }
            self.work += 1;
            if self.work.is_multiple_of(CHECK_EVERY) {
                check();
            }
            open.extend(&self.targets[current as usize]);
        }
        false
    }

    fn is_forward(&self, edge: &Edge) -> bool {
        self.targets[edge.source as usize].binary_search(&edge.target).is_ok()
    }

    fn forward_edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(|edge| self.is_forward(edge))
    }
}

/// Immediate dominators of the forward graph, which has no cycles.
struct Dominators {
    parent: Vec<u32>,
    depth: Vec<u32>,
    reached: Vec<bool>,
}

impl Dominators {
    fn compute(paths: &Paths, edges: &Edges, check: &mut dyn FnMut()) -> Self {
        let n = edges.activities();
        let mut this = Self { parent: vec![0; n], depth: vec![0; n], reached: vec![false; n] };
        let mut waiting: Vec<u32> = (0..n as u32).map(|i| paths.inbound(i).len() as u32).collect();
        this.parent[paths.start as usize] = paths.start;
        this.reached[paths.start as usize] = true;
        let mut open = vec![paths.start];
        let mut done = 0usize;
        while let Some(current) = open.pop() {
            for edge in edges.outbound(current) {
                if paths.direction(*edge) != Direction::Forward {
                    continue;
                }
                done += 1;
                if done.is_multiple_of(CHECK_EVERY) {
                    check();
                }
                let target = edges[*edge as usize].target;
                this.meet(current, target);
                waiting[target as usize] -= 1;
                if waiting[target as usize] == 0 {
                    open.push(target);
                }
            }
        }
        this
    }

    /// Narrows the dominator of `target` to the one that it shares with its new predecessor.
    fn meet(&mut self, predecessor: u32, target: u32) {
        let common = match std::mem::replace(&mut self.reached[target as usize], true) {
            true => self.common(self.parent[target as usize], predecessor),
            false => predecessor,
        };
        self.parent[target as usize] = common;
        self.depth[target as usize] = self.depth[common as usize] + 1;
    }

    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if self.depth[a as usize] >= self.depth[b as usize] {
                a = self.parent[a as usize];
            } else {
                b = self.parent[b as usize];
            }
        }
        a
    }

    fn dominates(&self, dominator: u32, mut of: u32) -> bool {
        if !self.reached[of as usize] {
            return false;
        }
        while self.depth[of as usize] > self.depth[dominator as usize] {
            of = self.parent[of as usize];
        }
        of == dominator
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directions(pairs: &[(u32, u32)]) -> (Paths, Vec<Direction>) {
        let connections = pairs
            .iter()
            .map(|(source, target)| Connection {
                source: NodeIx(*source),
                port: "Done".into(),
                target: NodeIx(*target),
            })
            .collect();
        let graph = FlowGraph::build((0..8).map(NodeIx).collect(), connections);
        let paths = Paths::compute(graph.edges(), 0, &mut || ());
        let directions = (0..pairs.len() as u32).map(|edge| paths.direction(edge)).collect();
        (paths, directions)
    }

    use super::super::flow_graph::{Connection, FlowGraph};
    use crate::node_ix::NodeIx;
    use Direction::{Backward, Forward, Invalid};

    #[test]
    fn a_loop_back_to_a_dominator_is_valid() {
        let (_, found) = directions(&[(0, 1), (1, 2), (2, 3), (3, 1)]);
        assert_eq!(found, [Forward, Forward, Forward, Backward]);
    }

    #[test]
    fn a_loop_into_one_of_two_branches_is_invalid() {
        let (_, found) = directions(&[(0, 1), (0, 2), (1, 3), (2, 3), (3, 1)]);
        assert_eq!(found, [Forward, Forward, Forward, Forward, Invalid]);
    }

    #[test]
    fn a_connection_to_itself_and_two_ports_of_one_pair_share_their_direction() {
        let (_, found) = directions(&[(0, 1), (1, 1), (1, 0)]);
        assert_eq!(found, [Forward, Backward, Backward]);
    }

    #[test]
    fn what_the_start_does_not_reach_is_dangling() {
        let (paths, found) = directions(&[(0, 1), (4, 1), (4, 5)]);
        assert_eq!(found, [Forward, Invalid, Invalid]);
        assert!(paths.is_reachable(1) && !paths.is_reachable(4) && !paths.is_reachable(5));
        assert_eq!(paths.inbound(1), [0]);
    }

    #[test]
    fn uneven_branches_stay_forward() {
        let (_, found) = directions(&[(0, 1), (0, 3), (1, 2), (2, 3), (3, 4), (4, 2)]);
        assert_eq!(found, [Forward, Forward, Forward, Forward, Forward, Invalid]);
    }

    #[test]
    fn a_long_chain_with_many_loops_back_is_computed_quickly() {
        let n = 20_000u32;
        let chain = (0..n - 1).map(|i| (i, i + 1));
        let back = (1..n).step_by(7).map(|i| (i, i - 1));
        let connections = chain
            .chain(back)
            .map(|(source, target)| Connection { source: NodeIx(source), port: String::new(), target: NodeIx(target) })
            .collect();
        let graph = FlowGraph::build((0..n).map(NodeIx).collect(), connections);
        let paths = Paths::compute(graph.edges(), 0, &mut || ());
        assert!((n - 1..graph.edges().len() as u32).all(|e| paths.direction(e) == Backward));
    }
}
