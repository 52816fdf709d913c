//! Flowcharts: converts visits and tokens with their activities and connections.
//!
//! A connection has a counterpart if its source, outcome and target do. If a token, or a visit that a join still counts
//! on, is at a connection without a counterpart, the migration is refused. It is also refused if a join would then wait
//! for a connection whose source can no longer be reached.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::activities::flow_join;
use crate::activities::flow_join::JoinMode;
use crate::activity::FlowRole;
use crate::instance::{FlowScope, Memory, TokenScope};
use crate::migration::Problem;
use crate::migration::counterparts::{Counterpart, Counterparts};
use crate::migration::executions::{Container, ExecutionMigration};
use crate::node_ix::NodeIx;
use crate::program::{Direction, FlowGraph, FlowMode, MergeMode, Paths, Program};
use workflow_expression::ExpressionKind;

/// Tag of what runs in a flowchart after its migration.
const NO_TAG: u32 = 0;

/// The counterparts of all flowcharts of the old version that exist in the new one.
#[derive(Debug)]
pub(super) struct FlowPairs(BTreeMap<NodeIx, FlowPair>);

/// The counterparts of the activities and connections of a flowchart.
#[derive(Debug)]
struct FlowPair {
    /// By position in the old graph.
    positions: Vec<Option<u32>>,
    /// By connection of the old graph.
    edges: Vec<Option<u32>>,
    /// By connection of the new graph.
    former: Vec<Option<u32>>,
}

impl FlowPairs {
    pub fn pair(old: &Program, new: &Program, counterparts: &Counterparts, check: &mut dyn FnMut()) -> Self {
        let mut pairs = BTreeMap::new();
        for (ix, node) in (0u32..).map(NodeIx).zip(&old.nodes) {
            let there =
                node.flow.as_deref().and_then(|_| counterparts.at(ix)).and_then(|at| new.node(at).flow.as_deref());
            if let (Some(flow), Some(there)) = (node.flow.as_deref(), there) {
                check();
                pairs.insert(ix, FlowPair::of(flow, there, counterparts));
            }
        }
        Self(pairs)
    }
}

impl FlowPair {
    fn of(old: &FlowGraph, new: &FlowGraph, counterparts: &Counterparts) -> Self {
        let to = |position: u32| counterparts.at(old.activity(position)).and_then(|at| new.position(at));
        let positions: Vec<Option<u32>> = (0..old.len() as u32).map(to).collect();
        let keys = new.edges().iter().map(|edge| (edge.source, edge.port.as_str(), edge.target));
        let known: HashMap<(u32, &str, u32), u32> = keys.zip(0..).collect();
        let at = |position: u32| positions.get(position as usize).copied().flatten();
        let edge_to = |source: u32, port: &str, target: u32| known.get(&(at(source)?, port, at(target)?)).copied();
        let edges: Vec<Option<u32>> =
            old.edges().iter().map(|edge| edge_to(edge.source, &edge.port, edge.target)).collect();
        let mut former = vec![None; new.edges().len()];
        for (edge, there) in (0u32..).zip(&edges) {
            if let Some(slot) = there.and_then(|there| former.get_mut(there as usize)) {
                *slot = Some(edge);
            }
        }
        Self { positions, edges, former }
    }

    fn position(&self, old: u32) -> Option<u32> {
        self.positions.get(old as usize).copied().flatten()
    }

    fn edge(&self, old: u32) -> Option<u32> {
        self.edges.get(old as usize).copied().flatten()
    }

    fn former(&self, new: u32) -> Option<u32> {
        self.former.get(new as usize).copied().flatten()
    }
}

/// A flowchart in one version: its graph as seen from its start, and what is open in it.
struct Side<'g> {
    graph: &'g FlowGraph,
    paths: Arc<Paths>,
    /// Open activities by position, with the tag of their execution.
    open: BTreeMap<u32, u32>,
    /// Activities that run, or that can be reached from one that runs.
    live: Vec<bool>,
}

impl<'g> Side<'g> {
    fn new(graph: &'g FlowGraph, start: u32, open: BTreeMap<u32, u32>, check: &mut dyn FnMut()) -> Self {
        let paths = graph.paths(start, check);
        let mut live = vec![false; graph.len()];
        let mut next: VecDeque<u32> = open.keys().copied().collect();
        while let Some(position) = next.pop_front() {
            if let Some(seen) = live.get_mut(position as usize)
                && !std::mem::replace(seen, true)
            {
                let edges =
                    graph.outbound(position).iter().filter(|edge| paths.direction(**edge) != Direction::Invalid);
                next.extend(edges.map(|edge| graph.edges()[*edge as usize].target));
            }
        }
        Self { graph, paths, open, live }
    }

    fn source_is_live(&self, edge: u32) -> bool {
        let source = self.graph.edges().get(edge as usize).map(|edge| edge.source);
        source.is_some_and(|source| self.live.get(source as usize) == Some(&true))
    }
}

/// A flowchart in both versions, with its counterparts.
struct BothSides<'m> {
    pair: &'m FlowPair,
    old: Side<'m>,
    new: Side<'m>,
}

impl BothSides<'_> {
    /// The visits of a flowchart in counter mode, as far as they have counterparts.
    fn visits(&self, scope: &FlowScope, start: u32) -> FlowScope {
        let Self { pair, old, new } = self;
        let mut moved = FlowScope::new(start);
        for position in 0..old.graph.len() as u32 {
            if let Some(there) = pair.position(position) {
                let visits = scope.activity_visits(position).max(moved.activity_visits(there));
                moved.restore_activity(there, visits);
            }
        }
        for edge in scope.followed().iter().filter_map(|edge| pair.edge(*edge)) {
            moved.set_followed(edge, true);
        }
        let same_direction = |edge: u32, there: u32| old.paths.direction(edge) == new.paths.direction(there);
        for there in 0..new.graph.edges().len() as u32 {
            let target = new.graph.edges()[there as usize].target;
            match pair.former(there).filter(|edge| same_direction(*edge, there)) {
                Some(edge) => {
                    let followed = scope.was_followed(edge);
                    put(&mut moved, there, scope.connection_visits(edge) * 2 + u64::from(followed));
                }
                // A connection that is new takes part in the next round of its target.
                None => {
                    let is_counted = new.open.get(&target).is_some_and(|tag| *tag == NO_TAG);
                    let visits = moved.activity_visits(target) + u64::from(is_counted);
                    put(&mut moved, there, visits * 2);
                }
            }
        }
        moved
    }

    /// The connections whose visits a join of the old version still counts on.
    fn pending(&self, scope: &FlowScope) -> Vec<u32> {
        let old = &self.old;
        let is_pending = |edge: u32| {
            let target = old.graph.edges()[edge as usize].target;
            old.paths.direction(edge) == Direction::Forward
                && scope.is_followed_since(edge, target)
                && !old.open.contains_key(&target)
        };
        (0..old.graph.edges().len() as u32).filter(|edge| is_pending(*edge)).collect()
    }
}

impl ExecutionMigration<'_> {
    /// Converts the visits or tokens of an open flowchart.
    pub(super) fn migrate_flow(&mut self, container: &Container<'_>, memory: &mut Memory) {
        let of = self.of;
        let pair = of.flows.0.get(&container.old);
        let graphs = (of.old.node(container.old).flow.as_deref(), of.new.node(container.new).flow.as_deref());
        let (Some(pair), (Some(old), Some(new))) = (pair, graphs) else { return };
        let (start, mode) = match memory {
            Memory::Flow(scope) => (scope.start(), FlowMode::Counter),
            Memory::Tokens(scope) => (scope.start(), FlowMode::Token),
            _ => return,
        };
        if mode != new.mode() {
            let (was, is, id) = (mode.name(), new.mode().name(), &of.new.node(container.new).id);
            self.refuse_flow(
                container,
                format!("\"{id}\" is open in mode {was}, and its mode in version {} is {is}", of.version),
            );
            return;
        }
        if start as usize >= old.len() {
            return;
        }
        let moved_start = pair.position(start).or_else(|| new.default_start());
        let Some(moved_start) = moved_start.filter(|_| !new.is_empty()) else { return };
        let open = |graph: &FlowGraph, node: fn(&super::executions::OpenChild) -> NodeIx| {
            let all = container.children.iter();
            all.filter_map(|child| Some((graph.position(node(child))?, child.tag))).collect::<BTreeMap<u32, u32>>()
        };
        let sides = BothSides {
            pair,
            old: Side::new(old, start, open(old, |child| child.old), self.check),
            new: Side::new(new, moved_start, open(new, |child| child.new), self.check),
        };
        match memory {
            Memory::Flow(scope) => **scope = self.migrate_visits(container, &sides, scope, moved_start),
            Memory::Tokens(scope) => **scope = self.migrate_tokens(container, &sides, scope, moved_start),
            _ => {}
        }
    }

    fn refuse_flow(&mut self, container: &Container<'_>, message: String) {
        self.problems.push(Problem::error(&self.of.old.node(container.old).node_id, message));
    }

    /// Converts the visits of a flowchart in counter mode.
    fn migrate_visits(
        &mut self,
        container: &Container<'_>,
        sides: &BothSides<'_>,
        scope: &FlowScope,
        start: u32,
    ) -> FlowScope {
        let new = &sides.new;
        let moved = sides.visits(scope, start);
        self.refuse_lost(container, sides, &sides.pending(scope));
        for position in new.open.keys().filter(|position| !new.paths.is_reachable(**position)) {
            let id = self.id(new.graph, *position);
            let (flow, version) = (&self.of.old.node(container.old).id, self.of.version);
            self.refuse_flow(
                container,
                format!(
                    "\"{id}\" is open, and no connections lead to it from the start of \"{flow}\" in version {version}"
                ),
            );
        }
        for target in 0..new.graph.len() as u32 {
            let visits = moved.activity_visits(target);
            let inbound = new.paths.inbound(target);
            let waits = inbound.iter().any(|edge| moved.is_followed_since(*edge, target));
            if !waits || new.open.contains_key(&target) {
                continue;
            }
            let is_missing = |edge: u32| moved.connection_visits(edge) <= visits && !moved.followed().contains(&edge);
            let missing: Vec<u32> = inbound.iter().copied().filter(|edge| is_missing(*edge)).collect();
            self.check_join(container, sides, target, &missing);
        }
        moved
    }

    /// Converts the tokens of a flowchart in token mode.
    fn migrate_tokens(
        &mut self,
        container: &Container<'_>,
        sides: &BothSides<'_>,
        scope: &TokenScope,
        start: u32,
    ) -> TokenScope {
        let BothSides { pair, new, .. } = sides;
        let waiting: Vec<u32> = scope.waiting().collect();
        self.refuse_lost(container, sides, &waiting);
        let edges = |edges: &mut dyn Iterator<Item = u32>| edges.filter_map(|edge| pair.edge(edge)).collect();
        let mut open = BTreeMap::new();
        for child in container.children {
            if let Some(there) = new.graph.position(child.new) {
                *open.entry(there).or_insert(0) += 1;
            }
        }
        let positions = scope.open().flat_map(|position| scope.lost_by(position).map(move |race| (position, race)));
        let lost = positions.filter_map(|(loser, race)| Some((pair.position(loser)?, pair.position(race)?))).collect();
        let moved = TokenScope::of(start, edges(&mut scope.waiting()), edges(&mut scope.blocked()), open, lost);
        for target in 0..new.graph.len() as u32 {
            let inbound = match self.merge_mode(new.graph, target) {
                MergeMode::Merge => new.paths.inbound(target),
                MergeMode::Converge => new.graph.inbound(target),
                MergeMode::Stream | MergeMode::Cascade | MergeMode::Race => continue,
            };
            if inbound.iter().any(|edge| moved.is_waiting(*edge)) {
                let missing: Vec<u32> = inbound.iter().copied().filter(|edge| !moved.is_waiting(*edge)).collect();
                self.check_join(container, sides, target, &missing);
            }
        }
        moved
    }

    /// Refuses tokens, and visits that a join counts on, if the new version does not have their connections. Those to
    /// an activity that the mapping cancels are dropped with it.
    fn refuse_lost(&mut self, container: &Container<'_>, sides: &BothSides<'_>, edges: &[u32]) {
        let BothSides { pair, old, .. } = sides;
        for edge in edges.iter().filter(|edge| pair.edge(**edge).is_none()) {
            let edge = &old.graph.edges()[*edge as usize];
            if self.of.counterparts.of(old.graph.activity(edge.target)) == Counterpart::Cancelled {
                continue;
            }
            let id = |position: u32| &self.of.old.node(old.graph.activity(position)).id;
            let (source, target, port, version) = (id(edge.source), id(edge.target), &edge.port, self.of.version);
            let message = format!(
                "\"{target}\" waits, and has been reached by the connection \"{port}\" from \"{source}\", which version {version} does not have"
            );
            self.refuse_flow(container, message);
        }
    }

    /// Checks a join that some connections have reached and others have not: it runs now if none is missing, and is
    /// refused if it would wait for ever.
    fn check_join(&mut self, container: &Container<'_>, sides: &BothSides<'_>, target: u32, missing: &[u32]) {
        if missing.is_empty() {
            self.moved.after.joins.insert(container.sequence);
            return;
        }
        for edge in missing.iter().copied().filter(|edge| !sides.new.source_is_live(*edge)) {
            // In token mode a join may have waited in vain before.
            if sides.pair.former(edge).is_some_and(|former| !sides.old.source_is_live(former)) {
                continue;
            }
            let source = sides.new.graph.edges()[edge as usize].source;
            let (source, target) = (self.id(sides.new.graph, source), self.id(sides.new.graph, target));
            let message = format!(
                "\"{target}\" would wait for the connection from \"{source}\" of version {}, which can no longer be reached",
                self.of.version
            );
            self.refuse_flow(container, message);
        }
    }

    /// The merge mode of an activity, if the definition gives it without a script.
    fn merge_mode(&self, graph: &FlowGraph, position: u32) -> MergeMode {
        let node = self.of.new.node(graph.activity(position));
        if node.activity.descriptor().flow != FlowRole::Join {
            return graph.merge_mode(position);
        }
        let mode = node.inputs.get(flow_join::MODE.index).and_then(Option::as_ref);
        match mode.map(|mode| &mode.kind) {
            Some(ExpressionKind::Literal(mode)) if is_wait_any(mode) => MergeMode::Race,
            _ => MergeMode::Merge,
        }
    }

    fn id(&self, graph: &FlowGraph, position: u32) -> String {
        self.of.new.node(graph.activity(position)).id.clone()
    }
}

/// Stores the count of a connection. One that was never visited needs none.
fn put(scope: &mut FlowScope, edge: u32, count: u64) {
    if count > 0 {
        scope.restore_connection(edge, count);
    }
}

/// Whether the value of a join's mode is `WaitAny`, by name or by number.
fn is_wait_any(mode: &Value) -> bool {
    let [wait_any, ..] = JoinMode::NAMES;
    mode.as_str().is_some_and(|name| name.eq_ignore_ascii_case(wait_any)) || mode.as_u64() == Some(0)
}
